package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// permission asks the client's user to choose. It returns the id of the option, "" where the user chose none.
func (s *session) permission(ctx context.Context, c toolCall, options []protocol.PermissionOption) (string, error) {
	var answer permissionResult
	err := s.agent.call(ctx, "session/request_permission", permissionParams{s.id, c, options}, &answer)
	if err != nil || answer.Outcome.Outcome != "selected" {
		return "", err
	}
	id := answer.Outcome.Option
	if !slices.ContainsFunc(options, func(o protocol.PermissionOption) bool { return o.ID == id }) {
		return "", fmt.Errorf("the editor answered with the option %q, which there is not", id)
	}
	return id, nil
}

// asked puts a question of a run of this turn before the user, on a goroutine of its own.
func (t *turn) asked(id event.AskID) {
	open := t.engine.Asks()
	at := slices.IndexFunc(open, func(a authority.Ask) bool { return a.ID == id })
	if at < 0 {
		return // it is over
	}
	ask := open[at]
	ctx, cancel := context.WithCancel(t.ctx)
	if t.questions == nil {
		t.questions = map[event.AskID]context.CancelFunc{}
	}
	t.questions[id] = cancel
	c := t.callAsked(ask)
	if !t.calls.shown[c.ID] { // the client shows it from now on
		if t.calls.shown == nil {
			t.calls.shown, t.calls.edits = map[string]bool{}, map[string]string{}
		}
		t.calls.shown[c.ID] = true
	}
	t.asks.Go(func() {
		defer cancel()
		answer, err := t.answer(ctx, ask, c)
		if ctx.Err() != nil {
			return // somebody else has answered it, or the turn was cancelled
		}
		if err != nil {
			answer = authority.Answer{Reason: "the user could not be asked: " + err.Error()}
		}
		_ = t.project.Engine.Answer(ask.ID, answer) // an error says that it is over
	})
}

// resolved ends the question where somebody else, or its time, has answered it.
func (t *turn) resolved(id event.AskID) {
	if cancel := t.questions[id]; cancel != nil {
		cancel()
		delete(t.questions, id)
	}
}

// callAsked is the call that a question is about.
func (t *turn) callAsked(ask authority.Ask) toolCall {
	c := toolCall{
		ID: string(ask.ID), Title: ask.Title, Kind: kindOf(ask.Tool), Name: ask.Tool, Status: statusPending,
	}
	rows, err := t.project.Engine.History().Asks(t.reading(), t.engine.ID)
	if err == nil {
		for _, row := range rows {
			if row.ID == ask.ID && row.Call != "" {
				c.ID = string(row.Call)
				c.Input = row.Arguments
			}
		}
	}
	detail := ask.Detail
	if ask.Plan != "" {
		if plan, err := os.ReadFile(ask.Plan); err == nil {
			detail = string(plan)
		}
	}
	if ask.Reason != "" && ask.Question == nil {
		detail = strings.TrimSpace(detail + "\n\n" + ask.Reason)
	}
	if detail != "" {
		c.Content = words(detail)
	}
	return c
}

// answer has the user answer a question.
func (t *turn) answer(ctx context.Context, ask authority.Ask, c toolCall) (authority.Answer, error) {
	q := ask.Question
	forms := t.agent.client.Elicitation
	switch {
	case q != nil && forms != nil && forms.Form != nil:
		return t.form(ctx, ask, c)
	case q != nil && len(q.Options) == 0:
		t.tell("\n\n" + cmp.Or(q.Text, ask.Title) + "\n\n")
		return authority.Answer{
			Reason: "the editor has no form for an answer in words; the user sees the question, so end your turn, and " +
				"the next prompt answers it",
		}, nil
	}
	choices := ask.Choices()
	var options []protocol.PermissionOption
	answers := map[string]authority.Answer{}
	for _, choice := range choices {
		o := optionOf(ask, choice)
		answers[o.ID] = choice.Answer
		options = append(options, o)
	}
	id, err := t.permission(ctx, c, options)
	if err != nil {
		return authority.Answer{}, err
	}
	if id == "" {
		return authority.Answer{Reason: "the user closed the question"}, nil
	}
	return answers[id], nil
}

// optionOf is a choice as the client shows it, under an id that says what it does.
func optionOf(ask authority.Ask, choice authority.AskChoice) protocol.PermissionOption {
	o := protocol.PermissionOption{Name: choice.Title, Kind: protocol.AllowOnce}
	switch a := choice.Answer; {
	case len(a.Chosen) > 0:
		o.ID = "answer:" + strings.Join(a.Chosen, "; ")
	case !a.Allow:
		o.ID, o.Kind = "deny", protocol.RejectOnce
	case a.Scope == permission.Once || a.Scope == "":
		o.ID = "allow_once"
	default:
		o.ID, o.Kind = "allow_"+string(a.Scope), protocol.AllowAlways
		if ask.Longer != "" {
			o.Name += ": " + ask.Longer
		}
	}
	return o
}

// The members of a form.
const (
	formAnswer = "answer"
	formWords  = "words"
)

// form has the user answer what an agent wants to know by a form.
func (t *turn) form(ctx context.Context, ask authority.Ask, c toolCall) (authority.Answer, error) {
	schema, err := formOf(ask.Question)
	if err != nil {
		return authority.Answer{}, err
	}
	var reply elicitationResult
	err = t.agent.call(ctx, "elicitation/create", elicitationParams{
		Mode: "form", Session: t.id, Call: c.ID, Message: cmp.Or(ask.Question.Text, ask.Title), Schema: schema,
	}, &reply)
	if err != nil {
		return authority.Answer{}, err
	}
	if reply.Action != "accept" {
		return authority.Answer{Reason: "the user did not want to answer"}, nil
	}
	var chosen []string
	for _, member := range []string{formAnswer, formWords} {
		raw := reply.Content[member]
		var one string
		var several []string
		if json.Unmarshal(raw, &one) == nil {
			several = []string{one}
		} else if json.Unmarshal(raw, &several) != nil {
			continue
		}
		for _, text := range several {
			if text = strings.TrimSpace(text); text != "" {
				chosen = append(chosen, text)
			}
		}
	}
	if len(chosen) == 0 {
		return authority.Answer{Reason: "the user leaves it to you"}, nil
	}
	return authority.Answer{Allow: true, Chosen: chosen}, nil
}

// formOf is a form for a question: a choice where there is one, and the user's own words.
func formOf(q *tool.Question) (json.RawMessage, error) {
	type option struct {
		Const       string `json:"const"`
		Title       string `json:"title"`
		Description string `json:"description,omitempty"`
	}
	type items struct {
		AnyOf []option `json:"anyOf"`
	}
	type property struct {
		Type  string   `json:"type"`
		Title string   `json:"title"`
		OneOf []option `json:"oneOf,omitempty"`
		Items *items   `json:"items,omitempty"`
	}
	properties := map[string]property{}
	own := "Your answer"
	if len(q.Options) > 0 {
		var options []option
		for _, o := range q.Options {
			options = append(options, option{o.Label, o.Label, o.Description})
		}
		title := cmp.Or(q.Header, "Answer")
		properties[formAnswer] = property{Type: "string", Title: title, OneOf: options}
		if q.Multiple {
			properties[formAnswer] = property{Type: "array", Title: title, Items: &items{options}}
		}
		own = "Or in your own words"
	}
	if len(q.Options) == 0 || !q.Closed {
		properties[formWords] = property{Type: "string", Title: own}
	}
	schema, err := json.Marshal(struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
	}{"object", properties})
	if err != nil {
		return nil, errors.New("the question cannot be made a form: " + err.Error())
	}
	return schema, nil
}
