package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// shared is what the goroutines of a run's calls, of its children and of those who look at it share.
type shared struct {
	// Each of these has its own lock.
	summed summed

	mu        sync.Mutex
	waitsFor  string    // what it waits for, in words; empty while it does not
	started   time.Time // zero until the run gets its place
	result    event.RunResult
	own       event.Usage // what the run itself used of the result's usage, without its children
	todos     []event.Todo
	activity  []string
	onFile    string             // the file that the newest call on a file names
	submitted *event.ChildResult // what the model handed over as its result
	conflicts []string           // edits that its merge left out, for the run that started it
	// instructions are all instructions that the run was given; told says so in words.
	instructions instruction.Set
	told         []string
	tests        testCount // of the last command that ran tests
	// carriedOut are the results of the turn's first calls, up to the last change. All of these calls have ended.
	carriedOut []model.Part
	denials    []string // which calls were not made, and why
	last       event.RunProgress
	prompt     store.PromptID // of its system prompt; empty before it has one
	takenOver  int64          // about how many tokens the run began with
	finished   time.Time
	// programSession is the session of the program that is the run's agent; empty before it began, and for others.
	programSession string
}

// listInOrder puts the calls of a turn into the result in the order in which the model made them, whatever the order of
// their ends. before is how many calls the result had before the turn.
func (r *shared) listInOrder(calls []*call, before int) {
	var made []event.CallSummary
	for _, c := range calls {
		if c.made != nil {
			made = append(made, *c.made)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.result.ToolCalls[before:], made) {
		// a new list, since others read the former one
		r.result.ToolCalls = slices.Concat(r.result.ToolCalls[:before], made)
	}
}

// openTodos is the run's list of todos.
func (r *shared) openTodos() []event.Todo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.todos
}

// handedOver reports whether the model has submitted its result.
func (r *shared) handedOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.submitted != nil {
		r.result.Output = written(r.submitted)
	}
	return r.submitted != nil
}

// written is a result as a text.
func written(result *event.ChildResult) string {
	return strings.TrimSpace(result.Summary + "\n\n" + result.Details)
}

// sawTests notes what a command's output says about tests, if anything.
func (r *shared) sawTests(count testCount) {
	if !count.seen {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tests = count
}

// resultsSoFar are the results of the turn's calls that have ended, up to the last change.
func (r *shared) resultsSoFar() []model.Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carriedOut
}

// summed is the last summary of its conversation that a run gave to a child, with the text that was summed up.
type summed struct {
	mu            sync.Mutex
	text, summary string
}

// noteDenial keeps what was not done, and why, for the run that started this one and for the user. A child that ends
// well without it would not mention it. The advice behind the reason is only for the child.
func (r *shared) noteDenial(c *call, refusal string) {
	why, _, _ := strings.Cut(strings.TrimPrefix(refusal, "denied: "), ". ")
	title := c.title
	if c.spec.Effect == tool.Delegates { // the title begins with an agent's name
		title = "start " + title
	}
	r.addDenial("it was not allowed to " + title + ": " + why)
}

// addDenial keeps one denial, unless it is kept already.
func (r *shared) addDenial(text string) {
	text = clip.Text(strings.Join(strings.Fields(text), " "), maxDenial)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.denials, text) {
		r.denials = append(r.denials, text)
	}
}

// denialWarnings are the denials as warnings in the run's result. The lock is held.
func (r *shared) denialWarnings() []string {
	list := r.denials
	if more := len(list) - maxDenials; more > 0 {
		list = append(slices.Clip(list[:maxDenials]), fmt.Sprintf("%d more calls were denied", more))
	}
	return list
}

const (
	// maxDenials is how many denied calls a child's result names, and maxDenial how much it says of each, in
	// characters.
	maxDenials = 10
	maxDenial  = 240
)
