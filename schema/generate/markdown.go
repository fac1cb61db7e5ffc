package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
)

// introduction is the part of PROTOCOL.md that no table can say.
//
//go:embed introduction.md
var introduction string

// document writes PROTOCOL.md.
type document struct {
	bytes.Buffer
	model *Model
	table *Table
}

// markdown writes schema/PROTOCOL.md.
func markdown(m *Model, t *Table) ([]byte, error) {
	d := &document{model: m, table: t}
	d.printf("<!-- Generated from agent.metamodel.json. Do not edit. -->\n")
	d.printf("%s\n", strings.ReplaceAll(strings.TrimSpace(introduction), "{{version}}", m.MetaData.Version))
	d.printf("\n## Capabilities\n\n%s\n\n", m.structures["Support"].Documentation)
	d.members(m.structures["Support"])
	if err := d.example("Both sides announce, for example",
		object{
			{"experimental", object{{"agentls", sample(m, t, &Type{Kind: "reference", Name: "Support"})}}},
		}); err != nil {
		return nil, err
	}
	d.index()
	d.errors()
	d.printf("\n## Requests of the client\n")
	for _, r := range m.Requests {
		if r.ToServer() {
			if err := d.message(r); err != nil {
				return nil, err
			}
		}
	}
	d.printf("\n## Messages of the server\n")
	for _, r := range m.Messages() {
		if !r.ToServer() {
			if err := d.message(r); err != nil {
				return nil, err
			}
		}
	}
	d.printf("\n## Commands that are no requests\n")
	for _, c := range t.Commands {
		r := &Message{
			Method: c.Command, Documentation: c.Documentation,
			Params: &Type{Kind: "reference", Name: c.Params}, Result: &Type{Kind: "reference", Name: c.Result},
		}
		if err := d.message(r); err != nil {
			return nil, err
		}
	}
	if err := d.events(); err != nil {
		return nil, err
	}
	d.types()
	// Sections begin and end with an empty line each: one is enough.
	text := strings.ReplaceAll(d.String(), "\n\n\n", "\n\n")
	return []byte(wrapParagraphs(text)), nil
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// index writes the table of all messages.
func (d *document) index() {
	d.printf("\n## All messages\n\n| message | from | command |\n|---|---|---|\n")
	for _, r := range d.model.Messages() {
		from, command := "server", ""
		if r.ToServer() {
			from, command = "client", "`"+d.table.CommandName(r.Method)+"`"
		}
		d.printf("| [`%s`](#%s) | %s | %s |\n", r.Method, anchor(r.Method), from, command)
	}
	for _, c := range d.table.Commands {
		d.printf("| – | client | [`%s`](#%s) |\n", c.Command, anchor(c.Command))
	}
}

func (d *document) errors() {
	d.printf(
		"\n## Errors\n\nThe `data` of an error answer is a [Failure](#failure): `{kind, detail, hint}`. The " +
			"kinds:\n\n| kind | code | meaning |\n|---|---|---|\n")
	for _, e := range d.model.enumerations["ErrorKind"].Values {
		d.printf("| `%s` | %d | %s |\n", e.Value, d.table.ErrorCodes[e.Value], e.Documentation)
	}
	d.printf("\nEvery request can end with %s.\n", quoted(d.table.CommonErrors))
}

// message writes the section of a message or command.
func (d *document) message(r *Message) error {
	d.printf("\n### `%s`\n\n%s\n\n", r.Method, r.Documentation)
	if r.ClientCapability != "" {
		d.printf("Sent only to a client that announced `%s`.\n\n", r.ClientCapability)
	}
	d.printf("Params: %s\n\n", d.link(r.Params))
	if s := d.model.structures[r.Params.Name]; s != nil {
		d.members(s)
	}
	if r.Result != nil {
		d.printf("Result: %s\n\n", d.link(r.Result))
		if s := d.model.structures[r.Result.Name]; s != nil && !d.shared(s.Name) {
			d.members(s)
		}
		if kinds := d.table.Errors[r.Method]; len(kinds) > 0 {
			d.printf("Errors: %s.\n\n", quoted(kinds))
		}
	}
	example := object{{"method", r.Method}, {"params", sample(d.model, d.table, r.Params)}}
	if r.TypeName == "" {
		example = object{{"method", "workspace/executeCommand"}, {"params", object{
			{"command", r.Method}, {"arguments", []any{sample(d.model, d.table, r.Params)}},
		}}}
	}
	if err := d.example("Example", example); err != nil {
		return err
	}
	if r.Result == nil || r.Result.isNull() {
		return nil
	}
	return d.example("Its result", sample(d.model, d.table, r.Result))
}

// shared reports whether several messages use the structure; it is then described once, under the types.
func (d *document) shared(name string) bool {
	uses := 0
	for _, r := range d.model.Messages() {
		if r.Params.Name == name || r.Result != nil && r.Result.Name == name {
			uses++
		}
	}
	return uses > 1 || eventTypes(d.model)[name]
}

func (d *document) events() error {
	d.printf("\n## Events\n\n%s\n\n%s\n\n", d.model.aliases["Event"].Documentation,
		d.model.structures["EventHeader"].Documentation)
	d.members(d.model.structures["EventHeader"])
	for _, s := range d.model.Events() {
		d.printf("### %s\n\n%s\n\n", s.Name, s.Documentation)
		d.rows(s.Properties)
		if err := d.example("Example", sample(d.model, d.table, &Type{Kind: "reference", Name: s.Name})); err != nil {
			return err
		}
	}
	return nil
}

// types describes the structures that no message's or event's section does, and the enumerations
// and names of other types.
func (d *document) types() {
	described := map[string]bool{"Support": true, "EventHeader": true}
	for _, s := range d.model.Events() {
		described[s.Name] = true
	}
	for _, r := range d.model.Messages() {
		if r.ToServer() && r.Params.Name != "AgentParams" && r.Params.Name != "SessionParams" &&
			r.Params.Name != "ProposalParams" {
			described[r.Params.Name] = true
		}
		if r.Result != nil && d.model.structures[r.Result.Name] != nil && !d.shared(r.Result.Name) {
			described[r.Result.Name] = true
		}
	}
	for _, c := range d.table.Commands {
		described[c.Params] = true
	}
	d.printf("## Types\n\n")
	for _, s := range d.model.Structures {
		if !described[s.Name] {
			d.printf("### %s\n\n%s\n\n", s.Name, s.Documentation)
			d.members(s)
		}
	}
	for _, e := range d.model.Enumerations {
		if e.Name == "ErrorKind" {
			continue
		}
		d.printf("### %s\n\n%s\n\n| value | meaning |\n|---|---|\n", e.Name, e.Documentation)
		for _, v := range e.Values {
			d.printf("| `%s` | %s |\n", v.Value, v.Documentation)
		}
		d.printf("\n")
	}
	d.printf("### Other names\n\n| name | form | meaning |\n|---|---|---|\n")
	for _, a := range d.model.TypeAliases {
		if a.Name != "Event" {
			d.printf("| <a id=\"%s\"></a>%s | %s | %s |\n", anchor(a.Name), a.Name, d.link(a.Type), a.Documentation)
		}
	}
}

// members writes a structure's table of members.
func (d *document) members(s *Structure) {
	properties := d.model.Properties(s)
	if len(properties) == 0 {
		d.printf("It has no members.\n\n")
		return
	}
	d.rows(properties)
}

func (d *document) rows(properties []*Property) {
	d.printf("| member | type | meaning |\n|---|---|---|\n")
	for _, p := range properties {
		mark := ""
		if p.Optional {
			mark = "?"
		}
		d.printf("| `%s`%s | %s | %s |\n", p.Name, mark, d.link(p.Type), strings.ReplaceAll(p.Documentation, "|", `\|`))
	}
	d.printf("\n")
}

// link writes a type with links to what it names.
func (d *document) link(t *Type) string {
	switch t.Kind {
	case "array":
		if t.Element.Kind == "or" {
			return "(" + d.link(t.Element) + ")[]"
		}
		return d.link(t.Element) + "[]"
	case "map":
		return "{[name]: " + d.link(t.Element) + "}"
	case "or":
		var items []string
		for _, item := range t.Items {
			items = append(items, d.link(item))
		}
		return strings.Join(items, ` \| `)
	case "stringLiteral":
		return "`\"" + t.Literal + "\"`"
	case "reference":
		if t.Name == "ErrorKind" {
			return "[ErrorKind](#errors)"
		}
		if t.Name == "Event" {
			return "[Event](#events)"
		}
		return "[" + t.Name + "](#" + d.target(t.Name) + ")"
	}
	return t.Name
}

// target is the anchor of a type: its own, or that of the only message whose params or result it is.
func (d *document) target(name string) string {
	for _, s := range d.model.Events() {
		if s.Name == name {
			return anchor(name)
		}
	}
	if d.shared(name) {
		return anchor(name)
	}
	for _, r := range d.model.Messages() {
		if r.ToServer() && r.Params.Name == name || r.Result != nil && r.Result.Name == name &&
			d.model.structures[name] != nil {
			return anchor(r.Method)
		}
	}
	for _, c := range d.table.Commands {
		if c.Params == name {
			return anchor(c.Command)
		}
	}
	return anchor(name)
}

// anchor is the anchor of a heading, as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(heading))
}

func (d *document) example(title string, value any) error {
	text, err := encode(value, "  ")
	if err != nil {
		return fmt.Errorf("write an example: %w", err)
	}
	d.printf("%s:\n\n```json\n%s```\n\n", title, text)
	return nil
}

func quoted(kinds []string) string { return "`" + strings.Join(kinds, "`, `") + "`" }
