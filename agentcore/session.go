package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Session is a conversation on a workspace: its runs, their findings and the edits they propose. It
// owns the open findings under its own lock; a run's state belongs to the run.
type Session struct {
	ID event.SessionID

	engine    *Engine
	shared    *run.Session // what its runs share
	account   account      // guarded by mu
	created   time.Time
	continued bool // it goes on with what former sessions left, and is left to the next one
	errands   *errands
	trusted   atomic.Pointer[sessionTrust] // nil for none
	folders   atomic.Pointer[map[string]authority.FolderTrust]
	// skills is nil for those of the engine.
	skills atomic.Pointer[skill.Set]

	// merging guards applying, which is closed when the edit that is on its way to the editor is settled, and nil while
	// none is. It is held for reading while a run's edits become hunks.
	merging  sync.RWMutex
	applying chan struct{}

	// starting guards ended, after which nothing starts in the session. It is held for reading while a run starts.
	starting sync.RWMutex
	ended    bool

	mu sync.Mutex
}

// View returns what the session's runs see of the workspace.
func (s *Session) View() *workspace.View { return s.shared.View }

// Board returns what the session's runs have found and propose.
func (s *Session) Board() *board.Board { return s.shared.Board }

// Asks returns the open questions of the session, the oldest first.
func (s *Session) Asks() []authority.Ask { return s.shared.Asks.List() }

// Title is the session's title: that of its first run, made from its prompt or by a model where nobody gave one.
func (s *Session) Title() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account.title
}

// Summary says what was done in the session, in a few lines; empty before a run has ended.
func (s *Session) Summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account.summary
}

// sessionTrust is that the user trusts the workspace.
type sessionTrust struct {
	stored []string // the folders of which the store must still say so, by real path
}

// SetTrusted says whether the user trusts the workspace, so that commands may run in it and checkers may load its
// configuration. stored are those of its folders that are trusted since the store says so: the trust is over once it
// does not any more, whatever process took it back. It reads the disk.
func (s *Session) SetTrusted(trusted bool, stored ...string) {
	if !trusted {
		s.trusted.Store(nil)
		s.shared.Servers.Distrust()
		return
	}
	t := &sessionTrust{}
	for _, root := range stored {
		real, err := authority.RealRoot(root)
		if err != nil {
			real = root // it is gone, and no decision is found for it
		}
		t.stored = append(t.stored, real)
	}
	s.trusted.Store(t)
}

// isTrusted reports whether the user trusts the workspace, as far as the engine has read what was decided.
func (s *Session) isTrusted() bool {
	t := s.trusted.Load()
	return t != nil &&
		!slices.ContainsFunc(t.stored, func(root string) bool { return !s.engine.process.Decisions.Trusts(root) })
}

// SetFolders says how far the store has it that the user trusts each of the workspace folders, by the path that the
// view has for it. Instructions are then taken from the trusted ones alone, as they were trusted. Without it,
// SetTrusted decides for all of them.
func (s *Session) SetFolders(folders map[string]authority.FolderTrust) { s.folders.Store(&folders) }

// trustedRoots are the workspace folders that the user trusts.
func (s *Session) trustedRoots() []string {
	folders := s.folders.Load()
	switch {
	case folders == nil && !s.isTrusted():
		return nil
	case folders == nil:
		return s.shared.View.Folders()
	}
	return slices.DeleteFunc(s.shared.View.Folders(), func(root string) bool {
		t := (*folders)[root]
		return t.Standing != permission.Trusted || !s.engine.process.Decisions.Trusts(t.Root)
	})
}

// vouch says why a file of a trusted folder is not part of what the user trusted, nil where it is.
func (s *Session) vouch(root, name string, content []byte) error {
	if !slices.Contains(s.trustedRoots(), root) {
		return errors.New("lies in a folder that is not trusted any more")
	}
	folders := s.folders.Load()
	if folders == nil {
		return nil
	}
	return (*folders)[root].Vouch(root, name, content)
}

// SetSkills gives the session skills of its own, for its new runs; nil means those of the engine again.
func (s *Session) SetSkills(skills *skill.Set) { s.skills.Store(skills) }

// HoldMerges keeps the runs from merging their edits into the proposal until release is called, so that the hunks which
// the editor is asked to take are those that it was asked for. One caller at a time may hold them. It waits for the
// merges under way, which are short.
func (s *Session) HoldMerges() (release func()) {
	done := make(chan struct{})
	s.merging.Lock()
	s.applying = done
	s.merging.Unlock()
	return func() {
		s.merging.Lock()
		s.applying = nil
		s.merging.Unlock()
		close(done)
	}
}

// unlessHeld calls do while nobody holds the merges. It reports false where ctx ended before that.
func (s *Session) unlessHeld(ctx context.Context, do func()) bool {
	for {
		s.merging.RLock()
		applying := s.applying
		if applying == nil {
			defer s.merging.RUnlock()
			do()
			return true
		}
		s.merging.RUnlock()
		select {
		case <-applying:
		case <-ctx.Done():
			return false
		}
	}
}

// close ends the session's proposal and its marks.
func (s *Session) close() {
	s.shared.Servers.Close()
	s.shared.Board.Close()
	if !s.handsOver() {
		s.store(store.SessionClosed)
	}
}

// handsOver reports whether the end of the process cuts off runs of a window, which the next one is to hear of
// (Engine.TakeInterrupted): such a session stays as it is stored, as if the process had been killed.
func (s *Session) handsOver() bool {
	if !s.continued {
		return false // who stops a command knows what was cut off
	}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	for _, r := range s.engine.runs {
		if r.In() != s.shared || !r.OfUser() {
			continue
		}
		if status := r.Snapshot().Status; status == event.StatusInterrupted || !status.Final() {
			return true
		}
	}
	return false
}

// store writes the session's own row, and tells what happened to the session.
func (s *Session) store(state store.SessionState, bodies ...event.Body) {
	s.shared.Events.Submit(store.Batch{Sessions: []store.Session{{
		ID: s.ID, Title: s.Title(), Summary: s.Summary(), Roots: s.shared.View.Folders(), State: state,
		Created: s.created,
		Updated: time.Now().UTC(),
	}}}, "", bodies...)
}

// Runs returns the session's runs of this process, oldest first.
func (s *Session) Runs() []history.Run {
	runs := s.runs()
	list := make([]history.Run, 0, len(runs))
	for _, r := range runs {
		list = append(list, r.Info())
	}
	slices.SortFunc(list, func(a, b history.Run) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Flush waits until everything that was submitted so far is durable.
func (s *Session) Flush(ctx context.Context) error {
	return s.engine.store.Submit(store.Batch{}).Wait(ctx)
}

// runs are the session's runs that the engine remembers.
func (s *Session) runs() []*run.Run {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	var runs []*run.Run
	for _, r := range s.engine.runs {
		if r.In() == s.shared {
			runs = append(runs, r)
		}
	}
	return runs
}

// end cancels the session's runs, waits for their ends, and closes the session for good: no run starts in it any more,
// and nothing of it is stored.
func (s *Session) end(ctx context.Context) error {
	s.starting.Lock()
	s.ended = true
	s.starting.Unlock()
	e := s.engine
	runs := s.runs()
	for _, r := range runs {
		r.Cancel(fault.ErrCancelled)
	}
	for _, r := range runs {
		select {
		case <-r.Done():
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of the session's runs: %w", context.Cause(ctx))
		}
	}
	if err := s.errands.end(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	_, open := e.sessions[s.ID]
	delete(e.sessions, s.ID)
	for _, r := range runs {
		delete(e.runs, r.ID())
	}
	e.mu.Unlock()
	if open { // else another call has been here
		s.close()
	}
	return nil
}

// newSession makes a session that is not yet known to anybody.
func (e *Engine) newSession(view *workspace.View, title string) *Session {
	s := &Session{
		ID: event.NewSessionID(), engine: e, account: account{title: title}, created: time.Now().UTC(),
		errands: newErrands(e.process.Context),
	}
	events := feed.Writer{Session: s.ID, Store: e.store}
	s.shared = &run.Session{
		ID: s.ID, View: view, Events: events, Budget: run.NewBudget(), Asks: authority.Asks{Events: events},
		Slots: slot.NewPool(func() int { return e.Config().MaxChildrenPerSession }),
		Board: board.New(board.Options{
			View: view, Events: events, Title: s.Title, Chain: func(id event.RunID) event.RunID {
				if r, err := e.run(id); err == nil {
					return r.Chain()
				}
				return "" // nobody remembers it
			},
			Crash: e.process.Crash,
		}),
		TrustedRoots: s.trustedRoots, Vouch: s.vouch,
		Trusted: s.isTrusted, Skills: func() *skill.Set { return cmp.Or(s.skills.Load(), e.skills.Load()) },
		UnlessHeld: s.unlessHeld, Ended: s.runEnded,
		Delegation: func(ctx context.Context, subagents []string) (string, error) {
			return delegation(ctx, e.store, view.Folders(), subagents)
		},
	}
	s.shared.Servers = newServers(e, s)
	return s
}
