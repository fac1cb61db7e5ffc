package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// codeAction answers `textDocument/codeAction`: what agents can do at the place, what was found there, and the edits
// that are proposed for it. What belongs to the place comes first.
func (c *connected) codeAction(ctx context.Context,
	p *protocol.CodeActionParams,
) ([]protocol.CommandOrCodeAction, error) {
	path := document.Path(p.TextDocument.URI)
	var err error
	if p.Range, err = c.documents.Follow(ctx, path, p.Range); err != nil {
		return nil, err
	}
	actions := menu.Nearby(append(c.authored.actions(path, p.Range), c.answers.requestActions(path, p.Range)...))
	session := c.opened()
	if session != nil {
		if x, _, err := c.documents.Text(path); err == nil {
			first, last := position.Touched(p.Range)
			actions = slices.Concat(actions, c.asks.actions(path, x, first),
				menu.Nearby(c.answers.FindingActions(session, path, x, first, last)),
				c.answers.Actions(session, path, x, first, last), c.answers.UndoActions(session, path, x, first, last))
		}
	}
	if conversation.Is(path) {
		return menu.Shown(append(actions, menu.Nearby(c.answers.turnActions(path, p.Range))...), p.Context, c.client,
			func([]event.HunkID) *protocol.WorkspaceEdit { return nil })
	}
	actions = append(actions, menu.Nearby(diagnosticActions(p))...)
	general := slices.Concat(c.board.Stops(path), c.answers.recovery.actions(),
		launchActions(p, c.client, c.answers.delegates(), c.answers.unable()), talkActions(session, c.client))
	if len(p.Context.Only) == 0 && c.asksInMenus() {
		general = menu.Fold(general, menu.Left(actions))
	}
	return menu.Shown(append(actions, general...), p.Context, c.client,
		func(hunks []event.HunkID) *protocol.WorkspaceEdit { return c.answers.Edit(session, hunks) })
}

// asksInMenus reports whether the user can be asked which of several actions to carry out.
func (e *editor) asksInMenus() bool {
	return e.client.ShowsQuestions() || e.client.Announced().Questions
}

// talkActions are about the conversation with agents: a document to talk in, and what can be done about the latest
// prompt once its run has ended. session is nil while there is none.
func talkActions(session *agentcore.Session, c *client.Client) []menu.Action {
	if !c.ShowsDocuments() || !c.AppliesEdits() {
		return nil // nobody could show the document, or write the answer into it
	}
	list := []menu.Action{{
		Title: "agentls: Open conversation", Kind: menu.KindConversation, Command: methods.CommandConversation,
		Argument: methods.ConversationParams{},
	}}
	if session == nil {
		return list
	}
	latest, found := latestPrompt(session.Runs())
	if !found || !latest.Status.Final() {
		return list
	}
	title := "“" + short.Line(latest.Title) + "”"
	return append(list, menu.Action{
		Title: "agentls: Go on talking about " + title, Kind: menu.KindConversation,
		Command: methods.CommandConversation, Argument: methods.ConversationParams{Run: latest.ID},
	}, menu.Action{
		Title: "agentls: Go back to before " + title, Kind: menu.KindConversation, Command: methods.CommandRewind,
		Argument: methods.RewindParams{Run: latest.ID},
	})
}

// latestPrompt is the run of the user's latest prompt that was not gone back behind.
func latestPrompt(runs []history.Run) (latest history.Run, found bool) {
	for _, r := range runs {
		if r.Parent == "" && r.Role != history.RoleHidden && !r.Rewound && (!found || r.Created.After(latest.Created)) {
			latest, found = r, true
		}
	}
	return latest, found
}

// More carries out `agentls.more`: it asks the user which of the actions to carry out, and carries that one out.
func (a answers) More(ctx context.Context, p *methods.MoreParams) (*methods.MoreResult, error) {
	if len(p.Actions) == 0 {
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: "there are no more actions",
			Hint: "ask for the code actions of the place again (textDocument/codeAction)",
		}
	}
	session, err := a.launcher.current(ctx)
	if err != nil {
		return nil, err
	}
	var choices []methods.Choice
	for _, action := range p.Actions {
		choices = append(choices, methods.Choice{Label: menu.Plain(action.Title)})
	}
	label, err := a.launcher.inquire(ctx, session, "What shall an agent do here?", choices)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(choices, func(c methods.Choice) bool { return c.Label == label })
	if at < 0 {
		return &methods.MoreResult{}, nil
	}
	chosen := p.Actions[at]
	if chosen.Command == methods.CommandMore {
		return nil, &fault.Error{
			Kind:   fault.InvalidRequest,
			Detail: fmt.Sprintf("the action %q leads back to the same choice", chosen.Title),
			Hint:   "send back what the server gave to the action “agentls: More…”",
		}
	}
	result, handled, err := methods.DispatchCommand(ctx, a, chosen.Command, []json.RawMessage{chosen.Argument})
	if !handled {
		err = &fault.Error{
			Kind: fault.NotFound, Detail: fmt.Sprintf("there is no command %q", chosen.Command),
			Hint: "the server's commands are in its executeCommandProvider",
		}
	}
	if err != nil {
		return nil, err
	}
	if !a.launcher.client.KnowsProtocol() {
		a.conversations.pages.present(ctx, result)
	}
	started, _ := result.(*methods.RunStarted)
	return &methods.MoreResult{Command: chosen.Command, Started: started}, nil
}
