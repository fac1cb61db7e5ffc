package agentcore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/servers"
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
	view      *workspace.View
	account   account // guarded by mu
	created   time.Time
	continued bool // it goes on with what former sessions left, and is left to the next one
	board     *board.Board
	events    feed.Writer
	asks      authority.Asks
	starts    sessionStarts
	slots     *slot.Pool // of the children that are at work
	budget    *budget
	errands   *errands
	servers   *servers.Set
	trusted   atomic.Pointer[sessionTrust] // nil for none
	// skills is nil for those of the engine.
	skills atomic.Pointer[skill.Set]

	// merging guards applying, which is closed when the edit that is on its way to the editor is settled, and nil while
	// none is. It is held for reading while a run's edits become hunks.
	merging  sync.RWMutex
	applying chan struct{}

	// starting guards ended, after which nothing starts in the session. It is held for reading while a run starts.
	starting sync.RWMutex
	ended    bool

	// recording is held while a run's row, or what was used, is read and handed to the store: a row that is older than
	// what a run below it has used meanwhile would take that back.
	recording sync.Mutex

	mu sync.Mutex
}

// View returns what the session's runs see of the workspace.
func (s *Session) View() *workspace.View { return s.view }

// Board returns what the session's runs have found and propose.
func (s *Session) Board() *board.Board { return s.board }

// Asks returns the open questions of the session, the oldest first.
func (s *Session) Asks() []authority.Ask { return s.asks.List() }

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
		s.servers.Distrust()
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
		!slices.ContainsFunc(t.stored, func(root string) bool { return !s.engine.decisions.Trusts(root) })
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
	s.servers.Close()
	s.board.Close()
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
		if r.session != s || r.parent != nil {
			continue
		}
		if status := r.snapshot().Status; status == event.StatusInterrupted || !status.Final() {
			return true
		}
	}
	return false
}

// store writes the session's own row, and tells what happened to the session.
func (s *Session) store(state store.SessionState, bodies ...event.Body) {
	s.events.Submit(store.Batch{Sessions: []store.Session{{
		ID: s.ID, Title: s.Title(), Summary: s.Summary(), Roots: s.view.Folders(), State: state, Created: s.created,
		Updated: time.Now().UTC(),
	}}}, "", bodies...)
}

// Runs returns the session's runs of this process, oldest first.
func (s *Session) Runs() []history.Run {
	s.engine.mu.Lock()
	var runs []*run
	for _, r := range s.engine.runs {
		if r.session == s {
			runs = append(runs, r)
		}
	}
	s.engine.mu.Unlock()
	list := make([]history.Run, 0, len(runs))
	for _, r := range runs {
		list = append(list, r.info())
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
