package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/tool"
)

// Tasks returns how far the tasks of the run are.
func (h hostDelegation) Tasks(_ context.Context, ids []event.RunID) ([]tool.TaskState, error) {
	children, former, err := h.run.tasks.find(ids)
	return append(former, statesOf(children)...), err
}

// WaitTasks waits for the run's tasks.
func (h hostDelegation) WaitTasks(ctx context.Context, ids []event.RunID, one bool,
	limit time.Duration,
) ([]tool.TaskState, error) {
	r := h.run
	children, former, err := r.tasks.find(ids)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		children, former = slices.DeleteFunc(children, (*Run).ended), nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if limit > 0 && len(children) > 0 && !(one && len(former) > 0) {
		resume := r.waited.waitsOn(childrenOf(children))
		waitEnds(limited, children, one)
		resume()
	}
	if err := ctx.Err(); err != nil && !r.late() {
		return nil, err
	}
	for _, child := range children {
		if child.ended() {
			r.tasks.inbox.drop(child.id)
		}
	}
	return append(former, statesOf(children)...), nil
}

// waitEnds waits until one or all of the runs have ended, or ctx has.
func waitEnds(ctx context.Context, runs []*Run, one bool) {
	first := make(chan struct{}, len(runs))
	over := make(chan struct{})
	defer close(over)
	for _, r := range runs {
		go func() { // this goroutine ends before the function returns
			select {
			case <-r.done:
				first <- struct{}{}
			case <-over:
			}
		}()
	}
	for range runs {
		select {
		case <-first:
			if one {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// SendTask tells a task of the run something.
func (h hostDelegation) SendTask(_ context.Context, id event.RunID, text string) error {
	children, _, err := h.run.tasks.find([]event.RunID{id})
	if err != nil {
		return err
	}
	if len(children) == 0 || children[0].ended() {
		return fmt.Errorf("the task %s has ended; start another with resume = %q", id, id)
	}
	return children[0].Steer(h.run.definition.Slug+", who started you", text)
}

// CancelTask ends a task of the run.
func (h hostDelegation) CancelTask(ctx context.Context, id event.RunID) (tool.TaskState, error) {
	children, former, err := h.run.tasks.find([]event.RunID{id})
	if err != nil {
		return tool.TaskState{}, err
	}
	if len(former) > 0 {
		return former[0], nil // such a task has ended with the run that started it
	}
	child := children[0]
	child.cancel(fmt.Errorf("%s does not want it any more: %w", h.run.definition.Slug, fault.ErrCancelled))
	select {
	case <-child.done:
	case <-ctx.Done():
		return tool.TaskState{}, ctx.Err()
	}
	h.run.tasks.inbox.drop(id)
	return child.taskState(), nil
}

func statesOf(children []*Run) []tool.TaskState {
	var states []tool.TaskState
	for _, child := range children {
		states = append(states, child.taskState())
	}
	return states
}
