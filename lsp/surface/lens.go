package surface

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// Lenses answers `textDocument/codeLens`: above each proposed edit, what can be done with it, and above the first line,
// what can be done with all edits of the file, and the launch actions. Each lens has its command, so that none has to
// be resolved. proposal is "" where no session is open.
func (b *Board) Lenses(u uri.URI, proposal event.ProposalID, hunks []workspace.Hunk) ([]protocol.CodeLens, error) {
	if !lensesOn(b.Settings()) {
		return nil, nil
	}
	path := document.Path(u)
	x, _, err := b.Documents.Text(path)
	if err != nil {
		return nil, nil //nolint:nilerr // a document that cannot be read has nothing above its lines
	}
	var lenses []protocol.CodeLens
	var faults error
	add := func(line int, title, command string, argument any) {
		raw, err := json.Marshal(argument)
		if err != nil {
			faults = fmt.Errorf("encode the argument of %s: %w", command, err)
			return
		}
		at := protocol.Position{Line: uint32(line)}
		lenses = append(lenses, protocol.CodeLens{
			Range:   protocol.Range{Start: at, End: at},
			Command: protocol.Command{Title: title, Command: command, Arguments: []protocol.LSPAny{raw}},
		})
	}
	b.statusLenses(path, add)
	hunks = slices.DeleteFunc(slices.Clone(hunks), func(h workspace.Hunk) bool { return h.Path != path || !h.Waits() })
	open := 0
	for _, h := range hunks {
		if h.State == event.StateOpen {
			open++
		}
	}
	if open > 1 {
		file := methods.ProposalParams{Proposal: proposal, Files: []uri.URI{b.Documents.URI(path)}}
		add(0, fmt.Sprintf("Accept all %d edits", open), methods.CommandAcceptProposal, file)
		add(0, "Reject all", methods.CommandRejectProposal, file)
		add(0, "Diff of this file", methods.CommandDiffProposal, file)
	}
	add(0, "Review this file", methods.CommandReview, methods.ReviewParams{URI: u})
	for _, h := range hunks {
		line, _ := remark.Lines(h, x)
		hunkLenses(h, b.Form, methods.ProposalParams{Proposal: proposal, Hunks: []event.HunkID{h.ID}},
			func(title, command string, one any) { add(line, title, command, one) })
	}
	slices.SortStableFunc(lenses,
		func(a, b protocol.CodeLens) int { return int(a.Range.Start.Line) - int(b.Range.Start.Line) })
	return lenses, faults
}

// hunkLenses are the lenses of one hunk, which one names.
func hunkLenses(h workspace.Hunk, form remark.Form, one methods.ProposalParams,
	add func(title, command string, argument any),
) {
	who := remark.Agent(h.Author)
	if h.State == event.StateConflict {
		add("Conflict with "+who+": show both sides", methods.CommandDiffProposal, one)
		add("Keep these lines", methods.CommandRejectProposal, one)
		return
	}
	title := "Accept"
	if h.Create || h.Delete || h.MoveTo != "" {
		title += " " + form.What(h)
	}
	add(title, methods.CommandAcceptProposal, one)
	add("Reject", methods.CommandRejectProposal, one)
	add("Diff ("+who+")", methods.CommandDiffProposal, one)
}
