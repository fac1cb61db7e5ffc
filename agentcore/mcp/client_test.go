package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/process"
)

func TestMain(m *testing.M) {
	mcptest.Dispatch()
	goleak.VerifyTestMain(m)
}

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = 2 * time.Minute

// starter starts this test binary as a server of a kind, each time that it is asked.
func starter(t *testing.T, kind string) func(context.Context) (*process.Live, error) {
	return func(context.Context) (*process.Live, error) {
		own, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(own)
		cmd.Env = append(os.Environ(), mcptest.Variable+"="+kind)
		childIn, in, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		out, childOut, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		words := &strings.Builder{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, words
		err = cmd.Start()
		childIn.Close()
		childOut.Close()
		if err != nil {
			return nil, err
		}
		return &process.Live{In: in, Out: out, Kill: func() { _ = cmd.Process.Kill() }, Wait: func() string {
			if err := cmd.Wait(); err != nil && strings.Contains(err.Error(), "exit status") {
				return err.Error() + ": " + strings.TrimSpace(words.String())
			}
			return ""
		}}, nil
	}
}

// connect makes a client that ends with the test.
func connect(t *testing.T, o Options) *Client {
	t.Helper()
	o.Name = cmp.Or(o.Name, "srv")
	o.FirstPause = cmp.Or(o.FirstPause, time.Millisecond)
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	return ctx
}

// call calls a tool as it is offered now.
func call(t *testing.T, c *Client, name, arguments string) (Result, error) {
	t.Helper()
	_, catalog, problem := c.Status()
	if catalog == nil {
		t.Fatalf("the server is not ready: %v", problem)
	}
	tool, ok := catalog.Tool(mcpname.Tool("srv", name))
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	return c.Call(bounded(t), tool.Name, tool.Version, json.RawMessage(arguments), nil)
}

// transports are the ways to a good server.
func transports(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("pipe", func(t *testing.T) { test(t, Options{Open: starter(t, "good")}) })
	t.Run("http", func(t *testing.T) {
		test(t, Options{URL: mcptest.Serve(t, mcptest.Handler(t))})
	})
}

func TestGoodServer(t *testing.T) {
	transports(t, func(t *testing.T, o Options) {
		o.Roots = []string{"/work space"}
		c := connect(t, o)
		catalog, err := c.Await(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(catalog.Problems) > 0 || catalog.Server != "good 1.0" || !catalog.Resources {
			t.Errorf("it offers %+v", catalog)
		}
		for _, one := range []struct{ name, arguments, want string }{
			{"echo", `{"text":"hello"}`, "echo: hello"},
			{"roots", `{}`, "file:///work%20space\n"},
			{"sample", `{}`, `sampling: calling "sampling/createMessage": client does not support CreateMessage`},
			{"ask", `{}`, `elicitation: `},
		} {
			result, err := call(t, c, one.name, one.arguments)
			if err != nil || !strings.HasPrefix(result.Text, one.want) || result.Failed {
				t.Errorf("%s: %+v, %v", one.name, result, err)
			}
		}
		if result, err := call(t, c, "ask", `{}`); err != nil || strings.Contains(result.Text, "<nil>") {
			t.Errorf("the user was asked: %+v, %v", result, err)
		}
		if result, err := call(t, c, "fail", `{}`); err != nil || !result.Failed || result.Text != "it did not work" {
			t.Errorf("fail: %+v, %v", result, err)
		}
		if result, err := call(t, c, "image", `{}`); err != nil || len(result.Images) != 1 ||
			result.Images[0].MIME != "image/png" {
			t.Errorf("image: %+v, %v", result, err)
		}
		if result, err := c.Resources(bounded(t), ""); err != nil || !strings.Contains(result.Text, "docs://one") ||
			!strings.Contains(result.Text, "docs://page/{n}") {
			t.Errorf("resources: %+v, %v", result, err)
		}
		if result, err := c.ReadResource(bounded(t), "docs://page/3"); err != nil ||
			result.Text != "the text of docs://page/3" {
			t.Errorf("resource: %+v, %v", result, err)
		}
		if _, err := c.ReadResource(bounded(t), "docs://none/3"); err == nil ||
			!strings.Contains(err.Error(), "refused") {
			t.Errorf("a resource that is not there: %v", err)
		}
		text, err := c.Expand(bounded(t), "mcp__srv__summary", map[string]string{"file": "a.go", "style": "short"})
		if err != nil || text != `Summarize the file a.go in the style "short".` {
			t.Errorf("prompt: %q, %v", text, err)
		}
	})
}

// TestCancel cancels a call, of which the server hears.
func TestCancel(t *testing.T) {
	transports(t, func(t *testing.T, o Options) {
		c := connect(t, o)
		catalog, err := c.Await(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		note := filepath.Join(t.TempDir(), "note")
		arguments, err := json.Marshal(map[string]string{"path": note})
		if err != nil {
			t.Fatal(err)
		}
		tool, _ := catalog.Tool("mcp__srv__wait")
		ctx, cancel := context.WithCancel(bounded(t))
		heard := make(chan string, 1)
		_, err = c.Call(ctx, tool.Name, tool.Version, arguments, func(said string) {
			heard <- said
			cancel()
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("the call ended with %v", err)
		}
		if said := <-heard; said != "1 of 3 on the way" {
			t.Errorf("its progress was %q", said)
		}
		// The server is still there, and has written it down before long.
		for ctx := bounded(t); ; {
			if text, err := os.ReadFile(note); err == nil && string(text) == "cancelled" {
				break
			}
			if ctx.Err() != nil {
				t.Fatal("the server did not hear that the call was cancelled")
			}
			if _, err := call(t, c, "echo", `{"text":"a"}`); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestChangedTool calls a tool that the server has changed since it was allowed.
func TestChangedTool(t *testing.T) {
	transports(t, func(t *testing.T, o Options) {
		changed := make(chan struct{}, 100)
		o.Changed = func() { changed <- struct{}{} }
		c := connect(t, o)
		catalog, err := c.Await(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		before, _ := catalog.Tool("mcp__srv__echo")
		if _, err := call(t, c, "change", `{}`); err != nil {
			t.Fatal(err)
		}
		for ctx := bounded(t); ; {
			_, catalog, _ := c.Status()
			if now, ok := catalog.Tool(before.Name); ok && now.Version != before.Version {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("the change was not seen")
			}
		}
		if _, err := c.Call(bounded(t), before.Name, before.Version, json.RawMessage(`{"text":"a"}`),
			nil); !errors.Is(err, ErrChanged) {
			t.Errorf("the call of the former version ended with %v", err)
		}
		if result, err := call(t, c, "echo", `{"text":"a"}`); err != nil || result.Text != `changed: {"text":"a"}` {
			t.Errorf("the call of the new version: %+v, %v", result, err)
		}
	})
}

// TestServerDies ends a server in the middle of a call: that call is not made again, and the next one finds a new
// server.
func TestServerDies(t *testing.T) {
	var c *Client
	made, ended := make(chan struct{}), make(chan string, 1)
	c = connect(t, Options{Open: starter(t, "good"), Changed: func() {
		<-made
		if state, _, problem := c.Status(); state == Failed {
			ended <- problem.Error()
		}
	}})
	close(made)
	if _, err := c.Await(bounded(t)); err != nil {
		t.Fatal(err)
	}
	first, err := call(t, c, "pid", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, c, "die", `{}`); !errors.Is(err, ErrUnknownOutcome) ||
		!strings.Contains(err.Error(), "ended, or the connection to it broke") {
		t.Fatalf("the call that ended the server says %v", err)
	}
	if why := <-ended; !strings.Contains(why, "exit status 7: my last words") {
		t.Errorf("it ended, and its client says %q", why)
	}
	next, err := c.Call(bounded(t), "mcp__srv__pid", versionOf(t, c, "mcp__srv__pid"), json.RawMessage(`{}`), nil)
	if err != nil || next.Text == first.Text {
		t.Errorf("after that: %+v, %v", next, err)
	}
}

// versionOf waits until a server is ready again.
func versionOf(t *testing.T, c *Client, name string) string {
	t.Helper()
	l, err := c.ready(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := l.catalog.Tool(name)
	return tool.Version
}

// TestHTTPServerDies ends a server over HTTP and starts another one at its address.
func TestHTTPServerDies(t *testing.T) {
	var now atomic.Pointer[http.Handler]
	first, second := mcptest.Handler(t), mcptest.Handler(t)
	gone := http.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	now.Store(&first)
	c := connect(t,
		Options{
			URL: mcptest.Serve(t,
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*now.Load()).ServeHTTP(w, r) })),
		})
	if _, err := c.Await(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, c, "echo", `{"text":"a"}`); err != nil {
		t.Fatal(err)
	}
	version := versionOf(t, c, "mcp__srv__echo")
	now.Store(&gone)
	if _, err := c.Call(bounded(t), "mcp__srv__echo", version, json.RawMessage(`{"text":"b"}`), nil); err == nil {
		t.Fatal("a server that is gone answers")
	}
	now.Store(&second)
	for ctx := bounded(t); ; {
		c.Wake()
		result, err := c.Call(ctx, "mcp__srv__echo", version, json.RawMessage(`{"text":"c"}`), nil)
		if err == nil && result.Text == "echo: c" {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the new server was not found: %v", err)
		}
	}
}

// TestGivesUp tries a server that cannot start a few times, until it is woken.
func TestGivesUp(t *testing.T) {
	var tries atomic.Int32
	changed := make(chan struct{}, 1000)
	start := starter(t, "gone")
	c := connect(t,
		Options{Changed: func() { changed <- struct{}{} }, Open: func(ctx context.Context) (*process.Live, error) {
			tries.Add(1)
			return start(ctx)
		}})
	gaveUp := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.gaveUp
	}
	await := func() {
		for ctx := bounded(t); !gaveUp(); {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("it never gives up")
			}
		}
	}
	await()
	if n := tries.Load(); n != maxFailures {
		t.Errorf("it was tried %d times", n)
	}
	if _, err := c.Await(bounded(t)); err == nil ||
		!strings.Contains(err.Error(), "exit status 3: I have no configuration") {
		t.Errorf("it says %v", err)
	}
	c.Wake()
	await()
	if n := tries.Load(); n != 2*maxFailures {
		t.Errorf("after it was woken it was tried %d times in all", n)
	}
	useless := connect(t,
		Options{Open: func(context.Context) (*process.Live, error) {
			return nil,
				Permanent(fmt.Errorf("no such program"))
		}})
	if _, err := useless.Await(bounded(t)); err == nil || err.Error() != "no such program" {
		t.Errorf("a program that is not there: %v", err)
	}
}
