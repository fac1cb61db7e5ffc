package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
)

// outcome is the result of a check.
type outcome string

// The outcomes. Only a failed check makes the exit code 1.
const (
	checkOK      outcome = "ok"
	checkWarning outcome = "warning"
	checkFailed  outcome = "failed"
)

// check is one line of `agentls doctor`, and one entry of its JSON.
type check struct {
	Name    string  `json:"name"`
	Outcome outcome `json:"outcome"`
	// Detail says what was found, Hint what to do about it.
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func doctorCommand(p *process, s *settings) *cobra.Command {
	var asJSON, models bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation: configuration, state, models, checkers",
		Long: `Check what agentls works with: configuration files, the state folder and its database, providers of models and
whether they have a key (the key itself is never shown), the model that a run would get and why, the search engine,
MCP servers, the sandbox for the commands of agents, checkers on PATH, git and the workspace folder.

--models also asks each provider which models it has; no prompt is sent. The exit code is 1 if a check failed.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			checks, err := p.examine(c.Context(), s, models)
			if err != nil {
				return err
			}
			if asJSON {
				err = p.printJSON(struct {
					Version string  `json:"version"`
					Checks  []check `json:"checks"`
				}{version(), checks})
			} else {
				err = p.print(checkList(checks, p.stdout.color))
			}
			if err != nil {
				return err
			}
			failed := 0
			for _, c := range checks {
				if c.Outcome == checkFailed {
					failed++
				}
			}
			if failed > 0 {
				return &exitError{
					exitFindings,
					fmt.Errorf("%s failed; do what the hints say and run `agentls doctor` again",
						count(failed, "check")),
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&models, "models", false,
		"ask the providers that could be used for their models: do they answer, do the models call tools, how much "+
			"do they take")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// examine carries out all checks in the order of the listing. With models, it also asks the providers for their models.
func (p *process) examine(ctx context.Context, s *settings, models bool) ([]check, error) {
	cfg, problems, dirs, trust, err := p.loadFolder(ctx, s, p.dir)
	if err != nil {
		return nil, err
	}
	// The programs print their versions while the other checks run.
	programs := make(chan []check, 1)
	go func() { programs <- p.checkPrograms(ctx) }()
	checks := []check{{Name: "version", Outcome: checkOK, Detail: version()}}
	checks = append(checks, checkConfig(dirs, p.dir, trust, problems)...)
	checks = append(checks, checkState(ctx, dirs))
	checks = append(checks, p.checkProviders(dirs, cfg)...)
	client := model.NewHTTPClient()
	defer client.CloseIdleConnections()
	local := &provider.LocalServers{Client: client, Getenv: p.keys(dirs).Get}
	checks = append(checks, p.checkAgents(ctx, dirs, cfg, trust))
	chosen, name := p.checkModel(ctx, dirs, cfg, local)
	checks = append(checks, chosen, p.checkSearch(dirs, cfg))
	if models {
		checks = append(checks, p.checkCatalogs(ctx, dirs, cfg, client, name)...)
	}
	checks = append(checks, p.checkServers(dirs, cfg, trust)...)
	checks = append(checks, checkWorkspace(p.dir))
	checks = append(checks, checkSandbox(ctx, dirs, cfg))
	return append(checks, <-programs...), nil
}

// checkList is the result for people.
func checkList(checks []check, color bool) string {
	width := 0
	for _, c := range checks {
		width = max(width, columns(visible(c.Name)))
	}
	var b strings.Builder
	paint := painter(color)
	for _, c := range checks {
		mark := paint(green, "ok     ")
		switch c.Outcome {
		case checkWarning:
			mark = paint(yellow, "warning")
		case checkFailed:
			mark = paint(red, "failed ")
		}
		name := visible(c.Name)
		fmt.Fprintf(&b, "%s  %s%s  %s\n", mark, name, strings.Repeat(" ", width-columns(name)), oneLine(c.Detail))
		if c.Hint != "" {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", 9+width+2), oneLine(c.Hint))
		}
	}
	return b.String()
}
