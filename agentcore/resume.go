package agentcore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// former is what a run takes over that goes on where another one ended.
type former struct {
	run      event.RunID
	agent    string
	model    string
	chain    event.RunID
	roots    []string // of its session
	messages []model.Message
	last     event.MessageID // of these, as stored
	// session is the one that it ran in.
	session event.SessionID
	// above are the runs that started the former run, the root first: it never gets more power than it had as their
	// child.
	above []ancestor
	// powers are what it was allowed itself.
	powers authority.Powers
	// unread are the messages that it was told and has not read, and what came of its children in the background that
	// it has not heard of.
	unread []string
	// runs are itself and those that it went on with, itself first.
	runs []event.RunID
	// tasks are those that these have started, oldest first. All have ended.
	tasks []tool.TaskState
}

// ancestor is a run above a former one.
type ancestor struct {
	run        event.RunID
	definition *agent.Definition
	powers     authority.Powers
}

// binds reports whether the former run was a child, or went on with one.
func (f *former) binds() bool { return f != nil && (len(f.above) > 0 || len(f.powers.Bound) > 0) }

func (r *run) powers() authority.Powers {
	return authority.Powers{
		Mode: r.mode, Tools: r.tools.Names(), Planning: r.plan.readsOnly(), Bound: r.rights.Bound,
		Rules: append([]permission.Layer{}, r.rights.Own...), // never nil, which is what former versions stored
	}
}

// starter is the agent that started the former run, which was a child.
func (f *former) starter() string { return f.above[len(f.above)-1].definition.Slug }

// belowPlan reports whether a run above the former one was planning that is not above the new one.
func (f *former) belowPlan(parent *run) bool {
	return slices.ContainsFunc(f.above,
		func(a ancestor) bool { return a.powers.Planning && !parent.descendsFrom(a.run) })
}

// goOn is what a resumed run is told where nobody says more.
const goOn = "Go on with the task where you left off."

// Resume goes on with a run of any session on these folders that has ended, in whatever way, as a new run of this
// session with its history. An empty prompt means go on. Nothing that had an effect is done again: a call whose outcome
// is not known is put to the model as that. It reads the store.
func (s *Session) Resume(ctx context.Context, id event.RunID, prompt string) (event.RunID, error) {
	return s.ResumeWith(ctx, id, RunRequest{Prompt: prompt})
}

// ResumeWith is Resume with a model, limits or a title of its own. The agent and the mode are those of the former run,
// whatever the request says.
func (s *Session) ResumeWith(ctx context.Context, id event.RunID, request RunRequest) (event.RunID, error) {
	from, err := s.engine.former(ctx, id)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(from.roots, func(root string) bool { return slices.Contains(s.view.Folders(), root) }) {
		return "", &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the run %s was on other folders: %s", id, strings.Join(from.roots, ", ")),
			Hint:   "open them, and resume it there",
		}
	}
	request.Agent, request.Prompt = from.agent, cmp.Or(request.Prompt, goOn)
	request.PermissionMode, request.former = from.powers.Mode, from
	return s.Start(ctx, request)
}

// former reads what a run that has ended leaves to the one which goes on with it.
func (e *Engine) former(ctx context.Context, id event.RunID) (*former, error) {
	row, err := e.resumable(ctx, id)
	if err != nil {
		return nil, err
	}
	session, err := e.store.Session(ctx, row.Session)
	if err != nil {
		return nil, fmt.Errorf("read the session of the run %s: %w", id, err)
	}
	f := &former{
		run: id, agent: row.Agent, model: row.Model, chain: row.Chain, session: row.Session, roots: session.Roots,
		powers: authority.ReadPowers(row.Permissions),
	}
	if f.above, err = e.ancestors(ctx, row); err != nil {
		return nil, err
	}
	if f.messages, f.last, err = e.conversation(ctx, id); err != nil {
		return nil, err
	}
	if len(f.messages) == 0 {
		return nil, &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the run %s of %s ended before it had begun", id, row.Agent), Hint: "start it anew",
		}
	}
	if err := json.Unmarshal([]byte(cmp.Or(string(row.Unread), "[]")), &f.unread); err != nil {
		return nil, fmt.Errorf("read what the run %s was told: %w", id, err)
	}
	if f.runs, err = e.lineage(ctx, id); err != nil {
		return nil, err
	}
	for _, run := range slices.Backward(f.runs) {
		started, err := e.startedTasks(ctx, run)
		if err != nil {
			return nil, err
		}
		for _, task := range started {
			f.tasks = append(f.tasks, task.TaskState)
		}
	}
	unheard, err := e.unheard(ctx, row, f.messages)
	if err != nil {
		return nil, err
	}
	f.unread = append(unheard, f.unread...)
	return f, nil
}

// resumable reads a run that has ended, and that one can go on with.
func (e *Engine) resumable(ctx context.Context, id event.RunID) (store.Run, error) {
	row, err := e.store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, fault.Missing("run", string(id), "list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return row, fmt.Errorf("read the run %s: %w", id, err)
	}
	if !row.Status.Final() {
		if err := e.openElsewhere(ctx, row.Session, fmt.Sprintf("the run %s of %s has not ended, and", id, row.Agent),
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
func (e *Engine) ancestors(ctx context.Context, row store.Run) ([]ancestor, error) {
	var list []ancestor
	for parent := row.Parent; parent != ""; {
		above, err := e.store.Run(ctx, parent)
		if err != nil {
			return nil, fmt.Errorf("read the run %s, which started %s: %w", parent, row.ID, err)
		}
		definition, err := e.Agents().Find(above.Agent)
		if err != nil {
			return nil, &fault.Error{
				Kind:   fault.NotFound,
				Detail: fmt.Sprintf("the run was started by %s, whose limits bind it, and: %v", above.Agent, err),
				Hint:   "run the agent anew",
			}
		}
		list = append(list, ancestor{above.ID, definition, authority.ReadPowers(above.Permissions)})
		parent = above.Parent
	}
	slices.Reverse(list)
	return list, nil
}

// unheard are the reports of a run's children in the background whose end it has not heard of. Nobody tells it any
// more.
func (e *Engine) unheard(ctx context.Context, parent store.Run, heard []model.Message) ([]string, error) {
	rows, err := e.store.Runs(ctx, parent.Session)
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
			state, err := e.storedTask(ctx, row, "")
			if err != nil {
				return nil, err
			}
			reports = append(reports, e.boundedReport(state, e.outputOf(row.ID)))
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

// conversation is that of a run as its next request would have had it, calls without an outcome answered, and the
// last message that is stored of it.
func (e *Engine) conversation(ctx context.Context, id event.RunID) ([]model.Message, event.MessageID, error) {
	rows, err := e.store.Messages(ctx, id)
	if err != nil || len(rows) == 0 {
		return nil, "", err
	}
	var messages []model.Message
	if first := rows[0].Parent; first != "" {
		before, err := e.store.MessageRun(ctx, first)
		if err == nil {
			messages, _, err = e.conversation(ctx, before)
		}
		// What it goes on with may be deleted; then it has its own messages alone.
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, "", fmt.Errorf("find what the run %s goes on with: %w", id, err)
		}
	}
	begin := len(messages) // of the run's own messages, whose ids are ids
	var ids []event.MessageID
	for i, row := range rows {
		parts, err := model.DecodeParts(row.Parts)
		if err != nil {
			return nil, "", fmt.Errorf("read a message of the run %s: %w", id, err)
		}
		command.SeeAgain(e.outputDir(), parts)
		m := model.Message{Role: model.Role(row.Role), Parts: parts}
		if i == 0 || row.Parent == rows[i-1].ID {
			messages, ids = append(messages, m), append(ids, row.ID)
			continue
		}
		// A summary (compact.go): it stands for all up to its parent, but for the tasks and what the run was told.
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
			if steers(messages[begin+i]) {
				shorter, left = append(shorter, messages[begin+i]), append(left, ids[i])
			}
		}
		messages = append(append(shorter, m), messages[begin+upTo:]...)
		ids = append(append(left, row.ID), ids[upTo:]...)
		begin = min(begin, 1)
	}
	last := messages[len(messages)-1]
	if last.Role == model.RoleAssistant && len(last.Calls()) > 0 {
		outcomes, err := e.outcomes(ctx, id, last.Calls())
		if err != nil {
			return nil, "", err
		}
		messages = append(messages, outcomes)
	}
	return messages, rows[len(rows)-1].ID, nil
}

// lineage lists a run and those that it went on with, itself first. One that was deleted ends it.
func (e *Engine) lineage(ctx context.Context, id event.RunID) ([]event.RunID, error) {
	list := []event.RunID{id}
	for {
		rows, err := e.store.Messages(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read the messages of the run %s: %w", id, err)
		}
		if len(rows) == 0 || rows[0].Parent == "" {
			return list, nil
		}
		id, err = e.store.MessageRun(ctx, rows[0].Parent)
		if errors.Is(err, store.ErrNotFound) || err == nil && slices.Contains(list, id) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("find what the run %s goes on with: %w", list[len(list)-1], err)
		}
		list = append(list, id)
	}
}

// outcomes answers the calls that a run had made when it was cut off.
func (e *Engine) outcomes(ctx context.Context, id event.RunID, calls []model.Call) (model.Message, error) {
	rows, err := e.store.ToolCalls(ctx, id)
	if err != nil {
		return model.Message{}, fmt.Errorf("read the calls of the run %s: %w", id, err)
	}
	tasks, err := e.startedTasks(ctx, id)
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
				result.Text, result.Error = boundedText(outcome.Text, "task_output with its id tells all of it"),
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

// takeOver puts the former conversation, or what the run inherits, in front of its own.
func (r *run) takeOver() {
	for _, m := range r.inherited.messages {
		r.append(m)
	}
	if r.former == nil {
		return
	}
	for i, m := range r.former.messages {
		if steers(m) {
			r.memory.pinned[i] = true
		}
		r.messages = append(r.messages, withoutSecrets(m, r.engine.redactor))
		r.memory.ids = append(r.memory.ids, r.former.last)
	}
	r.memory.last, r.memory.pinned[0] = r.former.last, true
	r.hearUnread()
}
