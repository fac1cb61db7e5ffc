package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// inFlight holds the requests being worked on, by id. It is safe for concurrent use; the zero value is ready.
type inFlight struct {
	mu   sync.Mutex
	byID map[jsonrpc2.ID]pending
}

type pending struct {
	method string
	cancel context.CancelCauseFunc
}

// add adds a request, unless there is one with its id.
func (f *inFlight) add(id jsonrpc2.ID, p pending) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, taken := f.byID[id]; taken {
		return false
	}
	if f.byID == nil {
		f.byID = make(map[jsonrpc2.ID]pending)
	}
	f.byID[id] = p
	return true
}

func (f *inFlight) remove(id jsonrpc2.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byID, id)
}

// cancel cancels one request for the client. If there is none with this id, it was answered already, or never sent.
func (f *inFlight) cancel(id jsonrpc2.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.byID[id]; ok {
		p.cancel(errCancelled)
	}
}

func (f *inFlight) cancelAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.byID {
		p.cancel(ErrClosed)
	}
}

// methods lists the methods being worked on, sorted.
func (f *inFlight) methods() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for p := range maps.Values(f.byID) {
		names = append(names, p.method)
	}
	slices.Sort(names)
	return names
}

// handle is the jsonrpc2.Handler. It runs on the reading goroutine and never returns an error for a notification, since
// that would close the connection.
func (c *Conn) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	if !req.IsCall() {
		c.notification(req.Method(), req.Params())
		return nil, nil
	}
	result, err := c.request(ctx, req)
	if err != nil {
		return nil, err // a nil *Error must not become an error that is not nil
	}
	return result, nil
}

// notification works on one notification on the reading goroutine.
func (c *Conn) notification(method string, params jsonrpc2.RawMessage) {
	switch method {
	case methodExit:
		c.end(nil)
		// Nothing after exit is read.
		<-c.drained
		return
	case methodCancel:
		c.cancelRequest(params)
		return
	}
	if !c.life.notification(method) {
		c.log.Debug("notification out of its time dropped", "method", truncate(method))
		return
	}
	if err := c.recovered(method, func() { c.dispatch.Notification(c.inline, method, params) }); err != nil {
		return // the panic was logged, and a notification has no answer
	}
}

// cancelRequest works on $/cancelRequest. It ignores params that name no request, as the protocol has no answer for
// them.
func (c *Conn) cancelRequest(params jsonrpc2.RawMessage) {
	var cancel struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &cancel); err != nil {
		c.log.Debug("malformed $/cancelRequest dropped", "error", err)
		return
	}
	if id, ok := decodeID(cancel.ID); ok {
		c.inFlight.cancel(id)
	}
}

// request works on one request. It begins on the reading goroutine, and releases it half-way unless the request is
// initialize.
func (c *Conn) request(released context.Context, req *jsonrpc2.Request) (jsonrpc2.RawMessage, error) {
	id, method := req.ID(), req.Method()
	parent := c.root
	switch method {
	case methodInitialize:
		parent = c.inline
	case methodShutdown:
		// An exit right behind shutdown cancels all other requests; shutdown itself has the whole grace to finish.
		parent = context.WithoutCancel(c.root)
	}
	// The context is not made from released, since released is reused by its owner.
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	if !c.inFlight.add(id, pending{method, cancel}) {
		return nil, onWire(InvalidRequest(fmt.Sprintf("a request with id %.200q is still being worked on",
			fmt.Sprint(id))))
	}
	c.handlers.add(1)
	// The client may use the id again once it has the answer, so the id is removed before the answer is written.
	defer c.handlers.add(-1)
	defer c.inFlight.remove(id)
	if err := c.life.request(method); err != nil {
		return nil, onWire(err)
	}
	if method == methodInitialize {
		return c.initialize(ctx, req.Params())
	}
	requestCtx := ctx
	if before := c.dispatch.Before; before != nil {
		if err := c.recovered(method, func() { requestCtx = before(ctx, method) }); err != nil {
			return nil, onWire(err)
		}
	}
	jsonrpc2.Async(released)
	if method == methodShutdown {
		defer c.shutdownDone()
	}
	behind := &following{}
	requestCtx = context.WithValue(requestCtx, followingKey{}, behind)
	raw, err := c.work(requestCtx, method, req.Params()) // the params belong to the request since Async
	if err != nil {
		if errors.Is(err, context.Canceled) && context.Cause(ctx) == errCancelled {
			err = RequestCancelled()
		}
		return nil, onWire(err)
	}
	c.stream.follow(id, behind.take())
	return raw, nil
}

// initialize works on an initialize that the lifecycle has allowed, on the reading goroutine.
func (c *Conn) initialize(ctx context.Context, params jsonrpc2.RawMessage) (raw jsonrpc2.RawMessage, err error) {
	ok := false
	defer func() { c.life.initializeDone(ok) }()
	var client struct {
		ProcessID *int `json:"processId"`
	}
	if err := json.Unmarshal(params, &client); err != nil {
		return nil, onWire(InvalidParams(fmt.Errorf("initialize needs InitializeParams: %w", err)))
	}
	raw, err = c.work(ctx, methodInitialize, params)
	if err != nil {
		return nil, onWire(err)
	}
	ok = true
	if c.watchDead && client.ProcessID != nil && *client.ProcessID > 0 {
		c.lookForParent(*client.ProcessID)
	}
	return raw, nil
}

// work runs Dispatch.Request and encodes its result, so that a panic in either is caught.
func (c *Conn) work(ctx context.Context, method string,
	params jsonrpc2.RawMessage,
) (raw jsonrpc2.RawMessage, err error) {
	panicked := c.recovered(method, func() {
		var result any
		if result, err = c.dispatch.Request(ctx, method, params); err != nil {
			return
		}
		if raw, err = (codec{}).Marshal(result); err != nil {
			err = InternalError(fmt.Errorf("encode the result of %s: %w", method, err))
		}
	})
	if panicked != nil {
		return nil, panicked
	}
	return raw, err
}

// recovered runs f, and returns a panic of it as an internal error after logging it with its stack.
func (c *Conn) recovered(method string, f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("a message made the server panic", "method", truncate(method), "panic", r, "stack",
				string(debug.Stack()))
			fault := InternalError(fmt.Errorf("the server failed on %s because of a bug in it: %v",
				truncate(method), r))
			fault.Data.Hint = "the server goes on; its log has the details"
			err = fault
		}
	}()
	f()
	return nil
}
