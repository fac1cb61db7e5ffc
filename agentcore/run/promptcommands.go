package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/tool"
)

// unseen says why the images of a request cannot be sent to a model, nil where they can.
func (q *Request) unseen(m model.Model) error {
	i := slices.IndexFunc(q.Attachments, func(a prompt.Attachment) bool { return a.Picture != nil })
	if i < 0 || model.Sees(m) {
		return nil
	}
	return &fault.Error{
		Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s takes no images, and the prompt brings %s", m.Name(),
			q.Attachments[i].Name),
		Hint: "choose another model, or leave the image out",
	}
}

// pictures are the images that the prompt brings, kept for a later process as those of results are.
func pictures(r *Run) (parts []model.Part) {
	for _, a := range r.request.Attachments {
		if a.Picture == nil {
			continue
		}
		kept, err := r.commands.KeepImages([]tool.Image{*a.Picture})
		if err != nil {
			r.notice(event.NoticeWarning, fmt.Sprintf("the image %s is not sent: %v", a.Name, err),
				"make room in the state folder, and start the run again")
			continue
		}
		for _, image := range kept {
			parts = append(parts, model.Picture{Image: image})
		}
	}
	return parts
}

// runCommands runs the commands of the run's prompt, each as a call of bash that nobody is asked about. An error is the
// run's end: its context's, or that one may not run.
func runCommands(r *Run) error {
	for _, line := range r.request.Commands {
		arguments, err := json.Marshal(struct {
			Command string `json:"command"`
		}{line})
		if err != nil {
			return fmt.Errorf("put a command of the prompt into a call: %w", err)
		}
		c := r.recognize(model.Call{Name: "bash", Arguments: arguments})
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
