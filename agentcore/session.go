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

// Session is a conversation on a workspace: its runs, and the board with their findings and the edits that they
// propose. A run owns its own state, and the board the findings.
type Session struct {
	ID event.SessionID

	engine    *Engine
	shared    *run.Session // shared by the session's runs
	account   account      // guarded by mu
	created   time.Time
	continued bool // the session goes on with what former sessions left, and leaves its own to the next
	errands   *errands
	trusted   atomic.Pointer[sessionTrust] // nil for none
	folders   atomic.Pointer[map[string]authority.FolderTrust]
	// skills is nil where the session uses those of the engine.
	skills atomic.Pointer[skill.Set]

	// merging guards applying. It is held for reading while a run's edits become hunks. applying is nil, or a channel
	// that is closed when the edit on its way to the editor is settled.
	merging  sync.RWMutex
	applying chan struct{}

	// starting guards ended. It is held for reading while a run starts; once ended is set, no run starts in the
	// session.
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

// Title is the session's title: the title of its first run, which is made from the prompt or by a model where nobody
// gave one.
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

// sessionTrust records that the user trusts the workspace.
type sessionTrust struct {
	stored []string // the real paths of the folders that must still be trusted in the store
}

// SetTrusted says whether the user trusts the workspace, so that commands may run in it and checkers may load its
// configuration. stored are those of its folders that count as trusted because of the store: the trust ends when the
// store no longer says so, whichever process took it back. It reads the disk.
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
			real = root // the folder is gone, so that no decision is found for it
		}
		t.stored = append(t.stored, real)
	}
	s.trusted.Store(t)
}

// isTrusted reports whether the user trusts the workspace, by the decisions that the engine has read.
func (s *Session) isTrusted() bool {
	t := s.trusted.Load()
	return t != nil &&
		!slices.ContainsFunc(t.stored, func(root string) bool { return !s.engine.process.Decisions.Trusts(root) })
}

// SetFolders tells how far the store has each workspace folder as trusted, by the folder's path in the view.
// Instructions then come only from trusted folders, in the form in which they were trusted. If it is not called,
// SetTrusted decides for all folders.
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

// vouch says why a file of a trusted folder is not part of what the user trusted; nil where it is.
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

// SetSkills gives the session's new runs skills of their own; nil means those of the engine again.
func (s *Session) SetSkills(skills *skill.Set) { s.skills.Store(skills) }

// HoldMerges keeps the runs from merging their edits into the proposal until release is called, so that the hunks do
// not change while the editor applies them. Only one caller at a time may hold merges. It waits for the merges under
// way, which are short.
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

// handsOver reports whether the end of the process cuts off runs of a window of which the next window is to be told
// (Engine.TakeInterrupted). Such a session stays as it is stored, as if the process had been killed.
func (s *Session) handsOver() bool {
	if !s.continued {
		return false // a user who stops a command knows what was cut off
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

// store writes the session's own row, with events about the session.
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

// runs are those runs of the session that the engine still remembers.
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
// and nothing more of it is stored.
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
	if open { // otherwise another call has done this
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
				return "" // the engine has forgotten the run
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
