package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/event"
)

// editor is the other side of a served connection.
type editor struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
}

func (e editor) send(message string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.to, "Content-Length: %d\r\n\r\n%s", len(message), message); err != nil {
		e.t.Fatal(err)
	}
}

// answer reads messages up to the response to a request.
func (e editor) answer(id int) string {
	e.t.Helper()
	for {
		head, err := textproto.NewReader(e.from).ReadMIMEHeader()
		if err != nil {
			e.t.Fatal(err)
		}
		length, err := strconv.Atoi(head.Get("Content-Length"))
		if err != nil {
			e.t.Fatal(err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(e.from, body); err != nil {
			e.t.Fatal(err)
		}
		var message struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		if err := json.Unmarshal(body, &message); err == nil && message.Method == "" && message.ID == id {
			return string(body)
		}
	}
}

// serve starts the server in a call and returns its editor and, later, its exit code.
func serve(t *testing.T, ctx context.Context, args ...string) (editor, <-chan int) {
	t.Helper()
	c := newCall(t, nil, "", args...)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c.stdin, c.stdout.Writer = in, out
	code := make(chan int, 1)
	go func() { code <- c.run(ctx) }()
	e := editor{t, toServer, bufio.NewReader(fromServer)}
	e.send(
		fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":%q,"capabilities":{}}}`,
			event.FileURI(c.dir)))
	if answer := e.answer(1); !strings.Contains(answer, `"name":"agentls"`) ||
		!strings.Contains(answer, `"version":`+strconv.Quote(version())) {
		t.Fatalf("initialize is answered with %s", answer)
	}
	e.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	return e, code
}

// TestServe starts the server in all the ways that editors do.
func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, args := range [][]string{{"serve"}, {}, {"--stdio"}, {"serve", "--stdio", "--clientProcessId=1"}} {
		e, code := serve(t, t.Context(), args...)
		e.send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
		e.answer(2)
		e.send(`{"jsonrpc":"2.0","method":"exit"}`)
		if got := <-code; got != exitOK {
			t.Errorf("agentls %s: exit code %d", strings.Join(args, " "), got)
		}
	}
}

// TestServeEnds has the editor vanish, and SIGTERM come.
func TestServeEnds(t *testing.T) {
	e, code := serve(t, t.Context(), "serve")
	if err := e.to.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 1 {
		t.Errorf("the end of the input makes the exit code %d, want 1", got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, code = serve(t, ctx, "serve")
	cancel(interrupted{exitTerminated})
	if got := <-code; got != exitTerminated {
		t.Errorf("SIGTERM makes the exit code %d, want %d", got, exitTerminated)
	}
}

// TestHelpOnTerminal starts agentls by hand: there is no editor to serve.
func TestHelpOnTerminal(t *testing.T) {
	c := newCall(t, nil, "")
	c.stdinTerminal = true
	c.must(t, exitOK)
	for _, want := range []string{"agentls [command]", "review", "doctor", "--set"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("the help does not mention %q:\n%s", want, c.out.String())
		}
	}
	if strings.Contains(c.out.String(), "--stdio") {
		t.Error("the help mentions --stdio, which is for editors")
	}
}
