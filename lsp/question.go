package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/lsp/methods"
)

// questionOf is what an agent wants to know, on the wire.
func questionOf(ask authority.Ask) methods.Question {
	q := methods.Question{
		ID: ask.ID, Session: ask.Session, Run: ask.Run, Agent: ask.Agent, Question: ask.Question.Text,
		Multiple: ask.Question.Multiple, FreeText: true,
	}
	for _, o := range ask.Question.Options {
		q.Choices = append(q.Choices, methods.Choice{Label: o.Label, Description: o.Description})
	}
	return q
}

// askQuestion puts what an agent wants to know to the user, as ask does a question for permission.
func (a *asker) askQuestion(ctx context.Context, ask authority.Ask) (*methods.AnswerAskParams, error) {
	if a.client.Announced().Questions {
		q := questionOf(ask)
		answer, err := a.client.Custom.Question(ctx, &q)
		switch {
		case err == nil && answer != nil:
			return answeredBy(ask, answer.Answers), nil
		case err == nil || ctx.Err() != nil:
			return nil, err
		}
	}
	choices := ask.Choices()
	if len(ask.Question.Options) == 0 {
		return nil, nil // a prompt has no room for the user's own words
	}
	if ask.Question.Multiple {
		return a.askSeveral(ctx, ask)
	}
	var titles []string
	for _, one := range choices {
		titles = append(titles, one.Title)
	}
	title, err := a.client.Choose(ctx, protocol.MessageTypeInfo, "agentls: "+questionText(ask), titles...)
	if err != nil || title == "" {
		return nil, err
	}
	at := slices.Index(titles, title)
	if at < 0 {
		return nil, fmt.Errorf("the editor chose %q, which is none of the answers", title)
	}
	return answeredBy(ask, choices[at].Answer.Chosen), nil
}

// enough ends the choice of several answers.
const enough = "That is all"

// askSeveral has the user choose one answer after the other. A prompt that is closed ends that, too, once there is an
// answer.
func (a *asker) askSeveral(ctx context.Context, ask authority.Ask) (*methods.AnswerAskParams, error) {
	var chosen []string
	for {
		text := "agentls: " + questionText(ask)
		var titles []string
		for _, one := range ask.Choices() {
			if !slices.Contains(chosen, one.Title) && (len(one.Answer.Chosen) > 0 || len(chosen) == 0) {
				titles = append(titles, one.Title)
			}
		}
		if len(chosen) > 0 {
			text += "\nSo far: " + strings.Join(chosen, ", ")
			if len(titles) == 0 {
				return answeredBy(ask, chosen), nil
			}
			titles = append(titles, enough)
		}
		title, err := a.client.Choose(ctx, protocol.MessageTypeInfo, text, titles...)
		switch {
		case err != nil:
			return nil, err
		case title == "" && len(chosen) == 0:
			return nil, nil
		case title == "" || title == enough:
			return answeredBy(ask, chosen), nil
		case !slices.Contains(titles, title):
			return nil, fmt.Errorf("the editor chose %q, which is none of the answers", title)
		case len(chosen) == 0 &&
			!slices.ContainsFunc(ask.Question.Options, func(o tool.Option) bool { return o.Label == title }):
			return answeredBy(ask, nil), nil
		}
		chosen = append(chosen, title)
	}
}

// answeredBy is an answer to what an agent wants to know; no words leave it to the agent.
func answeredBy(ask authority.Ask, words []string) *methods.AnswerAskParams {
	p := &methods.AnswerAskParams{Ask: ask.ID, Decision: methods.DecisionDeny}
	for _, text := range words {
		if text = strings.TrimSpace(text); text != "" {
			p.Answers = append(p.Answers, text)
		}
	}
	if len(p.Answers) > 0 {
		p.Decision = methods.DecisionAllow
	}
	return p
}

// answerHint is the rest of a command that answers an ask.
func answerHint(ask authority.Ask) string {
	if ask.Question != nil {
		return `"decision": "allow", "answers": ["…"]`
	}
	return `"decision": "allow" or "deny"`
}
