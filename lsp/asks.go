package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/asking"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/short"
	"github.com/agentls/agentls/lsp/surface"
)

// asker puts the questions of runs to the user, one prompt at a time and the oldest first. A question that the editor
// does not answer is shown as a diagnostic with code actions, until it is answered or its time is over. run is the
// asker's goroutine; the other methods may be called from any goroutine and never wait.
type asker struct {
	*window
	launches *surface.Launches
	// touch sends the diagnostics of documents again. It never waits.
	touch func(paths ...string)
	// showPlan shows a plan that the user is asked about.
	showPlan func(ctx context.Context, path string) error
	// has room for one value, which says that the fields below, or the open documents, have changed
	news chan struct{}

	mu      sync.Mutex
	waiting []*question // the oldest first

	hosts map[event.AskID]string // the documents that show a question; owned by run
}

// question is an ask that waits for its answer. The asker's lock guards what changes.
type question struct {
	session event.SessionID
	id      event.AskID
	// over ends when the question ends in any way; end ends it.
	over context.Context
	end  context.CancelFunc
	// prompted says that the user has seen, or sees, a prompt for the question.
	prompted bool
	// listed says that the question is shown as a diagnostic.
	listed bool
}

func newAsker(w *window, launches *surface.Launches, showPlan func(ctx context.Context, path string) error) *asker {
	return &asker{
		window: w, launches: launches, showPlan: showPlan, news: make(chan struct{}, 1),
		hosts: map[event.AskID]string{},
	}
}

// begun adds an ask that is stored.
func (a *asker) begun(session event.SessionID, id event.AskID) {
	over, end := context.WithCancel(a.background)
	a.mu.Lock()
	a.waiting = append(a.waiting, &question{session: session, id: id, over: over, end: end})
	a.mu.Unlock()
	a.wake()
}

// resolved removes everything that shows an ask: it was answered somewhere, its time is over, or its run has ended.
func (a *asker) resolved(id event.AskID) {
	a.mu.Lock()
	a.waiting = slices.DeleteFunc(a.waiting, func(q *question) bool {
		if q.id == id {
			q.end()
		}
		return q.id == id
	})
	a.mu.Unlock()
	a.wake()
}

// wake makes run look again at the open questions and at where they are shown.
func (a *asker) wake() { wake(a.news) }

// secondWayTime is after how long an unanswered question is also shown as a diagnostic. Most people who see the prompt
// have answered it by then.
const secondWayTime = 10 * time.Second

// secondWay is how long after now an ask is also shown as a diagnostic, since a user who thinks cannot be told from an
// editor that drops prompts. It is at most half of the time that is left for the ask.
func secondWay(answerTime time.Duration, ask authority.Ask, now time.Time) time.Duration {
	wait := min(answerTime, secondWayTime)
	if !ask.Expires.IsZero() {
		wait = min(wait, ask.Expires.Sub(now)/2)
	}
	return wait
}

// promptResult is the outcome of a prompt: the answer, nil where there is none.
type promptResult struct {
	answer *methods.AnswerAskParams
	err    error
}

// run works until ctx ends.
func (a *asker) run(ctx context.Context) {
	var current *question
	var answers chan promptResult
	// overdue says that the present question, and all that wait behind it, are also shown as diagnostics.
	var overdue bool
	late := time.NewTimer(time.Hour) // set again for each prompt
	defer late.Stop()
	for {
		if current == nil {
			if current = a.next(); current != nil {
				answers, overdue = make(chan promptResult, 1), false
				ask, _ := a.ask(current.session, current.id)
				late.Reset(secondWay(a.client.AnswerTime(), ask, time.Now()))
				a.prompt(current, answers)
			}
		}
		if overdue {
			a.list(func(*question) bool { return true })
		}
		a.place(ctx)
		select {
		case <-a.news:
		case p := <-answers:
			a.took(ctx, current, p)
			current, answers = nil, nil
		case <-late.C:
			overdue = current != nil
		case <-ctx.Done():
			return
		}
	}
}

// next is the oldest question that the user was not prompted for yet.
func (a *asker) next() *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range a.waiting {
		if !q.prompted {
			q.prompted = true
			return q
		}
	}
	return nil
}

// list shows questions as diagnostics from now on.
func (a *asker) list(which func(*question) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range a.waiting {
		q.listed = q.listed || which(q)
	}
}

// prompt asks the user on a goroutine that ends with the question at the latest.
func (a *asker) prompt(q *question, answers chan<- promptResult) {
	a.goes(func(context.Context) {
		var p promptResult
		defer func() { answers <- p }()
		ask, open := a.ask(q.session, q.id)
		if !open {
			return
		}
		if ask.Plan != "" {
			if err := a.showPlan(q.over, ask.Plan); err != nil {
				a.logger.Warn("the editor does not show the plan", "plan", ask.Plan, "error", err)
			}
		}
		p.answer, p.err = asking.Prompt(q.over, a.client, ask)
	})
}

// took passes an answer on or, without one, shows the question in another way.
func (a *asker) took(ctx context.Context, q *question, p promptResult) {
	if q.over.Err() != nil || ctx.Err() != nil {
		return // the question was answered elsewhere
	}
	if p.err != nil {
		a.logger.Warn("the editor shows no prompt", "ask", q.id, "error", p.err)
	}
	if p.answer == nil {
		a.list(func(other *question) bool { return other == q })
		return
	}
	err := a.answer(p.answer)
	if err != nil && !fault.Is(err, fault.NotFound) { // not_found means that another answer came first
		a.list(func(other *question) bool { return other == q })
		a.tell(ctx, protocol.MessageTypeWarning, "agentls could not take the answer: "+err.Error())
	}
}

// listedAsks are the asks that are shown as diagnostics, the oldest first.
func (a *asker) listedAsks() []authority.Ask {
	a.mu.Lock()
	listed := slices.DeleteFunc(slices.Clone(a.waiting), func(q *question) bool { return !q.listed })
	a.mu.Unlock()
	var list []authority.Ask
	for _, q := range listed {
		if ask, open := a.ask(q.session, q.id); open {
			list = append(list, ask)
		}
	}
	return list
}

// place sends the diagnostics of each document again that begins or ceases to show a question.
func (a *asker) place(ctx context.Context) {
	now := map[event.AskID]string{}
	for _, ask := range a.listedAsks() {
		host := a.host(ask)
		now[ask.ID] = host
		former, known := a.hosts[ask.ID]
		if !known && (host == "" || !a.showsDiagnostics()) {
			a.tell(ctx, protocol.MessageTypeWarning, "agentls: "+asking.Text(ask)+
				fmt.Sprintf("\nAnswer with the command %s {\"ask\": %q, %s}, or with a code action in an open document",
					methods.CommandAnswerAsk, ask.ID, asking.Hint(ask)))
		}
		if former != host {
			a.touch(former, host)
		}
	}
	for id, host := range a.hosts {
		if _, still := now[id]; !still {
			a.touch(host)
		}
	}
	a.hosts = maps.Clone(now)
}

// ask finds an open ask.
func (a *asker) ask(session event.SessionID, id event.AskID) (authority.Ask, bool) {
	found, err := a.engine.Session(session)
	if err != nil {
		return authority.Ask{}, false // the session was closed, and its asks with it
	}
	for _, ask := range found.Asks() {
		if ask.ID == id {
			return ask, true
		}
	}
	return authority.Ask{}, false
}

// host is the document that shows an ask: the one on which its run, or a run above that, was launched, or else the
// first open document; "" where none is open. It may read the store.
func (a *asker) host(ask authority.Ask) string {
	path := ask.Path
	if path == "" {
		path = a.launches.Path(ask.Run)
	}
	if path != "" && a.documents.Get(path) != nil {
		return path
	}
	if open := a.documents.Paths(); len(open) > 0 {
		return slices.Min(open)
	}
	return path
}

// diagnostics are the questions that wait for an answer in a document.
func (a *asker) diagnostics(path string, x *workspace.Index) []protocol.Diagnostic {
	var list []protocol.Diagnostic
	for _, ask := range a.listedAsks() {
		if a.host(ask) == path {
			list = append(list, a.form.Ask(ask.ID, asking.Text(ask), x))
		}
	}
	return list
}

// actions are the answers to the open questions. Every document offers them, since a run waits for each. They come
// first where the question is shown.
func (a *asker) actions(path string, x *workspace.Index, first int) []menu.Action {
	var list []menu.Action
	for _, ask := range a.listedAsks() {
		var shown *protocol.Diagnostic
		if a.host(ask) == path && a.showsDiagnostics() {
			d := a.form.Ask(ask.ID, asking.Text(ask), x)
			shown = &d
		}
		for _, c := range ask.Choices() {
			list = append(list, menu.Action{
				Title: c.Title + ": " + short.Line(ask.Title), Kind: protocol.CodeActionKindQuickFix, Diagnostic: shown,
				Near: shown != nil && first == 0, Command: methods.CommandAnswerAsk, Argument: asking.Chosen(ask, c),
			})
		}
	}
	return list
}

// answer passes the user's answer on.
func (a *asker) answer(p *methods.AnswerAskParams) error {
	if p.Decision != methods.DecisionAllow && p.Decision != methods.DecisionDeny {
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: fmt.Sprintf("there is no decision %q", p.Decision),
			Hint: "answer allow or deny",
		}
	}
	return a.engine.Answer(p.Ask,
		authority.Answer{
			Allow: p.Decision == methods.DecisionAllow, Scope: permission.Scope(p.Scope),
			Expires: p.Expires, Chosen: p.Answers,
		})
}
