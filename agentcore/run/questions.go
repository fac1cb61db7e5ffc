package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// questions are how a run asks the user. Its methods may be called from any goroutine of the run.
type questions struct {
	outlet
	ctx       context.Context // the run's
	session   event.SessionID
	asks      *authority.Asks
	decisions *authority.Decisions
	view      *workspace.View
	agents    string        // the run's, behind those above it
	about     string        // the file that the run is about; empty for none
	timeout   time.Duration // how long the user may take; 0 for ever
	// mayAsk reports whether somebody may be asked about calls of a tool.
	mayAsk func(tool.Spec) bool
	// pause stops the clocks while the run waits for the reason, until resume is called.
	pause func(reason string) (resume func())
}

// askUser asks for one call, and waits until somebody answers, the time for it is over, or the run ends. The
// error is that of the run's context.
func (q *questions) askUser(c *call, decision permission.Decision, detail string) (authority.Answer, error) {
	if !q.mayAsk(c.spec) {
		return authority.Answer{Reason: "the user is not asked about a subagent's calls (subagent_ask = \"deny\")"}, nil
	}
	c.line.leave()
	title := c.title
	if c.spec.Effect == tool.Delegates { // it begins with an agent's name
		title = "start " + title
	}
	a := q.newAsk(c, fmt.Sprintf("%s wants to %s", q.agents, title), detail)
	a.Reason, a.Always = decision.Reason, decision.Always
	var longer []string
	for _, rule := range a.Always {
		longer = append(longer, rule.Calls())
	}
	a.Longer = q.redactor.Text(strings.Join(longer, ", "))
	open := q.asks.Open(a, c.id, c.validArguments())
	resume := q.pause("waits for an answer: " + a.Title)
	defer resume()
	answer, err := q.asks.Await(q.ctx, open)
	if answer.Allow && answer.Scope != permission.Once && len(a.Always) == 0 {
		answer.Scope = permission.Once // no rule describes the call, so nothing but this one call can be allowed
	}
	batch := store.Batch{}
	if answer.Scope != permission.Once && answer.Scope != "" && err == nil {
		batch.Grants = q.decisions.Add(a.Granted(answer, authority.Home(q.view)))
	}
	q.asks.Resolve(open, answer, batch)
	return answer, err
}

// newAsk makes an ask for a call that nobody knows yet.
func (q *questions) newAsk(c *call, title, detail string) authority.Ask {
	redacted := q.redactor.Text
	a := authority.Ask{
		ID: event.NewAskID(), Session: q.session, Run: q.id, Agent: q.agents, Tool: c.spec.Name,
		Title: redacted(permission.Visible(title)), Detail: redacted(detail), Created: time.Now().UTC(),
		Path: q.about,
	}
	if q.timeout > 0 {
		a.Expires = a.Created.Add(q.timeout)
	}
	return a
}

// askQuestions asks the user and waits for all answers. plan is the file of the plan that the questions are about,
// empty for none. The error is that of the run's context.
func (q *questions) askQuestions(c *call, plan string, list ...tool.Question) ([]tool.Reply, error) {
	asks := make([]*authority.OpenAsk, len(list))
	for i, one := range list {
		one = q.shownQuestion(one)
		about := ""
		if one.Header != "" {
			about = " (" + one.Header + ")"
		}
		a := q.newAsk(c, fmt.Sprintf("%s asks%s: %s", q.agents, about, one.Text), explained(one))
		a.Question, a.Plan = &one, plan
		asks[i] = q.asks.Open(a, c.id, c.validArguments())
	}
	resume := q.pause("waits for an answer: " + asks[0].Title)
	defer resume()
	replies := make([]tool.Reply, len(asks))
	var ended error
	for i, a := range asks {
		answer, err := q.asks.Await(q.ctx, a)
		if err != nil {
			ended = err
		}
		q.asks.Resolve(a, answer, store.Batch{})
		replies[i] = tool.Reply{Answers: answer.Chosen}
		switch {
		case len(answer.Chosen) > 0:
		case answer.Reason != "":
			replies[i].Why = answer.Reason
		default:
			replies[i].Why = "the user leaves it to you"
		}
	}
	return replies, ended
}

// explained says what the options mean, those that need it.
func explained(q tool.Question) string {
	var lines []string
	for _, o := range q.Options {
		if o.Description != "" {
			lines = append(lines, o.Label+": "+o.Description)
		}
	}
	if q.Multiple && len(q.Options) > 0 {
		lines = append(lines, "Several may be chosen.")
	}
	return strings.Join(lines, "\n")
}

// shownQuestion is a question as people may see it: without secrets, and hidden characters made visible.
func (q *questions) shownQuestion(one tool.Question) tool.Question {
	shown := func(text string) string {
		return q.redactor.Text(permission.Visible(strings.Join(strings.Fields(text), " ")))
	}
	one.Text, one.Header, one.Options = shown(one.Text), shown(one.Header), slices.Clone(one.Options)
	for i, o := range one.Options {
		one.Options[i] = tool.Option{Label: shown(o.Label), Description: shown(o.Description)}
	}
	return one
}
