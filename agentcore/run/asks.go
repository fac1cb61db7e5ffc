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
)

// askUser asks for one call, and waits until somebody answers, the time for it is over, or the run ends. The
// error is that of the run's context.
func (r *Run) askUser(c *call, decision permission.Decision, detail string) (authority.Answer, error) {
	if !r.tools.Asks(c.spec) {
		return authority.Answer{Reason: "nobody is asked for a subagent (subagent_ask = \"deny\")"}, nil
	}
	c.line.leave()
	title := c.title
	if c.spec.Effect == tool.Delegates { // it begins with an agent's name
		title = "start " + title
	}
	a := r.newAsk(c, fmt.Sprintf("%s wants to %s", r.pathOfAgents(), title), detail)
	a.Reason, a.Always = decision.Reason, decision.Always
	var longer []string
	for _, rule := range a.Always {
		longer = append(longer, rule.Calls())
	}
	a.Longer = r.redactor.Text(strings.Join(longer, ", "))
	open := r.session.Asks.Open(a, c.id, c.validArguments())
	resume := r.pause("waits for an answer: " + a.Title)
	defer resume()
	answer, err := r.session.Asks.Await(r.ctx, open)
	if answer.Allow && answer.Scope != permission.Once && len(a.Always) == 0 {
		answer.Scope = permission.Once // nothing short of this very call can be named
	}
	batch := store.Batch{}
	if answer.Scope != permission.Once && answer.Scope != "" && err == nil {
		batch.Grants = r.process.Decisions.Add(a.Granted(answer, authority.Home(r.session.View)))
	}
	r.session.Asks.Resolve(open, answer, batch)
	return answer, err
}

// newAsk makes an ask for a call that nobody knows yet.
func (r *spec) newAsk(c *call, title, detail string) authority.Ask {
	redacted := r.redactor.Text
	a := authority.Ask{
		ID: event.NewAskID(), Session: r.session.ID, Run: r.id, Agent: r.pathOfAgents(), Tool: c.spec.Name,
		Title: redacted(permission.Visible(title)), Detail: redacted(detail), Created: time.Now().UTC(),
	}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		a.Path = paths[0]
	}
	if timeout := r.config.AskTimeout; timeout > 0 {
		a.Expires = a.Created.Add(timeout)
	}
	return a
}

// pathOfAgents names a run by the agents above it.
func (r *spec) pathOfAgents() string {
	names := []string{r.definition.Slug}
	for p := r.parent; p != nil; p = p.parent {
		names = append(names, p.definition.Slug)
	}
	slices.Reverse(names)
	return strings.Join(names, " ▸ ")
}

// Ask puts questions to the user, all at once, so that they wait one time together.
func (h hostUser) Ask(_ context.Context, questions []tool.Question) ([]tool.Reply, error) {
	return h.run.askQuestions(h.call, "", questions...)
}

// askQuestions asks the user and waits for all answers. plan is the file of the plan that the questions are about,
// empty for none. The error is that of the run's context.
func (r *Run) askQuestions(c *call, plan string, questions ...tool.Question) ([]tool.Reply, error) {
	asks := make([]*authority.OpenAsk, len(questions))
	for i, q := range questions {
		q = r.shownQuestion(q)
		about := ""
		if q.Header != "" {
			about = " (" + q.Header + ")"
		}
		a := r.newAsk(c, fmt.Sprintf("%s asks%s: %s", r.pathOfAgents(), about, q.Text), explained(q))
		a.Question, a.Plan = &q, plan
		asks[i] = r.session.Asks.Open(a, c.id, c.validArguments())
	}
	resume := r.pause("waits for an answer: " + asks[0].Title)
	defer resume()
	replies := make([]tool.Reply, len(asks))
	var ended error
	for i, a := range asks {
		answer, err := r.session.Asks.Await(r.ctx, a)
		if err != nil {
			ended = err
		}
		r.session.Asks.Resolve(a, answer, store.Batch{})
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
func (r *spec) shownQuestion(q tool.Question) tool.Question {
	shown := func(text string) string {
		return r.redactor.Text(permission.Visible(strings.Join(strings.Fields(text), " ")))
	}
	q.Text, q.Header, q.Options = shown(q.Text), shown(q.Header), slices.Clone(q.Options)
	for i, o := range q.Options {
		q.Options[i] = tool.Option{Label: shown(o.Label), Description: shown(o.Description)}
	}
	return q
}
