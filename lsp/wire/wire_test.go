package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv("WIRE_TEST_PARENT") != "" {
		// This process plays the parent of a server: it lives until its input ends.
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// watchdog bounds every wait in these tests. It is no measure of anything: a test that reaches it has hung.
const watchdog = 4 * time.Minute

// message is any JSON-RPC message as the client sees it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    Data   `json:"data"`
	} `json:"error"`
}

// ended is how Run returned.
type ended struct {
	code int
	err  error
}

// client is the other end of a running connection. It has a framing of its own, so that
// two mistakes in the tested one do not cancel out.
type client struct {
	t      *testing.T
	conn   *Conn
	in     io.WriteCloser
	got    chan message
	ended  chan ended
	cancel context.CancelCauseFunc
}

// serve runs d on a new connection until the test ends.
func serve(t *testing.T, d Dispatch, o Options) *client {
	t.Helper()
	return serveStream(t, d, o, StreamOptions{})
}

// serveRequests serves what requests make of all but the lifecycle.
func serveRequests(t *testing.T, requests answering) *client {
	t.Helper()
	return serve(t, Dispatch{Request: answerLifecycle(requests)}, Options{})
}

func serveStream(t *testing.T, d Dispatch, o Options, so StreamOptions) *client {
	t.Helper()
	if d.Request == nil {
		d.Request = func(_ context.Context, method string, _ jsonrpc2.RawMessage) (any, error) {
			switch method {
			case methodInitialize, methodShutdown:
				return nil, nil
			}
			return nil, MethodNotFound(method)
		}
	}
	if d.Notification == nil {
		d.Notification = func(context.Context, string, jsonrpc2.RawMessage) {}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &client{
		t: t, in: inW, cancel: cancel, conn: NewConn(NewStream(inR, outW, so), o),
		got: make(chan message, 1<<16), ended: make(chan ended, 1),
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		code, err := c.conn.Run(ctx, d)
		c.ended <- ended{code, err}
	})
	wg.Go(func() {
		defer close(c.got)
		for r := bufio.NewReader(outR); ; {
			body, err := readFrame(r)
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(body, &m); err != nil {
				t.Errorf("the server sent %q: %v", body, err)
				return
			}
			c.got <- m
		}
	})
	t.Cleanup(func() {
		cancel(nil)
		inW.Close()
		wg.Wait()
	})
	return c
}

func readFrame(r *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line == "\r\n" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSuffix(value, "\r\n")); err != nil {
				return nil, err
			}
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func request(id int, method, params string) string {
	return frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

func notification(method, params string) string {
	return frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// send writes raw bytes to the server. It fails silently once the server has stopped reading: what the test then
// expects will tell.
func (c *client) send(raw ...string) {
	c.t.Helper()
	for _, r := range raw {
		if _, err := io.WriteString(c.in, r); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			c.t.Fatal(err)
		}
	}
}

// next is the server's next message.
func (c *client) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.got:
		if !ok {
			c.t.Fatal("the server has closed its output")
		}
		return m
	case <-time.After(watchdog):
		c.t.Fatal("no message from the server")
	}
	panic("unreachable")
}

// wantError takes the next message and checks that it answers id (JSON) with code.
func (c *client) wantError(id string, code jsonrpc2.Code) message {
	c.t.Helper()
	m := c.next()
	if string(m.ID) != id || m.Error == nil || m.Error.Code != int(code) {
		c.t.Fatalf("got %s, want id %s with error %d", show(m), id, code)
	}
	return m
}

// wantCancelled takes the next message and checks that it cancels the server's request id (JSON).
func (c *client) wantCancelled(id json.RawMessage) {
	c.t.Helper()
	if m := c.next(); m.Method != methodCancel || string(m.Params) != fmt.Sprintf(`{"id":%s}`, id) {
		c.t.Errorf("got %s, want the cancellation of %s", show(m), id)
	}
}

// wantResult takes the next message and checks that it answers id (JSON) with a result.
func (c *client) wantResult(id string) message {
	c.t.Helper()
	m := c.next()
	if string(m.ID) != id || m.Error != nil || m.Result == nil {
		c.t.Fatalf("got %s, want id %s with a result", show(m), id)
	}
	return m
}

func show(m message) string {
	text, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *client) handshake() {
	c.t.Helper()
	c.send(request(0, methodInitialize, `{"processId":null,"capabilities":{}}`))
	c.wantResult("0")
	c.send(notification(methodInitialized, "{}"))
}

// end waits for Run to return.
func (c *client) end() ended {
	c.t.Helper()
	return receive(c.t, c.ended)
}

// receive waits for a value.
func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(watchdog):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}
