package tool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
)

// TestHandedOver: what models write instead of calling submit_result is read in the spellings of the call, and nothing
// is lost; other texts are no results.
func TestHandedOver(t *testing.T) {
	for text, want := range map[string]event.ChildResult{
		`{"status":"completed","summary":"Done."}`: {Status: "completed", Summary: "Done."},
		`{"status":"blocked","result":"No key.","filesModified":"a.go","testsRun":"2"}`: {
			Status: "failed", Summary: "No key.", FilesModified: []string{"a.go"}, TestsRun: 2,
		},
		"I looked.\n```json\n{\"status\": \"partial\", \"summary\": \"Half.\", \"details\": \"See a.go.\", \"next\": " +
			"[1]}\n```\nThe end.": {
			Status: "partial", Summary: "Half.", Details: "I looked.\n\nSee a.go.\n\nnext: [1]\n\nThe end.",
		},
		"{\"example\": true}\n{\"status\":\"done\",\"summary\":\"Second.\"}": {
			Status: "completed", Summary: "Second.", Details: `{"example": true}`,
		},
		"Done.":                                                       {},
		"{\"summary\":\"no status\"}":                                 {},
		"{\"status\":\"completed\"}":                                  {},
		"{\"status\":200,\"summary\":\"x\"}":                          {},
		"{\"status\":\"queued\",\"summary\":\"x\"}":                   {},
		"{\"status\":\"completed\",\"summary\":\"cut":                 {},
		"Send {\"status\":\"completed\",\"summary\":\"x\"} when done": {},
		"\n  {": {},
	} {
		got, ok := HandedOver(text)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want.Summary != "") {
			t.Errorf("%s: %t (-want +got):\n%s", text, ok, diff)
		}
	}
}
