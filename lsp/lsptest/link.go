package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// link is the editor's connection to the server: what the editor sends, in order, and the requests of the editor under
// way.
type link struct {
	*judge
	conn        *jsonrpc2.Conn
	wake        chan struct{} // has room for one: the outbox is not empty
	done        chan struct{} // closed when the writing goroutine has ended
	outbox      []func()
	closed      bool
	nextID      uint64
	pending     map[uint64]*call
	behindReply []func() // sent behind the answer that is being made
	held        []func() // what a Reaction keeps back
	trace       []string
	onWire      func(direction string, body []byte) // of the options
	onCall      func(*call)                         // hears of each request before it is sent
}

// call is a request of the editor under way.
type call struct {
	method string
	params json.RawMessage
	// command is the name of an executed command.
	command string
	ended   bool
}

func (c *call) subscribes() bool {
	return c.method == "agent/subscribe" || c.command == "agentls.subscribe"
}

// write sends what is in the outbox, in order, until the editor is closed.
func (l *link) write() {
	defer close(l.done)
	for {
		l.mu.Lock()
		batch, closed := l.outbox, l.closed
		l.outbox = nil
		l.mu.Unlock()
		for _, send := range batch {
			send()
		}
		if len(batch) > 0 {
			continue
		}
		if closed {
			return
		}
		select {
		case <-l.wake:
		case <-l.conn.DisconnectNotify():
			l.mu.Lock()
			l.closed = true
			l.mu.Unlock()
		}
	}
}

// post puts something into the outbox. The lock is held.
func (l *link) post(send func()) {
	l.outbox = append(l.outbox, send)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// notify sends a notification. The lock is held.
func (l *link) notify(method string, params any) {
	if strings.HasPrefix(method, "textDocument/did") || strings.HasPrefix(method, "workspace/did") {
		l.release()
	}
	raw := encode(params)
	var body any = &raw
	if params == nil {
		body = nil
	}
	l.post(func() {
		if err := l.conn.Notify(context.Background(), method, body); err != nil &&
			!errors.Is(err, jsonrpc2.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
			// the server may have crashed meanwhile
			l.lockedFault("send %s: %v", method, err)
		}
	})
}

// Notify sends any notification.
func (l *link) Notify(method string, params json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notify(method, params)
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("lsptest: a message cannot be encoded: %v", err)) // our own types
	}
	return raw
}

// Pending is a request under way.
type Pending struct {
	link   *link
	id     uint64
	method string
	sent   chan sent
}

type sent struct {
	waiter jsonrpc2.Waiter
	err    error
}

// Begin sends a request without waiting for the answer. The caller must call Wait once.
func (l *link) Begin(method string, params any) *Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begin(method, params)
}

func (l *link) begin(method string, params any) *Pending {
	l.nextID++
	raw := encode(params)
	p := &Pending{link: l, id: l.nextID, method: method, sent: make(chan sent, 1)}
	c := &call{method: method, params: raw}
	if method == "workspace/executeCommand" {
		c.command = text(lookup(raw, "command"))
	}
	l.pending[p.id] = c
	l.onCall(c)
	l.post(func() {
		var body any = &raw
		if string(raw) == "null" {
			body = nil
		}
		w, err := l.conn.DispatchCall(context.Background(), method, body, jsonrpc2.PickID(jsonrpc2.ID{Num: p.id}))
		p.sent <- sent{w, err}
	})
	return p
}

// Cancel sends $/cancelRequest for it.
func (p *Pending) Cancel() {
	p.link.Notify("$/cancelRequest", encode(struct {
		ID uint64 `json:"id"`
	}{p.id}))
}

// Wait waits for the answer. An error answer is a *jsonrpc2.Error.
func (p *Pending) Wait(ctx context.Context) (json.RawMessage, error) {
	fail := func(err error) (json.RawMessage, error) {
		var answered *jsonrpc2.Error
		switch {
		case errors.As(err, &answered):
			return nil, err
		case errors.Is(err, jsonrpc2.ErrClosed):
			err = ErrDisconnected
		case ctx.Err() != nil:
			err = fmt.Errorf("no answer came: %w", context.Cause(ctx))
		}
		return nil, fmt.Errorf("%s: %w", p.method, err)
	}
	select {
	case s := <-p.sent:
		if s.err != nil {
			return fail(s.err)
		}
		var raw json.RawMessage
		if err := s.waiter.Wait(ctx, &raw); err != nil {
			return fail(err)
		}
		return raw, nil
	case <-p.link.done:
		return fail(ErrDisconnected)
	case <-ctx.Done():
		return fail(ctx.Err())
	}
}

// Call sends a request and waits for its answer. An error answer is a *jsonrpc2.Error.
func (l *link) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return l.Begin(method, params).Wait(ctx)
}

// Execute runs a command of the server.
func (l *link) Execute(ctx context.Context, command string, arguments ...json.RawMessage) (json.RawMessage, error) {
	return l.Call(ctx, "workspace/executeCommand", struct {
		Command   string            `json:"command"`
		Arguments []json.RawMessage `json:"arguments,omitempty"`
	}{command, arguments})
}

func (l *link) reply(r *jsonrpc2.Request, result any, failure *jsonrpc2.Error) {
	id, method := r.ID, r.Method
	raw := encode(result)
	l.post(func() {
		var err error
		if failure != nil {
			err = l.conn.ReplyWithError(context.Background(), id, failure)
		} else {
			err = l.conn.Reply(context.Background(), id, &raw)
		}
		if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
			l.lockedFault("answer %s: %v", method, err)
		}
	})
}

// wait waits until cond holds. It calls cond under the lock, after each message. what names in the error what did not
// come.
func (l *link) wait(ctx context.Context, what string, cond func() bool) error {
	return l.Until(ctx, what, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return cond()
	})
}

// Until waits until cond holds. It calls cond after each message of the server; cond may use the editor's methods. what
// names in the error what did not come.
func (l *link) Until(ctx context.Context, what string, cond func() bool) error {
	for {
		l.mu.Lock()
		news := l.news
		l.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-news:
		case <-l.conn.DisconnectNotify():
			if cond() {
				return nil
			}
			return fmt.Errorf("wait for %s: %w", what, ErrDisconnected)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

func (l *link) record(direction string, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trace = append(l.trace, direction+" "+shorten(string(body)))
	if l.onWire != nil {
		l.onWire(direction, body)
	}
}

// Trace is what went over the wire, a line each, long messages shortened.
func (l *link) Trace() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.trace)
}

// Release sends what a Reaction held back. It reports whether there was anything.
func (l *link) Release() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.release()
}

// Holds reports whether a Reaction keeps something back.
func (l *link) Holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held) > 0
}

func (l *link) release() bool {
	held := l.held
	l.held = nil
	for _, send := range held {
		send()
	}
	return len(held) > 0
}

// ErrDisconnected is wrapped by the errors of calls on a connection that has ended.
var ErrDisconnected = errors.New("the server is gone")
