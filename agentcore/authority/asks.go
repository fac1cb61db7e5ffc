package authority

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// Ask is a question to the user that waits for an answer: a question for permission, or what an agent wants to know. It
// is never changed.
type Ask struct {
	ID      event.AskID
	Session event.SessionID
	Run     event.RunID
	// Agent is who asks, a child with the agents above it: "coder ▸ tester".
	Agent string
	Tool  string
	// Title is the question in one line, such as "coder wants to run `go generate`".
	Title string
	// Detail is everything that is asked for, with hidden characters made visible.
	Detail string
	// Reason says why the user is asked.
	Reason string
	// Always are the rules that an answer for longer than once would add. If they are empty, an answer holds only once.
	Always []permission.Rule
	// Longer is Always as people read it, such as "bash(git push*)"; empty where Always is.
	Longer string
	// Path is the document that the run was launched on; empty for none.
	Path string
	// Question is what an agent wants to know; nil for a question for permission.
	Question *tool.Question
	// Plan is the file of the plan that the question is about, absolute; empty for none.
	Plan             string
	Created, Expires time.Time
}

// Answer is what the user decided.
type Answer struct {
	Allow bool
	Scope permission.Scope // Once where it is empty
	// Expires is when an answer for longer than once ends by itself; zero for never.
	Expires time.Time
	// Reason is for the model, where the user has not decided himself.
	Reason string
	// Chosen is the answer to what an agent wants to know: labels, or the user's own words. It goes with Allow.
	Chosen []string
}

// AskChoice is one answer to an ask, as a person reads it.
type AskChoice struct {
	Title  string
	Answer Answer
}

// Choices are the answers that an ask can have. Answers for longer than once are among them only where rules can
// describe such calls. What an agent wants to know can also be answered in the user's own words, and by several labels
// where Question.Multiple says so.
func (a Ask) Choices() []AskChoice {
	if a.Question != nil {
		return a.questionChoices()
	}
	list := []AskChoice{
		{"Allow once", Answer{Allow: true, Scope: permission.Once}},
		{"Allow for this run", Answer{Allow: true, Scope: permission.Run}},
		{"Always allow", Answer{Allow: true, Scope: permission.Project}},
		{"Deny", Answer{Scope: permission.Once}},
	}
	if len(a.Always) == 0 {
		list = slices.Delete(list, 1, 3)
	}
	return list
}

// leaveIt is the choice of a user who does not want to decide.
const leaveIt = "Let the agent decide"

// questionChoices are the options of a question and, unless one of them declines, one that leaves the decision to the
// agent.
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

// fits checks whether an answer fits the question: words for what an agent wants to know, a decision for a permission.
func (a *Ask) fits(answer Answer) error {
	q := a.Question
	empty := slices.ContainsFunc(answer.Chosen, func(text string) bool { return strings.TrimSpace(text) == "" })
	switch {
	case q == nil && len(answer.Chosen) > 0:
		return invalid("this is a question for permission, which has no words for an answer", "answer allow or deny")
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

// sound checks the scope and the time of an answer.
func (a Answer) sound() error {
	switch {
	case !slices.Contains([]permission.Scope{permission.Once, permission.Run, permission.Session, permission.Project},
		a.Scope):
		return invalid(fmt.Sprintf("there is no scope %q", a.Scope), "answer for once, run, session or project")
	case a.Expires.IsZero():
		return nil
	case a.Scope == permission.Once:
		return invalid("an answer for once does not expire",
			"answer for run, session or project, or leave the time out")
	case !a.Expires.After(time.Now()):
		return invalid(fmt.Sprintf("%s is over", a.Expires.Format(time.RFC3339)),
			"name a time to come, with its time zone, such as 2031-01-02T15:04:05Z")
	}
	return nil
}

func invalid(detail, hint string) error {
	return &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
}

// Asks are the open questions of a session. They have their own lock; the methods may be called from any goroutine.
type Asks struct {
	Events feed.Writer

	mu   sync.Mutex
	open []*OpenAsk // the oldest first
}

// OpenAsk is a question that waits for its answer, with its row in the store.
type OpenAsk struct {
	Ask
	row      store.Ask
	answered chan Answer // takes one
}

// List returns the open questions, the oldest first.
func (a *Asks) List() []Ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]Ask, len(a.open))
	for i, one := range a.open {
		list[i] = one.Ask
	}
	return list
}

// AnswerOne answers an open question of one of several sessions. The first answer counts; a later one gets an error of
// the kind not_found.
func AnswerOne(sessions []*Asks, id event.AskID, answer Answer) error {
	answer.Scope = cmp.Or(answer.Scope, permission.Once)
	for _, asks := range sessions {
		if one := asks.find(id); one != nil {
			if err := one.fits(answer); err != nil {
				return err
			}
		}
	}
	if err := answer.sound(); err != nil {
		return err
	}
	for _, asks := range sessions {
		if one := asks.take(id); one != nil {
			one.answered <- answer
			return nil
		}
	}
	return fault.Missing("open question", string(id), "it was answered before, ran out of time, or its run has ended")
}

// find returns an open question, or nil.
func (a *Asks) find(id event.AskID) *OpenAsk {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.open, func(one *OpenAsk) bool { return one.ID == id }); i >= 0 {
		return a.open[i]
	}
	return nil
}

// take removes an open question, so that no other answer is taken. It returns nil where the question is gone.
func (a *Asks) take(id event.AskID) *OpenAsk {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.open, func(one *OpenAsk) bool { return one.ID == id })
	if i < 0 {
		return nil
	}
	one := a.open[i]
	a.open = slices.Delete(a.open, i, i+1)
	return one
}

// Open publishes an ask for a call. The call's arguments are stored with it. Await and Resolve must follow.
func (a *Asks) Open(ask Ask, call event.CallID, arguments json.RawMessage) *OpenAsk {
	one := &OpenAsk{Ask: ask, answered: make(chan Answer, 1), row: store.Ask{
		ID: ask.ID, Session: ask.Session, Run: ask.Run, Call: call, Tool: ask.Tool, Title: ask.Title,
		Arguments: arguments, State: store.AskOpen, Opened: ask.Created, Deadline: ask.Expires,
	}}
	a.mu.Lock()
	a.open = append(a.open, one)
	a.mu.Unlock()
	a.Events.Submit(store.Batch{Asks: []store.Ask{one.row}}, ask.Run,
		event.AskOpened{Ask: ask.ID, Tool: ask.Tool, Title: ask.Title})
	return one
}

// Await waits until somebody answers an open ask, its time is over, or ctx, the context of its run, ends. The error is
// that of ctx.
func (a *Asks) Await(ctx context.Context, one *OpenAsk) (answer Answer, err error) {
	var expired <-chan time.Time
	if !one.Expires.IsZero() {
		timer := time.NewTimer(time.Until(one.Expires))
		defer timer.Stop()
		expired = timer.C
	}
	one.row.State = store.AskAnswered
	select {
	case answer = <-one.answered:
	case <-expired:
		one.row.State = store.AskExpired
		answer.Reason = fmt.Sprintf("nobody answered within %s", one.Expires.Sub(one.Created))
	case <-ctx.Done():
		one.row.State, err = store.AskExpired, ctx.Err()
		answer.Reason = "the run ended"
	}
	if one.row.State == store.AskExpired && a.take(one.ID) == nil {
		// Somebody has just answered, and was told that the answer counts.
		answer, one.row.State = <-one.answered, store.AskAnswered
	}
	return answer, err
}

// Resolve stores and publishes the outcome of an ask. batch holds what is to be stored with it.
func (a *Asks) Resolve(one *OpenAsk, answer Answer, batch store.Batch) {
	row := one.row
	row.Resolved, row.Scope, row.Reason = time.Now().UTC(), string(answer.Scope),
		cmp.Or(strings.Join(answer.Chosen, ", "), answer.Reason)
	row.Decision = string(permission.Deny)
	if answer.Allow {
		row.Decision = string(permission.Allow)
	}
	batch.Asks = []store.Ask{row}
	a.Events.Submit(batch, one.Run, event.AskResolved{Ask: one.ID, Decision: row.Decision, Reason: row.Reason})
}

// Granted are the permissions that an answer for longer than once grants: one for each of the ask's rules, or, where
// there are none, one for all calls of its tool. home is the folder to which grants for a project are bound.
func (a Ask) Granted(answer Answer, home string) []permission.Grant {
	rules := a.Always
	if len(rules) == 0 {
		// a denial of a call that no rule describes holds for the tool
		rules = []permission.Rule{{Tool: a.Tool, Pattern: ""}}
	}
	decision := permission.Deny
	if answer.Allow {
		decision = permission.Allow
	}
	var grants []permission.Grant
	for _, rule := range rules {
		g := permission.Grant{
			ID: event.NewGrantID(), Scope: answer.Scope, Tool: rule.Tool, Pattern: rule.Pattern, Decision: decision,
			Created: time.Now().UTC(),
			Expires: answer.Expires.UTC(),
		}
		switch answer.Scope {
		case permission.Run:
			g.Session, g.Run = a.Session, a.Run
		case permission.Session:
			g.Session = a.Session
		case permission.Project:
			g.Root = home
		}
		grants = append(grants, g)
	}
	return grants
}
