package lsptest

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/lsp/wire"
)

// stubVariable makes this test binary a server on standard input and output.
const stubVariable = "LSPTEST_STUB"

func TestMain(m *testing.M) {
	if os.Getenv(stubVariable) != "" {
		code, err := echo(context.Background(), os.Stdin, os.Stdout)
		if err != nil {
			code = 3
		}
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

// echo is a server that answers each request with its params.
func echo(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (int, error) {
	conn := wire.NewConn(wire.NewStream(in, out, wire.StreamOptions{}), wire.Options{})
	return conn.Run(ctx, wire.Dispatch{
		Request: func(_ context.Context, method string, params jsonrpc2.RawMessage) (any, error) {
			switch method {
			case "initialize":
				return jsonrpc2.RawMessage(`{"capabilities":{"textDocumentSync":2}}`), nil
			case "shutdown":
				return nil, nil
			}
			return params, nil
		},
		Notification: func(context.Context, string, jsonrpc2.RawMessage) {},
	})
}

func startEcho(t *testing.T, inProcess bool) (*Server, *Editor) {
	t.Helper()
	var server *Server
	if inProcess {
		server = Serve(echo)
	} else {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), stubVariable+"=1")
		if server, err = Exec(cmd, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	profile, err := LoadProfile("minimal")
	if err != nil {
		t.Fatal(err)
	}
	e := NewEditor(server.Stream, EditorOptions{Root: t.TempDir(), Profile: profile})
	if err := e.Initialize(watched(t)); err != nil {
		t.Fatal(err)
	}
	return server, e
}

// Both ways to start a server end properly by shutdown and exit, and at once by Kill.
func TestServerEnds(t *testing.T) {
	for name, inProcess := range map[string]bool{"in process": true, "process": false} {
		t.Run(name, func(t *testing.T) {
			server, e := startEcho(t, inProcess)
			if got, err := e.Call(watched(t), "echo", []int{1, 2}); err != nil || string(got) != "[1,2]" {
				t.Errorf("echo: %s, %v", got, err)
			}
			if err := e.Shutdown(watched(t)); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if code, err := server.Wait(); code != 0 || err != nil {
				t.Errorf("exit code %d, %v", code, err)
			}
			if faults := e.Faults(); len(faults) > 0 {
				t.Errorf("faults: %q", faults)
			}

			server, e = startEcho(t, inProcess)
			server.Kill()
			<-e.conn.DisconnectNotify()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if code, _ := server.Wait(); code == 0 {
				t.Error("a killed server ended with exit code 0")
			}
		})
	}
}

func TestScenarioFile(t *testing.T) {
	Run(t, "testdata", Options{
		Start: func(Env) (*Server, error) { return Serve(echo), nil },
	})
}

// A line that is not true has to fail.
func TestLinesFail(t *testing.T) {
	s, err := Load("testdata/echo.txtar")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlay(t, s, "minimal", Options{Start: func(Env) (*Server, error) { return Serve(echo), nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.cleanUp()
	short, cancel := context.WithCancelCause(watched(t))
	p.ctx = watched(t)
	for text, want := range map[string]string{
		"open b.txt":                        "no such file",
		"fly away":                          "no such verb",
		"open":                              "it takes 1 to 2 arguments",
		`edit a.txt "one" "1"`:              "a.txt is not open",
		"encoding utf-8":                    "before the server is used",
		"await nothing":                     "no request was begun",
		"wait run":                          "no run was started",
		"wait gate x":                       "no scripted model",
		"cancel progress":                   "no such progress",
		"text a.txt want/text":              "a.txt is not open",
		"request echo ${x}":                 "nothing was captured as x",
		`request echo {"a": b}`:             `{"a": b} is no JSON`,
		"request echo x":                    "x is no JSON",
		"command echo {":                    "{ is no JSON",
		"begin x echo {":                    "{ is no JSON",
		"notify echo {":                     "{ is no JSON",
		"settings {":                        "{ is no JSON",
		"result n 1":                        `n is "", not "1"`,
		"error InvalidParams":               "the request did not fail",
		"diagnostics a.txt want/none":       "there is no section want/none",
		"disk a.txt want/text":              "-want +got",
		`action a.txt 1 "agentls: Nothing"`: "decode the code actions",
	} {
		if l, err := parseLine("start"); err != nil || p.do(l) != nil {
			t.Fatal("the server does not start")
		}
		l, err := parseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.do(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, not %q", text, err, want)
		}
	}
	cancel(errors.New("the scenario hangs"))
	p.ctx = short
	for _, text := range []string{
		`message "never"`, "wait diagnostics a.txt 1", "wait progress end", "wait event RunFinished",
	} {
		l, err := parseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.do(l); err == nil || !strings.Contains(err.Error(), "the scenario hangs") {
			t.Errorf("%s: the error is %v", text, err)
		}
	}
}

func TestCompareDisk(t *testing.T) {
	old := map[string][]byte{"same": []byte("x"), "changed": []byte("x"), "gone": []byte("x"), "saved": []byte("x")}
	now := map[string][]byte{"same": []byte("x"), "changed": []byte("y"), "made": nil, "saved": []byte("y")}
	got := compareDisk(old, now, func(path string) bool { return path == "saved" })
	want := []string{"the server changed changed", "the server made made", "the server removed gone"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
