package lsp

import (
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// shownLines are the lines at which a hunk is shown, 0-based, both inclusive: its own, the first of the file for what
// happens to the file as a whole, and the last for what is added behind it, where no cursor gets.
func shownLines(h workspace.Hunk, x *workspace.Index) (first, last int) {
	if h.Create || h.Delete || h.MoveTo != "" {
		return 0, 0
	}
	end := max(x.Len()-1, 0)
	first = min(h.StartLine, end)
	return first, min(max(first, h.EndLine-1), end)
}

// proposalActions accept, reject and show the hunks on the lines, in the file, and in all files. What is proposed for
// other files is one action that asks about them; for a client that cannot be asked, each new file has actions of its
// own, since it has no lines that could be touched.
func (s *Server) proposalActions(session *agentcore.Session, path string, x *workspace.Index, first,
	last int,
) []action {
	var list, newFiles []action
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
			if from, to := shownLines(h, x); position.Overlap(from, to, first, last) {
				list = append(list, nearby(s.hunkActions(session, h, x))...)
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
	return append(list, action{
		title: fmt.Sprintf("agentls: %s in %s…", short.Count(len(all)-len(inFile), "proposed edit"),
			short.Count(others, "other file")),
		kind: kindProposal, command: methods.CommandOtherFiles,
		argument: methods.OtherFilesParams{URI: s.documents.URI(path)},
	})
}

// groupActions accept, reject and show several hunks.
func (s *Server) groupActions(p methods.ProposalParams, hunks []event.HunkID, which, where string) []action {
	return []action{{
		title: "agentls: Accept all edits " + which, kind: kindProposal,
		command: methods.CommandAcceptProposal, argument: p, hunks: hunks,
	}, {
		title: "agentls: Reject all edits " + which, kind: kindProposal,
		command: methods.CommandRejectProposal, argument: p,
	}, {
		title: "agentls: Show the proposed diff of " + where, kind: kindProposal,
		command: methods.CommandDiffProposal, argument: p,
	}}
}

// offeredFiles is how many new files have actions of their own in other documents; all of them are among "all edits".
const offeredFiles = 3

// hunkActions are those for one hunk on the lines.
func (s *Server) hunkActions(session *agentcore.Session, h workspace.Hunk, x *workspace.Index) []action {
	d := s.hunkDiagnostic(h, x)
	one := s.proposalParams(session, nil, h.ID)
	reject := action{
		title: "agentls: Reject " + what(s, h) + because(h.Author.Reason), kind: protocol.CodeActionKindQuickFix,
		diagnostic: &d,
		command:    methods.CommandRejectProposal, argument: one,
	}
	if h.State == event.StateOpen {
		return []action{{
			title: "agentls: Accept " + what(s, h) + because(h.Author.Reason), kind: protocol.CodeActionKindQuickFix,
			diagnostic: &d,
			command:    methods.CommandAcceptProposal, argument: one, hunks: []event.HunkID{h.ID},
		}, reject, {
			title: "agentls: Show the diff of " + what(s, h), kind: kindProposal,
			command: methods.CommandDiffProposal, argument: one,
		}}
	}
	list := []action{}
	if _, ok := session.Proposal().Sides(h.ID); ok {
		list = append(list, action{
			title: "agentls: Show both sides of this conflict", kind: protocol.CodeActionKindQuickFix, diagnostic: &d,
			command: methods.CommandDiffProposal, argument: one,
		})
		if s.client.AppliesEdits() {
			list = append(list, action{
				title: "agentls: Replace these lines by the text of " + agentName(h.Author),
				kind:  protocol.CodeActionKindQuickFix, diagnostic: &d,
				command: methods.CommandAcceptProposal,
				argument: methods.AcceptParams{
					Proposal: session.ProposalID(), Hunks: []event.HunkID{h.ID},
					Overwrite: true,
				},
			})
		}
	}
	reject.title = "agentls: Keep these lines and reject the edit of " + agentName(h.Author)
	return append(list, reject)
}

// newFileActions are those for a file that an agent proposes to make, in other documents.
func (s *Server) newFileActions(session *agentcore.Session, h workspace.Hunk) []action {
	one := s.proposalParams(session, nil, h.ID)
	return []action{{
		title: "agentls: Accept " + what(s, h), kind: kindProposal,
		command: methods.CommandAcceptProposal, argument: one, hunks: []event.HunkID{h.ID},
	}, {
		title: "agentls: Reject " + what(s, h), kind: kindProposal, command: methods.CommandRejectProposal,
		argument: one,
	}, {
		title: "agentls: Show " + what(s, h), kind: kindProposal, command: methods.CommandDiffProposal, argument: one,
	}}
}

// what names what a hunk does.
func what(s *Server, h workspace.Hunk) string {
	switch {
	case h.Create:
		return "the new file " + s.view.Shown(h.Path)
	case h.Delete:
		return "the deletion of this file"
	case h.MoveTo != "":
		return "the rename of this file to " + s.view.Shown(h.MoveTo)
	}
	return "this edit"
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
