package agentcore_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
)

// broken is a model with a bug.
type broken struct{}

func (broken) Name() string { return "broken" }

func (broken) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	return func(func(model.Event, error) bool) { panic("no answer today") }
}

// A bug in what runs on a run's goroutine ends the run, and not the process.
func TestModelPanics(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.closeEngine()
	w.openWith(agentcore.Options{
		StateDir:  w.state,
		OpenModel: func(provider.Choice) (model.Model, error) { return broken{}, nil },
	})
	id := w.start(review(w.path("a.txt")))
	result := w.wait(id)
	if result.Status != event.StatusFailed || result.Error == nil || result.Error.Kind != "internal" ||
		!strings.Contains(result.Error.Detail, "no answer today") {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
	w.until(ended(id))
}

// probe is a tool for these tests, under the name of one that the reviewer may use.
type probe struct {
	tool.Tool
	title      func() string
	run        func(context.Context) (tool.Result, error)
	undeclared bool // it does not say what it reaches for
}

func (p probe) Title(json.RawMessage) string { return p.title() }

func (p probe) Decode(arguments json.RawMessage) (tool.Call, error) {
	made := tool.Call{
		Title: p.title(), Arguments: arguments, Access: &tool.Access{},
		Run: func(ctx context.Context, _ tool.Host) (tool.Result, error) {
			return p.run(ctx)
		},
	}
	if p.undeclared {
		made.Access = nil
	}
	return made, nil
}

// withProbe opens the engine anew with a tool in the place of the built-in one of that name.
func (w *world) withProbe(name string, p probe) {
	w.t.Helper()
	w.closeEngine()
	tools := tool.Builtin()
	at := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == name })
	p.Tool = tools[at]
	tools[at] = p
	w.openWith(agentcore.Options{
		StateDir: w.state, Tools: tools,
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
}

// A tool that does not declare what its calls reach for is denied in every mode: nothing could be decided on.
func TestUndeclaredToolIsDenied(t *testing.T) {
	for _, mode := range []permission.Mode{permission.Default, permission.Bypass} {
		w := newWorld(t, nil,
			script.Turn{Answer: []script.Step{call("todo", `{"items":[]}`)}},
			script.Turn{
				Expect: []script.Expect{
					script.Result("todo", "denied: the tool todo does not declare what it reaches for"),
				},
				Answer: []script.Step{script.Text("done")},
			},
		)
		w.withProbe("todo", probe{
			undeclared: true, title: func() string { return "todo" },
			run: func(context.Context) (tool.Result, error) {
				t.Error("the call was made")
				return tool.Result{}, nil
			},
		})
		w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go.", PermissionMode: mode})
	}
}

func TestToolPanics(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`), call("todo", `{"items":[]}`)}},
		script.Turn{
			Expect: []script.Expect{script.Result("read", "because of a bug")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	w.withProbe("read", probe{title: func() string { panic("no title") }})
	if result := w.wait(w.start(review(w.path("a.txt")))); result.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", result)
	}
}

// The calls that come after a cancel are not made.
func TestCancelBetweenCalls(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{
			call("todo", `{"items":[]}`), call("todo", `{"items":[]}`),
			call("todo", `{"items":[]}`),
		}},
	)
	calls := 0
	var id event.RunID
	started := make(chan struct{})
	w.withProbe("todo", probe{title: func() string { return "todo" }, run: func(context.Context) (tool.Result, error) {
		<-started
		calls++
		return tool.Result{}, w.engine.Cancel(id)
	}})
	id = w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it."})
	close(started)
	result := w.wait(id)
	if result.Status != event.StatusCancelled || calls != 1 || len(result.ToolCalls) != 3 ||
		result.ToolCalls[2].Status != event.CallCancelled {
		t.Errorf("%d calls were made, want 1: %+v", calls, result)
	}
}

// refuse makes the store fail on every row of a table, as a full disk does.
func (w *world) refuse(table string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.state, "agentls.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(w.ctx,
		"CREATE TRIGGER refuse BEFORE INSERT ON "+table+" BEGIN SELECT RAISE(ABORT, 'no room'); END"); err != nil {
		w.t.Fatal(err)
	}
}

// A run that cannot be stored ends, and people hear of it.
func TestStoreFails(t *testing.T) {
	for _, table := range []string{"message", "tool_call"} {
		t.Run(table, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "one\n"},
				script.Turn{Answer: []script.Step{script.Gate("running"), call("read", `{"path":"a.txt"}`)}},
				script.Turn{Times: script.Any, Answer: []script.Step{script.Gate("for ever")}},
			)
			id := w.start(review(w.path("a.txt")))
			if err := w.model.Reached(w.ctx, "running", 1); err != nil {
				t.Fatal(err)
			}
			w.refuse(table)
			w.model.Release("running")
			result := w.wait(id)
			if result.Status != event.StatusFailed || result.Error == nil || result.Error.Kind != "store" ||
				!strings.Contains(result.Error.Detail, "no room") {
				t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
			}
			w.until(ended(id))
		})
	}
	t.Run("event", func(t *testing.T) { // not even the end
		w := newWorld(t, map[string]string{"a.txt": "one\n"},
			script.Turn{Times: script.Any, Answer: []script.Step{script.Gate("for ever")}})
		id := w.start(review(w.path("a.txt")))
		if err := w.model.Reached(w.ctx, "for ever", 1); err != nil {
			t.Fatal(err)
		}
		w.refuse("event")
		if err := w.engine.Cancel(id); err != nil {
			t.Fatal(err)
		}
		if result := w.wait(id); result.Status != event.StatusFailed || result.Error == nil ||
			result.Error.Kind != "store" {
			t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
		}
		seen := w.until(ended(id))
		if end := seen[len(seen)-1].Body.(event.RunFinished); end.Status != event.StatusFailed ||
			end.Result.Error == nil {
			t.Errorf("the surfaces were told %+v", end)
		}
		if !slices.ContainsFunc(seen,
			func(e event.Event) bool { n, ok := e.Body.(event.Notice); return ok && n.Level == event.NoticeError }) {
			t.Error("nobody was told that the store fails")
		}
		if _, err := w.session.Start(w.ctx, review(w.path("a.txt"))); err == nil || fault.Explain(err).Kind != "store" {
			t.Errorf("a run that cannot be stored was started: %v", err)
		}
	})
}

func TestNegativeLimits(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	for _, limits := range []agent.Limits{{MaxTurns: -1}, {Timeout: -time.Second}, {Tokens: -1}, {Cost: -0.5}} {
		request := review(w.path("a.txt"))
		request.Limits = limits
		if _, err := w.session.Start(w.ctx, request); err == nil || fault.Explain(err).Kind != "invalid_request" {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

// A reader that comes late gets each stored event once, in order, and no piece of a message behind the message.
func TestLateReaderOfAFastRun(t *testing.T) {
	var turns []script.Turn
	for i := range 40 {
		turns = append(turns,
			script.Turn{Answer: []script.Step{
				script.Text(strings.Repeat("word ", 50)),
				call("todo", fmt.Sprintf(`{"items":[{"text":"%d","state":"pending"}]}`, i)),
			}, Chunk: 5})
	}
	w := newWorld(t, nil, append(turns, said)...)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Limits: agent.Limits{MaxTurns: 50}})
	for range 10 {
		late := w.engine.Subscribe(w.session.ID, 0)
		seq := uint64(0)
		for {
			e, err := late.Next(w.ctx)
			if err != nil {
				t.Fatal(err)
			}
			if event.Transient(e.Body) {
				if e.Seq != seq {
					t.Fatalf("%s behind event %d came behind %d", e.Body.EventType(), e.Seq, seq)
				}
				continue
			}
			if seq++; e.Seq != seq {
				t.Fatalf("event %d came, want %d", e.Seq, seq)
			}
			if ended(id)(e) {
				break
			}
		}
	}
}
