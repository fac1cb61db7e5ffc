package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// iteration is the engine of a run that does its task several times.
type iteration struct{ *Run }

// carry has new children do the task, one after the other, until it is done.
func (r iteration) carry() error {
	r.tasks.inbox.shut()                               // it has no turns
	if r.request.Until != "" && !r.session.Trusted() { // checked before a pass is paid for
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: "the check " + r.request.Until + " cannot be made: " +
				toolset.UntrustedCommands,
			Hint: "trust the folder by `agentls trust` or in the editor's own way, or leave the check out",
		}
	}
	r.passes.begin()
	defer r.passes.end(true)
	var ends []passEnd
	n, verdict := r.request.Iterations, ""
	for i := 1; i <= n && verdict == ""; i++ {
		r.progress(r.request.passNamed(i), (i-1)*100/n)
		end, err := r.pass(i, ends)
		if err != nil {
			return err
		}
		ends = append(ends, end)
		verdict = judgePass(ends)
		if (verdict != "" || i == n) && !r.passes.end(i == n || end.result.Status == event.StatusCancelled) {
			verdict = "" // a pass has still to hear what was said last
		}
		r.lastText = r.request.passesText(ends, verdict)
	}
	reason := ""
	switch last := ends[len(ends)-1]; {
	case last.reached(), last.checked == nil && last.finished() && verdict != "":
	case verdict == "":
		reason = reasonIterations
		left := "the task may not be done"
		if r.request.Goal != "" {
			left = "the goal " + clip.FirstLine(r.request.Goal) + " is not reached"
		}
		r.notice(event.NoticeWarning, fmt.Sprintf("%s used up its %d passes, and %s", r.definition.Slug, n, left),
			"look at what the last pass says is left, and run it again")
	case last.result.Status != event.StatusCompleted:
		failure := &fault.Error{
			Kind: fault.ChildrenFailed, Detail: verdict,
			Hint: "look at its result, and run it again",
		}
		if last.result.Error != nil {
			failure.Detail += ": " + last.result.Error.Detail
		}
		return failure
	default:
		reason = reasonStuck
		r.notice(event.NoticeWarning, fmt.Sprintf("%s was ended: %s", r.definition.Slug, verdict),
			"look at what the check says, and run it again with more to go by")
	}
	if _, err := r.goOn("its passes have ended"); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Reason = reason
	return nil
}

// pass runs the task once, and then the check. The error is that of the run's context, or says why there can be no
// pass.
func (r iteration) pass(i int, before []passEnd) (passEnd, error) {
	limits := r.request.Limits
	own := r.definition.LimitsAt(r.depth) // a pass stands for the run itself, and is not limited as a helper
	limits.MaxTurns = cmp.Or(limits.MaxTurns, r.limits.MaxTurns)
	limits.Timeout = cmp.Or(limits.Timeout, own.Timeout, r.config.DefaultTimeout)
	said := r.passes.recall()
	child, err := r.child(Request{
		Agent: r.definition.Slug, Prompt: r.request.words() + r.request.passText(i, before, said),
		Commands: r.request.Commands, Only: r.request.Only,
		Model:          r.request.Model,
		Effort:         r.request.Effort,
		Limits:         limits,
		PermissionMode: r.request.PermissionMode, Context: r.request.Context, origin: origin{pass: i},
		Attachments: r.request.Attachments,
		Title:       fmt.Sprintf("%s (pass %d of %d)", r.request.Title, i, r.request.Iterations),
	})
	if err == nil {
		_, err = child.launch()
	}
	if err != nil {
		return passEnd{}, fmt.Errorf("start pass %d: %w", i, err)
	}
	r.passes.watch(child.tasks.inbox)
	err = r.tasks.awaits(r.ctx, child)
	r.passes.watch(nil)
	if err != nil {
		return passEnd{}, err
	}
	end := passEnd{result: child.Snapshot()}
	for path := range child.touched {
		end.changed = append(end.changed, r.session.View.Shown(path))
	}
	slices.Sort(end.changed)
	r.mergeLayer() // so that the user sees the edits of the pass
	if r.request.Until != "" && end.result.Status != event.StatusCancelled {
		r.progress(r.request.passNamed(i)+": checks by "+clip.FirstLine(r.request.Until), 0)
		if end.checked, err = r.check(); err != nil {
			return end, err
		}
		r.mergeLayer()
	}
	return end, nil
}

// check runs the command that says whether the task is done. It is a call of the run: with the run's rights, in its
// sandbox, on the files as the run proposes them.
func (r iteration) check() (*checkEnd, error) {
	bash := r.process.Tools["bash"]
	if bash == nil {
		return nil, &fault.Error{
			Kind: fault.NotAllowed, Detail: "there are no commands here, and so no check",
			Hint: "leave the check out",
		}
	}
	arguments, err := json.Marshal(struct {
		Command string `json:"command"`
	}{r.request.Until})
	if err != nil {
		return nil, fmt.Errorf("put the check into a call: %w", err)
	}
	var result *tool.CommandResult // nil where the command did not run
	id := event.NewCallID()
	made := r.execute(&call{
		id: id, asked: model.Call{ID: "check-" + string(id), Name: "bash", Arguments: arguments}, tool: bash,
		spec:  tool.Brief(bash),
		title: "check: " + clip.FirstLine(r.request.Until), arguments: arguments,
		access: &tool.Access{Command: r.request.Until},
		do: func(ctx context.Context, host tool.Host) (tool.Result, error) {
			// as the tool bash does, but with the whole result kept
			ran, err := host.RunCommand(ctx, tool.Command{
				Script: r.request.Until, Why: "made by the check",
				Timeout: checkTime,
			})
			if err != nil {
				return tool.Result{}, err
			}
			result = &ran
			return tool.Result{
				Text: ran.Output, Summary: fmt.Sprintf("exit code %d", ran.Exit),
				ExitCode: &ran.Exit,
			}, nil
		},
	})
	switch {
	case r.ctx.Err() != nil:
		return nil, r.ctx.Err()
	case result == nil:
		return nil, &fault.Error{
			Kind: fault.NotAllowed, Detail: "the check could not be made: " + made.Text,
			Hint: "allow the command, or leave the check out",
		}
	}
	end := endOfCheck(result)
	end.output = r.redactor.Text(strings.TrimSpace(end.output))
	return end, nil
}
