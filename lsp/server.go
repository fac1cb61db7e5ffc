package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/surface"
	"github.com/agentls/agentls/lsp/wire"
)

// Options are what a Server is made of.
type Options struct {
	// Version is told to the client.
	Version string
	// Dirs are the folders of the configuration and of the state.
	Dirs config.Dirs
	// Getenv reads the environment; nil means os.Getenv.
	Getenv func(string) string
	// Flags are configuration values from the command line, "key=value".
	Flags []string
	// OpenModel makes models; nil means the engine's own choice.
	OpenModel func(provider.Choice) (model.Model, error)
	// AnswerTime bounds the wait for an answer of the editor, but for questions for permission, which a person answers:
	// those have a second way after it, and after secondWayTime at the latest. 0 means a minute.
	AnswerTime time.Duration
	// ModelSilence bounds the wait for the next piece of an answer of the editor's model. 0 means two minutes.
	ModelSilence time.Duration
	// IgnoreParent keeps the server when the process that the editor names as its own has ended: in a container, the
	// number may be another process's. The server then ends with its input alone.
	IgnoreParent bool
	// Redactor knows secrets; nil means that the engine makes one.
	Redactor *secret.Redactor
	// Crash is called at the points that tests end the process at; nil is for everybody else.
	Crash  crash.Hook
	Logger *slog.Logger
}

// Server serves one editor. The reading goroutine of its connection owns the documents and the
// lifecycle; each surface says in its own file who owns what it holds.
type Server struct {
	options   Options
	logger    *slog.Logger
	conn      *wire.Conn
	client    *client.Client
	documents *document.Documents
	view      *workspace.View
	form      remark.Form
	settings  settings

	trace       trace
	board       *surface.Board
	status      *surface.Status
	diagnostics *surface.Diagnostics
	refresher   *surface.Refresher
	launches    *surface.Launches
	asks        *asker
	lending     *lending
	desk        *delivery.Desk
	unreviewed  *delivery.Unreviewed
	reloader    *reloader
	trust       *trust
	recovery    *recovery

	subscriptions subscriptions

	opening opening
	// engine is set before opening.ready is closed, and is not to be used before.
	engine *agentcore.Engine
	// restored is closed when what former sessions left is back, or could not be brought back.
	restored chan struct{}

	joining sync.Mutex                        // held while the window's session is made
	session atomic.Pointer[agentcore.Session] // the window's session, made by its first run

	// background ends the goroutines of this server; wait waits for them. None begins after the end, which goesMu
	// sees to.
	background context.Context
	stop       context.CancelFunc
	goesMu     sync.Mutex
	wait       sync.WaitGroup
}

// Serve speaks to one editor over in and out until it says exit, goes away, or ctx ends. It returns the
// exit code of the process.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) (int, error) {
	return newServer(ctx, in, out, o).serve(ctx)
}

// newServer makes a server that has yet to serve.
func newServer(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) *Server {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.AnswerTime <= 0 {
		o.AnswerTime = time.Minute
	}
	if o.ModelSilence <= 0 {
		o.ModelSilence = 2 * time.Minute
	}
	s := &Server{
		options: o, logger: o.Logger, settings: settings{news: make(chan struct{}, 1)}, opening: newOpening(),
		restored: make(chan struct{}),
	}
	s.lending = newLending(s)
	s.background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	stream := wire.NewStream(in, out, wire.StreamOptions{Logger: o.Logger})
	s.conn = wire.NewConn(stream, wire.Options{Logger: o.Logger, IgnoreParent: o.IgnoreParent})
	return s
}

// serve works until the conversation ends, and then ends what belongs to the server.
func (s *Server) serve(ctx context.Context) (int, error) {
	code, err := s.conn.Run(ctx, wire.Dispatch{Request: s.request, Notification: s.notification, Before: s.before})
	return code, errors.Join(err, s.close())
}

// notification works on what needs no answer, in the order of the wire.
func (s *Server) notification(ctx context.Context, method string, params jsonrpc2.RawMessage) {
	if err := s.notify(ctx, method, params); err != nil {
		s.logger.Warn("a notification was ignored", "method", method, "error", err)
	}
}

func (s *Server) notify(ctx context.Context, method string, params jsonrpc2.RawMessage) error {
	switch method {
	case protocol.MethodInitialized:
		return s.initialized(ctx)
	case protocol.MethodTextDocumentDidOpen:
		return decoded(params, s.didOpen)
	case protocol.MethodTextDocumentDidChange:
		return decoded(params, s.didChange)
	case protocol.MethodTextDocumentDidClose:
		return decoded(params, s.didClose)
	case protocol.MethodTextDocumentDidSave:
		return decoded(params, s.didSave)
	case protocol.MethodWorkspaceDidChangeWatchedFiles:
		return decoded(params, s.didChangeWatchedFiles)
	case protocol.MethodWorkspaceDidRenameFiles:
		return decoded(params, s.didRenameFiles)
	case protocol.MethodWorkspaceDidCreateFiles:
		return decoded(params, s.didCreateFiles)
	case protocol.MethodWorkspaceDidDeleteFiles:
		return decoded(params, s.didDeleteFiles)
	case protocol.MethodWorkspaceDidChangeWorkspaceFolders:
		return decoded(params, s.didChangeWorkspaceFolders)
	case protocol.MethodWorkspaceDidChangeConfiguration:
		return decoded(params, s.didChangeConfiguration)
	case protocol.MethodWindowWorkDoneProgressCancel:
		return decoded(params, s.cancelProgress)
	case protocol.MethodProgress:
		return s.progressed(params)
	case protocol.MethodSetTrace:
		return decoded(params, func(p *protocol.SetTraceParams) error { s.trace.set(p.Value); return nil })
	}
	return nil // what we do not know we were not asked to understand
}

// request works on what wants an answer, each on a goroutine of its own.
func (s *Server) request(ctx context.Context, method string, params jsonrpc2.RawMessage) (any, error) {
	switch method {
	case protocol.MethodInitialize:
		return answered(ctx, params, s.initialize)
	case protocol.MethodShutdown:
		return nil, s.shutdown(ctx)
	case protocol.MethodTextDocumentCodeAction:
		return answered(ctx, params, s.codeAction)
	case protocol.MethodTextDocumentCodeLens:
		return answered(ctx, params, s.codeLens)
	case protocol.MethodTextDocumentCompletion:
		return answered(ctx, params, s.completion)
	case protocol.MethodTextDocumentDiagnostic:
		return answered(ctx, params, s.diagnostics.Pull)
	case protocol.MethodWorkspaceDiagnostic:
		return answered(ctx, params, s.workspaceDiagnostic)
	case protocol.MethodTextDocumentInlayHint:
		return answered(ctx, params, s.inlayHint)
	case protocol.MethodTextDocumentHover:
		return answered(ctx, params, s.hover)
	case protocol.MethodTextDocumentDocumentSymbol:
		return answered(ctx, params, s.documentSymbol)
	case protocol.MethodWorkspaceExecuteCommand:
		return answered(ctx, params, s.executeCommand)
	case protocol.MethodWorkspaceTextDocumentContent:
		return answered(ctx, params, s.textDocumentContent)
	}
	return s.custom(ctx, method, params)
}

// custom dispatches the methods of schema/agent.metamodel.json.
func (s *Server) custom(ctx context.Context, method string, params []byte) (any, error) {
	result, handled, err := methods.Dispatch(ctx, answers{s, s.desk}, method, params)
	var bad *methods.ParamsError
	switch {
	case !handled:
		return nil, wire.MethodNotFound(method)
	case errors.As(err, &bad):
		return nil, wire.InvalidParams(err)
	case err != nil:
		return nil, failed(err)
	}
	return result, nil
}

func decoded[P any](params jsonrpc2.RawMessage, do func(*P) error) error {
	var p P
	if err := wire.Decode(params, &p); err != nil {
		return err
	}
	return do(&p)
}

func answered[P, R any](ctx context.Context, params jsonrpc2.RawMessage,
	do func(context.Context, *P) (R, error),
) (any, error) {
	var p P
	if err := wire.Decode(params, &p); err != nil {
		return nil, err
	}
	return do(ctx, &p)
}

// goes starts a goroutine that the server waits for at its end, unless that has begun. Its context ends with the
// server.
func (s *Server) goes(do func(ctx context.Context)) {
	s.goesMu.Lock()
	defer s.goesMu.Unlock()
	if s.background.Err() != nil {
		return
	}
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		s.guarded(func() { do(s.background) })
	}()
}

// guarded tells of a panic, so that a bug costs one piece of work and not the server.
func (s *Server) guarded(do func()) {
	if err := s.caught(func() error { do(); return nil }); err != nil {
		s.tell(s.background, protocol.MessageTypeError, "agentls: "+err.Error())
	}
}

// caught returns a panic as an error after logging it, so that who waits is answered.
func (s *Server) caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.logger.Error("a part of the server panicked", "panic", p, "stack", string(debug.Stack()))
			err = &fault.Error{
				Kind: fault.Internal, Detail: fmt.Sprintf("a part of the server failed because of a bug in it: %v", p),
				Hint: "the server goes on; its log has the details",
			}
		}
	}()
	return do()
}

// current returns the window's session; the first call makes it. Its first run gives it a title.
func (s *Server) current(ctx context.Context) (*agentcore.Session, error) {
	engine, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	s.joining.Lock()
	defer s.joining.Unlock()
	if session := s.session.Load(); session != nil {
		return session, nil
	}
	session, err := engine.ContinueSession(ctx, s.view, "")
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	s.trust.tell(session)
	s.session.Store(session)
	s.diagnostics.Touch(s.documents.Paths()...)
	return session, nil
}

// kept returns the window's session with what former ones left, or nil where there is nothing. It waits until that is
// known, so that a request right after the start does not miss it.
func (s *Server) kept(ctx context.Context) (*agentcore.Session, error) {
	if _, err := s.open(ctx); err != nil {
		return nil, err
	}
	if err := s.awaits(ctx, s.restored); err != nil {
		return nil, err
	}
	return s.opened(), nil
}

// opened returns the window's session, or nil where nothing was started yet. It never waits.
func (s *Server) opened() *agentcore.Session { return s.session.Load() }
