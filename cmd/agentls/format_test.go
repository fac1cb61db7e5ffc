package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
)

// reviewTurns is a review of a.txt, whose second line holds a character outside the basic plane.
const reviewTurns = `
turn
call read {"path": "a.txt"}
usage input=100 output=20 cached=5
turn
call report_finding {"path": "a.txt", "line": 2, "severity": "error", "rule": "doubled-word", "source": "spelling rules", "message": "The word is doubled.", "fix": {"old_string": "the the", "new_string": "the"}}
call report_finding {"path": "a.txt", "line": 3, "severity": "information", "message": "Short."}
call report_finding {"path": "nowhere.txt", "line": 3, "message": "Never."}
turn
text I read it.
`

var reviewFiles = map[string]string{"a.txt": "one\n\t😀 the the\nlast"}

func TestJSON(t *testing.T) {
	c := newCall(t, reviewFiles, reviewTurns, "review", "--format", "json", "a.txt")
	c.must(t, exitFindings)
	var got report
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, c.out.String())
	}
	if got.Root != c.dir || got.Agent != "reviewer" || got.Model != "script/test" || got.Run == "" ||
		got.Session == "" || got.Version == "" {
		t.Errorf("the head is %+v", got)
	}
	r := got.Result
	if r.Status != event.StatusCompleted || r.Output != "I read it." || r.Turns != 3 || r.Error != nil ||
		r.Proposal == "" {
		t.Errorf("the result is %+v", r)
	}
	if want := (event.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 5}); r.Usage != want {
		t.Errorf("the usage is %+v, want %+v", r.Usage, want)
	}
	var calls []string
	for _, call := range r.ToolCalls {
		calls = append(calls, call.Name+" "+string(call.Status))
	}
	if diff := cmp.Diff([]string{"read ok", "report_finding ok", "report_finding ok", "report_finding error"},
		calls); diff != "" {
		t.Errorf("the tool calls differ (-want +got):\n%s", diff)
	}
	if len(got.Findings) != 2 || len(got.Edits) != 1 || len(got.Edits[0].Hunks) != 1 {
		t.Fatalf("got %d findings and the edits %+v", len(got.Findings), got.Edits)
	}
	uri := event.FileURI(filepath.Join(c.dir, "a.txt"))
	hunk := got.Edits[0].Hunks[0]
	want := []findingReport{
		{Path: "a.txt", Finding: event.Finding{
			ID: got.Findings[0].ID, URI: uri, Span: event.Span{StartLine: 1, StartColumn: 1, EndLine: 1, EndColumn: 13},
			Severity: event.SeverityError, Rule: "doubled-word", Message: "The word is doubled.",
			Source: "spelling rules", Hunk: hunk.ID,
		}},
		{Path: "a.txt", Finding: event.Finding{
			ID: got.Findings[1].ID, URI: uri, Span: event.Span{StartLine: 2, EndLine: 2, EndColumn: 4},
			Severity: event.SeverityInformation, Message: "Short.", Source: "script/test",
		}},
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("the findings differ (-want +got):\n%s", diff)
	}
	wantEdit := fileReport{
		Path: "a.txt", URI: uri, Change: "modify",
		Hunks: []hunkReport{{
			ID: hunk.ID, State: event.StateOpen, StartLine: 1, EndLine: 2, Before: "\t😀 the the\n", After: "\t😀 the\n",
			Run: got.Run, Agent: "reviewer", Reason: "The word is doubled.",
		}},
		Diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-\t😀 the the\n+\t😀 the\n last\n\\ No newline at " +
			"end of file\n",
	}
	if diff := cmp.Diff(wantEdit, got.Edits[0]); diff != "" {
		t.Errorf("the edit differs (-want +got):\n%s", diff)
	}
}

func TestJSONWritten(t *testing.T) {
	c := newCall(t, reviewFiles, reviewTurns, "review", "--format", "json", "--write", "a.txt")
	c.must(t, exitOK) // the error is fixed, the rest is below a warning
	var got report
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Edits[0].Written || !got.Findings[0].Fixed || got.Findings[1].Fixed {
		t.Errorf("written and fixed are wrong:\n%s", c.out.String())
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "one\n\t😀 the\nlast"; string(text) != want {
		t.Errorf("the file is %q, want %q", text, want)
	}
}

func TestSARIF(t *testing.T) {
	files := map[string]string{"a b/c#.txt": reviewFiles["a.txt"]}
	c := newCall(t, files, strings.ReplaceAll(reviewTurns, "a.txt", "a b/c#.txt"), "review", "--format",
		"sarif", "a b/c#.txt")
	c.must(t, exitFindings)
	var got sarifLog
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, c.out.String())
	}
	if len(got.Runs) != 1 || len(got.Runs[0].Results) != 2 {
		t.Fatalf("not one run with two results:\n%s", c.out.String())
	}
	run := got.Runs[0]
	if base := run.OriginalURIBaseIDs[rootID].URI; base != event.FileURI(c.dir)+"/" {
		t.Errorf("%s is %q", rootID, base)
	}
	if !run.Invocations[0].ExecutionSuccessful {
		t.Error("the execution counts as failed")
	}
	where := artifactLocation{URI: "a%20b/c%23.txt", URIBaseID: rootID}
	want := []sarifResult{
		{
			RuleID: "spelling-rules/doubled-word", RuleIndex: 0, Level: "error",
			Message: sarifMessage{"The word is doubled."},
			// The emoji takes two code units.
			Locations: []sarifLocation{{physicalLocation{where, sarifRegion{2, 2, 2, 12}}}},
			Fixes: []sarifFix{{sarifMessage{"The word is doubled."}, []artifactChange{{where, []sarifReplacement{{
				DeletedRegion: sarifRegion{2, 1, 3, 1}, InsertedContent: &sarifMessage{"\t😀 the\n"},
			}}}}}},
		},
		{
			RuleID: "script/test/finding", RuleIndex: 1, Level: "note", Message: sarifMessage{"Short."},
			Locations: []sarifLocation{{physicalLocation{where, sarifRegion{3, 1, 3, 5}}}},
		},
	}
	if diff := cmp.Diff(want, run.Results); diff != "" {
		t.Errorf("the results differ (-want +got):\n%s", diff)
	}
	for i, result := range run.Results {
		if rule := run.Tool.Driver.Rules[result.RuleIndex]; rule.ID != result.RuleID {
			t.Errorf("result %d points to the rule %q, want %q", i, rule.ID, result.RuleID)
		}
	}
}

// TestFixOfSeveralHunks: a fix that changes lines which are apart is told, and applied, as a whole.
func TestFixOfSeveralHunks(t *testing.T) {
	const turns = `
turn
call read {"path": "a.txt"}
turn
call report_finding {"path": "a.txt", "line": 1, "severity": "error", "message": "The name is wrong.", "fix": {"old_string": "old\nx\ny\nz\nold\n", "new_string": "new\nx\ny\nz\nnew\n"}}
turn
text I read it.
`
	c := newCall(t, map[string]string{"a.txt": "old\nx\ny\nz\nold\n"}, turns, "review", "--format", "sarif", "a.txt")
	c.must(t, exitFindings)
	var got sarifLog
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, c.out.String())
	}
	want := []sarifFix{{sarifMessage{"The name is wrong."}, []artifactChange{{
		artifactLocation{URI: "a.txt", URIBaseID: rootID},
		[]sarifReplacement{
			{sarifRegion{1, 1, 2, 1}, &sarifMessage{"new\n"}},
			{sarifRegion{5, 1, 6, 1}, &sarifMessage{"new\n"}},
		},
	}}}}
	if diff := cmp.Diff(want, got.Runs[0].Results[0].Fixes); diff != "" {
		t.Errorf("the fix differs (-want +got):\n%s", diff)
	}
}

// TestColor looks at what a terminal gets: colours where they are wanted, and nothing else that moves it.
func TestColor(t *testing.T) {
	c := newCall(t, reviewFiles, reviewTurns, "review", "a.txt")
	c.stdout.terminal, c.stdout.color = true, true
	c.must(t, exitFindings)
	text := c.out.String()
	for _, want := range []string{
		"a.txt:2:2: \x1b[31merror\x1b[0m: The word is doubled.\x1b[2m [spelling rules doubled-word]\x1b[0m\n",
		"    \x1b[31m-\t😀 the the\x1b[0m\n    \x1b[32m+\t😀 the\x1b[0m\n",
		"a.txt:3:1: \x1b[34minformation\x1b[0m: Short.",
		"\x1b[1m--- a/a.txt\x1b[0m\n",
		"\x1b[36m@@ -1,3 +1,3 @@\x1b[0m\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%q", want, text)
		}
	}
}

// TestDiffOnTerminal looks at a diff with carriage returns, which are only made visible where a person reads it.
func TestDiffOnTerminal(t *testing.T) {
	files := map[string]string{"a.txt": "the the\r\n"}
	turns := "turn\n" +
		`call report_finding {"path": "a.txt", "line": 1, "message": "m", "fix": {"old_string": "the the", "new_string": "the"}}` + "\nturn\ntext Done."
	for terminal, want := range map[bool]string{
		true:  "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-the the\\r\n+the\\r\n",
		false: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-the the\r\n+the\r\n",
	} {
		c := newCall(t, files, turns, "review", "--format", "diff", "a.txt")
		c.stdout.terminal = terminal
		c.must(t, exitFindings)
		if got := c.out.String(); got != want {
			t.Errorf("terminal %v: got %q, want %q", terminal, got, want)
		}
	}
}
