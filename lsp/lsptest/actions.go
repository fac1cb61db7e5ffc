package lsptest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Command is LSP's.
type Command struct {
	Title     string            `json:"title"`
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
}

// Action is what a code action request offers: LSP's CodeAction, or a Command in its Command member.
type Action struct {
	Title       string          `json:"title"`
	Kind        string          `json:"kind,omitempty"`
	Diagnostics []Diagnostic    `json:"diagnostics,omitempty"`
	IsPreferred *bool           `json:"isPreferred,omitempty"`
	Disabled    json.RawMessage `json:"disabled,omitempty"`
	Edit        json.RawMessage `json:"edit,omitempty"`
	Command     *Command        `json:"command,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`

	bare bool // a Command, not a CodeAction
	raw  json.RawMessage
}

// UnmarshalJSON decodes either form.
func (a *Action) UnmarshalJSON(data []byte) error {
	if c := lookup(data, "command"); len(c) > 0 && c[0] == '"' {
		var command Command
		if err := json.Unmarshal(data, &command); err != nil {
			return err
		}
		*a = Action{Title: command.Title, Command: &command, bare: true, raw: slices.Clone(data)}
		return nil
	}
	type plain Action
	if err := json.Unmarshal(data, (*plain)(a)); err != nil {
		return err
	}
	a.raw = slices.Clone(data)
	return nil
}

type codeActionContext struct {
	Diagnostics []Diagnostic `json:"diagnostics"`
	Only        []string     `json:"only,omitempty"`
	TriggerKind int          `json:"triggerKind,omitempty"`
}

// Actions asks for the code actions at a range of an open document, as the menu of an editor does: with
// the diagnostics that touch the range.
func (s *screen) Actions(ctx context.Context, path string, r Range, only ...string) ([]Action, error) {
	return s.triggered(ctx, invoked, path, r, only)
}

// The triggers of the protocol's CodeActionTriggerKind.
const (
	invoked   = 1
	automatic = 2
)

// triggered asks for the code actions at a range by a trigger: the user's choice of the menu, or the cursor's move.
func (s *screen) triggered(ctx context.Context, trigger int, path string, r Range, only []string) ([]Action, error) {
	s.mu.Lock()
	context := codeActionContext{Diagnostics: []Diagnostic{}, Only: only, TriggerKind: trigger}
	for _, d := range append(slices.Clone(s.foreign[s.URI(path)]), s.diagnostics[s.URI(path)].list...) {
		if !before(d.Range.End, r.Start) && !before(r.End, d.Range.Start) {
			context.Diagnostics = append(context.Diagnostics, d)
		}
	}
	p := s.begin("textDocument/codeAction", struct {
		TextDocument textDocument      `json:"textDocument"`
		Range        Range             `json:"range"`
		Context      codeActionContext `json:"context"`
	}{textDocument{URI: s.URI(path)}, r, context})
	s.mu.Unlock()
	raw, err := p.Wait(ctx)
	if err != nil {
		return nil, err
	}
	var list []Action
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("decode the code actions: %w", err)
	}
	return list, nil
}

func before(a, b Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// RunAction does what choosing a code action in the menu does: it resolves the action if needed, applies its
// edit, then executes its command, and returns the command's result.
func (e *Editor) RunAction(ctx context.Context, a Action) (json.RawMessage, error) {
	if a.Disabled != nil {
		return nil, fmt.Errorf("the action %q is disabled: %s", a.Title, a.Disabled)
	}
	e.mu.Lock()
	resolves := truthy(lookup(e.capabilities, "codeActionProvider.resolveProvider")) &&
		slices.Contains(e.profile.strings("textDocument.codeAction.resolveSupport.properties"), "edit")
	e.mu.Unlock()
	command := a.Command
	if !a.bare && a.Edit == nil && resolves && (a.Command == nil || a.Data != nil) {
		raw, err := e.Call(ctx, "codeAction/resolve", a.raw)
		if err != nil {
			return nil, err
		}
		var resolved Action
		if err := json.Unmarshal(raw, &resolved); err != nil {
			return nil, fmt.Errorf("decode the resolved action: %w", err)
		}
		a.Edit = resolved.Edit
		if !e.profile.CommandOfUnresolvedOnly {
			command = resolved.Command
		}
	}
	if a.Edit != nil {
		e.mu.Lock()
		send, err := e.applyEdit(a.Edit, fmt.Sprintf("the edit of %q", a.Title))
		if err == nil {
			send()
		}
		e.mu.Unlock()
		if err != nil {
			return nil, fmt.Errorf("the edit of %q cannot be applied: %w", a.Title, err)
		}
	}
	if command == nil {
		return nil, nil
	}
	return e.Execute(ctx, command.Command, command.Arguments...)
}
