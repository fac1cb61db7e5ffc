// Package tooltest has a Host for the tests of tools: a real workspace in a temporary folder, and a part for each other
// face, which answers as a test says and keeps what a tool told it. Only tests import it.
package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
)

// Run is the id of the run that every Host acts for.
const Run event.RunID = "run-of-a-test"

// Host is one run's, and implements tool.Host. A test sets what it needs of the parts before it makes a call, and makes
// one call at a time.
type Host struct {
	Workspace
	Commands
	Checks
	Web
	User
	Records
	tool.Delegation // no test needs it: a call of its methods panics
}

var _ tool.Host = (*Host)(nil)

// New makes a Host on a workspace of one folder with the given files, by slash path. All of it is closed and removed
// when the test ends.
func New(t testing.TB, files map[string]string) *Host {
	t.Helper()
	h := &Host{Workspace: Workspace{t: t}}
	h.Workspace.open(files)
	h.Records.files = &h.Workspace
	return h
}

// Call does what the engine does for a model's call that is alone in its turn: it resolves the name, checks the
// arguments and runs the tool.
func (h *Host) Call(ctx context.Context, name, arguments string) (tool.Result, error) {
	canonical, ok := tool.Resolve(name)
	if !ok {
		return tool.Result{}, fmt.Errorf("no tool is called %q", name)
	}
	for _, t := range tool.Builtin() {
		if tool.Brief(t).Name != canonical {
			continue
		}
		call, err := tool.Parse(t, json.RawMessage(arguments), nil)
		if err != nil {
			return tool.Result{}, err
		}
		defer h.layer.NextTurn()
		return call.Run(ctx, h)
	}
	return tool.Result{}, fmt.Errorf("the tool %q is not built in", canonical)
}
