package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends a request and returns the text as it was streamed, the end, and the error.
func ask(ctx context.Context, m model.Model, request *model.Request) (deltas []string, done model.Done, err error) {
	for event, failure := range m.Stream(ctx, request) {
		if failure != nil {
			return deltas, done, failure
		}
		switch event := event.(type) {
		case model.TextDelta:
			deltas = append(deltas, event.Text)
		case model.Done:
			done = event
		}
	}
	return deltas, done, nil
}

func mustParse(t *testing.T, text string) *Script {
	t.Helper()
	s, err := Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustHold fails unless Check reports each of the texts, and something at all only if there are texts.
func mustHold(t *testing.T, s *Script, wants ...string) {
	t.Helper()
	err := s.Check()
	if len(wants) == 0 {
		if err != nil {
			t.Errorf("Check: %v", err)
		}
		return
	}
	for _, want := range wants {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check does not report %q; it reports: %v", want, err)
		}
	}
}

var tools = []model.Tool{
	{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)},
	{Name: "edit", Schema: json.RawMessage(`{"type":"object"}`)},
}

// next makes the request that follows a request and its answer.
func next(before *model.Request, answer model.Message, result string) *model.Request {
	request := *before
	request.Messages = append(append([]model.Message{}, before.Messages...), answer)
	if calls := answer.Calls(); len(calls) > 0 {
		var parts []model.Part
		for _, call := range calls {
			parts = append(parts, model.Result{ID: call.ID, Name: call.Name, Text: result})
		}
		request.Messages = append(request.Messages, model.Message{Role: model.RoleTool, Parts: parts})
	} else {
		request.Messages = append(request.Messages, model.UserText(result))
	}
	return &request
}

func TestConversation(t *testing.T) {
	s := mustParse(t, `
# a review
turn match="review"
expect last "a.go"
expect not last b.go
expect system You are
expect tools read edit
expect no tools bash task
expect messages 1
usage input=100 output=7 cached=40
chunk 2
text Grüße,
	zweite Zeile
call read {"path": "a.go"}
call edit {
	"path": "a.go"}
turn
expect result read "stamp"
capture stamp stamp=(\w+)
call edit {"stamp": "${stamp}"}
turn
text "the stamp was ${stamp}\n"
stop length
`)
	request := &model.Request{
		System: "You are a tester", Tools: tools, Run: "r1",
		Messages: []model.Message{model.UserText("review a.go")},
	}
	deltas, done, err := ask(t.Context(), s, request)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Done{
		Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			model.Text{Text: "Grüße,\nzweite Zeile"},
			model.Call{ID: "call_1_1", Name: "read", Arguments: json.RawMessage(`{"path": "a.go"}`)},
			model.Call{ID: "call_1_2", Name: "edit", Arguments: json.RawMessage("{\n\"path\": \"a.go\"}")},
		}},
		Usage: model.Usage{Input: 100, Output: 7, Cached: 40},
		Stop:  model.StopCalls,
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("first turn (-want +got):\n%s", diff)
	}
	if strings.Join(deltas, "|") != "Gr|üß|e,|\nz|we|it|e |Ze|il|e" {
		t.Errorf("the text came as %q", deltas)
	}
	request = next(request, done.Message, "stamp=abc1")
	if _, done, err = ask(t.Context(), s, request); err != nil {
		t.Fatal(err)
	}
	if got := string(done.Message.Calls()[0].Arguments); got != `{"stamp": "abc1"}` {
		t.Errorf("captured text: arguments are %s", got)
	}
	if _, done, err = ask(t.Context(), s, next(request, done.Message, "ok")); err != nil {
		t.Fatal(err)
	}
	if done.Message.Text() != "the stamp was abc1\n" || done.Stop != model.StopLength {
		t.Errorf("last turn: %q, stop %s", done.Message.Text(), done.Stop)
	}
	mustHold(t, s)
}

func TestExpectationsAreReported(t *testing.T) {
	s := mustParse(t, `
turn
expect last nowhere
expect not last hello
expect system nothing
expect tools bash
expect no tools read
expect no tools
expect no calls
expect result read x
expect messages 4
capture id id=(\d+)
turn match=other
turn times=any
`)
	request := &model.Request{Tools: tools, Messages: []model.Message{model.UserText("hello")}}
	if _, _, err := ask(t.Context(), s, request); err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, `should hold "nowhere"`, `should not hold "hello"`, `system prompt should hold "nothing"`,
		"tool bash should be offered",
		"tool read should not be offered", "no tools should be offered", "calls should be forbidden",
		"a result of read", "should have 4 messages", "capture id", `turn 2 (match "other") was used 0 of 1`)
	if strings.Contains(s.Check().Error(), "turn 3") {
		t.Error("a turn for any number of requests was missed")
	}
}

func TestSurplusRequest(t *testing.T) {
	s := New("x", Turn{Match: "only this", Answer: []Step{Text("hi")}})
	_, _, err := ask(t.Context(), s, &model.Request{Messages: []model.Message{model.UserText("something else")}})
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Kind != model.ErrInvalid || failure.Provider != "script/x" {
		t.Errorf("the error is %#v", err)
	}
	mustHold(t, s, "no turn is left", "something else", "was used 0 of 1")
}

func TestTurnsByRun(t *testing.T) {
	s := New("x",
		Turn{Match: "child a", Answer: []Step{Text("a1")}},
		Turn{Match: "child b", Times: 2, Answer: []Step{Text("b")}},
		Turn{
			Match: "child a",
			Then:  func(r *model.Request) []Step { return []Step{Text(fmt.Sprint("a2 after ", len(r.Messages)))} },
		},
	)
	var wg sync.WaitGroup
	for _, name := range []string{"child a", "child b"} {
		wg.Go(func() {
			request := &model.Request{Run: name, Messages: []model.Message{model.UserText(name)}}
			_, done, err := ask(t.Context(), s, request)
			if err != nil {
				t.Error(err)
				return
			}
			_, done, err = ask(t.Context(), s, next(request, done.Message, "go on"))
			if err != nil {
				t.Error(err)
				return
			}
			if want := map[string]string{"child a": "a2 after 3", "child b": "b"}[name]; done.Message.Text() != want {
				t.Errorf("%s was answered %q, want %q", name, done.Message.Text(), want)
			}
		})
	}
	wg.Wait()
	mustHold(t, s)
	if s.Requests() != 4 {
		t.Errorf("%d requests", s.Requests())
	}
}

func TestErrorStep(t *testing.T) {
	s := mustParse(t, `
turn
text half an
error rate_limit status=429 after=3s hint="wait a bit" too many requests
turn
text whole
`)
	request := &model.Request{Run: "r", Messages: []model.Message{model.UserText("go")}}
	deltas, _, err := ask(t.Context(), s, request)
	var failure *model.Error
	if !errors.As(err, &failure) {
		t.Fatalf("the error is %v", err)
	}
	want := &model.Error{
		Kind: model.ErrRateLimit, Provider: "script/test", Status: 429, RetryAfter: 3 * time.Second,
		Hint: "wait a bit", Detail: "too many requests",
	}
	if diff := cmp.Diff(want, failure); diff != "" {
		t.Error(diff)
	}
	if len(deltas) != 1 {
		t.Errorf("before the error came %q", deltas)
	}
	if _, _, err := ask(t.Context(), s, request); err != nil { // the same request again is no breach
		t.Fatal(err)
	}
	mustHold(t, s)
}

func TestGate(t *testing.T) {
	s := mustParse(t, "turn times=2\ntext before\nwait door\ntext after\n")
	request := func(run string) *model.Request {
		return &model.Request{Run: run, Messages: []model.Message{model.UserText("go")}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stopped, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, err := ask(stopped, s, request("stopped")); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled request ended with %v", err)
		}
	})
	released := make(chan struct{})
	wg.Go(func() {
		defer close(released)
		if _, done, err := ask(ctx, s, request("goes on")); err != nil || done.Message.Text() != "beforeafter" {
			t.Errorf("a released request ended with %q, %v", done.Message.Text(), err)
		}
	})
	if err := s.Reached(ctx, "door", 2); err != nil {
		t.Fatal(err)
	}
	stop()
	select {
	case <-released:
		t.Error("the gate did not hold")
	default:
	}
	s.Release("door")
	s.Release("door")
	wg.Wait()
	mustHold(t, s)
	if err := s.Reached(stopped, "never", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Reached ended with %v", err)
	}
}

func TestConsumerStops(t *testing.T) {
	s := mustParse(t, "turn\nchunk 1\ntext abc\n")
	n := 0
	for range s.Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("go")}}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d events", n)
	}
}

// TestBreaches sends requests that an engine must never send.
func TestBreaches(t *testing.T) {
	user, assistant := model.UserText("go"), model.Message{
		Role:  model.RoleAssistant,
		Parts: []model.Part{model.Text{Text: "hm"}},
	}
	call := func(ids ...string) model.Message {
		m := model.Message{Role: model.RoleAssistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, model.Call{ID: id, Name: "read", Arguments: json.RawMessage(`{}`)})
		}
		return m
	}
	result := func(name string, ids ...string) model.Message {
		m := model.Message{Role: model.RoleTool}
		for _, id := range ids {
			m.Parts = append(m.Parts, model.Result{ID: id, Name: name, Text: "ok"})
		}
		return m
	}
	for name, test := range map[string]struct {
		messages []model.Message
		want     string
	}{
		"nothing":         {nil, "no messages"},
		"assistant first": {[]model.Message{assistant, user}, "begins with the user"},
		"assistant last":  {[]model.Message{user, assistant}, "the request ends with it"},
		"two assistants":  {[]model.Message{user, assistant, assistant, user}, "follows another assistant"},
		"empty":           {[]model.Message{{Role: model.RoleUser}}, "it is empty"},
		"call without":    {[]model.Message{user, call("1"), user}, "call 1 (read) has no result behind it"},
		"one of two": {
			[]model.Message{user, call("1", "2"), result("read", "1")},
			"call 2 (read) has no result",
		},
		"result twice": {
			[]model.Message{user, call("1"), result("read", "1", "1")},
			`id "1" (read) answers no open call`,
		},
		"result of nothing": {[]model.Message{user, result("read", "1")}, "no calls in the message before"},
		"result of another": {[]model.Message{user, call("1"), result("edit", "1")}, "the call was of read"},
		"id twice": {
			[]model.Message{user, call("1"), result("read", "1"), call("1"), result("read", "1")},
			`call id "1" comes twice`,
		},
		"result in user": {
			[]model.Message{{Role: model.RoleUser, Parts: []model.Part{model.Result{ID: "1"}}}},
			"does not belong there",
		},
		"text among results": {
			[]model.Message{
				user, call("1"),
				{Role: model.RoleTool, Parts: []model.Part{model.Result{ID: "1", Name: "read"}, model.Text{Text: "x"}}},
			},
			"does not belong there",
		},
		"unknown role": {[]model.Message{user, {Role: "system", Parts: user.Parts}}, "no such role"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lax := range []bool{false, true} {
				s := New("x", Turn{Answer: []Step{Text("ok")}})
				s.Lax = lax
				if _, _, err := ask(t.Context(), s, &model.Request{Messages: test.messages}); err != nil {
					t.Fatal(err)
				}
				if lax {
					mustHold(t, s)
				} else {
					mustHold(t, s, test.want)
				}
			}
		})
	}
}

// TestPrefix changes what must stay the same between two requests of a run.
func TestPrefix(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*model.Request)
		want   []string
	}{
		"nothing":  {func(*model.Request) {}, nil},
		"no tools": {func(r *model.Request) { r.Tools = nil }, nil},
		"no calls": {func(r *model.Request) { r.NoCalls = true }, nil},
		"no calls without the tools": {
			func(r *model.Request) { r.NoCalls, r.Tools = true, nil },
			[]string{"the tools are not those"},
		},
		"another run": {func(r *model.Request) { r.Run, r.System = "r2", "other" }, nil},
		"system": {
			func(r *model.Request) { r.System += " at 12:01" },
			[]string{"system prompt is not that", "12:01"},
		},
		"tool order": {
			func(r *model.Request) { r.Tools = []model.Tool{tools[1], tools[0]} },
			[]string{"the tools are not those"},
		},
		"schema": {func(r *model.Request) {
			r.Tools = append([]model.Tool{{Name: "read", Schema: json.RawMessage(`{}`)}}, tools[1])
		}, []string{"the tools are not those"}},
		"first message": {
			func(r *model.Request) { r.Messages[0] = model.UserText("Go") },
			[]string{"message 1 (user) is not what it was"},
		},
		"answer changed": {
			func(r *model.Request) { r.Messages[1].Parts[0] = model.Text{Text: "other"} },
			[]string{"should be the last answer"},
		},
		"fewer messages": {func(r *model.Request) { r.Messages = nil }, []string{"it has 0 messages"}},
		"answer missing": {
			func(r *model.Request) { r.Messages = r.Messages[:1] },
			[]string{`the last answer "well" is missing`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, fresh := range []bool{false, true} {
				s := New("x", Turn{Answer: []Step{Text("well"), Call{Name: "read", Arguments: "{}"}}},
					Turn{Fresh: fresh, Answer: []Step{Text("end")}})
				request := &model.Request{
					Run: "r", System: "sys", Tools: tools,
					Messages: []model.Message{model.UserText("go")},
				}
				_, done, err := ask(t.Context(), s, request)
				if err != nil {
					t.Fatal(err)
				}
				second := next(request, done.Message, "ok")
				test.change(second)
				if _, _, err := ask(t.Context(), s, second); err != nil {
					t.Fatal(err)
				}
				if !fresh {
					mustHold(t, s, test.want...)
				} else if len(second.Messages) > 0 {
					mustHold(t, s)
				}
			}
		})
	}
}

func TestCallsAllowed(t *testing.T) {
	s := mustParse(t, "turn\nexpect calls\ncall read\nturn\nexpect no calls\ncall read\nturn\nexpect calls\ntext end\n")
	request := &model.Request{Run: "r", Tools: tools, Messages: []model.Message{model.UserText("go")}}
	for i := range 3 {
		request.NoCalls = i > 0
		_, done, err := ask(t.Context(), s, request)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 && done.Stop != model.StopCalls {
			t.Errorf("a disobedient turn stopped with %s", done.Stop)
		}
		request = next(request, done.Message, "ok")
	}
	mustHold(t, s, "turn 3: calls should be allowed")
	if strings.Contains(s.Check().Error(), "turn 2") {
		t.Errorf("%v", s.Check())
	}
}

func TestCallIDsOfAForkedConversation(t *testing.T) {
	s := New("x", Turn{Times: Any, Answer: []Step{Call{Name: "read", Arguments: "{}"}}})
	forked := model.Message{
		Role:  model.RoleAssistant,
		Parts: []model.Part{model.Call{ID: "call_3_1", Name: "read", Arguments: json.RawMessage(`{}`)}},
	}
	request := next(&model.Request{Messages: []model.Message{model.UserText("go")}}, forked, "ok")
	ids := map[string]bool{"call_3_1": true}
	for range 3 { // the same request, as after faults
		_, done, err := ask(t.Context(), s, request)
		if err != nil {
			t.Fatal(err)
		}
		id := done.Message.Calls()[0].ID
		if ids[id] {
			t.Errorf("call id %s came twice", id)
		}
		ids[id] = true
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"text hi":                        `line 1: "text" stands before the first turn`,
		"\n\nturn\n\nsay hi":             `line 5: no such word "say"`,
		"turn foo":                       `no such attribute "foo"`,
		"turn times=0":                   `times="0" is neither`,
		`turn match="abc`:                "the quoted string has no end",
		"turn\ncall read {":              "no valid JSON",
		"turn\ncall":                     "no tool is named",
		"turn\nexpect tools":             "no tool is named",
		"turn\nexpect no calls x":        "nothing may follow",
		"turn\nexpect only":              "no tool is named",
		"turn\nexpect luck":              `no such thing "luck"`,
		"turn\nexpect last":              "no text is given",
		"turn\nexpect messages many":     `"many" is no number`,
		"turn\nerror sad oh":             `no such kind "sad"`,
		"turn\nerror network status=x y": `status="x"`,
		"turn\nwait":                     "no gate is named",
		"turn\npause soon":               "pause",
		"turn\nchunk 0":                  "no number above 0",
		"turn\nusage input=x":            `input="x" is no number`,
		"turn\nusage total=1":            `no such count "total"`,
		"turn\nstop it":                  `no such reason "it"`,
		"turn\ntext \"abc":               "read the string",
		"turn\ncapture A x":              "is no name",
		"turn\ncapture a (":              "capture a",
	} {
		if _, err := Parse("s", text); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "script s, line ") {
			t.Errorf("Parse(%q) = %v, want %q", text, err, want)
		}
	}
}
