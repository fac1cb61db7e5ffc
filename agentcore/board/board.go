// Package board holds what the runs of a session put before the user: findings, and proposed edits as hunks. It follows
// both while the user types, stores them, and takes over what former sessions left on the same folders.
//
//   - A finding or hunk is shown once it would survive a crash, and not before: what the user saw is there again.
//   - What is taken over belongs to the new session from one commit on, under the ids that it had.
//   - A board knows no run. It gets the ids, the agent's name and the layer of who reports.
package board

import (
	"sync"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Board is what the runs of a session have found and propose. Its methods may be called from any goroutine.
type Board struct {
	id       event.ProposalID
	view     *workspace.View
	events   feed.Writer
	title    func() string
	chain    func(event.RunID) event.RunID
	crash    crash.Hook
	proposal *workspace.Proposal

	mu       sync.Mutex
	findings map[event.FindingID]*openFinding
	remarks  map[remark][]*openFinding // the same findings, by what they say
	// proposing is the author of the newest hunks, who appears as the proposal's run on the wire.
	proposing workspace.Author
	// durable are the hunks that wait for the user and would survive a crash. Other waiting hunks are not shown.
	durable map[event.HunkID]struct{}
	// unbounded counts the hunks that were settled since old ones were last removed.
	unbounded int
}

// Options describe a Board.
type Options struct {
	View   *workspace.View
	Events feed.Writer
	// Title is the session's title, by which people tell its proposal from others.
	Title func() string
	// Chain is the first run of a run's prompt; empty for a run that is no longer remembered.
	Chain func(event.RunID) event.RunID
	Crash crash.Hook
}

// New makes an empty board.
func New(o Options) *Board {
	b := &Board{
		id: event.NewProposalID(), view: o.View, events: o.Events, title: o.Title, chain: o.Chain, crash: o.Crash,
		findings: map[event.FindingID]*openFinding{}, remarks: map[remark][]*openFinding{},
		durable: map[event.HunkID]struct{}{},
	}
	b.proposal = o.View.NewProposal(workspace.ProposalOptions{ID: b.id, Changed: b.hunksChanged})
	return b
}

// Proposal returns the edits that the session's runs propose.
func (b *Board) Proposal() *workspace.Proposal { return b.proposal }

// ProposalID names the proposal.
func (b *Board) ProposalID() event.ProposalID { return b.id }

// Close stores where the hunks stand, and stops following the texts.
func (b *Board) Close() {
	b.storePlaces()
	b.proposal.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.findings {
		f.mark.Release()
	}
}
