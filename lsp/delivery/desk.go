// Package delivery brings what agents propose to the user and to the editor: proposals become actions to choose from,
// diffs and WorkspaceEdits, and what the editor made of these becomes the states of hunks.
//
// # The edits that are sent
//
// Edits carry versions to every client that takes them. Neovim announces no documentChanges, but resource operations,
// which exist in no other form, and it refuses an edit of an older version; so it gets versioned edits too. An edit
// that meets newer text must not land on the wrong lines. What an editor says it applied is compared with its next
// change.
//
// `agent/proposal/accept` refuses a conflict unless the hunk is named with `overwrite`, which puts the agent's text in
// the place of what stands there: a conflict is the user's to decide.
//
// What belongs to other files is one action in every document, which asks (otherfiles.go); an editor that shows no
// questions gets an action for each new file.
//
// Edits without review are still accepted edits (unreviewed.go). Where a run's mode is accept_edits, its hunks go the
// way of any accepted hunk after each merge, but for conflicts, protected files, and hunks that another run wrote into.
//
// Neovim is known by name where LSP has no word for what it does (lsp/client). Told to pull diagnostics again, it pulls
// those of the workspace, if it can, and none of open documents; so it is offered documents alone. It shows an empty
// file as one empty line; so a new file replaces that line. It saves a file to rename it, never tells of the text edits
// before, and takes the diagnostics along to the new name. It leaves out an edit of older text but moves the file all
// the same; so the edits of a file are sent, and seen to be made, before its move.
package delivery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// Means are what a Desk works with. All of it is set, and any goroutine may use it.
type Means struct {
	Client    *client.Client
	Documents *document.Documents
	View      *workspace.View
	Form      remark.Form
	Logger    *slog.Logger
	// AnswerTime bounds the wait for an answer of the editor.
	AnswerTime time.Duration
	// Crash is called at the points where tests end the process; nil outside of tests.
	Crash crash.Hook

	// Open returns the engine, and waits for it.
	Open func(context.Context) (*agentcore.Engine, error)
	// Kept returns the window's session with everything that former ones left, nil for none. It waits until that is
	// known.
	Kept func(context.Context) (*agentcore.Session, error)
	// Current is Kept, but makes a session where there is none.
	Current func(context.Context) (*agentcore.Session, error)
	// Inquire puts a question to the user, with choices; the answer is empty where there is none.
	Inquire func(ctx context.Context, session *agentcore.Session, text string, choices []methods.Choice) (string, error)
	// Present shows the result of a request to the user.
	Present func(ctx context.Context, result any)
	// Moved says that a file has a new name, under which the editor may show old diagnostics. It never waits.
	Moved func(path string)
}

// Desk decides on proposed edits. Its methods may be called from any goroutine except the connection's reading one.
type Desk struct {
	Means
	planner
	accepting chan struct{} // a token for the one edit that is on its way to the editor
}

// NewDesk makes a desk.
func NewDesk(m Means) *Desk {
	return &Desk{
		Means: m, planner: planner{client: m.Client, documents: m.Documents, view: m.View},
		accepting: make(chan struct{}, 1),
	}
}

// Hold waits until no edit is on its way to the editor, and lets none start until release is called.
func (d *Desk) Hold(ctx context.Context) (release func(), err error) {
	select {
	case d.accepting <- struct{}{}:
		return func() { <-d.accepting }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Proposals answers `agent/proposals`.
func (d *Desk) Proposals(ctx context.Context, p *methods.ProposalsParams) (*methods.ProposalList, error) {
	engine, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	session, err := d.Kept(ctx)
	if err != nil {
		return nil, err
	}
	list := &methods.ProposalList{}
	switch {
	case p.Session != "" && (session == nil || session.ID != p.Session):
		list.Proposals, err = d.Stored(ctx, engine.History(), p.Session)
	case session != nil && session.Board().Undecided():
		err = d.Documents.Read(ctx, func() { list.Proposals = []methods.Proposal{d.Of(session)} })
	}
	if err != nil || session == nil || p.Session != "" && session.ID != p.Session {
		return list, err
	}
	undoable, err := session.Board().UndoableRuns(ctx)
	list.Undoable = listing.Runs(undoable)
	return list, err
}

// AcceptProposal answers `agent/proposal/accept`.
func (d *Desk) AcceptProposal(ctx context.Context, p *methods.AcceptParams) (*methods.AcceptResult, error) {
	session, ids, err := d.chosenHunks(ctx,
		&methods.ProposalParams{Proposal: p.Proposal, Files: p.Files, Hunks: p.Hunks})
	if err != nil {
		return nil, err
	}
	if p.Overwrite {
		// Only named hunks are overwritten, since the user can have looked only at those. A hunk that cannot be
		// overwritten fails again with the others.
		session.Board().Proposal().Overwrite(p.Hunks)
	}
	return d.accept(ctx, session, ids)
}

// RejectProposal answers `agent/proposal/reject`.
func (d *Desk) RejectProposal(ctx context.Context, p *methods.ProposalParams) (*methods.RejectResult, error) {
	session, ids, err := d.chosenHunks(ctx, p)
	if err != nil {
		return nil, err
	}
	failures, err := session.Board().Reject(ctx, ids)
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

// Stored are the proposals of a session that is not open in this process, with the hunks as they were last stored.
func (d *Desk) Stored(ctx context.Context, stored *history.Reader, id event.SessionID) ([]methods.Proposal, error) {
	proposals, err := stored.Proposals(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []methods.Proposal
	for _, p := range proposals {
		list = append(list,
			d.WithFiles(methods.Proposal{ID: p.ID, Session: id, Run: p.Run, Agent: p.Agent, Title: p.Title}, p.Hunks))
	}
	return list, nil
}

// chosenHunks are the open hunks that the params mean: the named ones, those of the named files, or all.
func (d *Desk) chosenHunks(ctx context.Context, p *methods.ProposalParams) (*agentcore.Session, []event.HunkID, error) {
	engine, err := d.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	session, err := d.Kept(ctx)
	if err != nil {
		return nil, nil, err
	}
	if session == nil || session.Board().ProposalID() != p.Proposal {
		return nil, nil, engine.Others().Explain(ctx, string(p.Proposal), &fault.Error{
			Kind: fault.NotFound, Detail: fmt.Sprintf("there is no proposal %q here", p.Proposal),
			Hint: "list the proposals with agent/proposals",
		})
	}
	if len(p.Hunks) > 0 && len(p.Files) == 0 {
		return session, slices.Clone(p.Hunks), nil
	}
	var ids []event.HunkID
	for _, h := range session.Board().Hunks() {
		named := len(p.Hunks) == 0 && h.State == event.StateOpen || slices.Contains(p.Hunks, h.ID)
		inFile := len(p.Files) == 0 ||
			slices.ContainsFunc(p.Files, func(u uri.URI) bool { return document.Path(u) == h.Path })
		if named && inFile {
			ids = append(ids, h.ID)
		}
	}
	return session, ids, nil
}

// Of is the session's proposal on the wire. Versions and ranges belong to the same text only within
// [document.Documents.Read].
func (d *Desk) Of(session *agentcore.Session) methods.Proposal {
	run, agent := session.Board().Proposing()
	p := d.WithFiles(methods.Proposal{
		ID: session.Board().ProposalID(), Session: session.ID, Run: run, Agent: agent,
		Title: cmp.Or(session.Title(), "edits of former sessions"),
	}, session.Board().Hunks())
	for i, f := range p.Files {
		if doc := d.Documents.Get(document.Path(f.URI)); doc != nil {
			p.Files[i].Version = new(int(doc.Version))
		}
	}
	return p
}

// WithFiles adds the hunks to a proposal, by file, without the versions of open documents, since stored hunks of
// another session were made for other texts.
func (d *Desk) WithFiles(p methods.Proposal, hunks []workspace.Hunk) methods.Proposal {
	byPath := map[string]int{}
	for _, h := range hunks {
		at, ok := byPath[h.Path]
		if !ok {
			at = len(p.Files)
			byPath[h.Path] = at
			u := d.Documents.URI(h.Path)
			p.Files = append(p.Files, methods.ProposalFile{URI: u, Change: methods.FileModified})
		}
		file := &p.Files[at]
		switch {
		case h.Create:
			file.Change = methods.FileCreated
		case h.Delete:
			file.Change = methods.FileDeleted
		case h.MoveTo != "":
			file.Change, file.NewURI = methods.FileRenamed, d.Documents.URI(h.MoveTo)
		}
		file.State = worse(file.State, h.State)
		p.State = worse(p.State, h.State)
		file.Hunks = append(file.Hunks, d.hunkOf(h))
	}
	if p.State == "" {
		p.State = event.StateOpen
	}
	return p
}

// worse joins the states of parts to that of the whole: a state that still needs a decision counts most.
func worse(a, b event.ProposalState) event.ProposalState {
	for _, state := range []event.ProposalState{
		event.StateConflict, event.StateOpen, event.StateAccepted, event.StateRejected,
	} {
		if a == state || b == state {
			return state
		}
	}
	return b
}

func (d *Desk) hunkOf(h workspace.Hunk) methods.Hunk {
	hunk := methods.Hunk{
		ID: h.ID, State: h.State, Before: h.Before, After: h.After, Reason: h.Author.Reason, Run: h.Author.Run,
		Agent: h.Author.Agent, Detail: h.Detail, Current: h.Current,
	}
	if x, _, err := d.Documents.Text(h.Path); err == nil {
		start, end := min(h.StartLine, x.Len()), min(h.EndLine, x.Len())
		hunk.Range = protocol.Range{
			Start: d.Documents.Encoding.At(x, x.Start(start)), End: d.Documents.Encoding.At(x, x.Start(end)),
		}
	}
	return hunk
}
