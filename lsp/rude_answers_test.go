package lsp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/model/script"
)

// lends is what a client may announce beside everything, so that the server asks it as much as it can.
const lends = `"experimental": {"agentls": {"version": "0.1.0", "asks": true, "questions": true, "models": true,
	"diagnostics": true, "symbols": true}}`

func announcesAll() string {
	hints := `"inlayHint": {"refreshSupport": true}`
	more := strings.Replace(everything, hints,
		hints+`, "codeLens": {"refreshSupport": true}, "diagnostics": {"refreshSupport": true}`, 1)
	more = strings.Replace(more, `"hover"`, `"diagnostic": {}, "completion": {"dynamicRegistration": true},
		"codeLens": {"dynamicRegistration": true}, "hover"`, 1)
	return strings.TrimSuffix(strings.TrimSpace(more), "}") + "," + lends + "}"
}

// curious is a script whose run wants to know something, and then improves a.go.
func curious() []script.Turn {
	questions := `{"questions":[{"question":"Shall it stay?","options":[{"label":"Yes"},{"label":"No"}]}]}`
	ask := script.Turn{Answer: []script.Step{script.Call{Name: "question", Arguments: questions}}}
	return append([]script.Turn{ask}, improve...)
}

// answerQuestion waits until the user sees the question of curious, and answers it by a request.
func (r *rude) answerQuestion() {
	r.t.Helper()
	r.until("the question as a diagnostic", func(p packet) bool {
		return p.Method == "textDocument/publishDiagnostics" && strings.Contains(string(p.Params), "Shall it stay?")
	})
	var list struct {
		Asks []struct{ ID string }
	}
	r.call("agent/asks", "{}", &list)
	if len(list.Asks) != 1 {
		r.t.Fatalf("there are %d open questions", len(list.Asks))
	}
	r.call("agent/ask/answer", fmt.Sprintf(`{"ask":%q,"decision":"allow","answers":["Yes"]}`, list.Asks[0].ID), nil)
}

// improvedAsking has a run start that asks, answers it by a request, and waits for the end of the run. It returns the
// params that accept its edit.
func (r *rude) improvedAsking() string {
	r.t.Helper()
	r.open("a.go", "package one\n")
	var started struct{ Run string }
	params := fmt.Sprintf(`{"agent":"coder","prompt":"Improve it.","context":{"uri":%q}}`, r.uri("a.go"))
	r.call("agent/run", params, &started)
	r.answerQuestion()
	var result struct{ Status, Proposal string }
	r.call("agent/wait", fmt.Sprintf(`{"run":%q}`, started.Run), &result)
	if result.Status != "completed" || result.Proposal == "" {
		r.t.Fatalf("the run ended as %+v", result)
	}
	return fmt.Sprintf(`{"proposal":%q}`, result.Proposal)
}

// stillOpen checks that the proposal is as it was.
func (r *rude) stillOpen() {
	r.t.Helper()
	var left struct {
		Proposals []struct{ State string }
	}
	r.call("agent/proposals", "{}", &left)
	if len(left.Proposals) != 1 || left.Proposals[0].State != "open" {
		r.t.Errorf("the proposals are %+v, want an open one", left)
	}
}

// A client that announces everything, and answers every request with an error or with null, hangs no run: its questions
// are diagnostics, its edits stay proposals.
func TestEveryAnswerIsNone(t *testing.T) {
	for name, member := range map[string]string{
		"MethodNotFound": `"error":{"code":-32601,"message":"no such method"}`, "null": `"result":null`,
	} {
		t.Run(name, func(t *testing.T) {
			r := serveRude(t, time.Hour, curious()...)
			r.answer("", member)
			r.initialize(announcesAll(), "")
			accept := r.improvedAsking()
			p := r.answered(r.begin("agent/proposal/accept", accept))
			if p.Error == nil && !strings.Contains(string(p.Result), `"applied":[]`) {
				t.Errorf("an edit that the editor did not make was accepted: %s", p.Result)
			}
			r.stillOpen()
			delegate := fmt.Sprintf(`{"command":"agentls.delegate","arguments":[{"uri":%q}]}`, r.uri("a.go"))
			if p := r.answered(r.begin("workspace/executeCommand", delegate)); p.Error == nil {
				t.Errorf("a run was delegated to an agent that nobody chose: %s", p.Result)
			}
			r.call("agent/proposal/diff", accept, nil)
			r.quit()
		})
	}
}

// A client that answers when nobody waits any more, and twice, does no harm: what was given up stays as it was.
func TestAnswersThatAreLateOrTwice(t *testing.T) {
	r := serveRude(t, 50*time.Millisecond, curious()...)
	r.initialize(announcesAll(), "")
	accept := r.improvedAsking()
	if p := r.answered(r.begin("agent/proposal/accept", accept)); p.Error == nil {
		t.Errorf("an edit that the editor did not answer was accepted: %s", p.Result)
	}
	late := 0
	for _, p := range r.all() {
		if p.ID == nil || p.Method == "" {
			continue
		}
		late++
		for _, member := range []string{
			`"result":{"applied":true,"success":true,"title":"Yes","answers":["No"],"decision":"deny"}`,
			`"error":{"code":-32601,"message":"no"}`, `"result":null`,
		} {
			r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, p.ID, member))
		}
	}
	if late < 5 {
		t.Errorf("the server asked only %d times", late)
	}
	r.send(`{"jsonrpc":"2.0","id":"never asked","result":null}`)
	r.stillOpen()
	// Nor where each answer comes three times at once.
	again := serveRude(t, time.Hour, improve...)
	again.answer("", `"result":null},{"nonsense":1`) // no JSON
	again.answer("workspace/configuration", `"result":[null]`)
	again.answer("workspace/applyEdit", `"result":{"applied":true}`)
	again.initialize(everything, "")
	id := again.begin("agent/proposal/accept", again.improved())
	edit := again.asked("workspace/applyEdit")
	again.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"applied":false}}`, edit.ID))
	again.replace("a.go", `package two\n`)
	if p := again.answered(id); p.Error != nil {
		t.Errorf("accepting failed: %+v", p.Error)
	}
	again.call("agent/list", "{}", nil)
	again.quit()
	r.quit()
}

// An answer to workspace/applyEdit that names a part which is none names none: the edit was applied, or refused, as the
// answer says.
func TestFailedChangeThatIsNone(t *testing.T) {
	for _, failed := range []string{"-1", "1", "4294967296", "1e30", "99999999999999999999", "0.5", `"0"`, "{}"} {
		for _, applied := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s applied %t", failed, applied), func(t *testing.T) {
				r := serveRude(t, time.Hour, improve...)
				r.answer("workspace/configuration", `"result":[null]`)
				r.initialize(everything, "")
				id := r.begin("agent/proposal/accept", r.improved())
				edit := r.asked("workspace/applyEdit")
				if applied {
					r.replace("a.go", `package two\n`)
				}
				r.send(fmt.Sprintf(
					`{"jsonrpc":"2.0","id":%s,"result":{"applied":%t,"failedChange":%s,"failureReason":"busy"}}`,
					edit.ID, applied, failed))
				p := r.answered(id)
				want := `"reason":"busy"`
				if applied {
					want = `"failed":[]`
				}
				if p.Error != nil || !strings.Contains(string(p.Result), want) {
					t.Errorf("got %+v %s, want %s", p.Error, p.Result, want)
				}
				r.quit()
			})
		}
	}
}

// An editor that says that it made an edit, and tells of no change, has not made it: the hunk is open again, and
// nothing is sent twice. Where the change comes late, the hunk is accepted then.
func TestAppliedWithoutAChange(t *testing.T) {
	editors := map[string]string{"versions": everything, "plain changes": `{"workspace":{"applyEdit":true}}`}
	for name, capabilities := range editors {
		t.Run(name, func(t *testing.T) {
			r := serveRude(t, 200*time.Millisecond, improve...)
			r.answer("", `"result":null`)
			r.answer("workspace/applyEdit", `"result":{"applied":true}`)
			r.initialize(capabilities, "")
			accept := r.improved()
			var result struct {
				Applied []string
				Failed  []struct{ Reason string }
			}
			r.call("agent/proposal/accept", accept, &result)
			failed := len(result.Applied) == 0 && len(result.Failed) == 1
			if !failed || !strings.Contains(result.Failed[0].Reason, "a.go") {
				t.Errorf("got %+v, want a failure that names the file", result)
			}
			r.stillOpen()
			edits := 0
			for _, p := range r.all() {
				if p.Method == "workspace/applyEdit" {
					edits++
				}
			}
			if edits != 1 {
				t.Errorf("the edit was sent %d times", edits)
			}
			r.replace("a.go", `package two\n`)
			var left struct {
				Proposals []struct{ State string }
			}
			r.call("agent/proposals", "{}", &left)
			if len(left.Proposals) != 0 {
				t.Errorf("the edit is there, and %+v is left", left.Proposals)
			}
			r.quit()
		})
	}
}
