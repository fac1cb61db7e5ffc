package store

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// fillTexts puts a text into every string and JSON field that a value has, one element into each slice.
func fillTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(text)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(json.RawMessage(`{"a":"` + text + `"}`)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillTexts(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillTexts(v.Field(i), text)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillTexts(v.Elem(), text)
	}
}

func hide(text string) string { return strings.ReplaceAll(text, "hunter2hunter2", "[secret X]") }

func TestEveryTextOfABatchIsRedacted(t *testing.T) {
	var b Batch
	fillTexts(reflect.ValueOf(&b).Elem(), "my hunter2hunter2")
	b.Events = []NewEvent{
		{Body: event.Notice{Message: "hunter2hunter2", Hint: "x hunter2hunter2"}},
		{
			Body: event.RunFinished{Result: event.RunResult{
				Output: "hunter2hunter2",
				Error:  &event.Failure{Detail: "hunter2hunter2"},
			}},
		},
	}
	before, _ := json.Marshal(b.Hunks)
	clean := b
	clean.redact(hide)
	clean.Committed = nil
	for _, part := range []any{
		clean.Sessions, clean.Runs, clean.Messages, clean.ToolCalls, clean.LayerFilesRemoved, clean.LayerFiles,
		clean.Findings,
		clean.FindingsCleared, clean.Proposals, clean.Hunks, clean.Todos, clean.AgentsRemoved,
		clean.Agents, clean.Events,
		clean.Asks, clean.Grants, clean.TrustRemoved, clean.Trusted, clean.Prompts, clean.Unreads,
	} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "[secret X]") {
			t.Errorf("%T: %s", part, text)
		}
	}
	if after, _ := json.Marshal(b.Hunks); string(after) != string(before) {
		t.Errorf("the caller's own rows were changed: %s", after)
	}
	if got := reflect.TypeFor[Batch]().NumField(); got != 23 {
		t.Errorf("Batch has %d fields; name a new one in the list above", got)
	}
}

func TestWhatIsPublishedIsRedacted(t *testing.T) {
	published := make(chan event.Event, 4)
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{
		Redact:    hide,
		Committed: func(events []event.Event) { published <- events[0] },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	commit := s.Submit(Batch{
		Sessions: []Session{{ID: "s1", Title: "the key is hunter2hunter2"}},
		Events:   []NewEvent{{Session: "s1", Body: event.TextDelta{Text: "hunter2hunter2"}}},
	})
	if err := commit.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := (<-published).Body.(event.TextDelta).Text; got != "[secret X]" {
		t.Errorf("published %q", got)
	}
}

// harmless is a batch as turns make them.
func harmless() Batch {
	return Batch{
		Messages: []Message{{ID: "m", Parts: json.RawMessage(strings.Repeat("x", 1000))}},
		Events: []NewEvent{
			{Body: event.RunProgress{Message: "asks", Activities: []string{"a", "b", "c"}}},
			{Body: event.MessageCommitted{Text: "text"}},
		},
	}
}

// To look for secrets where there are none takes a copy of each JSON, whatever the batch's types are.
func TestHarmlessBatchIsOnlyLookedAt(t *testing.T) {
	batch := harmless()
	if n := testing.AllocsPerRun(100, func() { batch.redact(hide) }); n > 1 {
		t.Errorf("it takes %v allocations", n)
	}
}

func BenchmarkRedacted(b *testing.B) {
	batch := harmless()
	b.ReportAllocs()
	for b.Loop() {
		batch.redact(hide)
	}
}
