package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
)

// newHooks collects the hooks of a run. Faults in a hook were reported when its file was loaded. A guard whose matcher
// cannot be read guards all calls.
func (r *spec) newHooks() *hooks {
	h := &hooks{
		turn: make(chan struct{}, 1), told: map[*lifecycleHook][]string{}, outlet: r.outlet,
	}
	add := func(of lifecycleHook, matcher string) {
		var err error
		if of.matcher, err = hook.ParseMatcher(matcher); err != nil && of.event != hook.PreToolUse {
			return
		}
		of.timeout = cmp.Or(of.timeout, hookTimeout)
		of.name = fmt.Sprintf("%s hook `%s`", of.event, clip.FirstLine(permission.Visible(hook.Title(of.command))))
		h.list = append(h.list, &of)
	}
	for _, name := range hook.Events() {
		for _, c := range r.config.Hooks[name] {
			add(lifecycleHook{
				event: hook.Event(name), command: c.Command, timeout: c.Timeout,
				project: c.Origin.Layer == config.LayerProject, dir: c.Origin.Folder(),
			}, c.Matcher)
		}
	}
	seen := map[*agent.Definition]bool{}
	for _, d := range append(r.definitionsAbove(), r.definition) {
		if seen[d] {
			continue
		}
		seen[d] = true
		for _, defined := range d.Hooks {
			of := lifecycleHook{
				event: hook.Event(defined.Event), command: defined.Command, timeout: defined.Timeout,
				project: d.Source.Layer == agent.LayerProject, own: true,
			}
			if of.event == hook.Stop && r.parent != nil {
				of.event = hook.SubagentStop
			}
			if d == r.definition || of.event == hook.PreToolUse {
				add(of, defined.Matcher)
			}
		}
	}
	return h
}

// definitionsAbove are the definitions of the agents that the run works for, the outermost first: of the runs above it,
// and of those above a former run that one of these goes on with.
func (r *spec) definitionsAbove() []*agent.Definition {
	var list []*agent.Definition
	if r.parent != nil {
		list = append(r.parent.definitionsAbove(), r.parent.definition)
	}
	if r.former != nil {
		for _, a := range r.former.Above {
			list = append(list, a.Definition)
		}
	}
	return list
}

// commonInput is the part of the input that is the same for all events.
func commonInput(r *Run) hook.Input {
	in := hook.Input{
		Session: string(r.session.ID), Cwd: authority.Home(r.session.View),
		PermissionMode: string(r.gate.rights.Policy.Mode()), Agent: r.definition.Slug, Run: string(r.id),
		Depth: r.depth,
		Model: r.model.Name(),
	}
	if r.parent != nil {
		in.Parent = string(r.parent.id)
	}
	return in
}

// startHooks runs the hooks of the run's start. An error ends the run: it is that of the run's context, or says that a
// hook rejects the run.
func (r *Run) startHooks() error {
	e := hook.SubagentStart
	if r.parent == nil {
		e = hook.SessionStart
	}
	input := r.hooks.input(e)
	input.Prompt = r.request.words()
	var outcome hook.Outcome
	var err error
	switch {
	case r.parent != nil:
		outcome, err = r.hooks.fire(r.ctx,
			r.hooks.pick(e, append([]string{r.definition.Slug}, r.definition.Aliases...)...), input)
		if len(r.parent.request.Each) > 0 {
			// A run for one of several files has the prompt of the user, so that it hears what the hooks said of that.
			outcome.Context = strings.TrimLeft(r.parent.hooks.context+"\n"+outcome.Context, "\n")
		}
	case r.former != nil:
		// What hooks said to the former run may be long ago.
		input.Source = "resume"
		outcome, err = r.hooks.fire(r.ctx, r.hooks.pick(e, input.Source), input)
	default:
		input.Source = "startup"
		outcome, err = r.session.starts.run(r.ctx, r.definition.Slug, r.hooks.pick(e, input.Source),
			func(list []*lifecycleHook) (hook.Outcome, error) { return r.hooks.fire(r.ctx, list, input) })
	}
	switch {
	case err != nil:
		return err
	case outcome.Block:
		return &fault.Error{
			Kind:   fault.Rejected,
			Detail: fmt.Sprintf("a %s hook rejects the run: %s", e, outcome.Reason),
			Hint:   "do what the hook asks for, or change the hook",
		}
	}
	r.hooks.context = outcome.Context
	return nil
}

// goOn runs the hooks of the run's end. It reports true where one of them wants the run to go on, and puts the reason
// into the conversation as the next message. limit is what ended the run; a run that a limit ended does not go on,
// whatever hooks want. The error is that of the run's context.
func (r *Run) goOn(limit string) (bool, error) {
	e, spellings := hook.SubagentStop, append([]string{r.definition.Slug}, r.definition.Aliases...)
	if r.parent == nil {
		e = hook.Stop
	}
	list := r.hooks.pick(e, spellings...)
	if len(list) == 0 {
		return false, nil
	}
	input := r.hooks.input(e)
	active := r.hooks.kept > 0
	input.StopActive, input.LastMessage, input.Reason = &active, r.lastText, limit
	if r.handedOver() {
		input.LastMessage = r.Snapshot().Output
	}
	if e == hook.SubagentStop {
		input.Result = r.stopResult(input.LastMessage, limit)
	}
	outcome, err := r.hooks.fire(r.ctx, list, input)
	if err != nil || !outcome.Block {
		return false, err
	}
	switch {
	case limit != "":
		r.notice(event.NoticeWarning, fmt.Sprintf("a %s hook wants %s to go on, but it has reached its limit (%s): %s",
			e, r.definition.Slug, limit, clip.FirstLine(permission.Visible(outcome.Reason))),
			"start it again with a larger limit, or a smaller task")
		return false, nil
	case r.hooks.kept >= maxGoOn:
		r.notice(event.NoticeWarning,
			fmt.Sprintf("a %s hook has kept %s from ending %d times, and was not asked again: %s", e, r.definition.Slug,
				r.hooks.kept, clip.FirstLine(permission.Visible(outcome.Reason))),
			"look at what it wants; its input says stop_hook_active once it has kept a run from ending")
		return false, nil
	}
	r.hooks.kept++
	r.mu.Lock()
	r.submitted = nil // the run hands over again
	r.mu.Unlock()
	r.append(model.UserText(marked(e, "You are not done yet. A hook of the user says: "+outcome.Reason) +
		joined(outcome.Context)))
	return true, nil
}

// stopResult is what a child would hand over if it ended now with its last word. limit is what ended it, empty for
// nothing.
func (r *Run) stopResult(output, limit string) *hook.Result {
	if !r.reports() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.result // the run's end is not decided yet
	r.result.Status, r.result.Reason, r.result.Output = event.StatusCompleted, limit, output
	r.result.DurationMs = time.Since(r.created).Milliseconds()
	result := r.childResult(r.session.View, r.touched)
	r.result = kept
	list := func(names []string) []string { return append([]string{}, names...) }
	return &hook.Result{
		Agent: string(r.id), Status: string(result.Status), Summary: result.Summary, Content: output,
		FilesModified: list(result.FilesModified), FilesCreated: list(result.FilesCreated),
		TestsRun: result.TestsRun, TestsPassed: result.TestsPassed,
		Warnings: list(result.Warnings), Suggestions: list(result.Suggestions),
		Iterations: result.Iterations, DurationMs: result.DurationMs, Tokens: result.Tokens, Cost: result.Cost,
	}
}
