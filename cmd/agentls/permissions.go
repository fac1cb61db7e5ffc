package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

// grantReport is one grant in the output of `agentls permissions list --json`.
type grantReport struct {
	ID       event.GrantID     `json:"id"`
	Tool     string            `json:"tool"`
	Pattern  string            `json:"pattern"`
	Decision permission.Action `json:"decision"`
	Scope    permission.Scope  `json:"scope"`
	Root     string            `json:"root"`
	Created  time.Time         `json:"created"`
	// Expires is when the grant ends by itself.
	Expires time.Time `json:"expires,omitzero"`
}

// decisionReport is the output of `agentls permissions explain --json`. Rules are written as in `deny bash(git push*)`;
// Rule is empty where the default decides.
type decisionReport struct {
	Action permission.Action `json:"action"`
	Rule   string            `json:"rule,omitempty"`
	Layer  string            `json:"layer,omitempty"`
	Reason string            `json:"reason"`
	Advice string            `json:"advice,omitempty"`
	Always []string          `json:"always"`
	Trail  []stepReport      `json:"trail"`
}

// stepReport is one rule that was looked at, in order.
type stepReport struct {
	What   string            `json:"what"`
	Layer  string            `json:"layer"`
	Rule   string            `json:"rule,omitempty"`
	Action permission.Action `json:"action"`
	Note   string            `json:"note,omitempty"`
}

func permissionsCommand(p *process, s *settings) *cobra.Command {
	return group("permissions", "List what was allowed for good, take it back, or explain a decision",
		permissionsListCommand(p, s), permissionsExplainCommand(p, s), permissionsRevokeCommand(p, s))
}

func permissionsListCommand(p *process, s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the permissions that you granted for projects and that still hold",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				grants := engine.Grants("")
				reports := make([]grantReport, len(grants))
				for i, g := range grants {
					reports[i] = grantReport{g.ID, g.Tool, g.Pattern, g.Decision, g.Scope, g.Root, g.Created, g.Expires}
				}
				if asJSON {
					return p.printJSON(reports)
				}
				if len(reports) == 0 {
					return p.print("Nothing was allowed for good in any project.\n")
				}
				var rows strings.Builder
				for i, r := range reports {
					rule := permission.Rule{
						Tool: grants[i].Tool, Pattern: grants[i].Pattern,
						Action: grants[i].Decision,
					}
					fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%s\n", r.ID, rule.Text(), r.Created.Format(time.DateOnly),
						timeLeft(r.Expires, time.Now()), oneLine(r.Root))
				}
				return p.print(inColumns(rows.String()))
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// timeLeft says how long a grant still holds, in the largest two units, or that it does not end.
func timeLeft(expires, now time.Time) string {
	left := expires.Sub(now)
	switch {
	case expires.IsZero():
		return "for good"
	case left < time.Minute:
		return "less than 1m left"
	case left < time.Hour:
		return fmt.Sprintf("%dm left", left/time.Minute)
	case left < 24*time.Hour:
		return fmt.Sprintf("%dh %dm left", left/time.Hour, left%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd %dh left", left/(24*time.Hour), left%(24*time.Hour)/time.Hour)
}

func permissionsRevokeCommand(p *process, s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a granted permission back",
		Args:  exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				err := engine.Decisions().Revoke(c.Context(), event.GrantID(args[0]))
				if fault.Is(err, fault.NotFound) {
					return usage("there is no permission %q; see `agentls permissions list`", args[0])
				}
				return err
			})
		},
	}
}

func permissionsExplainCommand(p *process, s *settings) *cobra.Command {
	var asJSON bool
	var agentName string
	c := &cobra.Command{
		Use:   "explain CALL",
		Short: "Say how a call would be decided, and by which rule",
		Long: `Say how a call of a tool would be decided in the current folder, which rule of which layer decides, and what an
"always" would allow. The call is not made. A CALL is the name of a tool and, in brackets, what rules compare: a command
line, a file or a host.`,
		Example: `  agentls permissions explain 'bash(git push)'
  agentls permissions explain --agent explore 'read(.env)'`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			toolName, subject, ok := strings.Cut(args[0], "(")
			inner, closed := strings.CutSuffix(subject, ")")
			if !ok || !closed || toolName == "" {
				return usage("%q is no call; write it like 'bash(git push)'", args[0])
			}
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				root, _, err := p.chooseRoot("", nil)
				if err != nil {
					return err
				}
				view, err := workspace.Open([]workspace.Root{root}, workspace.Options{})
				if err != nil {
					return &exitError{exitUsage, err}
				}
				defer view.Close()
				session, err := engine.OpenSession(c.Context(), view, "permissions explain")
				if err != nil {
					return err
				}
				found, err := session.Explain(agentName, toolName, inner)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				if asJSON {
					return p.printJSON(reportDecision(found))
				}
				return p.print(decisionText(reportDecision(found)))
			})
		},
	}
	c.Flags().StringVar(&agentName, "agent", "",
		"slug or alias of the `agent` (default: default_agent of the configuration)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func reportDecision(e permission.Explanation) decisionReport {
	r := decisionReport{
		Action: e.Action, Layer: e.Layer, Reason: e.Reason, Advice: e.Advice, Always: []string{},
		Trail: []stepReport{},
	}
	if e.Rule != nil {
		r.Rule = e.Rule.Text()
	}
	for _, rule := range e.Always {
		r.Always = append(r.Always, rule.Calls())
	}
	for _, step := range e.Trail {
		one := stepReport{What: step.What, Layer: step.Layer, Action: step.Action, Note: step.Note}
		if step.Rule != nil {
			one.Rule = step.Rule.Text()
		}
		r.Trail = append(r.Trail, one)
	}
	return r
}

func decisionText(r decisionReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Action, oneLine(r.Reason))
	if r.Rule != "" {
		fmt.Fprintf(&b, "rule: %s (%s)\n", oneLine(r.Rule), oneLine(r.Layer))
	}
	if len(r.Always) > 0 {
		fmt.Fprintf(&b, "an “always” would allow: %s\n", oneLine(strings.Join(r.Always, ", ")))
	}
	if r.Advice != "" {
		fmt.Fprintf(&b, "advice: %s\n", oneLine(r.Advice))
	}
	for _, step := range r.Trail {
		text := step.Layer
		if step.Rule != "" {
			text += ": " + step.Rule
		}
		fmt.Fprintf(&b, "  %s: %s: %s", oneLine(step.What), oneLine(text), step.Action)
		if step.Note != "" {
			fmt.Fprintf(&b, " (%s)", oneLine(step.Note))
		}
		b.WriteString("\n")
	}
	return b.String()
}
