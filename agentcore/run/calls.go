package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxReading is how many calls that only read may run at the same time.
const maxReading = 16

// makeCalls executes the calls of one turn and returns their results in the order of the calls: calls that
// read or delegate run beside each other, the others one after the other.
func (r *loop) makeCalls(asked []model.Call) ([]model.Part, error) {
	calls := make([]*call, len(asked))
	for i, a := range asked {
		calls[i] = r.recognize(a)
	}
	r.mu.Lock()
	before := len(r.result.ToolCalls)
	r.mu.Unlock()
	results := make([]model.Part, len(calls))
	var group beside.Group
	done := func(n int) { // children that are started from now on may be told these results
		r.mu.Lock()
		r.carriedOut = results[:n:n]
		r.mu.Unlock()
	}
	done(0)
	places := make(chan struct{}, maxReading)
	var last *line
	for i, c := range calls {
		switch {
		case c.refusal == "" && !c.spec.Effect.Parallel():
			group.Wait() // calls that came before a change must not see the change
			results[i] = r.execute(c)
			done(i + 1)
			continue
		case c.spec.Effect == tool.Delegates: // children have their own queue
			if c.refusal == "" && c.spec.Needs == tool.Subagents {
				last = last.behind(r.session.Slots.Reserve())
				c.line = last
			}
			group.Go(func() {
				defer c.line.leave()
				results[i] = r.execute(c)
			})
			continue
		}
		places <- struct{}{} // a reading call ends soon after the run's context does
		group.Go(func() {
			defer func() { <-places }()
			results[i] = r.execute(c)
		})
	}
	group.Wait()
	r.listInOrder(calls, before)
	r.instructBelow(calls, results)
	return results, r.ctx.Err()
}

// recognize finds the tool of a call, checks its arguments, and says why a call is refused.
func (r *spec) recognize(asked model.Call) *call {
	c := &call{id: event.NewCallID(), asked: asked, title: asked.Name, arguments: asked.Arguments}
	name := asked.Name
	if canonical, ok := tool.Resolve(name); ok {
		name = canonical
	}
	t := r.tools.Named(name)
	if name == servers.CallTool && t != nil {
		called, arguments, err := servers.Called(t, asked.Arguments)
		if err == nil && (!mcpname.Is(called) || !r.tools.Offers(called) && r.tools.WhyWithheld(called) == "") {
			err = fmt.Errorf("no MCP server has a tool %q; %s finds their names", called, servers.SearchTool)
		}
		if err != nil {
			c.refusal = "error: " + err.Error()
			return c
		}
		// Permissions and hooks are about the tool that the call is for, not about the tool that passes it on.
		name, asked.Arguments = called, arguments
		t, c.title, c.arguments = r.tools.Named(name), name, arguments
	}
	if why := r.tools.WhyWithheld(name); why != "" && !r.tools.Offers(name) {
		decision := permission.Decision{Advice: "go on without " + name}
		if why == toolset.UntrustedCommands {
			decision.Advice = toolset.WithoutCommands
		}
		c.refusal = denied(decision, why)
		return c
	}
	if !r.tools.Offers(name) {
		var known []string
		for _, o := range r.tools.Tools() {
			known = append(known, tool.Brief(o).Name)
		}
		c.refusal = fmt.Sprintf("error: there is no tool %q here%s; the tools are %s", asked.Name,
			r.tools.WhyNoTasks(name),
			strings.Join(known, ", "))
		if near := tool.Nearest(asked.Name); slices.Contains(known, near) {
			c.refusal = fmt.Sprintf("error: there is no tool %q here, did you mean %s? The tools are %s", asked.Name,
				near, strings.Join(known, ", "))
		}
		return c
	}
	c.tool, c.spec = t, tool.Brief(t)
	err := r.guarded("the tool "+name, func() error {
		parsed, err := tool.Parse(t, asked.Arguments, r.definition.ToolOptions[name].Arguments)
		if err != nil {
			c.title = t.Title(asked.Arguments) // Title decodes what can be decoded of the arguments once more
			return err
		}
		c.take(parsed)
		return nil
	})
	if err != nil {
		c.refusal = "error: " + err.Error()
	}
	return c
}

// execute carries out one call: intent, action, outcome.
func (r *Run) execute(c *call) model.Result {
	c.started = time.Now().UTC()
	name := c.asked.Name
	if c.tool != nil {
		name = c.spec.Name
	}
	row := store.ToolCall{
		ID: c.id, Run: r.id, Message: r.memory.last, ModelCall: c.asked.ID, Tool: name, Arguments: c.validArguments(),
		Title:  c.title,
		Effect: c.spec.Effect.String(), Intent: c.started, Started: c.started,
	}
	r.worksOn(r.session.View, c)
	intent := r.tell(store.Batch{ToolCalls: []store.ToolCall{row}},
		event.ToolCallStarted{Call: c.id, Tool: name, Title: c.title}, doing(r, c.title, 0))
	status, text, summary := event.CallError, c.refusal, ""
	switch {
	case r.workContext().Err() != nil:
		status, text, summary = r.cancelled()
	case !unrefused(c.refusal, nil, &status, &text, &summary):
	case !r.hooks.passed(c, &status, &text, &summary):
	case !r.gate.permitted(c, &status, &text, &summary):
	case c.spec.Effect.Outside():
		// A call that acts outside of the workspace may begin only when its intent is stored, so that a crash cannot
		// lose it.
		if err := intent.Wait(r.ctx); err != nil {
			text, summary = "error: the call was not made, because its intent could not be stored: "+err.Error(),
				"not stored"
			break
		}
		r.process.Crash.Reach(crash.Permitted)
		fallthrough
	default:
		announce(r, c)
		status, text, summary = r.perform(c)
		r.process.Crash.Reach(crash.Made)
	}
	if status == event.CallDenied {
		r.noteDenial(c, text)
	}
	finished := time.Now().UTC()
	row.Status, row.Summary, row.Output, row.ExitCode, row.Finished = status, summary, text, c.exit, finished
	took := finished.Sub(c.started).Milliseconds()
	c.made = &event.CallSummary{Name: name, Status: status, DurationMs: took}
	r.mu.Lock()
	r.result.ToolCalls = append(r.result.ToolCalls, *c.made)
	r.mu.Unlock()
	r.stored.With(store.Batch{ToolCalls: []store.ToolCall{row}}, func(batch store.Batch) {
		r.tell(batch, event.ToolCallFinished{
			Call: c.id, Tool: name, Status: status, ExitCode: c.exit, LeftOut: c.leftOut, Summary: summary,
			DurationMs: took,
		})
	})
	text = r.hooks.afterCall(c, status, text, summary)
	return model.Result{ID: c.asked.ID, Name: c.asked.Name, Text: text, Error: status != event.CallOK, Images: c.images}
}

// worksOn notes the file that a call names.
func (r *shared) worksOn(view *workspace.View, c *call) {
	if c.tool == nil || c.refusal != "" {
		return
	}
	for _, name := range c.paths() {
		if path, err := view.Resolve(name); err == nil {
			r.mu.Lock()
			r.onFile = path
			r.mu.Unlock()
			return
		}
	}
}

// announce tells who shows files that a call is about to work on some.
func announce(r *Run, c *call) {
	if r.process.Reading == nil {
		return
	}
	var paths []string
	for _, name := range c.paths() {
		if path, err := r.session.View.Resolve(name); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		r.process.Reading(r.workContext(), r.session.ID, paths)
	}
}

// perform runs the tool itself; a panic in it is the call's error, not the engine's.
func (r *Run) perform(c *call) (status event.CallStatus, text, summary string) {
	var result tool.Result
	err := r.guarded("the tool "+c.spec.Name, func() (err error) {
		result, err = r.runTool(c)
		return err
	})
	switch {
	case err != nil && r.workContext().Err() != nil && errors.Is(err, context.Canceled):
		return r.cancelled()
	case err != nil:
		if refusal, ok := errors.AsType[*deniedError](err); ok {
			return event.CallDenied, refusal.Error(), clip.FirstLine(refusal.why)
		}
		return event.CallError, r.bounded(c, "error: "+err.Error()), faultLine(err.Error())
	}
	c.exit = result.ExitCode
	text = r.bounded(c, result.Text)
	if c.images, err = r.commands.KeepImages(result.Images); err != nil {
		text += fmt.Sprintf("\n(the image is not shown: %v)", err)
	}
	if result.Failed {
		return event.CallError, text, result.Summary
	}
	return event.CallOK, text, result.Summary
}

// cancelled is the outcome of a call that was ended with its run, or so that the run can hand over.
func (r *resources) cancelled() (status event.CallStatus, text, summary string) {
	if r.late() {
		text = "error: the call was ended, since the time of this run is nearly over"
		return event.CallCancelled, text, "ended for the hand-over"
	}
	return event.CallCancelled, "error: the call was cancelled", "cancelled"
}

func restorerOf(r *Run) restorer { return restorer{r.redactor, r.session.View, r.layer} }

// bounded is what a call puts into the conversation.
func (r *Run) bounded(c *call, text string) string {
	own := r.definition.ToolOptions[c.spec.Name].OutputLimit
	return r.commands.Bound(string(c.id), text, own, r.tools.Offers("read"))
}

// runTool runs the tool of a call, for no longer than the agent's definition allows.
func (r *Run) runTool(c *call) (tool.Result, error) {
	limit := r.definition.ToolOptions[c.spec.Name].Timeout
	do := restorerOf(r).with(c)
	if limit <= 0 {
		return do(r.workContext(), newHost(r, c, r.layer))
	}
	ctx, cancel := context.WithTimeout(r.workContext(), limit)
	defer cancel()
	result, err := do(ctx, newHost(r, c, r.layer))
	if err != nil && r.workContext().Err() == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return result, fmt.Errorf("the call took longer than %v, which is what %s allows for %s; ask for less at once",
			limit, r.definition.Slug, c.spec.Name)
	}
	return result, err
}
