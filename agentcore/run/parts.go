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
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Run is one agent at work. It has four parts, which differ in who may use them. What needs only one part is a method
// of that part.
type Run struct {
	spec
	conversation
	shared
	resources
}

// spec is what a run is. It is set before the run is launched and does not change after that, so that any goroutine may
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
	preset     provider.Sampling // the preset by which the model was chosen, for children that inherit it
	sampling   provider.Sampling
	unthought  unthought
	schema     *tool.OutputSchema // of its final answer; nil for none
	limits     agent.Limits
	task       *tool.Task // what the starting run asks for; nil for a run of the user, or for one of several files
	former     *Former    // what it goes on with; nil for a run that begins anew
	inherited  inheritance
	mode       permission.Mode
	price      *price.Price // what an answer of the model costs; nil where that is unknown
	tools      *toolset.Set
	output     string // the file for the result of a run in the background, empty for others
	created    time.Time
	// child makes a run below this one. launch makes this run known and starts it.
	child  func(Request) (*Run, error)
	launch func() (*store.Commit, error)
}

// resources are what a run works with. Each of them guards itself, and ends with the run.
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
	book      *instruction.Book // shared by the tree of runs; nil for a hidden run
	questions questions
	asking    asking

	servers []servers.Server
	// foundServers guards servers, which are looked for when the run or a child first needs them.
	foundServers sync.Once

	described   sync.Once
	description string // of the agents that the run may delegate to; made when first needed

	ctx    context.Context
	cancel context.CancelCauseFunc
	// working is the context of all that the run does before its hand-over. It ends when it is time for that.
	working     context.Context
	stopWorking context.CancelCauseFunc
	done        chan struct{} // closed when the end is durable
}

// bare makes a run of an agent, below another run or for the user, that has nothing to work with yet.
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
