package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
)

// Ask is a question for permission that waits for an answer. It is a value.
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
	Path             string
	Created, Expires time.Time
}

// Answer is what the user decided.
type Answer struct {
	Allow bool
	Scope permission.Scope // Once where it is empty
	// Reason is for the model, where it was not the user who decided.
	Reason string
}

// AskChoice is one answer to an ask, as a person reads it.
type AskChoice struct {
	Title  string
	Answer Answer
}

// Choices are the answers that an ask can have: those for longer than once only where such calls can be named.
func (a Ask) Choices() []AskChoice {
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
	if !slices.Contains([]permission.Scope{permission.Once, permission.Run, permission.Session, permission.Project}, answer.Scope) {
		return &Error{Kind: "invalid_request", Detail: fmt.Sprintf("there is no scope %q", answer.Scope), Hint: "answer for once, run, session or project"}
	}
	e.mu.Lock()
	sessions := make([]*Session, 0, len(e.sessions))
	for _, s := range e.sessions {
		sessions = append(sessions, s)
	}
	e.mu.Unlock()
	for _, s := range sessions {
		if a := s.asks.take(id); a != nil {
			a.answered <- answer
			return nil
		}
	}
	return notFound("open question", string(id), "it was answered before, ran out of time, or its run has ended")
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
	if r.parent != nil && r.config.SubagentAsk != config.AskBubble {
		return Answer{Reason: "nobody is asked for a subagent (subagent_ask = \"deny\")"}, nil
	}
	now := time.Now().UTC()
	a := &openAsk{answered: make(chan Answer, 1), Ask: Ask{
		ID: event.NewAskID(), Session: r.session.ID, Run: r.id, Agent: r.pathOfAgents(), Tool: c.spec.Name,
		Title: permission.Visible(fmt.Sprintf("%s wants to %s", r.pathOfAgents(), c.title)), Detail: r.engine.redactor.Text(detail), Reason: decision.Reason,
		Always: decision.Always, Created: now,
	}}
	var longer []string
	for _, rule := range a.Always {
		longer = append(longer, rule.Calls())
	}
	a.Longer = r.engine.redactor.Text(strings.Join(longer, ", "))
	a.Title = r.engine.redactor.Text(a.Title)
	if paths := r.request.Context.Paths; len(paths) > 0 {
		a.Path = paths[0]
	}
	timeout := r.config.AskTimeout
	if timeout > 0 {
		a.Expires = now.Add(timeout)
	}
	row := store.Ask{
		ID: a.ID, Session: a.Session, Run: r.id, Call: c.id, Tool: a.Tool, Title: a.Title, Arguments: c.validArguments(),
		State: store.AskOpen, Opened: now, Deadline: a.Expires,
	}
	r.session.asks.add(a)
	r.session.submit(store.Batch{Asks: []store.Ask{row}}, r.id, event.AskOpened{Ask: a.ID, Tool: a.Tool, Title: a.Title})
	resume := r.pause("waits for an answer: " + a.Title)
	defer resume()
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	var answer Answer
	var err error
	row.State = store.AskAnswered
	select {
	case answer = <-a.answered:
	case <-expired:
		row.State = store.AskExpired
		answer.Reason = fmt.Sprintf("nobody answered within %s", timeout)
	case <-r.ctx.Done():
		row.State, err = store.AskExpired, r.ctx.Err()
		answer.Reason = "the run ended"
	}
	if row.State == store.AskExpired && r.session.asks.take(a.ID) == nil {
		// Somebody answered just now, and was told so.
		answer, row.State = <-a.answered, store.AskAnswered
	}
	if answer.Allow && answer.Scope != permission.Once && len(a.Always) == 0 {
		answer.Scope = permission.Once // nothing short of this very call can be named
	}
	row.Resolved, row.Scope, row.Reason = time.Now().UTC(), string(answer.Scope), answer.Reason
	row.Decision = string(permission.Deny)
	if answer.Allow {
		row.Decision = string(permission.Allow)
	}
	batch := store.Batch{Asks: []store.Ask{row}}
	if answer.Scope != permission.Once && answer.Scope != "" && err == nil {
		batch.Grants = r.grant(answer, a.Always, c)
	}
	r.session.submit(batch, r.id, event.AskResolved{Ask: a.ID, Decision: row.Decision, Reason: row.Reason})
	return answer, err
}

// grant remembers an answer for calls like this one.
func (r *run) grant(answer Answer, rules []permission.Rule, c *call) []store.Grant {
	if len(rules) == 0 {
		rules = []permission.Rule{{Tool: c.spec.Name, Pattern: ""}} // a denial of what cannot be named is one of the tool
	}
	decision := permission.Deny
	if answer.Allow {
		decision = permission.Allow
	}
	var rows []store.Grant
	var grants []permission.Grant
	for _, rule := range rules {
		g := permission.Grant{
			ID: event.NewGrantID(), Scope: answer.Scope, Tool: rule.Tool, Pattern: rule.Pattern, Decision: decision, Created: time.Now().UTC(),
		}
		switch answer.Scope {
		case permission.Run:
			g.Session, g.Run = r.session.ID, r.id
		case permission.Session:
			g.Session = r.session.ID
		case permission.Project:
			g.Root = r.session.home()
		}
		grants = append(grants, g)
		rows = append(rows, grantRow(g))
	}
	r.engine.grants.add(grants)
	return rows
}

func grantRow(g permission.Grant) store.Grant {
	return store.Grant{
		ID: g.ID, Scope: string(g.Scope), Session: g.Session, Run: g.Run, Root: g.Root,
		Tool: g.Tool, Pattern: g.Pattern, Decision: string(g.Decision), Created: g.Created, Revoked: g.Revoked,
	}
}

// pathOfAgents names a run by the agents above it.
func (r *run) pathOfAgents() string {
	names := []string{r.definition.Slug}
	for p := r.parent; p != nil; p = p.parent {
		names = append(names, p.definition.Slug)
	}
	slices.Reverse(names)
	return strings.Join(names, " ▸ ")
}

// home is the folder that a project's grants and trust are bound to: the session's first.
func (s *Session) home() string {
	if len(s.roots) == 0 {
		return ""
	}
	return s.roots[0]
}

// grants are what users granted and have not taken back: those of projects, and those of this process's sessions and
// runs. It has its own lock.
type grants struct {
	mu   sync.Mutex
	list []permission.Grant
}

func (g *grants) add(more []permission.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(slices.Clip(g.list), more...)
}

// all returns what holds. The list is not to be changed.
func (g *grants) all() []permission.Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list
}

func (g *grants) remove(id event.GrantID) (permission.Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.list, func(one permission.Grant) bool { return one.ID == id })
	if i < 0 {
		return permission.Grant{}, false
	}
	found := g.list[i]
	g.list = slices.Concat(g.list[:i], g.list[i+1:])
	return found, true
}

// loadGrants reads what former processes were granted for projects. Grants of runs and sessions ended with them.
func (e *Engine) loadGrants(ctx context.Context) error {
	stored, err := e.store.Grants(ctx)
	if err != nil {
		return fmt.Errorf("read the permissions that were granted: %w", err)
	}
	for _, g := range stored {
		if g.Scope == string(permission.Project) {
			e.grants.list = append(e.grants.list, permission.Grant{
				ID: g.ID, Scope: permission.Project, Tool: g.Tool, Pattern: g.Pattern,
				Decision: permission.Action(g.Decision), Root: g.Root, Created: g.Created,
			})
		}
	}
	return nil
}

// Grants returns the permissions that were granted and hold, the latest first: all, or those that bind a session.
func (e *Engine) Grants(session event.SessionID) []permission.Grant {
	var roots []string
	if s, err := e.Session(session); err == nil {
		roots = s.roots
	}
	var list []permission.Grant
	for _, g := range slices.Backward(e.grants.all()) {
		if session == "" || g.Session == session || g.Scope == permission.Project && slices.Contains(roots, g.Root) {
			list = append(list, g)
		}
	}
	return list
}

// Revoke takes a granted permission back. It returns when that is durable.
func (e *Engine) Revoke(ctx context.Context, id event.GrantID) error {
	g, ok := e.grants.remove(id)
	if !ok {
		return notFound("granted permission", string(id), "list those that hold with agent/grants")
	}
	g.Revoked = time.Now().UTC()
	if err := e.store.Submit(store.Batch{Grants: []store.Grant{grantRow(g)}}).Wait(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return storeFailure(err)
	}
	return nil
}
