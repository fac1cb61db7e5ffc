package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/lsp/lsptest"
	"github.com/agentls/agentls/schema"
)

// TestDocumentedRun plays the run that PROTOCOL.md tells message by message, and looks for each message on the wire.
func TestDocumentedRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	wire := playDocumentedRun(ctx, t)
	documented := documentedRun(t)
	if len(documented) < 20 {
		t.Fatalf("PROTOCOL.md tells of %d messages only", len(documented))
	}
	known := map[string]any{"file:///home/user/project": wire.root}
	for _, want := range documented {
		if !wire.has(want, known) {
			t.Errorf("no message is as the document says:\n%s %s\nwith %v; the wire:\n%s",
				want.direction, want.text, known, wire)
		}
	}
}

// playDocumentedRun returns what goes over the wire.
func playDocumentedRun(ctx context.Context, t *testing.T) *wireLog {
	t.Helper()
	dir := t.TempDir()
	env := lsptest.Env{
		Root: filepath.Join(dir, "workspace"), State: filepath.Join(dir, "state"), Config: filepath.Join(dir, "config"),
		File: filepath.Join(dir, "config.toml"), Vars: map[string]string{}, Log: t.Output(),
		Script: script.New("documented",
			script.Turn{Answer: []script.Step{script.Call{Name: "read", Arguments: `{"path": "main.go"}`}}},
			script.Turn{Answer: []script.Step{
				script.Call{Name: "edit", Arguments: `{"path": "main.go", ` +
					`"old_string": "\tos.Remove(name)\n\treturn nil\n", "new_string": "\treturn os.Remove(name)\n"}`},
				script.Call{Name: "write", Arguments: `{"path": ".vscode/settings.json", "content": "{}\n"}`},
			}},
			script.Turn{Answer: []script.Step{script.Text("The error is returned.")}},
		),
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Mkdir(env.Root, 0o755))
	check(os.WriteFile(filepath.Join(env.Root, "main.go"),
		[]byte("package main\n\nfunc clean(name string) error {\n\tos.Remove(name)\n\treturn nil\n}\n"), 0o644))
	server, err := inProcess(env)
	check(err)
	profile, err := lsptest.LoadProfile("rich")
	check(err)
	log := &wireLog{}
	editor := lsptest.NewEditor(server.Stream, lsptest.EditorOptions{Root: env.Root, Profile: profile, Wire: log.add})
	editor.Answer(regexp.MustCompile("settings.json"), "Allow once")
	log.root = strings.TrimSuffix(editor.URI("x"), "/x")
	check(editor.Initialize(ctx))
	check(editor.Open("main.go"))
	call := func(method, params string) json.RawMessage {
		t.Helper()
		result, err := editor.Call(ctx, method, json.RawMessage(params))
		check(err)
		return result
	}
	call("agent/subscribe", `{}`)
	var run struct{ Run string }
	check(json.Unmarshal(call("agent/run", `{"agent": "coder", "prompt": "Return the error of os.Remove.", `+
		`"context": {"uri": "`+editor.URI("main.go")+`"}}`), &run))
	call("agent/wait", `{"run": "`+run.Run+`"}`)
	var list struct{ Proposals []struct{ ID string } }
	check(json.Unmarshal(call("agent/proposals", `{}`), &list))
	if len(list.Proposals) != 1 {
		t.Fatalf("there are %d proposals", len(list.Proposals))
	}
	call("agent/proposal/accept", `{"proposal": "`+list.Proposals[0].ID+`"}`)
	check(editor.Until(ctx, "the proposal is accepted", func() bool {
		return strings.Contains(log.String(), `"state":"accepted"`)
	}))
	check(editor.Shutdown(ctx))
	check(editor.Close())
	if code, err := server.Wait(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v", code, err)
	}
	for _, fault := range editor.Faults() {
		t.Error(fault)
	}
	return log
}

// wireLog is what went over the wire.
type wireLog struct {
	root string // the URI of the workspace

	mu       sync.Mutex
	messages []wireMessage
}

type wireMessage struct {
	direction, text string
	body            map[string]any
}

func (w *wireLog) add(direction string, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := wireMessage{direction: direction, text: string(body)}
	if json.Unmarshal(body, &m.body) == nil {
		w.messages = append(w.messages, m)
	}
}

func (w *wireLog) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, m := range w.messages {
		fmt.Fprintln(&b, m.direction, m.text)
	}
	return b.String()
}

// has reports whether a message went over the wire, and adds what it says of the document's ids to those that are
// known.
func (w *wireLog) has(want wireMessage, known map[string]any) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.messages {
		if m.direction != want.direction {
			continue
		}
		now := maps.Clone(known)
		_, asks := want.body["method"]
		if fits(want.body, m.body, now, asks == (m.direction == "→")) {
			maps.Copy(known, now)
			return true
		}
	}
	return false
}

// anID is one of the ids of the document's examples.
var anID = regexp.MustCompile(`^[a-z]0r6x0k2m[0-9a-z]{9}$`)

// fits reports whether a value is as documented: each documented member is there, "…" is anything, and an id is the
// same wherever it stands. ours says that the client has chosen the id of the JSON-RPC message.
func fits(want, got any, known map[string]any, ours bool) bool {
	same := func(name string, value any) bool {
		if before, ok := known[name]; ok {
			return reflect.DeepEqual(before, value)
		}
		known[name] = value
		return true
	}
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		for name, value := range want {
			other, there := got[name]
			if !ok || !there {
				return false
			}
			if number, is := value.(float64); is && name == "id" {
				if !same(fmt.Sprint(ours, number), other) {
					return false
				}
			} else if !fits(value, other, known, ours) {
				return false
			}
		}
		return ok
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i := range want {
			if !fits(want[i], got[i], known, ours) {
				return false
			}
		}
		return true
	case string:
		root := "file:///home/user/project"
		text, is := got.(string)
		switch rest, below := strings.CutPrefix(want, root); {
		case want == "…":
			return true
		case below:
			return is && text == known[root].(string)+rest
		case anID.MatchString(want):
			return same(want, got)
		}
		return is && text == want
	}
	return reflect.DeepEqual(want, got)
}

// documentedRun are the messages of PROTOCOL.md.
func documentedRun(t *testing.T) []wireMessage {
	t.Helper()
	_, text, _ := strings.Cut(schema.Protocol, "## A run, message by message")
	text, _, _ = strings.Cut(text, "\n## ")
	var list []wireMessage
	text = strings.ReplaceAll(text, "\n    ", " ") // a message goes on on indented lines
	for line := range strings.Lines(text) {
		direction, body, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || direction != "→" && direction != "←" {
			continue
		}
		m := wireMessage{direction: direction, text: body}
		if err := json.Unmarshal([]byte(body), &m.body); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}
