//go:build e2e

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/methods"
)

// peersVariable names the folder with the programs of other people's agents; `make peers` sets it.
const peersVariable = "AGENTLS_PEERS"

// opencodeModel answers opencode by Chat Completions: it has it make calls in turn, and then say a word.
type opencodeModel struct {
	calls []peerCall
	held  chan struct{} // closed once the last answer may come; nil for at once
	asked chan struct{} // gets a value when the last answer is asked for
	mu    sync.Mutex
	seen  []string // the last message of each request
}

type peerCall struct{ tool, arguments string }

func (m *opencodeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []any `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	done := 0
	for _, message := range body.Messages {
		if message.Role == "tool" {
			done++
		}
	}
	m.mu.Lock()
	m.seen = append(m.seen, string(body.Messages[len(body.Messages)-1].Content))
	m.mu.Unlock()
	delta, reason := `{"role":"assistant","content":"All is done."}`, "stop"
	if len(body.Tools) > 0 && done < len(m.calls) {
		call := m.calls[done]
		delta, reason = fmt.Sprintf(
			`{"role":"assistant","tool_calls":[{"index":0,"id":"c%d","type":"function","function":{"name":%q,"arguments":%q}}]}`,
			done, call.tool, call.arguments), "tool_calls"
	} else if len(body.Tools) > 0 && m.held != nil {
		m.asked <- struct{}{}
		select {
		case <-m.held:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []string{
		fmt.Sprintf(`{"index":0,"delta":%s,"finish_reason":null}`, delta),
		fmt.Sprintf(`{"index":0,"delta":{},"finish_reason":%q}`, reason),
	} {
		fmt.Fprintf(w, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}`+"\n\n",
			choice)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// newPeer is a desk on which opencode works with that model, and which the user trusts.
func newPeer(t *testing.T, files map[string]string, m *opencodeModel) *desk {
	programs := os.Getenv(peersVariable)
	if programs == "" {
		t.Fatal(peersVariable + " is not set: run `make peers`")
	}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	d := newDesk(t, files)
	d.write(filepath.Join(d.home, ".config", "opencode", "opencode.json"), fmt.Sprintf(
		`{"autoupdate":false,"share":"disabled","model":"loop/m","small_model":"loop/m","provider":{"loop":{
		"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"%s/v1","apiKey":"x"},"models":{"m":{"tool_call":true}}}},
		"permission":{"edit":"allow","bash":"allow"}}`, server.URL))
	d.write(filepath.Join(d.home, "config", "agentls", "agents", "opencode.md"), fmt.Sprintf(
		"---\nname: opencode\ndescription: d\ncategory: [primary]\nengine: acp\ncommand: [%s, acp]\n"+
			"env: [OPENCODE_DISABLE_AUTOUPDATE=1, OPENCODE_DISABLE_MODELS_FETCH=1, XDG_CONFIG_HOME=%s]\n"+
			"home: {write: [.config/opencode, .local/share/opencode, .local/state/opencode, .cache/opencode]}\n"+
			"network: [%q]\nrules: [{tool: program, action: allow}]\n---\n",
		filepath.Join(programs, "opencode"), filepath.Join(d.home, ".config"),
		strings.TrimPrefix(server.URL, "http://")))
	d.must(exitOK, "trust", "--yes")
	return d
}

// TestPeerEdits: a real agent reads an unsaved buffer, and edits two files by its own tools and a third by a command;
// the disk stays as it is.
func TestPeerEdits(t *testing.T) {
	files := map[string]string{"a.txt": "saved\n", "b.txt": "b\n"}
	m := &opencodeModel{}
	d := newPeer(t, files, m)
	path := func(name string) string { return filepath.Join(d.dir, name) }
	m.calls = []peerCall{
		{"read", fmt.Sprintf(`{"filePath":%q}`, path("a.txt"))},
		{"edit", fmt.Sprintf(`{"filePath":%q,"oldString":"unsaved","newString":"edited"}`, path("a.txt"))},
		{"bash", `{"command":"echo B >b.txt; cat a.txt >c.txt","description":"write"}`},
	}
	s := d.serve("rich")
	s.open("a.txt")
	if err := s.Edit("a.txt", 0, len("saved"), "unsaved"); err != nil {
		t.Fatal(err)
	}
	started := decode[methods.RunStarted](t, s.execute("agentls.run", `{"agent":"opencode","prompt":"Edit them."}`))
	result := s.wait(started.Run)
	if result.Status != event.StatusCompleted || !strings.HasSuffix(result.Output, "All is done.") ||
		strings.Join(result.Files, " ") != "a.txt b.txt c.txt" {
		t.Errorf("got %+v\nthe model saw %q", result, m.seen)
	}
	list := decode[methods.ProposalList](t, s.execute("agentls.proposals", `{"session":"`+string(started.Session)+`"}`))
	got := map[string]string{}
	for _, file := range list.Proposals[0].Files {
		for _, h := range file.Hunks {
			got[filepath.Base(string(file.URI))] += h.Before + "→" + h.After
		}
	}
	for name, want := range map[string]string{
		"a.txt": "unsaved\n→edited\n", "b.txt": "b\n→B\n", "c.txt": "→edited\n",
	} {
		if got[name] != want {
			t.Errorf("%s: the hunks are %q, not %q", name, got[name], want)
		}
	}
	for name, text := range files {
		d.unchanged(name, text)
	}
	if left := d.commandsOf(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	s.quit()
}

// TestPeerIsCancelled: nothing of a real agent is left once its run is cancelled, and what it had written is proposed.
func TestPeerIsCancelled(t *testing.T) {
	m := &opencodeModel{held: make(chan struct{}), asked: make(chan struct{}, 8)}
	m.calls = []peerCall{{"bash", `{"command":"echo B >b.txt; sleep 1000 >/dev/null 2>&1 &","description":"write"}`}}
	d := newPeer(t, map[string]string{"b.txt": "b\n"}, m)
	s := d.serve("rich")
	started := decode[methods.RunStarted](t, s.execute("agentls.run", `{"agent":"opencode","prompt":"Edit it."}`))
	select {
	case <-m.asked:
	case <-d.ctx.Done():
		t.Fatalf("the model is not asked; it saw %q", m.seen)
	}
	s.execute("agentls.cancel", `{"run":"`+string(started.Run)+`"}`)
	result := s.wait(started.Run)
	if result.Status != event.StatusCancelled || strings.Join(result.Files, " ") != "b.txt" {
		t.Errorf("got %+v", result)
	}
	if left := d.commandsOf(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	d.unchanged("b.txt", "b\n")
	s.quit()
}
