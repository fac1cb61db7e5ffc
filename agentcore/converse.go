package agentcore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

const (
	// deltaInterval is how long pieces of an answer are gathered before they are published together.
	deltaInterval = 16 * time.Millisecond
	// emptyAnswers is how often a model that says nothing is asked again before the run fails.
	emptyAnswers = 2
	// sameCalls is how often in a row the very same calls may be made before the run is ended.
	sameCalls = 4
)

// converse is the loop of a run: ask the model, carry out its calls, ask again. It returns nil when the
// agent has given its last word.
func (r *run) converse() error {
	r.system = r.engine.redactor.Text(r.systemPrompt())
	r.append(model.UserText(r.userPrompt()))
	r.tellUnpriced()
	c := conversation{tools: r.offered()}
	for r.turn = 1; ; r.turn++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		ended, err := r.takeTurn(&c)
		if err != nil || ended {
			return err
		}
	}
}

// conversation is what a run has to know of its former turns beside the messages.
type conversation struct {
	tools  []model.Tool
	empty  int // answers that said nothing
	former []model.Call
	same   int // how often they came again
}

// takeTurn asks the model once and does what it answers. It reports true when that was its last word.
func (r *run) takeTurn(c *conversation) (ended bool, err error) {
	limit, goAhead, err := r.admit()
	if err != nil {
		return false, err
	}
	if !goAhead {
		r.cutOff(limit)
		return true, nil
	}
	handsOver := limit != "" && r.turn > 1
	if handsOver {
		r.append(model.UserText(handOver(limit)))
	}
	r.session.submit(store.Batch{}, r.id, event.TurnStarted{Turn: r.turn})
	r.progress("asks "+r.model.Name(), 0)
	done, err := r.ask(&model.Request{
		System: r.system, Messages: r.messages, Tools: c.tools, MaxTokens: r.definition.MaxTokens,
		Temperature: r.definition.Temperature, NoCalls: handsOver, Run: string(r.id),
	})
	if err != nil {
		r.budget.release()
		return false, err
	}
	r.addUsage(done.Usage)
	calls, text := done.Message.Calls(), r.engine.redactor.Text(done.Message.Text())
	if text != "" {
		r.lastText = text
	}
	switch {
	case done.Stop == model.StopRefused:
		return false, &Error{Kind: "refused", Detail: fmt.Sprintf("%s declined to answer: %s", r.model.Name(), text), Hint: "word the task differently, or choose another model"}
	case len(calls) == 0 && strings.TrimSpace(text) == "":
		if c.empty++; c.empty > emptyAnswers {
			return false, &Error{Kind: "empty_answer", Detail: fmt.Sprintf("%s answered nothing, %d times", r.model.Name(), c.empty), Hint: "try another model, or look at the provider's log"}
		}
		r.append(model.UserText("Your answer was empty. Go on with the task: call a tool, or give your final answer in text."))
		return false, nil
	}
	r.append(done.Message)
	if len(calls) == 0 || limit != "" {
		if !handsOver && len(calls) == 0 {
			limit = "" // it had nothing more to do
		}
		r.conclude(limit, done.Stop)
		return true, nil
	}
	if err := c.repeats(r.model.Name(), calls); err != nil {
		return false, err
	}
	results, err := r.carryOut(calls)
	if err != nil {
		return false, err
	}
	r.append(model.Message{Role: model.RoleTool, Parts: results})
	if r.handedOver() {
		return true, nil
	}
	r.layer.NextTurn()
	if r.parent == nil {
		r.mergeLayer()
	}
	return false, nil
}

// conclude notes the agent's last word, and what cut it short: a limit of the run, or that of one answer.
func (r *run) conclude(limit string, stop model.Stop) {
	switch {
	case limit != "":
		r.notice(event.NoticeWarning, fmt.Sprintf("%s was ended by its limit (%s) and handed over what it had", r.definition.Slug, limit), "start it again with a larger limit, or a smaller task")
	case stop == model.StopLength:
		limit = "length"
		r.notice(event.NoticeWarning, fmt.Sprintf("the last answer of %s was cut off, since it reached the length that %s may answer", r.definition.Slug, r.model.Name()), "start it again with a smaller task")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Reason, r.result.Output = limit, r.lastText
}

// repeats returns an error when the same calls come again and again.
func (c *conversation) repeats(asked string, calls []model.Call) error {
	if !equalCalls(calls, c.former) {
		c.same, c.former = 0, calls
		return nil
	}
	if c.same++; c.same >= sameCalls {
		return &Error{Kind: "repeats", Detail: fmt.Sprintf("%s made the same call of %s %d times in a row", asked, calls[0].Name, c.same+1), Hint: "word the task differently, or choose another model"}
	}
	return nil
}

func handOver(reason string) string {
	return fmt.Sprintf("The limit of this run is reached (%s). Make no more calls. Answer now with what you have: results so far, what is done, what is left.", reason)
}

// append adds a message to the conversation, without the secrets in it, and stores it.
func (r *run) append(m model.Message) {
	m = withoutSecrets(m, r.engine.redactor)
	r.messages = append(r.messages, m)
	parts, err := model.EncodeParts(m.Parts)
	if err != nil {
		// Parts are plain data of this package's own making; what cannot be encoded is a mistake of ours.
		r.notice(event.NoticeError, "a message could not be stored: "+err.Error(), "the run goes on, but cannot be looked up later; please report it")
		return
	}
	id := event.NewMessageID()
	r.session.submit(store.Batch{Messages: []store.Message{{
		ID: id, Run: r.id, Seq: len(r.messages), Role: string(m.Role), Parts: parts, Time: time.Now().UTC(),
	}}}, r.id, event.MessageCommitted{Message: id, Role: string(m.Role), Text: m.Text()})
}

// ask sends the request until it is answered, or the policy for retries is used up.
func (r *run) ask(request *model.Request) (model.Done, error) {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		done, err := r.stream(request)
		if err == nil {
			return done, nil
		}
		if r.ctx.Err() != nil || !model.Retryable(err) || attempt >= r.config.RetryMaxAttempts {
			return model.Done{}, err
		}
		delay := backoff(attempt, err)
		if time.Since(began)+delay > r.config.RetryMaxElapsed {
			return model.Done{}, err
		}
		r.session.submit(store.Batch{}, r.id, event.RetryScheduled{Attempt: attempt + 1, DelayMs: delay.Milliseconds(), Reason: err.Error()})
		r.progress(fmt.Sprintf("waits %s: %s", delay.Round(100*time.Millisecond), Explain(err).Kind), 0)
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-r.ctx.Done():
			timer.Stop()
			return model.Done{}, r.ctx.Err()
		}
	}
}

// backoff is what the provider asked for, or 0.5 s doubled for each attempt, up to 20 s; both with jitter,
// so that many runs do not come back together.
func backoff(attempt int, err error) time.Duration {
	var provider *model.Error
	if errors.As(err, &provider) && provider.RetryAfter > 0 {
		return provider.RetryAfter + rand.N(250*time.Millisecond)
	}
	base := min(500*time.Millisecond<<(attempt-1), 20*time.Second)
	return base/2 + rand.N(base/2)
}

// stream sends the request once and publishes the answer as it comes.
func (r *run) stream(request *model.Request) (model.Done, error) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	var text, reasoning strings.Builder
	// A secret may be cut anywhere between two pieces.
	shownText, shownReasoning := r.engine.redactor.Stream(), r.engine.redactor.Stream()
	prepares := ""
	flushed := time.Now()
	flush := func() {
		if text.Len() > 0 {
			r.session.submit(store.Batch{}, r.id, event.TextDelta{Text: text.String()})
			text.Reset()
		}
		if reasoning.Len() > 0 {
			r.session.submit(store.Batch{}, r.id, event.ReasoningDelta{Text: reasoning.String()})
			reasoning.Reset()
		}
		flushed = time.Now()
	}
	for piece, err := range r.model.Stream(ctx, request) {
		if err != nil {
			return model.Done{}, err
		}
		switch p := piece.(type) {
		case model.TextDelta:
			text.WriteString(shownText.Write(p.Text))
		case model.ReasoningDelta:
			reasoning.WriteString(shownReasoning.Write(p.Text))
		case model.CallDelta:
			if p.Name != prepares { // a call comes in many pieces
				prepares = p.Name
				r.progress("prepares "+p.Name, 0)
			}
		case model.Done:
			text.WriteString(shownText.Flush())
			reasoning.WriteString(shownReasoning.Flush())
			flush()
			return p, nil
		}
		if time.Since(flushed) >= deltaInterval {
			flush()
		}
	}
	if err := r.ctx.Err(); err != nil {
		return model.Done{}, err
	}
	return model.Done{}, &model.Error{Kind: model.ErrProtocol, Provider: r.model.Name(), Detail: "the stream ended without an end of the message"}
}

func equalCalls(a, b []model.Call) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !bytes.Equal(a[i].Arguments, b[i].Arguments) {
			return false
		}
	}
	return true
}

// progress tells how far the run is. Percent is a lower bound for the share of the budget, for runs
// that know better than their turns tell.
func (r *run) progress(message string, percent int) {
	r.mu.Lock()
	r.activity = append(r.activity, message)
	if surplus := len(r.activity) - 5; surplus > 0 {
		r.activity = append([]string(nil), r.activity[surplus:]...)
	}
	p := event.RunProgress{
		Turn: r.turn, Usage: r.result.Usage, ToolCalls: len(r.result.ToolCalls),
		Activities: append([]string(nil), r.activity...), Message: message,
	}
	share := percent
	if r.limits.MaxTurns > 0 && r.turn > 0 {
		share = max(share, (r.turn-1)*100/r.limits.MaxTurns)
	}
	if r.limits.Timeout > 0 {
		share = max(share, int(r.clock.took()*100/r.limits.Timeout))
	}
	share = max(share, r.budget.share())
	p.BudgetUsed = max(min(share, 100), r.last.BudgetUsed)
	r.last = p
	r.mu.Unlock()
	r.session.submit(store.Batch{}, r.id, p)
}
