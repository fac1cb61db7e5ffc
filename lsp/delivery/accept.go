package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/methods"
)

const (
	// acceptAttempts is how often an edit is computed again when the user typed while it was on its way.
	acceptAttempts = 3
	// echoTime is how long to wait for the change that an edit makes, after the editor has said that it made the edit.
	// Neovim sends its changes 150 ms late; a machine under load needs more.
	echoTime = 5 * time.Second
)

// accept has the editor apply hunks.
func (d *Desk) accept(ctx context.Context, session *agentcore.Session,
	ids []event.HunkID,
) (*methods.AcceptResult, error) {
	return d.carryOut(ctx, &acceptance{
		decision: accepting{session.Board().Proposal()}, session: session, left: uniqueHunks(ids),
	})
}

// decision is what the editor is asked to do with hunks: take them, or take them back.
type decision interface {
	// edits returns the smallest edits of the present text; hunks without one are returned as failures.
	edits(ids []event.HunkID) ([]workspace.FileEdit, []workspace.HunkFailure)
	confirm(ids []event.HunkID, applied bool, reason string)
	// outcome says what became of a hunk, and why.
	outcome(id event.HunkID) (outcome, string)
	// label names the edit in the editor's undo list.
	label(edits []workspace.FileEdit) string
}

// outcome says what became of a hunk that the editor was asked to change.
type outcome int

const (
	outcomeOpen   outcome = iota // as before
	outcomeMade                  // the editor shows it
	outcomeFailed                // it cannot be made
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
	case !known || h.State == event.StateAccepted: // an unknown hunk was settled long ago
		return outcomeMade, ""
	case h.State == event.StateOpen:
		return outcomeOpen, ""
	}
	return outcomeFailed, fmt.Sprintf("it is in the state %s: %s", h.State, h.Detail)
}

func (d accepting) label(edits []workspace.FileEdit) string { return label(edits) }

// carryOut has the editor carry out a decision about hunks. Only one edit is on its way at a time, since the next one
// must be computed for the text that this one leaves.
func (d *Desk) carryOut(ctx context.Context, a *acceptance) (*methods.AcceptResult, error) {
	if !d.Client.AppliesEdits() {
		hint := "accept the edit by the code action on its line, which carries it"
		if !d.Client.TakesCodeActions() {
			hint = "show the proposed diff and make the change by hand, or use `agentls review --write`"
		}
		return nil, &fault.Error{
			Kind: fault.Unsupported, Detail: "this editor does not let a server apply edits (workspace/applyEdit)",
			Hint: hint,
		}
	}
	release, err := d.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	defer a.session.HoldMerges()()
	phases := [][]event.HunkID{a.left}
	if d.Client.LeavesOutStaleEdits() {
		phases = a.textsBeforeMoves()
	}
	for _, phase := range phases {
		a.left, a.refusal = phase, ""
		for range acceptAttempts {
			again, err := d.attempt(ctx, a)
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
	d.Crash.Reach(crash.Confirmed)
	// The result is durable then, also when nobody waits for it any more.
	return &a.result, a.session.Flush(context.WithoutCancel(ctx))
}

// textsBeforeMoves puts the hunks in files that are to be moved before all others. An editor that leaves out an edit of
// an older text still moves the file, and the edit would then be looked for under a name that never had it.
func (a *acceptance) textsBeforeMoves() [][]event.HunkID {
	hunks := map[event.HunkID]workspace.Hunk{}
	moved := map[string]bool{}
	for _, id := range a.left {
		if h, ok := a.session.Board().Proposal().Hunk(id); ok {
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

// acceptance is one decision that is being carried out. It belongs to the goroutine of its request.
type acceptance struct {
	decision decision
	session  *agentcore.Session
	left     []event.HunkID // the hunks that nothing was decided about yet
	refusal  string         // why the last attempt left some of them
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

// attempt sends the editor the edit of the hunks that are left. It reports whether another attempt may succeed because
// the text has changed meanwhile.
func (d *Desk) attempt(ctx context.Context, a *acceptance) (again bool, err error) {
	edits, failed := a.decision.edits(a.left)
	for _, f := range failed {
		a.fail(f.ID, f.Reason)
	}
	plan := d.plan(edits)
	if len(plan.refused) > 0 {
		edits = slices.DeleteFunc(edits, func(e workspace.FileEdit) bool { return plan.refused[e.Path] != "" })
		for _, id := range slices.Clone(a.left) {
			if h, ok := a.session.Board().Proposal().Hunk(id); ok && plan.refused[h.Path] != "" {
				a.fail(id, plan.refused[h.Path])
			}
		}
	}
	if len(a.left) == 0 {
		return false, nil
	}
	if len(edits) == 0 { // the undone hunks cancel each other out: the text is right as it is
		a.decision.confirm(a.left, true, "")
		a.divide()
		return false, nil
	}
	d.Crash.Reach(crash.Accepting)
	answer, err := func() (client.Applied, error) {
		defer d.View.Hold(filesOf(elsewhere(edits)))()
		return d.Client.Apply(ctx, "agentls: "+a.decision.label(edits), plan.edit)
	}()
	if err != nil {
		return false, err
	}
	d.Crash.Reach(crash.Answered)
	if a.refusal = answer.Refusal; a.refusal != "" {
		moved := d.moved(edits)
		if err := d.survey(ctx, a, plan, edits, answer.Failed); err != nil {
			return false, err
		}
		return moved && len(a.left) > 0, nil
	}
	a.decision.confirm(a.left, true, "")
	return d.made(ctx, a, edits)
}

// made finds out how much of an edit the editor shows after saying that it made the edit. It reports whether another
// attempt may succeed.
func (d *Desk) made(ctx context.Context, a *acceptance, edits []workspace.FileEdit) (again bool, err error) {
	// not every editor reports files that it has created, renamed or deleted
	d.View.DiskChanged(filesOf(unopened(edits)))
	if err := d.echoed(ctx, edits); err != nil {
		return false, err
	}
	if err := d.follow(ctx, a, edits); err != nil {
		return false, err
	}
	d.unconfirmed(a, edits)
	if d.Client.TakesDocumentChanges() {
		// Neovim leaves out an edit of an older version, and says that it was applied, so that only its text tells. (An
		// edit without a version is never left out, and its change may still be on its way.)
		for _, e := range edits {
			if doc := d.Documents.Get(e.Path); doc != nil && e.Version >= 0 && e.MoveTo == "" &&
				doc.Version != e.Version {
				d.View.Recheck(e.Path)
			}
		}
	}
	a.divide()
	a.refusal = "the text changed while the edit was on its way; accept it again"
	return len(a.left) > 0, nil
}

// unconfirmed opens hunks again that the editor says it made, without reporting a change of their open document: agents
// would otherwise read a text that the editor does not show. The hunks are not sent again, since the editor may have
// made them. A change that comes late confirms them.
func (d *Desk) unconfirmed(a *acceptance, edits []workspace.FileEdit) {
	for _, e := range edits {
		if e.Delete || e.MoveTo != "" || !d.expected(e) {
			continue
		}
		d.View.Recheck(e.Path)
		reason := fmt.Sprintf(
			"the editor said that it made the edit, but told of no change to %s; look there before you accept it again",
			d.View.Relative(e.Path))
		for _, id := range slices.Clone(a.left) {
			h, known := a.session.Board().Proposal().Hunk(id)
			if became, _ := a.decision.outcome(id); known && h.Path == e.Path && became == outcomeOpen {
				a.decision.confirm([]event.HunkID{id}, false, reason)
				a.fail(id, reason)
			}
		}
	}
}

// follow finds out where the editor's renames have led. Some editors report the new name before they answer; then the
// view has seen the old file go. Neovim saves a file to rename it, and never reports the text edits under the old name,
// so that follow tells the view of the rename.
func (d *Desk) follow(ctx context.Context, a *acceptance, edits []workspace.FileEdit) error {
	moves := slices.DeleteFunc(elsewhere(edits), func(e workspace.FileEdit) bool { return e.Delete })
	if len(moves) == 0 {
		return nil
	}
	if err := d.View.Settle(ctx); err != nil {
		return fmt.Errorf("look at the renamed files: %w", err)
	}
	for _, e := range moves {
		d.Moved(e.MoveTo)
		left := slices.ContainsFunc(a.left, func(id event.HunkID) bool {
			became, _ := a.decision.outcome(id)
			h, known := a.session.Board().Proposal().Hunk(id)
			return became != outcomeMade && known && (h.Path == e.Path || h.Path == e.MoveTo)
		})
		if left && !d.shows(e.Path) && d.shows(e.MoveTo) {
			d.View.Rename(e.Path, e.MoveTo)
		}
	}
	if err := d.View.Settle(ctx); err != nil {
		return fmt.Errorf("look at the renamed files: %w", err)
	}
	return nil
}

// shows reports whether the editor shows a file at a path.
func (d *Desk) shows(path string) bool {
	_, _, err := d.Documents.Text(path)
	return err == nil
}

// survey finds out which parts of a refused edit were made nevertheless: unless an editor works in transactions, the
// parts before the one that failed may be. The reason why the rest was not made says so.
func (d *Desk) survey(ctx context.Context, a *acceptance, plan plannedEdit, edits []workspace.FileEdit,
	failed int,
) error {
	if failed >= 0 {
		a.refusal = fmt.Sprintf("the editor could not %s: %s", plan.what[failed], a.refusal)
	}
	if d.Client.AllOrNothing(plan.edit) {
		return nil
	}
	if failed > 0 {
		// Changes are sure to come only for the parts before the failure, and editors that roll back take them back.
		made := slices.DeleteFunc(slices.Clone(edits),
			func(e workspace.FileEdit) bool { return !slices.Contains(plan.paths[:failed], e.Path) })
		if d.Client.WorkspaceEdit().FailureHandling != protocol.FailureHandlingKindUndo {
			if err := d.echoed(ctx, made); err != nil {
				return err
			}
		}
	}
	d.View.DiskChanged(filesOf(edits))
	if err := d.View.Settle(ctx); err != nil {
		return err
	}
	a.divide()
	if made := len(a.result.Applied); made > 0 && len(a.left) > 0 {
		a.refusal += fmt.Sprintf("; %s made before that, which the editor's own undo takes back", was(made, "edit"))
	}
	return nil
}

// unopened are the edits whose result only the disk shows, and no document. The text of a file that is renamed and
// edited at once may be only in the editor, and the document under its new name is still to come.
func unopened(edits []workspace.FileEdit) []workspace.FileEdit {
	var list []workspace.FileEdit
	for _, e := range edits {
		if e.Version < 0 && (e.MoveTo == "" || len(e.Edits) == 0) {
			list = append(list, e)
		}
	}
	return list
}

// elsewhere are the edits that delete or move a file.
func elsewhere(edits []workspace.FileEdit) []workspace.FileEdit {
	return slices.DeleteFunc(slices.Clone(edits),
		func(e workspace.FileEdit) bool { return !e.Delete && e.MoveTo == "" })
}

// filesOf are the files that edits create, delete or change.
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

// divide separates the hunks that the editor took, those that were opened again and are left, and those that can no
// longer be made because the user typed on their lines meanwhile.
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

// echoed waits until the editor has reported a change of each open document of the edits, for echoTime at most.
func (d *Desk) echoed(ctx context.Context, edits []workspace.FileEdit) error {
	bounded, cancel := context.WithTimeout(ctx, min(echoTime, d.AnswerTime))
	defer cancel()
	err := d.Documents.Wait(bounded, func() bool {
		// The hunks follow a document a moment after its version is known.
		return d.Documents.Followed() && !slices.ContainsFunc(edits, d.expected)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.Logger.Info("the editor told of no change after it applied an edit", "error", err)
	}
	return nil
}

// expected reports whether the editor has still to report what it made of the edit of an open document: a change, or
// another name. For a file that was not open, it may report in two steps: it opens the file, then edits it.
func (d *Desk) expected(e workspace.FileEdit) bool {
	doc := d.Documents.Get(e.Path)
	switch {
	case e.Version < 0:
		if doc == nil || e.Delete || len(e.Edits) == 0 {
			return false
		}
		after := e.After()
		if e.Create { // an editor may show an empty file as one empty line
			return strings.TrimSpace(after) != "" && strings.TrimSpace(doc.Index().Text()) == ""
		}
		return after != e.Before && doc.Index().Text() == e.Before
	case e.MoveTo != "":
		return doc != nil || d.Documents.Get(e.MoveTo) == nil
	}
	return doc != nil && doc.Version == e.Version
}

// moved reports whether a document has another version than the one that its edit was computed for.
func (d *Desk) moved(edits []workspace.FileEdit) bool {
	return slices.ContainsFunc(edits, func(e workspace.FileEdit) bool {
		doc := d.Documents.Get(e.Path)
		return doc != nil && doc.Version != e.Version || doc == nil && e.Version >= 0
	})
}
