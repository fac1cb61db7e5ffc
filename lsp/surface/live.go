package surface

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/short"
)

// liveRuns are the runs under way, and the ended ones below them, as their events describe them. Only the pump changes
// them; any goroutine may read. It has its own lock.
type liveRuns struct {
	mu    sync.Mutex
	runs  map[event.RunID]*liveRun
	roots []*liveRun // the oldest first
}

// liveRun is what is shown of a run. The fields above children are fixed when the run begins; the board's lock guards
// the others.
type liveRun struct {
	id     event.RunID
	parent *liveRun // nil for a root, and where the parent is not known
	depth  int
	// path names the run by its agent and those above it: "coder ▸ explore".
	path                        string
	agent, title, model, prompt string
	// launched is the document on which the run was launched, "" for none.
	launched string
	// line is the run's line in that document, 0-based. mark follows the line; it is nil for the document as a whole.
	line int
	mark *workspace.Mark

	children   []*liveRun // the oldest first
	status     event.Status
	reason     string // what the run waits for
	message    string // what the run does
	activities []string
	turn       int
	usage      event.Usage
	percent    uint32
	working    string    // the file that the run works on
	begun      time.Time // when its work began; zero while it is in the queue
	// result is the run's result, once it has ended.
	result event.RunResult
}

// maxTitle bounds how much of a run's title is shown, in characters.
const maxTitle = 60

const (
	// maxSaid bounds how much of an answer is shown, in characters.
	maxSaid = 160
	// maxFiles is how many changed files of a run are named.
	maxFiles = 3
)

// begin adds a run. It calls pathOf for the path of a parent that it does not know.
func (b *liveRuns) begin(id event.RunID, created event.RunCreated, pathOf func(event.RunID) string) *liveRun {
	r := &liveRun{
		id: id, depth: created.Depth, path: created.Agent, agent: created.Agent,
		title: short.Beginning(permission.Visible(created.Title), maxTitle), model: created.Model,
		prompt: created.Prompt, status: event.StatusPending, message: "starts",
	}
	if created.URI != "" {
		r.launched = event.FilePath(created.URI)
	}
	b.mu.Lock()
	r.parent = b.runs[created.Parent]
	b.mu.Unlock()
	switch {
	case r.parent != nil:
		r.path = r.parent.path + " ▸ " + r.path
	case created.Parent != "":
		r.path = pathOf(created.Parent) + " ▸ " + r.path
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs == nil {
		b.runs = map[event.RunID]*liveRun{}
	}
	b.runs[id] = r
	if r.parent != nil {
		r.parent.children = append(r.parent.children, r)
	} else {
		b.roots = append(b.roots, r)
	}
	return r
}

// titled is the title of the run's progress.
func (r *liveRun) titled() string { return r.path + ": " + r.title }

// change changes a run, and reports whether there is a run with that id.
func (b *liveRuns) change(id event.RunID, change func(*liveRun)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[id]
	if r == nil {
		return false
	}
	change(r)
	return true
}

// get returns a run under way, or one that has ended below one; nil for any other.
func (b *liveRuns) get(id event.RunID) *liveRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[id]
}

// report notes how far a run is.
func (b *liveRuns) report(id event.RunID, p event.RunProgress, working string) {
	b.change(id, func(r *liveRun) {
		r.message, r.turn, r.usage = permission.Visible(p.Message), p.Turn, p.Usage
		r.percent = max(r.percent, uint32(min(max(p.BudgetUsed, 0), 100)))
		r.working = working
		r.activities = r.activities[:0]
		for _, a := range p.Activities {
			r.activities = append(r.activities, permission.Visible(a))
		}
	})
}

// turnTo notes a change of a run's status.
func (b *liveRuns) turnTo(id event.RunID, change event.RunStatusChanged, at time.Time) {
	b.change(id, func(r *liveRun) {
		r.status, r.reason = change.Status, permission.Visible(change.Reason)
		if change.Status == event.StatusRunning && r.begun.IsZero() {
			r.begun = at
		}
	})
}

// end notes the end of a run. With a root, everything below it is forgotten. Runs that end below others stay, since
// they are a part of what is told about these.
func (b *liveRuns) end(id event.RunID, f event.RunFinished) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[id]
	if r == nil {
		return
	}
	r.status, r.reason, r.usage, r.result, r.turn = f.Status, f.Reason, f.Usage, f.Result, max(r.turn, f.Result.Turns)
	if r.parent == nil {
		b.forget(r)
		b.roots = slices.DeleteFunc(b.roots, func(other *liveRun) bool { return other == r })
	}
}

func (b *liveRuns) forget(r *liveRun) {
	delete(b.runs, r.id)
	if r.mark != nil {
		r.mark.Release()
	}
	for _, child := range r.children {
		b.forget(child)
	}
}

// close stops following the documents.
func (b *liveRuns) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.roots {
		b.forget(r)
	}
	b.roots = nil
}

// any reports whether a run is under way.
func (b *liveRuns) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.roots) > 0
}

// each calls do with every run under way, parents before their children, while it holds the lock.
func (b *liveRuns) each(do func(*liveRun)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var walk func([]*liveRun)
	walk = func(runs []*liveRun) {
		for _, r := range runs {
			if !r.status.Final() {
				do(r)
			}
			walk(r.children)
		}
	}
	walk(b.roots)
}

// doing is what a run does or waits for. The board's lock is held, as for all below.
func (r *liveRun) doing() string {
	if r.status == event.StatusWaiting && r.reason != "" {
		return r.reason
	}
	return r.message
}

// facts are what is shown of a run in one short line: what it does, its turn, how long it is at work, and its tokens.
func (r *liveRun) facts(withTurn bool) string {
	parts := []string{r.doing()}
	if withTurn && r.turn > 0 {
		parts = append(parts, "turn "+strconv.Itoa(r.turn))
	}
	if !r.begun.IsZero() {
		if took := time.Since(r.begun); took >= time.Second {
			parts = append(parts, short.Elapsed(took))
		}
	}
	if n := r.usage.InputTokens + r.usage.OutputTokens; n > 0 {
		parts = append(parts, short.Tokens(n)+" tok")
	}
	return strings.Join(parts, " · ")
}

// ended says in a few words how a run ended: how far its task is done, why no further, its turns and the files that it
// changed.
func (r *liveRun) ended() string {
	outcome := string(r.result.Outcome)
	if r.reason != "" && r.reason != outcome {
		outcome += ": " + permission.Visible(r.reason)
	}
	return strings.Join(append([]string{outcome}, madeOf(r.result)...), ", ")
}

// madeOf are the numbers of a run that has ended: its turns and the files that it changed.
func madeOf(result event.RunResult) []string {
	parts := []string{short.Count(result.Turns, "turn")}
	if files := result.Files; len(files) > 0 {
		parts = append(parts, "changed "+permission.Visible(strings.Join(files[:min(len(files), maxFiles)], ", ")))
		if more := len(files) - maxFiles; more > 0 {
			parts[1] += fmt.Sprintf(" and %d more", more)
		}
	}
	return parts
}

// said is the first line of a run's answer, "" for none.
func said(result event.RunResult) string {
	line, _, _ := strings.Cut(strings.TrimSpace(result.Output), "\n")
	return short.Beginning(permission.Visible(line), maxSaid)
}

// shown is the line about a run, with its turn, and the used share of its limits.
func (b *liveRuns) shown(r *liveRun) (facts string, percent uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return r.facts(true), r.percent
}

// waiting is what a run waits for, "" where it does not wait.
func (b *liveRuns) waiting(r *liveRun) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.status == event.StatusWaiting {
		return r.reason
	}
	return ""
}

// counted returns how many children a run has, and which of them did not do their whole task.
func (r *liveRun) counted() (n int, failed []*liveRun) {
	for _, child := range r.children {
		if child.status.Final() && child.result.Outcome != event.ChildStatusCompleted {
			failed = append(failed, child)
		}
	}
	return len(r.children), failed
}
