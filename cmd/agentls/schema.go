package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/schema"
)

func (p *process) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [protocol|config|document]",
		Short: "Print the JSON Schema of the custom methods (protocol) or of config.toml (config), or the protocol for people (document)",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("one schema at a time; write `agentls schema protocol`, `config` or `document`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			which := "protocol"
			if len(args) > 0 {
				which = args[0]
			}
			switch which {
			case "protocol":
				return p.print(string(schema.Agent))
			case "document":
				return p.print(schema.Protocol)
			case "config":
				text, err := config.Schema()
				if err != nil {
					return err
				}
				return p.print(string(text))
			}
			hint := cmp.Or(didYouMean(which, []string{"protocol", "config", "document"}), "; write protocol, config or document")
			return usage("there is no schema %q%s", which, hint)
		},
	}
}
