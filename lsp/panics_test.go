package lsp

import (
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// customRequests are the methods that clients may send by the source of the protocol.
func customRequests(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../schema/agent.metamodel.json")
	if err != nil {
		t.Fatal(err)
	}
	var model struct {
		Requests []struct{ Method, MessageDirection string }
	}
	if err := json.Unmarshal(raw, &model); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, r := range model.Requests {
		if r.MessageDirection != "serverToClient" {
			list = append(list, r.Method)
		}
	}
	if len(list) < 30 {
		t.Fatalf("the source of the protocol has only %q", list)
	}
	return list
}

// faulty is an environment that makes whoever asks it panic while it is armed.
type faulty struct{ armed atomic.Bool }

func (f *faulty) getenv(string) string {
	if f.armed.Load() {
		panic("an injected fault")
	}
	return ""
}

// serveFaulty is a server that has opened, and whose environment panics from now on.
func serveFaulty(t *testing.T) (*rude, *faulty) {
	f := new(faulty)
	r := serveRudeWith(t, Options{Getenv: f.getenv})
	r.answer("", `"result":null`)
	r.initialize(everything, "")
	r.call("agent/trust", "{}", nil)
	f.armed.Store(true)
	return r, f
}

// TestPanicWhileOpening: where the goroutine panics that all requests wait for, each is answered, and works once the
// fault is gone.
func TestPanicWhileOpening(t *testing.T) {
	var f faulty
	f.armed.Store(true)
	r := serveRudeWith(t, Options{Getenv: f.getenv})
	r.answer("", `"result":null`)
	r.initialize(everything, "")
	r.open("a.go", "package a\n")
	doc := `"textDocument":{"uri":"` + r.uri("a.go") + `"}`
	requests := map[string]string{
		"textDocument/codeAction": `{` + doc +
			`,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"context":{"diagnostics":[]}}`,
		"textDocument/codeLens":       `{` + doc + `}`,
		"textDocument/completion":     `{` + doc + `,"position":{"line":0,"character":0}}`,
		"textDocument/hover":          `{` + doc + `,"position":{"line":0,"character":0}}`,
		"textDocument/diagnostic":     `{` + doc + `}`,
		"textDocument/documentSymbol": `{` + doc + `}`,
		"textDocument/inlayHint": `{` + doc +
			`,"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}}}`,
		"workspace/diagnostic":          `{"previousResultIds":[]}`,
		"workspace/executeCommand":      `{"command":"agentls.run","arguments":[{"prompt":"x"}]}`,
		"workspace/textDocumentContent": `{"uri":"agentls:/answers/r.md"}`,
	}
	for _, method := range customRequests(t) {
		requests[method] = "{}"
	}
	requests["agent/run"] = `{"prompt":"x"}`
	ids := map[int]string{}
	for method, params := range requests {
		ids[r.begin(method, params)] = method
	}
	internal := 0
	for id := range ids {
		if p := r.answered(id); p.Error != nil && p.Error.Code == int(jsonrpc2.InternalError) {
			internal++
			if !strings.Contains(p.Error.Message, "injected") || !strings.Contains(p.Error.Message, "bug") {
				t.Errorf("%s is answered with %q", ids[id], p.Error.Message)
			}
		}
	}
	if internal < 10 {
		t.Errorf("only %d requests are answered with an internal error", internal)
	}
	f.armed.Store(false)
	r.call("agent/sessions", "{}", nil)
	r.call("agent/proposals", "{}", nil)
	r.quit()
}

// TestPanicInReload: a request that waits for a reload is answered with what became of it.
func TestPanicInReload(t *testing.T) {
	r, f := serveFaulty(t)
	p := r.answered(r.begin("agent/trust", `{"change":"trust"}`))
	if p.Error == nil || !strings.Contains(p.Error.Message, "injected") {
		t.Errorf("the answer is %s, %+v", p.Result, p.Error)
	}
	f.armed.Store(false)
	r.call("agent/trust", `{"change":"trust"}`, nil)
	r.quit()
}

// TestPanicInSettings: the settings that come after a panic over others count.
func TestPanicInSettings(t *testing.T) {
	r, f := serveFaulty(t)
	r.notify("workspace/didChangeConfiguration", `{"settings":{"agentls":{"max_depth":2}}}`)
	told := func(what string) {
		t.Helper()
		r.until("a message with "+what, func(p packet) bool {
			return p.Method == "window/showMessage" && strings.Contains(string(p.Params), what) ||
				p.Method == "window/logMessage" && strings.Contains(string(p.Params), what)
		})
	}
	told("injected")
	f.armed.Store(false)
	r.notify("workspace/didChangeConfiguration", `{"settings":{"agentls":{"no_such_key":2}}}`)
	told("no_such_key")
	r.quit()
}
