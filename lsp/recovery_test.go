package lsp

import (
	"testing"

	"github.com/agentls/agentls/agentcore/elsewhere"
	"github.com/agentls/agentls/agentcore/event"
)

// TestResumedRunsAreStillTold: a run may be resumed while the user is being told of it.
func TestResumedRunsAreStillTold(t *testing.T) {
	runs := []elsewhere.Interrupted{{Parts: []event.RunID{"r1"}}, {Parts: []event.RunID{"r2"}}}
	var r recovery
	r.offer(runs)
	r.resumed("r1")
	if left := r.runs(); len(left) != 1 || left[0].Parts[0] != "r2" {
		t.Errorf("left are %+v", left)
	}
	if len(runs[0].Parts) != 1 || len(runs[1].Parts) != 1 {
		t.Errorf("what is told of has become %+v", runs)
	}
}
