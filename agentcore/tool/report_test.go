package tool

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestReportOfAFailureAtALimit: a run that hands over a failure in its last turn is told of as one that was ended by
// its limit and as one that has failed.
func TestReportOfAFailureAtALimit(t *testing.T) {
	report := TaskState{ID: "r1", Agent: "tester", Result: event.RunResult{
		Status: event.StatusCompleted, Reason: "max_turns", Output: "S",
		Result: &event.ChildResult{Status: event.ChildStatusFailed, Summary: "S"},
	}}.Report()
	for _, want := range []string{"ended by: max_turns\n", "it says: failed\n"} {
		if !strings.Contains(report, want) {
			t.Errorf("%q lacks %q", report, want)
		}
	}
}
