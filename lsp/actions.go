package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// The kinds of our code actions. What launches an agent has kinds of its own, below kindAgent, so that
// no editor runs it by itself on save as it may do with "source" actions.
const (
	kindAgent    protocol.CodeActionKind = "agentls"
	kindReview                           = kindAgent + ".review"
	kindExplain                          = kindAgent + ".explain"
	kindTests                            = kindAgent + ".tests"
	kindPlan                             = kindAgent + ".plan"
	kindDelegate                         = kindAgent + ".delegate"
	kindRequest                          = kindAgent + ".request"
	kindRun                              = kindAgent + ".run"
	kindProposal                         = kindAgent + ".proposal"
	kindStop                             = kindAgent + ".stop"
)

// action is one thing to offer, before it takes the form that the client understands.
type action struct {
	title      string
	kind       protocol.CodeActionKind
	command    string
	argument   any
	diagnostic *protocol.Diagnostic
	preferred  bool
	// hunks are those that the action accepts. A client that cannot be sent edits gets them inside the
	// action.
	hunks []event.HunkID
	// edit is done instead of a command.
	edit *protocol.WorkspaceEdit
	// near says that the action belongs to the very lines. All others are offered only to a user who asks for the menu:
	// an editor asks by itself at every move of the cursor, and shows a light bulb at the line where anything is
	// offered.
	near bool
	// disabled says why the action cannot be chosen now; empty where it can. It is shown only by clients that show such
	// actions.
	disabled string
}

// codeAction answers `textDocument/codeAction`: what agents can do with the place, what was found there,
// and the edits that are proposed for it.
func (s *Server) codeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	path := document.Path(p.TextDocument.URI)
	var err error
	if p.Range, err = s.documents.Follow(ctx, path, p.Range); err != nil {
		return nil, err
	}
	actions := nearby(append(s.authoredActions(path, p.Range), s.requestActions(path, p.Range)...))
	if session := s.opened(); session != nil {
		if x, _, err := s.documents.Text(path); err == nil {
			first, last := position.Touched(p.Range)
			actions = append(actions, s.askActions(path, x, first)...)
			actions = append(actions, nearby(s.findingActions(session, path, x, first, last))...)
			actions = append(actions, s.proposalActions(session, path, x, first, last)...)
			actions = append(actions, s.undoActions(session, path, x, first, last)...)
		}
	}
	actions = append(actions, nearby(s.diagnosticActions(p))...)
	actions = append(actions, s.launchActions(p)...)
	actions = append(actions, s.agentActions(p)...)
	actions = append(actions, s.stopActions(path)...)
	actions = append(actions, s.recovery.actions()...)
	answer := []protocol.CommandOrCodeAction{}
	for _, a := range actions {
		automatic := p.Context.TriggerKind == protocol.CodeActionTriggerKindAutomatic
		if automatic && !a.near || !wanted(a.kind, p.Context.Only) {
			continue
		}
		shown, err := s.codeActionOf(a)
		if err != nil {
			return nil, err
		}
		if shown != nil {
			answer = append(answer, shown)
		}
	}
	return answer, nil
}

// nearby marks actions as those of the very lines.
func nearby(list []action) []action {
	for i := range list {
		list[i].near = true
	}
	return list
}

// wanted reports whether a kind is one of those asked for, or below one of them.
func wanted(kind protocol.CodeActionKind, only []protocol.CodeActionKind) bool {
	if len(only) == 0 {
		return true
	}
	for _, o := range only {
		if o == "" || kind == o || strings.HasPrefix(string(kind), string(o)+".") {
			return true
		}
	}
	return false
}

// findingActions are the fixes of the findings on the lines. A finding that came with an edit is fixed by
// accepting it; for any other an agent can be asked.
func (s *Server) findingActions(session *agentcore.Session, path string, x *workspace.Index, first, last int) []action {
	var list []action
	for _, f := range session.Findings(path) {
		if !position.Overlap(f.Span.StartLine, f.Span.EndLine, first, last) {
			continue
		}
		d := s.findingDiagnostic(f, x)
		a := action{
			title: "agentls: Fix this finding: " + short.Line(f.Message), kind: protocol.CodeActionKindQuickFix,
			diagnostic: &d,
			command:    methods.CommandFix, argument: methods.FixParams{Finding: f.ID},
		}
		if hunks := session.Fix(f.ID); len(hunks) > 0 {
			a.preferred = true
			a.command, a.argument = methods.CommandAcceptProposal, s.proposalParams(session, nil, hunks...)
			a.hunks = hunks
		}
		list = append(list, a)
	}
	return list
}

// codeActionOf gives an action the form that the client takes; nil for one that it cannot carry out.
func (s *Server) codeActionOf(a action) (protocol.CommandOrCodeAction, error) {
	if a.edit != nil {
		return s.editActionOf(a), nil
	}
	argument, err := json.Marshal(a.argument)
	if err != nil {
		return nil, fmt.Errorf("encode the argument of %s: %w", a.command, err)
	}
	command := protocol.Command{Title: a.title, Command: a.command, Arguments: []protocol.LSPAny{argument}}
	if a.disabled != "" {
		return s.disabledAction(a), nil
	}
	if !s.client.TakesCodeActions() {
		if len(a.hunks) > 0 && !s.client.AppliesEdits() {
			return nil, nil // an edit reaches such a client in no way
		}
		return &command, nil
	}
	shown := &protocol.CodeAction{Title: a.title, Kind: &a.kind, Command: command}
	if a.diagnostic != nil {
		shown.Diagnostics = []protocol.Diagnostic{*a.diagnostic}
	}
	if a.preferred && client.Yes(s.client.CodeAction().IsPreferredSupport) {
		shown.IsPreferred = new(true)
	}
	if session := s.opened(); session != nil && len(a.hunks) > 0 && !s.client.AppliesEdits() {
		edits, failed := session.Proposal().Edits(a.hunks)
		plan := s.workspaceEdit(edits)
		if len(failed)+len(plan.refused) > 0 {
			return nil, nil
		}
		shown.Command, shown.Edit = protocol.Command{}, &plan.edit
	}
	return shown, nil
}

// disabledAction is an action that cannot be chosen now, for a client that shows those; nil for any other.
func (s *Server) disabledAction(a action) protocol.CommandOrCodeAction {
	if !s.client.ShowsDisabled() {
		return nil
	}
	return &protocol.CodeAction{
		Title: a.title, Kind: &a.kind,
		Disabled: protocol.CodeActionDisabled{Reason: a.disabled},
	}
}
