// Package resume reads what ended runs have left for the runs that resume them, or for callers that only want their
// outcome.
package resume

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// Reader reads stored runs. Its methods wait on the disk, and may be called from any goroutine.
type Reader struct {
	Store   *store.Store
	History *history.Reader
	Outputs run.Outputs
	Agents  func() *agent.Registry
	// InUse is the error for an action that only the process with an open session can do, nil if no other process has
	// it open.
	InUse func(ctx context.Context, session event.SessionID, what, hint string) error
}

// Former reads what an ended run leaves to the run that resumes it.
func (r *Reader) Former(ctx context.Context, id event.RunID) (*run.Former, error) {
	row, err := r.resumable(ctx, id)
	if err != nil {
		return nil, err
	}
	session, err := r.Store.Session(ctx, row.Session)
	if err != nil {
		return nil, fmt.Errorf("read the session of the run %s: %w", id, err)
	}
	f := &run.Former{
		Run: id, Agent: row.Agent, Model: row.Model, Chain: row.Chain, Session: row.Session, Roots: session.Roots,
		Powers: authority.ReadPowers(row.Permissions), ProgramSession: row.ProgramSession,
	}
	// Who went back behind a later run does not want its program to know what that run did.
	later, err := r.Store.WentOn(ctx, row)
	if err != nil {
		return nil, fmt.Errorf("read who went on with the program of the run %s: %w", id, err)
	}
	if later {
		f.ProgramSession = ""
	}
	if f.Above, err = r.ancestors(ctx, row); err != nil {
		return nil, err
	}
	if f.Messages, f.Last, err = r.conversation(ctx, id); err != nil {
		return nil, err
	}
	if len(f.Messages) == 0 {
		return nil, &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the run %s of %s ended before it had begun", id, row.Agent), Hint: "start it anew",
		}
	}
	if err := json.Unmarshal([]byte(cmp.Or(string(row.Unread), "[]")), &f.Unread); err != nil {
		return nil, fmt.Errorf("read what the run %s was told: %w", id, err)
	}
	if f.Runs, err = r.Lineage(ctx, id); err != nil {
		return nil, err
	}
	for _, one := range slices.Backward(f.Runs) {
		started, err := r.startedTasks(ctx, one)
		if err != nil {
			return nil, err
		}
		for _, task := range started {
			f.Tasks = append(f.Tasks, task.TaskState)
		}
	}
	unheard, err := r.unheard(ctx, row, f.Messages)
	if err != nil {
		return nil, err
	}
	f.Unread = append(unheard, f.Unread...)
	return f, nil
}

// resumable reads a run that has ended and that can be resumed.
func (r *Reader) resumable(ctx context.Context, id event.RunID) (store.Run, error) {
	row, err := r.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, fault.Missing("run", string(id), "list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return row, fmt.Errorf("read the run %s: %w", id, err)
	}
	if !row.Status.Final() {
		if err := r.InUse(ctx, row.Session, fmt.Sprintf("the run %s of %s has not ended, and", id, row.Agent),
			"tell it something there, or cancel it there first"); err != nil {
			return row, err
		}
		return row, &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the run %s of %s has not ended", id, row.Agent),
			Hint:   "tell it something (task_send, agent/steer), or cancel it first",
		}
	}
	if row.Role == history.RoleHidden {
		return row, &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("the run %s is one of agentls's own", id),
			Hint: "resume the run that it worked for",
		}
	}
	return row, nil
}

// ancestors are the runs above a stored one, the root first.
func (r *Reader) ancestors(ctx context.Context, row store.Run) ([]run.Ancestor, error) {
	var list []run.Ancestor
	for parent := row.Parent; parent != ""; {
		above, err := r.Store.Run(ctx, parent)
		if err != nil {
			return nil, fmt.Errorf("read the run %s, which started %s: %w", parent, row.ID, err)
		}
		definition, err := r.Agents().Find(above.Agent)
		if err != nil {
			return nil, &fault.Error{
				Kind:   fault.NotFound,
				Detail: fmt.Sprintf("the run was started by %s, whose limits bind it, and: %v", above.Agent, err),
				Hint:   "run the agent anew",
			}
		}
		list = append(list, run.Ancestor{
			Run: above.ID, Definition: definition, Powers: authority.ReadPowers(above.Permissions),
		})
		parent = above.Parent
	}
	slices.Reverse(list)
	return list, nil
}

// unheard are the reports of a run's children in the background of whose end the run was not told. Nobody else will
// tell it.
func (r *Reader) unheard(ctx context.Context, parent store.Run, heard []model.Message) ([]string, error) {
	rows, err := r.Store.Runs(ctx, parent.Session)
	if err != nil {
		return nil, fmt.Errorf("list what the run %s has started: %w", parent.ID, err)
	}
	var reports []string
	for _, row := range rows {
		if row.Parent != parent.ID || !row.Background || !row.Status.Final() {
			continue
		}
		ended := regexp.MustCompile(`<task id="` + string(row.ID) +
			`"[^>]* status="(completed|partial|failed|cancelled|timeout|interrupted)"`)
		if !slices.ContainsFunc(heard, func(m model.Message) bool {
			return ended.MatchString(m.Text()) ||
				ended.MatchString(resultsOf(m))
		}) {
			state, err := r.storedTask(ctx, row, "")
			if err != nil {
				return nil, err
			}
			reports = append(reports, r.Outputs.Report(state))
		}
	}
	return reports, nil
}

// resultsOf are the texts of the results of calls in a message.
func resultsOf(m model.Message) string {
	var b strings.Builder
	for _, part := range m.Parts {
		if result, ok := part.(model.Result); ok {
			b.WriteString(result.Text + "\n")
		}
	}
	return b.String()
}

// conversation is the conversation of a run as its next request would have had it, with answers for calls that have no
// outcome, and the last stored message of it.
func (r *Reader) conversation(ctx context.Context, id event.RunID) ([]model.Message, event.MessageID, error) {
	rows, err := r.Store.Messages(ctx, id)
	if err != nil || len(rows) == 0 {
		return nil, "", err
	}
	var messages []model.Message
	if first := rows[0].Parent; first != "" {
		before, err := r.Store.MessageRun(ctx, first)
		if err == nil {
			messages, _, err = r.conversation(ctx, before)
		}
		// The run that it resumes may have been deleted; then it has only its own messages.
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, "", fmt.Errorf("find what the run %s goes on with: %w", id, err)
		}
	}
	begin := len(messages) // where the run's own messages begin, whose ids are ids
	var ids []event.MessageID
	for i, row := range rows {
		parts, err := model.DecodeParts(row.Parts)
		if err != nil {
			return nil, "", fmt.Errorf("read a message of the run %s: %w", id, err)
		}
		command.SeeAgain(r.Outputs.Dir, parts)
		m := model.Message{Role: model.Role(row.Role), Parts: parts}
		if i == 0 || row.Parent == rows[i-1].ID {
			messages, ids = append(messages, m), append(ids, row.ID)
			continue
		}
		// A summary (compact.go) replaces everything up to its parent, except the tasks and what the run was told.
		upTo := 1 + slices.Index(ids, row.Parent)
		var shorter []model.Message
		var left []event.MessageID
		if begin > 0 {
			shorter = append(shorter, messages[0])
		}
		if upTo > 0 {
			shorter, left = append(shorter, messages[begin]), append(left, ids[0])
		}
		for i := 1; i < upTo; i++ {
			if run.Steers(messages[begin+i]) {
				shorter, left = append(shorter, messages[begin+i]), append(left, ids[i])
			}
		}
		messages = append(append(shorter, m), messages[begin+upTo:]...)
		ids = append(append(left, row.ID), ids[upTo:]...)
		begin = min(begin, 1)
	}
	last := messages[len(messages)-1]
	if last.Role == model.RoleAssistant && len(last.Calls()) > 0 {
		outcomes, err := r.outcomes(ctx, id, last.Calls())
		if err != nil {
			return nil, "", err
		}
		messages = append(messages, outcomes)
	}
	return messages, rows[len(rows)-1].ID, nil
}

// Lineage lists a run and the runs that it resumed, the run itself first. It ends at a run that was deleted.
func (r *Reader) Lineage(ctx context.Context, id event.RunID) ([]event.RunID, error) {
	list := []event.RunID{id}
	for {
		rows, err := r.Store.Messages(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read the messages of the run %s: %w", id, err)
		}
		if len(rows) == 0 || rows[0].Parent == "" {
			return list, nil
		}
		id, err = r.Store.MessageRun(ctx, rows[0].Parent)
		if errors.Is(err, store.ErrNotFound) || err == nil && slices.Contains(list, id) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("find what the run %s goes on with: %w", list[len(list)-1], err)
		}
		list = append(list, id)
	}
}

// outcomes answers the calls that were pending when the run was cut off.
func (r *Reader) outcomes(ctx context.Context, id event.RunID, calls []model.Call) (model.Message, error) {
	rows, err := r.Store.ToolCalls(ctx, id)
	if err != nil {
		return model.Message{}, fmt.Errorf("read the calls of the run %s: %w", id, err)
	}
	tasks, err := r.startedTasks(ctx, id)
	if err != nil {
		return model.Message{}, err
	}
	taskOf := func(call event.CallID) *startedTask {
		if i := slices.IndexFunc(tasks, func(t startedTask) bool { return t.call == call }); i >= 0 {
			return &tasks[i]
		}
		return nil
	}
	m := model.Message{Role: model.RoleTool}
	for _, c := range calls {
		result := model.Result{
			ID: c.ID, Name: c.Name, Error: true,
			Text: "error: the run was cut off before this call was made; make it again if it is still wanted",
		}
		for _, row := range rows {
			switch {
			case row.ModelCall != c.ID:
			case (row.Status == "" || row.Status == event.CallCancelled) && taskOf(row.ID) != nil:
				outcome := taskOf(row.ID).Outcome()
				result.Text, result.Error = run.BoundedText(outcome.Text, "task_output with its id tells all of it"),
					outcome.Failed
			case row.Status != "":
				result.Text, result.Error = row.Output, row.Status != event.CallOK
			case tool.LeavesDoubt(row.Effect):
				result.Text = "error: the run was cut off while this call was made, and what came of it is " +
					"not known. Look at what is there before you make it again."
			}
		}
		m.Parts = append(m.Parts, result)
	}
	return m, nil
}

// SettleOutputs writes the outcome into the files of runs in the background whose process was killed before it could do
// so. It waits on the disk.
func (r *Reader) SettleOutputs(ctx context.Context) error {
	entries, err := os.ReadDir(r.Outputs.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for results of runs in the background: %w", err)
	}
	for _, entry := range entries {
		id, isTask := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".md"), "task-")
		if !isTask || !strings.HasSuffix(entry.Name(), ".md") || !entry.Type().IsRegular() {
			continue
		}
		path := r.Outputs.Of(event.RunID(id))
		if !run.SaysItRuns(path) {
			continue // the file is gone by now, or has the outcome
		}
		row, err := r.Store.Run(ctx, event.RunID(id))
		if errors.Is(err, store.ErrNotFound) || err == nil && !row.Status.Final() {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the run %s: %w", id, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the run was deleted meanwhile
		}
		_, said, _ := strings.Cut(string(text), "\n")
		ended, err := r.storedTask(ctx, row, said)
		if err == nil {
			err = r.Outputs.Write(path, ended.Report()+"\n")
		}
		if err != nil {
			return fmt.Errorf("tell what came of the run %s: %w", id, err)
		}
	}
	return nil
}

// storedTask is an ended run in the form in which its starter is told of it. said is used if the run left no answer. It
// reads the store.
func (r *Reader) storedTask(ctx context.Context, row store.Run, said string) (tool.TaskState, error) {
	state := tool.TaskState{ID: row.ID, Agent: row.Agent, Title: row.Title}
	if row.Background {
		state.Output = r.Outputs.Of(row.ID)
	}
	var err error
	state.Result, err = r.Result(ctx, row.ID)
	state.Result.Output = cmp.Or(state.Result.Output, strings.TrimSpace(said))
	return state, err
}

// startedTask is a task that a stored run has started.
type startedTask struct {
	tool.TaskState
	call    event.CallID
	created time.Time
}

// startedTasks are the tasks that a run's calls have started, in their order. It reads the store.
func (r *Reader) startedTasks(ctx context.Context, starter event.RunID) ([]startedTask, error) {
	children, err := r.Store.StartedBy(ctx, starter, history.RoleHidden)
	if err != nil {
		return nil, err
	}
	var started []startedTask
	for call, id := range children {
		row, err := r.Store.Run(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read the task %s of the run %s: %w", id, starter, err)
		}
		state, err := r.storedTask(ctx, row, "")
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

// Result returns what is stored of a run that the engine does not remember.
func (r *Reader) Result(ctx context.Context, id event.RunID) (event.RunResult, error) {
	row, err := r.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return event.RunResult{}, fault.Missing("run", string(id),
			"list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return event.RunResult{}, fmt.Errorf("read the run %s: %w", id, err)
	}
	result := event.RunResult{
		Status: row.Status, Reason: row.Reason, Output: row.Response, Usage: row.Usage, Turns: row.Turns,
		DurationMs: row.Duration.Milliseconds(), Proposal: row.Proposal,
	}
	if !row.Status.Final() {
		result.DurationMs = max(0, time.Since(row.Created).Milliseconds())
	}
	if row.Copied {
		turns, err := r.Store.CopiedTurns(ctx, row.Session)
		if err != nil {
			return event.RunResult{}, err
		}
		result.Turns = turns[id]
	}
	result.Outcome = row.Outcome()
	if len(row.FilesModified) > 0 {
		session, err := r.History.Session(ctx, row.Session)
		if err != nil {
			return result, err
		}
		result.Files = history.ChangedFiles(session.Roots, row.FilesModified)
	}
	if len(row.Failure) > 0 {
		result.Error = &event.Failure{}
		if err := json.Unmarshal(row.Failure, result.Error); err != nil {
			return result, fmt.Errorf("read why the run %s failed: %w", id, err)
		}
	}
	if row.Parent == "" {
		result.Structured = row.Result
	} else if len(row.Result) > 0 {
		result.Result = &event.ChildResult{}
		if err := json.Unmarshal(row.Result, result.Result); err != nil {
			return result, fmt.Errorf("read the report of the run %s: %w", id, err)
		}
	}
	if result.ToolCalls, err = r.formerCalls(ctx, row); err != nil {
		return result, err
	}
	children, err := r.Store.Children(ctx, id)
	if err != nil {
		return result, fmt.Errorf("read the children of the run %s: %w", id, err)
	}
	for _, c := range children {
		if c.Role != history.RoleHidden {
			result.Children = append(result.Children, c.ID)
		}
	}
	return result, nil
}

// formerCalls are the stored calls of a run.
func (r *Reader) formerCalls(ctx context.Context, row store.Run) (list []event.CallSummary, err error) {
	calls, err := r.Store.ToolCalls(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read the tool calls of the run %s: %w", row.ID, err)
	}
	for _, c := range calls {
		summary := event.CallSummary{
			Name: c.Tool, Status: c.Status,
			DurationMs: c.Finished.Sub(c.Started).Milliseconds(),
		}
		if c.Status == "" {
			if !row.Status.Final() {
				continue // another process is about to make this call
			}
			summary.Status, summary.DurationMs = event.CallCancelled, 0 // the process ended before the call
		}
		list = append(list, summary)
	}
	return list, nil
}

// ParentOf is the run that started a stored one; empty for one of the user.
func (r *Reader) ParentOf(ctx context.Context, id event.RunID) (event.RunID, error) {
	row, err := r.Store.Run(ctx, id)
	return row.Parent, err
}
