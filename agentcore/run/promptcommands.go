package run

import (
	"encoding/json"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
)

// runCommands runs the commands of the run's prompt, each as a call of bash that nobody is asked about. An error is the
// run's end: its context's, or that one may not run.
func (r *Run) runCommands() error {
	for _, line := range r.request.Commands {
		arguments, err := json.Marshal(struct {
			Command string `json:"command"`
		}{line})
		if err != nil {
			return fmt.Errorf("put a command of the prompt into a call: %w", err)
		}
		c := r.decide(model.Call{Name: "bash", Arguments: arguments})
		c.asked.ID, c.unasked = "prompt-"+string(c.id), true
		made := r.execute(c)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case c.refusal != "", c.made.Status == event.CallDenied:
			return &fault.Error{
				Kind:   fault.NotAllowed,
				Detail: fmt.Sprintf("!`%s` of the prompt did not run: %s", permission.Visible(line), made.Text),
				Hint:   "allow it by a rule, or take it out of the prompt's file",
			}
		}
		r.outputs = append(r.outputs, prompt.Attachment{
			Kind: prompt.Command, Name: "!`" + line + "`", About: "the output of this command", Text: made.Text,
		})
	}
	return nil
}
