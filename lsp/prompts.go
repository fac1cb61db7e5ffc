package lsp

import (
	"context"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
)

// Prompts answers `agent/prompts`.
func (l *launcher) Prompts(ctx context.Context, p *methods.PromptsParams) (*methods.PromptList, error) {
	session, err := l.sessionOf(ctx, p.Session)
	if err != nil {
		return nil, err
	}
	set, err := agentcore.Prompts(ctx, session)
	if err != nil {
		return nil, err
	}
	list := &methods.PromptList{}
	for _, one := range set.List() {
		list.Prompts = append(list.Prompts, listing.Prompt(one))
	}
	return list, nil
}

// Expand answers `agent/expand`.
func (l *launcher) Expand(ctx context.Context, p *methods.ExpandParams) (*methods.Expansion, error) {
	request := agentcore.RunRequest{Agent: p.Agent, Prompt: p.Prompt}
	if err := l.point(ctx, p.Context, &request); err != nil {
		return nil, err
	}
	session, err := l.sessionOf(ctx, p.Session)
	if err != nil {
		return nil, err
	}
	x, err := agentcore.Expand(ctx, session, request)
	if err != nil {
		return nil, err
	}
	return listing.Expansion(x), nil
}
