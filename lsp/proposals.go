package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
)

const (
	// acceptAttempts is how often an edit is computed anew when the user typed while it was on its way.
	acceptAttempts = 3
	// echoTime is how long the change that an edit makes is waited for after the editor has said that it made it.
	// Neovim sends its changes 150 ms late; a machine under load needs more.
	echoTime = 5 * time.Second
)

// accept has the editor apply hunks.
func (s *Server) accept(ctx context.Context, session *agentcore.Session,
	ids []event.HunkID,
) (*methods.AcceptResult, error) {
	return s.carryOut(ctx, &acceptance{
		decision: accepting{session.Proposal()}, session: session,
		left: uniqueHunks(ids),
	})
}

// decision is what the editor is asked to do with hunks: take them, or take them back.
type decision interface {
	// edits are the smallest against the text of now; what has none comes back as a failure.
	edits(ids []event.HunkID) ([]workspace.FileEdit, []workspace.HunkFailure)
	confirm(ids []event.HunkID, applied bool, reason string)
	// outcome is what became of a hunk, and why.
	outcome(id event.HunkID) (outcome, string)
	// label names the edit in the editor's undo list.
	label(edits []workspace.FileEdit) string
}

// outcome is what became of a hunk that the editor was asked to change.
type outcome int

const (
	outcomeOpen   outcome = iota // as before
	outcomeMade                  // the editor shows it
	outcomeFailed                // it has come to nothing
)

// accepting is the decision to take hunks.
type accepting struct{ proposal *workspace.Proposal }

func (d accepting) edits(ids []event.HunkID) ([]workspace.FileEdit, []workspace.HunkFailure) {
	return d.proposal.Edits(ids)
}

func (d accepting) confirm(ids []event.HunkID, applied bool, reason string) {
	d.proposal.Confirm(ids, applied, reason)
}

func (d accepting) outcome(id event.HunkID) (outcome, string) {
	h, known := d.proposal.Hunk(id)
	switch {
	case !known || h.State == event.StateAccepted: // what is not known was settled long ago
		return outcomeMade, ""
	case h.State == event.StateOpen:
		return outcomeOpen, ""
	}
	return outcomeFailed, fmt.Sprintf("it is in the state %s: %s", h.State, h.Detail)
}

func (d accepting) label(edits []workspace.FileEdit) string { return label(edits) }

// carryOut has the editor make what was decided about hunks. One edit at a time is on its way, since the next one has
// to be computed against what the former left.
func (s *Server) carryOut(ctx context.Context, a *acceptance) (*methods.AcceptResult, error) {
	if !s.client.AppliesEdits() {
		hint := "accept the edit by the code action on its line, which carries it"
		if !s.client.TakesCodeActions() {
			hint = "show the proposed diff and make the change by hand, or use `agentls review --write`"
		}
		return nil, &fault.Error{
			Kind: fault.Unsupported, Detail: "this editor does not let a server apply edits (workspace/applyEdit)",
			Hint: hint,
		}
	}
	select {
	case s.accepting <- struct{}{}:
		defer func() { <-s.accepting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer a.session.HoldMerges()()
	phases := [][]event.HunkID{a.left}
	if s.client.LeavesOutStaleEdits() {
		phases = a.textsBeforeMoves()
	}
	for _, phase := range phases {
		a.left, a.refusal = phase, ""
		for range acceptAttempts {
			again, err := s.attempt(ctx, a)
			if err != nil {
				return nil, err
			}
			if !again {
				break
			}
		}
		a.decision.confirm(a.left, false, a.refusal)
		for _, id := range slices.Clone(a.left) {
			a.fail(id, a.refusal)
		}
	}
	s.options.Crash.Reach(crash.Confirmed)
	return &a.result, s.settle(ctx, a.session)
}

// textsBeforeMoves puts the hunks in files that are to be moved before all others. An editor that leaves out an edit of
// older text would still move the file, and the edit would be looked for under a name that never had it.
func (a *acceptance) textsBeforeMoves() [][]event.HunkID {
	hunks := map[event.HunkID]workspace.Hunk{}
	moved := map[string]bool{}
	for _, id := range a.left {
		if h, ok := a.session.Proposal().Hunk(id); ok {
			hunks[id] = h
			if h.MoveTo != "" {
				moved[h.Path], moved[h.MoveTo] = true, true
			}
		}
	}
	var texts, others []event.HunkID
	for _, id := range a.left {
		if h := hunks[id]; h.MoveTo == "" && moved[h.Path] {
			texts = append(texts, id)
		} else {
			others = append(others, id)
		}
	}
	if len(texts) == 0 {
		return [][]event.HunkID{others}
	}
	return [][]event.HunkID{texts, others}
}

// acceptance is one decision on its way. It belongs to the goroutine of its request.
type acceptance struct {
	decision decision
	session  *agentcore.Session
	left     []event.HunkID // those that nothing was decided about
	refusal  string         // why the last attempt left some
	result   methods.AcceptResult
}

func (a *acceptance) fail(id event.HunkID, reason string) {
	a.left = slices.DeleteFunc(a.left, func(other event.HunkID) bool { return other == id })
	a.result.Failed = append(a.result.Failed, methods.HunkFailure{Hunk: id, Reason: reason})
}

func uniqueHunks(ids []event.HunkID) []event.HunkID {
	var list []event.HunkID
	for _, id := range ids {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// attempt sends the editor the edit of the hunks that are left. It reports whether another attempt may get on, since
// the text changed meanwhile.
func (s *Server) attempt(ctx context.Context, a *acceptance) (again bool, err error) {
	edits, failed := a.decision.edits(a.left)
	for _, f := range failed {
		a.fail(f.ID, f.Reason)
	}
	plan := s.workspaceEdit(edits)
	if len(plan.refused) > 0 {
		edits = slices.DeleteFunc(edits, func(e workspace.FileEdit) bool { return plan.refused[e.Path] != "" })
		for _, id := range slices.Clone(a.left) {
			if h, ok := a.session.Proposal().Hunk(id); ok && plan.refused[h.Path] != "" {
				a.fail(id, plan.refused[h.Path])
			}
		}
	}
	if len(a.left) == 0 {
		return false, nil
	}
	if len(edits) == 0 { // what is undone cancels itself out: the text is right as it is
		a.decision.confirm(a.left, true, "")
		a.divide()
		return false, nil
	}
	s.options.Crash.Reach(crash.Accepting)
	answer, err := func() (client.Applied, error) {
		defer s.view.Hold(filesOf(elsewhere(edits)))()
		return s.client.Apply(ctx, "agentls: "+a.decision.label(edits), plan.edit)
	}()
	if err != nil {
		return false, err
	}
	s.options.Crash.Reach(crash.Answered)
	if a.refusal = answer.Refusal; a.refusal != "" {
		moved := s.moved(edits)
		if err := s.survey(ctx, a, plan, edits, answer.Failed); err != nil {
			return false, err
		}
		return moved && len(a.left) > 0, nil
	}
	a.decision.confirm(a.left, true, "")
	// not every editor tells of the files that it has made, renamed or deleted
	s.view.DiskChanged(filesOf(unopened(edits)))
	if err := s.echoed(ctx, edits); err != nil {
		return false, err
	}
	if err := s.follow(ctx, a, edits); err != nil {
		return false, err
	}
	s.unconfirmed(a, edits)
	if s.client.TakesDocumentChanges() {
		// Neovim leaves out an edit of an older version, and says that it was applied. What it shows now
		// tells. (An edit without a version is never left out, and its change may still be on its way.)
		for _, e := range edits {
			if doc := s.documents.Get(e.Path); doc != nil && e.Version >= 0 && e.MoveTo == "" &&
				doc.Version != e.Version {
				s.view.Recheck(e.Path)
			}
		}
	}
	a.divide()
	a.refusal = "the text changed while the edit was on its way; accept it again"
	return len(a.left) > 0, nil
}

// unconfirmed opens hunks again of which the editor said that it made them, and told of no change to their open
// document: agents would read a text that the editor does not show. They are not sent again, since the editor may have
// made them. A change that comes late confirms them.
func (s *Server) unconfirmed(a *acceptance, edits []workspace.FileEdit) {
	for _, e := range edits {
		if e.Delete || e.MoveTo != "" || !s.expected(e) {
			continue
		}
		s.view.Recheck(e.Path)
		reason := fmt.Sprintf(
			"the editor said that it made the edit, but told of no change to %s; look there before you accept it again",
			s.view.Relative(e.Path))
		for _, id := range slices.Clone(a.left) {
			h, known := a.session.Proposal().Hunk(id)
			if became, _ := a.decision.outcome(id); known && h.Path == e.Path && became == outcomeOpen {
				a.decision.confirm([]event.HunkID{id}, false, reason)
				a.fail(id, reason)
			}
		}
	}
}

// follow looks where the renames of an edit that the editor made have led. An editor that tells of the new name before
// it answers is understood once the old one was seen to be gone. Neovim, which saves a file to rename it, never tells
// of the text edits under the old name; that its hunks are at the new one has to be said.
func (s *Server) follow(ctx context.Context, a *acceptance, edits []workspace.FileEdit) error {
	moves := slices.DeleteFunc(elsewhere(edits), func(e workspace.FileEdit) bool { return e.Delete })
	if len(moves) == 0 {
		return nil
	}
	if err := s.view.Settle(ctx); err != nil {
		return fmt.Errorf("look at the renamed files: %w", err)
	}
	for _, e := range moves {
		s.diagnostics.Clear(e.MoveTo)
		left := slices.ContainsFunc(a.left, func(id event.HunkID) bool {
			became, _ := a.decision.outcome(id)
			h, known := a.session.Proposal().Hunk(id)
			return became != outcomeMade && known && (h.Path == e.Path || h.Path == e.MoveTo)
		})
		if left && !s.shows(e.Path) && s.shows(e.MoveTo) {
			s.view.Rename(e.Path, e.MoveTo)
		}
	}
	if err := s.view.Settle(ctx); err != nil {
		return fmt.Errorf("look at the renamed files: %w", err)
	}
	return nil
}

// shows reports whether the editor has such a file.
func (s *Server) shows(path string) bool {
	_, _, err := s.documents.Text(path)
	return err == nil
}

// survey finds out what of a refused edit was made all the same: unless an editor works in transactions, what stands
// before the part that failed may be there. It tells so in the reason why the rest was not.
func (s *Server) survey(ctx context.Context, a *acceptance, plan plannedEdit, edits []workspace.FileEdit,
	failed int,
) error {
	if failed >= 0 {
		a.refusal = fmt.Sprintf("the editor could not %s: %s", plan.what[failed], a.refusal)
	}
	if s.client.AllOrNothing(plan.edit) {
		return nil
	}
	if failed > 0 {
		// Changes are certain to come only for what stands before the failure, and undoing editors take them back.
		made := slices.DeleteFunc(slices.Clone(edits),
			func(e workspace.FileEdit) bool { return !slices.Contains(plan.paths[:failed], e.Path) })
		if s.client.WorkspaceEdit().FailureHandling != protocol.FailureHandlingKindUndo {
			if err := s.echoed(ctx, made); err != nil {
				return err
			}
		}
	}
	s.view.DiskChanged(filesOf(edits))
	if err := s.view.Settle(ctx); err != nil {
		return err
	}
	a.divide()
	if made := len(a.result.Applied); made > 0 && len(a.left) > 0 {
		a.refusal += fmt.Sprintf("; %s made before that, which the editor's own undo takes back", was(made, "edit"))
	}
	return nil
}

// unopened are the edits of which the disk, and no document, shows what the editor made of them. The text of a file
// that is renamed and edited at once may be in the editor alone, and the document under its new name has yet to come.
func unopened(edits []workspace.FileEdit) []workspace.FileEdit {
	var list []workspace.FileEdit
	for _, e := range edits {
		if e.Version < 0 && (e.MoveTo == "" || len(e.Edits) == 0) {
			list = append(list, e)
		}
	}
	return list
}

// elsewhere are the edits that take a file away from where it is.
func elsewhere(edits []workspace.FileEdit) []workspace.FileEdit {
	return slices.DeleteFunc(slices.Clone(edits),
		func(e workspace.FileEdit) bool { return !e.Delete && e.MoveTo == "" })
}

// filesOf are the files that come, go or change with edits.
func filesOf(edits []workspace.FileEdit) []string {
	var paths []string
	for _, e := range edits {
		paths = append(paths, e.Path)
		if e.MoveTo != "" {
			paths = append(paths, e.MoveTo)
		}
	}
	return paths
}

// was is a count with its verb.
func was(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// divide tells the hunks that the editor took from those that were opened again, which are left, and from those that
// came to nothing, since the user typed on their lines while the edit was on its way.
func (a *acceptance) divide() {
	var open []event.HunkID
	for _, id := range slices.Clone(a.left) {
		switch became, why := a.decision.outcome(id); became {
		case outcomeMade:
			a.result.Applied = append(a.result.Applied, id)
		case outcomeOpen:
			open = append(open, id)
		default:
			a.fail(id, why)
		}
	}
	a.left = open
}

// settle waits until what the editor answered is durable, also when nobody waits for the result any more.
func (s *Server) settle(ctx context.Context, session *agentcore.Session) error {
	return session.Flush(context.WithoutCancel(ctx))
}

// echoed waits until the editor has told of a change in each open document of the edits, for echoTime at most. Of an
// editor that tells nothing it returns all the same.
func (s *Server) echoed(ctx context.Context, edits []workspace.FileEdit) error {
	bounded, cancel := context.WithTimeout(ctx, min(echoTime, s.options.AnswerTime))
	defer cancel()
	err := s.documents.Wait(bounded, func() bool {
		// The hunks follow a document a little after its version is known.
		return s.documents.Followed() && !slices.ContainsFunc(edits, s.expected)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.logger.Info("the editor told of no change after it applied an edit", "error", err)
	}
	return nil
}

// expected reports whether the editor has yet to tell what it made of the edit of an open document: a change, or that
// the document has another name. Of a file that was not open it may tell in two steps: it opens the file, then edits
// it.
func (s *Server) expected(e workspace.FileEdit) bool {
	doc := s.documents.Get(e.Path)
	switch {
	case e.Version < 0:
		if doc == nil || e.Delete || len(e.Edits) == 0 {
			return false
		}
		after := e.After()
		if e.Create { // an empty file may be one empty line
			return strings.TrimSpace(after) != "" && strings.TrimSpace(doc.Index().Text()) == ""
		}
		return after != e.Before && doc.Index().Text() == e.Before
	case e.MoveTo != "":
		return doc != nil || s.documents.Get(e.MoveTo) == nil
	}
	return doc != nil && doc.Version == e.Version
}

// moved reports whether a document has another version now than its edit was computed for.
func (s *Server) moved(edits []workspace.FileEdit) bool {
	return slices.ContainsFunc(edits, func(e workspace.FileEdit) bool {
		doc := s.documents.Get(e.Path)
		return doc != nil && doc.Version != e.Version || doc == nil && e.Version >= 0
	})
}

// chosenHunks are the open hunks that the params mean: those named, those of the named files, or all.
func (s *Server) chosenHunks(ctx context.Context,
	p *methods.ProposalParams,
) (*agentcore.Session, []event.HunkID, error) {
	engine, err := s.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	session, err := s.kept(ctx)
	if err != nil {
		return nil, nil, err
	}
	if session == nil || session.ProposalID() != p.Proposal {
		return nil, nil, engine.Elsewhere(ctx, string(p.Proposal), &fault.Error{
			Kind: fault.NotFound, Detail: fmt.Sprintf("there is no proposal %q here", p.Proposal),
			Hint: "list the proposals with agent/proposals",
		})
	}
	if len(p.Hunks) > 0 && len(p.Files) == 0 {
		return session, slices.Clone(p.Hunks), nil
	}
	var ids []event.HunkID
	for _, h := range session.Hunks() {
		named := len(p.Hunks) == 0 && h.State == event.StateOpen || slices.Contains(p.Hunks, h.ID)
		inFile := len(p.Files) == 0 ||
			slices.ContainsFunc(p.Files, func(u uri.URI) bool { return document.Path(u) == h.Path })
		if named && inFile {
			ids = append(ids, h.ID)
		}
	}
	return session, ids, nil
}

// proposalOf is the session's proposal on the wire. Versions and ranges are those of one text only within settled.
func (s *Server) proposalOf(session *agentcore.Session) methods.Proposal {
	run, agent := session.Proposing()
	p := s.withFiles(methods.Proposal{
		ID: session.ProposalID(), Session: session.ID, Run: run, Agent: agent,
		Title: cmp.Or(session.Title(), "edits of former sessions"),
	}, session.Hunks())
	for i, f := range p.Files {
		if doc := s.documents.Get(document.Path(f.URI)); doc != nil {
			p.Files[i].Version = new(int(doc.Version))
		}
	}
	return p
}

// withFiles adds the hunks to a proposal, by file, without the versions of open documents: what is stored of another
// session was made for other texts.
func (s *Server) withFiles(p methods.Proposal, hunks []workspace.Hunk) methods.Proposal {
	byPath := map[string]int{}
	for _, h := range hunks {
		at, ok := byPath[h.Path]
		if !ok {
			at = len(p.Files)
			byPath[h.Path] = at
			u := s.documents.URI(h.Path)
			p.Files = append(p.Files, methods.ProposalFile{URI: u, Change: methods.FileModified})
		}
		file := &p.Files[at]
		switch {
		case h.Create:
			file.Change = methods.FileCreated
		case h.Delete:
			file.Change = methods.FileDeleted
		case h.MoveTo != "":
			file.Change, file.NewURI = methods.FileRenamed, s.documents.URI(h.MoveTo)
		}
		file.State = worse(file.State, h.State)
		p.State = worse(p.State, h.State)
		file.Hunks = append(file.Hunks, s.hunkOf(h))
	}
	if p.State == "" {
		p.State = event.StateOpen
	}
	return p
}

// worse joins the states of parts into that of the whole: what still wants a decision counts most.
func worse(a, b event.ProposalState) event.ProposalState {
	for _, state := range []event.ProposalState{
		event.StateConflict, event.StateOpen, event.StateAccepted,
		event.StateRejected,
	} {
		if a == state || b == state {
			return state
		}
	}
	return b
}

func (s *Server) hunkOf(h workspace.Hunk) methods.Hunk {
	hunk := methods.Hunk{
		ID: h.ID, State: h.State, Before: h.Before, After: h.After, Reason: h.Author.Reason, Run: h.Author.Run,
		Agent:  h.Author.Agent,
		Detail: h.Detail, Current: h.Current,
	}
	if x, _, err := s.documents.Text(h.Path); err == nil {
		start, end := min(h.StartLine, x.Len()), min(h.EndLine, x.Len())
		hunk.Range = protocol.Range{
			Start: s.documents.Encoding.At(x, x.Start(start)), End: s.documents.Encoding.At(x, x.Start(end)),
		}
	}
	return hunk
}
