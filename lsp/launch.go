package lsp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/short"
)

// launchActions are the actions that start agents on a document or, where some text is selected, on that text: the
// built-in agents, and any of agents. Where no agent can be started, unable says why.
func launchActions(p *protocol.CodeActionParams, c *client.Client, agents []*agent.Definition,
	unable string,
) []menu.Action {
	u := p.TextDocument.URI
	var part *protocol.Range
	what := "this file"
	if p.Range.Start != p.Range.End {
		part, what = &p.Range, "selection"
	}
	about := methods.CodeTaskParams{URI: u, Range: part}
	list := []menu.Action{{
		Title: "agentls: Review " + what, Kind: menu.KindReview, Command: methods.CommandReview,
		Argument: methods.ReviewParams{URI: u, Range: part},
	}}
	if path := document.Path(u); part == nil && filepath.IsAbs(path) && git.Top(filepath.Dir(path)) != "" {
		list = append(list, menu.Action{
			Title: "agentls: Review my changes", Kind: menu.KindReview, Command: methods.CommandReview,
			Argument: methods.ReviewParams{Changes: &methods.ChangeScope{Kind: methods.ChangeKindUncommitted}},
		})
	}
	list = append(list, menu.Action{
		Title: "agentls: Explain " + what, Kind: menu.KindExplain, Command: methods.CommandExplainCode,
		Argument: methods.ExplainCodeParams{URI: u, Range: part},
	})
	rewrite := menu.Action{
		Title: "agentls: Rewrite selection", Kind: protocol.CodeActionKindRefactorRewrite,
		Command: methods.CommandRewrite, Argument: about,
	}
	switch {
	case part != nil:
		list = append(list, rewrite)
	// the menu of refactorings shows disabled actions, too (LSP 3.18, CodeAction.disabled)
	case len(p.Context.Only) > 0:
		rewrite.Disabled = "select the lines to rewrite"
		list = append(list, rewrite)
	}
	list = append(list, menu.Action{
		Title: "agentls: Write tests for " + what, Kind: menu.KindTests, Command: methods.CommandWriteTests,
		Argument: about,
	}, menu.Action{
		Title: "agentls: Plan a change to " + what, Kind: menu.KindPlan, Command: methods.CommandPlanChange,
		Argument: about,
	})
	list = append(list, delegateActions(u, part, c, agents)...)
	if part != nil {
		list = append(list, menu.Action{
			Title: "agentls: Review this file", Kind: menu.KindReview, Command: methods.CommandReview,
			Argument: methods.ReviewParams{URI: u},
		})
	}
	if unable != "" && c.ShowsDisabled() {
		for i := range list {
			list[i].Disabled = cmp.Or(list[i].Disabled, unable)
		}
	}
	return append(list, agentActions(p, agents)...)
}

// unable says why no agent can be started at all; empty where one can, or where that is not known yet.
func (l *launcher) unable() string {
	if err := l.failing(); err != nil {
		l.trying() // the next look finds the outcome
		return "agentls cannot work: " + err.Error()
	}
	return ""
}

// delegateActions hand a document to an agent: one action that asks the user which agent or, for a client that shows no
// prompts, one action for each agent.
func delegateActions(u uri.URI, part *protocol.Range, c *client.Client, agents []*agent.Definition) []menu.Action {
	if c.ShowsQuestions() || c.Announced().Questions || len(agents) == 0 {
		return []menu.Action{{
			Title: "agentls: Delegate to…", Kind: menu.KindDelegate, Command: methods.CommandDelegate,
			Argument: methods.DelegateParams{URI: u, Range: part},
		}}
	}
	var list []menu.Action
	for _, d := range agents {
		list = append(list, menu.Action{
			Title: "agentls: Delegate to " + cmp.Or(d.Title, d.Slug), Kind: menu.KindDelegate,
			Command: methods.CommandDelegate, Argument: methods.DelegateParams{URI: u, Range: part, Agent: d.Slug},
		})
	}
	return list
}

// delegates are the agents that a user can choose from, in display order; none while there is no engine.
func (l *launcher) delegates() []*agent.Definition {
	if !l.ready() {
		return nil
	}
	return l.engine.Agents().List("")
}

// agentActions launch agents that the user has made or installed. The built-in agents have actions of their own.
func agentActions(p *protocol.CodeActionParams, agents []*agent.Definition) []menu.Action {
	about, what := methods.RunContext{URI: p.TextDocument.URI}, "this file"
	if p.Range.Start != p.Range.End {
		about.Range, what = &p.Range, "the selection"
	}
	var list []menu.Action
	for _, d := range agents {
		if d.Source.Layer == agent.LayerBuiltin || !d.Is(agent.Primary) {
			continue
		}
		list = append(list, menu.Action{
			Title: fmt.Sprintf("agentls: Run %s on %s", cmp.Or(d.Title, d.Slug), what), Kind: menu.KindRun,
			Command:  methods.CommandRun,
			Argument: methods.RunParams{Agent: d.Slug, Prompt: "Do your work on " + what + ".", Context: &about},
		})
	}
	return list
}

// maxFixes is for how many diagnostics of other servers a menu offers a fix.
const maxFixes = 5

// diagnosticActions have an agent fix what other servers report at the place. No action is preferred, since an editor
// may carry out preferred fixes before the user has looked at them.
func diagnosticActions(p *protocol.CodeActionParams) []menu.Action {
	var list []menu.Action
	for _, d := range p.Context.Diagnostics {
		source, _ := d.Source.Get()
		message := plainMessage(d)
		if source == remark.Source || message == "" || len(list) == maxFixes {
			continue
		}
		list = append(list, menu.Action{
			Title: "agentls: Fix this diagnostic: " + short.Line(message), Kind: protocol.CodeActionKindQuickFix,
			Diagnostic: &d, Command: methods.CommandFix, Argument: methods.FixParams{
				URI: p.TextDocument.URI,
				Diagnostic: &methods.EditorDiagnostic{
					Range: d.Range, Severity: severityOf(d.Severity), Message: message, Source: source, Code: codeOf(d),
				},
			},
		})
	}
	return list
}

func plainMessage(d protocol.Diagnostic) string {
	switch m := d.Message.(type) {
	case protocol.String:
		return string(m)
	case *protocol.MarkupContent:
		return m.Value
	}
	return ""
}

func codeOf(d protocol.Diagnostic) string {
	switch c := d.Code.(type) {
	case protocol.String:
		return string(c)
	case protocol.Integer:
		return fmt.Sprint(int32(c))
	}
	return ""
}

func severityOf(s protocol.DiagnosticSeverity) event.Severity {
	for ours, theirs := range remark.Severities {
		if theirs == s {
			return ours
		}
	}
	return event.SeverityError // without a severity, LSP leaves it to the client
}

// ExplainCode carries out `agentls.explain`.
func (l *launcher) ExplainCode(ctx context.Context, p *methods.ExplainCodeParams) (*methods.RunStarted, error) {
	task := "Explain this file: what it is for, how it works, and what a reader has to know."
	if p.Range != nil {
		task = "Explain these lines of the file: what they do, why, and what a reader has to know."
	}
	return l.codeTask(ctx, &methods.CodeTaskParams{URI: p.URI, Range: p.Range}, explainerAgent, "explain", task)
}

// Rewrite carries out `agentls.rewrite`.
func (l *launcher) Rewrite(ctx context.Context, p *methods.CodeTaskParams) (*methods.RunStarted, error) {
	task := "Rewrite this file"
	if p.Range != nil {
		task = "Rewrite these lines of the file, and change nothing else"
	}
	if p.Prompt == "" {
		task += ": the same behaviour, said more clearly and simply. Propose nothing where it is good as it " +
			"is, and say so"
	}
	return l.codeTask(ctx, p, fixerAgent, "rewrite", task+".")
}

// WriteTests carries out `agentls.tests`.
func (l *launcher) WriteTests(ctx context.Context, p *methods.CodeTaskParams) (*methods.RunStarted, error) {
	task := "Write tests for this file"
	if p.Range != nil {
		task = "Write tests for these lines of the file"
	}
	return l.codeTask(ctx, p, testerAgent, "tests for",
		task+": for what they promise to their callers, the usual cases, the boundaries and the errors. Put them "+
			"where the project has its tests.")
}

// PlanChange carries out `agentls.plan`.
func (l *launcher) PlanChange(ctx context.Context, p *methods.CodeTaskParams) (*methods.RunStarted, error) {
	task := "Plan a change to this file."
	if p.Range != nil {
		task = "Plan a change to these lines of the file."
	}
	if p.Prompt == "" {
		task += " What is to change has not been said: look at the code, then ask the user, with the changes that " +
			"suggest themselves as choices."
	}
	return l.codeTask(ctx, p, plannerAgent, "plan for", task)
}

// Remember carries out `agentls.remember`.
func (l *launcher) Remember(ctx context.Context, p *methods.RememberParams) (*methods.RunStarted, error) {
	session, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	path := ""
	if p.URI != "" {
		path = document.Path(p.URI)
	}
	run, err := session.Remember(ctx, p.Text, path)
	if err != nil {
		return nil, err
	}
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// codeTask has an agent work on a document, or on a part of it.
func (l *launcher) codeTask(ctx context.Context, p *methods.CodeTaskParams, slug, verb,
	task string,
) (*methods.RunStarted, error) {
	about, title, err := l.about(ctx, p.URI, p.Range)
	if err != nil {
		return nil, err
	}
	return l.startRun(ctx, "", agentcore.RunRequest{
		Agent: slug, Lead: task, Prompt: p.Prompt, Title: verb + " " + title, Context: about, Model: p.Model,
	})
}

// Fix carries out `agentls.fix`.
func (l *launcher) Fix(ctx context.Context, p *methods.FixParams) (*methods.RunStarted, error) {
	session, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	var finding event.Finding
	var path string
	switch d := p.Diagnostic; {
	case p.Finding != "":
		if finding, path, err = session.Board().Finding(p.Finding); err != nil {
			return nil, err
		}
	case d != nil && p.URI != "":
		path = document.Path(p.URI)
		first, last, err := l.lines(ctx, path, d.Range)
		if err != nil {
			return nil, err
		}
		finding = event.Finding{
			URI: event.FileURI(path), Severity: d.Severity, Rule: d.Code, Message: d.Message, Source: d.Source,
			Span: event.Span{StartLine: first, EndLine: last},
		}
	default:
		return nil, &fault.Error{
			Kind: fault.InvalidRequest, Detail: "nothing says what is to be fixed",
			Hint: "name a finding, or a uri and a diagnostic",
		}
	}
	return l.startRun(ctx, session.ID, agentcore.RunRequest{
		Agent: fixerAgent, Prompt: "Fix this finding with the smallest edit that is right, and change nothing else.",
		Title:   "fix " + short.Line(finding.Message),
		Context: agentcore.Context{Paths: []string{path}, Finding: &finding},
	})
}

// Delegate carries out `agentls.delegate`.
func (l *launcher) Delegate(ctx context.Context, p *methods.DelegateParams) (*methods.RunStarted, error) {
	about, title, err := l.about(ctx, p.URI, p.Range)
	if err != nil {
		return nil, err
	}
	session, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	d, err := l.delegate(ctx, session, p.Agent, title)
	if err != nil {
		return nil, err
	}
	prompt := p.Prompt
	if prompt == "" && l.client.Announced().Questions {
		answers, err := l.inquire(ctx, session,
			fmt.Sprintf("What shall %s do with %s?", cmp.Or(d.Title, d.Slug), title), nil)
		if err != nil {
			return nil, err
		}
		prompt = answers
	}
	if prompt == "" {
		prompt = "Do your work on this file."
		if p.Range != nil {
			prompt = "Do your work on these lines of the file."
		}
	}
	return l.startRun(ctx, session.ID, agentcore.RunRequest{
		Agent: d.Slug, Prompt: prompt, Title: d.Slug + " " + title, Context: about, Model: p.Model,
	})
}

// delegate is the agent with this name or, for "", the one that the user chooses.
func (l *launcher) delegate(ctx context.Context, session *agentcore.Session, name,
	title string,
) (*agent.Definition, error) {
	agents := l.engine.Agents()
	if name == "" {
		list := agents.List("")
		var choices []methods.Choice
		for _, d := range list {
			choices = append(choices, methods.Choice{Label: cmp.Or(d.Title, d.Slug), Description: d.Description})
		}
		label, err := l.inquire(ctx, session, "Which agent shall work on "+title+"?", choices)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(choices, func(c methods.Choice) bool { return c.Label == label })
		if at < 0 {
			return nil, &fault.Error{
				Kind: fault.Dismissed, Detail: "no agent was chosen",
				Hint: fmt.Sprintf(
					"choose one, name it in the argument of the command, as in {\"agent\": %q}, or write a comment "+
						"such as “agent@%s: …” and run that", list[0].Slug, list[0].Slug),
			}
		}
		return list[at], nil
	}
	l.trust.need() // the name may be that of a folder's own agent
	d, err := agents.Find(name)
	if err != nil {
		return nil, l.trust.unknownAgent(ctx, name, registry.Unknown(err))
	}
	if d.Is(agent.Hidden) {
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: fmt.Sprintf("the agent %q is for agentls itself", name),
			Hint: "list the agents with agent/list",
		}
	}
	return d, nil
}
