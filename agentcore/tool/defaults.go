package tool

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// CheckArgument judges one argument of a tool's calls by its schema, under any of its names, and null as no value.
// known says whether there is such an argument, and names lists those that there are. The error says what the value
// should be.
func CheckArgument(tool Tool, argument string, value json.RawMessage) (known bool, names []string, err error) {
	_, s, err := shapeOf(tool)
	if err != nil {
		return true, nil, err
	}
	m := mender{spellings: s.spellings}
	name := m.nameOf(s.schema, argument)
	if name == "" {
		return isOpen(s.schema), namesOf(s.schema), nil
	}
	decoded, err := decode(value)
	if err != nil {
		return true, nil, err
	}
	m.mend("", s.schema.Properties[name], decoded)
	if len(m.faults) > 0 {
		return true, nil, errors.New(strings.Join(m.faults, "; "))
	}
	return true, nil, nil
}

// nameOf is the member that key is a spelling of, or "" for none.
func (m *mender) nameOf(schema *jsonschema.Schema, key string) string {
	if schema.Properties[key] != nil {
		return key
	}
	return knownName(schema, key, m.spellings[schema])
}

// complete returns a call's arguments, and adds the defaults of the arguments that the call does not have. Names that
// the schema does not know are compared as they are.
func (m *mender) complete(schema *jsonschema.Schema, object, defaults jsonObject) jsonObject {
	full := maps.Clone(object)
	has := map[string]bool{}
	name := func(key string) string {
		if known := m.nameOf(schema, key); known != "" {
			return known
		}
		return key
	}
	for key, value := range object {
		if member := schema.Properties[name(key)]; value != nil || member != nil && allowsNull(member) {
			has[name(key)] = true
		}
	}
	for key, value := range object {
		if value == nil && !has[name(key)] && hasName(defaults, name(key), name) {
			delete(full, key) // the default takes its place
		}
	}
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		if !has[name(key)] {
			full[name(key)], has[name(key)], m.mended = defaults[key], true, true
		}
	}
	return full
}

// hasName tells whether a member of an object has a name, by what gives each key's.
func hasName(object jsonObject, wanted string, name func(string) string) bool {
	for key := range object {
		if name(key) == wanted {
			return true
		}
	}
	return false
}

// isOpen tells whether an object may have members that its schema does not name.
func isOpen(schema *jsonschema.Schema) bool {
	return schema.AdditionalProperties == nil || schema.AdditionalProperties.Not == nil ||
		schema.PatternProperties != nil
}

// namesOf are the members of an object, in the order that the schema has.
func namesOf(schema *jsonschema.Schema) []string {
	if len(schema.PropertyOrder) > 0 {
		return schema.PropertyOrder
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}
