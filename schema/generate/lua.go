package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// luaModule writes editors/nvim/lua/agentls/protocol.lua.
type luaModule struct {
	bytes.Buffer
	table *Table
}

// lua writes the names of methods and commands, and all types as annotations of LuaLS, which editors check and
// complete.
func lua(m *Model, t *Table) ([]byte, error) {
	l := &luaModule{table: t}
	l.printf("-- Generated from schema/agent.metamodel.json. Do not edit.\n\nlocal M = {}\n\n")
	l.printf("-- The version of the protocol.\nM.version = '%s'\n\n", m.MetaData.Version)
	l.printf("-- The methods, by their names in code.\nM.methods = {\n")
	for _, r := range m.Messages() {
		l.printf("  %s = '%s',\n", r.Name(), r.Method)
	}
	l.printf("}\n\n-- The commands for workspace/executeCommand.\nM.commands = {\n")
	for _, r := range m.Requests {
		if r.ToServer() {
			l.printf("  %s = '%s',\n", r.Name(), t.CommandName(r.Method))
		}
	}
	for _, c := range t.Commands {
		l.printf("  %s = '%s',\n", c.Name, c.Command)
	}
	l.printf("}\n\n")
	for _, e := range m.Enumerations {
		l.comment(e.Documentation)
		// A receiver keeps values that it does not know, which LuaLS has no word for.
		l.printf("---@alias agentls.%s string\n", e.Name)
		for _, v := range e.Values {
			l.printf("---| '%q' # %s\n", v.Value, v.Documentation)
		}
		l.printf("\n")
	}
	for _, a := range m.TypeAliases {
		l.comment(a.Documentation)
		if a.Type.Kind == "or" {
			l.printf("---@alias agentls.%s\n", a.Name)
			for _, item := range a.Type.Items {
				l.printf("---| %s\n", l.typ(item))
			}
			l.printf("\n")
			continue
		}
		l.printf("---@alias agentls.%s %s\n\n", a.Name, l.typ(a.Type))
	}
	for _, s := range m.Structures {
		l.comment(s.Documentation)
		l.printf("---@class agentls.%s", s.Name)
		for i, parent := range s.Extends {
			l.printf("%s agentls.%s", map[bool]string{true: ":", false: ","}[i == 0], parent.Name)
		}
		l.printf("\n")
		for _, p := range s.Properties {
			optional := ""
			if p.Optional {
				optional = "?"
			}
			l.field(p.Name+optional+" "+l.typ(p.Type), p.Documentation)
		}
		l.printf("\n")
	}
	l.printf("return M\n")
	return l.Bytes(), nil
}

func (l *luaModule) printf(format string, args ...any) { fmt.Fprintf(l, format, args...) }

// field writes a member of a class. LuaLS takes what it means from behind the type, or from the lines above it.
func (l *luaModule) field(member, meaning string) {
	if line := "---@field " + member + " " + meaning; utf8.RuneCountInString(line) <= columns {
		l.printf("%s\n", line)
		return
	}
	l.comment(meaning)
	l.printf("---@field %s\n", member)
}

func (l *luaModule) comment(text string) {
	for _, line := range wrap(text, columns-len("---")) {
		l.printf("---%s\n", line)
	}
}

// typ is a type as LuaLS writes it.
func (l *luaModule) typ(t *Type) string {
	switch t.Kind {
	case "array":
		if t.Element.Kind == "or" {
			return "(" + l.typ(t.Element) + ")[]"
		}
		return l.typ(t.Element) + "[]"
	case "map":
		return "table<string, " + l.typ(t.Element) + ">"
	case "or":
		var items []string
		for _, item := range t.Items {
			items = append(items, l.typ(item))
		}
		return strings.Join(items, "|")
	case "stringLiteral":
		return fmt.Sprintf("'%q'", t.Literal)
	case "reference":
		return "agentls." + t.Name
	}
	switch t.Name {
	case "integer", "uinteger":
		return "integer"
	case "decimal":
		return "number"
	case "null":
		return "vim.NIL"
	case "DocumentUri":
		return "string"
	}
	return t.Name
}
