package agentcore_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/secret"
)

// leaker is a model that reads a file, edits it, and says what it saw; it keeps what it was asked.
type leaker struct {
	seen  []string
	turns []model.Message
}

func (*leaker) Name() string { return "leaker/1" }

func (l *leaker) Stream(_ context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	asked := request.System
	for _, m := range request.Messages {
		parts, _ := model.EncodeParts(m.Parts)
		asked += string(parts)
	}
	l.seen = append(l.seen, asked)
	return func(yield func(model.Event, error) bool) {
		m := l.turns[0]
		l.turns = l.turns[1:]
		for text := m.Text(); text != ""; {
			n := min(5, len(text))
			if !yield(model.TextDelta{Text: text[:n]}, nil) {
				return
			}
			text = text[n:]
		}
		yield(model.Done{Message: m}, nil)
	}
}

func called(name, arguments string) model.Message {
	return model.Message{
		Role:  model.RoleAssistant,
		Parts: []model.Part{model.Call{ID: name, Name: name, Arguments: json.RawMessage(arguments)}},
	}
}

func TestSecretsStayInTheirFileOfAPatch(t *testing.T) {
	const key = "own-key-0123456789abcdef"
	for name, patch := range map[string]string{
		"envelope": "*** Begin Patch\n*** Update File: a.sh\n-curl '[secret OWN_KEY]'\n+curl -f '[secret " +
			"OWN_KEY]'\n*** Add File: b.sh\n+curl '[secret OWN_KEY]'\n*** End Patch\n",
		"diff": "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-curl '[secret OWN_KEY]'\n+curl -f '[secret OWN_KEY]'\n--- " +
			"/dev/null\n+++ b/b.sh\n@@ -0,0 +1 @@\n+curl '[secret OWN_KEY]'\n",
	} {
		t.Run(name, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]string{"patch": patch})
			if err != nil {
				t.Fatal(err)
			}
			l := &leaker{turns: []model.Message{
				called("read", `{"path": "a.sh"}`), called("patch", string(arguments)),
				{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "done"}}},
			}}
			w := newWorld(t, map[string]string{"a.sh": "curl '" + key + "'\n"})
			w.closeEngine()
			redactor := &secret.Redactor{}
			redactor.Add("OWN_KEY", key)
			w.openWith(agentcore.Options{
				StateDir: w.state, Redactor: redactor, Getenv: func(string) string { return "" },
				OpenModel: func(provider.Choice) (model.Model, error) { return l, nil },
			})
			w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "change it"}))
			got := map[string]string{}
			for _, h := range w.session.Board().Proposal().Hunks() {
				got[filepath.Base(h.Path)] = h.After
			}
			if want := "curl -f '" + key + "'\n"; got["a.sh"] != want {
				t.Errorf("the file's own secret: %q, want %q", got["a.sh"], want)
			}
			if want := "curl '[secret OWN_KEY]'\n"; got["b.sh"] != want {
				t.Errorf("the other file: %q, want %q", got["b.sh"], want)
			}
		})
	}
}

func TestSecretsReachNobody(t *testing.T) {
	const key = "own-key-0123456789abcdef"
	coded := base64.StdEncoding.EncodeToString([]byte(key))
	l := &leaker{turns: []model.Message{
		called("read", `{"path": "deploy.sh"}`),
		called("edit",
			`{"path": "deploy.sh", "old_string": "curl -H '[secret OWN_KEY]'", "new_string": "curl -f -H '[secret OWN_KEY]'"}`),
		called("write", `{"path": "copy.txt", "content": "[secret OWN_KEY]\n"}`),
		{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "It holds " + key + " or " + coded + "."}}},
	}}
	w := newWorld(t, map[string]string{"deploy.sh": "curl -H '" + key + "' # " + coded + "\n"})
	w.closeEngine()
	redactor := &secret.Redactor{}
	redactor.Add("OWN_KEY", key)
	w.openWith(agentcore.Options{
		StateDir: w.state, Redactor: redactor,
		OpenModel: func(provider.Choice) (model.Model, error) { return l, nil },
	})
	events := w.engine.Subscribe(w.session.ID, 0)
	result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "look at " + key}))
	if !strings.Contains(result.Output, "[secret OWN_KEY]") {
		t.Errorf("the answer is %q", result.Output)
	}
	// What the user is shown, and accepts, is his own text with the edit.
	proposed := map[string]string{}
	for _, h := range w.session.Board().Proposal().Hunks() {
		proposed[filepath.Base(h.Path)] = h.After
	}
	if want := "curl -f -H '" + key + "' # " + coded + "\n"; proposed["deploy.sh"] != want {
		t.Errorf("the edit is %q, want %q", proposed["deploy.sh"], want)
	}
	if got := proposed["copy.txt"]; got != "[secret OWN_KEY]\n" {
		t.Errorf("another file got %q", got)
	}
	for i, asked := range l.seen {
		if strings.Contains(asked, key) || strings.Contains(asked, coded) {
			t.Errorf("request %d holds the key", i+1)
		}
	}
	for {
		e, err := events.Next(w.ctx)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), key) || strings.Contains(string(text), coded) {
			t.Errorf("an event holds the key: %s", text)
		}
		if strings.Contains(string(text), `"RunFinished"`) {
			break
		}
	}
	// The next process has no text to put back for the secret, and must not offer the placeholder.
	w.closeEngine()
	w.openWith(agentcore.Options{
		StateDir: w.state, Redactor: redactor,
		OpenModel: func(provider.Choice) (model.Model, error) { return l, nil },
	})
	for _, h := range w.session.Board().Proposal().Hunks() {
		if strings.Contains(h.After, "[secret") && h.State != event.StateSuperseded {
			t.Errorf("%s is %s with %q", h.Path, h.State, h.After)
		}
	}
	w.closeEngine()
	files, err := filepath.Glob(filepath.Join(w.state, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil &&
			(strings.Contains(string(data), key) || strings.Contains(string(data), coded)) {
			t.Errorf("%s holds the key", filepath.Base(file))
		}
	}
}
