package run

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
)

// fan is the engine of a run that has a child for each file.
type fan struct{ *Run }

// carry runs one child per file and waits for all of them.
func (r fan) carry() error {
	r.tasks.inbox.shut() // it has no turns
	var children []*Run
	for _, path := range r.request.Each {
		at := r.session.Slots.Reserve() // reserved together, so that the children begin in the order of the files
		child, err := r.child(Request{
			origin: origin{at: at},
			Agent:  r.definition.Slug, Prompt: r.request.words(), Commands: r.request.Commands, Only: r.request.Only,
			Model: r.request.Model, Limits: r.request.Limits, Effort: r.request.Effort,
			PermissionMode: r.request.PermissionMode, // they are this run, in parts
			Iterations:     r.request.Iterations, Until: r.request.Until, Goal: r.request.Goal,
			Title:       fmt.Sprintf("%s %s", r.request.Title, filepath.Base(path)),
			Attachments: r.request.Attachments,
			Context:     Context{Paths: []string{path}, Changes: r.request.Context.Changes.In(path)},
		})
		if err == nil {
			_, err = child.launch()
		}
		if err != nil {
			at.Drop()
			r.cancel(err)
			break
		}
		children = append(children, child)
	}
	var failed []error
	r.place.yield() // given up for good: the run has nothing to do after its children
	for i, child := range children {
		<-child.done // a child ends soon after its context does, and its context is below ours
		result := child.Snapshot()
		name := r.session.View.Shown(r.request.Each[i])
		if result.Status != event.StatusCompleted {
			reason := result.Reason
			if result.Error != nil {
				reason = result.Error.Detail
			}
			failed = append(failed, fmt.Errorf("%s: %s: %s", name, result.Status, reason))
		}
		r.lastText += fmt.Sprintf("## %s\n\n%s\n\n", name, result.Output)
		r.mergeLayer()
		r.progress(fmt.Sprintf("%d of %d files done", i+1, len(children)), (i+1)*100/len(children))
	}
	if _, err := r.goOn("its children have ended"); err != nil {
		return err
	}
	if len(failed) == len(children) && len(failed) > 0 {
		return &fault.Error{
			Kind: fault.ChildrenFailed, Detail: errors.Join(failed...).Error(),
			Cause: errors.Join(failed...),
		}
	}
	for _, err := range failed {
		r.notice(event.NoticeWarning, err.Error(), "run the agent on that file alone to see more")
	}
	return nil
}
