package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// lensesOn says whether the user wants lenses, which is a setting.
func (s *Server) lensesOn() bool {
	c := s.settings.current()
	return c != nil && c.CodeLens
}

// codeLens answers `textDocument/codeLens`: what can be done with each proposed edit above it, and with all of the
// file, and the launch actions, above its first line. Each lens has its command; none has to be resolved.
func (s *Server) codeLens(_ context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	if !s.lensesOn() {
		return nil, nil
	}
	u, path := p.TextDocument.URI, document.Path(p.TextDocument.URI)
	x, _, err := s.documents.Text(path)
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
	s.statusLenses(path, add)
	session := s.opened()
	if session == nil {
		add(0, "Review this file", methods.CommandReview, methods.ReviewParams{URI: u})
		return lenses, faults
	}
	hunks := session.Hunks()
	open := 0
	for _, h := range hunks {
		if h.Path == path && h.State == event.StateOpen {
			open++
		}
	}
	if open > 1 {
		file := s.proposalParams(session, []string{path})
		add(0, fmt.Sprintf("Accept all %d edits", open), methods.CommandAcceptProposal, file)
		add(0, "Reject all", methods.CommandRejectProposal, file)
		add(0, "Diff of this file", methods.CommandDiffProposal, file)
	}
	add(0, "Review this file", methods.CommandReview, methods.ReviewParams{URI: u})
	for _, h := range hunks {
		if h.Path != path || !h.Waits() {
			continue
		}
		line, _ := remark.Lines(h, x)
		one := s.proposalParams(session, nil, h.ID)
		who := remark.Agent(h.Author)
		if h.State == event.StateConflict {
			add(line, "Conflict with "+who+": show both sides", methods.CommandDiffProposal, one)
			add(line, "Keep these lines", methods.CommandRejectProposal, one)
			continue
		}
		title := "Accept"
		if h.Create || h.Delete || h.MoveTo != "" {
			title += " " + s.form.What(h)
		}
		add(line, title, methods.CommandAcceptProposal, one)
		add(line, "Reject", methods.CommandRejectProposal, one)
		add(line, "Diff ("+who+")", methods.CommandDiffProposal, one)
	}
	slices.SortStableFunc(lenses,
		func(a, b protocol.CodeLens) int { return int(a.Range.Start.Line) - int(b.Range.Start.Line) })
	return lenses, faults
}
