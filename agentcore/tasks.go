package agentcore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
)

// errStarterEnded is the cause of a run in the background that is ended since the run which started it has ended.
var errStarterEnded = fmt.Errorf("the run that started it has ended: %w", errCancelled)

// maxReport bounds what a run is told of the end of a child without having asked for it, in bytes; the file has all.
const maxReport = 16 << 10

// Tasks returns how far the run's tasks are.
func (h host) Tasks(_ context.Context, ids []event.RunID) ([]tool.TaskState, error) {
	children, err := h.run.tasks(ids)
	return statesOf(children), err
}

// WaitTasks waits for the run's tasks.
func (h host) WaitTasks(ctx context.Context, ids []event.RunID, one bool, limit time.Duration) ([]tool.TaskState, error) {
	r := h.run
	children, err := r.tasks(ids)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		children = slices.DeleteFunc(children, (*run).ended)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if limit > 0 && len(children) > 0 {
		resume := r.waitsOn(&awaited{waitsFor(children), children})
		waitEnds(limited, children, one)
		resume()
	}
	if err := ctx.Err(); err != nil && !r.late() {
		return nil, err
	}
	for _, child := range children {
		if child.ended() {
			r.inbox.drop(child.id)
		}
	}
	return statesOf(children), nil
}

// waitEnds waits until one or all of the runs have ended, or ctx has.
func waitEnds(ctx context.Context, runs []*run, one bool) {
	first := make(chan struct{}, len(runs))
	over := make(chan struct{})
	defer close(over)
	for _, r := range runs {
		go func() { // ends with this function at the latest
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
func (h host) SendTask(_ context.Context, id event.RunID, text string) error {
	children, err := h.run.tasks([]event.RunID{id})
	if err != nil {
		return err
	}
	if children[0].ended() {
		return fmt.Errorf("the task %s has ended; start another with resume = %q", id, id)
	}
	return children[0].steer(h.run.definition.Slug+", who started you", text)
}

// CancelTask ends a task of the run.
func (h host) CancelTask(ctx context.Context, id event.RunID) (tool.TaskState, error) {
	children, err := h.run.tasks([]event.RunID{id})
	if err != nil {
		return tool.TaskState{}, err
	}
	child := children[0]
	child.cancel(fmt.Errorf("%s does not want it any more: %w", h.run.definition.Slug, errCancelled))
	select {
	case <-child.done:
	case <-ctx.Done():
		return tool.TaskState{}, ctx.Err()
	}
	h.run.inbox.drop(id)
	return child.taskState(), nil
}

// tasks are the children of those ids, all of them where none is given.
func (r *run) tasks(ids []event.RunID) ([]*run, error) {
	r.mu.Lock()
	children := slices.Clone(r.children)
	r.mu.Unlock()
	if len(ids) == 0 {
		return children, nil
	}
	var list []*run
	for _, id := range ids {
		i := slices.IndexFunc(children, func(c *run) bool { return c.id == id })
		if i < 0 {
			var known []string
			for _, c := range children {
				known = append(known, string(c.id))
			}
			if len(known) == 0 {
				return nil, fmt.Errorf("you have no task %q; you have started none", id)
			}
			return nil, fmt.Errorf("you have no task %q; yours are %s", id, strings.Join(known, ", "))
		}
		list = append(list, children[i])
	}
	return list, nil
}

func statesOf(children []*run) []tool.TaskState {
	var states []tool.TaskState
	for _, child := range children {
		states = append(states, child.taskState())
	}
	return states
}

// ended reports whether the run's end is durable.
func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// endTasks ends the children that still run, and waits for that, which is soon.
func (r *run) endTasks(cause error) {
	children, _ := r.tasks(nil) // no id can be wrong
	for _, child := range children {
		child.cancel(cause)
	}
	for _, child := range children {
		<-child.done
	}
}

// promiseOutput makes the file that a child in the background leaves its result in, and lets the run read it.
func (r *run) promiseOutput(child *run) (string, error) {
	path := filepath.Join(r.engine.outputDir(), "task-"+string(child.id)+".md")
	err := os.MkdirAll(r.engine.outputDir(), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte("(it still runs)\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("make the file for its result: %w", err)
	}
	r.commands.attach(path)
	return path, nil
}

// tellStarter tells the run that started this one in the background of its end, which is durable.
func (r *run) tellStarter() {
	if r.task == nil || !r.task.Background {
		return
	}
	report := r.taskState().Report()
	if err := os.WriteFile(r.output, []byte(r.engine.redactor.Text(report)+"\n"), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.notice(event.NoticeWarning, "the result could not be written to its file: "+err.Error(), "free space in the state folder")
	}
	if len(report) > maxReport {
		report = strings.ToValidUTF8(report[:maxReport], "") + "\n… all of it is in " + r.output
	}
	r.parent.inbox.settle(message{child: r.id, text: report})
}
