package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore"
	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
)

// The reasons for which a turn ends.
const (
	stopEnd       = "end_turn"
	stopTokens    = "max_tokens"
	stopTurns     = "max_turn_requests"
	stopRefusal   = "refusal"
	stopCancelled = "cancelled"
)

// turn is the work on a prompt. It belongs to its own goroutine, but for what stands below mu.
type turn struct {
	*session
	ctx  context.Context
	stop context.CancelFunc
	run  event.RunID

	text      writing
	calls     calls
	found     []event.Finding
	questions map[event.AskID]context.CancelFunc // that are before the user
	asks      sync.WaitGroup

	// guarded by the session's lock
	state   turnState
	early   []early             // what was said before there was a run
	waiting []*jsonrpc2.Request // whom the end of the turn is told
}

// turnState is how far a turn is.
type turnState int

const (
	starting turnState = iota
	running
	ending // it can be told nothing more
)

// early is a prompt that came before the run of its turn.
type early struct {
	request *jsonrpc2.Request
	text    string
}

// prompt answers session/prompt by a goroutine. What is said while a turn is under way is told to its run, and answered
// with it.
func (a *Agent) prompt(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	var p promptParams
	if err := decode(r.Params, &p); err != nil {
		return nil, err
	}
	s, err := a.find(p.Session)
	if err != nil {
		return nil, err
	}
	request, err := s.request(p.Prompt)
	if err != nil {
		return nil, err
	}
	if r.Notif {
		return nil, invalidRequest("session/prompt is a request; give it an id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return nil, s.steer(r, request)
	}
	t := &turn{session: s, waiting: []*jsonrpc2.Request{r}}
	t.ctx, t.stop = context.WithCancel(ctx)
	s.turn = t
	a.working.Go(func() { t.work(request) })
	return nil, errLater
}

// steer tells the run under way something more. The caller holds the session's lock.
func (s *session) steer(r *jsonrpc2.Request, request agentcore.RunRequest) error {
	t := s.turn
	switch {
	case len(request.Attachments) > 0:
		return untold("it brings more than words")
	case t.state == starting:
		t.early = append(t.early, early{r, request.Prompt})
		return errLater
	case t.state == ending:
		return untold("that one is about to end")
	}
	if err := s.project.Engine.Steer(t.run, request.Prompt); err != nil {
		return untold(err.Error())
	}
	t.waiting = append(t.waiting, r)
	return errLater
}

// untold refuses a prompt that comes while another one is worked on.
func untold(why string) error {
	return invalidRequest("another prompt is worked on, and cannot be told this: %s; send it again when that one is "+
		"answered, or cancel that one", why)
}

// begun notes the run of the turn, and tells it what was said while it was started.
func (t *turn) begun(run event.RunID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.run, t.state = run, run, running
	for _, e := range t.early {
		if err := t.project.Engine.Steer(run, e.text); err != nil {
			_ = t.agent.answer(e.request, nil, untold(err.Error()), nil) // fails if the client is gone
			continue
		}
		t.waiting = append(t.waiting, e.request)
	}
	t.early = nil
}

// work works on a prompt to its end, and answers it.
func (t *turn) work(request agentcore.RunRequest) {
	defer t.stop()
	reason, err := t.converse(request)
	if t.ctx.Err() != nil {
		reason, err = stopCancelled, nil
	}
	t.mu.Lock()
	t.session.turn = nil
	waiting := t.waiting
	for _, e := range t.early { // the run could not be started
		waiting = append(waiting, e.request)
	}
	t.mu.Unlock()
	for _, r := range waiting {
		// An error says that the client is gone.
		_ = t.agent.answer(r, promptResult{reason}, err, nil)
	}
}

// converse starts the run of a prompt, follows it to its end and asks what is to become of its edits. It returns why
// the turn ended.
func (t *turn) converse(request agentcore.RunRequest) (reason string, err error) {
	engine := t.project.Engine
	events := engine.Subscribe("", 0)
	defer events.Close()
	t.looks.begin()
	t.look(t.ctx, append(t.project.unsavedFiles(), t.mentioned(request.Prompt)...))
	start := context.WithoutCancel(t.ctx) // a start that is cut short leaves a run that nobody knows
	t.mu.Lock()
	last, chosen := t.last, t.chosen
	t.mu.Unlock()
	request.Agent, request.Model, request.Effort = chosen.agent, chosen.model, model.Effort(chosen.effort)
	request.PermissionMode = permission.Mode(chosen.mode)
	if t.project.Notice != "" {
		t.notice(event.Notice{Level: event.NoticeWarning, Message: t.project.Notice})
	}
	var run event.RunID
	if last == "" {
		run, err = t.engine.Start(start, request)
	} else {
		run, err = agentcore.ResumeIn(start, t.engine, last, request)
	}
	if err != nil {
		return "", err
	}
	t.begun(run)
	err = t.follow(events)
	t.mu.Lock()
	t.state = ending
	t.mu.Unlock()
	t.asks.Wait()
	if err != nil {
		return "", err
	}
	result, err := engine.Wait(start, run)
	if err != nil {
		return "", err
	}
	t.conclude(result)
	return reasonOf(result)
}

// mentioned are the files that a prompt brings along, absolute.
func (t *turn) mentioned(text string) (paths []string) {
	for _, m := range mention.Find(text) {
		if path, err := t.project.View.Resolve(m.Name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// follow tells the client what happens, until the run has ended. When the turn is cancelled it cancels the run, and
// waits for that.
func (t *turn) follow(events *feed.Subscription) error {
	ended := context.AfterFunc(t.ctx, func() {
		_ = t.project.Engine.Cancel(t.run) // the only error is that there is no such run, and there is
	})
	defer ended()
	reading := context.WithoutCancel(t.ctx)
	for {
		e, err := events.Next(reading)
		if errors.Is(err, feed.ErrClosed) {
			return nil // the engine was closed, which has ended the run
		} else if err != nil {
			return fmt.Errorf("follow the run: %w", err)
		}
		if e.Session != t.engine.ID {
			continue
		}
		t.take(e)
		if _, finished := e.Body.(event.RunFinished); finished && e.Run == t.run {
			return nil
		}
	}
}

// take tells the client of one event.
func (t *turn) take(e event.Event) {
	switch body := e.Body.(type) {
	case event.SessionChanged:
		t.update(titleUpdate{"session_info_update", body.Title})
	case event.Notice:
		t.notice(body)
	case event.ProposalChanged:
		var paths []string
		for _, uri := range body.URIs {
			paths = append(paths, event.FilePath(uri))
		}
		t.proposed(paths)
	case event.AskOpened:
		t.asked(body.Ask)
	case event.AskResolved:
		t.resolved(body.Ask)
	case event.FindingReported:
		if t.in(e.Run) {
			t.found = append(t.found, body.Finding)
		}
	case event.FindingCleared:
		t.found = slices.DeleteFunc(t.found, func(f event.Finding) bool { return f.ID == body.Finding })
	case event.ToolCallStarted, event.ToolCallProgress, event.ToolCallFinished:
		t.called(e)
	}
	if e.Run == t.run {
		t.own(e)
	} else {
		t.below(e)
	}
}

// own tells of an event of the user's own run.
func (t *turn) own(e event.Event) {
	switch body := e.Body.(type) {
	case event.TextDelta:
		t.say(t.text.piece(body.Text))
	case event.ReasoningDelta:
		t.update(chunk{"agent_thought_chunk", textOf(body.Text), t.text.id()})
	case event.TurnStarted, event.RetryScheduled:
		t.text = writing{} // what is not committed is void
	case event.MessageCommitted:
		if body.Role == string(model.RoleAssistant) {
			t.say(t.text.committed(body.Text))
			t.text = writing{}
		}
	case event.TodoChanged:
		t.update(planOf(body.Items))
	}
}

// say sends a piece of the agent's answer.
func (t *turn) say(text string) {
	if text != "" {
		t.update(chunk{"agent_message_chunk", textOf(text), t.text.id()})
	}
}

// tell sends a message of agentls's own.
func (t *turn) tell(text string) {
	t.update(chunk{"agent_message_chunk", textOf(text), string(event.NewMessageID())})
}

func textOf(text string) textContent { return textContent{"text", text} }

// notice tells something that a person should know, once: as what it is, where the client shows that, else as words.
// What is for the log is left out then.
func (t *turn) notice(n event.Notice) {
	if t.heard[n.Message] {
		return
	}
	t.heard[n.Message] = true
	if s := t.agent.client.Session; s != nil && s.Notices != nil {
		t.update(notice{"notice", string(n.Level), n.Message, n.Hint})
		return
	}
	if n.Level == event.NoticeInfo {
		return
	}
	text := n.Message
	if n.Hint != "" {
		text += "; " + n.Hint
	}
	t.tell("\n\n*" + strings.Join(strings.Fields(text), " ") + "*\n\n")
}

// writing is the answer that is being written.
type writing struct {
	message string // its id
	said    string // what was sent of it
}

func (w *writing) id() string {
	w.message = cmp.Or(w.message, string(event.NewMessageID()))
	return w.message
}

// piece is a piece of the answer, as it is sent.
func (w *writing) piece(text string) string {
	w.said += text
	return text
}

// committed returns what is missing of an answer that is whole.
func (w *writing) committed(text string) string {
	rest, ok := strings.CutPrefix(text, w.said)
	if !ok {
		rest = "\n\n" + text // what was sent is void
	}
	return rest
}

// planOf is a list of what is to be done.
func planOf(items []event.Todo) planUpdate {
	entries := []protocol.PlanEntry{}
	for _, item := range items {
		status := map[string]string{
			"pending": "pending", "in_progress": "in_progress", "done": "completed",
		}[item.State]
		if status != "" { // what was given up is no part of the plan
			entries = append(entries, protocol.PlanEntry{Content: item.Text, Priority: "medium", Status: status})
		}
	}
	return planUpdate{"plan", entries}
}

// reasonOf is why a turn ended. The error is that of a run that failed.
func reasonOf(result event.RunResult) (string, error) {
	switch result.Status {
	case event.StatusCompleted:
		switch result.Reason {
		case "max_turns", "timeout", "iterations":
			return stopTurns, nil
		case "max_tokens", "max_cost":
			return stopTokens, nil
		}
		return stopEnd, nil
	case event.StatusCancelled, event.StatusInterrupted:
		return stopCancelled, nil
	case event.StatusTimeout:
		return stopTurns, nil
	}
	if result.Error != nil && result.Error.Kind == string(fault.Refused) {
		return stopRefusal, nil
	}
	return "", failed(result.Error)
}
