package agent

//go:generate go test -run ^TestSchemasAreFresh$ -update .

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// schema is the part of JSON Schema (draft 2020-12) that definitions need.
type schema struct {
	Schema      string   `json:"$schema,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        any      `json:"type,omitempty"` // a string or a list of strings
	Enum        []string `json:"enum,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	Required    []string `json:"required,omitempty"`
	Items       *schema  `json:"items,omitempty"`
	// AnyOf are the forms in which a value may be written.
	AnyOf []*schema `json:"anyOf,omitempty"`
	// Properties are sorted by encoding/json.
	Properties map[string]*schema `json:"properties,omitempty"`
	// Additional is false or a schema.
	Additional any `json:"additionalProperties,omitempty"`
}

// Schema returns the JSON Schema of one definition: the frontmatter of a Markdown file, a table of TOML, an object of
// JSON.
func Schema() ([]byte, error) {
	s := definitionSchema()
	s.Schema, s.Title = draft, "Definition of an agent of agentls"
	return encode(s)
}

// AgentsSchema returns the JSON Schema of agents.toml and agents.json.
func AgentsSchema() ([]byte, error) {
	one := definitionSchema()
	return encode(&schema{
		Schema: draft, Title: "Definitions of agents of agentls", Type: "object", Required: []string{"agents"},
		Additional: false,
		Properties: map[string]*schema{
			"agents":  {Type: "array", Items: one, Description: "The definitions."},
			"$schema": {Type: "string"},
		},
	})
}

const draft = "https://json-schema.org/draft/2020-12/schema"

func encode(s *schema) ([]byte, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema of definitions: %w", err)
	}
	return append(text, '\n'), nil
}

func definitionSchema() *schema {
	root := &schema{Type: "object", Properties: map[string]*schema{}, Additional: false}
	for _, k := range nativeKeys {
		at, parts := root, strings.Split(k.Name, ".")
		for i, part := range parts {
			at = at.below(part, i == len(parts)-1, k)
		}
		if k.Required {
			root.Required = append(root.Required, k.Name)
		}
	}
	return root
}

// below finds or makes the schema for a part of a key; if it is the last part, below describes the key.
func (s *schema) below(part string, last bool, k KeyInfo) *schema {
	child := s.Properties[part]
	switch {
	case part == "*" && s.Type == "array":
		if s.Items == nil {
			s.Items = &schema{Type: "object", Properties: map[string]*schema{}, Additional: false}
		}
		child = s.Items
	case part == "*":
		known, ok := s.Additional.(*schema)
		if !ok {
			known = &schema{Type: "object", Properties: map[string]*schema{}, Additional: false}
			if strings.HasPrefix(k.Name, "hooks.") {
				known = &schema{Type: "array"}
			}
			s.Additional = known
		}
		child = known
	case child == nil:
		child = &schema{}
		if s.Properties == nil {
			s.Properties = map[string]*schema{}
		}
		s.Properties[part] = child
	}
	if last {
		child.describe(k)
	}
	return child
}

func (s *schema) describe(k KeyInfo) {
	s.Description = k.Doc
	switch k.Type {
	case "integer", "number", "boolean", "string":
		s.Type, s.Enum, s.Minimum, s.Maximum = k.Type, k.Values, k.Minimum, k.Maximum
	case "duration":
		s.Type, s.Pattern = "string", `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`
	case "strings":
		s.Type, s.Items = []string{"array", "string"}, &schema{Type: "string", Enum: k.Values}
	case "list":
		s.Type = "array"
	case "table":
		s.Type = "object"
		if below := slices.ContainsFunc(nativeKeys, func(o KeyInfo) bool {
			rest, ok := strings.CutPrefix(o.Name, k.Name+".")
			return ok && !strings.HasPrefix(rest, "*")
		}); below {
			s.Additional = false
		}
	}
	// Some values can be written in several forms.
	switch k.Name {
	case "model":
		s.Type, s.Additional = []string{"string", "object"}, false
	case "tools":
		s.Type = []string{"array", "string", "object"}
	case "permissions":
		s.Type, s.Enum = nil, nil
		s.AnyOf = []*schema{{Type: "string", Enum: k.Values}, {Type: []string{"object", "array"}}}
	case "permission":
		s.Type = []string{"object", "array", "string"}
	case "permission.*":
		s.Type, s.Additional = []string{"string", "object", "array"}, nil
	case "mcp_servers":
		s.Type = []string{"object", "array", "string"}
	case "mcp_servers.*.command":
		s.Type = []string{"string", "array"}
	}
}
