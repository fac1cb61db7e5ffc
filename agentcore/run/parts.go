package run

import (
	"context"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Run is one agent at work, in four parts that differ in who may touch them. What needs one part alone is a method of
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
	output     string              // the file for the result of a run in the background, empty for others
	expanded   string              // what a command of an MCP server made of the prompt; empty for none
	outputs    []prompt.Attachment // of the commands of its prompt
	created    time.Time
	// child makes a run below this one, and launch makes this one known and starts it.
	child  func(Request) (*Run, error)
	launch func() (*store.Commit, error)
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
	book      *instruction.Book // of the tree of runs; nil for a hidden one
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

// bare makes a run of an agent, below another one or the user's own, that has nothing to work with yet.
func bare(p *Process, s *Session, parent *Run, definition *agent.Definition, request Request) *Run {
	r := &Run{
		spec: spec{
			outlet: outlet{event.NewRunID(), s.Events, p.Redactor}, process: p, session: s, parent: parent,
			definition: definition, request: request,
			task: request.task, former: request.former, inherited: request.inherited,
		},
		conversation: conversation{touched: map[string]bool{}},
		shared: shared{own: event.NoUsage(), result: event.RunResult{
			Status: event.StatusPending, Usage: event.NoUsage(), ToolCalls: []event.CallSummary{},
			Children: []event.RunID{},
		}},
		resources: resources{done: make(chan struct{})},
	}
	r.out = r.outlet
	r.tasks.inbox = newInbox(r.outlet)
	if parent != nil {
		r.depth, r.clock.above = parent.depth+1, &parent.clock
	}
	return r
}
