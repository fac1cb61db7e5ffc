package config

//go:generate go test -run ^TestSchemaIsFresh$ -update .

import (
	"encoding/json"
	"fmt"
	"iter"
)

// Key describes one known key, for listings, completion and documentation.
type Key struct {
	// Name is the full key, with NAME, EVENT or [] where an entry's name or index goes: "providers.NAME.kind".
	Name string `json:"name"`
	// Type is "boolean", "integer", "number", "string", "duration", "size", "list of strings", "table of strings" or
	// "list of strings or string".
	Type string `json:"type"`
	// Values are the permitted texts, if only some are.
	Values []string `json:"values,omitempty"`
	// Default is the default as TOML text, empty where there is none.
	Default string `json:"default,omitempty"`
	// Doc says in a sentence or two what the key does.
	Doc string `json:"doc"`
}

// Keys yields all known keys in the order of the documentation.
func Keys() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		defaults := Default()
		for _, f := range settings() {
			if f.shape == leaf {
				k := f.describe(f.key)
				if k.Type != "table of strings" {
					k.Default = f.render(defaults)
				}
				if !yield(k) {
					return
				}
				continue
			}
			prefix := map[shape]string{
				named: f.key + ".NAME.", listed: f.key + "[].",
				namedListed: f.key + ".EVENT[].",
			}[f.shape]
			for i := range f.entries {
				e := &f.entries[i]
				k := e.describe(prefix + e.key)
				if e.def != nil {
					entry := f.entry()
					e.setDefault(entry)
					k.Default = e.render(entry)
				}
				if !yield(k) {
					return
				}
			}
		}
	}
}

func (f *field) describe(name string) Key {
	return Key{Name: name, Type: f.valueType(), Values: f.enum, Doc: f.doc}
}

// schema is the part of JSON Schema, draft 2020-12, that the configuration needs.
type schema struct {
	Schema               string             `json:"$schema,omitempty"`
	Title                string             `json:"title,omitempty"`
	Description          string             `json:"description,omitempty"`
	Type                 any                `json:"type,omitempty"` // a string or a list of strings
	Enum                 []string           `json:"enum,omitempty"`
	Default              json.RawMessage    `json:"default,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	MinLength            int                `json:"minLength,omitempty"`
	Minimum              *float64           `json:"minimum,omitempty"`
	Maximum              *float64           `json:"maximum,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	MinItems             int                `json:"minItems,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	OneOf                []*schema          `json:"oneOf,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false or a schema
}

// Schema returns the JSON Schema (draft 2020-12) of config.toml and of the editor's settings in nested form. It is
// what lies in schema/config.schema.json.
func Schema() ([]byte, error) {
	root := &schema{
		Schema:               "https://json-schema.org/draft/2020-12/schema",
		Title:                "agentls configuration",
		Description:          "Keys of config.toml and, under agentls, of the editor's settings.",
		Type:                 "object",
		Properties:           map[string]*schema{},
		AdditionalProperties: false,
	}
	defaults := Default()
	for _, f := range settings() {
		into := root
		key := f.key
		if head, last, dotted := cutLast(key); dotted {
			if root.Properties[head] == nil {
				root.Properties[head] = &schema{
					Type: "object", Properties: map[string]*schema{},
					AdditionalProperties: false,
				}
			}
			into, key = root.Properties[head], last
		}
		s := f.schema()
		if f.shape == leaf && f.valueType() != "table of strings" {
			s.Default = json.RawMessage(f.render(defaults))
		}
		into.Properties[key] = s
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the schema of the configuration: %w", err)
	}
	return append(text, '\n'), nil
}

// schema returns the schema of one field.
func (f *field) schema() *schema {
	if f.shape != leaf {
		return f.compositeSchema()
	}
	s := &schema{Description: f.doc}
	word := &schema{Type: "string", Enum: f.enum}
	if f.nonEmpty {
		word.MinLength = 1
	}
	switch t := f.valueType(); t {
	case "boolean", "integer", "number":
		s.Type = t
		if t != "boolean" {
			s.Minimum = &f.least
		}
		if f.most > 0 {
			s.Maximum = &f.most
		}
	case "duration":
		s.Type = "string"
		s.Pattern = `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`
	case "size":
		s.Type = []string{"string", "integer"}
		s.Pattern = `^\s*[0-9]+\s*([TGMK]iB|[TGMKk]B|B)?\s*$`
		s.Minimum = new(float64)
	case "list of strings":
		s.Type, s.Items = "array", word
	case "list of strings or string":
		s.Type, s.Items, s.MinItems, s.MinLength = []string{"array", "string"}, word, 1, 1
	case "table of strings":
		s.Type, s.AdditionalProperties = "object", word
	default:
		s.Type, s.Enum, s.MinLength = word.Type, word.Enum, word.MinLength
	}
	return s
}

// compositeSchema returns the schema of a field that holds tables.
func (f *field) compositeSchema() *schema {
	one := &schema{Type: "object", Properties: map[string]*schema{}, AdditionalProperties: false}
	for i := range f.entries {
		e := &f.entries[i]
		s := e.schema()
		if e.def != nil {
			entry := f.entry()
			e.setDefault(entry)
			s.Default = json.RawMessage(e.render(entry))
		}
		one.Properties[e.key] = s
		if e.required {
			one.Required = append(one.Required, e.key)
		}
	}
	for _, alternative := range f.oneOf {
		one.OneOf = append(one.OneOf, &schema{Required: []string{alternative}})
	}
	s := &schema{Description: f.doc, Type: "object"}
	switch f.shape {
	case listed:
		s.Type, s.Items = "array", one
	case namedListed:
		s.Properties, s.AdditionalProperties = map[string]*schema{}, false
		for _, name := range f.names {
			s.Properties[name] = &schema{Type: "array", Items: one}
		}
	default:
		s.AdditionalProperties = one
	}
	return s
}
