// Package asking puts the open questions of runs into words, and before the user: those for permission, and those that
// agents ask to know something. Values in, values out; which question is asked when, and where else it is shown, is the
// server's to say.
package asking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/methods"
)

// OnWire is an ask as the custom protocol has it.
func OnWire(ask authority.Ask) methods.Ask {
	var q *methods.Question
	if ask.Question != nil {
		q = new(questionOf(ask))
	}
	return methods.Ask{
		ID: ask.ID, Session: ask.Session, Run: ask.Run, Agent: ask.Agent, Tool: ask.Tool, Title: ask.Title,
		Detail: ask.Detail, Always: ask.Longer, Created: ask.Created, Expires: ask.Expires, Question: q,
	}
}

// questionOf is what an agent wants to know, as the custom protocol has it.
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

// Stored are the open asks of a session that is not open here. It reads the store.
func Stored(ctx context.Context, stored *history.Reader, id event.SessionID) ([]methods.Ask, error) {
	asks, err := stored.Asks(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []methods.Ask
	for _, a := range asks {
		list = append(list, methods.Ask{
			ID: a.ID, Session: id, Run: a.Run, Agent: a.Agent, Tool: a.Tool, Title: a.Title, Created: a.Opened,
			Expires: a.Deadline,
		})
	}
	return list, nil
}

// maxDetail bounds what a prompt shows of a call, in characters.
const maxDetail = 2000

// Text is an ask as a person reads it: what is asked for, the whole of it, and what an answer for longer would allow.
func Text(ask authority.Ask) string {
	parts := []string{cut(ask.Title, maxDetail)}
	if ask.Detail != "" {
		parts = append(parts, cut(ask.Detail, maxDetail))
	}
	if len(ask.Always) > 0 {
		parts = append(parts, "“Always allow” would allow "+cut(ask.Longer, maxDetail))
	}
	return strings.Join(parts, "\n")
}

// cut takes the middle out of a text of more than limit characters, and says so.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	half := limit / 2
	return string(runes[:half]) + fmt.Sprintf(" […%d characters left out; agent/asks has them…] ", len(runes)-2*half) +
		string(runes[len(runes)-half:])
}

// Hint is the rest of a command that answers an ask.
func Hint(ask authority.Ask) string {
	if ask.Question != nil {
		return `"decision": "allow", "answers": ["…"]`
	}
	return `"decision": "allow" or "deny"`
}

// Chosen is the answer to an ask by one of its choices.
func Chosen(ask authority.Ask, c authority.AskChoice) methods.AnswerAskParams {
	answer := methods.AnswerAskParams{
		Ask: ask.ID, Decision: methods.DecisionDeny, Scope: methods.Scope(c.Answer.Scope), Answers: c.Answer.Chosen,
	}
	if c.Answer.Allow {
		answer.Decision = methods.DecisionAllow
	}
	return answer
}

// Prompt asks the user, in the editor's own way where it has one, and waits until the user has decided or ctx ends,
// which takes the prompt back. The answer is nil where the user closed the prompt or the editor can ask nobody, of
// which the error says why.
func Prompt(ctx context.Context, c *client.Client, ask authority.Ask) (*methods.AnswerAskParams, error) {
	if answer, over, err := ownWay(ctx, c, ask); over {
		return answer, err
	}
	if q := ask.Question; q != nil {
		switch {
		case len(q.Options) == 0:
			return nil, nil // a prompt has no room for the user's own words
		case q.Multiple:
			return several(ctx, c, ask)
		}
	}
	choices := ask.Choices()
	var titles []string
	for _, one := range choices {
		titles = append(titles, one.Title)
	}
	// It is a person who answers: the bound of other requests does not hold, but that of the question.
	title, err := c.Choose(ctx, protocol.MessageTypeInfo, "agentls: "+Text(ask), titles...)
	if err != nil || title == "" {
		return nil, err
	}
	at := slices.Index(titles, title)
	switch {
	case at < 0:
		return nil, fmt.Errorf("the editor answered %q, which is not one of the choices", title)
	case ask.Question != nil:
		return answeredBy(ask, choices[at].Answer.Chosen), nil
	}
	return new(Chosen(ask, choices[at])), nil
}

// ownWay asks by the custom method of the editor. It is not over where the editor has none, or failed to ask.
func ownWay(ctx context.Context, c *client.Client, ask authority.Ask) (
	answer *methods.AnswerAskParams, over bool, err error,
) {
	switch can := c.Announced(); {
	case ask.Question != nil && can.Questions:
		q, failed := c.Custom.Question(ctx, new(questionOf(ask)))
		if err = failed; q != nil {
			answer = answeredBy(ask, q.Answers)
		}
	case ask.Question == nil && can.Asks:
		a, failed := c.Custom.Ask(ctx, new(OnWire(ask)))
		if err = failed; a != nil {
			answer = &methods.AnswerAskParams{Ask: ask.ID, Decision: a.Decision, Scope: a.Scope, Expires: a.Expires}
		}
	default:
		return nil, false, nil
	}
	return answer, err == nil || ctx.Err() != nil, err
}

// enough ends the choice of several answers.
const enough = "That is all"

// several has the user choose one answer after the other. A prompt that the user closes ends the choice, too, once
// there is an answer.
func several(ctx context.Context, c *client.Client, ask authority.Ask) (*methods.AnswerAskParams, error) {
	var chosen []string
	for {
		text := "agentls: " + Text(ask)
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
		title, err := c.Choose(ctx, protocol.MessageTypeInfo, text, titles...)
		switch {
		case err != nil:
			return nil, err
		case title == "" && len(chosen) == 0:
			return nil, nil
		case title == "" || title == enough:
			return answeredBy(ask, chosen), nil
		case !slices.Contains(titles, title):
			return nil, fmt.Errorf("the editor answered %q, which is not one of the choices", title)
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
