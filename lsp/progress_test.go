package lsp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/lsp/client"
)

// TestHundredsOfTasks: an agent starts hundreds of runs in one turn, and an editor that answers nothing
// holds nothing up. It is asked for few tokens and, once it has left one without an answer, for no more; its log tells
// of all runs.
func TestHundredsOfTasks(t *testing.T) {
	const children = 128
	turns := []script.Turn{
		{Match: "Go."},
		{Match: "Job.", Times: children, Answer: []script.Step{script.Text("done")}},
		{Match: "Go.", Answer: []script.Step{script.Text("all done")}},
	}
	for range children {
		turns[0].Answer = append(turns[0].Answer,
			script.Call{Name: "task", Arguments: `{"subagent_type":"explore","prompt":"Job."}`})
	}
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprintf("answers %t", answers), func(t *testing.T) {
			patience := time.Hour
			if !answers {
				patience = 50 * time.Millisecond
			}
			r := serveRude(t, patience, turns...)
			r.answer("workspace/configuration", `"result":[null]`)
			if answers {
				for _, method := range []string{
					"window/workDoneProgress/create", "client/registerCapability",
					"client/unregisterCapability", "workspace/inlayHint/refresh",
				} {
					r.answer(method, `"result":null`)
				}
			}
			r.initialize(everything, "")
			r.open("a.go", "package a\n")
			var started struct{ Run string }
			r.call("agent/run", `{"agent":"coder","prompt":"Go."}`, &started)
			var result struct {
				Output   string
				Children []string
			}
			r.call("agent/wait", fmt.Sprintf(`{"run":%q}`, started.Run), &result)
			if result.Output != "all done" || len(result.Children) != children {
				t.Errorf("got %q and %d children", result.Output, len(result.Children))
			}
			if answers {
				for _, id := range append(result.Children, started.Run) {
					for _, kind := range []string{"begin", "end"} {
						r.until(kind+" of "+id, func(p packet) bool {
							return p.Method == "$/progress" && strings.Contains(string(p.Params), id) &&
								strings.Contains(string(p.Params), `"`+kind+`"`)
						})
					}
				}
				r.quit()
				return
			}
			for _, agent := range []string{"coder: Go.", "coder ▸ explore", "coder completed"} {
				r.until(agent+" in the log", func(p packet) bool {
					return p.Method == "window/logMessage" && strings.Contains(string(p.Params), agent)
				})
			}
			asked := 0
			for _, p := range r.all() {
				if p.Method == "window/workDoneProgress/create" {
					asked++
				}
			}
			if asked == 0 || asked > client.MaxTokens {
				t.Errorf("an editor that answers nothing was asked for %d tokens, not for 1 to %d", asked,
					client.MaxTokens)
			}
			r.quit()
		})
	}
}
