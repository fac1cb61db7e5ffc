package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"
)

// goPackage writes the types of one Go package.
type goPackage struct {
	bytes.Buffer
	model *Model
	table *Table
	// name is "event" or "methods".
	name string
	// own says which structures and enumerations the package holds.
	own map[string]bool
}

// eventTypes returns the names of the structures, enumerations and aliases that events are made of.
func eventTypes(m *Model) map[string]bool {
	names := map[string]bool{}
	var add func(t *Type)
	add = func(t *Type) {
		switch t.Kind {
		case "reference":
			if names[t.Name] {
				return
			}
			names[t.Name] = true
			if s := m.structures[t.Name]; s != nil {
				for _, p := range s.Properties {
					add(p.Type)
				}
			}
		case "array", "map":
			add(t.Element)
		}
	}
	for _, s := range m.Events() {
		add(&Type{Kind: "reference", Name: s.Name})
	}
	return names
}

// methodTypes returns the names of the structures and enumerations that are not those of events,
// nor foreign ones.
func methodTypes(m *Model, t *Table) map[string]bool {
	events := eventTypes(m)
	names := map[string]bool{}
	for _, s := range m.Structures {
		names[s.Name] = !events[s.Name] && t.Types[s.Name].Go == "" && s.Name != "EventHeader"
	}
	for _, e := range m.Enumerations {
		names[e.Name] = !events[e.Name]
	}
	return names
}

var initialisms = map[string]string{
	"id": "ID", "uri": "URI", "newUri": "NewURI", "outputUri": "OutputURI",
	"uris": "URIs", "mcp": "MCP",
}

// goName is the exported Go name of a member.
func goName(member string) string {
	if name := initialisms[member]; name != "" {
		return name
	}
	return strings.ToUpper(member[:1]) + member[1:]
}

// goType returns the Go type of t as this package writes it.
func (g *goPackage) goType(t *Type) string {
	switch t.Kind {
	case "array":
		return "[]" + g.goType(t.Element)
	case "reference":
		if foreign := g.table.Types[t.Name].Go; foreign != "" {
			return strings.TrimPrefix(foreign, g.name+".")
		}
		if alias := g.model.aliases[t.Name]; alias != nil {
			return g.goType(alias.Type)
		}
		if !g.own[t.Name] {
			return "event." + t.Name
		}
		return t.Name
	case "or":
		if _, ok := t.Literals(); ok {
			return "string"
		}
	case "base":
		switch t.Name {
		case "string":
			return "string"
		case "boolean":
			return "bool"
		case "integer", "uinteger":
			return "int"
		case "decimal":
			return "float64"
		case "DocumentUri":
			// The events are a leaf and know no LSP types.
			if g.name == "event" {
				return "string"
			}
			return "uri.URI"
		}
	}
	panic(fmt.Sprintf("there is no Go type for %+v", *t))
}

// pointer reports whether an optional member of the type is a pointer in Go: a structure, or a
// number whose zero means something.
func (g *goPackage) pointer(t *Type) bool {
	switch t.Kind {
	case "base":
		return t.Name == "integer" || t.Name == "decimal"
	case "reference":
		return g.model.structures[t.Name] != nil || g.table.Types[t.Name].Pointer
	}
	return false
}

func (g *goPackage) tag(p *Property) string {
	tag := p.Name
	if p.Optional {
		// An optional list of a method may be empty and there; one of an event is left out then.
		if g.name == "event" {
			tag += ",omitempty"
		} else {
			tag += ",omitzero"
		}
	}
	text := fmt.Sprintf("json:%q", tag)
	if g.name != "event" && g.unsigned(p.Type) {
		text += ` min:"0"`
	}
	return "`" + text + "`"
}

// unsigned reports whether a negative number of the type is wrong, although its Go type has them.
func (g *goPackage) unsigned(t *Type) bool {
	return t.Kind == "base" && t.Name == "uinteger" || t.Kind == "reference" && g.table.Types[t.Name].Go == "int64"
}

func (g *goPackage) printf(format string, args ...any) { fmt.Fprintf(g, format, args...) }

// enumerations writes the package's enumerations as string types with their constants.
func (g *goPackage) enumerations() {
	for _, e := range g.model.Enumerations {
		if !g.own[e.Name] {
			continue
		}
		g.comment("", goDoc(e.Name, e.Documentation))
		g.printf("type %s string\n\n", e.Name)
		g.printf("// The values of [%s]. Others may come from a newer peer; they are kept as they are.\nconst (\n",
			e.Name)
		prefix := e.Name
		if p, ok := g.table.ConstantPrefixes[e.Name]; ok {
			prefix = p
		}
		for _, v := range e.Values {
			g.comment("\t", v.Documentation)
			g.printf("\t%s%s %s = %q\n", prefix, v.Name, e.Name, v.Value)
		}
		g.printf(")\n\n")
	}
}

// structuresOf writes the package's structures.
func (g *goPackage) structuresOf(isEvent func(name string) bool) {
	for _, s := range g.model.Structures {
		if !g.own[s.Name] {
			continue
		}
		properties := g.model.Properties(s)
		if isEvent(s.Name) {
			// The envelope is in the type Event.
			properties = slices.DeleteFunc(slices.Clone(s.Properties),
				func(p *Property) bool { return p.Name == "type" })
			g.comment("", s.Name+": "+lowerFirst(s.Documentation))
		} else {
			g.comment("", goDoc(s.Name, s.Documentation))
		}
		g.printf("type %s struct {\n", s.Name)
		for _, p := range properties {
			g.comment("\t", p.Documentation)
			star := ""
			if p.Optional && g.pointer(p.Type) {
				star = "*"
			}
			g.printf("\t%s %s%s %s\n", goName(p.Name), star, g.goType(p.Type), g.tag(p))
		}
		g.printf("}\n\n")
		g.listEncoder(s.Name, properties)
	}
}

// listEncoder writes a MarshalJSON for a structure with lists that have to be there: a nil slice
// would otherwise be null.
func (g *goPackage) listEncoder(name string, properties []*Property) {
	lists := slices.DeleteFunc(slices.Clone(properties),
		func(p *Property) bool { return p.Optional || p.Type.Kind != "array" })
	if len(lists) == 0 {
		return
	}
	g.printf("// MarshalJSON writes a list that is nil as an empty one.\n")
	g.printf("func (v %s) MarshalJSON() ([]byte, error) {\n\ttype plain %s\n", name, name)
	for _, p := range lists {
		g.printf("\tif v.%[1]s == nil {\n\t\tv.%[1]s = %[2]s{}\n\t}\n", goName(p.Name), g.goType(p.Type))
	}
	g.printf("\treturn json.Marshal(plain(v))\n}\n\n")
}

// goDoc makes a doc comment that begins with the name, as Go has it.
func goDoc(name, documentation string) string {
	first, _, _ := strings.Cut(documentation, " ")
	switch first {
	case "A", "An", "The", "One", "What", "Where", "How", "Something", "LSP's":
		return name + " is " + lowerFirst(documentation)
	case "Params":
		return name + " are the p" + documentation[1:]
	case "Result", "Argument":
		return name + " is the " + lowerFirst(documentation)
	}
	return name + ": " + lowerFirst(documentation)
}

func lowerFirst(text string) string {
	if len(text) > 1 && text[1] >= 'A' && text[1] <= 'Z' || strings.HasPrefix(text, "LSP's") {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// comment writes a comment, broken into lines of about 100 characters.
func (g *goPackage) comment(indent, text string) {
	for _, line := range wrap(text, 104-len(indent+"// ")) {
		g.printf("%s// %s\n", indent, line)
	}
}

const generatedHeader = "// Code generated from schema/agent.metamodel.json. DO NOT EDIT.\n\n"

// source returns the formatted file.
func (g *goPackage) source() ([]byte, error) {
	source, err := format.Source(g.Bytes())
	if err != nil {
		return nil, fmt.Errorf("format the package %s: %w", g.name, err)
	}
	return source, nil
}
