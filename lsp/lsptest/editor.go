package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sourcegraph/jsonrpc2"
	"go.lsp.dev/uri"
)

// EditorOptions are what an Editor is made of.
type EditorOptions struct {
	// Root is the workspace folder, an absolute path.
	Root    string
	Profile *Profile
	// Encodings replaces the position encodings that the profile offers; nil keeps those of the profile.
	Encodings []Encoding
	// InitializationOptions is sent as it is; nil is left out.
	InitializationOptions json.RawMessage
	// Settings answers workspace/configuration for the section "agentls"; nil is null.
	Settings json.RawMessage
	// Changed, where it is set, is called for each change of a document's text, before the server hears of it. byServer
	// tells an edit of the server from a change of the user. Changed is called under the editor's lock and must not use
	// the editor.
	Changed func(uri, before, after string, byServer bool)
	// Heard, where it is set, is called for each notification of the server, in their order, under the same conditions.
	Heard func(method string, params json.RawMessage)
	// Wire, where it is set, is called with each whole message on the wire, under the same conditions. direction is →
	// for a message to the server and ← for one from the server.
	Wire func(direction string, body []byte)
	// Foreign is a folder beside the workspace. The server may ask the editor to show files in it.
	Foreign string
}

// Editor is an editor with a server. Any goroutine may use its methods; the editor sends in the order of the calls.
// Close ends its goroutines: two of the connection, one that writes, and one for each document that the editor fetches.
// An Editor is made of parts with their own state, which the one lock of the judge guards. The unexported methods of
// the parts are called with the lock held, unless they take it themselves.
type Editor struct {
	options EditorOptions
	judge
	link
	announced
	buffers
	edits
	screen
	talk
	feed
	progress bars
}

// NewEditor makes an editor that speaks to a server over stream, which it owns. Nothing is sent before Initialize.
func NewEditor(stream io.ReadWriteCloser, o EditorOptions) *Editor {
	e := &Editor{options: o, judge: judge{profile: o.Profile, news: make(chan struct{})}}
	j, l, a, b := &e.judge, &e.link, &e.announced, &e.buffers
	*l = link{
		judge: j, wake: make(chan struct{}, 1), done: make(chan struct{}), pending: map[uint64]*call{},
		onWire: o.Wire, onCall: e.calls,
	}
	*a = announced{judge: j, encoding: UTF16, registered: map[string]registration{}}
	*b = buffers{
		judge: j, link: l, announced: a, root: o.Root, onChange: o.Changed, documents: map[string]*document{},
		known: map[string]int{}, written: map[string]bool{},
	}
	e.edits = edits{judge: j, link: l, buffers: b}
	e.screen = screen{
		judge: j, link: l, buffers: b, folder: o.Foreign, diagnostics: map[string]published{},
		foreign: map[string][]Diagnostic{}, shown: map[string]string{},
	}
	e.talk = talk{judge: j, link: l}
	e.feed = feed{judge: j, events: map[string]uint64{}, refreshes: map[string]int{}}
	e.progress = bars{judge: j, byToken: map[string]*Progress{}}
	c := codec{fault: e.lockedFault, trace: e.record}
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(stream, c), incoming{e},
		jsonrpc2.OnRecv(e.responded), jsonrpc2.SetLogger(complaints{e}))
	go e.write()
	return e
}

// calls notes a request before it is sent.
func (e *Editor) calls(c *call) {
	if c.subscribes() {
		e.subscribed = true // consent to agent/event
	}
	e.progress.give(c)
}

// incoming hands the connection's messages on, in their order.
type incoming struct{ e *Editor }

// Handle implements jsonrpc2.Handler.
func (in incoming) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) { in.e.receive(r) }

// complaints turns what the connection would only log into faults.
type complaints struct{ e *Editor }

// Printf implements jsonrpc2.Logger.
func (c complaints) Printf(format string, args ...any) { c.e.lockedFault(format, args...) }

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
