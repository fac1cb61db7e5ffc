package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

var (
	searching = []string{"read", "glob", "grep", "list"}
	children  = map[string][]string{
		"explore": searching, "reviewer": append([]string{"diagnostics", "report_finding"}, searching...),
		"general": append([]string{"edit", "task"}, searching...),
	}
)

// coder is a run at the top with all tools.
func coder(t *testing.T, files map[string]string) *desk {
	return &desk{t: t, files: files, agents: children, tools: append([]string{"task"}, allTools...)}
}

// agentsOf are the children that were started, as "agent what".
func agentsOf(d *desk) []string {
	var list []string
	for _, a := range d.started {
		list = append(list, a.Agent+" "+a.Description)
	}
	return list
}

func TestReviewEverything(t *testing.T) {
	d := coder(t, map[string]string{
		"a.go": deferring, "b/b.go": deferring, "note.md": "of the the words\n",
		"c.bin": "x",
	})
	answer := d.converse("Review everything in this workspace.")
	if got := agentsOf(d); !slices.Equal(got, []string{
		"explore survey the workspace", "reviewer review a.go",
		"reviewer review b/b.go", "reviewer review note.md",
	}) {
		t.Errorf("started %q", got)
	}
	if got := d.lines(); !slices.Equal(got,
		[]string{"a.go:11 defer-in-loop", "b/b.go:11 defer-in-loop", "note.md:1 doubled-word"}) {
		t.Errorf("reported %q", got)
	}
	if !slices.Equal(d.batches, []int{1, 3}) {
		t.Errorf("the turns started %v children", d.batches)
	}
	for _, part := range []string{
		"Reviewed 3 files, each by a child of its own: 2 warnings, 1 hint, 1 with a fix.",
		"a.go: 1 warning.", "note.md: 1 hint, 1 with a fix.", "Checked with the rules of agentls.",
	} {
		if !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %q:\n%s", part, answer)
		}
	}
	if strings.Count(answer, noModel) != 1 {
		t.Errorf("the answer is:\n%s", answer)
	}
}

// TestReviewEverythingFromAFile has an editor that tells which file is open.
func TestReviewEverythingFromAFile(t *testing.T) {
	d := coder(t, map[string]string{"a.go": deferring, "b.go": deferring})
	d.converse("Review all files.\n\n<context>\nfile: a.go\n</context>\n")
	if got := agentsOf(d); !slices.Equal(got, []string{
		"explore survey the workspace", "reviewer review a.go",
		"reviewer review b.go",
	}) {
		t.Errorf("started %q", got)
	}
	one := coder(t, map[string]string{"a.go": deferring, "b.go": deferring})
	one.converse("Review this file.\n\n<context>\nfile: a.go\n</context>\n")
	if len(one.started) != 0 || len(one.reports) != 1 {
		t.Errorf("started %q, reported %q", agentsOf(one), one.lines())
	}
}

func TestReviewManyFilesInBatches(t *testing.T) {
	files := map[string]string{}
	for i := range 70 {
		files[fmt.Sprintf("p%02d.go", i)] = "package p\n"
	}
	d := coder(t, files)
	answer := d.converse("Review all files.")
	if len(d.started) != 1+tasksInAll || slices.Max(d.batches) != tasksPerTurn {
		t.Errorf("%d children in batches of %v", len(d.started), d.batches)
	}
	if !strings.Contains(answer, "Reviewed 64 files") || !strings.Contains(answer, "6 files more: not looked at") {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestReviewOfAPart(t *testing.T) {
	d := coder(t, shop)
	answer := d.converse("Review the checkout of the cart for bugs.")
	if got := agentsOf(d); !slices.Equal(got, []string{"explore find checkout, cart", "reviewer review web/cart.js"}) {
		t.Errorf("started %q", got)
	}
	if !strings.HasPrefix(answer, "About checkout, cart are, by rules, the files below.") {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestReviewOfNamedFiles(t *testing.T) {
	d := coder(t, shop)
	d.converse("Review these.\n\n<context>\nfile: orders/store.go\nfile: orders/price.go\n</context>\n")
	if got := agentsOf(d); !slices.Equal(got,
		[]string{"reviewer review orders/store.go", "reviewer review orders/price.go"}) {
		t.Errorf("started %q", got)
	}
	one := coder(t, map[string]string{"a.go": deferring})
	one.converse("Review a.go")
	if len(one.started) != 0 || !slices.Equal(one.lines(), []string{"a.go:11 defer-in-loop"}) {
		t.Errorf("started %q, reported %q", agentsOf(one), one.lines())
	}
}

func TestFixEverything(t *testing.T) {
	source := "def f(a):\n    if a == None:\n        return 1\n"
	d := coder(t, map[string]string{"a.py": source, "b.py": source})
	answer := d.converse("Fix everything.")
	if got := agentsOf(d); !slices.Equal(got,
		[]string{"explore survey the workspace", "general fix a.py", "general fix b.py"}) {
		t.Errorf("started %q", got)
	}
	for _, name := range []string{"a.py", "b.py"} {
		if !strings.Contains(d.files[name], "a is None") || !strings.Contains(answer, name+":2: fixed") {
			t.Errorf("%s is %q; the answer is:\n%s", name, d.files[name], answer)
		}
	}
}

func TestQuestionIsDelegated(t *testing.T) {
	d := coder(t, shop)
	answer := d.converse("Where are orders saved? Be quick.")
	if got := agentsOf(d); !slices.Equal(got, []string{"explore find orders, saved"}) ||
		d.started[0].Thoroughness != "quick" {
		t.Errorf("started %+v", d.started)
	}
	if !strings.HasPrefix(answer, "orders/store.go:9: defines Save") || strings.Count(answer, noModel) != 1 {
		t.Errorf("the answer is:\n%s", answer)
	}
	explained := coder(t, shop)
	answer = explained.converse("Explain how orders are saved.")
	if got := agentsOf(explained); len(got) != 1+filesExplained || got[1] != "general explain orders/store.go" {
		t.Errorf("started %q", got)
	}
	for _, part := range []string{
		"orders/store.go:9: defines Save", "Read 3 files, each by a child of its own.",
		"- line 9: func (s *Store) Save(o Order) error.",
	} {
		if !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %q:\n%s", part, answer)
		}
	}
}

// TestChildDoesNotDelegate has a child that is offered the tool.
func TestChildDoesNotDelegate(t *testing.T) {
	d := coder(t, map[string]string{"a.go": deferring, "b.go": deferring})
	d.depth = 1
	d.converse("Review everything.")
	if len(d.started) != 0 || len(d.reports) != 2 {
		t.Errorf("started %q, reported %q", agentsOf(d), d.lines())
	}
}

func TestDelegationRefused(t *testing.T) {
	d := coder(t, map[string]string{"a.go": deferring, "b.go": deferring})
	d.refuse = func(name string, _ map[string]json.RawMessage) string {
		if name == "task" {
			return "no more children"
		}
		return ""
	}
	answer := d.converse("Review everything.")
	if got := d.lines(); !slices.Equal(got, []string{"a.go:11 defer-in-loop", "b.go:11 defer-in-loop"}) {
		t.Errorf("reported %q:\n%s", got, answer)
	}
	one := coder(t, map[string]string{"a.go": deferring, "b.go": deferring})
	one.refuse = func(name string, arguments map[string]json.RawMessage) string {
		if name == "task" && strings.Contains(string(arguments["prompt"]), "b.go") {
			return "no more children"
		}
		return ""
	}
	answer = one.converse("Review everything.")
	if !strings.Contains(answer, "Reviewed 1 file,") ||
		!strings.Contains(answer, "b.go: not done, no more children\n") {
		t.Errorf("the answer is:\n%s", answer)
	}
	without := coder(t, map[string]string{"a.go": deferring, "b.go": deferring})
	without.agents = map[string][]string{"tester": searching}
	if without.converse("Review everything."); len(without.started) != 0 || len(without.reports) != 2 {
		t.Errorf("started %q, reported %q", agentsOf(without), without.lines())
	}
}

// TestDelegationIsCutShort asks for the last word when half of the children have been heard of, one of which failed.
func TestDelegationIsCutShort(t *testing.T) {
	d := coder(t, map[string]string{"a.go": deferring, "b.go": deferring, "c.go": deferring})
	request := &model.Request{
		System: "You write.\n\nrole: agent, depth 0 of 3\n",
		Messages: []model.Message{
			model.UserText("Review these.\n\n<context>\nfile: a.go\nfile: b.go\nfile: c.go\n</context>\n"),
		},
		Tools: []model.Tool{d.offered("task"), {Name: "read"}},
	}
	done := d.ask(request)
	results := model.Message{Role: model.RoleTool}
	calls := done.Message.Calls()
	if len(calls) != 3 {
		t.Fatalf("the calls are %v", calls)
	}
	for i, text := range []string{
		"<task id=\"run_1\" agent=\"reviewer\" status=\"completed\">\nconflict: a.go lines 1-1: left out\ncost: 1 " +
			"turn, 0 tokens in, 0 out\n\na.go: 1 warning.\n\nChecked with gofmt, the rules of agentls. Not on this " +
			"machine: staticcheck. Not run: eslint, since it runs code.\n" + noModel + "\n</task>",
		"error: the task ended as timeout, and may be done in part; go on without it, or start another one with " +
			"resume = \"run_2\"\n" +
			"<task id=\"run_2\" agent=\"reviewer\" status=\"timeout\">\nended by: timeout\ncost: 1 turn, 0 " +
			"tokens in, " +
			"0 out\n\n(it said nothing)\n</task>",
	} {
		results.Parts = append(results.Parts,
			model.Result{ID: calls[i].ID, Name: "task", Text: text, Error: strings.HasPrefix(text, "error: ")})
	}
	request.Messages = append(request.Messages, done.Message, results,
		model.UserText("The limit of this run is reached (max_turns). Make no more calls."))
	request.NoCalls = true
	want := `Reviewed 2 files, each by a child of its own: 1 warning.

a.go: conflict: a.go lines 1-1: left out
a.go: 1 warning.
b.go: its child ended as timeout.
(it said nothing)
c.go: not done, the turns of this run were used up

Checked with gofmt, the rules of agentls. Not on this machine: staticcheck. Not run: eslint, since it runs code.
` + noModel + "\n"
	if got := d.ask(request).Message.Text(); got != want {
		t.Errorf("the answer is:\n%s\nwant:\n%s", got, want)
	}
}
