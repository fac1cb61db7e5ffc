package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/tool"
)

// errStarterEnded is the cause of a run in the background that is ended since the run which started it has ended.
var errStarterEnded = fmt.Errorf("the run that started it has ended: %w", fault.ErrCancelled)

// Tasks returns how far the run's tasks are.
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
		resume := r.waited.waitsOn(&awaited{waitsFor(children), children})
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
		return former[0], nil // it has ended with the run that started it
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

// tasks are what a run has started. Its methods may be called from any goroutine of the run.
type tasks struct {
	ctx, working context.Context // the run's, and that of what it does but for the hand-over
	former       []tool.TaskState
	inbox        *inbox
	waited       *waitList

	mu       sync.Mutex
	children []*Run // to which it delegated, in order
}

// add notes a child that was started.
func (t *tasks) add(child *Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.children = append(t.children, child)
}

// find returns the children of those ids, and those that the runs had started which this one goes on with: these have
// ended. Where no id is given, they are all that there are.
func (t *tasks) find(ids []event.RunID) (children []*Run, former []tool.TaskState, err error) {
	t.mu.Lock()
	children = slices.Clone(t.children)
	t.mu.Unlock()
	former = slices.Clone(t.former)
	if len(ids) == 0 {
		return children, former, nil
	}
	var known []string
	for _, state := range former {
		known = append(known, string(state.ID))
	}
	for _, child := range children {
		known = append(known, string(child.id))
	}
	for _, id := range ids {
		switch {
		case slices.Contains(known, string(id)):
		case len(known) == 0:
			return nil, nil, fmt.Errorf("you have no task %q; you have started none", id)
		default:
			return nil, nil, fmt.Errorf("you have no task %q; yours are %s", id, strings.Join(known, ", "))
		}
	}
	children = slices.DeleteFunc(children, func(c *Run) bool { return !slices.Contains(ids, c.id) })
	former = slices.DeleteFunc(former, func(s tool.TaskState) bool { return !slices.Contains(ids, s.ID) })
	return children, former, nil
}

func statesOf(children []*Run) []tool.TaskState {
	var states []tool.TaskState
	for _, child := range children {
		states = append(states, child.taskState())
	}
	return states
}

// ended reports whether the run's end is durable.
func (r *resources) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// end ends the children that still run, and waits for that, which is soon.
func (t *tasks) end(cause error) {
	children, _, _ := t.find(nil) // no id can be wrong
	for _, child := range children {
		child.cancel(cause)
	}
	for _, child := range children {
		<-child.done
	}
}

// left names the children in the background of whose end the run has not heard, for its result: how they stand,
// what they changed, and what they said. It is empty where there are none.
func (t *tasks) left() string {
	var b strings.Builder
	children, _, _ := t.find(nil) // no id can be wrong
	for _, id := range t.inbox.unheard() {
		i := slices.IndexFunc(children, func(c *Run) bool { return c.id == id })
		if i < 0 {
			continue
		}
		result := children[i].Snapshot()
		fmt.Fprintf(&b, "\n- %s (%s, %s): %s", children[i].definition.Slug, children[i].request.Title, id,
			result.Status)
		if len(result.Files) > 0 {
			fmt.Fprintf(&b, "; changed %s", strings.Join(result.Files, ", "))
		}
		if said := clip.FirstLine(result.Output); said != "" {
			b.WriteString("; said: " + said)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nWhat it started in the background and had no turn left to read:" + b.String()
}

// showProgress puts into the file of a run in the background how far it is. The run's goroutine calls it.
func (r *Run) showProgress() {
	if r.output == "" {
		return
	}
	made := len(r.Snapshot().ToolCalls)
	text := fmt.Sprintf("%s: turn %d, %s so far)\n", stillRuns, r.turn, clip.Counted(made, "tool call", "tool calls"))
	if said := strings.TrimSpace(r.lastText); said != "" {
		text += "\n" + said + "\n"
	}
	if err := r.process.Outputs.Write(r.output, text); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.process.Logger.Warn("how far a run is could not be written to its file", "run", r.id, "error", err)
	}
}

// tellStarter tells the run that started this one in the background of its end, which is durable.
func (r *Run) tellStarter() {
	if !r.background() {
		return
	}
	ended := r.taskState()
	if err := r.process.Outputs.Write(r.output, ended.Report()+"\n"); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.notice(event.NoticeWarning, "the result could not be written to its file: "+err.Error(),
			"free space in the state folder")
	}
	r.parent.tasks.inbox.settle(message{child: r.id, text: r.process.Outputs.Report(ended)})
}

// mayEnd reports whether a run that has nothing more to do may end. Where it may not, there is something to read by the
// time it returns: children in the background are waited for. The error is that of the run's context.
func (t *tasks) mayEnd() (bool, error) {
	closed, owed := t.inbox.close()
	if closed || owed == 0 {
		return closed, nil
	}
	resume := t.waitsInBackground(owed)
	defer resume()
	for {
		select {
		case <-t.inbox.news: // it may be of what was read since
			if closed, owed = t.inbox.close(); closed || owed == 0 {
				return closed, nil
			}
		case <-t.ctx.Done():
			return false, t.ctx.Err()
		}
	}
}

// await waits for the children in the background before the run's last turn, as it does where it has nothing more
// to do, so that its last word knows what came of them. It waits until the time of the run is kept for its hand-over;
// what they use is of its budget, and they end with that. The error is that of the run's context.
func (t *tasks) await() error {
	owed := t.inbox.coming()
	if owed == 0 {
		return nil
	}
	resume := t.waitsInBackground(owed)
	defer resume()
	for t.inbox.coming() > 0 {
		select {
		case <-t.inbox.news:
		case <-t.working.Done():
			return t.ctx.Err()
		}
	}
	return nil
}

// waitsInBackground is waits for so many children.
func (t *tasks) waitsInBackground(owed int) (resume func()) {
	return t.waited.waits(fmt.Sprintf("waits for %s in the background", clip.Counted(owed, "child", "children")))
}
