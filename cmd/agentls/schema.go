package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/schema"
)

// schemas are what `agentls schema` prints.
var schemas = []struct {
	name, what string
	text       func() ([]byte, error)
}{
	{"protocol", "the JSON Schema of the custom methods", given(schema.Agent)},
	{"document", "the custom methods, for people", func() ([]byte, error) { return []byte(schema.Protocol), nil }},
	{"config", "the JSON Schema of config.toml", config.Schema},
	{"definition", "the JSON Schema of a definition's frontmatter", given(schema.Definition)},
	{"agents", "the JSON Schema of files with several definitions", given(schema.Agents)},
}

func given(text []byte) func() ([]byte, error) {
	return func() ([]byte, error) { return text, nil }
}

func schemaCommand(o *console) *cobra.Command {
	var names []string
	long := "Print the protocol's JSON Schema, or one of these:\n"
	for _, s := range schemas {
		names = append(names, s.name)
		long += "\n  " + s.name + strings.Repeat(" ", 12-len(s.name)) + s.what
	}
	return &cobra.Command{
		Use:   "schema [" + strings.Join(names, "|") + "]",
		Short: "Print a JSON Schema: of the custom methods, of config.toml, of agents' definitions",
		Long:  long,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("one schema at a time; write `agentls schema` and one of %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			which := names[0]
			if len(args) > 0 {
				which = args[0]
			}
			for _, s := range schemas {
				if s.name == which {
					text, err := s.text()
					if err != nil {
						return err
					}
					return o.print(string(text))
				}
			}
			return usage("there is no schema %q%s", which,
				cmp.Or(didYouMean(which, names), "; write "+strings.Join(names, ", ")))
		},
	}
}
