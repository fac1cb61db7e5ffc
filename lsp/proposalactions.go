package lsp

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

// proposalActions accept, reject and show the hunks on the lines, in the file, and in all files. What is proposed for
// other files is one action that asks about them; for a client that cannot be asked, each new file has actions of its
// own, since it has no lines that could be touched.
func (s *Server) proposalActions(session *agentcore.Session, path string, x *workspace.Index, first,
	last int,
) []menu.Action {
	var list, newFiles []menu.Action
	var inFile, all []event.HunkID
	asks := s.asksAboutFiles()
	files := map[string]bool{}
	for _, h := range session.Hunks() {
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
				list = append(list, menu.Nearby(s.hunkActions(session, h, x))...)
			}
		case h.Create && open && !asks && len(newFiles) < 3*offeredFiles:
			newFiles = append(newFiles, s.newFileActions(session, h)...)
		}
	}
	list = append(list, newFiles...)
	if len(inFile) > 0 {
		list = append(list, s.groupActions(s.proposalParams(session, []string{path}), inFile,
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
	whole := s.groupActions(s.proposalParams(session, nil), all, count, "all files")
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
		Argument: methods.OtherFilesParams{URI: s.documents.URI(path)},
	})
}

// groupActions accept, reject and show several hunks.
func (s *Server) groupActions(p methods.ProposalParams, hunks []event.HunkID, which, where string) []menu.Action {
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

// offeredFiles is how many new files have actions of their own in other documents; all of them are among "all edits".
const offeredFiles = 3

// hunkActions are those for one hunk on the lines.
func (s *Server) hunkActions(session *agentcore.Session, h workspace.Hunk, x *workspace.Index) []menu.Action {
	d := s.form.Hunk(h, x)
	one := s.proposalParams(session, nil, h.ID)
	reject := menu.Action{
		Title:      "agentls: Reject " + s.form.What(h) + remark.Because(h.Author.Reason),
		Kind:       protocol.CodeActionKindQuickFix,
		Diagnostic: &d,
		Command:    methods.CommandRejectProposal, Argument: one,
	}
	if h.State == event.StateOpen {
		return []menu.Action{{
			Title:      "agentls: Accept " + s.form.What(h) + remark.Because(h.Author.Reason),
			Kind:       protocol.CodeActionKindQuickFix,
			Diagnostic: &d,
			Command:    methods.CommandAcceptProposal, Argument: one, Hunks: []event.HunkID{h.ID},
		}, reject, {
			Title: "agentls: Show the diff of " + s.form.What(h), Kind: menu.KindProposal,
			Command: methods.CommandDiffProposal, Argument: one,
		}}
	}
	list := []menu.Action{}
	if _, ok := session.Proposal().Sides(h.ID); ok {
		list = append(list, menu.Action{
			Title: "agentls: Show both sides of this conflict", Kind: protocol.CodeActionKindQuickFix, Diagnostic: &d,
			Command: methods.CommandDiffProposal, Argument: one,
		})
		if s.client.AppliesEdits() {
			list = append(list, menu.Action{
				Title: "agentls: Replace these lines by the text of " + remark.Agent(h.Author),
				Kind:  protocol.CodeActionKindQuickFix, Diagnostic: &d,
				Command: methods.CommandAcceptProposal,
				Argument: methods.AcceptParams{
					Proposal: session.ProposalID(), Hunks: []event.HunkID{h.ID},
					Overwrite: true,
				},
			})
		}
	}
	reject.Title = "agentls: Keep these lines and reject the edit of " + remark.Agent(h.Author)
	return append(list, reject)
}

// newFileActions are those for a file that an agent proposes to make, in other documents.
func (s *Server) newFileActions(session *agentcore.Session, h workspace.Hunk) []menu.Action {
	one := s.proposalParams(session, nil, h.ID)
	return []menu.Action{{
		Title: "agentls: Accept " + s.form.What(h), Kind: menu.KindProposal,
		Command: methods.CommandAcceptProposal, Argument: one, Hunks: []event.HunkID{h.ID},
	}, {
		Title: "agentls: Reject " + s.form.What(h), Kind: menu.KindProposal, Command: methods.CommandRejectProposal,
		Argument: one,
	}, {
		Title: "agentls: Show " + s.form.What(h), Kind: menu.KindProposal, Command: methods.CommandDiffProposal,
		Argument: one,
	}}
}

func (s *Server) proposalParams(session *agentcore.Session, paths []string,
	hunks ...event.HunkID,
) methods.ProposalParams {
	p := methods.ProposalParams{Proposal: session.ProposalID(), Hunks: slices.Clone(hunks)}
	for _, path := range paths {
		p.Files = append(p.Files, s.documents.URI(path))
	}
	return p
}
