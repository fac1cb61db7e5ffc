package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// Delegate starts a child for a task. It waits for the child's end unless the child runs in the background.
func (h hostDelegation) Delegate(ctx context.Context, task tool.Task) (tool.TaskState, error) {
	child, err := h.delegate(ctx, task)
	if err != nil {
		return tool.TaskState{}, err
	}
	if task.Background {
		return child.taskState(), nil
	}
	if err := h.run.tasks.awaits(ctx, child); err != nil {
		if !h.run.late() {
			return tool.TaskState{}, err
		}
		child.cancel(errTimeout) // the time was that of the run, which now hands over what the child has done
		<-child.done
	}
	return child.taskState(), nil
}

// delegate starts a child, whose goroutine ends with the run's context at the latest.
func (h hostDelegation) delegate(ctx context.Context, task tool.Task) (*Run, error) {
	r := h.run
	definition, err := h.startable(task.Agent)
	if err != nil {
		return nil, err
	}
	for above := r; above != nil; above = above.parent {
		if above.definition.Slug == definition.Slug &&
			strings.TrimSpace(above.request.words()) == strings.TrimSpace(task.Prompt) {
			return nil, fmt.Errorf("this is the very task that %s was given; do it yourself, or hand on a part of it",
				above.pathOfAgents())
		}
	}
	request, err := h.requestOf(ctx, task, definition)
	if err != nil {
		return nil, err
	}
	child, err := r.child(request)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", definition.Slug, r.modelRefused(task.Model, err))
	}
	if err := h.askForTools(ctx, child); err != nil {
		child.cancel(err)
		return nil, err
	}
	if err := h.call.line.wait(ctx); err != nil {
		child.cancel(err)
		return nil, fmt.Errorf("start %s: %w", definition.Slug, err)
	}
	if task.Background {
		if child.output, err = r.process.Outputs.promise(child.id); err != nil {
			child.cancel(err)
			return nil, fmt.Errorf("start %s: %w", definition.Slug, err)
		}
		r.commands.Attach(child.output)
		r.tasks.inbox.owe()
	}
	if _, err := child.launch(); err != nil {
		return nil, fmt.Errorf("start %s: %w", definition.Slug, err)
	}
	h.call.line.started()
	r.tasks.add(child)
	return child, nil
}

// requestOf is what a task asks of the agent that takes it.
func (h hostDelegation) requestOf(ctx context.Context, task tool.Task,
	definition *agent.Definition,
) (request Request, err error) {
	r := h.run
	request = Request{
		Agent: definition.Slug, Prompt: task.Prompt, Title: clip.FirstLine(task.Title), Model: task.Model,
		Effort: r.request.Effort, Limits: agent.Limits{MaxTurns: task.MaxTurns},
		origin: origin{
			task: &task, at: h.call.line.place(),
			call: h.call.id, message: r.memory.last, // the run waits for its calls, and adds nothing meanwhile
		},
	}
	if limit := cmp.Or(definition.LimitsAt(r.depth+1).MaxTurns, r.config.DefaultMaxTurns); task.MaxTurns > limit {
		request.Limits.MaxTurns = limit
		request.bounded = fmt.Sprintf("%s takes at most %s, not the %d that you asked for",
			definition.Slug, clip.Counted(limit, "turn", "turns"), task.MaxTurns)
	}
	if request.Context.Paths, err = h.contextFiles(task.ContextFiles); err != nil {
		return request, err
	}
	if request.granted, err = r.tools.More(definition, task.AllowedTools); err != nil {
		return request, err
	}
	if task.Resume == "" { // a child that goes on has a conversation already
		if request.inherited, err = h.inherit(ctx, definition.ContextMode, h.call.line); err != nil {
			return request, err
		}
	} else {
		if request.former, err = h.formerTask(ctx, task.Resume, definition); err != nil {
			return request, err
		}
	}
	return request, nil
}

// startable returns the agent that answers to a name, if the run may start it.
func (h hostDelegation) startable(name string) (*agent.Definition, error) {
	r := h.run
	d, err := toolset.FindChild(r.process.Agents(), name)
	if err != nil || !r.tools.Starts(d) {
		slugs := r.tools.Subagents()
		return nil, fmt.Errorf("you cannot start the agent %q (you can start %s): %s",
			name, strings.Join(slugs, ", "), r.tools.WhyNotStarted(name, d, err))
	}
	return d, nil
}

// formerTask is a task of the session that has ended and is to go on.
func (h hostDelegation) formerTask(ctx context.Context, id event.RunID, definition *agent.Definition) (*Former, error) {
	r := h.run
	f, err := r.process.Former(ctx, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("resume: %w", err)
	case f.Agent != definition.Slug:
		return nil, fmt.Errorf("resume: the task %s was of %s, not of %s", id, f.Agent, definition.Slug)
	case len(f.Above) == 0:
		return nil, fmt.Errorf("resume: the run %s was the user's, not a task", id)
	case f.Chain != r.Chain() && (f.Session != r.session.ID || f.starter() != r.definition.Slug):
		return nil, fmt.Errorf("resume: the task %s is not one that %s started in this session", id, r.definition.Slug)
	}
	return f, nil
}

// contextFiles finds the files that a task is about, as the run sees them.
func (h hostDelegation) contextFiles(names []string) ([]string, error) {
	r := h.run
	var paths []string
	for _, name := range names {
		path, err := r.session.View.Resolve(name)
		if err == nil {
			_, err = r.layer.Fork().Read(path) // the run itself has not read it
		}
		if err != nil {
			return nil, fmt.Errorf("context_files: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// askForTools asks the user for tools that the child's definition does not have. It does not ask for tools that the
// child could not use anyway. The child may do with them what the run itself may; where the run would have to ask the
// user, the child has to as well. The error is for the model (a deniedError where the answer is no), or that of ctx.
func (h hostDelegation) askForTools(ctx context.Context, child *Run) error {
	names, slug := child.request.granted, child.definition.Slug
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		usable := child.tools.Offers(name)
		if mcpname.Is(name) { // the tools of MCP servers are known only once the child runs
			usable = child.tools.MayUse(name) && !child.tools.KeepsBack(tool.Spec{Name: name, Effect: tool.Acts})
		}
		if !usable {
			return fmt.Errorf(
				"allowed_tools: %s cannot use %s here, whoever allows it: its kind of run does not have it, "+
					"or all calls of it would be denied; leave it out", slug, name)
		}
	}
	tools := strings.Join(names, ", ")
	lacks := permission.Decision{Reason: fmt.Sprintf("the definition of %s does not have %s", slug, tools)}
	answer, err := h.run.questions.askUser(h.call, lacks, slug+" with "+tools+" beside its own tools")
	switch {
	case err != nil:
		return err
	case !answer.Allow:
		why := cmp.Or(answer.Reason, "the user said no")
		return &deniedError{fmt.Sprintf("allowed_tools: %s does not get %s: %s", slug, tools, why), "leave them out"}
	}
	return ctx.Err()
}

// modelRefused is what the model is told of a child that did not start. Where that is because of the model that was
// asked for by name ("" for none), or that of the agent's definition, it says which models may be named instead.
func (r *spec) modelRefused(name string, err error) error {
	failed, known := errors.AsType[*fault.Error](err)
	if !known || !slices.Contains([]fault.Kind{fault.UnknownProvider, fault.UnknownModel, fault.NoKey, fault.NoModel},
		failed.Kind) {
		return err
	}
	others := strings.Join(provider.Writable(r.process.Context, r.config, r.process.Surroundings()), ", ")
	if others != "" {
		others += " or "
	}
	if name == "" {
		return fmt.Errorf("%s; give the call a model: inherit for yours, or %s%s; or choose another agent",
			failed.Detail, others, provider.Offline)
	}
	return fmt.Errorf("model: %s; write %s%s, or leave it out", failed.Detail, others, provider.Offline)
}

// DescribeAgent tells all that the run may know of an agent that it can start.
func (h hostDelegation) DescribeAgent(name string) (string, error) {
	d, err := h.startable(name)
	if err != nil {
		return "", err
	}
	return h.run.tools.Describe(d), nil
}
