package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/config"
)

// configReport is the output of `agentls config --json`.
type configReport struct {
	// File is the path of the user's config.toml, whether it exists or not; State is the state folder.
	File  string `json:"file"`
	State string `json:"state"`
	// Values are the effective values, each with its origin.
	Values []configValue `json:"values"`
	// Problems are what is wrong in the sources, in their order.
	Problems []config.Problem `json:"problems"`
}

// configValue is one value, as the JSON that it is in config.toml: a string, a number, a boolean or a list. Secrets are
// "***".
type configValue struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Origin config.Origin   `json:"origin"`
}

func configCommand(p *process, s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration, each value with its origin",
		Long: `Print the effective configuration, each value with its origin: default, a file with its line, the environment,
or a flag. Errors in them go to standard error, each with its place. A project's .agentls/config.toml
counts only in a folder that you trust; editors have their own settings on top.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, problems, dirs, _, err := p.loadFolder(c.Context(), s, p.dir)
			if err != nil {
				return err
			}
			if asJSON {
				report := configReport{
					File: dirs.File, State: dirs.State,
					Problems: append([]config.Problem{}, problems...),
				}
				for v := range cfg.Values() {
					report.Values = append(report.Values, configValue{v.Key, json.RawMessage(v.Text), v.Origin})
				}
				return p.printJSON(report)
			}
			p.tellProblems(problems, false)
			return p.print(configTable(cfg))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the problems")
	return c
}

// configTable is the configuration for people: TOML with the origins as comments.
func configTable(cfg *config.Config) string {
	var rows strings.Builder
	for v := range cfg.Values() {
		fmt.Fprintf(&rows, "%s = %s\t# %s\n", visible(v.Key), oneLine(v.Text), visible(v.Origin.String()))
	}
	return inColumns(rows.String())
}
