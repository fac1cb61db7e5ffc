package event

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEventRoundTrip(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, body := range []Body{
		RunCreated{Agent: "reviewer", Depth: 1, Title: "Review <main.go>", Prompt: "ü\n"},
		FindingReported{Finding{ID: "f1", URI: "file:///a", Severity: SeverityWarning, Message: "m"}},
		RunFinished{Status: StatusCompleted, Result: RunResult{ToolCalls: []CallSummary{}, Children: []RunID{}}},
	} {
		in := Event{7, "s1", "r1", at, body}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out Event
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Errorf("%s changed on the way (-in +out):\n%s", body.EventType(), diff)
		}
	}
}

func TestUnknownEventIsKept(t *testing.T) {
	raw := []byte(`{"seq":1,"session":"s","time":"2026-01-02T03:04:05Z","type":"FromTheFuture","x":1}`)
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if u, ok := e.Body.(Unknown); !ok || u.Type != "FromTheFuture" {
		t.Fatalf("body is %#v", e.Body)
	}
}

func TestIDsSortByTimeAndDiffer(t *testing.T) {
	var ids []string
	for range 1000 {
		ids = append(ids, string(NewRunID()))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
		t.Fatal("two ids are the same")
	}
	if ids[0][:8] > ids[999][:8] {
		t.Fatalf("%s was made before %s but sorts after it", ids[0], ids[999])
	}
}
