package wire

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

func TestLifecycleRequests(t *testing.T) {
	for _, test := range []struct {
		phase                       phase
		initialize, shutdown, other jsonrpc2.Code // 0 passes
		exit                        int
	}{
		{starting, 0, -32002, -32002, 1},
		{initializing, -32600, -32002, -32002, 1},
		{answered, -32600, 0, 0, 1},
		{running, -32600, 0, 0, 1},
		{stopping, -32600, -32600, -32600, 0},
		{stopped, -32600, -32600, -32600, 0},
	} {
		for method, want := range map[string]jsonrpc2.Code{
			methodInitialize: test.initialize, methodShutdown: test.shutdown, "other": test.other,
		} {
			l := lifecycle{phase: test.phase}
			var got jsonrpc2.Code
			if err := l.request(method); err != nil {
				got = err.Code
			}
			if got != want {
				t.Errorf("%s in phase %d: code %d, want %d", method, test.phase, got, want)
			}
		}
		l := lifecycle{phase: test.phase}
		if got := l.exitCode(); got != test.exit {
			t.Errorf("exit in phase %d: code %d, want %d", test.phase, got, test.exit)
		}
	}
}

func TestLifecycleOfASession(t *testing.T) {
	var l lifecycle
	check := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %t, want %t", what, got, want)
		}
	}
	sends := func(method string, call bool) bool {
		err := l.outgoing(method, call)
		if err != nil && !errors.Is(err, ErrNotReady) {
			t.Errorf("outgoing(%s): %v", method, err)
		}
		return err == nil
	}
	check("notification before initialize", l.notification("a"), false)
	check("log before initialize", sends("window/logMessage", false), false)
	for _, ok := range []bool{false, true} {
		check("initialize", l.request(methodInitialize) == nil, true)
		check("notification during initialize", l.notification("a"), false)
		check("log during initialize", sends("window/logMessage", false), true)
		check("message request during initialize", sends("window/showMessageRequest", true), true)
		check("call during initialize", sends("workspace/configuration", true), false)
		l.initializeDone(ok)
	}
	check("notification", l.notification("a"), true)
	check("call before initialized", sends("workspace/configuration", true), false)
	check("initialized", l.notification(methodInitialized), true)
	check("initialized again", l.notification(methodInitialized), false)
	check("call", sends("workspace/configuration", true), true)
	check("shutdown", l.request(methodShutdown) == nil, true)
	check("notification after shutdown", l.notification("a"), false)
	check("call after shutdown", sends("workspace/configuration", true), false)
	check("progress during shutdown", sends("$/progress", false), true)
	l.shutdownDone()
	check("progress after shutdown", sends("$/progress", false), false)
}

// Requests that race with a shutdown are written before its answer, or not at all.
func TestNothingFollowsTheAnswerToShutdown(t *testing.T) {
	for range 50 {
		c := serve(t, Dispatch{}, Options{})
		c.handshake()
		c.send(request(1, "x", "{}"))
		c.wantError("1", -32601) // so initialized was seen
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for c.conn.Notify(t.Context(), "note", nil) == nil {
					ctx, cancel := context.WithCancel(t.Context())
					cancel() // it is sent, and nobody waits for the answer
					_ = c.conn.Call(ctx, "ask", nil, nil)
				}
			})
		}
		c.next() // they are at it
		c.send(request(2, methodShutdown, "null"))
		for {
			if m := c.next(); string(m.ID) == "2" && m.Method == "" {
				break
			}
		}
		calls.Wait()
		c.send(notification(methodExit, "null"))
		for m := range c.got {
			t.Fatalf("behind the answer to shutdown came %s", show(m))
		}
		if got := c.end(); got != (ended{}) {
			t.Fatalf("ended with %v", got)
		}
	}
}
