package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
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
		Agent: p.Agent, Prompt: p.Prompt, Model: p.Model, Each: paths(p.Each), PermissionMode: mode, Iterations: p.Iterations, Until: p.Until,
	}
	if l := p.Limits; l != nil {
		request.Limits = agent.Limits{MaxTurns: l.MaxTurns, Timeout: milliseconds(l.TimeoutMs), Tokens: l.MaxTokens}
		if l.MaxCost != nil {
			request.Limits.Cost = *l.MaxCost
		}
	}
	if c := p.Context; c != nil {
		if c.URI != "" {
			about, _, err := s.about(c.URI, c.Range)
			if err != nil {
				return nil, err
			}
			request.Context = about
		}
		request.Context.Paths = append(request.Context.Paths, paths(c.URIs)...)
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
	result, err := engine.Wait(waiting, p.Run)
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
	return engine.Cancel(p.Run)
}

// Steer answers `agent/steer`.
func (s *Server) Steer(ctx context.Context, p *methods.SteerParams) error {
	engine, err := s.open(ctx)
	if err != nil {
		return err
	}
	return engine.Steer(p.Run, p.Message)
}

// Resume answers `agent/resume`.
func (s *Server) Resume(ctx context.Context, p *methods.ResumeParams) (*methods.RunStarted, error) {
	session, err := s.current(ctx, p.Prompt)
	if err != nil {
		return nil, err
	}
	run, err := session.Resume(ctx, p.Run, p.Prompt)
	if err != nil {
		return nil, err
	}
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// Sessions answers `agent/sessions`.
func (s *Server) Sessions(ctx context.Context, p *methods.SessionsParams) (*methods.SessionList, error) {
	engine, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	folders := []string{pathOf(p.Folder)}
	if p.Folder == "" {
		folders = nil
		for _, r := range s.view.Roots() {
			folders = append(folders, r.Path)
		}
	}
	if session := s.opened(); session != nil {
		if err := session.Flush(ctx); err != nil {
			return nil, fmt.Errorf("store the session before listing: %w", err)
		}
	}
	var rows []store.Session
	for _, folder := range folders {
		found, err := engine.Store().Sessions(ctx, store.SessionFilter{Root: folder})
		if err != nil {
			return nil, fmt.Errorf("list the sessions on %s: %w", folder, err)
		}
		for _, row := range found {
			if !slices.ContainsFunc(rows, func(r store.Session) bool { return r.ID == row.ID }) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b store.Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	if p.Before != "" {
		at := slices.IndexFunc(rows, func(r store.Session) bool { return r.ID == p.Before })
		rows = rows[at+1:] // all of them if there is no such session any more
	}
	list := &methods.SessionList{}
	for _, row := range rows {
		info, _, err := s.sessionInfo(ctx, engine, row)
		if err != nil {
			return nil, err
		}
		switch {
		case info.Runs == 0:
			// A window has a session as soon as it shows former findings; nobody has done anything in it.
		case p.Limit > 0 && len(list.Sessions) == p.Limit:
			list.More = true
			return list, nil
		default:
			list.Sessions = append(list.Sessions, info)
		}
	}
	return list, nil
}

// sessionInfo describes a stored session and lists its runs.
func (s *Server) sessionInfo(ctx context.Context, engine *agentcore.Engine, row store.Session) (methods.SessionInfo, []methods.RunInfo, error) {
	info := methods.SessionInfo{ID: row.ID, Title: row.Title, Created: row.Created, Updated: row.Updated, Status: event.StatusPending, Usage: event.NoUsage()}
	for _, root := range row.Roots {
		info.Folders = append(info.Folders, uri.File(root))
	}
	runs, err := engine.Store().Runs(ctx, row.ID)
	if err != nil {
		return info, nil, fmt.Errorf("list the runs of the session %s: %w", row.ID, err)
	}
	runs = slices.DeleteFunc(runs, func(r store.Run) bool { return r.Role == agentcore.RoleHidden })
	hunks, err := engine.Store().Hunks(ctx, row.ID, event.StateOpen)
	if err != nil {
		return info, nil, fmt.Errorf("list the edits of the session %s: %w", row.ID, err)
	}
	info.Runs, info.OpenHunks = len(runs), len(hunks)
	var tree []methods.RunInfo
	for _, r := range runs {
		// A child's usage is counted in its parent's.
		if r.Parent == "" {
			info.Usage = info.Usage.Add(r.Usage)
			info.Status = r.Status
		}
		tree = append(tree, methods.RunInfo{
			ID: r.ID, Session: r.Session, Parent: r.Parent, Agent: r.Agent, Role: r.Role, Depth: r.Depth, Title: r.Title, Model: r.Model,
			Status: r.Status, Reason: r.Reason, Created: r.Created, Finished: r.Completed, Turns: r.Turns, Usage: r.Usage,
			URI: uri.URI(r.URI), Message: r.Summary,
		})
	}
	if session, err := engine.Session(row.ID); err == nil {
		// The runs of this process know more than what is stored.
		live := map[event.RunID]agentcore.RunInfo{}
		for _, r := range session.Runs() {
			live[r.ID] = r
		}
		for i := range tree {
			if r, ok := live[tree[i].ID]; ok {
				tree[i].BudgetUsed, tree[i].Message, tree[i].Usage, tree[i].Turns = r.BudgetUsed, r.Message, r.Usage, r.Turns
			}
		}
	}
	return info, tree, nil
}

// Subscribe answers `agent/subscribe` and sends `agent/event` from then on.
func (s *Server) Subscribe(ctx context.Context, p *methods.SubscribeParams) (*methods.SubscribeResult, error) {
	engine, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	id := p.Session
	if id == "" {
		session, err := s.current(ctx, "")
		if err != nil {
			return nil, err
		}
		id = session.ID
	}
	if session, err := engine.Session(id); err == nil {
		if err := session.Flush(ctx); err != nil {
			return nil, fmt.Errorf("store the session before reading it: %w", err)
		}
	}
	snapshot, err := s.snapshot(ctx, engine, id)
	if err != nil {
		return nil, err
	}
	since := snapshot.Seq
	if p.Since != nil {
		since = *p.Since
	}
	events := engine.Subscribe(id, since)
	forward, stop := context.WithCancel(s.background)
	s.subscribeMu.Lock()
	if former := s.subscribed[id]; former != nil {
		former()
	}
	s.subscribed[id] = stop
	s.subscribeMu.Unlock()
	s.goes(func(context.Context) {
		defer stop()
		s.forward(forward, id, events)
	})
	return &methods.SubscribeResult{Sessions: []methods.SessionSnapshot{*snapshot}}, nil
}

// forward sends the events of a session at the client's own speed.
func (s *Server) forward(ctx context.Context, id event.SessionID, events *agentcore.Subscription) {
	client := methods.Client{Conn: s.conn}
	for {
		e, err := events.Next(ctx)
		if err == nil {
			err = client.Event(ctx, &e)
		}
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, agentcore.ErrClosed) {
				s.logger.Error("events are no longer sent", "session", id, "error", err)
				s.tell(ctx, protocol.MessageTypeError, "agentls can send no more events of this session: "+err.Error()+". Subscribe again")
			}
			return
		}
	}
}

func (s *Server) snapshot(ctx context.Context, engine *agentcore.Engine, id event.SessionID) (*methods.SessionSnapshot, error) {
	row, err := engine.Store().Session(ctx, id)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil, &agentcore.Error{Kind: string(methods.KindNotFound), Detail: fmt.Sprintf("there is no session %q", id), Hint: "list the sessions with agent/sessions"}
		}
		return nil, fmt.Errorf("read the session %s: %w", id, err)
	}
	// The number is taken first: what happens meanwhile is told again, and nothing is missed.
	seq, err := engine.Store().LastSeq(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read the last event of the session %s: %w", id, err)
	}
	info, tree, err := s.sessionInfo(ctx, engine, row)
	if err != nil {
		return nil, err
	}
	snapshot := &methods.SessionSnapshot{Session: info, Seq: seq, Tree: tree}
	if session, err := engine.Session(id); err == nil {
		snapshot.Findings = session.Findings("")
		for _, ask := range session.Asks() {
			snapshot.Asks = append(snapshot.Asks, askOf(ask))
		}
		if session.Undecided() {
			snapshot.Proposals = []methods.Proposal{s.proposalOf(session)}
		}
	}
	return snapshot, nil
}

// Proposals answers `agent/proposals`.
func (s *Server) Proposals(ctx context.Context, p *methods.ProposalsParams) (*methods.ProposalList, error) {
	if _, err := s.open(ctx); err != nil {
		return nil, err
	}
	list := &methods.ProposalList{}
	session := s.opened()
	switch {
	case p.Session != "" && (session == nil || session.ID != p.Session):
		return nil, &agentcore.Error{Kind: string(methods.KindNotFound), Detail: fmt.Sprintf("there is no open session %q", p.Session), Hint: "list the sessions with agent/sessions"}
	case session != nil && session.Undecided():
		list.Proposals = append(list.Proposals, s.proposalOf(session))
	}
	return list, nil
}

// AcceptProposal answers `agent/proposal/accept`.
func (s *Server) AcceptProposal(ctx context.Context, p *methods.AcceptParams) (*methods.AcceptResult, error) {
	session, ids, err := s.chosenHunks(ctx, &methods.ProposalParams{Proposal: p.Proposal, Files: p.Files, Hunks: p.Hunks})
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
