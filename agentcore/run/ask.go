package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

// query is one request on its way to a model.
type query struct {
	model   model.Model
	request *model.Request
	// aside marks a query beside the run's own conversation: nobody is shown its answer.
	aside bool
}

// asking is how a run asks models. Its methods may be called from any goroutine of the run.
type asking struct {
	outlet
	ctx   context.Context // the run's
	retry model.Retry
	// speaks is true for a run that the user started. Such a run tells the user what concerns the runs below it, too.
	speaks bool
	// idle shows what the run waits for. status sets the run's status. again is called when a turn begins anew, cut
	// when a request broke off. coming is called with the name of a tool while the model still writes the arguments of
	// its call.
	idle   func(message string, percent int)
	status func(status event.Status, reason string)
	again  func()
	cut    func(model.Model)
	coming func(tool string)
}

// ask sends a request until it is answered, or the policy for retries is used up. While it waits, the run's status says
// what for. Nothing is kept of an answer that broke off: calls are taken from a whole answer alone, and the event
// RetryScheduled takes back the text that was shown.
func (a *asking) ask(ctx context.Context, q query) (model.Done, error) {
	var failing time.Time
	for attempts := 1; ; attempts++ {
		done, err := a.once(ctx, q)
		if err == nil {
			return done, nil
		}
		if ctx.Err() != nil {
			return model.Done{}, ctx.Err()
		}
		if failing.IsZero() {
			failing = time.Now()
		}
		delay, ended := a.retry.Next(attempts, time.Since(failing), err)
		if ended != nil {
			return model.Done{}, ended
		}
		if err := a.waitToRetry(ctx, attempts, delay, err); err != nil {
			return model.Done{}, err
		}
		if !q.aside {
			a.again()
		}
		a.idle("waiting again for "+q.model.Name(), 0)
	}
}

// waitToRetry shows what the run waits for until the time has come.
func (a *asking) waitToRetry(ctx context.Context, attempts int, delay time.Duration, failed error) error {
	why := fmt.Sprintf("waits %s: %s", max(delay.Round(time.Second), time.Second),
		strings.ReplaceAll(fault.Explain(failed).Kind, "_", " "))
	a.idle(why, 0)
	a.tell(store.Batch{}, event.RetryScheduled{
		Attempt: attempts + 1, DelayMs: delay.Milliseconds(),
		Reason: failed.Error(),
	})
	a.status(event.StatusWaiting, why)
	if attempts == 1 {
		a.tellUnreachable(failed)
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		a.status(event.StatusRunning, "")
		return nil
	case <-ctx.Done():
		if a.ctx.Err() == nil { // only the query's own time is over, not the run
			a.status(event.StatusRunning, "")
		}
		return ctx.Err()
	}
}

// tellUnreachable tells the user at once where no connection to the model's server can be made: such a server seldom
// comes back by itself, and the run goes on asking it for up to retry.max_elapsed. The run that the user started speaks
// for those below it.
func (a *asking) tellUnreachable(failed error) {
	var dial *net.OpError
	var known *model.Error
	if !a.speaks || !errors.As(failed, &dial) || dial.Op != "dial" || !errors.As(failed, &known) {
		return
	}
	a.notice(event.NoticeWarning, fmt.Sprintf("%s cannot be reached (%s), and is asked again for up to %s",
		known.Provider, known.Detail,
		a.retry.MaxElapsed), known.Hint)
}

// once sends the request, without a second try.
func (a *asking) once(ctx context.Context, q query) (model.Done, error) {
	done, begun, err := a.stream(ctx, q)
	if err != nil && (begun || ctx.Err() != nil) {
		a.cut(q.model)
	}
	return done, err
}

// stream sends the request once and publishes the answer as it comes. begun tells whether anything of it came.
func (a *asking) stream(ctx context.Context, q query) (done model.Done, begun bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A secret may be cut anywhere between two pieces.
	text, reasoning := a.redactor.Stream(), a.redactor.Stream()
	var shown gathered
	if !q.aside {
		shown.publish = func(body event.Body) { a.tell(store.Batch{}, body) }
	}
	defer shown.end(false)
	prepares := ""
	for piece, err := range q.model.Stream(ctx, q.request) {
		if err != nil {
			return model.Done{}, begun, err
		}
		begun = true
		switch p := piece.(type) {
		case model.TextDelta:
			shown.add(text.Write(p.Text), false)
		case model.ReasoningDelta:
			shown.add(reasoning.Write(p.Text), true)
		case model.CallDelta:
			if p.Name != prepares && !q.aside { // a call comes in many pieces
				prepares = p.Name
				a.idle("prepares "+p.Name, 0)
				a.coming(p.Name)
			}
		case model.Done:
			shown.add(reasoning.Flush(), true)
			shown.add(text.Flush(), false)
			shown.end(true)
			p.Usage = p.Usage.Plausible(q.request, p.Message)
			return p, true, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return model.Done{}, begun, err
	}
	return model.Done{}, begun, &model.Error{
		Kind: model.ErrProtocol, Provider: q.model.Name(),
		Detail: "the stream ended without an end of the message",
	}
}

// overflows reports whether a request failed since it was too long for the model.
func overflows(err error) bool {
	var failed *model.Error
	return errors.As(err, &failed) && failed.Kind == model.ErrContext
}
