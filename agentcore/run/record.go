package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// role is the run's role in prompts, exports and the store: main for a run of the user, else the agent's name.
func (r *spec) role() string {
	if r.depth == 0 {
		return "main"
	}
	return r.definition.Slug
}

func (r *Run) setStatus(status event.Status, reason string) {
	r.mu.Lock()
	r.waitsFor = ""
	if status == event.StatusWaiting {
		r.waitsFor = reason
	}
	r.result.Status = status
	if status == event.StatusRunning && r.started.IsZero() {
		r.started = time.Now().UTC()
	}
	r.mu.Unlock()
	r.record(store.Batch{}, event.RunStatusChanged{Status: status, Reason: reason})
}

// record stores the run as it is now, together with the batch.
func (r *Run) record(batch store.Batch, bodies ...event.Body) *store.Commit {
	r.session.recording.Lock()
	defer r.session.recording.Unlock()
	batch.Runs = append(batch.Runs, r.row())
	return r.tell(batch, bodies...)
}

// Snapshot returns the run's result so far.
func (r *Run) Snapshot() event.RunResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := r.result
	result.ToolCalls = append([]event.CallSummary{}, result.ToolCalls...)
	result.Children = append([]event.RunID{}, result.Children...)
	if !r.result.Status.Final() {
		result.DurationMs = time.Since(r.created).Milliseconds()
	}
	return result
}

func (r *Run) Info() history.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	info := history.Run{
		ID: r.id, Session: r.session.ID, Agent: r.definition.Slug, Role: history.WorksAs(r.role(), r.depth),
		Depth: r.depth,
		Title: r.request.Title, Model: r.model.Name(), Status: r.result.Status, Reason: r.result.Reason,
		Created: r.created, Finished: r.finished, Turns: r.result.Turns,
		BudgetUsed: r.last.BudgetUsed, Message: cmp.Or(r.waitsFor, r.last.Message), Usage: r.result.Usage,
		Working: r.onFile, Instructions: r.told,
	}
	if r.result.Status.Final() { // the last activity is over, but what came of it stays
		info.Message = clip.FirstLine(r.result.Output)
		info.Outcome, info.Files = r.result.Outcome, r.result.Files
	}
	for _, text := range []*string{&info.Title, &info.Reason, &info.Message} {
		*text = permission.LegibleLine(*text)
	}
	info.Background, info.Output = r.background(), r.output
	if r.parent != nil {
		info.Parent = r.parent.id
	}
	if r.former != nil {
		info.Resumes = r.former.Run
	}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		info.Path, info.StartLine = paths[0], r.request.Context.StartLine
		if c := r.request.Comment; c != nil {
			info.StartLine = c.StartLine
		}
	}
	return info
}

// Chain is the id shared by the runs of one prompt and by the runs that go on with them.
func (r *spec) Chain() event.RunID {
	for r.parent != nil {
		r = &r.parent.spec
	}
	if r.former != nil {
		return r.former.Chain
	}
	return r.id
}

// finder describes the run as the one that reports a finding.
func (r *spec) finder() board.Finder {
	return board.Finder{Agent: r.definition.Slug, Model: r.model.Name(), Run: r.id, Chain: r.Chain()}
}

// background reports whether the run that started this one does not wait for it.
func (r *spec) background() bool { return r.task != nil && r.task.Background }

// contextMode is how much of its parent's conversation the run got. A run that goes on with another has that one's
// conversation.
func (r *spec) contextMode() string {
	if r.task == nil || r.former != nil {
		return contextNone
	}
	return cmp.Or(r.definition.ContextMode, contextNone)
}

// row is the run's row in the store.
func (r *Run) row() store.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := store.Run{
		ID: r.id, Session: r.session.ID, Agent: r.definition.Slug, Role: r.role(), Title: r.request.Title,
		Model: r.model.Name(), Prompt: r.prompt, Request: r.request.Prompt, Proposal: r.result.Proposal,
		Created: r.created, Started: r.started,
		Origin: store.Origin{
			Chain: r.Chain(), Depth: r.depth, RequestType: "prompt", ContextMode: r.contextMode(),
			ContextTokens: r.takenOver, Background: r.background(),
		},
		Ending: store.Ending{
			Response: r.result.Output, Summary: clip.FirstLine(r.result.Output), Status: r.result.Status,
			Reason: r.result.Reason,
		},
		Bounds: store.Bounds{
			MaxTurns: r.limits.MaxTurns, MaxDuration: r.limits.Timeout, MaxTokens: r.limits.Tokens,
			MaxCost: r.limits.Cost,
		},
		Spent: store.Spent{
			Turns: r.result.Turns, Usage: r.result.Usage, Own: r.own, BudgetUsed: r.last.BudgetUsed,
		},
	}
	if r.parent != nil {
		row.Parent = r.parent.id
		row.ParentCall, row.ParentMessage = r.request.call, r.request.message
		row.RequestType = "delegation"
	}
	if r.former != nil {
		row.RequestType = "continuation"
	}
	row.ProgramSession = r.programSession
	row.Permissions = encoded(powersOf(r))
	if paths := r.request.Context.Paths; len(paths) > 0 {
		row.URI = event.FileURI(paths[0])
	}
	if r.result.Status.Final() {
		row.Completed = r.finished
		row.Duration = row.Completed.Sub(r.created)
		row.Failure, row.Result = encoded(r.result.Error), encoded(r.result.Result)
		if r.parent == nil {
			row.Result = r.result.Structured
		}
		row.FilesModified = encoded(slices.Sorted(maps.Keys(r.touched)))
	}
	return row
}

// guarded returns a panic as an error, so that a bug ends one run or one call, not the process.
func (r *spec) guarded(what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.process.Logger.Error("a run panicked", "run", r.id, "in", what, "panic", p, "stack",
				string(debug.Stack()))
			err = &fault.Error{
				Kind: fault.Internal, Detail: fmt.Sprintf("%s failed because of a bug in agentls: %v", what, p),
				Hint: "the log has the details; please report it",
			}
		}
	}()
	return do()
}

// workContext is the context of what the run asks its model and of its calls. It ends when it is time to hand over or,
// in the last turn, when all of the run's time is used up.
func (r *Run) workContext() context.Context {
	if r.lastTurn {
		return r.ctx
	}
	return r.working
}

// late reports whether it is time to hand over, so that no time is left for other work.
func (r *resources) late() bool { return r.working.Err() != nil && r.ctx.Err() == nil }

// progress shows what the run does, and how far it is. percent is a lower bound of the used budget, for runs that know
// more than the number of their turns tells.
func (r *Run) progress(message string, percent int) {
	r.tell(store.Batch{}, doing(r, message, percent))
}

// idle shows what the run waits for, mostly its model. Waiting is no activity: it would push the activities out of the
// list.
func (r *Run) idle(message string, percent int) {
	r.tell(store.Batch{}, waitingFor(r, message, percent))
}

// doing notes what the run does. It returns the event that tells so, for callers that publish it together with others.
func doing(r *Run, message string, percent int) event.RunProgress {
	r.mu.Lock()
	r.activity = append(r.activity, message)
	if surplus := len(r.activity) - maxActivities; surplus > 0 {
		r.activity = append([]string(nil), r.activity[surplus:]...)
	}
	r.mu.Unlock()
	return waitingFor(r, message, percent)
}

// waitingFor notes what the run waits for, and returns the event that tells so.
func waitingFor(r *Run, message string, percent int) event.RunProgress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := event.RunProgress{
		Turn: r.turn, Usage: r.result.Usage, ToolCalls: len(r.result.ToolCalls),
		Activities: append([]string(nil), r.activity...), Message: message,
	}
	p.BudgetUsed = r.budgetUsed(r.turn-1, percent)
	r.last = p
	return p
}

// budgetUsed is the largest used share of any limit of the run after so many turns, in percent. It is never less than
// least, or than before. The lock is held.
func (r *Run) budgetUsed(turns, least int) int {
	share := max(least, r.budget.share())
	if r.limits.MaxTurns > 0 {
		share = max(share, max(turns, 0)*100/r.limits.MaxTurns)
	}
	if r.limits.Timeout > 0 {
		share = max(share, int(r.clock.took()*100/r.limits.Timeout))
	}
	return max(min(share, 100), r.last.BudgetUsed)
}

// onlyTurn reports whether the run has one turn only. Such a run is told so at its beginning.
func (r *spec) onlyTurn() bool { return r.limits.MaxTurns == 1 }

// author is the author of the run's edits.
func (r *spec) author(reason string) workspace.Author {
	return workspace.Author{Run: r.id, Agent: r.definition.Slug, Reason: reason}
}

// pathOfAgents names the run by its agent and the agents above it.
func (r *spec) pathOfAgents() string {
	names := []string{r.definition.Slug}
	for p := r.parent; p != nil; p = p.parent {
		names = append(names, p.definition.Slug)
	}
	slices.Reverse(names)
	return strings.Join(names, " ▸ ")
}

// reports reports whether the run hands its result to the run that started it.
func (r *spec) reports() bool { return r.task != nil || r.request.pass > 0 }

// maxActivities is how many of a run's last activities are shown.
const maxActivities = 5

func newAsking(r *Run) asking {
	return asking{
		outlet: r.outlet, ctx: r.ctx, speaks: r.parent == nil, idle: r.idle, status: r.setStatus, again: r.again,
		retry: model.Retry{MaxAttempts: r.config.RetryMaxAttempts, MaxElapsed: r.config.RetryMaxElapsed}, cut: r.addCut,
		coming: func(tool string) { getReady(r, tool) },
	}
}

func powersOf(r *Run) authority.Powers {
	return authority.Powers{
		Mode: r.mode, Tools: r.tools.Names(), Planning: r.plan.readsOnly(), Bound: r.gate.rights.Bound,
		Rules: append([]permission.Layer{}, r.gate.rights.Own...), // never nil, as former versions stored it
	}
}

// taskState is the run's state as told to the agent that started it.
func (r *Run) taskState() tool.TaskState {
	result := r.Snapshot()
	r.mu.Lock()
	defer r.mu.Unlock()
	return tool.TaskState{
		ID: r.id, Agent: r.definition.Slug, Title: r.request.Title, Message: cmp.Or(r.waitsFor, r.last.Message),
		Result:    result,
		Conflicts: slices.Clone(r.conflicts), Output: r.output, Bounded: r.request.bounded,
	}
}

// collides notes an edit that was left out, with both sides, for the run that started this one.
func (r *shared) collides(agent, name string, c workspace.Conflict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conflicts = append(r.conflicts,
		fmt.Sprintf(
			"%s lines %d-%d: the edit of %s was left out, since the lines were changed meanwhile. It "+
				"wanted:\n%s\nThere is now:\n%s",
			name, c.StartLine+1, c.EndLine, agent, c.Ours, c.Theirs))
}
