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
)

// The methods in this file answer the requests of schema/agent.metamodel.json, which says what each does.
var _ methods.CommandServer = (*Server)(nil)

// Run answers `agent/run`.
func (s *Server) Run(ctx context.Context, p *methods.RunParams) (*methods.RunStarted, error) {
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
			about, _, err := s.about(ctx, c.URI, c.Range)
			if err != nil {
				return nil, err
			}
			request.Context = about
		}
		request.Context.Paths = append(request.Context.Paths, document.Paths(c.URIs)...)
	}
	return s.startRun(ctx, p.Session, request)
}

// milliseconds is a duration from the wire, cut to the longest there is.
func milliseconds(n int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(max(min(n, most), -most)) * time.Millisecond
}

// Wait answers `agent/wait`.
func (s *Server) Wait(ctx context.Context, p *methods.WaitParams) (*event.RunResult, error) {
	engine, err := s.open(ctx)
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
		told = s.board.Wait(p.Run, p.WorkDoneToken)
	}
	result, err := engine.Wait(waiting, p.Run)
	told(s.background, string(result.Status))
	if err != nil {
		return nil, err
	}
	return &result, ctx.Err()
}

// Cancel answers `agent/cancel`.
func (s *Server) Cancel(ctx context.Context, p *methods.CancelParams) error {
	engine, err := s.open(ctx)
	if err != nil {
		return err
	}
	if err = engine.Cancel(p.Run); err == nil || engine.Ended(ctx, p.Run) {
		return nil
	}
	return engine.Elsewhere(ctx, string(p.Run), err)
}

// Steer answers `agent/steer`.
func (s *Server) Steer(ctx context.Context, p *methods.SteerParams) error {
	engine, err := s.open(ctx)
	if err != nil {
		return err
	}
	return engine.Elsewhere(ctx, string(p.Run), engine.Steer(p.Run, p.Message))
}

// Resume answers `agent/resume`.
func (s *Server) Resume(ctx context.Context, p *methods.ResumeParams) (*methods.RunStarted, error) {
	session, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	s.trust.need()
	run, err := session.Resume(ctx, p.Run, p.Prompt)
	if err != nil {
		return nil, err
	}
	s.recovery.resumed(p.Run)
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// Proposals answers `agent/proposals`.
func (s *Server) Proposals(ctx context.Context, p *methods.ProposalsParams) (*methods.ProposalList, error) {
	engine, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	session, err := s.kept(ctx)
	if err != nil {
		return nil, err
	}
	list := &methods.ProposalList{}
	switch {
	case p.Session != "" && (session == nil || session.ID != p.Session):
		list.Proposals, err = s.storedProposals(ctx, engine, p.Session)
	case session != nil && session.Undecided():
		err = s.documents.Read(ctx, func() { list.Proposals = []methods.Proposal{s.proposalOf(session)} })
	}
	if err != nil || session == nil || p.Session != "" && session.ID != p.Session {
		return list, err
	}
	undoable, err := session.UndoableRuns(ctx)
	list.Undoable = runInfos(undoable)
	return list, err
}

// AcceptProposal answers `agent/proposal/accept`.
func (s *Server) AcceptProposal(ctx context.Context, p *methods.AcceptParams) (*methods.AcceptResult, error) {
	session, ids, err := s.chosenHunks(ctx,
		&methods.ProposalParams{Proposal: p.Proposal, Files: p.Files, Hunks: p.Hunks})
	if err != nil {
		return nil, err
	}
	if p.Overwrite {
		// Only what is named can have been looked at. What cannot be overwritten fails again with the others.
		session.Proposal().Overwrite(p.Hunks)
	}
	return s.accept(ctx, session, ids)
}

// RejectProposal answers `agent/proposal/reject`.
func (s *Server) RejectProposal(ctx context.Context, p *methods.ProposalParams) (*methods.RejectResult, error) {
	session, ids, err := s.chosenHunks(ctx, p)
	if err != nil {
		return nil, err
	}
	failures, err := session.Reject(ctx, ids)
	if err != nil {
		return nil, err
	}
	result := &methods.RejectResult{}
	refused := map[event.HunkID]bool{}
	for _, f := range failures {
		refused[f.ID] = true
		result.Failed = append(result.Failed, methods.HunkFailure{Hunk: f.ID, Reason: f.Reason})
	}
	for _, id := range ids {
		if !refused[id] {
			result.Rejected = append(result.Rejected, id)
		}
	}
	return result, nil
}
