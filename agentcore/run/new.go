package run

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// New makes a run that is not yet known to anybody, below another one (nil for one of the user).
func New(p *Process, s *Session, parent *Run, request Request) (*Run, error) {
	cfg, skills := p.Config(), s.Skills()
	if parent != nil {
		cfg, skills = parent.config, parent.skills
	}
	definition, err := registry.Find(p.Agents(), request.Agent, cfg)
	if request.task != nil {
		if definition, err = toolset.FindChild(p.Agents(), request.Agent); err != nil {
			err = registry.Unknown(err)
		}
	}
	if err == nil {
		err = request.fits(definition, parent == nil)
	}
	if err != nil {
		return nil, err
	}
	r := bare(p, s, parent, definition, request)
	r.config, r.skills = cfg, skills
	r.request.Title = cmp.Or(strings.Join(strings.Fields(request.Title), " "), clip.FirstLine(request.Prompt))
	r.limits = request.limitsOf(definition, r.depth, cfg)
	r.equip()
	if err := r.chooseModel(); err != nil {
		return nil, err
	}
	if err := r.takeBudget(); err != nil {
		return nil, err
	}
	from := p.Context
	if parent != nil {
		from = parent.ctx
	}
	r.ctx, r.cancel = context.WithCancelCause(from)
	r.working, r.stopWorking = context.WithCancelCause(r.ctx)
	r.waited.ctx, r.waited.place, r.waited.clock, r.waited.status = r.ctx, r.place, &r.clock, r.setStatus
	r.tasks.ctx, r.tasks.working, r.tasks.waited = r.ctx, r.working, &r.waited
	if r.former != nil {
		r.tasks.former = r.former.Tasks
	}
	r.asking = r.newAsking()
	r.questions = questions{
		outlet: r.outlet, ctx: r.ctx, session: s.ID, asks: &s.Asks, decisions: p.Decisions, view: s.View,
		agents: r.pathOfAgents(), timeout: cfg.AskTimeout, mayAsk: r.tools.Asks, pause: r.waited.pause,
	}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		r.questions.about = paths[0]
	}
	r.gate.questions, r.gate.trusted, r.gate.network, r.gate.preview = &r.questions, s.Trusted, cfg.NetworkAllow, r.preview
	r.hooks.in = hookSurroundings{
		ctx: r.ctx, agent: r.definition.Slug, view: s.View, trusted: s.Trusted, rights: r.gate.rights, commands: r.commands,
		layer: func() *workspace.Layer { return r.layer }, editable: r.gate.editable, offers: r.tools.Offers,
		save: func() { r.stored.Save() }, progress: r.progress, common: r.commonInput(),
	}
	r.about = surroundings{
		ctx: r.ctx, model: r.model.Name(), answer: r.sampling.MaxTokens, view: s.View, tools: r.tools,
		layer: func() *workspace.Layer { return r.layer }, todos: r.openTodos,
		consult: r.consult, instructions: r.hooks.preCompact, progress: r.progress,
	}
	return r, nil
}

// bare makes a run of an agent, below another one or the user's own, that has nothing to work with yet.
func bare(p *Process, s *Session, parent *Run, definition *agent.Definition, request Request) *Run {
	r := &Run{
		spec: spec{
			outlet: outlet{event.NewRunID(), s.Events, p.Redactor}, process: p, session: s, parent: parent, definition: definition, request: request,
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

func (r *Run) newAsking() asking {
	return asking{
		outlet: r.outlet, ctx: r.ctx, speaks: r.parent == nil, idle: r.idle, status: r.setStatus, again: r.again,
		retry: model.Retry{MaxAttempts: r.config.RetryMaxAttempts, MaxElapsed: r.config.RetryMaxElapsed}, cut: r.addCut,
	}
}

// Launch makes the run known and starts its goroutine. The commit is that of its first row.
func (r *Run) Launch() (*store.Commit, error) {
	r.created = time.Now().UTC() // children are launched in the order of their calls, and listed by this
	ended, err := r.process.Begin(r)
	if err != nil {
		r.cancel(err)
		return nil, err
	}
	created := event.RunCreated{
		Agent: r.definition.Slug, Role: history.WorksAs(r.role(), r.depth), Depth: r.depth, Title: r.request.Title,
		Prompt: r.request.Prompt, Model: r.model.Name(), Mode: cmp.Or(string(r.definition.Mode), string(agent.Agentic)),
		Background: r.background(),
	}
	if r.output != "" {
		created.OutputURI = event.FileURI(r.output)
	}
	if r.former != nil {
		created.Resumes = r.former.Run
	}
	if r.parent != nil {
		created.Parent = r.parent.id
		r.parent.mu.Lock()
		r.parent.result.Children = append(r.parent.result.Children, r.id)
		r.parent.mu.Unlock()
	}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		created.URI = event.FileURI(paths[0])
	}
	stored := r.record(store.Batch{}, created)
	go func() {
		defer ended()
		defer close(r.done)
		defer r.cancel(nil)
		defer r.budget.close()
		r.live()
		r.tellStarter()
		r.messages, r.layer, r.stored = nil, nil, nil // the run is remembered longer than what it worked on
	}()
	return stored, nil
}
