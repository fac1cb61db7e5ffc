package agentcore_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/anthropic"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
)

// bodies returns the events of one type, in order.
func bodies[T event.Body](events []event.Event) []T {
	var list []T
	for _, e := range events {
		if body, ok := e.Body.(T); ok {
			list = append(list, body)
		}
	}
	return list
}

func failing(failure model.Error) script.Error {
	failure.RetryAfter = max(failure.RetryAfter, time.Millisecond)
	return script.Error(failure)
}

// A stream that is cut begins anew: what was shown of it is declared void, none of its calls is made, and the
// conversation has nothing of it.
func TestCutStreamBeginsAnew(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{
			Answer: []script.Step{
				script.Text("half"),
				call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
				failing(model.Error{Kind: model.ErrNetwork, Detail: "connection reset"}),
			},
		},
		script.Turn{
			Answer: []script.Step{failing(model.Error{Kind: model.ErrOverloaded, Status: 529, Detail: "Overloaded"})},
		},
		script.Turn{Expect: []script.Expect{script.Messages(1)}, Answer: []script.Step{script.Text("whole")}},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Change a.txt."})
	result := w.wait(id)
	if result.Status != event.StatusCompleted || result.Output != "whole" || len(result.ToolCalls) != 0 ||
		result.Turns != 1 {
		t.Errorf("unexpected result: %+v", result)
	}
	seen := w.until(ended(id))
	var order []string
	for _, e := range seen {
		switch body := e.Body.(type) {
		case event.TurnStarted:
			order = append(order, fmt.Sprintf("turn %d.%d", body.Turn, body.Attempt))
		case event.RetryScheduled:
			order = append(order, fmt.Sprintf("retry %d", body.Attempt))
		case event.RunStatusChanged:
			order = append(order, strings.TrimSpace(string(body.Status)+" "+body.Reason))
		}
	}
	want := []string{
		"running", "turn 1.0", "retry 2", "waiting waits 1s: network", "running", "turn 1.2",
		"retry 3", "waiting waits 1s: overloaded", "running", "turn 1.3",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the events are %q, want %q", order, want)
	}
	said := ""
	for _, e := range seen {
		switch body := e.Body.(type) {
		case event.RetryScheduled, event.TurnStarted:
			said = ""
		case event.TextDelta:
			said += body.Text
		}
	}
	if said != "whole" {
		t.Errorf("who follows the pieces has %q, want the answer once", said)
	}
	if len(w.session.Board().Proposal().Hunks()) != 0 {
		t.Error("a call of the cut answer was made")
	}
}

// Some failures are not tried again, and what the provider asks to wait is not waited beyond the bound.
func TestNoRetry(t *testing.T) {
	for _, c := range []struct {
		name, says string
		failure    model.Error
	}{
		{"invalid", "bad request", model.Error{Kind: model.ErrInvalid, Status: 400, Detail: "bad request"}},
		{"key", "bad key", model.Error{Kind: model.ErrAuth, Status: 401, Detail: "bad key"}},
		{"model", "no such model", model.Error{Kind: model.ErrNotFound, Status: 404, Detail: "no such model"}},
		{
			"patience", "it asks to wait 10m0s",
			model.Error{Kind: model.ErrRateLimit, Status: 429, RetryAfter: 10 * time.Minute},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Error(c.failure)}})
			id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it."})
			result := w.wait(id)
			if result.Status != event.StatusFailed || result.Error == nil ||
				result.Error.Kind != string(c.failure.Kind) || !strings.Contains(result.Error.Detail, c.says) {
				t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
			}
			if n := len(bodies[event.RetryScheduled](w.until(ended(id)))); n != 0 {
				t.Errorf("%d retries were announced", n)
			}
		})
	}
}

// The attempts are bounded; what was said before the provider failed is kept.
func TestRetriesRunOut(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{script.Text("I look."), call("read", `{"path":"a.txt"}`)}},
		script.Turn{
			Times:  3,
			Answer: []script.Step{failing(model.Error{Kind: model.ErrServer, Status: 500, Detail: "down"})},
		},
	)
	w.closeEngine()
	cfg := config.Default()
	cfg.RetryMaxAttempts = 3
	w.openWith(agentcore.Options{
		StateDir: w.state, Config: cfg,
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
	result := w.wait(w.start(review(w.path("a.txt"))))
	if result.Status != event.StatusFailed || result.Error == nil ||
		!strings.Contains(result.Error.Detail, "asked 3 times in vain") || result.Output != "I look." {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
}

// A server that takes a request and says nothing counts as a cut stream.
func TestSilentProvider(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Text("awake")}})
	handler := wiretest.AnthropicHandler(w.model)
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if requests.Add(1) == 1 {
			out.Header().Set("Content-Type", "text/event-stream")
			out.WriteHeader(http.StatusOK)
			if err := http.NewResponseController(out).Flush(); err != nil {
				t.Error(err)
			}
			<-in.Context().Done()
			return
		}
		handler.ServeHTTP(out, in)
	}))
	t.Cleanup(server.Close)
	w.closeEngine()
	client := model.NewHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	w.openWith(agentcore.Options{StateDir: w.state, OpenModel: func(provider.Choice) (model.Model, error) {
		return anthropic.New(anthropic.Options{
			Name: "anthropic", Model: "m", BaseURL: server.URL, Key: "k",
			HTTPClient: client, IdleTimeout: 2 * time.Second,
		}), nil
	}})
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Wake up."})
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "awake" {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
	retries := bodies[event.RetryScheduled](w.until(ended(id)))
	if len(retries) == 0 || !strings.Contains(retries[0].Reason, "the server sent nothing") {
		t.Errorf("the retries are %+v", retries)
	}
}

// One run whose provider is stuck delays neither the others nor its own cancel.
func TestStallIsIsolated(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"},
		script.Turn{Match: "file: b.txt", Answer: []script.Step{script.Text("so far"), script.Gate("stuck")}},
		script.Turn{Times: 2, Answer: []script.Step{script.Text("done")}},
	)
	root := w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review this file.",
		Each: []string{w.path("a.txt"), w.path("b.txt"), w.path("c.txt")},
	})
	var stuck event.RunID
	finished := 0
	w.until(func(e event.Event) bool { // the others end while one is stuck
		switch body := e.Body.(type) {
		case event.RunCreated:
			if strings.HasSuffix(body.URI, "b.txt") {
				stuck = e.Run
			}
		case event.RunFinished:
			if body.Status != event.StatusCompleted || e.Run == stuck {
				t.Errorf("%s is %s", e.Run, body.Status)
			}
			finished++
		}
		return finished == 2
	})
	if err := w.model.Reached(w.ctx, "stuck", 1); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Cancel(stuck); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(stuck); result.Status != event.StatusCancelled {
		t.Errorf("the stuck run is %s", result.Status)
	}
	if result := w.wait(root); result.Status != event.StatusCompleted {
		t.Errorf("the parent is %s", result.Status)
	}
}

// handedOver is the turn in which a run hands over, after it ended since its model said what.
func handedOver(what string, answer ...script.Step) script.Turn {
	return script.Turn{
		Expect: []script.Expect{script.NoCalls(), script.Last("This run ends now"), script.Last(what)},
		Answer: answer,
	}
}

// A model may answer anything; each kind of nonsense is brought back a few times, then the run ends with what it has.
func TestNonsense(t *testing.T) {
	const leak = "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}</tool_call>"
	nudged := []script.Expect{script.Last("function calling interface"), script.Calls()}
	read := call("read", `{"path":"a.txt"}`)
	found := script.Text("What I found.")
	grep := func(pattern string) script.Call {
		return call("grep", fmt.Sprintf(`{"pattern":%q}`, pattern))
	}
	rounds := func(turns ...script.Turn) (all []script.Turn) {
		for range 5 {
			all = append(all, turns...)
		}
		return all[:len(all)-len(turns)+1]
	}
	for _, c := range []struct {
		name, reason string
		failed       bool
		output       string
		calls        int // that were carried out
		turns        []script.Turn
	}{
		{"nothing", "empty_answer", true, "", 0, []script.Turn{{Times: 3}, handedOver("answered nothing, 3 times")}},
		{
			"white space", "empty_answer", true, "", 0,
			[]script.Turn{
				{Times: 3, Answer: []script.Step{script.Text(" \n")}},
				handedOver("3 times", script.Text(" ")),
			},
		},
		{
			"nothing for a while", "", false, "What I found.", 1,
			[]script.Turn{{Times: 2}, {
				Expect: []script.Expect{script.Last("Your answer was empty")},
				Answer: []script.Step{read},
			}, {Times: 2}, {Answer: []script.Step{found}}},
		},
		{
			"nothing after something", "empty_answer", false, "I look.", 1,
			[]script.Turn{{Answer: []script.Step{script.Text("I look."), read}}, {Times: 3}, handedOver("3 times")},
		},
		{
			"nothing but thoughts", "empty_answer", false, "What I found.", 0,
			[]script.Turn{
				{Times: 3, Answer: []script.Step{script.Reasoning("hm")}, Stop: model.StopLength},
				handedOver("3 times", found),
			},
		},
		{
			"a call as text", "", false, "What I found.", 0,
			[]script.Turn{{Answer: []script.Step{script.Text(leak)}}, {Expect: nudged, Answer: []script.Step{found}}},
		},
		{"calls as text", "leaked_call", false, "What I found.", 0, []script.Turn{
			{Answer: []script.Step{script.Text(leak)}},
			{Expect: nudged, Answer: []script.Step{script.Text("Again: \n" + leak)}},
			{Expect: nudged, Answer: []script.Step{script.Text("Third:\n" + leak)}},
			handedOver("as text", found),
		}},
		{
			"JSON that was asked for", "", false, "```json\n{\"tool\": \"bash\", \"pattern\": \"git status*\"}\n```", 0,
			[]script.Turn{
				{
					Answer: []script.Step{
						script.Text("The rule:\n```json\n{\"tool\": \"bash\", \"pattern\": \"git status*\"}\n```"),
					},
				},
				{
					Expect: nudged,
					Answer: []script.Step{
						script.Text("```json\n{\"tool\": \"bash\", \"pattern\": \"git status*\"}\n```"),
					},
				},
			},
		},
		{
			"the same text again", "leaked_call", true, leak, 0,
			[]script.Turn{
				{Times: 2, Answer: []script.Step{script.Text(leak)}},
				handedOver("as text", script.Text(leak)),
			},
		},
		{"the same call for ever", "repeats", false, "What I found.", 4, []script.Turn{
			{Times: 3, Answer: []script.Step{read}},
			{Expect: []script.Expect{script.Last("You have made the same call 3 times")}, Answer: []script.Step{read}},
			{Expect: []script.Expect{script.NotLast("You have made")}, Answer: []script.Step{read}},
			handedOver("5 times in a row", found),
		}},
		{"the same call to the end", "repeats", true, "", 4, []script.Turn{
			{Times: 5, Answer: []script.Step{read}},
			handedOver("5 times in a row", read),
			{Expect: []script.Expect{script.Last("Nothing else can be called now")}, Answer: []script.Step{read}},
		}},
		{
			"by turns", "repeats", false, "What I found.", 8,
			append(rounds(script.Turn{Answer: []script.Step{grep("x")}}, script.Turn{Answer: []script.Step{grep("y")}}),
				handedOver("5 times in a row", found)),
		},
		{"no such tool", "broken_calls", false, "What I found.", 4, []script.Turn{
			{Answer: []script.Step{call("fly", `{"to":1}`)}},
			{Answer: []script.Step{call("fly", `{"to":2}`)}},
			{Answer: []script.Step{call("fly", `{"to":3}`)}},
			{Answer: []script.Step{call("fly", `{"to":4}`)}},
			handedOver("4 turns in a row", found),
		}},
		{"broken arguments", "broken_calls", false, "What I found.", 4, []script.Turn{
			{Answer: []script.Step{call("read", `{"path":1`)}},
			{
				Expect: []script.Expect{script.Result("read", "in the middle")},
				Answer: []script.Step{call("read", `{"path":2`)},
			},
			{Answer: []script.Step{call("read", `{"path" 3}`)}},
			{
				Expect: []script.Expect{script.Result("read", `at byte 9, behind {"path" `)},
				Answer: []script.Step{call("read", `{"path":4`)},
			},
			handedOver("4 turns in a row", found),
		}},
		{"cut calls", "length", false, "What I found.", 1, []script.Turn{
			{Answer: []script.Step{read, call("write", `{"path":"b.txt","content":"on`)}, Stop: model.StopLength},
			{
				Expect: []script.Expect{script.Result("read", "one"), script.Result("write", "cut off in the middle")},
				Answer: []script.Step{call("write", `{"path":"b.txt","content":"tw`)}, Stop: model.StopLength,
			},
			{Answer: []script.Step{call("write", `{}`)}, Stop: model.StopLength},
			handedOver("cut off in the middle of a call, 3 times", found),
		}},
		{"a whole call at the very end", "", false, "What I found.", 1, []script.Turn{
			{Answer: []script.Step{call("write", `{"path":"b.txt","content":"one"}`)}, Stop: model.StopLength},
			{Expect: []script.Expect{script.Result("write", "Created b.txt")}, Answer: []script.Step{found}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTrusted(t, map[string]string{"a.txt": "one\n"}, c.turns...)
			id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Look at a.txt."})
			result := w.wait(id)
			status := event.StatusCompleted
			if c.failed {
				status = event.StatusFailed
			}
			if result.Status != status || result.Reason != c.reason || result.Output != c.output ||
				len(result.ToolCalls) != c.calls {
				t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
			}
			if c.failed && (result.Error == nil || result.Error.Kind != c.reason || result.Error.Hint == "") {
				t.Errorf("unexpected error: %+v", result.Error)
			}
			told := slices.ContainsFunc(bodies[event.Notice](w.until(ended(id))),
				func(n event.Notice) bool { return n.Level == event.NoticeWarning })
			if told != (c.reason != "" && !c.failed) {
				t.Errorf("a warning was shown: %v", told)
			}
		})
	}
}

// What waits for something is asked for again and again by right, and so is, for a while, what answers something new
// each time.
func TestRepeatedByRight(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		times           int
		fresh           bool // each result is another one
	}{{"bash_output", `{"id":"1"}`, 19, false}, {"read", `{"path":"a.txt"}`, 9, true}} {
		t.Run(c.tool, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "one\n"},
				script.Turn{Times: c.times, Answer: []script.Step{call(c.tool, c.arguments)}},
				script.Turn{Answer: []script.Step{script.Text("done")}},
			)
			calls := 0
			w.withProbe(c.tool,
				probe{title: func() string { return c.tool }, run: func(context.Context) (tool.Result, error) {
					if calls++; c.fresh {
						return tool.Result{Text: fmt.Sprint(calls)}, nil
					}
					return tool.Result{Text: "still running"}, nil
				}})
			w.session.SetTrusted(true)
			result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Wait."}))
			if result.Status != event.StatusCompleted || result.Reason != "" || result.Output != "done" ||
				calls != c.times {
				t.Errorf("%d calls were made, want %d: %+v", calls, c.times, result)
			}
		})
	}
}

func TestBrokenArguments(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{
			call("read", `{"path":`), call("read", `{"path":7,"offset":"x"}`),
			call("read", `{"path":"../../etc/passwd"}`),
		}},
		script.Turn{Answer: []script.Step{script.Text("I give up")}},
	)
	result := w.wait(w.start(review(w.path("a.txt"))))
	if result.Status != event.StatusCompleted || len(result.ToolCalls) != 3 {
		t.Fatalf("unexpected result: %+v", result)
	}
	// What names no file that there could be is denied before any tool sees it.
	denied := 0
	for _, c := range result.ToolCalls {
		switch c.Status {
		case event.CallDenied:
			denied++
		case event.CallError:
		default:
			t.Errorf("a broken call ended as %s", c.Status)
		}
	}
	if denied != 1 {
		t.Errorf("%d calls were denied, want that of ../../etc/passwd alone", denied)
	}
}
