package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
)

// passEnd is the outcome of one pass.
type passEnd struct {
	result  event.RunResult
	changed []string // files, from the workspace folder
	checked *checkEnd
}

// checkEnd is the outcome of the check behind a pass.
type checkEnd struct {
	passed bool
	output string
}

// finished reports whether the pass ended by itself and says that the whole task is done.
func (p passEnd) finished() bool {
	return p.result.Outcome == event.ChildStatusCompleted
}

// reached reports whether the check behind the pass succeeded.
func (p passEnd) reached() bool { return p.checked != nil && p.checked.passed }

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
	case last.reached():
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

// passNamed is what a pass is called in the status of the run.
func (q *Request) passNamed(i int) string {
	pass := fmt.Sprintf("pass %d of %d", i, q.Iterations)
	if q.Goal != "" {
		pass = "goal, " + pass
	}
	return pass
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

// line puts the outcome of a pass into one line.
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

// passesText lists the passes. It is the run's result so far.
func (q *Request) passesText(ends []passEnd, verdict string) string {
	var b strings.Builder
	for i, end := range ends {
		fmt.Fprintf(&b, "## Pass %d of %d: %s\n\n%s\n\n", i+1, q.Iterations, end.line(),
			cmp.Or(strings.TrimSpace(end.result.Output), "(it said nothing)"))
	}
	switch {
	case verdict != "":
		if q.Goal != "" && ends[len(ends)-1].reached() {
			verdict = "the goal is reached"
		}
		fmt.Fprintf(&b, "Ended after pass %d: %s.\n", len(ends), verdict)
	case len(ends) == q.Iterations:
		fmt.Fprintf(&b, "Ended: all %d passes are used up.\n", len(ends))
	}
	if last := ends[len(ends)-1]; last.checked != nil && !last.checked.passed {
		fmt.Fprintf(&b, "\nThe check said last:\n\n```\n%s\n```\n", last.checked.output)
	}
	return b.String()
}

// endOfCheck takes the outcome of a check from the result of its command.
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

// cutEnd and cutBegin shorten a text to so many bytes, and say that there was more.
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

// passes keeps what somebody tells an iterated run, which has no turns of its own: the pass under way hears it at once,
// later passes read it in their tasks. It has its own lock.
type passes struct {
	mu    sync.Mutex
	open  bool
	now   *inbox   // the pass under way; nil between two
	said  []string // everything, in order
	heard int      // how many of these a pass has heard
}

// steer tells the pass under way something. It reports false where no other pass can hear it any more.
func (p *passes) steer(from, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		return false
	}
	p.said = append(p.said, said(from, text).text)
	p.pass()
	return true
}

// pass hands the pass under way what was said since, unless that pass has spoken its last word. The lock is held.
func (p *passes) pass() {
	for p.now != nil && p.heard < len(p.said) && p.now.put(message{text: p.said[p.heard]}) {
		p.heard++
	}
}

// begin lets messages in.
func (p *passes) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = true
}

// recall returns what was said so far, for the task of the next pass.
func (p *passes) recall() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = len(p.said)
	return slices.Clone(p.said)
}

// watch makes the run with this inbox the pass under way; nil means that none is.
func (p *passes) watch(pass *inbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = pass
	p.pass()
}

// end closes for messages and reports true, unless there are messages that no pass has heard and last is false: then
// another pass is needed, and it reports false.
func (p *passes) end(last bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.heard < len(p.said) && !last {
		return false
	}
	p.open = false
	return true
}

// meanwhile is what was said to the passes before, as a part of the next one's task.
func meanwhile(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return "\nWhat was said to the passes before, and holds for this one, too:\n" + strings.Join(said, "\n") + "\n"
}

const (
	// maxIterations bounds the passes of one run.
	maxIterations = 100
	// goalIterations is how many there are for a goal, where nobody says.
	goalIterations = 10
	// checkTime is how long the check of a pass may take.
	checkTime = 10 * time.Minute
	// maxCheckShown is how much of the check's output the next pass is shown, in bytes: its end.
	maxCheckShown = 8 << 10
	// maxPassShown is how much of a pass's result the next pass is shown, in bytes.
	maxPassShown = 8 << 10
	// reasonIterations is the reason, as in RunResult, of a run that used up its passes before the task was done,
	// reasonStuck that of a run whose last pass changed nothing although the check fails.
	reasonIterations = "iterations"
	reasonStuck      = "no_progress"
)
