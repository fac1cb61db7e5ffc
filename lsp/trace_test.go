package lsp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/lsp/methods"
)

// A client hears of what runs do when it traces, and in as much detail as it asks for.
func TestTrace(t *testing.T) {
	r := serveRude(t, time.Hour, script.Turn{Times: 3, Answer: []script.Step{script.Text("done")}})
	r.answer("workspace/configuration", `"result":[null]`)
	r.answer("window/workDoneProgress/create", `"result":null`)
	r.initialize(everything, "")
	run := func() string {
		var started methods.RunStarted
		r.call("agent/run", `{"prompt":"Work."}`, &started)
		r.call("agent/wait", `{"run":"`+string(started.Run)+`"}`, nil)
		return string(started.Run)
	}
	trace := func(p packet) (params protocol.LogTraceParams) {
		if p.Method == protocol.MethodLogTrace {
			if err := json.Unmarshal(p.Params, &params); err != nil {
				t.Errorf("a trace is %s: %v", p.Params, err)
			}
		}
		return params
	}
	ended := func(id string) protocol.LogTraceParams {
		return trace(r.until("the trace of the end of a run", func(p packet) bool {
			return trace(p).Message == "RunFinished "+id
		}))
	}
	untraced := run()
	// The answer to agent/wait may overtake what the run did; the end of its progress is behind all of that.
	r.until("the end of the first run's progress", func(p packet) bool {
		params := string(p.Params)
		return p.Method == protocol.MethodProgress && strings.Contains(params, untraced) &&
			strings.Contains(params, `"kind":"end"`)
	})
	r.notify("$/setTrace", `{"value":"messages"}`)
	if end := ended(run()); end.Verbose != nil {
		t.Errorf("plain messages have details: %q", *end.Verbose)
	}
	r.notify("$/setTrace", `{"value":"verbose"}`)
	if end := ended(run()); end.Verbose == nil || !strings.Contains(*end.Verbose, `"output":"done"`) {
		t.Errorf("a verbose trace has no details: %+v", end)
	}
	for _, p := range r.all() {
		message := trace(p).Message
		if strings.HasPrefix(message, "RunCreated") && strings.HasSuffix(message, untraced) {
			t.Errorf("a run was traced before the client asked for it: %s", message)
		}
	}
	r.quit()
}
