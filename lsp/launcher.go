package lsp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/surface"
)

// The built-in agents behind the commands.
const (
	reviewerAgent  = "reviewer"
	explainerAgent = "explore"
	fixerAgent     = "coder"
	testerAgent    = "tester"
	plannerAgent   = "planner"
	// ourselves is the name under which the server itself asks something.
	ourselves = "agentls"
)

// launcher starts runs, and steers those under way. Its methods may be called from any goroutine.
type launcher struct {
	*window
	trust *trust
	board *surface.Board
	// resumed notes that an interrupted run goes on.
	resumed func(event.RunID)
}

// Run answers `agent/run`.
func (l *launcher) Run(ctx context.Context, p *methods.RunParams) (*methods.RunStarted, error) {
	mode, err := modeOf(p.PermissionMode)
	if err != nil {
		return nil, err
	}
	request := agentcore.RunRequest{
		Agent: p.Agent, Prompt: p.Prompt, Model: p.Model, Each: document.Paths(p.Each), PermissionMode: mode,
		Iterations: p.Iterations, Until: p.Until, Goal: p.Goal, Effort: model.Effort(p.Effort),
		OutputSchema: p.OutputSchema,
	}
	if l := p.Limits; l != nil {
		request.Limits = agent.Limits{MaxTurns: l.MaxTurns, Timeout: milliseconds(l.TimeoutMs), Tokens: l.MaxTokens}
		if l.MaxCost != nil {
			request.Limits.Cost = *l.MaxCost
		}
	}
	if err := l.point(ctx, p.Context, &request); err != nil {
		return nil, err
	}
	if p.After != "" {
		return l.follow(ctx, p, request)
	}
	return l.startRun(ctx, p.Session, request)
}

// point puts into a request what the editor points at; nil means nothing.
func (l *launcher) point(ctx context.Context, c *methods.RunContext, request *agentcore.RunRequest) error {
	if c == nil {
		return nil
	}
	if c.URI != "" {
		about, _, err := l.about(ctx, c.URI, c.Range)
		if err != nil {
			return err
		}
		request.Context = about
	}
	request.Context.Paths = append(request.Context.Paths, document.Paths(c.URIs)...)
	request.Changes = changesOf(c.Changes)
	return nil
}

// follow starts a run whose prompt follows the conversation of another one.
func (l *launcher) follow(ctx context.Context, p *methods.RunParams, request agentcore.RunRequest,
) (*methods.RunStarted, error) {
	if p.Agent != "" || p.PermissionMode != "" || len(p.Each) > 0 {
		return nil, &fault.Error{
			Kind: fault.InvalidRequest, Detail: "a prompt that follows a run is for its agent, in its mode, and alone",
			Hint: "leave out agent, permissionMode and each, or after",
		}
	}
	session, err := l.sessionOf(ctx, p.Session)
	if err != nil {
		return nil, err
	}
	run, err := session.ResumeWith(ctx, p.After, request)
	if err != nil {
		return nil, err
	}
	l.resumed(p.After)
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// sessionOf is an open session, the window's own for "".
func (l *launcher) sessionOf(ctx context.Context, id event.SessionID) (*agentcore.Session, error) {
	engine, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.trust.need()
	if id == "" {
		return l.current(ctx)
	}
	session, err := engine.Session(id)
	return session, engine.Others().Explain(ctx, string(id), err)
}

// milliseconds is a duration from the wire, at most the longest that Go has.
func milliseconds(n int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(max(min(n, most), -most)) * time.Millisecond
}

// Wait answers `agent/wait`.
func (l *launcher) Wait(ctx context.Context, p *methods.WaitParams) (*event.RunResult, error) {
	engine, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	waiting := ctx
	if p.TimeoutMs > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, milliseconds(p.TimeoutMs))
		defer cancel()
	}
	told := func(context.Context, string) {}
	if p.WorkDoneToken != nil {
		told = l.board.Wait(p.Run, p.WorkDoneToken)
	}
	result, err := engine.Wait(waiting, p.Run)
	told(l.background, string(result.Status))
	if err != nil {
		return nil, err
	}
	return &result, ctx.Err()
}

// Cancel answers `agent/cancel`.
func (l *launcher) Cancel(ctx context.Context, p *methods.CancelParams) error {
	engine, err := l.open(ctx)
	if err != nil {
		return err
	}
	if err = engine.Cancel(p.Run); err == nil || engine.Others().Ended(ctx, p.Run) {
		return nil
	}
	return engine.Others().Explain(ctx, string(p.Run), err)
}

// Steer answers `agent/steer`.
func (l *launcher) Steer(ctx context.Context, p *methods.SteerParams) error {
	engine, err := l.open(ctx)
	if err != nil {
		return err
	}
	return engine.Others().Explain(ctx, string(p.Run), engine.Steer(p.Run, p.Message))
}

// Resume answers `agent/resume`.
func (l *launcher) Resume(ctx context.Context, p *methods.ResumeParams) (*methods.RunStarted, error) {
	session, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	l.trust.need()
	run, err := session.Resume(ctx, p.Run, p.Prompt)
	if err != nil {
		return nil, err
	}
	l.resumed(p.Run)
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// changesOf are the changes that a client means; nil means none.
func changesOf(c *methods.ChangeScope) git.Scope {
	if c == nil {
		return git.Scope{}
	}
	return git.Scope{Kind: git.Kind(c.Kind), Revision: c.Revision, Below: document.Paths(c.URIs)}
}

// Review carries out `agentls.review` on changes, on documents, or on the one that the user touched last.
func (l *launcher) Review(ctx context.Context, p *methods.ReviewParams) (*methods.RunStarted, error) {
	if p.Changes != nil {
		scope := changesOf(p.Changes)
		return l.startRun(ctx, "", agentcore.RunRequest{
			Agent: reviewerAgent, Lead: "Review these changes.", Prompt: p.Prompt,
			Title: "review " + scope.String(), Changes: scope, Model: p.Model,
		})
	}
	if len(p.URIs) > 1 {
		return l.startRun(ctx, "", agentcore.RunRequest{
			Agent: reviewerAgent, Lead: "Review this file.", Prompt: p.Prompt, Title: "review",
			Each: document.Paths(p.URIs), Model: p.Model,
		})
	}
	u := p.URI
	if u == "" && len(p.URIs) == 1 {
		u = p.URIs[0]
	}
	about, title, err := l.about(ctx, u, p.Range)
	if err != nil {
		return nil, err
	}
	prompt := "Review this file."
	if p.Range != nil {
		prompt = "Review these lines of the file."
	}
	return l.startRun(ctx, "", agentcore.RunRequest{
		Agent: reviewerAgent, Lead: prompt, Prompt: p.Prompt, Title: "review " + title, Context: about,
		Model: p.Model,
	})
}

// startRun starts a run in the session, the window's own for "".
func (l *launcher) startRun(ctx context.Context, id event.SessionID,
	request agentcore.RunRequest,
) (*methods.RunStarted, error) {
	session, err := l.sessionOf(ctx, id)
	if err != nil {
		return nil, err
	}
	run, err := session.Start(ctx, request)
	if err != nil {
		name := cmp.Or(request.Agent, l.engine.Config().DefaultAgent)
		if _, unknown := l.engine.Agents().Find(name); unknown != nil {
			err = l.trust.unknownAgent(ctx, name, err)
		}
		return nil, err
	}
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// about is a document, or a part of it, as a run's context, and its name for people. Without a URI it is the document
// that the user touched last.
func (l *launcher) about(ctx context.Context, u uri.URI, part *protocol.Range) (agentcore.Context, string, error) {
	// The engine is opened first, so that the run begins at once and the lines are those of the text that it sees.
	if _, err := l.open(ctx); err != nil {
		return agentcore.Context{}, "", err
	}
	if u == "" {
		doc := l.documents.At(ctx).Last()
		if doc == nil {
			return agentcore.Context{}, "", &fault.Error{
				Kind:   fault.NotFound,
				Detail: "no document is open that an agent could work on", Hint: "open a file, or give its uri",
			}
		}
		u = doc.URI
	}
	path := document.Path(u)
	about := agentcore.Context{Paths: []string{path}}
	title := l.view.Shown(path)
	if part == nil {
		return about, title, nil
	}
	first, last, err := l.lines(ctx, path, *part)
	if err != nil {
		return about, title, err
	}
	about.StartLine, about.EndLine = first+1, last+1
	return about, fmt.Sprintf("%s:%d-%d", title, about.StartLine, about.EndLine), nil
}

// lines returns the lines that a range of a request covers now, 0-based, both inclusive.
func (l *launcher) lines(ctx context.Context, path string, part protocol.Range) (first, last int, err error) {
	r, err := l.documents.Follow(ctx, path, part)
	if err != nil {
		return 0, 0, err
	}
	x, _, err := l.documents.Text(path)
	if err != nil {
		return 0, 0, err
	}
	first, last = position.Touched(r)
	end := max(x.Len()-1, 0)
	return min(first, end), min(last, end), nil
}

// modes are the permission modes that a run can be started with.
var modes = []methods.PermissionMode{
	methods.PermissionModeDefault, methods.PermissionModePlan, methods.PermissionModeAcceptEdits,
	methods.PermissionModeBypass,
}

// modeOf is the permission mode for a run; "" means that of the definition.
func modeOf(m methods.PermissionMode) (permission.Mode, error) {
	if m != "" && !slices.Contains(modes, m) {
		return "", &fault.Error{
			Kind: fault.InvalidRequest, Detail: fmt.Sprintf("there is no permissionMode %q", m),
			Hint: "write default, plan, accept_edits or bypass, or leave it out",
		}
	}
	return permission.Mode(m), nil
}
