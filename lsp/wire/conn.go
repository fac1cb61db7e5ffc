package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
)

const (
	// DefaultGrace is how long Run waits for requests to end unless told otherwise.
	DefaultGrace = 2 * time.Second
	// readerGrace is how long Run waits for a read of the input to notice that it was closed. A blocking read of
	// standard input never does; it ends with the process.
	readerGrace = 100 * time.Millisecond
)

var (
	// ErrClosed is wrapped by the errors of calls and notifications on a connection that has ended or is ending.
	ErrClosed = errors.New("the connection is closed")
	// ErrParentExited is Run's error when the client's process died without closing the connection.
	ErrParentExited = errors.New("the client's process has exited")
)

// errCancelled is the cause of a request's context that the client cancelled.
var errCancelled = errors.New("cancelled by the client")

// Dispatch is what a server does with the messages that pass the guard and the lifecycle. params are nil if the message
// has none, otherwise a JSON object or array; see Decode. A panic in any of the functions is recovered and logged, and
// a request is then answered with an internal error.
type Dispatch struct {
	// Request works on a request and returns its result, or an error (see Error for its code). Each runs on a goroutine
	// of its own, and ctx ends when the client cancels it or the connection ends; params may be kept.
	// Only initialize runs on the reading goroutine, so that whatever follows it finds the server initialized, and
	// its params are valid until it returns. It must be quick, and ctx refuses Call (see Detach).
	// The lifecycle is seen to already: Request gets at most one successful initialize, and nothing after shutdown.
	Request func(ctx context.Context, method string, params jsonrpc2.RawMessage) (any, error)
	// Notification works on a notification. All run in wire order on the reading goroutine, which reads nothing
	// meanwhile: it must not wait, and ctx, which ends with the connection, refuses Call (see Detach). params are valid
	// until it returns. It never sees exit or $/cancelRequest. Unknown methods are to be ignored.
	Notification func(ctx context.Context, method string, params jsonrpc2.RawMessage)
	// Before, if not nil, runs on the reading goroutine for each request before it is released, with everything before
	// the request done and nothing after it begun. It returns the context that Request gets, ctx or one made
	// from it, to which it may attach a snapshot. It must not wait. Not called for initialize.
	Before func(ctx context.Context, method string) context.Context
}

// Options are the settings of a Conn.
type Options struct {
	Logger *slog.Logger  // panics and refusals, never contents of messages; nil is silence
	Grace  time.Duration // how long Run waits for requests at the end; 0 is DefaultGrace
	// IgnoreParent keeps the connection when the process named in initialize's processId dies, as is right for a server
	// that listens on a socket, or in another PID namespace, where the number may be another process's.
	IgnoreParent bool
}

// Conn is one client's connection. Call and Notify may be used from any goroutine as soon as it is made.
type Conn struct {
	rpc    jsonrpc2.Conn
	stream *Stream
	log    *slog.Logger
	grace  time.Duration

	dispatch Dispatch        // set by Run before the reading starts
	root     context.Context // parent of what Dispatch gets, set likewise
	inline   context.Context // root, marked as in use on the reading goroutine

	life lifecycle
	// sending is held for reading from the moment when the lifecycle allows a message until it is written.
	sending  sync.RWMutex
	inFlight inFlight
	handlers tally // requests being worked on
	parent   chan waitFunc

	started   atomic.Bool
	base      context.Context // ends when the connection begins to end; the parent of calls
	endBase   context.CancelFunc
	endOnce   sync.Once
	endErr    error         // why the connection ends; written before base is cancelled
	drained   chan struct{} // closed when the last answers are written
	watchDead bool
}

// NewConn makes a connection over stream, which it owns from now on. Nothing is read before Run.
func NewConn(stream *Stream, o Options) *Conn {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	c := &Conn{
		stream: stream, log: o.Logger, grace: o.Grace, parent: make(chan waitFunc, 1),
		drained: make(chan struct{}), watchDead: !o.IgnoreParent,
	}
	c.base, c.endBase = context.WithCancel(context.Background())
	c.rpc = jsonrpc2.NewConn(guarded{stream, c}, jsonrpc2.WithCodec(codec{}))
	return c
}

// Run reads and dispatches until the client sends exit, the stream ends, the client's process dies or ctx ends. Then
// it cancels the contexts of all requests, waits for their answers (at most the grace), closes the stream and returns.
// exitCode is 0 if the client had sent shutdown, else 1. err is nil after exit and the plain end of the stream,
// otherwise what ended the connection: the cause of ctx, ErrParentExited, an error that wraps ErrFraming, or one of
// reading or writing. It must be called once.
//
// A blocking read of standard input cannot be interrupted; after ctx or the parent's death its goroutine is left behind
// and ends with the process.
func (c *Conn) Run(ctx context.Context, d Dispatch) (exitCode int, err error) {
	if !c.started.CompareAndSwap(false, true) {
		return 1, errors.New("wire: Run was called twice on one connection")
	}
	var cancel context.CancelFunc
	c.root, cancel = context.WithCancel(ctx)
	defer cancel()
	c.inline = context.WithValue(c.root, inlineKey{}, true)
	c.dispatch = d

	unwatch := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	defer unwatch()
	var watch sync.WaitGroup
	defer watch.Wait()
	watch.Go(c.watchParent)

	c.rpc.Go(context.WithoutCancel(ctx), c.handle)
	<-c.base.Done()
	c.tearDown(cancel)
	return c.life.exitCode(), c.endErr
}

// end begins the end of the connection; only the first call counts. A nil err stands for a proper end.
func (c *Conn) end(err error) {
	c.endOnce.Do(func() {
		c.endErr = err
		c.endBase()
	})
}

// tearDown stops everything that Run started, within the grace. stopHandlers cancels the requests' contexts.
func (c *Conn) tearDown(stopHandlers context.CancelFunc) {
	stopHandlers()
	grace, cancel := context.WithTimeout(context.Background(), c.grace)
	defer cancel()
	c.stream.drain(grace)
	// Until here, only shutdown was not cancelled.
	c.inFlight.cancelAll()
	close(c.drained)
	if err := c.stream.Close(); err != nil {
		// The client is gone or about to go, so that nothing can be done about messages that it may have missed.
		c.log.Debug("closing the stream", "error", err)
	}
	select {
	case <-c.handlers.idle():
	case <-grace.Done():
		c.log.Warn("requests did not end in time", "methods", c.inFlight.methods(), "grace", c.grace)
	}
	reader := time.NewTimer(readerGrace)
	defer reader.Stop()
	select {
	case <-c.rpc.Done():
	case <-reader.C:
	}
}

// lookForParent looks for the process that initialize names, which watchParent then watches. It is called before
// initialize is answered, so that it finds a client that dies right after the answer.
func (c *Conn) lookForParent(pid int) {
	wait, err := openParent(pid)
	if err != nil {
		c.log.Info("the editor's process is not watched", "process", pid, "error", err)
		return
	}
	c.parent <- wait // has room: initialize succeeds once
}

// watchParent ends the connection when the process that initialize names is gone. It returns when base ends.
func (c *Conn) watchParent() {
	select {
	case wait := <-c.parent:
		if wait(c.base) == nil {
			c.end(ErrParentExited)
		}
	case <-c.base.Done():
	}
}

// guarded is the Stream as the JSON-RPC connection sees it. It holds the end of the input back until the last answers
// are written, because the connection writes nothing after the end.
type guarded struct {
	*Stream
	c *Conn
}

func (g guarded) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	msg, n, err := g.Stream.Read(ctx)
	if err != nil {
		switch {
		case errors.Is(err, io.EOF):
			g.c.end(nil)
		default:
			g.c.end(fmt.Errorf("read from the client: %w", err))
		}
		<-g.c.drained
	}
	return msg, n, err
}

func (g guarded) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	n, err := g.Stream.Write(ctx, msg)
	if written, ok := ctx.Value(writtenKey{}).(func()); ok {
		written()
	}
	if err != nil {
		g.c.end(err)
	}
	return n, err
}

// Call sends a request and waits for its result, which it decodes into result; if result is nil, it discards it. When
// ctx ends first, the client is sent $/cancelRequest and the error wraps ctx's. An answer with an error becomes a
// *jsonrpc2.Error, wrapped. The error wraps ErrNotReady when the lifecycle forbids the call, and ErrClosed when the
// connection ends. Call must not run on the reading goroutine, since nobody would read the answer: it refuses the
// contexts of Dispatch.Notification and of initialize.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if ctx.Value(inlineKey{}) != nil {
		return fmt.Errorf(
			"%s was not sent: a call on the reading goroutine would wait for ever; start a goroutine with wire.Detach",
			method)
	}
	if c.base.Err() != nil {
		return fmt.Errorf("%s was not sent: %w", method, ErrClosed)
	}
	c.sending.RLock()
	written := sync.OnceFunc(c.sending.RUnlock)
	defer written()
	if err := c.life.outgoing(method, true); err != nil {
		return err
	}
	waiting, cancel := context.WithCancel(context.WithValue(ctx, writtenKey{}, written))
	defer cancel()
	defer context.AfterFunc(c.base, cancel)()
	c.stream.calls.Add(1)
	id, err := c.rpc.Call(waiting, method, params, result)
	switch {
	case err == nil:
		return nil
	case c.base.Err() != nil:
		return fmt.Errorf("%s: %w", method, ErrClosed)
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		c.cancelCall(method, id)
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
	if errors.Is(err, jsonrpc2.ErrClientClosing) {
		err = ErrClosed
	}
	return fmt.Errorf("%s: %w", method, err)
}

// cancelParams are CancelParams of LSP 3.18. The id is always a number, since all our calls have numbers.
type cancelParams struct {
	ID int64 `json:"id"`
}

// cancelCall tells the client that nobody waits for the answer to a call any more.
func (c *Conn) cancelCall(method string, id jsonrpc2.ID) {
	n, ok := id.Number()
	if !ok {
		return // the request was never sent
	}
	c.sending.RLock()
	defer c.sending.RUnlock()
	if c.life.outgoing(methodCancel, false) != nil {
		return // after shutdown, a client need not answer anything
	}
	if err := c.rpc.Notify(c.base, methodCancel, cancelParams{ID: n}); err != nil {
		c.log.Debug("cancelling a call", "method", method, "error", err)
	}
}

// Notify sends a notification. It blocks while the client does not read. The error wraps ErrNotReady when the lifecycle
// forbids it, and ErrClosed when the connection has ended.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if c.base.Err() != nil {
		return fmt.Errorf("%s was not sent: %w", method, ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s was not sent: %w", method, err)
	}
	c.sending.RLock()
	defer c.sending.RUnlock()
	if err := c.life.outgoing(method, false); err != nil {
		return err
	}
	if err := c.rpc.Notify(ctx, method, params); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Done is closed when the connection begins to end.
func (c *Conn) Done() <-chan struct{} { return c.base.Done() }

// writtenKey is the key of the function that a Call runs when its request is written, long before the answer.
type writtenKey struct{}

// shutdownDone notes that shutdown was worked on. It returns when all messages that the lifecycle allowed before are
// written; only answers may follow.
func (c *Conn) shutdownDone() {
	c.life.shutdownDone()
	c.sending.Lock() // waits for the messages that were allowed, which hold it for reading
	defer c.sending.Unlock()
}

// inlineKey marks the contexts in use on the reading goroutine.
type inlineKey struct{}

// Detach returns ctx without this mark, for a goroutine that a notification or initialize starts. It may use Call.
func Detach(ctx context.Context) context.Context {
	if ctx.Value(inlineKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, inlineKey{}, nil)
}
