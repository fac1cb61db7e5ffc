package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	jsonrpc "go.lsp.dev/jsonrpc2"

	"github.com/agentls/agentls/lsp/wire"
)

// stub is a server that says what a test tells it to.
type stub struct {
	conn         *wire.Conn
	capabilities string
	initialized  chan struct{}
	changes      chan json.RawMessage // params of didChange
	answer       func(ctx context.Context, method string, params jsonrpc.RawMessage) (any, error)
}

// startStub starts an editor with a stub. At the end the editor is closed and the stub's end awaited.
func startStub(t *testing.T, profile, capabilities string, o EditorOptions) (*Editor, *stub) {
	t.Helper()
	s := &stub{capabilities: capabilities, initialized: make(chan struct{}), changes: make(chan json.RawMessage, 100)}
	made := make(chan struct{})
	server := Serve(func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (int, error) {
		s.conn = wire.NewConn(wire.NewStream(in, out, wire.StreamOptions{}), wire.Options{})
		close(made)
		return s.conn.Run(ctx, wire.Dispatch{Request: s.request, Notification: s.notification})
	})
	<-made
	p, err := LoadProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	o.Profile = p
	if o.Root == "" {
		o.Root = t.TempDir()
	}
	e := NewEditor(server.Stream, o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		server.Kill()
		if _, err := server.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	if err := e.Initialize(watched(t)); err != nil {
		t.Fatal(err)
	}
	<-s.initialized
	return e, s
}

// watched is the test's context with a watchdog.
func watched(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func (s *stub) request(ctx context.Context, method string, params jsonrpc.RawMessage) (any, error) {
	switch {
	case method == "initialize":
		return json.RawMessage(`{"capabilities":` + s.capabilities + `}`), nil
	case method == "shutdown":
		return nil, nil
	case s.answer != nil:
		return s.answer(ctx, method, params)
	}
	return nil, wire.MethodNotFound(method)
}

func (s *stub) notification(_ context.Context, method string, params jsonrpc.RawMessage) {
	switch method {
	case "initialized":
		close(s.initialized)
	case "textDocument/didChange":
		s.changes <- slices.Clone(json.RawMessage(params))
	}
}

// apply sends an edit and returns the editor's answer.
func (s *stub) apply(ctx context.Context, edit string) (applied bool, reason string, err error) {
	var result struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	var raw jsonrpc.RawMessage
	if err := s.conn.Call(ctx, "workspace/applyEdit", jsonrpc.RawMessage(`{"edit":`+edit+`}`), &raw); err != nil {
		return false, "", err
	}
	err = json.Unmarshal(raw, &result)
	return result.Applied, result.FailureReason, err
}

const syncIncremental = `"textDocumentSync":{"openClose":true,"change":2,"save":true},
	"executeCommandProvider":{"commands":["known"]},"codeActionProvider":{"codeActionKinds":["quickfix"]}`

// firstOf is an edit, as JSON, that puts a text in the place of the first characters of a document.
func firstOf(characters int, text string) string {
	return fmt.Sprintf(`{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":%d}},"newText":%q}`,
		characters, text)
}

func TestApplyEdit(t *testing.T) {
	for _, encoding := range []Encoding{UTF8, UTF16, UTF32} {
		t.Run(string(encoding), func(t *testing.T) {
			e, s := startStub(t, "rich", fmt.Sprintf(`{"positionEncoding":%q,%s}`, encoding, syncIncremental),
				EditorOptions{Encodings: []Encoding{encoding}})
			const before = "über 😀 alles\r\nsecond\r\n"
			file := filepath.Join(e.options.Root, "a.txt")
			if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := e.Open("a.txt"); err != nil {
				t.Fatal(err)
			}
			r := func(piece string) string {
				at := strings.Index(before, piece)
				return string(encode(encoding.Range(before, at, at+len(piece))))
			}
			edit := fmt.Sprintf(`{"documentChanges":[{"textDocument":{"uri":%q,"version":1},"edits":[`+
				`{"range":%s,"newText":"zweite"},{"range":%s,"newText":"🙂🙂"}]}]}`,
				e.URI("a.txt"), r("second"), r("😀"))
			applied, reason, err := s.apply(watched(t), edit)
			if err != nil || !applied {
				t.Fatalf("applied %v, %q, %v", applied, reason, err)
			}
			const after = "über 🙂🙂 alles\r\nzweite\r\n"
			if got, version, _ := e.Text("a.txt"); got != after || version != 2 {
				t.Errorf("version %d is %q", version, got)
			}
			// What the server is told has to lead to the same text.
			var change struct {
				TextDocument   textDocument    `json:"textDocument"`
				ContentChanges []contentChange `json:"contentChanges"`
			}
			if err := json.Unmarshal(<-s.changes, &change); err != nil {
				t.Fatal(err)
			}
			mirror := before
			for _, c := range change.ContentChanges {
				start, end, err := encoding.Span(mirror, *c.Range)
				if err != nil {
					t.Fatal(err)
				}
				mirror = mirror[:start] + c.Text + mirror[end:]
			}
			if mirror != after || *change.TextDocument.Version != 2 {
				t.Errorf("the server was told %q as version %d", mirror, *change.TextDocument.Version)
			}
			if content, err := os.ReadFile(file); err != nil || string(content) != before {
				t.Errorf("the disk has %q, %v", content, err)
			}

			// The same edit is for a version that is gone.
			applied, reason, err = s.apply(watched(t), edit)
			if err != nil || applied || !strings.Contains(reason, "is at version 2, the edit is for 1") {
				t.Errorf("a stale edit: applied %v, %q, %v", applied, reason, err)
			}
			if got, _, _ := e.Text("a.txt"); got != after {
				t.Errorf("the stale edit was applied: %q", got)
			}
			if faults := e.Faults(); len(faults) > 0 {
				t.Errorf("faults: %q", faults)
			}
		})
	}
}

// An edit of which one part cannot be done changes nothing.
func TestApplyEditIsWhole(t *testing.T) {
	e, s := startStub(t, "rich", `{`+syncIncremental+`}`, EditorOptions{})
	if err := e.OpenText("a.txt", "a\n"); err != nil {
		t.Fatal(err)
	}
	if err := e.OpenText("b.txt", "b\n"); err != nil {
		t.Fatal(err)
	}
	one := func(name string, version int) string {
		return fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"edits":[%s]}`,
			e.URI(name), version, firstOf(1, "x"))
	}
	if err := e.Edit("b.txt", 0, 0, "typed "); err != nil {
		t.Fatal(err)
	}
	applied, _, err := s.apply(watched(t), `{"documentChanges":[`+one("a.txt", 1)+`,`+one("b.txt", 1)+`]}`)
	if err != nil || applied {
		t.Errorf("applied %v, %v", applied, err)
	}
	if got, _, _ := e.Text("a.txt"); got != "a\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestFileOperations(t *testing.T) {
	e, s := startStub(t, "rich", `{`+syncIncremental+`}`, EditorOptions{})
	u := e.URI("new.txt")
	applied, reason, err := s.apply(watched(t), fmt.Sprintf(
		`{"documentChanges":[{"kind":"create","uri":%q},{"textDocument":{"uri":%q,"version":null},"edits":[%s]}]}`,
		u, u, firstOf(0, "hi")))
	if err != nil || !applied {
		t.Fatalf("applied %v, %q, %v", applied, reason, err)
	}
	if got, _, err := e.Text("new.txt"); err != nil || got != "hi" {
		t.Errorf("the new document is %q, %v", got, err)
	}
	if faults := e.Faults(); len(faults) > 0 {
		t.Errorf("faults: %q", faults)
	}
}

// TestFaults has a server break the protocol, one rule in each case.
func TestFaults(t *testing.T) {
	const hint = `"diagnostics":[` +
		`{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"m"}]`
	type send struct{ method, params string } // a method that begins with ! is a request
	for _, test := range []struct {
		name, profile string
		sends         []send
		want          string
	}{
		{
			"progress unknown", "rich",
			[]send{{"$/progress", `{"token":"x","value":{"kind":"begin","title":"t"}}`}},
			`token "x" was neither created`,
		},
		{
			"progress twice", "rich",
			[]send{
				{"!window/workDoneProgress/create", `{"token":1}`}, {"!window/workDoneProgress/create", `{"token":1}`},
			},
			"token 1 was used before",
		},
		{
			"progress order", "rich",
			[]send{
				{"!window/workDoneProgress/create", `{"token":1}`},
				{"$/progress", `{"token":1,"value":{"kind":"report"}}`},
			},
			"reports before it begins",
		},
		{"progress end", "rich", []send{
			{"!window/workDoneProgress/create", `{"token":1}`},
			{"$/progress", `{"token":1,"value":{"kind":"begin","title":"t"}}`},
			{"$/progress", `{"token":1,"value":{"kind":"end"}}`},
			{"$/progress", `{"token":1,"value":{"kind":"end"}}`},
		}, "goes on after its end"},
		{"percentage", "rich", []send{
			{"!window/workDoneProgress/create", `{"token":1}`},
			{"$/progress", `{"token":1,"value":{"kind":"begin","title":"t","percentage":5}}`},
			{"$/progress", `{"token":1,"value":{"kind":"report","percentage":4}}`},
		}, "percentage 4 after 5"},
		{
			"no progress", "minimal",
			[]send{{"!window/workDoneProgress/create", `{"token":1}`}},
			"did not announce window.workDoneProgress",
		},
		{
			"no edits", "minimal",
			[]send{{"!workspace/applyEdit", `{"edit":{"changes":{}}}`}},
			"did not announce workspace.applyEdit",
		},
		{
			"no configuration", "minimal",
			[]send{{"!workspace/configuration", `{"items":[{}]}`}},
			"did not announce workspace.configuration",
		},
		{"unknown request", "rich", []send{{"!workspace/explode", `{}`}}, "not in the protocol"},
		{"unknown notification", "rich", []send{{"agent/explode", `{}`}}, "not in the protocol"},
		{"no subscription", "rich", []send{{"agent/event", `{}`}}, "agent/event without agent/subscribe"},
		{"bad event", "rich", []send{{"agent/event", `{"seq":"x"}`}}, "agent/event: params: "},
		{
			"no status", "neovim",
			[]send{{"agent/status", `{"health":"ok","quiescent":true}`}},
			"did not announce experimental.agentls",
		},
		{
			"resource operations", "helix",
			[]send{{"!workspace/applyEdit", `{"edit":{"documentChanges":[{"kind":"explode","uri":"$A"}]}}`}},
			`did not announce the resource operation "explode"`,
		},
		{
			"annotations", "helix",
			[]send{
				{"!workspace/applyEdit", `{"edit":{"documentChanges":[{"textDocument":{"uri":"$A","version":1},"edits":[]}],"changeAnnotations":{"x":{"label":"l"}}}}`},
			},
			"changeAnnotationSupport",
		},
		{
			"printed annotations", "neovim",
			[]send{
				{"!workspace/applyEdit", `{"edit":{"documentChanges":[{"textDocument":{"uri":"$A","version":1},"edits":[]}],"changeAnnotations":{"x":{"label":"l"}}}}`},
			},
			"has to press a key",
		},
		{
			"printed label", "neovim",
			[]send{{"!workspace/applyEdit", `{"label":"l","edit":{"changes":{}}}`}},
			"may have to press a key",
		},
		{
			"edit outside", "rich",
			[]send{
				{"!workspace/applyEdit", `{"edit":{"changes":{"$A":[{"range":{"start":{"line":9,"character":0},"end":{"line":9,"character":0}},"newText":""}]}}}`},
			},
			"line 9 (0-based) is outside",
		},
		{
			"both forms", "rich",
			[]send{{"!workspace/applyEdit", `{"edit":{"changes":{},"documentChanges":[]}}`}},
			"both changes and documentChanges",
		},
		{
			"diagnostics outside", "rich",
			[]send{
				{
					"textDocument/publishDiagnostics",
					`{"uri":"$A","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":99}},"message":"m"}]}`,
				},
			},
			"character 99 is beyond the end",
		},
		{
			"diagnostics of the future", "rich",
			[]send{{"textDocument/publishDiagnostics", `{"uri":"$A","version":7,` + hint + `}`}},
			"never had version 7",
		},
		{
			"diagnostics version", "minimal",
			[]send{{"textDocument/publishDiagnostics", `{"uri":"$A","version":1,` + hint + `}`}},
			"versionSupport",
		},
		{
			"registration", "minimal",
			[]send{
				{
					"!client/registerCapability",
					`{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles"}]}`,
				},
			},
			"dynamicRegistration",
		},
		{
			"show nothing", "rich",
			[]send{{"!window/showDocument", `{"uri":"agentls:/x"}`}},
			"nobody can read agentls:/x",
		},
		{
			"show elsewhere", "rich",
			[]send{{"!window/showDocument", `{"uri":"file:///etc/hostname"}`}},
			"neither in the workspace nor in the state folder",
		},
		{
			"cursor behind the last line", "neovim",
			[]send{{
				"!window/showDocument",
				`{"uri":"$A","selection":{"start":{"line":9,"character":0},"end":{"line":9,"character":0}}}`,
			}},
			"line 9 (0-based) is outside",
		},
		{"empty message", "rich", []send{{"window/showMessage", `{"type":1,"message":""}`}}, "bad params"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, s := startStub(t, test.profile, `{"textDocumentSync":2}`, EditorOptions{})
			if faults := e.Faults(); len(faults) > 0 {
				t.Fatalf("faults before there can be any: %q", faults)
			}
			if err := e.OpenText("a.txt", "text\n"); err != nil {
				t.Fatal(err)
			}
			for _, one := range test.sends {
				params := jsonrpc.RawMessage(strings.ReplaceAll(one.params, "$A", e.URI("a.txt")))
				if method, ok := strings.CutPrefix(one.method, "!"); ok {
					var raw jsonrpc.RawMessage
					// A refusal is the editor's right; the fault is what counts.
					if err := s.conn.Call(watched(t), method, params, &raw); errors.Is(err, wire.ErrClosed) {
						t.Fatal(err)
					}
				} else if err := s.conn.Notify(watched(t), one.method, params); err != nil {
					t.Fatal(err)
				}
			}
			err := e.wait(watched(t), "the fault", func() bool {
				return slices.ContainsFunc(e.faults, func(f string) bool { return strings.Contains(f, test.want) })
			})
			if err != nil {
				t.Errorf("%v; the faults are %q, none about %q", err, e.Faults(), test.want)
			}
		})
	}
}

func TestCodeActions(t *testing.T) {
	e, s := startStub(t, "helix", `{`+syncIncremental+`}`, EditorOptions{})
	if err := e.OpenText("a.txt", "text\n"); err != nil {
		t.Fatal(err)
	}
	executed := make(chan string, 1)
	answer := ""
	s.answer = func(_ context.Context, method string, params jsonrpc.RawMessage) (any, error) {
		if method == "workspace/executeCommand" {
			executed <- text(lookup(json.RawMessage(params), "command"))
			return nil, nil
		}
		return json.RawMessage(answer), nil
	}
	for _, test := range []struct{ answer, want string }{
		{
			`[{"title":"t","kind":"quickfix","command":{"title":"t","command":"other"}}]`,
			`command "other" is not in executeCommandProvider`,
		},
		{
			`[{"title":"t","kind":"refactor","command":{"title":"t","command":"known"}}]`,
			`kind "refactor" is not among the announced`,
		},
		{`[{"title":"t","kind":"quickfix"}]`, "neither an edit nor a command"},
		{`{"no":"list"}`, "bad result"},
	} {
		answer = test.answer
		_, err := e.Actions(watched(t), "a.txt", Range{})
		if f := e.Faults(); len(f) == 0 || !strings.Contains(f[len(f)-1], test.want) {
			t.Errorf("%s: the faults are %q (%v)", test.answer, f, err)
		}
	}
	answer = fmt.Sprintf(`[{"title":"do it","kind":"quickfix","edit":{"documentChanges":[`+
		`{"textDocument":{"uri":%q,"version":1},"edits":[%s]}]},"command":{"title":"t","command":"known"}}]`,
		e.URI("a.txt"), firstOf(4, "done"))
	list, err := e.Actions(watched(t), "a.txt", Range{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := e.RunAction(watched(t), list[0]); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := e.Text("a.txt"); got != "done\n" {
		t.Errorf("the text is %q", got)
	}
	if got := <-executed; got != "known" {
		t.Errorf("the command %q was executed", got)
	}
}

// Neovim tells of the change that an edit makes after it has answered.
func TestChangeAfterAnswer(t *testing.T) {
	e, s := startStub(t, "neovim", `{`+syncIncremental+`}`, EditorOptions{})
	if err := e.OpenText("a.txt", "text\n"); err != nil {
		t.Fatal(err)
	}
	applied, _, err := s.apply(watched(t),
		fmt.Sprintf(`{"changes":{%q:[%s]}}`, e.URI("a.txt"), firstOf(4, "done")))
	if err != nil || !applied {
		t.Fatalf("applied %v, %v", applied, err)
	}
	<-s.changes
	trace := e.Trace()
	last := trace[len(trace)-2:]
	if !strings.Contains(last[0], `"applied":true`) || !strings.Contains(last[1], "textDocument/didChange") {
		t.Errorf("the last messages are %q", last)
	}
}

// Neovim leaves an edit for an old version out, and says that it was applied.
func TestSkipsStaleEdits(t *testing.T) {
	e, s := startStub(t, "neovim", `{`+syncIncremental+`}`, EditorOptions{})
	if err := e.OpenText("a.txt", "text\n"); err != nil {
		t.Fatal(err)
	}
	if err := e.Edit("a.txt", 0, 0, "typed "); err != nil {
		t.Fatal(err)
	}
	applied, reason, err := s.apply(watched(t), fmt.Sprintf(
		`{"documentChanges":[{"textDocument":{"uri":%q,"version":1},"edits":[%s]}]}`,
		e.URI("a.txt"), firstOf(4, "done")))
	if err != nil || !applied {
		t.Errorf("applied %v, %q, %v", applied, reason, err)
	}
	if got, version, _ := e.Text("a.txt"); got != "typed text\n" || version != 2 {
		t.Errorf("version %d is %q", version, got)
	}
}

func TestDisconnect(t *testing.T) {
	e, s := startStub(t, "rich", `{`+syncIncremental+`}`, EditorOptions{})
	held := make(chan struct{})
	s.answer = func(ctx context.Context, _ string, _ jsonrpc.RawMessage) (any, error) {
		close(held)
		<-ctx.Done()
		return nil, jsonrpc.NewError(-32800, "cancelled")
	}
	p := e.Begin("slow", nil)
	<-held
	p.Cancel()
	var failure *jsonrpc2.Error
	if _, err := p.Wait(watched(t)); !errors.As(err, &failure) || failure.Code != -32800 {
		t.Errorf("a cancelled request ended with %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Call(watched(t), "late", nil); !errors.Is(err, ErrDisconnected) {
		t.Errorf("a request on a closed connection ended with %v", err)
	}
}
