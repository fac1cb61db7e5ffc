package main

// schema is a JSON Schema, draft 2020-12. Only keywords that simple validators know are used.
type schema struct {
	Ref         string   `json:"$ref,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        any      `json:"type,omitempty"`
	Const       string   `json:"const,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Format      string   `json:"format,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	Minimum     *int     `json:"minimum,omitempty"`
	Maximum     *int     `json:"maximum,omitempty"`
	Items       any      `json:"items,omitempty"`
	Properties  object   `json:"properties,omitempty"`
	Required    []string `json:"required,omitempty"`
	AnyOf       []any    `json:"anyOf,omitempty"`
	AllOf       []any    `json:"allOf,omitempty"`
	If          *schema  `json:"if,omitempty"`
	Then        *schema  `json:"then,omitempty"`
}

// jsonSchema writes schema/agent.schema.json. Objects are open: a peer may send members that a
// later version of the protocol has.
func jsonSchema(m *Model, t *Table) ([]byte, error) {
	methods := object{}
	for _, r := range m.Messages() {
		pair := object{{"params", paramsSchema(m, t, r.Params)}}
		if r.Result != nil {
			pair = append(pair, member{"result", typeSchema(t, r.Result, "")})
		}
		methods = append(methods, member{r.Method, pair})
	}
	commands := object{}
	for _, c := range t.Commands {
		commands = append(commands, member{c.Command, object{
			{"params", paramsSchema(m, t, &Type{Kind: "reference", Name: c.Params})},
			{"result", schema{Ref: "#/$defs/" + c.Result}},
		}})
	}
	for _, r := range m.Requests {
		if r.ToServer() {
			commands = append(commands, member{t.CommandName(r.Method), object{
				{"params", paramsSchema(m, t, r.Params)}, {"result", typeSchema(t, r.Result, "")},
			}})
		}
	}
	return encode(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$comment", "Generated from agent.metamodel.json. Do not edit."},
		{"title", "The custom protocol of agentls, version " + m.MetaData.Version},
		{"methods", methods},
		{"commands", commands},
		{"$defs", definitions(m, t)},
	}, "  ")
}

// paramsSchema is that of a message's params. They may be left out where nothing in them has to be there.
func paramsSchema(m *Model, t *Table, params *Type) any {
	if m.Optional(params) {
		return schema{AnyOf: []any{typeSchema(t, params, ""), schema{Type: "null"}}}
	}
	return typeSchema(t, params, "")
}

func definitions(m *Model, t *Table) object {
	all := object{}
	for _, s := range m.Structures {
		out := schema{Description: s.Documentation, Type: "object"}
		for _, p := range m.Properties(s) {
			out.Properties = append(out.Properties, member{p.Name, typeSchema(t, p.Type, p.Documentation)})
			if !p.Optional {
				out.Required = append(out.Required, p.Name)
			}
		}
		all = append(all, member{s.Name, out})
	}
	for _, e := range m.Enumerations {
		out := schema{Description: e.Documentation, Type: "string"}
		for _, v := range e.Values {
			out.Enum = append(out.Enum, v.Value)
		}
		all = append(all, member{e.Name, out})
	}
	for _, a := range m.TypeAliases {
		switch foreign := t.Types[a.Name].Schema; {
		case a.Name == "Event":
			all = append(all, member{a.Name, eventSchema(m, a)})
		case foreign != nil:
			all = append(all, member{a.Name, foreign})
		default:
			all = append(all, member{a.Name, typeSchema(t, a.Type, a.Documentation)})
		}
	}
	return all
}

// eventSchema tells the events apart by their type, so that a fault names the member that is wrong
// and not the whole event.
func eventSchema(m *Model, a *TypeAlias) schema {
	kind := schema{Type: "string"}
	out := schema{Description: a.Documentation, Type: "object", Required: []string{"type"}}
	for _, s := range m.Events() {
		kind.Enum = append(kind.Enum, s.Name)
		out.AllOf = append(out.AllOf, schema{
			If:   &schema{Properties: object{{"type", schema{Const: s.Name}}}},
			Then: &schema{Ref: "#/$defs/" + s.Name},
		})
	}
	out.Properties = object{{"type", kind}}
	return out
}

func typeSchema(t *Table, typ *Type, description string) any {
	out := schema{Description: description}
	switch typ.Kind {
	case "reference":
		out.Ref = "#/$defs/" + typ.Name
	case "array":
		out.Type, out.Items = "array", typeSchema(t, typ.Element, "")
	case "map":
		out.Type = "object"
	case "stringLiteral":
		out.Type, out.Const = "string", typ.Literal
	case "or":
		if values, ok := typ.Literals(); ok {
			out.Type, out.Enum = "string", values
			break
		}
		for _, item := range typ.Items {
			out.AnyOf = append(out.AnyOf, typeSchema(t, item, ""))
		}
	case "base":
		switch typ.Name {
		case "DocumentUri":
			// Simple validators do not look at formats.
			out.Type, out.Format, out.Pattern = "string", "uri", "^[A-Za-z][A-Za-z0-9+.-]*:"
		case "integer", "uinteger":
			low, high := -1<<31, 1<<31-1
			if typ.Name == "uinteger" {
				low = 0
			}
			out.Type, out.Minimum, out.Maximum = "integer", &low, &high
		case "decimal":
			out.Type = "number"
		default:
			out.Type = typ.Name
		}
	}
	return out
}
