package lsp

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/asking"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
)

// permits lists the questions for permission and the answers. Its methods may be called from any goroutine.
type permits struct {
	*window
	asks *asker
}

// Asks answers `agent/asks`.
func (m *permits) Asks(ctx context.Context, p *methods.AsksParams) (*methods.AskList, error) {
	engine, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	session := m.opened()
	if p.Session != "" {
		if session, err = engine.Session(p.Session); err != nil {
			asks, err := asking.Stored(ctx, engine.History(), p.Session)
			return &methods.AskList{Asks: asks}, err
		}
	}
	list := &methods.AskList{}
	if session != nil {
		for _, ask := range session.Asks() {
			list.Asks = append(list.Asks, asking.OnWire(ask))
		}
		if err := session.Flush(ctx); err != nil { // what is shown must survive a crash
			return nil, fmt.Errorf("store the questions before listing them: %w", err)
		}
	}
	return list, nil
}

// AnswerAsk answers `agent/ask/answer`.
func (m *permits) AnswerAsk(ctx context.Context, p *methods.AnswerAskParams) error {
	engine, err := m.open(ctx)
	if err != nil {
		return err
	}
	return engine.Others().Explain(ctx, string(p.Ask), m.asks.answer(p))
}

// Grants answers `agent/grants`.
func (m *permits) Grants(ctx context.Context, p *methods.GrantsParams) (*methods.GrantList, error) {
	engine, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	if p.Session != "" {
		if _, err := engine.Session(p.Session); err != nil {
			return nil, engine.Others().Explain(ctx, string(p.Session), err)
		}
	}
	list := &methods.GrantList{}
	for _, g := range engine.Grants(p.Session) {
		if p.Session != "" || m.binds(g) {
			list.Grants = append(list.Grants, listing.Grant(g))
		}
	}
	return list, nil
}

// binds reports whether a grant is about this connection's workspace.
func (m *permits) binds(g permission.Grant) bool {
	if g.Scope != permission.Project {
		return true // a session or run of this process
	}
	return slices.Contains(m.folders(), g.Root)
}

// Revoke answers `agent/revoke`.
func (m *permits) Revoke(ctx context.Context, p *methods.RevokeParams) error {
	engine, err := m.open(ctx)
	if err != nil {
		return err
	}
	return engine.Decisions().Revoke(ctx, event.GrantID(p.Grant))
}

// Explain answers `agent/explain`.
func (m *permits) Explain(ctx context.Context, p *methods.ExplainParams) (*methods.Explanation, error) {
	session, err := m.current(ctx)
	if err != nil {
		return nil, err
	}
	var given instruction.Set
	if p.Run != "" {
		given, err = agentcore.RunInstructions(m.engine, p.Run)
		err = m.engine.Others().Explain(ctx, string(p.Run), err)
	} else {
		var files []string
		if p.URI != "" {
			files = append(files, document.Path(p.URI))
		}
		given, err = session.Instructions(p.Agent, files)
	}
	if err != nil {
		return nil, err
	}
	result := &methods.Explanation{}
	if p.Tool != "" {
		var found permission.Explanation
		if p.Run != "" {
			found, err = m.engine.ExplainRun(p.Run, p.Tool, p.Call)
		} else {
			found, err = session.Explain(p.Agent, p.Tool, p.Call)
		}
		if err != nil {
			return nil, err
		}
		result = listing.Explanation(found)
	}
	result.Instructions = listing.Instructions(given)
	return result, nil
}
