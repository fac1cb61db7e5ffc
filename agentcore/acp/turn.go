package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
)

type (
	promptParams struct {
		onSession
		Prompt []Content `json:"prompt"`
	}
	promptResult struct {
		Reason StopReason      `json:"stopReason"`
		Usage  json.RawMessage `json:"usage"`
	}
)

// turn is the work of an agent on one prompt. It lasts from the prompt until its answer is read.
type turn struct {
	ctx       context.Context // of the questions in the turn
	end       context.CancelFunc
	interrupt context.CancelFunc // has Prompt tell the agent to stop
}

// Prompt has the agent work on a prompt, and returns why it stopped and what it has used. All updates of the turn are
// handed over before. When ctx ends, the agent is told to stop, and its answer is awaited for a bounded time: whoever
// wants to know whether the turn was cancelled looks at the reason. A session works on one prompt at a time.
func (c *Client) Prompt(ctx context.Context, session string, prompt []Content) (StopReason, Usage, error) {
	const method = "session/prompt"
	if ctx.Err() != nil {
		return "", Usage{}, c.failed(ctx, method, ctx.Err())
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	t, err := c.begin(session, stop)
	if err != nil {
		return "", Usage{}, err
	}
	_, waiter, err := c.send(method, promptParams{onSession{session}, prompt}, func(*jsonrpc2.Response) {
		c.endTurn(session, t)
	})
	if err != nil {
		c.endTurn(session, t)
		return "", Usage{}, c.failed(ctx, method, err)
	}
	var result promptResult
	var raw json.RawMessage
	err = waiter.Wait(waiting, &raw)
	switch {
	case err != nil && errors.Is(err, waiting.Err()):
		c.notify("session/cancel", onSession{session})
		t.end()
		_, err = c.wait(context.WithoutCancel(ctx), c.options.CancelTime, method, waiter, &result)
	case err != nil:
		err = c.failed(ctx, method, err)
	default:
		err = decode(method, raw, &result)
	}
	if late, ok := errors.AsType[*Error](err); !ok || late.Failure != Late { // it still works where it is late
		c.endTurn(session, t)
	}
	if err != nil {
		return "", Usage{}, err
	}
	return result.outcome(method)
}

// outcome is how a turn ended.
func (r promptResult) outcome(method string) (StopReason, Usage, error) {
	if r.Reason == "" {
		return "", Usage{}, unusable(method, "it does not say why it stopped")
	}
	usage := part[Usage](r.Usage)
	if usage.check() != nil {
		usage = Usage{} // unknown
	}
	return r.Reason, usage, nil
}

// begin begins a turn.
func (c *Client) begin(session string, interrupt context.CancelFunc) (*turn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[session]
	switch {
	case s == nil:
		return nil, unusable("session/prompt", "there is no session %q", session)
	case s.turn != nil:
		return nil, unusable("session/prompt", "it has not answered the prompt before")
	}
	t := &turn{interrupt: interrupt}
	t.ctx, t.end = context.WithCancel(c.ctx)
	s.turn = t
	return t, nil
}

// endTurn ends a turn and the questions in it.
func (c *Client) endTurn(session string, t *turn) {
	t.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[session]; s != nil && s.turn == t {
		s.turn = nil
	}
}

// Cancel has the agent told to stop the work on a prompt. Questions of the agent are answered as cancelled. It does not
// wait: Prompt returns when the agent has stopped, or does not stop in time. Where no prompt is worked on, Cancel does
// nothing.
func (c *Client) Cancel(session string) {
	if t := c.turn(session); t != nil {
		t.interrupt()
	}
}

// turn is the turn of a session; nil for none.
func (c *Client) turn(session string) *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[session]; s != nil {
		return s.turn
	}
	return nil
}

const (
	// maxHeld and maxHeldSize bound the updates that come before the answer that names their session, and their bytes.
	maxHeld     = 1000
	maxHeldSize = 16 << 20
)

// heldUpdate is an update that came before the answer that names its session.
type heldUpdate struct {
	session string
	update  Update
}

// updated takes what has happened in a session.
func (c *Client) updated(raw *json.RawMessage) {
	var params struct {
		onSession
		Update json.RawMessage `json:"update"`
	}
	var u Update
	if raw == nil {
		c.strange("it sent an update of nothing")
		return
	}
	err := json.Unmarshal(*raw, &params)
	if err == nil {
		err = json.Unmarshal(params.Update, &u)
	}
	if err != nil {
		c.strange("it sent an update that cannot be used, since " + wrong(err) + ": " + quote(*raw))
		return
	}
	c.mu.Lock()
	known, opening := c.sessions[params.Session] != nil, c.opening > 0
	full := len(c.held) >= maxHeld || c.heldSize+len(*raw) > maxHeldSize
	if !known && opening && !full {
		c.held = append(c.held, heldUpdate{params.Session, u})
		c.heldSize += len(*raw)
	}
	c.mu.Unlock()
	switch {
	case known:
		c.tell(params.Session, u)
	case opening && full:
		c.strange("it sent more before its session began than is kept")
	case !opening:
		c.strange("it sent an update of a session that is not open: " + harmless(params.Session, maxQuote))
	}
}

func (c *Client) tell(session string, u Update) {
	if c.options.Update != nil {
		c.options.Update(session, u)
	}
}

// opened hands over what came before the answer that names a session, "" if there is none. The reading goroutine calls
// it, so that nothing later comes between.
func (c *Client) opened(id string) {
	c.mu.Lock()
	if id != "" && c.sessions[id] == nil {
		c.sessions[id] = &session{}
	}
	c.opening--
	mine := func(h heldUpdate) bool { return h.session == id }
	var ours []heldUpdate
	for _, h := range c.held {
		if mine(h) {
			ours = append(ours, h)
		}
	}
	c.held = slices.DeleteFunc(c.held, mine)
	left := len(c.held)
	if c.opening == 0 {
		c.held, c.heldSize = nil, 0
	}
	opening := c.opening > 0
	c.mu.Unlock()
	for _, h := range ours {
		c.tell(h.session, h.update)
	}
	if left > 0 && !opening {
		c.strange("it sent updates of a session that was not begun")
	}
}
