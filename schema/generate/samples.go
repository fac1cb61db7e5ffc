package main

import (
	"fmt"
	"slices"
)

// sample returns an example of a type: of every member but those that are apart, an or's first item, a list of one.
func sample(m *Model, t *Table, typ *Type) any {
	switch typ.Kind {
	case "array":
		return []any{sample(m, t, typ.Element)}
	case "stringLiteral":
		return typ.Literal
	case "or":
		return sample(m, t, typ.Items[0])
	case "reference":
		if value, ok := t.Samples[typ.Name]; ok {
			return value
		}
		if e := m.enumerations[typ.Name]; e != nil {
			return e.Values[0].Value
		}
		if a := m.aliases[typ.Name]; a != nil {
			return sample(m, t, a.Type)
		}
		s := m.structures[typ.Name]
		members := object{}
		for _, p := range m.Properties(s) {
			if slices.Contains(t.Apart[s.Name], p.Name) {
				continue
			}
			members = append(members, member{p.Name, sampleOf(m, t, s, p)})
		}
		return members
	}
	if value, ok := t.Samples[typ.Name]; ok {
		return value
	}
	panic(fmt.Sprintf("there is no sample of the type %+v", *typ))
}

// sampleOf returns an example of a member. A name's sample counts only for members of base types:
// what a reference means does not follow from the member's name.
func sampleOf(m *Model, t *Table, s *Structure, p *Property) any {
	if value, ok := t.Samples[s.Name+"."+p.Name]; ok {
		return value
	}
	inner := p.Type
	if inner.Kind == "array" {
		inner = inner.Element
	}
	if inner.Kind == "base" {
		if value, ok := t.Samples[p.Name]; ok {
			return value
		}
	}
	return sample(m, t, p.Type)
}
