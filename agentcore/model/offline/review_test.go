package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

func TestReviewSelection(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"note.md": "the the one\nthe the two\nthe the three\n"}}
	text := d.converse("Review the selection.\n\n<context>\nfile: note.md\nlines: 2-2\n</context>\n")
	if got := d.lines(); !slices.Equal(got, []string{"note.md:2 doubled-word"}) {
		t.Errorf("reported %q", got)
	}
	if !strings.Contains(text, "note.md, lines 2-2: 1 hint, 1 with a fix.") {
		t.Errorf("the answer is:\n%s", text)
	}
}

// TestReviewReadsOn has a read tool that shows little at once: the file is read to its end within the turns.
func TestReviewReadsOn(t *testing.T) {
	var text strings.Builder
	for i := range 900 {
		fmt.Fprintf(&text, "x%d = %d\n", i, i)
	}
	text.WriteString("eval(x1)\n")
	d := &desk{t: t, files: map[string]string{"long.py": text.String()}, shown: 100}
	answer := d.converse("review long.py")
	if got := d.lines(); !slices.Equal(got, []string{"long.py:901 unsafe-eval"}) {
		t.Errorf("reported %q in %d turns; the answer is:\n%s", got, d.turns, answer)
	}
}

func TestReviewTooLong(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"long.py": strings.Repeat("x = 1\n", 3000)}, shown: 10}
	answer := d.converse("review long.py")
	if !strings.Contains(answer, "Only its first ") || !strings.Contains(answer, " of 3000 lines were read.") {
		t.Errorf("the answer does not say that the file was not read to its end:\n%s", answer)
	}
}

// TestReviewWithoutFix refuses the fixes: each finding is reported again without it, once.
func TestReviewWithoutFix(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"note.md": "the the one\nof of two\n"}}
	d.refuse = func(name string, arguments map[string]json.RawMessage) string {
		if name == "report_finding" && arguments["fix"] != nil {
			return "the fix does not fit: old_string is not in note.md"
		}
		return ""
	}
	answer := d.converse("review note.md")
	if got := d.lines(); !slices.Equal(got, []string{"note.md:1 doubled-word", "note.md:2 doubled-word"}) {
		t.Errorf("reported %q", got)
	}
	if d.turns != 3 || d.files["note.md"] != "the the one\nof of two\n" {
		t.Errorf("%d turns, the file is %q; the answer is:\n%s", d.turns, d.files["note.md"], answer)
	}
}

// TestReviewRefused refuses all reports: the findings stand in the answer instead, and nothing loops.
func TestReviewRefused(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"note.md": "the the one\n"}}
	d.refuse = func(name string, _ map[string]json.RawMessage) string {
		if name == "report_finding" {
			return "no findings here"
		}
		return ""
	}
	answer := d.converse("review note.md")
	if !strings.Contains(answer, `- note.md:1: hint: The word "the" stands here twice. (agentls rules doubled-word)`) {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestReviewManyFindings(t *testing.T) {
	d := &desk{
		t:     t,
		files: map[string]string{"note.md": strings.Repeat("the the one\n\n", 70) + "<<<<<<< a\n=======\n>>>>>>> b\n"},
	}
	d.converse("review note.md")
	if len(d.reports) != maxFindings+1 || !slices.Contains(d.lines(), "note.md:141 merge-conflict") {
		t.Errorf("%d findings were reported: %q", len(d.reports), d.lines())
	}
	// In an editor nobody sees the answer: what is not shown is a finding of its own.
	told := slices.IndexFunc(d.reports,
		func(r findingArguments) bool { return r.Rule == "more-findings" && r.Line == 1 })
	if told < 0 || !strings.Contains(d.reports[told].Message, "21 more findings") {
		t.Errorf("the reports are %+v", d.reports)
	}
	for _, c := range d.asked {
		if len(c.Arguments) == 0 {
			t.Errorf("%s has no arguments", c.Name)
		}
	}
}

func TestReviewUnreadable(t *testing.T) {
	d := &desk{t: t, files: map[string]string{}}
	answer := d.converse("review gone.go")
	if !strings.Contains(answer, "gone.go could not be read: gone.go does not exist") || d.turns != 1 {
		t.Errorf("after %d turns the answer is:\n%s", d.turns, answer)
	}
}

func TestReviewWorkspace(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"a_test.go": "package p\n", "b.go": deferring, "c.bin": "x"}}
	d.converse("Please check the project for bugs")
	if got := d.lines(); !slices.Equal(got, []string{"b.go:11 defer-in-loop"}) {
		t.Errorf("reported %q", got)
	}
}

// TestReviewCombines has a checker and a rule that say the same.
func TestReviewCombines(t *testing.T) {
	d := &desk{
		t: t, files: map[string]string{"a.py": "def f(a):\n    if a == None:\n        return 1\n"},
		diagnostics: map[string]string{
			"a.py": "a.py:2:8: warning: Comparison to `None` should be `cond is None` [ruff E711]\nChecked with ruff.",
		},
	}
	d.converse("review a.py")
	if len(d.reports) != 1 || d.reports[0].Source != "ruff" || d.reports[0].Rule != "E711" || d.reports[0].Fix == nil {
		t.Errorf("reported %+v", d.reports)
	}
	if !strings.Contains(d.files["a.py"], "is None") {
		t.Errorf("the file is %q", d.files["a.py"])
	}
}

func TestReviewWithoutReports(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"b.go": deferring}, tools: []string{"read"}}
	if answer := d.converse("review b.go"); !strings.Contains(answer, "- b.go:11: warning: The deferred call") {
		t.Errorf("the answer is:\n%s", answer)
	}
	none := &desk{t: t, tools: []string{"list"}}
	if answer := none.converse("review b.go"); !strings.Contains(answer, "need the tool `read`") {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestRepair(t *testing.T) {
	source := "def f(a):\n    if a == None:\n        return 1\n    if a != None:\n        return 2\n"
	d := &desk{t: t, files: map[string]string{"a.py": source}}
	answer := d.converse(
		"Fix this finding.\n\n<context>\nfile: a.py\nlines: 4-4\nline: 4\nrule: none-comparison\nfinding: None is " +
			"compared by value.\n</context>\n")
	if want := strings.Replace(source, "a != None", "a is not None", 1); d.files["a.py"] != want ||
		!strings.Contains(answer, "a.py:4: fixed") {
		t.Errorf("the file is %q; the answer is:\n%s", d.files["a.py"], answer)
	}

	all := &desk{t: t, files: map[string]string{"a.py": source}}
	all.converse("Fix what you can in a.py")
	if got := all.files["a.py"]; strings.Contains(got, "= None") || len(all.edits) != 2 {
		t.Errorf("the file is %q", got)
	}

	other := &desk{t: t, files: map[string]string{"a.py": source}}
	answer = other.converse(
		"Fix this.\n\n<context>\nfile: a.py\nline: 1\nrule: naming\nfinding: The name says nothing.\n</context>\n")
	if len(other.edits) != 0 || !strings.Contains(answer, "no safe fix") || !strings.Contains(answer, noModel) {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestExplain(t *testing.T) {
	d := &desk{t: t, files: map[string]string{
		"b.go": "// Package p reads files. It is small.\npackage p\n\nimport \"os\"\n\n// Size tells how large a " +
			"file is. It may fail.\nfunc Size(name string) (int64, error) {\n\tinfo, err := os.Stat(name)\n\tif err " +
			"!= nil {\n\t\treturn 0, err\n\t}\n\treturn info.Size(), nil\n}\n\ntype none struct{ a, b int }\n",
		"a.py": "# Reads things.\ndef read(name):\n    pass\n\n\nclass Reader:\n    def " +
			"close(self):\n        pass\n",
		"note.md": "# One\n## Two\n",
	}}
	answer := d.converse("Explain these.\n\n<context>\nfile: b.go\nfile: a.py\nfile: note.md\n</context>\n")
	for _, part := range []string{
		"- line 2: package p. Package p reads files. It is small.",
		"- line 7: func Size(name string) (int64, error). Size tells how large a file is.",
		"- line 15: type none struct{ a, b int }.", "- line 2: def read(name). Reads things.",
		"- line 7: def close(self).", "  - line 2: Two", noModel,
	} {
		if !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %q:\n%s", part, answer)
		}
	}
	selection := &desk{t: t, files: d.files}
	answer = selection.converse("What does this do?\n\n<context>\nfile: b.go\nlines: 8-8\n</context>\n")
	if !strings.Contains(answer, "func Size") || strings.Contains(answer, "type none") ||
		strings.Contains(answer, "imports") || strings.Contains(answer, "info.Size") {
		t.Errorf("the answer goes beyond the selection:\n%s", answer)
	}
}

func TestIntent(t *testing.T) {
	for words, want := range map[string]intent{
		"Review this file": review, "check main.go for problems": review, "find bugs in here": review,
		"What is wrong here?":   review,
		"explain the selection": explain, "What does this do?": explain, "Summarize README.md": explain,
		"where is the parser?": explore, "How are sessions stored": explore, "find usages of Foo": explore,
		"Fix this": repair, "please repair the error": repair, "write a poem": unknown, "": unknown,
	} {
		if got := intentOf(words); got != want {
			t.Errorf("%q is %d, want %d", words, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	d := &desk{t: t}
	answer := d.converse("Write me a parser for TOML")
	for _, part := range []string{noModel, "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "default_model", "config.toml"} {
		if !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %q:\n%s", part, answer)
		}
	}
}

// TestHandOver asks for the last word in the middle: there is an answer and no call.
func TestHandOver(t *testing.T) {
	d := &desk{t: t}
	request := &model.Request{
		Messages: []model.Message{
			model.UserText("review a.go"),
			model.UserText("The limit of this run is reached (max_turns). Make no more calls."),
		},
		Tools: []model.Tool{{Name: "read"}, {Name: "diagnostics"}}, NoCalls: true,
	}
	done := d.ask(request)
	if len(done.Message.Calls()) > 0 || done.Stop != model.StopEnd || !strings.Contains(done.Message.Text(), noModel) {
		t.Errorf("the turn is %+v", done)
	}
}

// TestNewTask asks for something else in the same conversation: files are kept from the context, results are not.
func TestNewTask(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"b.go": deferring}}
	request := &model.Request{
		Messages: []model.Message{model.UserText("Review it.\n\n<context>\nfile: b.go\n</context>\n")},
	}
	d.goOn(request)
	request.Tools = nil
	request.Messages = append(request.Messages, model.UserText("Now explain it."))
	if answer := d.goOn(request); !strings.Contains(answer, "- line 5: func f(names []string).") {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range New().Stream(ctx, &model.Request{Messages: []model.Message{model.UserText("review a.go")}}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	}
	for range New().Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("hello")}}) {
		break // the consumer may stop at any time
	}
}

// TestSample reviews the sample project that comes with the command.
func TestSample(t *testing.T) {
	root := filepath.Join("..", "..", "..", "cmd", "agentls", "testdata", "sample")
	d := &desk{t: t, files: map[string]string{}}
	prompt := "Review these files.\n\n<context>\n"
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) == ".mod" {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		d.files[filepath.ToSlash(relative)] = string(raw)
		prompt += "file: " + filepath.ToSlash(relative) + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := d.converse(prompt + "</context>\n")
	fixes := 0
	for _, r := range d.reports {
		if r.Fix != nil {
			fixes++
		}
	}
	if len(d.reports) != 17 || fixes != 6 {
		t.Errorf("%d findings with %d fixes: %q\n%s", len(d.reports), fixes, d.lines(), answer)
	}
}
