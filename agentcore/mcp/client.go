package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
)

// State is the state of a connection. Values: Stopped, Starting, Ready, Failed.
type State string

const (
	// Stopped: the client is closed.
	Stopped State = "stopped"
	// Starting: the server is being started, or started again.
	Starting State = "starting"
	// Ready: the server answers.
	Ready State = "ready"
	// Failed: the server could not be started, or has ended; another try is possible.
	Failed State = "failed"
)

// protocolVersion is the newest version whose handshake both old and new servers know.
const protocolVersion = "2025-11-25"

const (
	// maxFailures is how often in a row the client tries to connect before it waits for Wake.
	maxFailures = 5
	// settled is how long a connection must last before earlier failures no longer count.
	settled = time.Minute
	// maxPause is the longest time between two tries.
	maxPause = 10 * time.Second
	// maxProblem bounds the text that says why a server is not ready, in bytes.
	maxProblem = 1000
	// listPause is the time between two requests for the lists of a server.
	listPause = 250 * time.Millisecond
	// listPatience is how long a server may take to list everything that it offers.
	listPatience = 30 * time.Second
)

// Options are what a client is made of. Either Open or URL is set.
type Options struct {
	// Name of the server, as [mcpname.Server] gives it.
	Name string
	// Open starts the server, for a server on pipes. ctx bounds only the start. After an error of [Permanent], it is
	// not called again.
	Open func(ctx context.Context) (*process.Live, error)
	// URL, Headers and Dial are for a server over HTTP. If Dial is nil, the system's dialer is used.
	URL     string
	Headers map[string]string
	Dial    Dialer
	// Roots are the workspace folders that the server is told of, absolute.
	Roots []string
	// Version of agentls.
	Version string
	// StartTime bounds the start of a connection, CallTime a call, FirstPause is the time before the second try; zero
	// is the default.
	StartTime, CallTime, FirstPause time.Duration
	// Changed is called after each change of the state or the catalog, by the client's goroutine, which waits for it.
	// It may be nil.
	Changed func()
	Logger  *slog.Logger
}

// Client keeps one server connected. Its goroutine owns the connection: it connects, connects again if the connection
// ends, and asks for the server's lists again when the server says that they have changed. The methods may be called
// from any goroutine; Close ends everything.
type Client struct {
	options Options
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	wake    chan struct{} // has room for one value
	tokens  atomic.Int64

	mu      sync.Mutex
	state   State
	gaveUp  bool  // the client waits for Wake
	problem error // why the server is not ready
	link    *link // nil if the server is not ready
	changed chan struct{}
	// listening has, by token, the function that tells a call of its progress.
	listening map[string]func(string)
}

// link is one connection. Only its catalog changes.
type link struct {
	session *sdk.ClientSession
	process *process.Live // nil over HTTP
	pipe    *pipe
	http    *guarded
	relist  chan struct{} // has room for one value
	ended   chan struct{} // closed when the session is over
	broken  chan error    // has room for one value: the error of a call that found the connection broken
	catalog *Catalog
}

// Permanent marks an error of Options.Open after which no other try can help.
func Permanent(err error) error { return permanent(err) }

type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

func permanent(err error) error { return permanentError{err} }

// New makes a client and begins to connect.
func New(o Options) *Client {
	o.StartTime = cmp.Or(o.StartTime, 30*time.Second)
	o.CallTime = cmp.Or(o.CallTime, 5*time.Minute)
	o.FirstPause = cmp.Or(o.FirstPause, 500*time.Millisecond)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		options: o, done: make(chan struct{}), wake: make(chan struct{}, 1), state: Starting,
		changed: make(chan struct{}), listening: map[string]func(string){},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.live()
	return c
}

// Close ends the connection and the server, and returns when none of the server's processes is left.
func (c *Client) Close() {
	c.cancel()
	<-c.done
}

// Wake makes a client that has given up connect again. It does not wait.
func (c *Client) Wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gaveUp {
		return
	}
	c.state, c.gaveUp = Starting, false
	close(c.changed)
	c.changed = make(chan struct{})
	c.wake <- struct{}{} // there is room: this is sent only once after the client gave up
}

// Status is the state of the connection, with what the server offers if it is ready, or else why it is not ready, as
// far as that is known.
func (c *Client) Status() (state State, catalog *Catalog, problem error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		catalog = c.link.catalog
	}
	return c.state, catalog, c.problem
}

// Await waits until the server is ready, a try has failed, or ctx ends, and returns what the server offers.
func (c *Client) Await(ctx context.Context) (*Catalog, error) {
	link, err := c.await(ctx, func() bool { return c.state != Starting })
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return link.catalog, nil
}

// await waits until the server is ready, or enough says that waiting cannot help.
func (c *Client) await(ctx context.Context, enough func() bool) (*link, error) {
	for {
		c.mu.Lock()
		state, link, problem, changed, stop := c.state, c.link, c.problem, c.changed, enough()
		c.mu.Unlock()
		switch {
		case link != nil:
			return link, nil
		case state == Stopped:
			return nil, errors.New("it was ended with the session")
		case stop:
			return nil, problem
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if problem != nil && !errors.Is(ctx.Err(), context.Canceled) {
				return nil, problem
			}
			return nil, ctx.Err()
		}
	}
}

// set changes the state, and wakes those who wait for that.
func (c *Client) set(change func()) {
	c.mu.Lock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if c.options.Changed != nil {
		c.options.Changed()
	}
}

// live runs the client from its first connection to its last.
func (c *Client) live() {
	defer close(c.done)
	defer c.set(func() { c.state, c.link = Stopped, nil })
	pause, failures := c.options.FirstPause, 0
	for {
		since := time.Now()
		err := c.connected()
		if c.ctx.Err() != nil {
			return
		}
		if time.Since(since) > settled {
			pause, failures = c.options.FirstPause, 0
		}
		failures++
		_, useless := errors.AsType[permanentError](err)
		useless = useless || failures >= maxFailures
		problem := errors.New(permission.Visible(text(err.Error(), maxProblem)))
		c.set(func() { c.state, c.link, c.problem, c.gaveUp = Failed, nil, problem, useless })
		c.options.Logger.Info("an MCP server is not connected", "server", c.options.Name, "problem", problem,
			"failures", failures)
		var again <-chan time.Time
		timer := time.NewTimer(pause)
		if !useless {
			again = timer.C
		}
		select {
		case <-again:
			pause = min(2*pause, maxPause)
		case <-c.wake:
			pause, failures = c.options.FirstPause, 0
		case <-c.ctx.Done():
		}
		timer.Stop()
		if c.ctx.Err() != nil {
			return
		}
		c.set(func() { c.state, c.gaveUp = Starting, false })
	}
}

// connected makes a connection. It returns when the connection has ended, with the reason.
func (c *Client) connected() (err error) {
	defer func() {
		// The SDK's decoders read what a server sends, and may panic.
		if p := recover(); p != nil {
			c.options.Logger.Error("the client of an MCP server panicked", "server", c.options.Name, "panic", p,
				"stack", string(debug.Stack()))
			err = permanent(fmt.Errorf("what it sent could not be understood: %v", p))
		}
	}()
	starting, cancel := context.WithTimeout(c.ctx, c.options.StartTime)
	defer cancel()
	l, err := c.connect(starting)
	if err != nil {
		return c.lateness(starting, err)
	}
	defer func() { err = l.close(err) }()
	if l.catalog, err = list(starting, c.options.Name, l.session); err != nil {
		return c.lateness(starting, err)
	}
	cancel()
	c.set(func() { c.state, c.link, c.problem = Ready, l, nil })
	err = c.attend(l)
	c.set(func() { c.state, c.link = Starting, nil })
	return err
}

// lateness replaces an error by one that names the time limit, if that was the cause.
func (c *Client) lateness(ctx context.Context, err error) error {
	if c.ctx.Err() == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it did not get ready within %s", c.options.StartTime)
	}
	return err
}

// connect starts the server and makes the handshake.
func (c *Client) connect(ctx context.Context) (*link, error) {
	l := &link{relist: make(chan struct{}, 1), ended: make(chan struct{}), broken: make(chan error, 1)}
	var transport sdk.Transport
	var err error
	if c.options.Open != nil {
		if l.process, err = c.options.Open(ctx); err != nil {
			return nil, err
		}
		l.pipe = newPipe(l.process)
		transport = l.pipe
	} else if transport, l.http, err = c.newHTTP(); err != nil {
		return nil, err
	}
	l.session, err = c.client(l).Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		return nil, l.close(err)
	}
	go func() {
		defer close(l.ended)
		_ = l.session.Wait() // the reader's error is better
	}()
	return l, nil
}

// client answers requests of a server. Sampling and elicitation are not offered, and thus refused.
func (c *Client) client(l *link) *sdk.Client {
	again := func() {
		select {
		case l.relist <- struct{}{}:
		default:
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agentls", Version: cmp.Or(c.options.Version, "0")},
		&sdk.ClientOptions{
			//lint:ignore SA1019 servers of the versions that are spoken ask for roots
			Capabilities:               &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}},
			ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { again() },
			PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { again() },
			ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { again() },
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				c.heard(r.Params)
			},
			MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
			Logger:         c.options.Logger,
		})
	for _, root := range c.options.Roots {
		//lint:ignore SA1019 servers of the versions that are spoken ask for roots
		client.AddRoots(&sdk.Root{URI: fileURI(root), Name: filepath.Base(root)})
	}
	return client
}

// attend waits until the connection has ended. Meanwhile, it asks for the lists again that the server says have
// changed.
func (c *Client) attend(l *link) error {
	for {
		select {
		case <-l.ended:
			return errors.New("it has ended")
		case err := <-l.broken:
			return err
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-l.relist:
		}
		ctx, cancel := context.WithTimeout(c.ctx, listPatience)
		catalog, err := list(ctx, c.options.Name, l.session)
		cancel()
		if err != nil {
			return err
		}
		c.set(func() { l.catalog = catalog })
		// A server that reports changes all the time is asked only after a pause.
		timer := time.NewTimer(listPause)
		select {
		case <-timer.C:
		case <-l.ended:
		case <-c.ctx.Done():
		}
		timer.Stop()
	}
}

// close ends the connection and the server. It adds to the error how the server ended.
func (l *link) close(err error) error {
	if l.process != nil {
		l.process.Kill()
		_ = l.pipe.Close() // its reader has ended, or ends now
	}
	if l.session != nil {
		_ = l.session.Close() // the connection has ended in any case
		<-l.ended
	}
	if l.http != nil {
		l.http.base.CloseIdleConnections()
	}
	if l.process == nil {
		return err
	}
	how := l.process.Wait()
	if problem := l.pipe.problem(); problem != nil {
		return problem
	}
	if how != "" {
		return errors.New(how)
	}
	return err
}
