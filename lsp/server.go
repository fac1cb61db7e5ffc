package lsp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// Server serves one editor. The reading goroutine of its connection owns the documents and the lifecycle; each part
// says in its own file who may call it.
type Server struct {
	options Options
	conn    *wire.Conn
	work    *work
	// initialize makes connected and the tables of methods. The connection lets no other message pass before that.
	connected     *connected
	notifications map[string]notification
	requests      map[string]request
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
	s := &Server{options: o, work: &work{logger: o.Logger}}
	s.work.background, s.work.stop = context.WithCancel(context.WithoutCancel(ctx))
	stream := wire.NewStream(in, out, wire.StreamOptions{Logger: o.Logger})
	s.conn = wire.NewConn(stream, wire.Options{Logger: o.Logger, IgnoreParent: o.IgnoreParent})
	return s
}

// serve works until the conversation ends, and then ends the server's parts.
func (s *Server) serve(ctx context.Context) (int, error) {
	code, err := s.conn.Run(ctx, wire.Dispatch{Request: s.request, Notification: s.notification, Before: s.before})
	return code, errors.Join(err, s.close())
}

// notification handles a message that needs no answer, in the order of the wire.
func (s *Server) notification(_ context.Context, method string, params jsonrpc2.RawMessage) {
	if err := s.notify(method, params); err != nil {
		s.options.Logger.Warn("a notification was ignored", "method", method, "error", err)
	}
}

func (s *Server) notify(method string, params jsonrpc2.RawMessage) error {
	if work, known := s.notifications[method]; known {
		return work(params)
	}
	return nil // an unknown notification is ignored
}

// request handles a message that needs an answer, on a goroutine of its own.
func (s *Server) request(ctx context.Context, method string, params jsonrpc2.RawMessage) (any, error) {
	if method == protocol.MethodInitialize {
		return answered(s.initialize)(ctx, params)
	}
	if answer, known := s.requests[method]; known {
		return answer(ctx, params)
	}
	return s.custom(ctx, method, params)
}

// custom dispatches the methods of schema/agent.metamodel.json.
func (s *Server) custom(ctx context.Context, method string, params []byte) (any, error) {
	result, handled, err := methods.Dispatch(ctx, s.connected.answers, method, params)
	switch {
	case !handled:
		return nil, wire.MethodNotFound(method)
	case err != nil:
		return nil, failed(err)
	}
	return result, nil
}

// initialize answers with what the server can do. It runs on the reading goroutine.
func (s *Server) initialize(_ context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	editor, trusted, err := introduced(s.work, &s.options, s.conn, p)
	if err != nil {
		return nil, err
	}
	s.connected = connect(editor, trusted)
	s.notifications, s.requests = notifications(s.connected), requests(s.connected)
	s.connected.trace.set(p.Trace)
	return &protocol.InitializeResult{
		Capabilities: capabilities(editor),
		ServerInfo:   protocol.ServerInfo{Name: "agentls", Version: protocol.NewOptional(s.options.Version)},
	}, nil
}

// before keeps the open documents for a request. It runs on the reading goroutine.
func (s *Server) before(ctx context.Context, _ string) context.Context {
	return s.connected.documents.Keep(ctx)
}

// close ends every goroutine of the server, and then the parts that they used.
func (s *Server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := s.work.end(ctx)
	if s.connected == nil {
		return err
	}
	return errors.Join(err, s.connected.close())
}
