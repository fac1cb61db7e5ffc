package agentcore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// Ask is a question to the user that waits for an answer: for permission, or what an agent wants to know. It is a
// value.
type Ask struct {
	ID      event.AskID
	Session event.SessionID
	Run     event.RunID
	// Agent is who asks, a child with the agents above it: "coder ▸ tester".
	Agent string
	Tool  string
	// Title is the question in one line, such as "coder wants to run `go generate`".
	Title string
	// Detail is the whole of what is asked for, hidden characters made visible.
	Detail string
	// Reason says why it is asked for.
	Reason string
	// Always are the rules that an answer for longer than once would add; empty where only once can be answered.
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
	// Reason is for the model, where it was not the user who decided.
	Reason string
	// Chosen answers what an agent wants to know: labels, or the user's own words. It goes with Allow.
	Chosen []string
}

// AskChoice is one answer to an ask, as a person reads it.
type AskChoice struct {
	Title  string
	Answer Answer
}

// Choices are the answers that an ask can have: those for longer than once only where such calls can be named. To what
// an agent wants to know, the user's own words are an answer, too, and several labels where Question.Multiple says so.
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

// asks are the open questions of a session. It has its own lock; its methods may be called from any goroutine.
type asks struct {
	mu   sync.Mutex
	open []*openAsk // the oldest first
}

type openAsk struct {
	Ask
	answered chan Answer // takes one
}

// Asks returns the open questions of the session, the oldest first.
func (s *Session) Asks() []Ask {
	s.asks.mu.Lock()
	defer s.asks.mu.Unlock()
	list := make([]Ask, len(s.asks.open))
	for i, a := range s.asks.open {
		list[i] = a.Ask
	}
	return list
}

// Answer answers an open question of any session. The first answer counts; the error of a later one is of the
// kind not_found.
func (e *Engine) Answer(id event.AskID, answer Answer) error {
	answer.Scope = cmp.Or(answer.Scope, permission.Once)
	if err := e.fitsQuestion(id, answer); err != nil {
		return err
	}
	if !slices.Contains([]permission.Scope{permission.Once, permission.Run, permission.Session, permission.Project},
		answer.Scope) {
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: fmt.Sprintf("there is no scope %q", answer.Scope),
			Hint: "answer for once, run, session or project",
		}
	}
	switch {
	case answer.Expires.IsZero():
	case answer.Scope == permission.Once:
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "an answer for once does not expire",
			Hint: "answer for run, session or project, or leave the time out",
		}
	case !answer.Expires.After(time.Now()):
		return &fault.Error{
			Kind:   fault.InvalidRequest,
			Detail: fmt.Sprintf("%s is over", answer.Expires.Format(time.RFC3339)),
			Hint:   "name a time to come, with its time zone, such as 2031-01-02T15:04:05Z",
		}
	}
	for _, s := range e.openSessions() {
		if a := s.asks.take(id); a != nil {
			a.answered <- answer
			return nil
		}
	}
	return noSuchAsk(id)
}

func noSuchAsk(id event.AskID) error {
	return fault.Missing("open question", string(id), "it was answered before, ran out of time, or its run has ended")
}

// take removes an open question, so that nobody else answers it. It returns nil where it is gone.
func (a *asks) take(id event.AskID) *openAsk {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, one := range a.open {
		if one.ID == id {
			a.open = slices.Delete(a.open, i, i+1)
			return one
		}
	}
	return nil
}

func (a *asks) add(one *openAsk) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, one)
}

// askUser asks for one call, and waits until somebody answers, the time for it is over, or the run ends. The
// error is that of the run's context.
func (r *run) askUser(c *call, decision permission.Decision, detail string) (Answer, error) {
	if !r.mayAsk(c.spec) {
		return Answer{Reason: "nobody is asked for a subagent (subagent_ask = \"deny\")"}, nil
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
	a.Longer = r.engine.redactor.Text(strings.Join(longer, ", "))
	row := r.openAsk(a, c)
	resume := r.pause("waits for an answer: " + a.Title)
	defer resume()
	answer, err := r.awaitAnswer(a, &row)
	if answer.Allow && answer.Scope != permission.Once && len(a.Always) == 0 {
		answer.Scope = permission.Once // nothing short of this very call can be named
	}
	batch := store.Batch{}
	if answer.Scope != permission.Once && answer.Scope != "" && err == nil {
		batch.Grants = r.grant(answer, a.Always, c)
	}
	r.resolveAsk(a, row, answer, batch)
	return answer, err
}

// mayAsk reports whether the user is asked about calls of a tool. For a child that is so where the configuration says
// it, where the user gave it this very tool, and for the pages of one that is there to read the web, which could do
// nothing else.
func (r *spec) mayAsk(spec tool.Spec) bool {
	switch {
	case r.parent == nil, r.request.pass > 0, r.config.SubagentAsk == config.AskBubble: // a pass stands for its starter
		return true
	case slices.Contains(r.request.granted, spec.Name):
		return true
	}
	return spec.Effect == tool.Fetches && r.definition.Permissions == permission.Researcher
}

// newAsk makes an ask for a call that nobody knows yet.
func (r *spec) newAsk(c *call, title, detail string) *openAsk {
	redacted := r.engine.redactor.Text
	a := &openAsk{answered: make(chan Answer, 1), Ask: Ask{
		ID: event.NewAskID(), Session: r.session.ID, Run: r.id, Agent: r.pathOfAgents(), Tool: c.spec.Name,
		Title: redacted(permission.Visible(title)), Detail: redacted(detail), Created: time.Now().UTC(),
	}}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		a.Path = paths[0]
	}
	if timeout := r.config.AskTimeout; timeout > 0 {
		a.Expires = a.Created.Add(timeout)
	}
	return a
}

// openAsk makes an ask known. awaitAnswer and resolveAsk have to follow.
func (r *spec) openAsk(a *openAsk, c *call) store.Ask {
	row := store.Ask{
		ID: a.ID, Session: a.Session, Run: r.id, Call: c.id, Tool: a.Tool, Title: a.Title,
		Arguments: c.validArguments(),
		State:     store.AskOpen, Opened: a.Created, Deadline: a.Expires,
	}
	r.session.asks.add(a)
	r.session.events.Submit(store.Batch{Asks: []store.Ask{row}}, r.id,
		event.AskOpened{Ask: a.ID, Tool: a.Tool, Title: a.Title})
	return row
}

// awaitAnswer waits until somebody answers an open ask, the time for it is over, or the run ends. The error is that of
// the run's context.
func (r *run) awaitAnswer(a *openAsk, row *store.Ask) (answer Answer, err error) {
	var expired <-chan time.Time
	if !a.Expires.IsZero() {
		timer := time.NewTimer(time.Until(a.Expires))
		defer timer.Stop()
		expired = timer.C
	}
	row.State = store.AskAnswered
	select {
	case answer = <-a.answered:
	case <-expired:
		row.State = store.AskExpired
		answer.Reason = fmt.Sprintf("nobody answered within %s", r.config.AskTimeout)
	case <-r.ctx.Done():
		row.State, err = store.AskExpired, r.ctx.Err()
		answer.Reason = "the run ended"
	}
	if row.State == store.AskExpired && r.session.asks.take(a.ID) == nil {
		// Somebody answered just now, and was told so.
		answer, row.State = <-a.answered, store.AskAnswered
	}
	return answer, err
}

// resolveAsk stores and tells what came of an ask. The batch holds what else is to be stored with that.
func (r *spec) resolveAsk(a *openAsk, row store.Ask, answer Answer, batch store.Batch) {
	row.Resolved, row.Scope, row.Reason = time.Now().UTC(), string(answer.Scope),
		cmp.Or(strings.Join(answer.Chosen, ", "), answer.Reason)
	row.Decision = string(permission.Deny)
	if answer.Allow {
		row.Decision = string(permission.Allow)
	}
	batch.Asks = []store.Ask{row}
	r.session.events.Submit(batch, r.id, event.AskResolved{Ask: a.ID, Decision: row.Decision, Reason: row.Reason})
}

// grant remembers an answer for calls like this one.
func (r *spec) grant(answer Answer, rules []permission.Rule, c *call) []store.Grant {
	if len(rules) == 0 {
		// a denial of what cannot be named is one of the tool
		rules = []permission.Rule{{Tool: c.spec.Name, Pattern: ""}}
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
			g.Session, g.Run = r.session.ID, r.id
		case permission.Session:
			g.Session = r.session.ID
		case permission.Project:
			g.Root = authority.Home(r.session.view)
		}
		grants = append(grants, g)
	}
	return r.engine.decisions.Add(grants)
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
