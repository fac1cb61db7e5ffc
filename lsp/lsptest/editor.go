package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
	"go.lsp.dev/uri"
)

// EditorOptions are what an Editor is made of.
type EditorOptions struct {
	// Root is the workspace folder, an absolute path.
	Root    string
	Profile *Profile
	// Encodings replaces the position encodings that the profile offers; nil leaves them.
	Encodings []Encoding
	// InitializationOptions is sent as it is; nil is left out.
	InitializationOptions json.RawMessage
	// Settings answers workspace/configuration for the section "agentls"; nil is null.
	Settings json.RawMessage
	// Changed, where it is set, hears of each change of a document's text, before the server does: whether an edit of
	// the server's made it or the user. It is called under the editor's lock and must not use the editor.
	Changed func(uri, before, after string, byServer bool)
	// Heard, where it is set, hears of each notification that the server sends, in their order, under the same
	// conditions.
	Heard func(method string, params json.RawMessage)
	// Wire, where it is set, gets each message that goes over the wire, whole: the direction is → to the server and ←
	// from it. It is called under the same conditions.
	Wire func(direction string, body []byte)
	// Foreign accepts files that the editor may be asked to show beside those of the workspace: the
	// folder that they are in.
	Foreign string
}

// Message is something that the server told the user.
type Message struct {
	// Method is window/showMessage, window/logMessage or window/showMessageRequest.
	Method string
	// Type is LSP's MessageType: 1 error, 2 warning, 3 information, 4 log.
	Type int
	Text string
	// Titles are the choices of a request.
	Titles []string
}

// Notification is one of the custom notifications as it came.
type Notification struct {
	Method string
	Params json.RawMessage
}

// Editor is an editor with a server. Its methods may be used from any goroutine; what it sends goes
// out in the order of the calls. Its goroutines (two of the connection, one that writes, one for each document that it
// fetches) end with Close.
type Editor struct {
	options EditorOptions
	profile *Profile
	conn    *jsonrpc2.Conn
	wake    chan struct{} // has room for one: the outbox is not empty
	done    chan struct{} // closed when the writing goroutine has ended
	fetches sync.WaitGroup

	mu            sync.Mutex // guards all below
	news          chan struct{}
	outbox        []func()
	closed        bool
	phase         phase
	encoding      Encoding
	server        json.RawMessage // ServerCapabilities
	nextID        uint64
	pending       map[uint64]*call
	documents     map[string]*document
	diagnostics   map[string]published
	foreign       map[string][]Diagnostic // of other language servers
	progress      map[string]*Progress
	order         []*Progress // in the order of their creation
	messages      []Message
	notifications []Notification
	registered    map[string]registration // by id
	answers       []answer
	prompts       []prompt // that the user has yet to answer
	withdrawn     []string // texts of prompts that the server took back
	loans         []loan   // what it lends, in order
	unanswered    []*jsonrpc2.Request
	noPrompts     bool              // the editor does not implement window/showMessageRequest
	shown         map[string]string // URI → text
	applied       []EditAnswer
	refusal       string   // for the next applyEdit
	behindReply   []func() // sent behind the answer that is being made
	onEdit        func()   // runs at the next applyEdit, before it is looked at; without mu
	reaction      Reaction // to the next applyEdit
	held          []func() // what a Reaction keeps back
	written       map[string]bool
	contents      map[string][]byte // of what is written
	known         map[string]int    // how often each document was opened
	faults        []string
	trace         []string
	subscribed    bool
	events        map[string]uint64 // the number of the last event, by session
	refreshes     map[string]int
	heard         int // requests and notifications of the server
}

type phase int

const (
	phaseNew phase = iota
	phaseInitializing
	phaseRunning
	phaseShutdown
	phaseExited
)

// answer is what the user chooses in a question whose message fits.
type answer struct {
	message *regexp.Regexp
	title   string // "" dismisses
	hold    bool   // it is left open
}

// call is a request of ours under way.
type call struct {
	method string
	params json.RawMessage
	// command is the name of an executed command.
	command string
	ended   bool
}

// EditAnswer is an edit that the server asked for, and what the editor said.
type EditAnswer struct {
	Label   string
	Edit    json.RawMessage
	Applied bool
	Reason  string
}

// ErrDisconnected is wrapped by the errors of calls on a connection that has ended.
var ErrDisconnected = errors.New("the server is gone")

// NewEditor makes an editor that speaks to a server over stream, which it owns. Nothing is sent before Initialize.
func NewEditor(stream io.ReadWriteCloser, o EditorOptions) *Editor {
	e := &Editor{
		options: o, profile: o.Profile, wake: make(chan struct{}, 1), done: make(chan struct{}),
		news:     make(chan struct{}),
		encoding: UTF16, pending: map[uint64]*call{}, documents: map[string]*document{},
		diagnostics: map[string]published{},
		progress:    map[string]*Progress{}, registered: map[string]registration{}, shown: map[string]string{},
		written:   map[string]bool{},
		refreshes: map[string]int{}, known: map[string]int{}, events: map[string]uint64{},
	}
	c := codec{fault: e.lockedFault, trace: e.record}
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(stream, c), incoming{e},
		jsonrpc2.OnRecv(e.responded), jsonrpc2.SetLogger(complaints{e}))
	go e.write()
	return e
}

// incoming hands the connection's messages on, in their order.
type incoming struct{ e *Editor }

// Handle implements jsonrpc2.Handler.
func (in incoming) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) { in.e.receive(r) }

// complaints makes faults of what the connection would only log.
type complaints struct{ e *Editor }

// Printf implements jsonrpc2.Logger.
func (c complaints) Printf(format string, args ...any) { c.e.lockedFault(format, args...) }

// write sends what is in the outbox, in order, until the editor is closed.
func (e *Editor) write() {
	defer close(e.done)
	for {
		e.mu.Lock()
		batch, closed := e.outbox, e.closed
		e.outbox = nil
		e.mu.Unlock()
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
		case <-e.wake:
		case <-e.conn.DisconnectNotify():
			e.mu.Lock()
			e.closed = true
			e.mu.Unlock()
		}
	}
}

// post puts something into the outbox. The lock is held.
func (e *Editor) post(send func()) {
	e.outbox = append(e.outbox, send)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// notify sends a notification. The lock is held.
func (e *Editor) notify(method string, params any) {
	if strings.HasPrefix(method, "textDocument/did") || strings.HasPrefix(method, "workspace/did") {
		e.release()
	}
	raw := encode(params)
	var body any = &raw
	if params == nil {
		body = nil
	}
	e.post(func() {
		if err := e.conn.Notify(context.Background(), method, body); err != nil &&
			!errors.Is(err, jsonrpc2.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
			// the server may have crashed meanwhile
			e.lockedFault("send %s: %v", method, err)
		}
	})
}

// Notify sends any notification.
func (e *Editor) Notify(method string, params json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notify(method, params)
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
	e      *Editor
	id     uint64
	method string
	sent   chan sent
}

type sent struct {
	waiter jsonrpc2.Waiter
	err    error
}

// Begin sends a request without waiting for its answer. Wait has to be called for it, once.
func (e *Editor) Begin(method string, params any) *Pending {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.begin(method, params)
}

func (e *Editor) begin(method string, params any) *Pending {
	e.nextID++
	raw := encode(params)
	p := &Pending{e: e, id: e.nextID, method: method, sent: make(chan sent, 1)}
	c := &call{method: method, params: raw}
	if method == "workspace/executeCommand" {
		c.command = text(lookup(raw, "command"))
	}
	if method == "agent/subscribe" || c.command == "agentls.subscribe" {
		e.subscribed = true // consent to agent/event
	}
	e.pending[p.id] = c
	e.giveToken(c)
	e.post(func() {
		var body any = &raw
		if string(raw) == "null" {
			body = nil
		}
		w, err := e.conn.DispatchCall(context.Background(), method, body, jsonrpc2.PickID(jsonrpc2.ID{Num: p.id}))
		p.sent <- sent{w, err}
	})
	return p
}

// Cancel sends $/cancelRequest for it.
func (p *Pending) Cancel() {
	p.e.Notify("$/cancelRequest", encode(struct {
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
	case <-p.e.done:
		return fail(ErrDisconnected)
	case <-ctx.Done():
		return fail(ctx.Err())
	}
}

// Call sends a request and waits for its answer. An error answer is a *jsonrpc2.Error.
func (e *Editor) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return e.Begin(method, params).Wait(ctx)
}

// wait waits until cond holds, which is asked under the lock after each message. The error says what was waited for.
func (e *Editor) wait(ctx context.Context, what string, cond func() bool) error {
	for {
		e.mu.Lock()
		ok, news := cond(), e.news
		e.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-e.conn.DisconnectNotify():
			e.mu.Lock()
			defer e.mu.Unlock()
			if cond() {
				return nil
			}
			return fmt.Errorf("wait for %s: %w", what, ErrDisconnected)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// Until waits until cond holds, which is asked after each message of the server and may use the editor's methods. The
// error says what was waited for.
func (e *Editor) Until(ctx context.Context, what string, cond func() bool) error {
	for {
		e.mu.Lock()
		news := e.news
		e.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-news:
		case <-e.conn.DisconnectNotify():
			if cond() {
				return nil
			}
			return fmt.Errorf("wait for %s: %w", what, ErrDisconnected)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// changed wakes those who wait. The lock is held.
func (e *Editor) changed() {
	close(e.news)
	e.news = make(chan struct{})
}

// fault notes a breach of the protocol. The lock is held.
func (e *Editor) fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(e.faults, text) {
		e.faults = append(e.faults, text)
	}
}

func (e *Editor) lockedFault(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fault(format, args...)
}

// Faults are the breaches of the protocol so far, each once.
func (e *Editor) Faults() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.faults)
}

func (e *Editor) record(direction string, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trace = append(e.trace, direction+" "+shorten(string(body)))
	if e.options.Wire != nil {
		e.options.Wire(direction, body)
	}
}

// Trace is what went over the wire, a line each, long messages shortened.
func (e *Editor) Trace() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.trace)
}

type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

func (e *Editor) folders() []workspaceFolder {
	return []workspaceFolder{{string(uri.File(e.options.Root)), "workspace"}}
}

// Initialize makes the handshake.
func (e *Editor) Initialize(ctx context.Context) error {
	params := struct {
		ProcessID             int               `json:"processId"`
		ClientInfo            any               `json:"clientInfo"`
		RootURI               string            `json:"rootUri"`
		Capabilities          json.RawMessage   `json:"capabilities"`
		InitializationOptions json.RawMessage   `json:"initializationOptions,omitempty"`
		WorkspaceFolders      []workspaceFolder `json:"workspaceFolders,omitempty"`
	}{
		ProcessID: os.Getpid(), ClientInfo: e.profile.ClientInfo, RootURI: string(uri.File(e.options.Root)),
		Capabilities: e.profile.Capabilities, InitializationOptions: e.options.InitializationOptions,
	}
	if e.profile.Announces("workspace.workspaceFolders") {
		params.WorkspaceFolders = e.folders()
	}
	if e.options.Encodings != nil {
		var err error
		if params.Capabilities, err = offer(params.Capabilities, e.options.Encodings); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.phase = phaseInitializing
	p := e.begin("initialize", params)
	e.mu.Unlock()
	if _, err := p.Wait(ctx); err != nil {
		return err
	}
	e.Notify("initialized", json.RawMessage("{}"))
	return nil
}

// offer sets the position encodings in client capabilities.
func offer(capabilities json.RawMessage, encodings []Encoding) (json.RawMessage, error) {
	var all, general map[string]json.RawMessage
	if err := json.Unmarshal(capabilities, &all); err != nil {
		return nil, fmt.Errorf("decode the client capabilities: %w", err)
	}
	if raw := all["general"]; raw != nil {
		if err := json.Unmarshal(raw, &general); err != nil {
			return nil, fmt.Errorf("decode the client capabilities: %w", err)
		}
	}
	if general == nil {
		general = map[string]json.RawMessage{}
	}
	general["positionEncodings"] = encode(encodings)
	all["general"] = encode(general)
	return encode(all), nil
}

// Shutdown ends the conversation properly: shutdown, then exit. The server then closes the stream.
func (e *Editor) Shutdown(ctx context.Context) error {
	_, err := e.Call(ctx, "shutdown", nil)
	e.mu.Lock()
	e.phase = phaseExited
	e.notify("exit", nil)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-e.conn.DisconnectNotify():
	case <-ctx.Done():
		return fmt.Errorf("wait for the server to close its output: %w", context.Cause(ctx))
	}
	return nil
}

// Close closes the connection, without a word if Shutdown was not called, and waits for the editor's goroutines. What
// the server owes is a fault only after Shutdown.
func (e *Editor) Close() error {
	err := e.conn.Close()
	if errors.Is(err, jsonrpc2.ErrClosed) {
		err = nil
	}
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	<-e.done
	e.fetches.Wait()
	return err
}

// text decodes a JSON string; anything else is "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
