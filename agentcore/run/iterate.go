package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

const (
	// maxIterations bounds the passes of one run.
	maxIterations = 100
	// checkTime is how long the check of a pass may take.
	checkTime = 10 * time.Minute
	// maxCheckShown is how much of the check's output the next pass gets, in bytes; the end counts.
	maxCheckShown = 8 << 10
	// maxPassShown is how much of a pass's result the next one gets, in bytes.
	maxPassShown = 8 << 10
	// reasonIterations is that of a run whose passes were used up before the task was done, as in RunResult;
	// reasonStuck of one whose last pass changed nothing although the check fails.
	reasonIterations = "iterations"
	reasonStuck      = "no_progress"
)

// iterPrompt is a prompt that asks for passes: "/iter 5 Make the tests pass."
var iterPrompt = regexp.MustCompile(`^/iter(?:\s+|$)(\S*)\s*((?s:.*))$`)

// ReadIterations takes "/iter N" out of the prompt, and checks the number of passes.
func (q *Request) ReadIterations() error {
	invalid := func(detail, hint string) error {
		return &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
	}
	if parts := iterPrompt.FindStringSubmatch(strings.TrimSpace(q.Prompt)); parts != nil {
		n, err := strconv.Atoi(parts[1])
		if err != nil || n < 1 || parts[2] == "" {
			return invalid("/iter is not followed by a number of passes and a task",
				"write it as in: /iter 5 Make the tests pass.")
		}
		q.Iterations, q.Prompt = n, parts[2]
	}
	switch {
	case q.Iterations < 0 || q.Iterations > maxIterations:
		return invalid(fmt.Sprintf("%d iterations are asked for", q.Iterations),
			fmt.Sprintf("ask for 1 to %d", maxIterations))
	case q.Until != "" && !q.iterates():
		return invalid("there is a check, but only one pass",
			"say how often the task may be repeated until the check succeeds")
	}
	return nil
}

func (q *Request) iterates() bool { return q.Iterations > 1 }

// reports reports whether the run hands its result to the run that started it.
func (r *spec) reports() bool { return r.task != nil || r.request.pass > 0 }

// passEnd is what came of one pass.
type passEnd struct {
	result  event.RunResult
	changed []string // files, from the workspace folder
	checked *checkEnd
}

// checkEnd is what came of the check.
type checkEnd struct {
	passed bool
	output string
}

// finished reports whether the pass ended by itself, and says that the whole task is done.
func (p passEnd) finished() bool {
	return p.result.Outcome == event.ChildStatusCompleted
}

// iterate has fresh children do the task one after the other, until it is done.
func (r *Run) iterate() error {
	r.tasks.inbox.shut()                               // it has no turns
	if r.request.Until != "" && !r.session.Trusted() { // before a pass is paid for
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
		r.progress(fmt.Sprintf("pass %d of %d", i, n), (i-1)*100/n)
		end, err := r.pass(i, ends)
		if err != nil {
			return err
		}
		ends = append(ends, end)
		verdict = judgePass(ends)
		if (verdict != "" || i == n) && !r.passes.end(i == n || end.result.Status == event.StatusCancelled) {
			verdict = "" // what was said last has still to be heard
		}
		r.lastText = r.request.passesText(ends, verdict)
	}
	reason := ""
	switch last := ends[len(ends)-1]; {
	case last.checked != nil && last.checked.passed, last.checked == nil && last.finished() && verdict != "":
	case verdict == "":
		reason = reasonIterations
		r.notice(event.NoticeWarning, fmt.Sprintf("%s used up its %d passes, and the task may not be done",
			r.definition.Slug, n), "look at what the last pass says is left, and run it again")
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

// judgePass says why no other pass is needed, or would help; empty where one is.
func judgePass(ends []passEnd) string {
	last := ends[len(ends)-1]
	before := passEnd{}
	if len(ends) > 1 {
		before = ends[len(ends)-2]
	}
	switch {
	case last.result.Status == event.StatusCancelled:
		return "the pass was cancelled"
	case last.checked != nil && last.checked.passed:
		return "the check succeeded"
	case last.result.Status != event.StatusCompleted:
		if len(ends) > 1 && before.result.Status != event.StatusCompleted {
			return "two passes in a row failed"
		}
		return ""
	case len(last.changed) > 0:
		return ""
	case last.checked == nil && last.finished():
		return "the pass says that the task is done, and had nothing to change"
	case last.checked != nil && before.checked != nil:
		return "the pass changed nothing, although it knew what the check says"
	}
	return ""
}

// pass runs the task once, and the check behind it. The error is that of the run's context, or says why there can be no
// pass.
func (r *Run) pass(i int, before []passEnd) (passEnd, error) {
	limits := r.request.Limits
	own := r.definition.LimitsAt(r.depth) // a pass stands for the run, and is no helper of it
	limits.MaxTurns = cmp.Or(limits.MaxTurns, r.limits.MaxTurns)
	limits.Timeout = cmp.Or(limits.Timeout, own.Timeout, r.config.DefaultTimeout)
	said := r.passes.recall()
	child, err := New(r.process, r.session, r, Request{
		Agent: r.definition.Slug, Prompt: r.request.Prompt + r.request.passText(i, before, said), Model: r.request.Model,
		Limits:         limits,
		PermissionMode: r.request.PermissionMode, Context: r.request.Context, pass: i,
		Title: fmt.Sprintf("%s (pass %d of %d)", r.request.Title, i, r.request.Iterations),
	})
	if err == nil {
		_, err = child.Launch()
	}
	if err != nil {
		return passEnd{}, fmt.Errorf("start pass %d: %w", i, err)
	}
	r.passes.watch(child)
	err = r.awaits(r.ctx, child)
	r.passes.watch(nil)
	if err != nil {
		return passEnd{}, err
	}
	end := passEnd{result: child.Snapshot()}
	for path := range child.touched {
		end.changed = append(end.changed, r.session.View.Shown(path))
	}
	slices.Sort(end.changed)
	r.mergeLayer() // so that its edits show
	if r.request.Until != "" && end.result.Status != event.StatusCancelled {
		r.progress(fmt.Sprintf("pass %d of %d: checks by %s", i, r.request.Iterations, clip.FirstLine(r.request.Until)),
			0)
		if end.checked, err = r.check(); err != nil {
			return end, err
		}
		r.mergeLayer()
	}
	return end, nil
}

// passText tells a pass its place, and what the last one leaves.
func (q *Request) passText(i int, before []passEnd, said []string) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"\n\n<pass>\nThis is pass %d of at most %d at this task, each by an agent that starts afresh; you see the "+
			"edits of those before. ", i, q.Iterations)
	if q.Until != "" {
		fmt.Fprintf(&b, "The task is done when this command succeeds, which is run after you: %s\n", q.Until)
	} else {
		b.WriteString(
			"Look at what there is before you change anything. Passes end when one has nothing to change any more.\n")
	}
	b.WriteString("End with submit_result; its status says whether the whole task is done, its details what is left.\n")
	if len(before) > 0 {
		last := before[len(before)-1]
		fmt.Fprintf(&b, "\nThe last pass (%s):\n%s\n", last.line(), cutEnd(last.result.Output, maxPassShown))
		if last.checked != nil {
			fmt.Fprintf(&b, "\nAfter it, the command failed:\n%s\n", last.checked.output)
		}
	}
	b.WriteString(meanwhile(said) + "</pass>")
	return b.String()
}

// line is what came of a pass, in a line.
func (p passEnd) line() string {
	line := string(p.result.Status)
	switch child := p.result.Result; {
	case p.result.Status != event.StatusCompleted:
		if p.result.Error != nil {
			line += ": " + p.result.Error.Detail
		}
	case p.result.Reason != "":
		line = "cut short: " + p.result.Reason
	case child != nil && child.Status != event.ChildStatusCompleted:
		line = "says: " + string(child.Status)
	}
	if len(p.changed) == 0 {
		line += "; nothing changed"
	} else {
		line += "; changed " + strings.Join(p.changed, ", ")
	}
	switch {
	case p.checked == nil:
	case p.checked.passed:
		line += "; the check succeeded"
	default:
		line += "; the check failed"
	}
	return line
}

// passesText lists the passes: the run's result so far.
func (q *Request) passesText(ends []passEnd, verdict string) string {
	var b strings.Builder
	for i, end := range ends {
		fmt.Fprintf(&b, "## Pass %d of %d: %s\n\n%s\n\n", i+1, q.Iterations, end.line(),
			cmp.Or(strings.TrimSpace(end.result.Output), "(it said nothing)"))
	}
	switch {
	case verdict != "":
		fmt.Fprintf(&b, "Ended after pass %d: %s.\n", len(ends), verdict)
	case len(ends) == q.Iterations:
		fmt.Fprintf(&b, "Ended: all %d passes are used up.\n", len(ends))
	}
	if last := ends[len(ends)-1]; last.checked != nil && !last.checked.passed {
		fmt.Fprintf(&b, "\nThe check said last:\n\n```\n%s\n```\n", last.checked.output)
	}
	return b.String()
}

// check runs the command that says whether the task is done, as a call of the run: with its rights, in its sandbox, on
// what it proposes.
func (r *Run) check() (*checkEnd, error) {
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
	var result *tool.CommandResult // nil where it did not run
	id := event.NewCallID()
	made := r.execute(&call{
		id: id, asked: model.Call{ID: "check-" + string(id), Name: "bash", Arguments: arguments}, tool: bash,
		spec:  bash.Spec(),
		title: "check: " + clip.FirstLine(r.request.Until), arguments: arguments,
		access: &tool.Access{Command: r.request.Until},
		do: func(ctx context.Context, host tool.Host) (tool.Result, error) {
			// as bash does, but that the whole result is kept
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

// endOfCheck is what a check showed by its command.
func endOfCheck(result *tool.CommandResult) *checkEnd {
	end := &checkEnd{
		passed: result.Exit == 0 && result.Signal == "" && !result.TimedOut,
		output: cutBegin(strings.TrimSpace(result.Output), maxCheckShown),
	}
	switch {
	case result.TimedOut:
		end.output += fmt.Sprintf("\n(it was ended after %s)", checkTime)
	case result.Signal != "":
		end.output += "\n(it was ended by " + result.Signal + ")"
	case !end.passed:
		end.output += fmt.Sprintf("\n(exit code %d)", result.Exit)
	}
	return end
}

// cutEnd and cutBegin keep so many bytes of a text, and say that there was more.
func cutEnd(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "\n…"
}

func cutBegin(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return "…\n" + strings.ToValidUTF8(text[len(text)-limit:], "")
}
