package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// codeAction answers `textDocument/codeAction`: what agents can do with the place, what was found there,
// and the edits that are proposed for it.
func (s *Server) codeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	path := document.Path(p.TextDocument.URI)
	var err error
	if p.Range, err = s.documents.Follow(ctx, path, p.Range); err != nil {
		return nil, err
	}
	actions := menu.Nearby(append(s.authoredActions(path, p.Range), s.requestActions(path, p.Range)...))
	if session := s.opened(); session != nil {
		if x, _, err := s.documents.Text(path); err == nil {
			first, last := position.Touched(p.Range)
			actions = append(actions, s.askActions(path, x, first)...)
			actions = append(actions, menu.Nearby(s.findingActions(session, path, x, first, last))...)
			actions = append(actions, s.proposalActions(session, path, x, first, last)...)
			actions = append(actions, s.undoActions(session, path, x, first, last)...)
		}
	}
	actions = append(actions, menu.Nearby(s.diagnosticActions(p))...)
	actions = append(actions, s.launchActions(p)...)
	actions = append(actions, s.agentActions(p)...)
	actions = append(actions, s.board.Stops(path)...)
	actions = append(actions, s.recovery.actions()...)
	return menu.Shown(actions, p.Context, s.client, s.acceptingEdit)
}

// acceptingEdit is the edit that accepts hunks, nil where they cannot be accepted that way.
func (s *Server) acceptingEdit(hunks []event.HunkID) *protocol.WorkspaceEdit {
	session := s.opened()
	if session == nil {
		return nil
	}
	edits, failed := session.Proposal().Edits(hunks)
	plan := s.workspaceEdit(edits)
	if len(failed)+len(plan.refused) > 0 {
		return nil
	}
	return &plan.edit
}

// findingActions are the fixes of the findings on the lines. A finding that came with an edit is fixed by
// accepting it; for any other an agent can be asked.
func (s *Server) findingActions(session *agentcore.Session, path string, x *workspace.Index, first,
	last int,
) []menu.Action {
	var list []menu.Action
	for _, f := range session.Findings(path) {
		if !position.Overlap(f.Span.StartLine, f.Span.EndLine, first, last) {
			continue
		}
		d := s.form.Finding(f, x)
		a := menu.Action{
			Title: "agentls: Fix this finding: " + short.Line(f.Message), Kind: protocol.CodeActionKindQuickFix,
			Diagnostic: &d,
			Command:    methods.CommandFix, Argument: methods.FixParams{Finding: f.ID},
		}
		if hunks := session.Fix(f.ID); len(hunks) > 0 {
			a.Preferred = true
			a.Command, a.Argument = methods.CommandAcceptProposal, s.proposalParams(session, nil, hunks...)
			a.Hunks = hunks
		}
		list = append(list, a)
	}
	return list
}
