package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// errStarterEnded is the cause of a run in the background that is ended since the run which started it has ended.
var errStarterEnded = fmt.Errorf("the run that started it has ended: %w", fault.ErrCancelled)

// maxReport bounds what a run is told of the end of a child without having asked for it, in bytes; the file has all.
const maxReport = 16 << 10

// Tasks returns how far the run's tasks are.
func (h hostDelegation) Tasks(_ context.Context, ids []event.RunID) ([]tool.TaskState, error) {
	children, former, err := h.run.tasks(ids)
	return append(former, statesOf(children)...), err
}

// WaitTasks waits for the run's tasks.
func (h hostDelegation) WaitTasks(ctx context.Context, ids []event.RunID, one bool,
	limit time.Duration,
) ([]tool.TaskState, error) {
	r := h.run
	children, former, err := r.tasks(ids)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		children, former = slices.DeleteFunc(children, (*run).ended), nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if limit > 0 && len(children) > 0 && !(one && len(former) > 0) {
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
	return append(former, statesOf(children)...), nil
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
func (h hostDelegation) SendTask(_ context.Context, id event.RunID, text string) error {
	children, _, err := h.run.tasks([]event.RunID{id})
	if err != nil {
		return err
	}
	if len(children) == 0 || children[0].ended() {
		return fmt.Errorf("the task %s has ended; start another with resume = %q", id, id)
	}
	return children[0].steer(h.run.definition.Slug+", who started you", text)
}

// CancelTask ends a task of the run.
func (h hostDelegation) CancelTask(ctx context.Context, id event.RunID) (tool.TaskState, error) {
	children, former, err := h.run.tasks([]event.RunID{id})
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
	h.run.inbox.drop(id)
	return child.taskState(), nil
}

// tasks are the children of those ids, and those that the runs had started which this one goes on with: these have
// ended. Where no id is given, they are all that there are.
func (r *run) tasks(ids []event.RunID) (children []*run, former []tool.TaskState, err error) {
	r.mu.Lock()
	children = slices.Clone(r.children)
	r.mu.Unlock()
	if r.former != nil {
		former = slices.Clone(r.former.tasks)
	}
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
	children = slices.DeleteFunc(children, func(c *run) bool { return !slices.Contains(ids, c.id) })
	former = slices.DeleteFunc(former, func(s tool.TaskState) bool { return !slices.Contains(ids, s.ID) })
	return children, former, nil
}

func statesOf(children []*run) []tool.TaskState {
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

// endTasks ends the children that still run, and waits for that, which is soon.
func (r *run) endTasks(cause error) {
	children, _, _ := r.tasks(nil) // no id can be wrong
	for _, child := range children {
		child.cancel(cause)
	}
	for _, child := range children {
		<-child.done
	}
}

// leftTasks names the children in the background of whose end the run has not heard, for its result: how they stand,
// what they changed, and what they said. It is empty where there are none.
func (r *run) leftTasks() string {
	var b strings.Builder
	children, _, _ := r.tasks(nil) // no id can be wrong
	for _, id := range r.inbox.unheard() {
		i := slices.IndexFunc(children, func(c *run) bool { return c.id == id })
		if i < 0 {
			continue
		}
		result := children[i].snapshot()
		fmt.Fprintf(&b, "\n- %s (%s, %s): %s", children[i].definition.Slug, children[i].request.Title, id,
			result.Status)
		if len(result.Files) > 0 {
			fmt.Fprintf(&b, "; changed %s", strings.Join(result.Files, ", "))
		}
		if said := firstLine(result.Output); said != "" {
			b.WriteString("; said: " + said)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nWhat it started in the background and had no turn left to read:" + b.String()
}

// stillRuns begins the file of a run in the background that has not ended.
const stillRuns = "(it still runs"

// outputOf is the file that a run in the background leaves its result in.
func (e *Engine) outputOf(id event.RunID) string {
	return filepath.Join(e.outputDir(), "task-"+string(id)+".md")
}

// writeOutput replaces such a file as a whole, so that no reader sees a part of it.
func (e *Engine) writeOutput(path, text string) error {
	err := os.WriteFile(path+".new", []byte(e.redactor.Text(text)), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// promiseOutput makes the file that a child in the background leaves its result in, and lets the run read it.
func (r *run) promiseOutput(child *run) (string, error) {
	path := r.engine.outputOf(child.id)
	err := os.MkdirAll(r.engine.outputDir(), 0o700)
	if err == nil {
		err = r.engine.writeOutput(path, stillRuns+", and has not begun)\n")
	}
	if err != nil {
		return "", fmt.Errorf("make the file for its result: %w", err)
	}
	r.commands.Attach(path)
	return path, nil
}

// showProgress puts into the file of a run in the background how far it is. The run's goroutine calls it.
func (r *run) showProgress() {
	if r.output == "" {
		return
	}
	made := len(r.snapshot().ToolCalls)
	text := fmt.Sprintf("%s: turn %d, %s so far)\n", stillRuns, r.turn, clip.Counted(made, "tool call", "tool calls"))
	if said := strings.TrimSpace(r.lastText); said != "" {
		text += "\n" + said + "\n"
	}
	if err := r.engine.writeOutput(r.output, text); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.engine.logger.Warn("how far a run is could not be written to its file", "run", r.id, "error", err)
	}
}

// tellStarter tells the run that started this one in the background of its end, which is durable.
func (r *run) tellStarter() {
	if !r.background() {
		return
	}
	ended := r.taskState()
	if err := r.engine.writeOutput(r.output, ended.Report()+"\n"); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.notice(event.NoticeWarning, "the result could not be written to its file: "+err.Error(),
			"free space in the state folder")
	}
	r.parent.inbox.settle(message{child: r.id, text: r.engine.boundedReport(ended, r.output)})
}

// settleOutputs has the files of runs in the background say what came of them that could not do so themselves, since
// their process was killed. It waits on the disk.
func (e *Engine) settleOutputs(ctx context.Context) error {
	entries, err := os.ReadDir(e.outputDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for results of runs in the background: %w", err)
	}
	for _, entry := range entries {
		id, isTask := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".md"), "task-")
		if !isTask || !strings.HasSuffix(entry.Name(), ".md") || !entry.Type().IsRegular() {
			continue
		}
		path := e.outputOf(event.RunID(id))
		if !saysItRuns(path) {
			continue // it is gone by now, or says it
		}
		row, err := e.store.Run(ctx, event.RunID(id))
		if errors.Is(err, store.ErrNotFound) || err == nil && !row.Status.Final() {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the run %s: %w", id, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it was deleted meanwhile
		}
		_, said, _ := strings.Cut(string(text), "\n")
		ended, err := e.storedTask(ctx, row, said)
		if err == nil {
			err = e.writeOutput(path, ended.Report()+"\n")
		}
		if err != nil {
			return fmt.Errorf("tell what came of the run %s: %w", id, err)
		}
	}
	return nil
}

// storedTask is a run that has ended as its starter hears of it. said stands where it left no answer. It reads the
// store.
func (e *Engine) storedTask(ctx context.Context, row store.Run, said string) (tool.TaskState, error) {
	state := tool.TaskState{ID: row.ID, Agent: row.Agent, Title: row.Title}
	if row.Background {
		state.Output = e.outputOf(row.ID)
	}
	var err error
	state.Result, err = e.formerResult(ctx, row.ID)
	state.Result.Output = cmp.Or(state.Result.Output, strings.TrimSpace(said))
	return state, err
}

// startedTask is a task that a stored run has started.
type startedTask struct {
	tool.TaskState
	call    event.CallID
	created time.Time
}

// startedTasks are those that the calls of a run have started, in their order. It reads the store.
func (e *Engine) startedTasks(ctx context.Context, run event.RunID) ([]startedTask, error) {
	children, err := e.store.StartedBy(ctx, run, history.RoleHidden)
	if err != nil {
		return nil, err
	}
	var started []startedTask
	for call, id := range children {
		row, err := e.store.Run(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read the task %s of the run %s: %w", id, run, err)
		}
		state, err := e.storedTask(ctx, row, "")
		if err != nil {
			return nil, err
		}
		started = append(started, startedTask{state, call, row.Created})
	}
	slices.SortFunc(started, func(a, b startedTask) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.ID, b.ID))
	})
	return started, nil
}

// boundedReport is what a starter is told of a run in the background that has ended. The rest is in the run's file.
func (e *Engine) boundedReport(ended tool.TaskState, path string) string {
	return boundedText(ended.Report(), "all of it is in "+path)
}

// boundedText is the beginning of a report. rest says where all of it is.
func boundedText(report, rest string) string {
	if len(report) <= maxReport {
		return report
	}
	return strings.ToValidUTF8(report[:maxReport], "") + "\n… " + rest
}

// saysItRuns reports whether the file of a run in the background says that the run has not ended. Results may be long,
// and are not read.
func saysItRuns(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read from
	head := make([]byte, len(stillRuns))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == stillRuns
}
