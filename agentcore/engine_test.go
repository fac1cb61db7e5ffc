package agentcore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/acp/acptest"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/workspace"
)

func TestMain(m *testing.M) {
	sandbox.Dispatch()
	mcptest.Dispatch()
	acptest.Dispatch()
	goleak.VerifyTestMain(m)
}

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = 4 * time.Minute

// world is a workspace with an engine whose model is scripted.
type world struct {
	t       *testing.T
	ctx     context.Context
	dir     string
	state   string
	model   *script.Script
	view    *workspace.View
	engine  *agentcore.Engine
	session *agentcore.Session
	events  *feed.Subscription
}

func newWorld(t *testing.T, files map[string]string, turns ...script.Turn) *world {
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, dir: t.TempDir(), state: t.TempDir(), model: script.New("test", turns...)}
	for name, text := range files {
		path := w.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	t.Cleanup(w.close)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) open() {
	w.t.Helper()
	w.openWith(agentcore.Options{
		StateDir: w.state, Getenv: func(string) string { return "" },
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
}

// openWith opens the engine with other options.
func (w *world) openWith(options agentcore.Options) {
	w.t.Helper()
	var err error
	if w.view, err = workspace.Open([]workspace.Root{{Path: w.dir, Name: "w"}}, workspace.Options{}); err != nil {
		w.t.Fatal(err)
	}
	if w.engine, err = agentcore.Open(w.ctx, options); err != nil {
		w.t.Fatal(err)
	}
	w.events = w.engine.Subscribe("", 0)
	if w.session, err = w.engine.OpenSession(w.ctx, w.view, "test"); err != nil {
		w.t.Fatal(err)
	}
}

// close ends the engine and checks the script; the second call does nothing.
func (w *world) close() {
	if w.engine == nil {
		return
	}
	w.closeEngine()
	if err := w.model.Check(); err != nil {
		w.t.Error(err)
	}
}

// closeEngine ends the engine, to open another.
func (w *world) closeEngine() {
	w.t.Helper()
	if err := w.engine.Close(w.ctx); err != nil {
		w.t.Errorf("close the engine: %v", err)
	}
	if err := w.view.Close(); err != nil {
		w.t.Errorf("close the view: %v", err)
	}
	w.engine = nil
}

func (w *world) start(request agentcore.RunRequest) event.RunID {
	w.t.Helper()
	id, err := w.session.Start(w.ctx, request)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) wait(id event.RunID) event.RunResult {
	w.t.Helper()
	result, err := w.engine.Wait(w.ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	if !result.Status.Final() {
		w.t.Fatalf("the run %s is still %s", id, result.Status)
	}
	return result
}

// until reads events up to the first that fits, and returns all that it read.
func (w *world) until(fits func(event.Event) bool) []event.Event {
	w.t.Helper()
	var seen []event.Event
	for {
		e, err := w.events.Next(w.ctx)
		if err != nil {
			w.t.Fatalf("after %d events: %v", len(seen), err)
		}
		seen = append(seen, e)
		if fits(e) {
			return seen
		}
	}
}

func ended(id event.RunID) func(event.Event) bool {
	return func(e event.Event) bool { _, ok := e.Body.(event.RunFinished); return ok && e.Run == id }
}

func review(paths ...string) agentcore.RunRequest {
	return agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review this file.",
		Context: agentcore.Context{Paths: paths},
	}
}

func call(name, arguments string) script.Call { return script.Call{Name: name, Arguments: arguments} }

func TestReviewOfUnsavedText(t *testing.T) {
	const disk = "package a\n\nfunc f() {}\n"
	const unsaved = "package a\n\nfunc f() {\n\tprintln(\"debug\")\n}\n"
	w := newWorld(t, map[string]string{"a.go": disk},
		script.Turn{
			Expect: []script.Expect{
				script.Last("file: a.go"), script.Tools("read", "report_finding"),
				script.NoTools("edit", "write"),
			},
			Answer: []script.Step{call("read", `{"path":"a.go"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("read", `println("debug")`)},
			Answer: []script.Step{
				call("report_finding",
					`{"path":"a.go","line":4,"severity":"warning","rule":"debug-print","message":"a debug print is left","fix":{"old_string":"\tprintln(\"debug\")\n","new_string":""}}`),
			},
		},
		script.Turn{Answer: []script.Step{script.Text("One finding.")}, Usage: model.Usage{Input: 100, Output: 7}},
	)
	path := w.path("a.go")
	w.view.SetDocument(path, unsaved, 3)
	id := w.start(review(path))
	result := w.wait(id)
	if result.Status != event.StatusCompleted || result.Output != "One finding." || result.Turns != 3 ||
		result.Usage.InputTokens != 100 {
		t.Errorf("unexpected result: %+v", result)
	}
	if result.Proposal != w.session.Board().ProposalID() {
		t.Errorf("the result names the proposal %q, want %q", result.Proposal, w.session.Board().ProposalID())
	}
	findings := w.session.Board().Findings(path)
	hunks := w.session.Board().Proposal().Hunks()
	if len(findings) != 1 || len(hunks) != 1 {
		t.Fatalf("got %d findings and %d hunks, want one of each", len(findings), len(hunks))
	}
	if findings[0].Span.StartLine != 3 || findings[0].Hunk != hunks[0].ID ||
		findings[0].Message != "a debug print is left" {
		t.Errorf("unexpected finding: %+v", findings[0])
	}
	if hunks[0].Before != "\tprintln(\"debug\")\n" || hunks[0].After != "" || hunks[0].Author.Run != id {
		t.Errorf("unexpected hunk: %+v", hunks[0])
	}
	diff, err := w.session.Board().Diff([]event.HunkID{hunks[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	want := "--- a/a.go\n+++ b/a.go\n@@ -1,5 +1,4 @@\n package a\n \n func f() {\n-\tprintln(\"debug\")\n }\n"
	if diff != want {
		t.Errorf("the diff is\n%s\nwant\n%s", diff, want)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != disk {
		t.Errorf("the file on disk was touched: %q, %v", now, err)
	}
	// The remark follows the text, and goes with its line.
	w.view.SetDocument(path, "// new\n"+unsaved, 4)
	if moved := w.session.Board().Findings(path); len(moved) != 1 || moved[0].Span.StartLine != 4 {
		t.Errorf("the finding did not follow the text: %+v", moved)
	}
	w.view.SetDocument(path, disk, 5)
	if left := w.session.Board().Findings(path); len(left) != 0 {
		t.Errorf("the finding outlived its line: %+v", left)
	}
	w.until(func(e event.Event) bool { _, ok := e.Body.(event.FindingCleared); return ok })
}

func TestEventsAreNumberedAndComplete(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`), call("nonsense", `{}`)}},
		script.Turn{
			Expect: []script.Expect{script.Result("nonsense", "error: there is no tool \"nonsense\"")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	id := w.start(review(w.path("a.txt")))
	var types []string
	seq := uint64(0)
	for _, e := range w.until(ended(id)) {
		if event.Transient(e.Body) {
			continue
		}
		if seq++; e.Seq != seq {
			t.Errorf("%s has the number %d, want %d", e.Body.EventType(), e.Seq, seq)
		}
		types = append(types, e.Body.EventType())
	}
	got := strings.Join(types, " ")
	for _, want := range []string{
		"RunCreated RunStatusChanged MessageCommitted TurnStarted MessageCommitted ToolCallStarted",
		"MessageCommitted TurnStarted MessageCommitted SessionChanged RunFinished",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the events are\n%s\nwant among them\n%s", got, want)
		}
	}
	// A later reader gets the same stored events.
	again := w.engine.Subscribe(w.session.ID, 2)
	for want := uint64(3); want <= seq; want++ {
		e, err := again.Next(w.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if event.Transient(e.Body) {
			want--
			continue
		}
		if e.Seq != want {
			t.Fatalf("got event %d, want %d", e.Seq, want)
		}
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{script.Text("so far"), script.Gate("held")}},
	)
	id := w.start(review(w.path("a.txt")))
	if err := w.model.Reached(w.ctx, "held", 1); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Status != event.StatusCancelled {
		t.Errorf("the run is %s, want cancelled: %+v", result.Status, result)
	}
	if err := w.engine.Cancel(id); err != nil {
		t.Errorf("a second cancel: %v", err)
	}
}

func TestCancelReachesChildren(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
		script.Turn{Times: 2, Answer: []script.Step{script.Gate("held")}},
	)
	id := w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review this file.",
		Each: []string{w.path("a.txt"), w.path("b.txt")},
	})
	if err := w.model.Reached(w.ctx, "held", 2); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	result := w.wait(id)
	if result.Status != event.StatusCancelled || len(result.Children) != 2 {
		t.Fatalf("unexpected result: %+v", result)
	}
	for _, child := range result.Children {
		if r := w.wait(child); r.Status != event.StatusCancelled {
			t.Errorf("the child is %s", r.Status)
		}
	}
}

func TestEachFileHasItsChild(t *testing.T) {
	fix := func(name string) script.Turn {
		return script.Turn{Match: "file: " + name, Answer: []script.Step{
			call("report_finding",
				`{"path":"`+name+`","line":1,"message":"teh in `+name+
					`","fix":{"old_string":"teh","new_string":"the"}}`),
		}}
	}
	w := newWorld(t, map[string]string{"a.txt": "teh a\n", "b.txt": "teh b\n", "c.txt": "teh c\n"},
		fix("a.txt"), fix("b.txt"), fix("c.txt"),
		script.Turn{Times: 3, Answer: []script.Step{script.Text("done")}},
	)
	id := w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review this file.",
		Each: []string{w.path("a.txt"), w.path("b.txt"), w.path("c.txt")},
	})
	result := w.wait(id)
	if result.Status != event.StatusCompleted || len(result.Children) != 3 {
		t.Fatalf("unexpected result: %+v", result)
	}
	var fixed []string
	for _, h := range w.session.Board().Proposal().Hunks() {
		fixed = append(fixed, filepath.Base(h.Path)+" "+h.After)
	}
	if want := []string{"a.txt the a\n", "b.txt the b\n", "c.txt the c\n"}; !slices.Equal(fixed, want) {
		t.Errorf("the hunks are %q, want %q", fixed, want)
	}
	for _, f := range w.session.Board().Findings("") {
		if f.Hunk == "" {
			t.Errorf("the finding %q has no hunk", f.Message)
		}
	}
}

func TestTurnsRunOut(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		script.Turn{
			Expect: []script.Expect{script.Last("The limit of this run is reached")},
			Answer: []script.Step{script.Text("what I have")},
		},
	)
	request := review(w.path("a.txt"))
	request.Limits = agent.Limits{MaxTurns: 2}
	result := w.wait(w.start(request))
	if result.Status != event.StatusCompleted || result.Reason != "max_turns" || result.Output != "what I have" {
		t.Errorf("unexpected result: %+v", result)
	}
}

func TestAnswerIsCutOff(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{script.Text("half of the ans")}, Stop: model.StopLength})
	id := w.start(review(w.path("a.txt")))
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Reason != "length" ||
		result.Output != "half of the ans" {
		t.Errorf("unexpected result: %+v", result)
	}
	if !slices.ContainsFunc(w.until(ended(id)),
		func(e event.Event) bool { _, ok := e.Body.(event.Notice); return ok }) {
		t.Error("nobody was told that the answer is not whole")
	}
}

func TestTimeRunsOut(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		// or the time is up before it is asked
		script.Turn{Times: script.Any, Answer: []script.Step{script.Gate("held")}},
	)
	request := review(w.path("a.txt"))
	request.Limits = agent.Limits{Timeout: time.Millisecond}
	if result := w.wait(w.start(request)); result.Status != event.StatusTimeout || result.Error == nil ||
		result.Error.Kind != "timeout" {
		t.Errorf("unexpected result: %+v", result)
	}
}

func TestRefusedRequests(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n", "b.bin": "a\x00b", "big.txt": strings.Repeat("x", 9<<20)})
	for _, c := range []struct {
		name    string
		request agentcore.RunRequest
		kind    string
	}{
		{"unknown agent", agentcore.RunRequest{Agent: "nobody", Prompt: "x"}, "not_found"},
		{"hidden agent", agentcore.RunRequest{Agent: "compaction", Prompt: "x"}, "not_allowed"},
		{"empty prompt", agentcore.RunRequest{Agent: "reviewer"}, "invalid_request"},
		{"blank prompt", agentcore.RunRequest{Agent: "reviewer", Prompt: " \n\t"}, "invalid_request"},
		{"missing file", review(w.path("none.txt")), string(workspace.NotFound)},
		{"outside file", review(filepath.Join(filepath.Dir(w.dir), "x.txt")), string(workspace.Outside)},
		{"binary file", review(w.path("b.bin")), string(workspace.Binary)},
		{"large file", review(w.path("big.txt")), string(workspace.TooLarge)},
		{"folder", review(w.dir), string(workspace.Directory)},
	} {
		_, err := w.session.Start(w.ctx, c.request)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if failure := fault.Explain(err); failure.Kind != c.kind || failure.Detail == "" || failure.Hint == "" {
			t.Errorf("%s: got %+v, want the kind %s with a detail and a hint", c.name, failure, c.kind)
		}
	}
}

func TestFindingsOutliveTheProcess(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\n"},
		script.Turn{Answer: []script.Step{call("report_finding", `{"path":"a.txt","line":2,"message":"two is odd"}`)}},
		script.Turn{Answer: []script.Step{script.Gate("held")}},
	)
	path := w.path("a.txt")
	id := w.start(review(path))
	w.until(func(e event.Event) bool { _, ok := e.Body.(event.FindingReported); return ok })
	if err := w.model.Reached(w.ctx, "held", 1); err != nil {
		t.Fatal(err)
	}
	w.close()
	if err := os.WriteFile(path, []byte("zero\none\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.open()
	findings := w.session.Board().Findings(path)
	if len(findings) != 1 || findings[0].Message != "two is odd" || findings[0].Span.StartLine != 2 {
		t.Errorf("the finding did not come back on its line: %+v", findings)
	}
	if row, err := w.engine.Store().Run(w.ctx, id); err != nil || row.Status != event.StatusInterrupted {
		t.Errorf("the run that was cut off is %s (%v), want interrupted", row.Status, err)
	}
}

func TestReviewedAgain(t *testing.T) {
	report := func(line, message string) script.Turn {
		return script.Turn{
			Answer: []script.Step{call("report_finding", `{"path":"a.txt","line":`+line+`,"message":"`+message+`"}`)},
		}
	}
	done := script.Turn{Answer: []script.Step{script.Text("done")}}
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\n"}, report("1", "stays"), report("2", "goes"), done,
		report("1", "stays"), done)
	path := w.path("a.txt")
	w.wait(w.start(review(path)))
	first := w.session.Board().Findings(path)
	if len(first) != 2 {
		t.Fatalf("got %+v", first)
	}
	w.wait(w.start(review(path)))
	second := w.session.Board().Findings(path)
	if len(second) != 1 || second[0].ID != first[0].ID {
		t.Errorf("after the second review there is %+v, want only the renewed %+v", second, first[0])
	}
}

// A second review sees the text with the proposed fix in it, and so cannot find the fault again.
func TestFaultWithOpenFixStays(t *testing.T) {
	done := script.Turn{Answer: []script.Step{script.Text("done")}}
	w := newWorld(t, map[string]string{"a.txt": "zero\nteh\ntwo\nthree\n"},
		script.Turn{
			Answer: []script.Step{
				call("report_finding",
					`{"path":"a.txt","line":2,"message":"a typo","fix":{"old_string":"teh","new_string":"the\nthe"}}`),
			},
		},
		done,
		script.Turn{Answer: []script.Step{
			call("report_finding", `{"path":"a.txt","line":5,"message":"three is odd"}`),
			call("report_finding", `{"path":"a.txt","line":3,"message":"twice"}`),
		}},
		done,
	)
	path := w.path("a.txt")
	w.wait(w.start(review(path)))
	w.wait(w.start(review(path)))
	var got []string
	for _, f := range w.session.Board().Findings(path) {
		got = append(got, fmt.Sprintf("%d %s", f.Span.StartLine+1, f.Message))
	}
	slices.Sort(got)
	// Lines that the second review names are those of its own text; here are those that the editor shows.
	if want := []string{"2 a typo", "2 twice", "4 three is odd"}; !slices.Equal(got, want) {
		t.Errorf("the findings are %q, want %q", got, want)
	}
}

func TestWaitForARunOfAnEarlierProcess(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		script.Turn{Answer: []script.Step{script.Text("done")}, Usage: model.Usage{Input: 3}},
	)
	id := w.start(review(w.path("a.txt")))
	want := w.wait(id)
	w.close()
	w.open()
	got := w.wait(id)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the stored result differs (-want +got):\n%s", diff)
	}
	if _, err := w.engine.Wait(w.ctx, "r0"); err == nil || fault.Explain(err).Kind != "not_found" {
		t.Errorf("waiting for an unknown run: %v", err)
	}
}
