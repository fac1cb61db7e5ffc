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
	// Each with its own lock.
	summed summed

	mu        sync.Mutex
	waitsFor  string    // what it waits for, in words; empty while it does not
	started   time.Time // zero while it waits for a place
	result    event.RunResult
	own       event.Usage // what of the result's usage is not the children's
	todos     []event.Todo
	activity  []string
	onFile    string             // the file that its newest call on one names
	submitted *event.ChildResult // what the model handed over as its result
	conflicts []string           // of its merge, for the run that started it
	// instructions are all that the run was given, and told is that in words.
	instructions instruction.Set
	told         []string
	tests        testCount // of the last command that ran tests
	// carriedOut are the results of the first calls of the turn, up to the last change, which all have ended.
	carriedOut []model.Part
	denials    []string // calls that were not made, and why
	last       event.RunProgress
	prompt     store.PromptID // of its system prompt; empty before it has one
	takenOver  int64          // tokens of what it began with, about
	finished   time.Time
}

// listInOrder has the run's result list the calls of a turn as the model made them, however they ended. before is how
// many it had until then.
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
		// a list of its own: others read the former one
		r.result.ToolCalls = slices.Concat(r.result.ToolCalls[:before], made)
	}
}

// openTodos is the run's list.
func (r *shared) openTodos() []event.Todo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.todos
}

// handedOver reports whether the model has given its result.
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

// sawTests notes what a command told of tests, where it told anything.
func (r *shared) sawTests(count testCount) {
	if !count.seen {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tests = count
}

// resultsSoFar are the results of the calls of the turn that have ended, up to the last change.
func (r *shared) resultsSoFar() []model.Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carriedOut
}

// summed is the last summary of its conversation that a run gave to a child, and the text that it was made from.
type summed struct {
	mu            sync.Mutex
	text, summary string
}

// noteDenial keeps what was not done, and why, for the run that started this one and for the user: a child ends well
// without it, and nobody would know. The advice that follows the reason is the child's own.
func (r *shared) noteDenial(c *call, refusal string) {
	why, _, _ := strings.Cut(strings.TrimPrefix(refusal, "denied: "), ". ")
	title := c.title
	if c.spec.Effect == tool.Delegates { // it begins with an agent's name
		title = "start " + title
	}
	r.addDenial("it was not allowed to " + title + ": " + why)
}

// addDenial keeps one thing that was not allowed, once.
func (r *shared) addDenial(text string) {
	text = clip.Text(strings.Join(strings.Fields(text), " "), maxDenial)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.denials, text) {
		r.denials = append(r.denials, text)
	}
}

// denialWarnings are the denials for the run's result. The lock is held.
func (r *shared) denialWarnings() []string {
	list := r.denials
	if more := len(list) - maxDenials; more > 0 {
		list = append(slices.Clip(list[:maxDenials]), fmt.Sprintf("%d more calls were denied", more))
	}
	return list
}

const (
	// maxDenials is of how many calls that were denied a child's result tells, maxDenial how much of each, in
	// characters.
	maxDenials = 10
	maxDenial  = 240
)
