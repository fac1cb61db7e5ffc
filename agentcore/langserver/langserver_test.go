package langserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/process"
)

const watchdog = 2 * time.Minute

// fake is a server that answers from a table, and keeps what it hears.
type fake struct {
	t       *testing.T
	in, out *os.File // its standard input and output
	// answers are results by method; one that begins with "error" is an error with that code.
	answers map[string][]string
	mu      sync.Mutex
	heard   []string
	done    chan struct{}
}

// start starts a client with a fake server.
func start(t *testing.T, root string, answers map[string][]string) (*Client, *fake, error) {
	t.Helper()
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, in: childIn, out: childOut, answers: answers, done: make(chan struct{})}
	if f.answers["initialize"] == nil {
		f.answers["initialize"] = []string{`{"capabilities":{}}`}
	}
	go f.serve()
	kill := func() { f.in.Close(); f.out.Close() }
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	wait := func() string { <-f.done; return "it ended with exit code 7: last words" }
	c, err := Start(ctx, &process.Live{In: in, Out: out, Kill: kill, Wait: wait}, Options{
		Roots: []string{root}, Server: Server{Name: "go", Files: []string{"*.go"}},
		Read: func(path string) (string, bool) {
			text, err := os.ReadFile(path)
			return string(text), err == nil
		},
	})
	return c, f, err
}

func (f *fake) serve() {
	defer close(f.done)
	r := bufio.NewReader(f.in)
	for {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if (codec{}).ReadObject(r, &m) != nil {
			return
		}
		f.mu.Lock()
		f.heard = append(f.heard, m.Method+" "+string(m.Params))
		list := f.answers[m.Method]
		if len(list) > 1 {
			f.answers[m.Method] = list[1:]
		}
		f.mu.Unlock()
		if m.ID == nil || m.Method == "" || len(list) == 0 {
			continue
		}
		for part := range strings.SplitSeq(list[0], "\n") {
			switch code, failed := strings.CutPrefix(part, "error "); {
			case part == "exit":
				f.in.Close()
				f.out.Close()
				return
			case strings.HasPrefix(part, "raw "):
				fmt.Fprint(f.out, part[4:])
			case strings.HasPrefix(part, "say "):
				f.send(part[4:])
			case failed:
				f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}`, m.ID, code))
			default:
				f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, part))
			}
		}
	}
}

// send writes a message as servers may: with a small header and bare line ends.
func (f *fake) send(body string) { fmt.Fprintf(f.out, "content-length:%d\n\n%s", len(body), body) }

func (f *fake) said(method string) (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.heard {
		if rest, ok := strings.CutPrefix(one, method+" "); ok {
			list = append(list, rest)
		}
	}
	return list
}

func TestClient(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	a, b := filepath.Join(root, "a b.go"), filepath.Join(root, "b.go")
	if err := os.WriteFile(b, []byte("x\n𝄞ä := f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	here := func(path string, line, from, to int) string {
		return fmt.Sprintf(`"uri":%q,"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`,
			uriOf(path), line, from, line, to)
	}
	c, f, err := start(t, root, map[string][]string{
		// It greets first, asks things itself, and is busy until it says otherwise.
		"textDocument/definition": {
			"say {\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"workspace/configuration\",\"params\":{\"items\":[{},{}]}}\n" +
				"say {\"jsonrpc\":\"2.0\",\"id\":\"s2\",\"method\":\"window/unknown\",\"params\":{}}\n" +
				"say {\"jsonrpc\":\"2.0\",\"method\":\"$/progress\",\"params\":{\"token\":1,\"value\":{\"kind\":\"begin\"}}}\nnull\n" +
				"say {\"jsonrpc\":\"2.0\",\"method\":\"$/progress\",\"params\":{\"token\":1,\"value\":{\"kind\":\"end\"}}}",
			"error -32801",
			"{" + here(b, 1, 3, 4) + "}",
		},
		"textDocument/references": {
			"[{" + here(a, 0, 3, 4) + "},{\"uri\":\"jar:x\"},{" + here("/no/such.go", 4, 5, 6) + "}]",
		},
		"textDocument/documentSymbol": {`[{"name":"T","kind":23,"selectionRange":{"start":{"line":0,"character":3},"end":{"line":0,"character":4}},"children":[{"name":"f","kind":8,"selectionRange":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}}]}]`},
		"workspace/symbol": {
			`[{"name":"T","kind":99,"containerName":"pkg","location":{` + here(b, 1, 0, 2) + `}}]`,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	use := func(texts ...Text) func() {
		t.Helper()
		done, err := c.Use(t.Context(), texts, nil)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	done := use(Text{a, "é𝄞 f\n"})
	show := func(list []Place, err error) string {
		var out []string
		for _, p := range list {
			out = append(out,
				strings.TrimSpace(fmt.Sprintf("%s:%d:%d-%d %s %s %s", filepath.Base(p.Path),
					p.Line, p.Column, p.EndColumn, p.Kind, p.Name, p.Container)))
		}
		return fmt.Sprint(strings.Join(out, ", "), err)
	}
	// Columns are UTF-16 on the wire, as the server does not say otherwise, and bytes here.
	if got := show(c.Definition(t.Context(), a, 0, 7)); got != "b.go:1:6-7<nil>" {
		t.Error(got)
	}
	if said := f.said("textDocument/definition"); len(said) != 3 || !strings.Contains(said[0], `"character":4`) {
		t.Errorf("it was asked %q", said)
	}
	if got := show(c.References(t.Context(), a, 0, 0)); got != "a b.go:0:6-7, such.go:4:5-6<nil>" {
		t.Error(got)
	}
	if got := show(c.Document(t.Context(), a)); got != "a b.go:0:6-7 struct T, a b.go:0:0-2 field f T<nil>" {
		t.Error(got)
	}
	if got := show(c.Workspace(t.Context(), "T")); got != "b.go:1:0-4  T pkg<nil>" {
		t.Error(got)
	}
	done()
	// Others see other texts; what nobody sees any more is closed, and may be on the disk.
	use(Text{a, "other"}, Text{b, "b"})()
	done = use(Text{b, "b"})
	if _, err := c.Document(t.Context(), b); err != nil {
		t.Error(err)
	}
	done()
	for method, want := range map[string]int{
		"textDocument/didOpen": 2, "textDocument/didChange": 1, "textDocument/didClose": 1,
		"workspace/didChangeWatchedFiles": 1, "initialized": 1,
	} {
		if said := f.said(method); len(said) != want {
			t.Errorf("%s: %q", method, said)
		}
	}
	if said := f.said("workspace/didChangeWatchedFiles"); len(said) > 0 && !strings.Contains(said[0], `"type":3`) {
		t.Errorf("the file that never was on the disk is told as %q", said)
	}
	c.Close()
	if _, err := c.Use(context.Background(), nil, nil); err == nil ||
		!strings.Contains(err.Error(), "it ended with exit code 7: last words") {
		t.Errorf("after its end: %v", err)
	}
}

func TestServersThatFail(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, answer := range map[string]string{
		"ends": "exit", "writes no message": "raw Content-Length: x\r\n\r\n",
		"writes broken JSON": "raw Content-Length: 2\r\n\r\n{]",
		"writes too much":    "raw Content-Length: 999999999999\r\n\r\n",
	} {
		if _, _, err := start(t, t.TempDir(), map[string][]string{"initialize": {answer}}); err == nil ||
			!strings.Contains(err.Error(), "it ended with exit code 7: last words") {
			t.Errorf("a server that %s: %v", name, err)
		}
	}
	// One that refuses a method goes on, one that says nothing is asked no longer than whoever asks has time.
	c, f, err := start(t, t.TempDir(), map[string][]string{"workspace/symbol": {"error -32601", "[]"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Workspace(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "no") {
		t.Error(err)
	}
	if list, err := c.Workspace(t.Context(), "x"); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.Document(ctx, "/a.go")
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Close()
	if !slices.ContainsFunc(f.said("initialized"), func(s string) bool { return s == "{}" }) {
		t.Errorf("it heard %q", f.heard)
	}
}

func TestCodec(t *testing.T) {
	for in, want := range map[string]string{
		"Content-Length: 2\r\n\r\n{}":                               "{}",
		"Welcome!\n\nCONTENT-LENGTH:2\nContent-Type: x\n\n{}":       "{}",
		"Content-Length: -1\r\n\r\n":                                "",
		strings.Repeat("x", 2*maxHeader) + "\n":                     "",
		"Content-Length: 5\r\n\r\n{}":                               "",
		strings.Repeat("noise\n", 2000) + "Content-Length: 2\n\n{}": "",
	} {
		var got json.RawMessage
		err := codec{}.ReadObject(bufio.NewReader(strings.NewReader(in)), &got)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%.60q: %s, %v", in, got, err)
		}
	}
	if err := (codec{}).ReadObject(bufio.NewReader(strings.NewReader("")), new(any)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestKnown(t *testing.T) {
	for _, s := range WellKnown() {
		if s.Name == "" || len(s.Command) == 0 || len(s.Files) == 0 || s.Options != nil && !json.Valid(s.Options) {
			t.Errorf("%+v", s)
		}
		for _, pattern := range s.Files {
			if !s.Knows("/x/a"+strings.TrimPrefix(pattern, "*")) ||
				s.language("a"+strings.TrimPrefix(pattern, "*")) == "" {
				t.Errorf("%s does not know %s", s.Name, pattern)
			}
		}
	}
}
