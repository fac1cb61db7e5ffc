package delivery

import (
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/short"
)

// Actions accept, reject and show the hunks on the lines, in the file, and in all files. Proposals for other files are
// one action that asks about them. A client that cannot be asked gets actions for each new file, since a new file has
// no lines to point at.
func (d *Desk) Actions(session *agentcore.Session, path string, x *workspace.Index, first, last int) []menu.Action {
	var list, newFiles []menu.Action
	var inFile, all []event.HunkID
	asks := d.asksAboutFiles()
	files := map[string]bool{}
	for _, h := range session.Board().Hunks() {
		if !h.Waits() {
			continue
		}
		open := h.State == event.StateOpen
		if open {
			all = append(all, h.ID)
			files[h.Path] = true
		}
		switch {
		case h.Path == path:
			if open {
				inFile = append(inFile, h.ID)
			}
			if from, to := remark.Lines(h, x); position.Overlap(from, to, first, last) {
				list = append(list, menu.Nearby(d.hunkActions(session, h, x))...)
			}
		case h.Create && open && !asks && len(newFiles) < 3*offeredFiles:
			newFiles = append(newFiles, d.newFileActions(session, h)...)
		}
	}
	list = append(list, newFiles...)
	if len(inFile) > 0 {
		list = append(list, groupActions(d.Params(session, []string{path}), inFile,
			fmt.Sprintf("in this file (%d)", len(inFile)), "this file")...)
	}
	others := len(files)
	if files[path] {
		others--
	}
	if others == 0 {
		return list
	}
	count := fmt.Sprintf("(%d in %s)", len(all), short.Count(len(files), "file"))
	whole := groupActions(d.Params(session, nil), all, count, "all files")
	if !asks {
		return append(list, whole...)
	}
	if files[path] {
		list = append(list, whole[0])
	}
	return append(list, menu.Action{
		Title: fmt.Sprintf("agentls: %s in %s…", short.Count(len(all)-len(inFile), "proposed edit"),
			short.Count(others, "other file")),
		Kind: menu.KindProposal, Command: methods.CommandOtherFiles,
		Argument: methods.OtherFilesParams{URI: d.Documents.URI(path)},
	})
}

// groupActions accept, reject and show several hunks.
func groupActions(p methods.ProposalParams, hunks []event.HunkID, which, where string) []menu.Action {
	return []menu.Action{{
		Title: "agentls: Accept all edits " + which, Kind: menu.KindProposal,
		Command: methods.CommandAcceptProposal, Argument: p, Hunks: hunks,
	}, {
		Title: "agentls: Reject all edits " + which, Kind: menu.KindProposal,
		Command: methods.CommandRejectProposal, Argument: p,
	}, {
		Title: "agentls: Show the proposed diff of " + where, Kind: menu.KindProposal,
		Command: methods.CommandDiffProposal, Argument: p,
	}}
}

// offeredFiles is how many new files have actions of their own in other documents; "all edits" includes every file.
const offeredFiles = 3

// hunkActions are the actions for one hunk on the lines.
func (d *Desk) hunkActions(session *agentcore.Session, h workspace.Hunk, x *workspace.Index) []menu.Action {
	shown := d.Form.Hunk(h, x)
	one := d.Params(session, nil, h.ID)
	reject := menu.Action{
		Title: "agentls: Reject " + d.Form.What(h) + remark.Because(h.Author.Reason),
		Kind:  protocol.CodeActionKindQuickFix, Diagnostic: &shown, Command: methods.CommandRejectProposal,
		Argument: one,
	}
	if h.State == event.StateOpen {
		return []menu.Action{{
			Title: "agentls: Accept " + d.Form.What(h) + remark.Because(h.Author.Reason),
			Kind:  protocol.CodeActionKindQuickFix, Diagnostic: &shown, Command: methods.CommandAcceptProposal,
			Argument: one, Hunks: []event.HunkID{h.ID},
		}, reject, {
			Title: "agentls: Show the diff of " + d.Form.What(h), Kind: menu.KindProposal,
			Command: methods.CommandDiffProposal, Argument: one,
		}}
	}
	list := []menu.Action{}
	if _, ok := session.Board().Proposal().Sides(h.ID); ok {
		list = append(list, menu.Action{
			Title: "agentls: Show both sides of this conflict", Kind: protocol.CodeActionKindQuickFix,
			Diagnostic: &shown, Command: methods.CommandDiffProposal, Argument: one,
		})
		if d.Client.AppliesEdits() {
			list = append(list, menu.Action{
				Title: "agentls: Replace these lines by the text of " + remark.Agent(h.Author),
				Kind:  protocol.CodeActionKindQuickFix, Diagnostic: &shown, Command: methods.CommandAcceptProposal,
				Argument: methods.AcceptParams{
					Proposal: session.Board().ProposalID(), Hunks: []event.HunkID{h.ID}, Overwrite: true,
				},
			})
		}
	}
	reject.Title = "agentls: Keep these lines and reject the edit of " + remark.Agent(h.Author)
	return append(list, reject)
}

// newFileActions are the actions, in other documents, for a file that an agent proposes to make.
func (d *Desk) newFileActions(session *agentcore.Session, h workspace.Hunk) []menu.Action {
	one := d.Params(session, nil, h.ID)
	return []menu.Action{{
		Title: "agentls: Accept " + d.Form.What(h), Kind: menu.KindProposal,
		Command: methods.CommandAcceptProposal, Argument: one, Hunks: []event.HunkID{h.ID},
	}, {
		Title: "agentls: Reject " + d.Form.What(h), Kind: menu.KindProposal, Command: methods.CommandRejectProposal,
		Argument: one,
	}, {
		Title: "agentls: Show " + d.Form.What(h), Kind: menu.KindProposal, Command: methods.CommandDiffProposal,
		Argument: one,
	}}
}

// Params name hunks of a session's proposal, those of files, or all.
func (d *Desk) Params(session *agentcore.Session, paths []string, hunks ...event.HunkID) methods.ProposalParams {
	p := methods.ProposalParams{Proposal: session.Board().ProposalID(), Hunks: slices.Clone(hunks)}
	for _, path := range paths {
		p.Files = append(p.Files, d.Documents.URI(path))
	}
	return p
}

// Edit is the edit that accepts hunks of a session, nil where they cannot be accepted that way.
func (d *Desk) Edit(session *agentcore.Session, hunks []event.HunkID) *protocol.WorkspaceEdit {
	if session == nil {
		return nil
	}
	edits, failed := session.Board().Proposal().Edits(hunks)
	plan := d.plan(edits)
	if len(failed)+len(plan.refused) > 0 {
		return nil
	}
	return &plan.edit
}

// FindingActions fix the findings on the lines. A finding with an edit is fixed by accepting the edit; for any other,
// an agent can be asked.
func (d *Desk) FindingActions(session *agentcore.Session, path string, x *workspace.Index, first,
	last int,
) []menu.Action {
	var list []menu.Action
	for _, f := range session.Board().Findings(path) {
		if !position.Overlap(f.Span.StartLine, f.Span.EndLine, first, last) {
			continue
		}
		shown := d.Form.Finding(f, x)
		a := menu.Action{
			Title: "agentls: Fix this finding: " + short.Line(f.Message), Kind: protocol.CodeActionKindQuickFix,
			Diagnostic: &shown, Command: methods.CommandFix, Argument: methods.FixParams{Finding: f.ID},
		}
		if hunks := session.Board().Fix(f.ID); len(hunks) > 0 {
			a.Preferred = true
			a.Command, a.Argument = methods.CommandAcceptProposal, d.Params(session, nil, hunks...)
			a.Hunks = hunks
		}
		list = append(list, a)
	}
	return list
}
