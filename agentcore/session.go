package agentcore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/event"
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

	engine     *Engine
	view       *workspace.View
	account    account // guarded by mu
	created    time.Time
	continued  bool // it goes on with what former sessions left, and is left to the next one
	proposalID event.ProposalID
	proposal   *workspace.Proposal
	asks       asks
	starts     sessionStarts
	slots      *slot.Pool // of the children that are at work
	budget     *budget
	errands    *errands
	servers    *servers.Set
	trusted    atomic.Pointer[sessionTrust] // nil for none
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

	mu       sync.Mutex
	findings map[event.FindingID]*openFinding
	remarks  map[remark][]*openFinding // the same by what they say
	// proposing is the author of the latest hunks, the proposal's run on the wire.
	proposing workspace.Author
	// durable are the hunks that wait for the user and would survive a crash; no other is shown.
	durable map[event.HunkID]struct{}
	// unbounded counts the hunks that were settled since the old ones were last removed.
	unbounded int
}

// View returns what the session's runs see of the workspace.
func (s *Session) View() *workspace.View { return s.view }

// Proposal returns the edits that the session's runs propose.
func (s *Session) Proposal() *workspace.Proposal { return s.proposal }

// ProposalID names the session's proposal.
func (s *Session) ProposalID() event.ProposalID { return s.proposalID }

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
		real, err := realRoot(root)
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
		!slices.ContainsFunc(t.stored, func(root string) bool { return !s.engine.decisions.trusts(root) })
}

// SetSkills gives the session skills of its own, for its new runs; nil means those of the engine again.
func (s *Session) SetSkills(skills *skill.Set) { s.skills.Store(skills) }

// submit hands rows and events over to be committed together; the events are published after that. It waits
// while the store has too much to do. A failed commit ends the run, and is told (see Engine.commitFailed).
func (s *Session) submit(batch store.Batch, run event.RunID, bodies ...event.Body) *store.Commit {
	return s.engine.store.Submit(s.with(batch, run, bodies))
}

// submitNow is submit for callers that must not wait, since they hold a lock or follow the editor's messages.
func (s *Session) submitNow(batch store.Batch, run event.RunID, bodies ...event.Body) {
	s.engine.store.SubmitNow(s.with(batch, run, bodies))
}

func (s *Session) with(batch store.Batch, run event.RunID, bodies []event.Body) store.Batch {
	now := time.Now().UTC()
	for _, body := range bodies {
		batch.Events = append(batch.Events, store.NewEvent{Session: s.ID, Run: run, Time: now, Body: legible(body)})
	}
	return batch
}

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
	s.storePlaces()
	s.proposal.Close()
	s.mu.Lock()
	for _, f := range s.findings {
		f.mark.Release()
	}
	s.mu.Unlock()
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

// folders are the workspace folders as they are now. They may come and go while the session is open; what a run may is
// fixed when it starts.
func (s *Session) folders() []string {
	var list []string
	for _, root := range s.view.Roots() {
		list = append(list, root.Path)
	}
	return list
}

// store writes the session's own row, and tells what happened to the session.
func (s *Session) store(state store.SessionState, bodies ...event.Body) {
	s.submit(store.Batch{Sessions: []store.Session{{
		ID: s.ID, Title: s.Title(), Summary: s.Summary(), Roots: s.folders(), State: state, Created: s.created,
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
