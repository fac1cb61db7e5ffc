// Package elsewhere knows the sessions and runs of the other processes that use a state folder: which of them are open
// there, and which were cut off when their process died.
package elsewhere

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/store"
)

// Processes are the other processes that use a state folder. Its methods may be called from any goroutine.
type Processes struct {
	Store *store.Store
	Crash crash.Hook
	// Settle writes the outcome of runs in the background that were cut off into their files.
	Settle func(ctx context.Context) error
	// Subscribe reads the events of a session behind a number.
	Subscribe func(session event.SessionID, since uint64) *feed.Subscription
}

// InterruptDead marks the runs whose process has died as interrupted, and ends what is left of their commands. It waits
// on the disk.
func (p *Processes) InterruptDead(ctx context.Context) error {
	interrupted, err := p.Store.MarkInterrupted(ctx)
	if err == nil {
		p.Crash.Reach(crash.Marked)
		var variables []string
		for _, former := range interrupted {
			variables = append(variables, command.Mark(former.ID))
		}
		err = process.EndStrays(variables...)
	}
	if err != nil {
		return fmt.Errorf("look for interrupted runs: %w", err)
	}
	return p.Settle(ctx)
}

// InterruptDeserted does the same if a session of another process has unfinished runs. It waits on the disk.
func (p *Processes) InterruptDeserted(ctx context.Context, session event.SessionID) error {
	deserted, err := p.Store.Deserted(ctx, session)
	if err != nil || !deserted {
		return err
	}
	return p.InterruptDead(ctx)
}

// InUse is the error for an action that only the process with an open session can do. It is nil if no other living
// process has the session open. It reads the store.
func (p *Processes) InUse(ctx context.Context, session event.SessionID, what, hint string) error {
	owner, err := p.Store.Owner(ctx, session)
	if err != nil {
		return fmt.Errorf("find out where the session %s is open: %w", session, err)
	}
	if owner.Own || !owner.Alive {
		return nil
	}
	return &fault.Error{Kind: fault.InUse, Detail: fmt.Sprintf("%s is open in %s", what, owner), Hint: hint}
}

// Explain adds to an error of this engine which says that a session, run, proposal or question is not open here. It
// names the process that has it open, by an Error of the kind in_use, or says that the run or session has ended, by one
// of the kind not_allowed. Any other error stays as it is. It reads the store.
func (p *Processes) Explain(ctx context.Context, id string, failure error) error {
	if !fault.Is(failure, fault.NotFound) {
		return failure
	}
	session, err := p.Store.SessionOf(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return failure
	}
	if err == nil {
		err = p.InUse(ctx, session, id, "do it there, or close it and resume its runs here")
	}
	if err != nil {
		return err
	}
	if string(session) == id {
		return p.endedSession(ctx, session)
	}
	row, err := p.Store.Run(ctx, event.RunID(id))
	switch {
	case err == nil && row.Status.Final():
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s (%s) has ended", row.Agent, id),
			Hint: "go on with it by agent/resume",
		}
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("read the run %s: %w", id, err)
	}
	return failure
}

// endedSession is the error for an action that needs an open session, when the session is only stored. It says how to
// resume the session.
func (p *Processes) endedSession(ctx context.Context, id event.SessionID) error {
	runs, err := p.Store.Runs(ctx, id)
	if err != nil {
		return fmt.Errorf("read the runs of the session %s: %w", id, err)
	}
	ended := &fault.Error{
		Kind: fault.NotAllowed, Detail: fmt.Sprintf("the session %s has ended", id),
		Hint: "leave the session out: what it proposed waits in the session of this window",
	}
	for _, run := range slices.Backward(runs) {
		if run.Parent == "" && run.Role != history.RoleHidden {
			ended.Hint = fmt.Sprintf("go on with its last run, %s, by agent/resume, or %s", run.ID, ended.Hint)
			break
		}
	}
	return ended
}

// Interrupted is a run that was cut off with its process.
type Interrupted struct {
	history.Run
	// Parts are the runs to resume: the run itself, or its children if the run has no conversation of its own. There
	// are none if nothing had begun.
	Parts []event.RunID
}

// TakeInterrupted returns the runs without a parent that were cut off with their process, in sessions on any of the
// folders, and of which the user does not know yet. The caller must tell the user, since no later call returns them. It
// waits on the disk.
func (p *Processes) TakeInterrupted(ctx context.Context, roots []string) ([]Interrupted, error) {
	rows, err := p.Store.TakeInterrupted(ctx, roots)
	if err != nil {
		return nil, fmt.Errorf("look for runs that were cut off: %w", err)
	}
	var list []Interrupted
	for _, row := range rows {
		if row.Role == history.RoleHidden {
			continue
		}
		one := Interrupted{Run: history.RunOf(row)}
		if one.Parts, err = p.parts(ctx, row); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// parts are the runs to resume in place of an interrupted one.
func (p *Processes) parts(ctx context.Context, row store.Run) ([]event.RunID, error) {
	has, err := p.Store.Resumable(ctx, row.ID)
	if err != nil || has {
		return []event.RunID{row.ID}, err
	}
	children, err := p.Store.Children(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read the children of the run %s: %w", row.ID, err)
	}
	var list []event.RunID
	for _, child := range children {
		if child.Status != event.StatusInterrupted || child.Role == history.RoleHidden {
			continue
		}
		below, err := p.parts(ctx, child)
		if err != nil {
			return nil, err
		}
		list = append(list, below...)
	}
	return list, nil
}

// Ended reports whether a run, of any process, is known to have ended. It reads the store.
func (p *Processes) Ended(ctx context.Context, id event.RunID) bool {
	row, err := p.Store.Run(ctx, id)
	return err == nil && row.Status.Final()
}

// Wait waits for the end of a run on which another process works.
func (p *Processes) Wait(ctx context.Context, id event.RunID) error {
	session, err := p.Store.SessionOf(ctx, string(id))
	if errors.Is(err, store.ErrNotFound) {
		return fault.Missing("run", string(id), "list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return fmt.Errorf("wait for the run %s: %w", id, err)
	}
	last, err := p.Store.LastSeq(ctx, session)
	if err != nil {
		return fmt.Errorf("wait for the run %s: %w", id, err)
	}
	events := p.Subscribe(session, last)
	for !p.Ended(ctx, id) {
		for {
			next, err := events.Next(ctx)
			if err != nil {
				return err
			}
			if _, trimmed := next.Body.(event.EventsTrimmed); trimmed || next.Run == id {
				break
			}
		}
	}
	return nil
}
