package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Request asks for a run.
type Request struct {
	// Agent is a slug or alias; empty means the configuration's default agent.
	Agent  string
	Prompt string
	// Title is for people; empty means the prompt's first line.
	Title string
	// Context is what the prompt is about.
	Context Context
	// Comment is the comment that the prompt was written as, nil for none. Its file is in the context.
	Comment *Comment
	// Each starts one child per file instead of a conversation; absolute paths.
	Each []string
	// Iterations repeats the task, each time by a fresh child, until Until succeeds or so many passes are made; 0 and 1
	// mean once. A prompt that begins with "/iter N " sets it, too.
	Iterations int
	// Until is a command line that succeeds when the task of an iterated run is done; empty asks the passes themselves.
	Until string
	// Model overrides every other choice of a model.
	Model string
	// Limits override the definition's where they are set.
	Limits agent.Limits
	// PermissionMode overrides the definition's where it is set; a child is never above its parent.
	PermissionMode permission.Mode
	// task is what another run gave along; nil for a run of the user, or one per file.
	task *tool.Task
	// former is the run that this one goes on with.
	former *Former
	// inherited is what a child gets of its parent's conversation.
	inherited inheritance
	// bounded says which limit the call asked for and does not get; empty for none.
	bounded string
	// granted are tools that its definition does not have.
	granted []string
	// call and message are the call that it was started by, and the message that made the call; empty for none.
	call    event.CallID
	message event.MessageID
	// at is its reserved place in the queue; nil where it comes as it comes.
	at *slot.Reservation
	// pass is the number of a pass of an iterated run, from 1; 0 for other runs.
	pass int
}

// Context is what a prompt is about.
type Context struct {
	// Paths are absolute.
	Paths []string
	// StartLine and EndLine narrow the only path: 1-based, inclusive, 0 for the whole file.
	StartLine, EndLine int
	// Finding is the finding that the prompt is about, if any.
	Finding *event.Finding
}

// fits checks what a request asks of an agent. root says that the user starts it.
func (q *Request) fits(definition *agent.Definition, root bool) error {
	l := q.Limits
	switch {
	case root && definition.Is(agent.Hidden) && !definition.Is(agent.Primary) && !definition.Is(agent.Subagent):
		return &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the agent %s is hidden: agentls alone uses it", definition.Slug),
			Hint:   "choose one of `agentls agents list`",
		}
	case strings.TrimSpace(q.Prompt) == "":
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "the prompt is empty",
			Hint: "say what the agent should do",
		}
	case l.MaxTurns < 0 || l.Timeout < 0 || l.Tokens < 0 || l.Cost < 0:
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "a limit of the run is negative",
			Hint: "leave it out for the agent's own limit",
		}
	}
	return nil
}

// equip gives the run what it works with, but for a model: a layer, rights, tools, hooks and commands.
func (r *Run) equip() {
	r.place = newPlace(r)
	r.plan.agent = r.definition.Slug
	if r.parent != nil {
		r.plan.above = &r.parent.plan
	}
	r.plan.only = r.former != nil && (r.former.Powers.Planning || r.parent != nil && r.former.belowPlan(r.parent))
	r.hooks = r.newHooks()
	r.commands = newCommands(r)
	if r.parent != nil {
		r.layer = r.parent.layer.Fork()
		r.stored = r.session.Board.Layer(r.id, r.layer, r.parent.stored)
	} else {
		r.layer = r.session.Board.Proposal().Fork()
		r.stored = r.session.Board.Layer(r.id, r.layer, nil)
	}
	r.gate.plan, r.gate.layer = &r.plan, func() *workspace.Layer { return r.layer }
	r.gate.rights = r.newRights()
	r.chooseTools()
}

// chooseModel opens the model of the run: the one that is asked for, or that of its agent, of the run that it goes on
// with, or of its parent.
func (r *spec) chooseModel() (err error) {
	choice := provider.Choice{Override: r.request.Model, Definition: r.definition.Model}
	if r.parent != nil {
		choice.Parent = r.parent.model.Name()
		r.preset = r.parent.preset
	}
	if r.former != nil && !provider.IsOffline(r.former.Model) { // there may be a better one by now
		choice.Former = r.former.Model
	}
	choice = choice.With(r.config)
	r.model, err = r.process.OpenModel(choice)
	if err != nil && choice.Former != "" { // it cannot be had any more
		choice.Former = ""
		r.model, err = r.process.OpenModel(choice)
	}
	if err != nil {
		return err
	}
	r.preset, r.sampling = choice.Sampling(r.preset,
		provider.Sampling{Temperature: r.definition.Temperature, MaxTokens: r.definition.MaxTokens})
	r.price = provider.Price(r.config, r.model.Name())
	return nil
}

// limitsOf are the limits of the run that is asked for, at the depth.
func (q *Request) limitsOf(definition *agent.Definition, depth int, cfg *config.Config) agent.Limits {
	own := definition.LimitsAt(depth)
	limits := agent.Limits{
		MaxTurns: cmp.Or(q.Limits.MaxTurns, own.MaxTurns, cfg.DefaultMaxTurns), Timeout: q.Limits.Timeout,
		Tokens: cmp.Or(q.Limits.Tokens, own.Tokens), Cost: cmp.Or(q.Limits.Cost, own.Cost),
	}
	if len(q.Each) == 0 && !q.iterates() { // one that only waits for its children has no time of its own
		limits.Timeout = cmp.Or(limits.Timeout, own.Timeout, cfg.DefaultTimeout)
	}
	if definition.Mode == agent.SingleShot { // no request makes two answers of one
		limits.MaxTurns = own.MaxTurns
	}
	return limits
}

// workContext ends what the run asks its model and does by its calls: when it is time to hand over or, in the last
// turn, when all its time is used up.
func (r *Run) workContext() context.Context {
	if r.lastTurn {
		return r.ctx
	}
	return r.working
}

// late reports whether it is time to hand over, since what is left of the run's time is kept for that.
func (r *resources) late() bool { return r.working.Err() != nil && r.ctx.Err() == nil }

// live is the run from its first to its last event.
func (r *Run) live() {
	err := r.guarded("the run", r.work)
	r.request.at.Drop()
	r.tasks.inbox.shut()
	r.tasks.end(errStarterEnded)
	r.closeCommands()
	if merge := r.guarded("the merge of its edits", r.lastMerge); err == nil {
		err = merge
	}
	if err != nil && r.ctx.Err() != nil {
		err = context.Cause(r.ctx) // what it died of, not where
	}
	r.finish(err)
}

// guarded returns a panic as an error, so that a bug ends one run or one call and not the process.
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

// stopped is the cause where the run, or one above it, was stopped. Its own context ends a moment after theirs, in
// which it may have been given the place that they left.
func (r *Run) stopped() error {
	for above := r; above != nil; above = above.parent {
		if above.ctx.Err() != nil {
			return context.Cause(above.ctx)
		}
	}
	return nil
}

// work waits for a place and does what the run is for.
func (r *Run) work() error {
	if r.parent != nil {
		if err := r.place.take(r.ctx, r.request.at); err != nil {
			return err
		}
		defer r.place.leave()
		if err := r.stopped(); err != nil {
			return err
		}
	}
	r.setStatus(event.StatusRunning, "")
	r.clock.begin(r.clock.allowed(r.limits.Timeout), func() { r.stopWorking(errTimeout) }, func() { r.cancel(errTimeout) })
	defer r.clock.end()
	if err := r.startHooks(); err != nil {
		return err
	}
	if r.parent == nil {
		r.tellWithheld()
	}
	if len(r.request.Each) > 0 {
		return r.fanOut()
	}
	do := r.converse
	if r.request.iterates() {
		do = r.iterate
	} else if err := r.startServers(); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	r.takeComment()
	if !r.request.iterates() { // its passes have plans
		r.keepPlan()
	}
	return nil
}

// role is the run's role in prompts, exports and the store: main for the user's own, else the agent's name.
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

// record stores the run as it is now, with what else is in the batch.
func (r *Run) record(batch store.Batch, bodies ...event.Body) *store.Commit {
	r.session.recording.Lock()
	defer r.session.recording.Unlock()
	batch.Runs = append(batch.Runs, r.row())
	return r.tell(batch, bodies...)
}

// Snapshot returns the result so far.
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
		Working: r.onFile,
	}
	if r.result.Status.Final() { // what it did last is over; what came of it stays
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

// Chain is the id that the runs of one prompt share, and those that go on with them.
func (r *Run) Chain() event.RunID {
	for r.parent != nil {
		r = r.parent
	}
	if r.former != nil {
		return r.former.Chain
	}
	return r.id
}

// covers reports whether a place is part of what a prompt is about.
func (c *Context) covers(path string, span event.Span) bool {
	if !slices.Contains(c.Paths, path) {
		return false
	}
	return c.StartLine == 0 || c.StartLine <= span.StartLine+1 && span.EndLine+1 <= max(c.StartLine, c.EndLine)
}

// finder is the run as the board knows it.
func (r *Run) finder() board.Finder {
	return board.Finder{Agent: r.definition.Slug, Model: r.model.Name(), Run: r.id, Chain: r.Chain()}
}

// encoded returns a value of this module's own plain types as JSON, nil for none.
func encoded[T any](value T) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil || string(raw) == "null" {
		return nil
	}
	return raw
}

// background reports whether the run that started it does not wait for it.
func (r *spec) background() bool { return r.task != nil && r.task.Background }

// contextMode is what the run got of its parent's conversation. One that goes on with another has a conversation.
func (r *spec) contextMode() string {
	if r.task == nil || r.former != nil {
		return contextNone
	}
	return cmp.Or(r.definition.ContextMode, contextNone)
}

// row is the run as it is stored.
func (r *Run) row() store.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := store.Run{
		ID: r.id, Session: r.session.ID, Chain: r.Chain(), Agent: r.definition.Slug, Role: r.role(), Depth: r.depth,
		Title: r.request.Title, Model: r.model.Name(), Prompt: r.prompt, RequestType: "prompt",
		Request: r.request.Prompt, ContextMode: r.contextMode(), ContextTokens: r.takenOver,
		Response: r.result.Output, Summary: clip.FirstLine(r.result.Output), Status: r.result.Status,
		Reason:   r.result.Reason,
		MaxTurns: r.limits.MaxTurns, MaxDuration: r.limits.Timeout, MaxTokens: r.limits.Tokens, MaxCost: r.limits.Cost,
		Turns: r.result.Turns, Usage: r.result.Usage, Own: r.own, Proposal: r.result.Proposal,
		Created: r.created, Started: r.started, Background: r.background(), BudgetUsed: r.last.BudgetUsed,
	}
	if r.parent != nil {
		row.Parent = r.parent.id
		row.ParentCall, row.ParentMessage = r.request.call, r.request.message
		row.RequestType = "delegation"
	}
	if r.former != nil {
		row.RequestType = "continuation"
	}
	row.Permissions = encoded(r.powers())
	if paths := r.request.Context.Paths; len(paths) > 0 {
		row.URI = event.FileURI(paths[0])
	}
	if r.result.Status.Final() {
		row.Completed = r.finished
		row.Duration = row.Completed.Sub(r.created)
		row.Failure, row.Result = encoded(r.result.Error), encoded(r.result.Result)
		row.FilesModified = encoded(slices.Sorted(maps.Keys(r.touched)))
	}
	return row
}
