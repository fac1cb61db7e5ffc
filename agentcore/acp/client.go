package acp

import (
	"cmp"
	"context"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore/process"
)

// Options are what a connection to an agent is made of. A function may be nil.
type Options struct {
	// Update is told what happens in the sessions, in the order in which the agent sends it. The goroutine that reads
	// the agent's messages calls it and reads on once it returns, so it must not wait for an answer of the agent. What
	// a new session tells may come before NewSession has returned.
	Update func(session string, u Update)
	// Permission decides on a call and returns the id of the option that was chosen, or "" for none. It has a goroutine
	// of its own. ctx ends when nobody waits for the answer any more: the turn is over or cancelled, the agent takes
	// the question back, or the connection ends. If it is nil, no option is chosen.
	Permission func(ctx context.Context, r PermissionRequest) (option string, err error)
	// Elicit has a form filled in, as Permission decides. If it is nil, the agent is told that there are no forms.
	Elicit func(ctx context.Context, f Form) (Filled, error)
	// Odd is told in a short sentence what the agent did against the protocol where that does not end the connection.
	// The reading goroutine calls it, at most [MaxOdd] times.
	Odd func(what string)

	// StartTime bounds the answer to initialize, CallTime that to each other request but a prompt, and CancelTime the
	// end of a turn that was cancelled. WriteTime is how long the agent may take to read a message. EndTime is how long
	// it may take to end once its input is closed, and how long an output may stay silent whose program is gone. Zero
	// is the default.
	StartTime, CallTime, CancelTime, WriteTime, EndTime time.Duration
}

// killTime is how long the processes of a program may take to be gone once they are killed, on a machine that is busy.
const killTime = 10 * time.Second

// MaxOdd is how often [Options].Odd is called for one agent.
const MaxOdd = 100

// Client is a connection to an agent. Its methods may be called from any goroutine, but not by Update or Odd, except
// for Cancel. Close ends it.
type Client struct {
	options Options
	process *process.Live
	stream  *stream
	conn    *jsonrpc2.Conn
	ctx     context.Context // ends with the connection
	stop    context.CancelFunc
	ended   chan struct{} // closed when none of the program's processes is left
	how     string        // how the program ended; set before ended is closed
	over    chan struct{} // closed when the connection has ended, too
	closing sync.Once
	asking  sync.WaitGroup // goroutines that wait for a person's answer
	ids     atomic.Uint64

	mu       sync.Mutex // guards all below
	agent    Agent
	sessions map[string]*session
	answered map[jsonrpc2.ID]func(*jsonrpc2.Response) // what the reading goroutine does with an answer
	opening  int                                      // how many sessions are being made
	held     []heldUpdate
	heldSize int
	asked    map[jsonrpc2.ID]context.CancelFunc // open questions of the agent
	odd      int
}

// session is a session that the client has opened. The client's lock guards it.
type session struct {
	turn *turn // nil if no prompt is being worked on
}

// Connect opens the connection to an agent that was just started, which the client owns from now on. The connection
// ends with ctx.
func Connect(ctx context.Context, p *process.Live, o Options) *Client {
	o.StartTime = cmp.Or(o.StartTime, time.Minute)
	o.CallTime = cmp.Or(o.CallTime, time.Minute)
	o.CancelTime = cmp.Or(o.CancelTime, 10*time.Second)
	o.WriteTime = cmp.Or(o.WriteTime, 30*time.Second)
	o.EndTime = cmp.Or(o.EndTime, 2*time.Second)
	c := &Client{
		options: o, process: p, stream: newStream(p, o.WriteTime, o.EndTime),
		ended: make(chan struct{}), over: make(chan struct{}), sessions: map[string]*session{},
		answered: map[jsonrpc2.ID]func(*jsonrpc2.Response){}, asked: map[jsonrpc2.ID]context.CancelFunc{},
	}
	c.ctx, c.stop = context.WithCancel(ctx)
	c.conn = jsonrpc2.NewConn(c.ctx, c.stream, reader{c}, jsonrpc2.OnRecv(c.received),
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	go c.attend()
	return c
}

// attend sees to the end of the program and of the connection.
func (c *Client) attend() {
	defer close(c.over)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.how = c.process.Wait()
	}()
	disconnected := c.conn.DisconnectNotify()
	select {
	case <-gone: // what it wrote before is still in the pipe
	case <-disconnected:
		if c.ctx.Err() != nil {
			_ = c.stream.failed(errClosed)
		}
		c.stop()
		c.end(gone)
	}
	close(c.ended)
	c.stream.ebbs()
	<-disconnected
	c.stop()
	<-c.stream.written
}

// end ends the program after the connection, and waits for its end. A program that ended the connection is about to
// end itself, which says more than that it was killed.
func (c *Client) end(gone <-chan struct{}) {
	if c.stream.problem() == nil {
		patience := time.NewTimer(c.options.EndTime)
		defer patience.Stop()
		select {
		case <-gone:
			return
		case <-patience.C:
			_ = c.stream.failed(errStays)
		}
	}
	c.process.Kill()
	<-gone
}

// Ended is closed when nothing of the program is left. Updates that it sent before its end may still be handed over;
// a prompt that was under way returns behind them.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// ending says how the connection ended. It waits for the end of the program where that says why.
func (c *Client) ending() string {
	patience := time.NewTimer(3*c.options.EndTime + killTime) // the program ends, or is ended, before
	defer patience.Stop()
	select {
	case <-c.ended:
	case <-patience.C:
	}
	select {
	case <-c.ended:
		if problem := c.stream.problem(); problem != nil {
			return problem.Error()
		}
		return cmp.Or(c.how, "its program has ended")
	default:
		return "its connection has ended, and its program does not end"
	}
}

// Close ends the agent and waits until nothing of it is left and no function of the options runs. It closes the agent's
// input first, so that the agent can store what it has to.
func (c *Client) Close() {
	c.closing.Do(func() {
		c.stream.finish.Do(func() { close(c.stream.finishing) })
		patience := time.NewTimer(c.options.EndTime)
		defer patience.Stop()
		select {
		case <-c.conn.DisconnectNotify():
		case <-patience.C:
			_ = c.stream.failed(errClosed)
			_ = c.conn.Close() // it may have ended by now
		}
	})
	<-c.over
	<-c.stream.read
	c.asking.Wait()
}

// strange tells of something that is against the protocol. The reading goroutine calls it.
func (c *Client) strange(what string) {
	c.mu.Lock()
	c.odd++
	n := c.odd
	c.mu.Unlock()
	if c.options.Odd == nil || n > MaxOdd {
		return
	}
	if n == MaxOdd {
		what = "it did more against the protocol than is told"
	}
	c.options.Odd(what)
}

// reader works on the agent's messages, on the connection's reading goroutine.
type reader struct{ *Client }

// Handle implements jsonrpc2.Handler.
func (c reader) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	switch {
	case r.Method == "session/update":
		c.updated(r.Params)
		if !r.Notif {
			c.reply(r.ID, nil, nil)
		}
	case r.Method == "$/cancel_request":
		c.takenBack(r.Params)
	case r.Notif: // such as one of a newer version
	case r.Method == "session/request_permission":
		c.permission(r)
	case r.Method == "elicitation/create" && c.options.Elicit != nil:
		c.elicit(r)
	default:
		c.reply(r.ID, nil, &jsonrpc2.Error{
			Code: jsonrpc2.CodeMethodNotFound, Message: "it was not announced: " + harmless(r.Method, maxQuote),
		})
	}
}

// received is called on the reading goroutine with each message, before it is worked on.
func (c *Client) received(request *jsonrpc2.Request, answer *jsonrpc2.Response) {
	if answer == nil {
		return
	}
	if request == nil {
		c.strange("it answered something that it was not asked")
		return
	}
	c.mu.Lock()
	do := c.answered[request.ID]
	delete(c.answered, request.ID)
	c.mu.Unlock()
	if do != nil {
		do(answer)
	}
}

// reply answers a request of the agent.
func (c *Client) reply(id jsonrpc2.ID, result any, failure *jsonrpc2.Error) {
	// If this fails, the connection has ended.
	if failure != nil {
		_ = c.conn.ReplyWithError(c.ctx, id, failure)
	} else {
		_ = c.conn.Reply(c.ctx, id, result)
	}
}
