// Package menu has the entries of the editor's menu of code actions, and gives them the form that the editor takes.
// Other packages offer these entries.
package menu

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/methods"
)

// The kinds of our code actions. An action that starts an agent has a kind below KindAgent, so that no editor runs it
// by itself on save, as editors may do with kinds below "source".
const (
	KindAgent        protocol.CodeActionKind = "agentls"
	KindReview                               = KindAgent + ".review"
	KindExplain                              = KindAgent + ".explain"
	KindTests                                = KindAgent + ".tests"
	KindPlan                                 = KindAgent + ".plan"
	KindDelegate                             = KindAgent + ".delegate"
	KindRequest                              = KindAgent + ".request"
	KindRun                                  = KindAgent + ".run"
	KindProposal                             = KindAgent + ".proposal"
	KindStop                                 = KindAgent + ".stop"
	KindConversation                         = KindAgent + ".conversation"
	// KindUndo is the kind of the actions that take accepted edits back. They are in the menu at the lines of these
	// edits. They are no quick fixes, since accepted lines would then have a light bulb for ever.
	KindUndo = KindAgent + ".undo"
)

// Action is one thing to offer, before it takes the form that the client understands.
type Action struct {
	Title string
	Kind  protocol.CodeActionKind
	// Command is carried out with Argument, which is one of package methods.
	Command    string
	Argument   any
	Diagnostic *protocol.Diagnostic
	Preferred  bool
	// Hunks are the hunks that the action accepts. A client to which the server cannot send edits gets them inside the
	// action.
	Hunks []event.HunkID
	// Edit is done in place of a command.
	Edit *protocol.WorkspaceEdit
	// Near says that the action belongs to exactly these lines. All other actions are offered only when the user asks
	// for the menu: an editor asks by itself each time the cursor moves, and shows a light bulb at the line if anything
	// is offered.
	Near bool
	// Disabled says why the action cannot be chosen now; it is empty if the action can be chosen. Only some clients
	// show such actions.
	Disabled string
}

// Nearby marks actions as belonging to exactly these lines.
func Nearby(list []Action) []Action {
	for i := range list {
		list[i].Near = true
	}
	return list
}

// Shown are the actions that the client asked for, in the form that it takes. edit is the edit that accepts hunks, nil
// if they cannot be accepted by an edit.
func Shown(list []Action, asked protocol.CodeActionContext, c *client.Client,
	edit func([]event.HunkID) *protocol.WorkspaceEdit,
) ([]protocol.CommandOrCodeAction, error) {
	answer := []protocol.CommandOrCodeAction{}
	for _, a := range list {
		automatic := asked.TriggerKind == protocol.CodeActionTriggerKindAutomatic
		if automatic && !a.Near || !wanted(a.Kind, asked.Only) {
			continue
		}
		shown, err := a.shown(c, edit)
		if err != nil {
			return nil, err
		}
		if shown != nil {
			answer = append(answer, shown)
		}
	}
	return answer, nil
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

// shown gives an action the form that the client takes; it is nil if the client cannot carry the action out.
func (a Action) shown(c *client.Client,
	edit func([]event.HunkID) *protocol.WorkspaceEdit,
) (protocol.CommandOrCodeAction, error) {
	if a.Edit != nil && !c.TakesCodeActions() || a.Disabled != "" && !c.ShowsDisabled() {
		return nil, nil
	}
	if a.Disabled != "" {
		return &protocol.CodeAction{
			Title: a.Title, Kind: &a.Kind, Disabled: protocol.CodeActionDisabled{Reason: a.Disabled},
		}, nil
	}
	shown := &protocol.CodeAction{Title: a.Title, Kind: &a.Kind, Edit: a.Edit}
	inside := len(a.Hunks) > 0 && !c.AppliesEdits()
	if a.Edit == nil {
		argument, err := json.Marshal(a.Argument)
		if err != nil {
			return nil, fmt.Errorf("encode the argument of %s: %w", a.Command, err)
		}
		shown.Command = protocol.Command{Title: a.Title, Command: a.Command, Arguments: []protocol.LSPAny{argument}}
	}
	if !c.TakesCodeActions() {
		if inside {
			return nil, nil // the server cannot send this client an edit
		}
		return &shown.Command, nil
	}
	if a.Diagnostic != nil {
		shown.Diagnostics = []protocol.Diagnostic{*a.Diagnostic}
	}
	if a.Preferred && client.Yes(c.CodeAction().IsPreferredSupport) {
		shown.IsPreferred = new(true)
	}
	if inside {
		if shown.Edit = edit(a.Hunks); shown.Edit == nil {
			return nil, nil
		}
		shown.Command = protocol.Command{}
	}
	return shown, nil
}

// A menu has most actions at a place that has none of its own. Of the general ones it always has least, the one for the
// rest included.
const (
	most  = 8
	least = 4
)

// Left is how many general actions the menu has room for beside these. Where some belong to exactly these lines, none
// takes room from the general ones: the user who opens the menu there looks for more than the usual.
func Left(list []Action) int {
	if slices.ContainsFunc(list, func(a Action) bool { return a.Near }) {
		return most
	}
	return max(most-len(list), least)
}

// prefix stands in front of the titles of our actions, which stand beside those of other servers in menus.
const prefix = "agentls: "

// Plain is a title without what tells it from other servers'.
func Plain(title string) string { return strings.TrimPrefix(title, prefix) }

// Fold leaves at most room actions: the first ones, and one that asks the user for the rest.
func Fold(list []Action, room int) []Action {
	if len(list) <= room {
		return list
	}
	var more methods.MoreParams
	kept := slices.Clone(list[:room-1])
	for _, a := range list[room-1:] {
		argument, err := json.Marshal(a.Argument)
		if err != nil || a.Disabled != "" || a.Edit != nil {
			kept = append(kept, a) // it says itself what is wrong, or cannot be chosen by a command
			continue
		}
		more.Actions = append(more.Actions, methods.MoreAction{Title: a.Title, Command: a.Command, Argument: argument})
	}
	if len(more.Actions) == 0 {
		return kept
	}
	return append(kept, Action{
		Title: prefix + "More…", Kind: KindAgent, Command: methods.CommandMore, Argument: more,
	})
}
