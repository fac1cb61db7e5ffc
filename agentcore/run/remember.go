package run

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
)

// memo is the engine of a run that only has something remembered: one call of the tool, and no model.
type memo struct{ *Run }

// carry makes the call, with the run's rights.
func (r memo) carry() error {
	r.tasks.inbox.shut() // it has no turns
	t := r.process.Tools["remember"]
	if t == nil {
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: "nothing can be remembered here, since there is no tool for it",
			Hint: "write it into AGENTS.md yourself",
		}
	}
	arguments, err := json.Marshal(map[string]string{"text": r.request.Prompt, "folder": r.request.Remember})
	if err != nil {
		return fmt.Errorf("put what is to be remembered into a call: %w", err)
	}
	parsed, err := tool.Parse(t, arguments, nil)
	if err != nil {
		return fmt.Errorf("put what is to be remembered into a call: %w", err)
	}
	id := event.NewCallID()
	c := &call{
		id: id, asked: model.Call{ID: string(id), Name: "remember", Arguments: arguments}, tool: t, spec: tool.Brief(t),
	}
	c.take(parsed)
	made := r.execute(c)
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if made.Error {
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: "it is not remembered: " + strings.TrimPrefix(made.Text, "error: "),
			Hint: "say it differently, or write it into AGENTS.md yourself",
		}
	}
	r.lastText = made.Text
	return nil
}
