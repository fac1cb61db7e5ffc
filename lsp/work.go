package lsp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/agentls/agentls/agentcore/fault"
)

// work is the goroutines of a server. Its methods may be called from any goroutine.
type work struct {
	logger *slog.Logger
	// failed tells the user of a piece of work that panicked; set before the first one.
	failed func(text string)

	// background ends the goroutines, and wait waits for them. mu keeps goroutines from beginning after the end.
	background context.Context
	stop       context.CancelFunc
	mu         sync.Mutex
	wait       sync.WaitGroup
}

// goes starts a goroutine unless the end of the server has begun. Its context ends with the server, which waits for it.
func (w *work) goes(do func(ctx context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.background.Err() != nil {
		return
	}
	w.wait.Add(1)
	go func() {
		defer w.wait.Done()
		w.guarded(func() { do(w.background) })
	}()
}

// guarded calls do, and tells the user of a panic in it: a bug costs one piece of work and not the server.
func (w *work) guarded(do func()) {
	if err := w.caught(func() error { do(); return nil }); err != nil {
		w.failed("agentls: " + err.Error())
	}
}

// warn logs an error. It logs nothing if err is nil, or if ctx has ended, since that explains the error.
func (w *work) warn(ctx context.Context, text string, err error, about ...any) {
	if err != nil && ctx.Err() == nil {
		w.logger.Warn(text, append(about, "error", err)...)
	}
}

// caught calls do, and returns a panic in it as an error after logging it, so that a request gets an answer.
func (w *work) caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.logger.Error("a part of the server panicked", "panic", p, "stack", string(debug.Stack()))
			err = &fault.Error{
				Kind: fault.Internal, Detail: fmt.Sprintf("a part of the server failed because of a bug in it: %v", p),
				Hint: "the server goes on; its log has the details",
			}
		}
	}()
	return do()
}

// wake puts a token into a channel that has room for one. It never waits.
func wake(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default: // the receiver has not seen the last token yet, and will see this news with it
	}
}

// awaits waits until a channel is closed, ctx ends or the server does.
func (w *work) awaits(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.background.Done():
		return &fault.Error{Kind: fault.ShuttingDown, Detail: "the server is shutting down", Hint: "send nothing more"}
	}
}

// end ends every goroutine, and waits for them until ctx ends.
func (w *work) end(ctx context.Context) error {
	w.mu.Lock()
	w.stop()
	w.mu.Unlock()
	ended := make(chan struct{})
	go func() { w.wait.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("a part of the server did not end in time")
	}
}
