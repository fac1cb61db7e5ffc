package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/lsp/lsptest"
)

// badServer is a provider that does not do what its interface says.
type badServer struct {
	name string
	// turns are what a vendor's server answers; handler is one that speaks no interface at all.
	turns   []script.Turn
	handler http.HandlerFunc
	want    string // in what the user is told
}

func answering(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		// A client that has gone misses nothing.
		_, _ = io.WriteString(w, body)
	}
}

var badServers = []badServer{
	{name: "a page", handler: answering("text/html", "<!doctype html><title>Log in to the hotel's network</title>")},
	{name: "another interface", handler: answering("application/json", `{"ok":true}`)},
	{name: "an empty body", handler: answering("text/event-stream", "")},
	{name: "no JSON", handler: answering("text/event-stream", "event: message\ndata: beep boop\n\n")},
	{name: "bytes", handler: answering("text/event-stream", "\x00\x01\xfe\xff\n\n\n\ndata")},
	{name: "a hung-up connection", handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	{name: "a wrong path", handler: http.NotFound},
	{
		name: "a stream cut in two",
		turns: []script.Turn{
			{Times: script.Any, Answer: []script.Step{script.Text("half"), script.Error{Kind: model.ErrNetwork}}},
		},
	},
	{name: "a refused key", turns: []script.Turn{{Answer: []script.Step{
		script.Error{Kind: model.ErrAuth, Status: 401, Detail: "Incorrect API key provided: " + providerKey},
	}}}, want: "key"},
	{name: "nothing, three times", turns: []script.Turn{{Times: script.Any, Answer: nil}}, want: "answered nothing"},
	{name: "the same call for ever", turns: []script.Turn{{Times: script.Any, Answer: []script.Step{
		script.Call{Name: "read", Arguments: `{"path":"a.go"}`},
	}}}, want: "same call"},
}

// speaking is the server anew, in front of a vendor's client.
func (b badServer) speaking(v vendor) http.Handler {
	if b.handler != nil {
		return b.handler
	}
	model := script.New("bad", b.turns...)
	model.Lax = true
	return v.handler(model)
}

// TestBadServers has the command line and an editor's server use what is no model. Each time the user is told once
// what is wrong and what to do, and the server goes on.
func TestBadServers(t *testing.T) {
	t.Parallel()
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]string{"a.go": defective})
			d.configure("retry.max_attempts = 1\n")
			var answer atomic.Pointer[http.Handler]
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request,
			) {
				(*answer.Load()).ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			use := func(handler http.Handler) { answer.Store(&handler) }
			d.env = v.environ(server.URL)
			s := d.serve("rich")
			s.open("a.go")
			for _, bad := range badServers {
				use(bad.speaking(v))
				before := len(failures(s.Messages()))
				result := s.wait(s.review("a.go"))
				if result.Status != event.StatusFailed || result.Error == nil || result.Error.Detail == "" ||
					result.Error.Hint == "" {
					t.Errorf("%s: the result is %+v, %+v", bad.name, result, result.Error)
					continue
				}
				err := s.Until(d.ctx, "the error message", func() bool { return len(failures(s.Messages())) > before })
				if err != nil {
					t.Fatal(err)
				}
				said := failures(s.Messages())[before:]
				if len(said) != 1 || !strings.Contains(said[0], result.Error.Detail) ||
					!strings.Contains(said[0], result.Error.Hint) || !strings.Contains(said[0], bad.want) {
					t.Errorf("%s: the user is told %q", bad.name, said)
				}
				use(bad.speaking(v))
				_, stderr := d.must(exitFailed, "review", "-q", "a.go")
				if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "agentls: reviewer failed: ") ||
					!strings.Contains(stderr, "; ") || !strings.Contains(stderr, bad.want) {
					t.Errorf("%s: the terminal says\n%s", bad.name, stderr)
				}
				d.without(providerKey, stderr, said[0])
			}
			use(v.handler(reviewing("return a / b")))
			if result := s.wait(s.review("a.go")); result.Status != event.StatusCompleted {
				t.Errorf("the server does not go on: %+v", result)
			}
			s.quit()
			d.without(providerKey, s.log.String(), strings.Join(s.Trace(), "\n"))
			d.unchanged("a.go", defective)
		})
	}
}

// failures are the errors among the messages that the user was shown.
func failures(messages []lsptest.Message) []string {
	var list []string
	for _, m := range messages {
		if m.Method == "window/showMessage" && m.Type == 1 {
			list = append(list, m.Text)
		}
	}
	return list
}

// TestNoServer has nobody listen at the base URL.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for _, v := range vendors {
		d := newDesk(t, map[string]string{"a.go": defective})
		d.configure("retry.max_attempts = 1\n")
		server := httptest.NewServer(nil)
		d.env = v.environ(server.URL)
		server.Close()
		_, stderr := d.must(exitFailed, "review", "-q", "a.go")
		if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "127.0.0.1") ||
			!strings.Contains(stderr, "; ") {
			t.Errorf("%s: the terminal says\n%s", v.name, stderr)
		}
	}
}

// TestHugeDocument opens a document of 50 MB, which no agent can work on. The server keeps it up to date all the
// same and serves the others.
func TestHugeDocument(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"small.py": "import os\n\n\ndef run(code):\n    return eval(code)\n"})
	huge := strings.Repeat(strings.Repeat("x", 99)+"\n", 50<<20/100)
	d.write(filepath.Join(d.dir, "sparse.txt"), "")
	if err := os.Truncate(filepath.Join(d.dir, "sparse.txt"), 50<<20); err != nil {
		t.Fatal(err)
	}
	s := d.serve("neovim")
	if err := s.OpenText("huge.txt", huge); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"huge.txt", "sparse.txt"} {
		told := s.refused("agentls.review", fmt.Sprintf(`{"uri":%q}`, s.URI(name)))
		if !strings.Contains(told, name) || !strings.Contains(told, "has 52428800 bytes, the limit is 8388608; ") {
			t.Errorf("%s: the user is told %q", name, told)
		}
	}
	// It shrinks to something that can be worked on.
	if err := s.Edit("huge.txt", 100, len(huge), "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"); err != nil {
		t.Fatal(err)
	}
	s.open("small.py")
	for _, name := range []string{"huge.txt", "small.py"} {
		if result := s.wait(s.review(name)); result.Status != event.StatusCompleted {
			t.Errorf("%s: the result is %+v", name, result)
		}
		err := s.Until(d.ctx, "diagnostics of "+name,
			func() bool { list, _ := s.Diagnostics(name); return len(list) > 0 })
		if err != nil {
			t.Error(err)
		}
	}
	s.quit()
}

// TestServeFlags starts servers with flags and surroundings that are wrong.
func TestServeFlags(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.py": "eval(x)\n"})
	for flag, want := range map[string]string{
		"--log-level=loud": `agentls: --log-level is "loud"; write debug, info, warn or error` + "\n",
		"--log=/nowhere/log": "agentls: open the log: open /nowhere/log: no such file or directory; name a file " +
			"that can be written\n",
		"--listen=unix:/tmp/sock": "agentls: unknown flag: --listen; see `agentls serve --help`\n",
	} {
		if _, stderr := d.must(exitUsage, "serve", flag); stderr != want {
			t.Errorf("%s: the terminal says\n%swant\n%s", flag, stderr, want)
		}
	}

	s := d.serve("rich", "--set", "max_dept=4", "--set", "default_timeout=soon")
	s.told("max_dept")
	s.told("default_timeout")
	s.open("a.py")
	if result := s.wait(s.review("a.py")); result.Status != event.StatusCompleted {
		t.Errorf("the result is %+v", result)
	}
	s.quit()

	// A file where the state folder should be.
	d.state = filepath.Join(d.home, "file")
	d.write(d.state, "")
	s = d.serve("rich")
	s.told("AGENTLS_STATE")
	if told := s.refused("agentls.review", fmt.Sprintf(`{"uri":%q}`, s.URI("a.py"))); !strings.Contains(told,
		d.state) || !strings.Contains(told, "AGENTLS_STATE") {
		t.Errorf("the user is told %q", told)
	}
	s.open("a.py")
	if _, err := s.Actions(d.ctx, "a.py", lsptest.Range{}); err != nil {
		t.Errorf("the server does not go on: %v", err)
	}
	s.quit()
}

// TestEditorDies ends the process that initialize names, with the connection still open: the server ends.
func TestEditorDies(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	parent := exec.CommandContext(d.ctx, "nothing", "wait")
	hold, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	cmd := d.command("serve")
	server, err := lsptest.Exec(cmd, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	e := editor{t, server.Stream, bufio.NewReader(server.Stream)}
	e.send(
		fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d,"rootUri":%q,"capabilities":{}}}`,
			parent.Process.Pid, event.FileURI(d.dir)))
	e.answer(1)
	e.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	e.send(`{"jsonrpc":"2.0","id":2,"method":"agent/list","params":{}}`)
	var list struct {
		Result struct{ Default string }
	}
	if err := json.Unmarshal([]byte(e.answer(2)), &list); err != nil || list.Result.Default == "" {
		t.Fatalf("the server does not answer: %v", err)
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err != nil {
		t.Fatal(err)
	}
	if code, err := server.Wait(); code != 1 || err != nil {
		t.Errorf("the server ended with %d, %v", code, err)
	}
	if err := server.Stream.Close(); err != nil && !errors.Is(err, os.ErrClosed) { // its input was closed by Wait
		t.Error(err)
	}
}
