package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// answering is what Dispatch.Request is.
type answering = func(ctx context.Context, method string, params jsonrpc2.RawMessage) (any, error)

// answerLifecycle answers initialize and shutdown, and leaves the rest to next.
func answerLifecycle(next answering) answering {
	return func(ctx context.Context, method string, params jsonrpc2.RawMessage) (any, error) {
		switch method {
		case methodInitialize, methodShutdown:
			return nil, nil
		}
		return next(ctx, method, params)
	}
}

type countKey struct{}

// Each request sees exactly the notifications in front of it, although all requests run at the same time.
func TestRequestsSeeWhatCameBefore(t *testing.T) {
	const n = 500
	count := 0 // of the reading goroutine
	release := make(chan struct{})
	c := serve(t, Dispatch{
		Notification: func(_ context.Context, method string, _ jsonrpc2.RawMessage) {
			if method == "count" {
				count++
			}
		},
		Before: func(ctx context.Context, _ string) context.Context {
			return context.WithValue(ctx, countKey{}, count)
		},
		Request: answerLifecycle(func(ctx context.Context, _ string, params jsonrpc2.RawMessage) (any, error) {
			<-release
			return fmt.Sprintf("%s %d", params, ctx.Value(countKey{})), nil
		}),
	}, Options{})
	c.handshake()
	for i := range n {
		c.send(request(i+1, "seen", fmt.Sprintf("[%d]", i)) + notification("count", "{}"))
	}
	close(release)
	for range n {
		var got string
		m := c.next()
		if err := json.Unmarshal(m.Result, &got); err != nil {
			t.Fatal(err)
		}
		var param, seen int
		_, err := fmt.Sscanf(got, "[%d] %d", &param, &seen)
		if err != nil || param != seen || fmt.Sprint(param+1) != string(m.ID) {
			t.Errorf("id %s: %q", m.ID, got)
		}
	}
}

// Every request of a flood is answered exactly once.
func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	const n = 20_000
	c := serve(t, Dispatch{}, Options{})
	c.handshake()
	go func() {
		for i := 1; i <= n; i += 500 {
			var block strings.Builder
			for j := i; j < i+500; j++ {
				block.WriteString(request(j, "fuzz/ping", "{}"))
			}
			c.send(block.String())
		}
	}()
	seen := make(map[string]bool, n)
	for range n {
		m := c.next()
		if m.Error == nil || m.Error.Code != -32601 || seen[string(m.ID)] {
			t.Fatalf("got %s (seen before: %t)", show(m), seen[string(m.ID)])
		}
		seen[string(m.ID)] = true
	}
	c.send(request(n+1, methodShutdown, "null"), notification(methodExit, "null"))
	c.wantResult(fmt.Sprint(n + 1)) // and nothing stray before it
	if got := c.end(); got != (ended{}) {
		t.Errorf("ended with %v", got)
	}
}

func TestCancelRequest(t *testing.T) {
	begun := make(chan string, 1)
	c := serveRequests(t, func(ctx context.Context, method string, _ jsonrpc2.RawMessage) (any, error) {
		begun <- method
		<-ctx.Done()
		switch method {
		case "late":
			return "all the same", nil
		case "wrapped":
			return nil, RequestFailed(fmt.Errorf("review: %w", ctx.Err()))
		}
		return nil, ctx.Err()
	})
	c.handshake()
	for i, method := range []string{"plain", "wrapped", "late"} {
		c.send(request(7, method, "{}"))
		receive(t, begun)
		if i == 0 {
			// None of these is the request's id.
			for _, params := range []string{
				`{"id":"7"}`, `{"id":70}`, `{"id":null}`, `{"id":7.5}`, `{}`, `null`, `[7]`,
			} {
				c.send(notification(methodCancel, params))
			}
			c.send(request(7, "again", "{}"))
			c.wantError("7", -32600) // in use, and so not cancelled
		}
		c.send(notification(methodCancel, `{"id":7}`))
		if method == "late" {
			c.wantResult("7")
		} else {
			c.wantError("7", -32800)
		}
	}
}

func TestErrorsOnTheWire(t *testing.T) {
	peers := fmt.Errorf("ask the client: %w", jsonrpc2.NewError(jsonrpc2.MethodNotFound, "unknown"))
	detailed := &Error{
		Code: CodeRequestFailed, Message: "no such run",
		Data: Data{Kind: "unknownRun", Detail: "r1", Hint: "list the runs"},
	}
	for name, test := range map[string]struct {
		err  error
		code jsonrpc2.Code
		text string
		data Data
	}{
		"plain": {errors.New("x"), -32603, "x", Data{Kind: "internal", Detail: "x"}},
		"deadline": {
			context.DeadlineExceeded, -32803, "context deadline exceeded",
			Data{Kind: "failed", Detail: "context deadline exceeded"},
		},
		"cancelled by none": {
			context.Canceled, -32803, "agentls ended before it had finished this request",
			Data{Kind: "shutting_down", Detail: "agentls ended before it had finished this request"},
		},
		"coded":             {detailed, -32803, "no such run", detailed.Data},
		"coded and wrapped": {fmt.Errorf("wait: %w", detailed), -32803, "wait: no such run", detailed.Data},
		"without a code":    {&Error{Message: "x"}, -32603, "x", Data{Kind: "internal", Detail: "x"}},
		"jsonrpc2's":        {protocol.ErrContentModified, -32801, "content modified", Data{}},
		"the peer's": {
			peers, -32603, "ask the client: unknown", Data{Kind: "internal", Detail: "ask the client: unknown"},
		},
		"not UTF-8": {errors.New("a\xffb"), -32603, "a\uFFFDb", Data{Kind: "internal", Detail: "a\uFFFDb"}},
		"long method": {
			MethodNotFound(strings.Repeat("m", 1000)), -32601,
			`there is no request "` + strings.Repeat("m", 200) + `…"`,
			Data{Kind: "method_not_found", Detail: `there is no request "` + strings.Repeat("m", 200) + `…"`},
		},
		"params": {
			Decode(jsonrpc2.RawMessage(`[1]`), new(protocol.CodeLensParams)), -32602,
			"invalid params: expected an object",
			Data{Kind: "invalid_params", Detail: "expected an object"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := serveRequests(t, func(context.Context, string, jsonrpc2.RawMessage) (any, error) {
				return nil, test.err
			})
			c.handshake()
			c.send(request(1, "x", "{}"))
			m := c.wantError("1", test.code)
			if m.Error.Message != test.text || m.Error.Data != test.data {
				t.Errorf("got %q %+v", m.Error.Message, m.Error.Data)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	var command protocol.ExecuteCommandParams
	for _, params := range []string{`{"command":3}`, `[]`, `{`} {
		var coded *Error
		err := Decode(jsonrpc2.RawMessage(params), &command)
		if !errors.As(err, &coded) || coded.Code != jsonrpc2.InvalidParams {
			t.Errorf("%s: %v", params, err)
		}
	}
	params := jsonrpc2.RawMessage(`{"command":"c","arguments":[{"a":1}]}`)
	if err := Decode(params, &command); err != nil {
		t.Fatal(err)
	}
	for i := range params {
		params[i] = 'x' // what was decoded must not alias the frame
	}
	if command.Command != "c" || string(command.Arguments[0]) != `{"a":1}` {
		t.Errorf("decoded %+v", command)
	}
	if err := Decode(nil, &protocol.ExecuteCommandParams{}); err != nil {
		t.Errorf("absent params: %v", err)
	}
}

func TestResults(t *testing.T) {
	for name, test := range map[string]struct {
		result any
		want   string
	}{
		"nil":         {nil, "null"},
		"nil pointer": {(*protocol.Hover)(nil), "null"},
		"raw":         {jsonrpc2.RawMessage(`{"a":1}`), `{"a":1}`},
		"empty slice": {[]protocol.CodeLens{}, "[]"},
		"protocol's":  {&protocol.Position{Line: 1, Character: 2}, `{"line":1,"character":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := serveRequests(t, func(context.Context, string, jsonrpc2.RawMessage) (any, error) {
				return test.result, nil
			})
			c.handshake()
			c.send(request(1, "x", "{}"))
			if m := c.wantResult("1"); string(m.Result) != test.want {
				t.Errorf("got %s, want %s", m.Result, test.want)
			}
		})
	}
}

// badResult panics when it is encoded.
type badResult struct{}

func (badResult) MarshalJSON() ([]byte, error) { panic("no JSON today") }

func TestPanics(t *testing.T) {
	var log bytes.Buffer
	c := serve(t, Dispatch{
		Notification: func(_ context.Context, method string, _ jsonrpc2.RawMessage) {
			if method == "panic" {
				panic("in a notification")
			}
		},
		Before: func(ctx context.Context, method string) context.Context {
			if method == "before" {
				panic("in Before")
			}
			return ctx
		},
		Request: answerLifecycle(func(_ context.Context, method string, _ jsonrpc2.RawMessage) (any, error) {
			switch method {
			case "panic":
				panic("in a request")
			case "encode":
				return badResult{}, nil
			}
			return nil, nil
		}),
	}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c.handshake()
	c.send(notification("panic", "{}"))
	for i, method := range []string{"before", "panic", "encode"} {
		c.send(request(i+1, method, "{}"))
		c.wantError(fmt.Sprint(i+1), -32603)
	}
	c.send(request(9, "fine", "{}"))
	c.wantResult("9")
	c.send(notification(methodExit, "null"))
	c.end() // from here on the log is ours to read
	for _, want := range []string{"in a notification", "in a request", "in Before", "no JSON today", "conn_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// The lifecycle decides in wire order: all of this is sent at once.
func TestLifecycleInWireOrder(t *testing.T) {
	block := make(chan struct{})
	var mu sync.Mutex
	var notes []string
	c := serve(t, Dispatch{
		Notification: func(_ context.Context, method string, _ jsonrpc2.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			notes = append(notes, method)
		},
		Request: func(_ context.Context, method string, _ jsonrpc2.RawMessage) (any, error) {
			if method == methodShutdown {
				<-block
			}
			return nil, nil
		},
	}, Options{})
	initialize := func(id int) string { return request(id, methodInitialize, `{"processId":null}`) }
	c.send(notification("early", "{}") + request(1, "x", "{}") + request(2, methodShutdown, "null") +
		frame(`{"jsonrpc":"2.0","id":3,"method":"initialize"}`) + initialize(4) + initialize(5) +
		notification("didOpen", "{}") + notification(methodInitialized, "{}") + notification(methodInitialized, "{}") +
		request(6, methodShutdown, "null") + request(7, "x", "{}") + request(8, methodShutdown, "null") +
		notification("late", "{}"))
	c.wantError("1", -32002)
	c.wantError("2", -32002)
	c.wantError("3", -32602)
	c.wantResult("4")
	c.wantError("5", -32600)
	c.wantError("7", -32600)
	c.wantError("8", -32600)
	// The exit does not cut shutdown short.
	c.send(notification(methodExit, "null"))
	receive(t, c.conn.Done())
	close(block)
	c.wantResult("6")
	if got := c.end(); got != (ended{}) {
		t.Errorf("ended with %v", got)
	}
	if got := fmt.Sprint(notes); got != "[didOpen initialized]" {
		t.Errorf("notifications that passed: %s", got)
	}
}

func TestEnds(t *testing.T) {
	cause := errors.New("told to stop")
	for name, test := range map[string]struct {
		do   func(c *client)
		code int
		err  error
	}{
		"exit at once": {func(c *client) { c.send(notification(methodExit, "null")) }, 1, nil},
		"exit":         {func(c *client) { c.handshake(); c.send(notification(methodExit, "null")) }, 1, nil},
		"end of input": {func(c *client) { c.handshake(); c.in.Close() }, 1, nil},
		"end of input, shut down": {func(c *client) {
			c.handshake()
			c.send(request(1, methodShutdown, "null"))
			c.wantResult("1")
			c.in.Close()
		}, 0, nil},
		"end in a message": {
			func(c *client) { c.handshake(); c.send("Content-"); c.in.Close() }, 1, io.ErrUnexpectedEOF,
		},
		"lost framing": {func(c *client) { c.handshake(); c.send("hello\r\n") }, 1, ErrFraming},
		"context":      {func(c *client) { c.handshake(); c.cancel(cause) }, 1, cause},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, Dispatch{}, Options{})
			test.do(c)
			got := c.end()
			if got.code != test.code || !errors.Is(got.err, test.err) {
				t.Errorf("ended with %v, want %d and %v", got, test.code, test.err)
			}
			if err := c.conn.Notify(t.Context(), "a", nil); !errors.Is(err, ErrClosed) {
				t.Errorf("a notification after the end: %v", err)
			}
			if err := c.conn.Call(t.Context(), "a", nil, nil); !errors.Is(err, ErrClosed) {
				t.Errorf("a call after the end: %v", err)
			}
		})
	}
}

// At the end every request is cancelled, waited for and still answered.
func TestEndAnswersWhatIsUnderWay(t *testing.T) {
	for _, end := range []string{"exit", "end of input"} {
		t.Run(end, func(t *testing.T) {
			const n = 20
			var begun sync.WaitGroup
			begun.Add(n)
			c := serveRequests(t, func(ctx context.Context, _ string, _ jsonrpc2.RawMessage) (any, error) {
				begun.Done()
				<-ctx.Done()
				return nil, ctx.Err()
			})
			c.handshake()
			for i := range n {
				c.send(request(i+1, "wait", "{}"))
			}
			begun.Wait()
			if end == "exit" {
				c.send(notification(methodExit, "null"))
			} else {
				c.in.Close()
			}
			c.end()
			for range n {
				if m := c.next(); m.Error == nil || m.Error.Code != -32803 {
					t.Errorf("got %s", show(m))
				}
			}
		})
	}
}

// A request that does not heed its context, and a client that does not read, cannot hold up the end for ever.
func TestEndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		conn := NewConn(NewStream(inR, outW, StreamOptions{}), Options{Grace: time.Minute})
		stuck := make(chan struct{})
		done := make(chan ended, 1)
		go func() {
			code, err := conn.Run(t.Context(), Dispatch{
				Request: answerLifecycle(func(context.Context, string, jsonrpc2.RawMessage) (any, error) {
					<-stuck
					return nil, nil
				}),
				Notification: func(context.Context, string, jsonrpc2.RawMessage) {},
			})
			done <- ended{code, err}
		}()
		go func() {
			defer inW.Close()
			_, err := io.WriteString(inW,
				request(1, methodInitialize, "{}")+request(2, "stuck", "{}")+notification(methodExit, "null"))
			if err != nil {
				t.Error(err)
			}
		}()
		// Only the answer to initialize is ever read.
		if _, err := outR.Read(make([]byte, 1<<10)); err != nil {
			t.Error(err)
		}
		if got := <-done; got.code != 1 {
			t.Errorf("ended with %v", got)
		}
		close(stuck)
		synctest.Wait()
	})
}

func TestCall(t *testing.T) {
	c := serve(t, Dispatch{}, Options{})
	if err := c.conn.Call(t.Context(), "workspace/configuration", nil, nil); !errors.Is(err, ErrNotReady) {
		t.Errorf("before initialize: %v", err)
	}
	c.handshake()
	c.send(request(1, "x", "{}"))
	c.wantError("1", -32601) // so initialized was seen
	type outcome struct {
		result string
		err    error
	}
	outcomes := make(chan outcome, 1)
	call := func(ctx context.Context) message {
		go func() {
			var o outcome
			o.err = c.conn.Call(ctx, "ask", map[string]int{"a": 1}, &o.result)
			outcomes <- o
		}()
		m := c.next()
		if m.Method != "ask" || string(m.Params) != `{"a":1}` {
			t.Fatalf("got %s", show(m))
		}
		return m
	}
	answer := func(id json.RawMessage, rest string) {
		c.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s%s}`, id, rest)))
	}

	m := call(t.Context())
	answer(m.ID, `,"result":"yes"`)
	if got := receive(t, outcomes); got.err != nil || got.result != "yes" {
		t.Errorf("got %+v", got)
	}
	answer(m.ID, `,"result":"again"`) // does no harm

	m = call(t.Context())
	answer(m.ID, `,"error":{"code":-32601,"message":"unknown"}`)
	var fault *jsonrpc2.Error
	if got := receive(t, outcomes); !errors.As(got.err, &fault) || fault.Code != jsonrpc2.MethodNotFound {
		t.Errorf("got %+v", got)
	}

	m = call(t.Context())
	answer(m.ID, "") // as some clients send null
	if got := receive(t, outcomes); got.err != nil {
		t.Errorf("got %+v", got)
	}

	ctx, cancel := context.WithCancel(t.Context())
	m = call(ctx)
	cancel()
	if got := receive(t, outcomes); !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %+v", got)
	}
	c.wantCancelled(m.ID)
	answer(m.ID, `,"result":"late"`)
	answer([]byte("12345"), `,"result":"to nothing"`)

	short, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	m = call(short)
	if got := receive(t, outcomes); !errors.Is(got.err, context.DeadlineExceeded) {
		t.Errorf("got %+v", got)
	}
	c.wantCancelled(m.ID)

	call(t.Context())
	c.in.Close()
	if got := receive(t, outcomes); !errors.Is(got.err, ErrClosed) {
		t.Errorf("a call at the end: %+v", got)
	}
	c.end()
}

// A call on the reading goroutine would wait for an answer that nobody reads.
func TestCallOnTheReadingGoroutine(t *testing.T) {
	var c *client
	inline, detached := make(chan error, 2), make(chan error, 1)
	started := make(chan struct{})
	c = serve(t, Dispatch{
		Request: func(ctx context.Context, method string, _ jsonrpc2.RawMessage) (any, error) {
			<-started
			if method == methodInitialize {
				inline <- c.conn.Call(ctx, "window/showMessageRequest", nil, nil)
			}
			return nil, nil
		},
		Notification: func(ctx context.Context, method string, _ jsonrpc2.RawMessage) {
			inline <- c.conn.Call(ctx, "workspace/configuration", nil, nil)
			go func() { detached <- c.conn.Call(Detach(ctx), "workspace/configuration", nil, nil) }()
		},
	}, Options{})
	close(started)
	c.handshake()
	for range 2 {
		if err := receive(t, inline); err == nil || !strings.Contains(err.Error(), "wire.Detach") {
			t.Errorf("inline: %v", err)
		}
	}
	m := c.next()
	c.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID)))
	if err := receive(t, detached); err != nil {
		t.Errorf("detached: %v", err)
	}
}

// parentProcess starts a process that ends when the returned function closes its input.
func parentProcess(t *testing.T) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "WIRE_TEST_PARENT=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	end = func() {
		once.Do(func() {
			stdin.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("the parent: %v", err)
			}
		})
	}
	t.Cleanup(end)
	return cmd.Process.Pid, end
}

func TestParentExits(t *testing.T) {
	pid, end := parentProcess(t)
	c := serve(t, Dispatch{}, Options{})
	c.send(request(1, methodInitialize, fmt.Sprintf(`{"processId":%d}`, pid)))
	c.wantResult("1")
	c.send(request(2, "x", "{}"))
	c.wantError("2", -32601) // alive as long as the parent is
	end()
	if got := c.end(); got.code != 1 || !errors.Is(got.err, ErrParentExited) {
		t.Errorf("ended with %v", got)
	}
}

// TestParentExitsBeforeTheWait: a parent that dies between the look at it, before initialize is answered, and the wait
// for its end has been there.
func TestParentExitsBeforeTheWait(t *testing.T) {
	pid, end := parentProcess(t)
	wait, err := openParent(pid)
	if err != nil {
		t.Fatal(err)
	}
	end()
	if err := wait(t.Context()); err != nil {
		t.Errorf("the end was not seen: %v", err)
	}
}

func TestParentIgnored(t *testing.T) {
	pid, end := parentProcess(t)
	end()
	c := serve(t, Dispatch{}, Options{IgnoreParent: true})
	c.send(request(1, methodInitialize, fmt.Sprintf(`{"processId":%d}`, pid)))
	c.wantResult("1")
	c.send(request(2, "x", "{}"), notification(methodExit, "null"))
	c.wantError("2", -32601)
	if got := c.end(); got.err != nil {
		t.Errorf("ended with %v", got)
	}
}

// lineLog hands out what is written to it.
type lineLog struct{ lines chan string }

func (l *lineLog) Write(p []byte) (int, error) { l.lines <- string(p); return len(p), nil }

// TestParentNeverSeen: a process that is not there at the first look is none of ours, since a client outside of a
// container names a number of its own namespace. The server goes on until its input ends.
func TestParentNeverSeen(t *testing.T) {
	pid, end := parentProcess(t)
	end()
	log := &lineLog{lines: make(chan string, 16)}
	c := serve(t, Dispatch{}, Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	c.send(request(1, methodInitialize, fmt.Sprintf(`{"processId":%d}`, pid)))
	c.wantResult("1")
	select {
	case line := <-log.lines:
		if !strings.Contains(line, "not watched") {
			t.Errorf("the log says %q", line)
		}
	case <-c.conn.Done():
	}
	c.send(request(2, "x", "{}"), notification(methodExit, "null"))
	c.wantError("2", -32601)
	if got := c.end(); got.err != nil {
		t.Errorf("ended with %v", got)
	}
}

func TestPollExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		err := pollExit(t.Context(), time.Hour, func() bool { looks++; return looks < 4 })
		if err != nil || looks != 4 {
			t.Errorf("looked %d times: %v", looks, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		if err := pollExit(ctx, time.Hour, func() bool { return true }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a living process was given up: %v", err)
		}
	})
}
