package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// typeScript writes editors/vscode/src/protocol.ts: the types of the protocol, and which params and results each
// message and command has. It holds no code, so that nothing of it is left in what is bundled.
func typeScript(m *Model, t *Table) ([]byte, error) {
	s := &script{}
	s.printf("// Generated from schema/agent.metamodel.json. Do not edit.\n\n")
	s.printf("/** The version of the protocol. */\nexport type Version = '%s';\n\n", m.MetaData.Version)
	for _, a := range m.TypeAliases {
		s.comment("", a.Documentation)
		if a.Type.Kind == "or" {
			s.printf("export type %s =", a.Name)
			for _, item := range a.Type.Items {
				s.printf("\n  | %s", s.typeOf(item))
			}
			s.printf(";\n\n")
			continue
		}
		s.printf("export type %s = %s;\n\n", a.Name, s.typeOf(a.Type))
	}
	for _, e := range m.Enumerations {
		s.comment("", e.Documentation)
		s.printf("export type %s =\n", e.Name)
		for _, v := range e.Values {
			s.comment("  ", v.Documentation)
			s.printf("  | '%s'\n", v.Value)
		}
		s.printf("  /** Others may come from a newer peer. */\n  | (string & {});\n\n")
	}
	for _, structure := range m.Structures {
		s.structure(structure)
	}

	s.printf("/** The requests that the client sends. */\nexport interface Requests {\n")
	s.messages(m.Requests, true)
	s.printf(
		"}\n\n/** The requests that the server sends, to a client that announced them. */\nexport interface " +
			"ServerRequests {\n")
	s.messages(m.Requests, false)
	s.printf("}\n\n/** The notifications that the server sends. */\nexport interface ServerNotifications {\n")
	s.messages(m.Notifications, false)
	s.printf(
		"}\n\n/** The commands for `workspace/executeCommand` that are no requests as well. */\nexport interface " +
			"Commands {\n")
	for _, c := range t.Commands {
		s.comment("  ", c.Documentation)
		s.printf("  '%s': { params: %s; result: %s };\n", c.Command, c.Params, c.Result)
	}
	s.printf("}\n")
	return s.Bytes(), nil
}

// script is TypeScript that is being written.
type script struct{ bytes.Buffer }

func (s *script) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *script) comment(indent, text string) {
	if line := indent + "/** " + text + " */"; utf8.RuneCountInString(line) <= columns {
		s.printf("%s\n", line)
		return
	}
	s.printf("%s/**\n", indent)
	for _, line := range wrap(text, columns-len(indent+" * ")) {
		s.printf("%s * %s\n", indent, line)
	}
	s.printf("%s */\n", indent)
}

func (s *script) structure(structure *Structure) {
	s.comment("", structure.Documentation)
	s.printf("export interface %s ", structure.Name)
	for i, parent := range structure.Extends {
		separator := ", "
		if i == 0 {
			separator = "extends "
		}
		s.printf("%s%s ", separator, parent.Name)
	}
	s.printf("{\n")
	for _, p := range structure.Properties {
		s.comment("  ", p.Documentation)
		optional := ""
		if p.Optional {
			optional = "?"
		}
		s.printf("  %s%s: %s;\n", p.Name, optional, s.typeOf(p.Type))
	}
	s.printf("}\n\n")
}

// messages writes a member for each message of one direction.
func (s *script) messages(messages []*Message, toServer bool) {
	for _, r := range messages {
		if r.ToServer() != toServer {
			continue
		}
		s.comment("  ", r.Documentation)
		result := ""
		if r.Result != nil {
			result = "; result: " + s.typeOf(r.Result)
		}
		s.printf("  '%s': { params: %s%s };\n", r.Method, s.typeOf(r.Params), result)
	}
}

func (s *script) typeOf(t *Type) string {
	switch t.Kind {
	case "reference":
		return t.Name
	case "stringLiteral":
		return "'" + t.Literal + "'"
	case "array":
		if t.Element.Kind == "or" {
			return "(" + s.typeOf(t.Element) + ")[]"
		}
		return s.typeOf(t.Element) + "[]"
	case "map":
		return "{ [key: string]: " + s.typeOf(t.Element) + " }"
	case "or":
		var items []string
		for _, item := range t.Items {
			items = append(items, s.typeOf(item))
		}
		return strings.Join(items, " | ")
	case "base":
		switch t.Name {
		case "integer", "uinteger", "decimal":
			return "number"
		case "DocumentUri":
			return "string"
		}
		return t.Name
	}
	panic(fmt.Sprintf("there is no TypeScript type for %+v", *t))
}
