package lsp

import (
	"context"
	"math"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/surface"
)

// launcher starts runs, and steers those under way. Its methods may be called from any goroutine.
type launcher struct {
	*window
	trust *trust
	board *surface.Board
	// resumed says that a run goes on, by whatever way.
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
		Iterations: p.Iterations, Until: p.Until,
	}
	if l := p.Limits; l != nil {
		request.Limits = agent.Limits{MaxTurns: l.MaxTurns, Timeout: milliseconds(l.TimeoutMs), Tokens: l.MaxTokens}
		if l.MaxCost != nil {
			request.Limits.Cost = *l.MaxCost
		}
	}
	if c := p.Context; c != nil {
		if c.URI != "" {
			about, _, err := l.about(ctx, c.URI, c.Range)
			if err != nil {
				return nil, err
			}
			request.Context = about
		}
		request.Context.Paths = append(request.Context.Paths, document.Paths(c.URIs)...)
	}
	return l.startRun(ctx, p.Session, request)
}

// milliseconds is a duration from the wire, cut to the longest there is.
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
	if err = engine.Cancel(p.Run); err == nil || engine.Ended(ctx, p.Run) {
		return nil
	}
	return engine.Elsewhere(ctx, string(p.Run), err)
}

// Steer answers `agent/steer`.
func (l *launcher) Steer(ctx context.Context, p *methods.SteerParams) error {
	engine, err := l.open(ctx)
	if err != nil {
		return err
	}
	return engine.Elsewhere(ctx, string(p.Run), engine.Steer(p.Run, p.Message))
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
