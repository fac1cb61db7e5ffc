package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/model"
)

// desk carries out the calls of the model as the engine's tools do, on files in memory.
type desk struct {
	t     *testing.T
	files map[string]string
	// diagnostics is the answer of the tool by path.
	diagnostics map[string]string
	// shown is how many lines read shows at most.
	shown int
	// tools are offered; nil offers all.
	tools []string
	// refuse answers a call with an error if it returns one.
	refuse func(name string, arguments map[string]json.RawMessage) string
	// depth is that of the run.
	depth int
	// agents are the tools of those that task may start, by name.
	agents map[string][]string

	started []taskArguments
	// batches are how many tasks each turn started.
	batches []int
	reports []findingArguments
	edits   []editArguments
	turns   int
	asked   []model.Call
}

var allTools = []string{"read", "diagnostics", "report_finding", "glob", "grep", "list", "edit"}

// converse drives the model until it calls nothing more and returns its last text.
func (d *desk) converse(prompt string) string {
	d.t.Helper()
	system := fmt.Sprintf("You are helpful.\n\n<environment>\ndate: 2026-03-01\nrole: agent, depth %d of 3\n</environment>\n",
		d.depth)
	request := &model.Request{System: system, Messages: []model.Message{model.UserText(prompt)}}
	return d.goOn(request)
}

func (d *desk) goOn(request *model.Request) string {
	d.t.Helper()
	tools := d.tools
	if tools == nil {
		tools = allTools
	}
	for _, name := range tools {
		request.Tools = append(request.Tools, d.offered(name))
	}
	ids := map[string]bool{}
	for {
		done := d.ask(request)
		calls := done.Message.Calls()
		request.Messages = append(request.Messages, done.Message)
		if len(calls) == 0 {
			if done.Stop != model.StopEnd {
				d.t.Errorf("the last turn stopped with %q", done.Stop)
			}
			return done.Message.Text()
		}
		tasks := 0
		for _, c := range calls {
			if c.Name == "task" {
				tasks++
			}
		}
		if tasks > 0 {
			d.batches = append(d.batches, tasks)
		}
		if d.turns++; d.turns-len(d.batches) > maxTurns {
			d.t.Fatalf("more than %d turns", maxTurns)
		}
		results := model.Message{Role: model.RoleTool}
		for _, c := range calls {
			if ids[c.ID] {
				d.t.Errorf("the call id %s comes twice", c.ID)
			}
			ids[c.ID] = true
			if !slices.Contains(tools, c.Name) {
				d.t.Errorf("%s was called and is not offered", c.Name)
			}
			d.asked = append(d.asked, c)
			text, err := d.carryOut(c)
			if err != nil {
				text = "error: " + err.Error()
			}
			results.Parts = append(results.Parts, model.Result{ID: c.ID, Name: c.Name, Text: text, Error: err != nil})
		}
		request.Messages = append(request.Messages, results)
	}
}

// ask returns the end of one turn and checks that the deltas make up its text.
func (d *desk) ask(request *model.Request) model.Done {
	d.t.Helper()
	var text strings.Builder
	var done *model.Done
	for event, err := range New().Stream(d.t.Context(), request) {
		if err != nil {
			d.t.Fatal(err)
		}
		switch event := event.(type) {
		case model.TextDelta:
			text.WriteString(event.Text)
		case model.Done:
			done = &event
		}
	}
	if done == nil {
		d.t.Fatal("the stream had no end")
	}
	if text.String() != done.Message.Text() {
		d.t.Errorf("the deltas are %q, the text is %q", text.String(), done.Message.Text())
	}
	return *done
}

func (d *desk) carryOut(c model.Call) (string, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &raw); err != nil {
		d.t.Fatalf("the arguments of %s: %v", c.Name, err)
	}
	if d.refuse != nil {
		if text := d.refuse(c.Name, raw); text != "" {
			return "", fmt.Errorf("%s", text)
		}
	}
	switch c.Name {
	case "read":
		return d.read(decode[readArguments](d.t, c))
	case "diagnostics":
		a := decode[diagnosticsArguments](d.t, c)
		if text, ok := d.diagnostics[a.Path]; ok {
			return text, nil
		}
		return "No problems. No checker here judged this file.", nil
	case "report_finding":
		a := decode[findingArguments](d.t, c)
		if a.Fix != nil {
			if err := d.replace(a.Path, *a.Fix); err != nil {
				return "", err
			}
		}
		d.reports = append(d.reports, a)
		return "Reported as fnd_1.", nil
	case "edit":
		a := decode[editArguments](d.t, c)
		if err := d.replace(a.Path, a.Fix); err != nil {
			return "", err
		}
		d.edits = append(d.edits, a)
		return "Edited.", nil
	case "glob":
		return strings.Join(slices.Sorted(maps.Keys(d.files)), "\n") + "\n", nil
	case "grep":
		return d.grep(decode[grepArguments](d.t, c)), nil
	case "list":
		return "a/\n", nil
	case "task":
		return d.task(decode[taskArguments](d.t, c))
	}
	return "", fmt.Errorf("no such tool")
}

// offered is a tool as the engine offers it.
func (d *desk) offered(name string) model.Tool {
	offered := model.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}
	if name == "task" {
		offered.Schema = json.RawMessage(`{"type":"object","properties":{"context_files":{},"thoroughness":{}}}`)
		offered.Description = "Give a job to another agent.\nAgents:"
		for _, agent := range slices.Sorted(maps.Keys(d.agents)) {
			offered.Description += "\n- " + agent + ": what it does"
		}
	}
	return offered
}

// task has a child do the job on the same files, and answers as the engine does.
func (d *desk) task(a taskArguments) (string, error) {
	tools, ok := d.agents[a.Agent]
	if !ok {
		return "", fmt.Errorf("you cannot start an agent %q", a.Agent)
	}
	d.started = append(d.started, a)
	child := &desk{
		t: d.t, files: d.files, diagnostics: d.diagnostics, tools: tools, depth: d.depth + 1,
		agents: d.agents,
	}
	prompt := "<reminder>\nReview nothing.\n</reminder>\n\n" + a.Prompt + "\n\n<task>\nyou are: coder ▸ " +
		a.Agent + "\n"
	if a.Thoroughness != "" {
		prompt += "thoroughness: " + a.Thoroughness + "\n"
	}
	prompt += "</task>"
	if len(a.ContextFiles) > 0 {
		prompt += "\n\n<context>\n"
		for _, name := range a.ContextFiles {
			prompt += "file: " + name + "\n"
		}
		prompt += "</context>\n"
	}
	answer := child.converse(prompt)
	d.reports, d.edits = append(d.reports, child.reports...), append(d.edits, child.edits...)
	d.started = append(d.started, child.started...)
	return fmt.Sprintf(
		"<task id=\"run_1\" agent=%q status=\"completed\">\ncost: 1 turn, 0 tokens in, 0 out\n\n%s\n</task>", a.Agent,
		strings.TrimSpace(answer)), nil
}

func decode[T any](t *testing.T, c model.Call) T {
	t.Helper()
	var arguments T
	decoder := json.NewDecoder(strings.NewReader(string(c.Arguments)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&arguments); err != nil {
		t.Fatalf("the arguments of %s, %s: %v", c.Name, c.Arguments, err)
	}
	return arguments
}

func (d *desk) read(a readArguments) (string, error) {
	text, ok := d.files[a.Path]
	if !ok {
		return "", fmt.Errorf("%s does not exist", a.Path)
	}
	if text == "" {
		return "(the file is empty)", nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	first, limit := max(a.Offset, 1), len(lines)
	if a.Limit > 0 {
		limit = a.Limit
	}
	if d.shown > 0 {
		limit = min(limit, d.shown)
	}
	last := min(first-1+limit, len(lines))
	var out strings.Builder
	for number := first; number <= last; number++ {
		fmt.Fprintf(&out, "%d\t%s\n", number, lines[number-1])
	}
	if last < len(lines) {
		fmt.Fprintf(&out, "(lines %d-%d of %d; read on with offset %d)\n", first, last, len(lines), last+1)
	}
	return out.String(), nil
}

func (d *desk) replace(name string, f lint.Fix) error {
	text, ok := d.files[name]
	if !ok {
		return fmt.Errorf("%s does not exist", name)
	}
	if n := strings.Count(text, f.OldString); n != 1 || f.OldString == "" {
		return fmt.Errorf("the fix does not fit: old_string is in %s %d times", name, n)
	}
	d.files[name] = strings.Replace(text, f.OldString, f.NewString, 1)
	return nil
}

func (d *desk) grep(a grepArguments) string {
	expression := regexp.MustCompile(a.Pattern)
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if ok, _ := path.Match(a.Include, path.Base(name)); a.Include != "" && !ok {
			continue
		}
		heading := name + "\n"
		for i, line := range strings.Split(d.files[name], "\n") {
			if expression.MatchString(line) {
				fmt.Fprintf(&out, "%s%d:%s\n", heading, i+1, line)
				heading = ""
			}
		}
	}
	return out.String()
}

// lines are where findings were reported, as "path:line rule".
func (d *desk) lines() []string {
	var lines []string
	for _, r := range d.reports {
		lines = append(lines, fmt.Sprintf("%s:%d %s", r.Path, r.Line, r.Rule))
	}
	slices.Sort(lines)
	return lines
}

const deferring = `package p

import "os"

func f(names []string) {
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return
		}
		defer file.Close()
	}
}
`

func TestReview(t *testing.T) {
	d := &desk{t: t, files: map[string]string{
		"a.go":    deferring,
		"note.md": "One\n\nof the the words\nand and is here\n",
	}, diagnostics: map[string]string{
		"a.go": "a.go:3:8: error: \"os\" imported and not used [go vet imports]\nChecked with go syntax, gofmt, go " +
			"vet. Not on this machine: staticcheck. Not run: eslint, since it runs code of this workspace. Not run: " +
			"tsc, since a rule denies it.",
	}}
	text := d.converse("Review these files.\n\n<context>\nfile: a.go\nfile: note.md\n</context>\n")
	want := []string{"a.go:11 defer-in-loop", "a.go:3 imports", "note.md:3 doubled-word", "note.md:4 doubled-word"}
	if got := d.lines(); !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
	if d.turns != 2 {
		t.Errorf("it took %d turns, want 2", d.turns)
	}
	if got := d.files["note.md"]; got != "One\n\nof the words\nand is here\n" {
		t.Errorf("the fixes made %q", got)
	}
	for _, part := range []string{
		"a.go: 1 error, 1 warning.", "note.md: 2 hints, 2 with a fix.",
		"Checked with go syntax, gofmt, go vet, the rules of agentls.", "Not on this machine: staticcheck.",
		"Not run: eslint, since it runs code of this workspace.", "Not run: tsc, since a rule denies it.", noModel,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the answer lacks %q:\n%s", part, text)
		}
	}
}
