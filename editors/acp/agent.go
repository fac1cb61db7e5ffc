package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore"
	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Options are what an agent is made of.
type Options struct {
	// Version is that of the program, for the client.
	Version string
	// Dir is the folder, absolute, that a client means that names none.
	Dir string
	// Open opens a folder with MCP servers, by name, that count as the user's. reading is called before a call of a run
	// reads files that it names by absolute paths, and waits for what it does.
	Open func(ctx context.Context, folder string, servers map[string]config.MCPServer,
		reading func(ctx context.Context, session event.SessionID, paths []string)) (*Project, error)
	// Write writes edits into the files of a folder. It returns the paths that have changed, and why each of the others
	// was not written, by the path of its edit.
	Write func(view *workspace.View, edits []workspace.FileEdit) (changed []string, refused map[string]error)
	// Logger gets what concerns no client.
	Logger *slog.Logger
}

// Project is a folder with the engine that works on it.
type Project struct {
	Engine *agentcore.Engine
	View   *workspace.View
	// Notice is what the user should know of the folder before a first prompt; "" for nothing.
	Notice string
	// Stale reports whether what was read to open the folder has changed: a new session needs the folder opened anew.
	Stale func(ctx context.Context) bool
	// Session makes a session on the folder, or one that goes on with a run, "" for none.
	Session func(ctx context.Context, resume event.RunID) (*agentcore.Session, error)
	// Close interrupts the runs and closes the engine.
	Close func(ctx context.Context) error
}

// Agent serves one client. The goroutine that works on requests owns what has no lock.
type Agent struct {
	Options
	conn   *jsonrpc2.Conn
	stream *stream
	queue  chan *jsonrpc2.Request
	ended  <-chan struct{}    // closed when the connection has ended
	end    context.CancelFunc // ends everything

	client  clientCapabilities
	begun   bool
	folders map[string]*folder // by their paths and MCP servers, as new sessions get them
	opened  []*folder          // all of them, also those of older sessions
	behind  []func()           // what is sent behind the answer that is being made
	working sync.WaitGroup

	mu       sync.Mutex // guards all below
	sessions map[string]*session
	closed   map[string]*session // by the client, in this process
	asked    uint64              // how many requests were sent to the client
}

// maxQueue is how many messages may wait before no other is read.
const maxQueue = 256

// Serve serves a client until it ends the connection, or ctx ends. Then it cancels what is under way, and waits for its
// end. It closes in.
func Serve(ctx context.Context, in io.ReadCloser, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &Agent{
		Options: o, stream: &stream{in: bufio.NewReader(in), close: in.Close, out: out},
		queue: make(chan *jsonrpc2.Request, maxQueue), folders: map[string]*folder{}, sessions: map[string]*session{},
		closed: map[string]*session{}, end: cancel,
	}
	a.conn = jsonrpc2.NewConn(ctx, a.stream, a, jsonrpc2.SetLogger(quietly{o.Logger}))
	a.ended = a.conn.DisconnectNotify()
	a.work(ctx)
	cancel()
	a.working.Wait()
	var faults []error
	for _, p := range a.opened {
		faults = append(faults, p.Close(ctx))
	}
	return errors.Join(faults...)
}

// quietly logs what the connection's library complains about.
type quietly struct{ *slog.Logger }

func (q quietly) Printf(format string, v ...any) { q.Debug(fmt.Sprintf(format, v...)) }

// Handle implements jsonrpc2.Handler, on the reading goroutine: it hands the message to the one that works.
func (a *Agent) Handle(_ context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	select {
	case a.queue <- r:
	case <-conn.DisconnectNotify():
	}
}

// work answers requests in their order until the connection has ended, and what was read before that.
func (a *Agent) work(ctx context.Context) {
	for {
		select {
		case r := <-a.queue:
			a.serve(ctx, r)
		case <-a.ended:
			for len(a.queue) > 0 { // nothing is added any more
				a.serve(ctx, <-a.queue)
			}
			return
		}
	}
}

// errLater says that a request is answered by another goroutine.
var errLater = errors.New("answered later")

// serve works on one message.
func (a *Agent) serve(ctx context.Context, r *jsonrpc2.Request) {
	result, err := a.dispatch(ctx, r)
	a.behind, _ = nil, a.answer(r, result, err, a.behind)
}

// answer answers a request, and then does what belongs behind the answer. The error says that the client is gone.
func (a *Agent) answer(r *jsonrpc2.Request, result any, err error, behind []func()) error {
	switch {
	case errors.Is(err, errLater):
		return nil
	case r.Notif && err != nil:
		a.Logger.Warn("a notification cannot be used", "method", r.Method, "error", err)
		return nil
	case r.Notif:
		return nil
	case err != nil:
		return a.stream.answer(r.ID.Str, nil, failureOf(err))
	}
	if err := a.stream.answer(r.ID.Str, result, nil); err != nil {
		return err
	}
	for _, do := range behind {
		do()
	}
	return nil
}

// method is how a method is worked on.
type method func(a *Agent, ctx context.Context, r *jsonrpc2.Request) (any, error)

// on makes a method of a function of its params.
func on[P any](do func(*Agent, context.Context, *P) (any, error)) method {
	return func(a *Agent, ctx context.Context, r *jsonrpc2.Request) (any, error) {
		var params P
		if err := decode(r.Params, &params); err != nil {
			return nil, err
		}
		return do(a, ctx, &params)
	}
}

// methods are those that a client may call.
func methods() map[string]method {
	return map[string]method{
		"initialize":                on((*Agent).initialize),
		"authenticate":              on((*Agent).authenticate),
		"session/new":               on((*Agent).newSession),
		"session/prompt":            (*Agent).prompt,
		"$/cancel_request":          on((*Agent).cancelRequest),
		"session/cancel":            on((*Agent).cancel),
		"session/list":              on((*Agent).listSessions),
		"session/load":              on((*Agent).loadSession),
		"session/resume":            on((*Agent).resumeSession),
		"session/close":             on((*Agent).closeSession),
		"session/set_mode":          on((*Agent).setMode),
		"session/set_config_option": on((*Agent).setOption),
	}
}

// dispatch finds the method of a message, and works on it.
func (a *Agent) dispatch(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	do := methods()[r.Method]
	switch {
	case do == nil && r.Notif:
		return nil, nil // such as "$/" of another version
	case do == nil:
		return nil, &jsonrpc2.Error{
			Code:    jsonrpc2.CodeMethodNotFound,
			Message: fmt.Sprintf("there is no method %q; agentls speaks version %d of ACP", r.Method, protocolVersion),
		}
	case !a.begun && r.Method != "initialize":
		return nil, invalidRequest("%s came before initialize; send initialize first", r.Method)
	}
	return do(a, ctx, r)
}

// initialize answers with our version, whatever the client's is: it ends the connection if it does not speak that.
func (a *Agent) initialize(_ context.Context, p *initializeParams) (any, error) {
	switch {
	case a.begun:
		return nil, invalidRequest("initialize came twice; start another agentls for another client")
	case p.Version == nil:
		return nil, missing("protocolVersion")
	}
	a.begun, a.client = true, p.Capabilities
	result := initializeResult{
		Version: protocolVersion, AuthMethods: []struct{}{},
		Agent: protocol.Implementation{Name: "agentls", Title: "agentls", Version: a.Version},
	}
	result.Capabilities.LoadSession, result.Capabilities.MCP.HTTP = true, true
	result.Capabilities.Prompt.Image, result.Capabilities.Prompt.Embedded = true, true
	return result, nil
}

// authenticate refuses: no method was offered, since keys of providers are the user's configuration.
func (a *Agent) authenticate(context.Context, *struct{}) (any, error) {
	return nil, invalidParams("there is nothing to log in to; `agentls doctor` says which keys it finds")
}

// call sends a request to the client and waits for its answer. Where ctx ends first, the client is told that nobody
// waits any more.
func (a *Agent) call(ctx context.Context, method string, params, result any) error {
	a.mu.Lock()
	a.asked++
	id := jsonrpc2.ID{Num: a.asked}
	a.mu.Unlock()
	err := a.conn.Call(ctx, method, params, result, jsonrpc2.PickID(id))
	if errors.Is(err, jsonrpc2.ErrClosed) {
		a.end() // nobody is there any more, which must not look like an answer
	}
	if err != nil && ctx.Err() != nil {
		// It fails if the client is gone.
		_ = a.stream.WriteObject(notification{"2.0", "$/cancel_request", map[string]any{"requestId": id.Num}})
	}
	return err
}

// callTime bounds calls of the client that no person has to answer.
const callTime = 10 * time.Second

// update sends what has happened in a session.
func (s *session) update(update any) {
	if s.agent.stream.WriteObject(notification{"2.0", "session/update", sessionUpdate{s.id, update}}) != nil {
		s.agent.end() // the client is gone
	}
}

// decode decodes params. The error says which member is wrong.
func decode(raw *json.RawMessage, params any) error {
	if raw == nil || len(*raw) == 0 || (*raw)[0] != '{' {
		return invalidParams("params is no object")
	}
	err := json.Unmarshal(*raw, params)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalidParams("params.%s is a %s, which it cannot be", wrong.Field, wrong.Value)
	}
	if err != nil {
		return invalidParams("params: %v", err)
	}
	return nil
}
