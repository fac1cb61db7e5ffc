package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/provider"
)

// modelsReport is the output of `agentls models --json`.
type modelsReport struct {
	// Default is the model that a run uses, and Reason what decided on it.
	Default string        `json:"default"`
	Reason  string        `json:"reason"`
	Models  []modelReport `json:"models"`
	// Order lists what was looked at for the decision, in order, up to what decided.
	Order []candidateReport `json:"order"`
}

// modelReport is a model that can be chosen.
type modelReport struct {
	Name          string `json:"name"`
	Title         string `json:"title,omitempty"`
	ContextTokens int64  `json:"contextTokens,omitempty"`
	Available     bool   `json:"available"`
	// Reason says why the model cannot be used, and what to do.
	Reason string `json:"reason,omitempty"`
}

// candidateReport is one thing that could have decided on the model.
type candidateReport struct {
	Source string `json:"source"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason,omitempty"`
	Chosen bool   `json:"chosen,omitempty"`
}

func modelsCommand(p *process, s *settings) *cobra.Command {
	var agentName, model string
	var asJSON bool
	c := &cobra.Command{
		Use:   "models",
		Short: "List the models that are set up, and the one that a run takes",
		Long: `List the models that are set up, usable ones first, and tell which one a run takes and why. No prompt is
sent to any; "agentls doctor" asks the providers whether they answer.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, problems, dirs, trust, err := p.loadFolder(c.Context(), s, p.dir)
			if err != nil {
				return err
			}
			p.tellProblems(problems, true)
			agents, err := p.agents(c.Context(), cfg, dirs, trustedFolders(trust, p.dir)...)
			if err != nil {
				return err
			}
			if err := startable(agents, agentName, cfg.DefaultAgent); err != nil {
				return err
			}
			options := p.engineOptions(cfg, dirs, agents)
			models, resolved, err := agentcore.ModelsWith(c.Context(), options, agentName, model)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if asJSON {
				return p.printJSON(modelsReportOf(models, resolved))
			}
			return p.print(modelsTable(models, resolved))
		},
	}
	c.Flags().StringVar(&agentName, "agent", "", "which model the `agent` takes (default: default_agent)")
	c.Flags().StringVar(&model, "model", "", "show what a run with --model `model` takes")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func modelsReportOf(models []provider.Info, resolved provider.Resolved) modelsReport {
	report := modelsReport{
		Default: resolved.Name, Reason: resolved.Because, Models: []modelReport{}, Order: []candidateReport{},
	}
	for _, m := range models {
		report.Models = append(report.Models, modelReport(m))
	}
	for _, c := range resolved.Order {
		report.Order = append(report.Order, candidateReport{c.Source, c.Name, c.Reason, c.Chosen})
	}
	return report
}

// modelsTable is the models for people.
func modelsTable(models []provider.Info, resolved provider.Resolved) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "A run takes %s: %s.\n\n", resolved.Name, strings.TrimSuffix(resolved.Because, "."))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "model\tcontext\tstate\n")
	for _, m := range models {
		context, state := "–", "ready"
		if m.ContextTokens > 0 {
			context = thousands(m.ContextTokens)
		}
		if !m.Available {
			state = cmp.Or(m.Reason, "cannot be used")
		}
		name := m.Name
		if m.Title != "" && m.Title != m.Name {
			name += " (" + m.Title + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", oneLine(name), context, oneLine(state))
	}
	table.Flush() // a bytes.Buffer takes everything
	return b.String()
}
