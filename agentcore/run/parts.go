package run

import (
	"context"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// run is one agent at work, in four parts that differ in who may touch them. What needs one part alone is a method of
// that part.
type Run struct {
	spec
	conversation
	shared
	resources
}

// spec is what a run is. It is set until the run is launched and does not change after that, so that any goroutine may
// read it.
type spec struct {
	outlet
	process    *Process
	session    *Session
	parent     *Run
	depth      int
	definition *agent.Definition
	config     *config.Config
	skills     *skill.Set
	request    Request
	model      model.Model
	preset     provider.Sampling // of the preset that the model was chosen by, for children that inherit it
	sampling   provider.Sampling
	limits     agent.Limits
	task       *tool.Task // of the run that started it; nil for one of the user, or one per file
	former     *Former    // what it goes on with; nil for a run that begins anew
	inherited  inheritance
	mode       permission.Mode
	price      *price.Price // of an answer of the model, nil where it is unknown
	tools      *toolset.Set
	output     string // the file for the result of a run in the background, empty for others
	expanded   string // what a command of an MCP server made of the prompt; empty for none
	created    time.Time
}

// conversation is what a run and its model have said to each other. The run's goroutine alone owns it.
type conversation struct {
	out      outlet
	about    surroundings
	system   string
	offering []model.Tool // as every request has them
	messages []model.Message
	turn     int
	attempt  int // of the turn, from 1
	memory   memory
	touched  map[string]bool // files that the run proposed to change; true for those that it made
	lastText string
	lastTurn bool // whether the turn is the last one, so that nothing is called but submit_result
	lapses   lapses
	ending   ending // why the coming turn is the last one
	undone   bool   // whether calls of the last turn were left undone
	passes   passes // of an iterated run
}

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
	tests     testCount          // of the last command that ran tests
	// carriedOut are the results of the first calls of the turn, up to the last change, which all have ended.
	carriedOut []model.Part
	denials    []string // calls that were not made, and why
	last       event.RunProgress
	prompt     store.PromptID // of its system prompt; empty before it has one
	takenOver  int64          // tokens of what it began with, about
	finished   time.Time
}

// resources are what a run works with. Each guards itself, and ends with the run.
type resources struct {
	layer     *workspace.Layer
	stored    *board.Layer
	budget    *Budget
	clock     clock
	commands  *command.Set
	hooks     *hooks
	place     *place
	tasks     tasks
	waited    waitList
	plan      plan
	gate      gate
	questions questions
	asking    asking

	servers []servers.Server
	// foundServers guards servers, which are found when first needed, also by a child.
	foundServers sync.Once

	described   sync.Once
	description string // of those that it may delegate to, fixed when first needed

	ctx    context.Context
	cancel context.CancelCauseFunc
	// working is ctx but for the hand-over: it ends when it is time for that.
	working     context.Context
	stopWorking context.CancelCauseFunc
	done        chan struct{} // closed when the end is durable
}
