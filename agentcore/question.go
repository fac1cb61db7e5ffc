package agentcore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// Ask puts questions to the user, all at once, so that they wait one time together.
func (h hostUser) Ask(_ context.Context, questions []tool.Question) ([]tool.Reply, error) {
	return h.run.askQuestions(h.call, "", questions...)
}

// askQuestions asks the user and waits for all answers. plan is the file of the plan that the questions are about,
// empty for none. The error is that of the run's context.
func (r *run) askQuestions(c *call, plan string, questions ...tool.Question) ([]tool.Reply, error) {
	asks, rows := make([]*openAsk, len(questions)), make([]store.Ask, len(questions))
	for i, q := range questions {
		q = r.shownQuestion(q)
		about := ""
		if q.Header != "" {
			about = " (" + q.Header + ")"
		}
		a := r.newAsk(c, fmt.Sprintf("%s asks%s: %s", r.pathOfAgents(), about, q.Text), explained(q))
		a.Question, a.Plan = &q, plan
		asks[i] = a
		rows[i] = r.openAsk(a, c)
	}
	resume := r.pause("waits for an answer: " + asks[0].Title)
	defer resume()
	replies := make([]tool.Reply, len(asks))
	var ended error
	for i, a := range asks {
		answer, err := r.awaitAnswer(a, &rows[i])
		if err != nil {
			ended = err
		}
		r.resolveAsk(a, rows[i], answer, store.Batch{})
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

// leaveIt is the choice of a user who does not want to decide.
const leaveIt = "Let the agent decide"

// questionChoices are the options of a question, and one that leaves it to the agent, where none of them declines.
func (a Ask) questionChoices() []AskChoice {
	var list []AskChoice
	for _, o := range a.Question.Options {
		list = append(list, AskChoice{o.Label, Answer{Allow: true, Scope: permission.Once, Chosen: []string{o.Label}}})
	}
	if a.Question.Closed {
		return list
	}
	return append(list, AskChoice{leaveIt, Answer{Scope: permission.Once}})
}

// fitsQuestion checks an answer against what is asked: words for a question, a decision for a permission.
func (e *Engine) fitsQuestion(id event.AskID, answer Answer) error {
	invalid := func(detail, hint string) error {
		return &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
	}
	for _, s := range e.openSessions() {
		asks := s.Asks()
		i := slices.IndexFunc(asks, func(a Ask) bool { return a.ID == id })
		if i < 0 {
			continue
		}
		q := asks[i].Question
		empty := slices.ContainsFunc(answer.Chosen, func(text string) bool { return strings.TrimSpace(text) == "" })
		switch {
		case q == nil && len(answer.Chosen) > 0:
			return invalid("this is a question for permission, which has no words for an answer",
				"answer allow or deny")
		case q == nil:
		case answer.Scope != permission.Once || !answer.Expires.IsZero():
			return invalid("an answer to an agent's question is for once", "leave out the scope and the time")
		case answer.Allow && (len(answer.Chosen) == 0 || empty):
			return invalid("the answer to the agent's question is empty",
				"give a label of its choices, or your own words; or deny it, which leaves it to the agent")
		case !answer.Allow && len(answer.Chosen) > 0:
			return invalid("the answer is denied, and has words", "answer allow with words, or deny without")
		case len(answer.Chosen) > 1 && !q.Multiple:
			return invalid("only one answer may be chosen", "give one")
		}
		return nil
	}
	return nil // it is gone, which Answer tells
}

func (e *Engine) openSessions() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	sessions := make([]*Session, 0, len(e.sessions))
	for _, s := range e.sessions {
		sessions = append(sessions, s)
	}
	return sessions
}

// shownQuestion is a question as people may see it: without secrets, and hidden characters made visible.
func (r *spec) shownQuestion(q tool.Question) tool.Question {
	shown := func(text string) string {
		return r.engine.redactor.Text(permission.Visible(strings.Join(strings.Fields(text), " ")))
	}
	q.Text, q.Header, q.Options = shown(q.Text), shown(q.Header), slices.Clone(q.Options)
	for i, o := range q.Options {
		q.Options[i] = tool.Option{Label: shown(o.Label), Description: shown(o.Description)}
	}
	return q
}
