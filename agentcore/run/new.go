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
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// New makes a run that nobody knows yet, below another run (nil for a run of the user).
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
	if err := fitsProgram(definition, &request, parent); err != nil {
		return nil, err
	}
	r := bare(p, s, parent, request.Only.of(definition), request)
	r.config, r.skills = cfg, skills
	r.child = func(below Request) (*Run, error) { return New(p, s, r, below) }
	r.launch = r.Launch
	r.request.Title = cmp.Or(strings.Join(strings.Fields(request.Title), " "), clip.FirstLine(request.Prompt))
	r.limits = request.limitsOf(definition, r.depth, cfg)
	equip(r)
	if err := r.chooseModel(); err != nil {
		return nil, err
	}
	if err := request.unseen(r.model); err != nil {
		return nil, err
	}
	instruct(r)
	if err := takeBudget(r); err != nil {
		return nil, err
	}
	from := p.Context
	if parent != nil {
		from = parent.ctx
	}
	r.ctx, r.cancel = context.WithCancelCause(from)
	r.working, r.stopWorking = context.WithCancelCause(r.ctx)
	wire(r)
	return r, nil
}

// wire connects the parts of a run with each other, once all are there.
func wire(r *Run) {
	r.waited.ctx, r.waited.place, r.waited.clock, r.waited.status = r.ctx, r.place, &r.clock, r.setStatus
	r.tasks.ctx, r.tasks.working, r.tasks.waited = r.ctx, r.working, &r.waited
	if r.former != nil {
		r.tasks.former = r.former.Tasks
	}
	r.asking = newAsking(r)
	r.questions = questions{
		outlet: r.outlet, ctx: r.ctx, session: r.session.ID, asks: &r.session.Asks, decisions: r.process.Decisions,
		view:   r.session.View,
		agents: r.pathOfAgents(), timeout: r.config.AskTimeout, mayAsk: r.tools.Asks, pause: r.waited.pause,
	}
	if paths := r.request.Context.Paths; len(paths) > 0 {
		r.questions.about = paths[0]
	}
	r.gate.questions, r.gate.trusted, r.gate.network, r.gate.preview = &r.questions, r.session.Trusted,
		r.config.NetworkAllow, r.preview
	r.hooks.in = hookSurroundings{
		ctx: r.ctx, agent: r.definition.Slug, view: r.session.View, trusted: r.session.Trusted, rights: r.gate.rights,
		commands: r.commands,
		layer:    func() *workspace.Layer { return r.layer }, editable: r.gate.editable, offers: r.tools.Offers,
		save: func() { r.stored.Save() }, progress: r.progress, common: commonInput(r),
	}
	r.about = surroundings{
		ctx: r.ctx, model: r.model.Name(), answer: r.sampling.MaxTokens, view: r.session.View, tools: r.tools,
		layer: func() *workspace.Layer { return r.layer }, todos: r.openTodos,
		consult: r.consult, instructions: r.hooks.preCompact, progress: r.progress,
	}
}

// Launch makes the run known and starts its goroutine. The commit is that of the run's first row.
func (r *Run) Launch() (*store.Commit, error) {
	// set here, since children are launched in the order of their calls and listed by this time
	r.created = time.Now().UTC()
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
		r.messages, r.layer, r.stored = nil, nil, nil // dropped, since the run itself is remembered longer
	}()
	return stored, nil
}

// newPlace makes the place of a run, which it does not have yet.
func newPlace(r *Run) *place {
	return &place{
		session: r.session.Slots, machine: r.process.Machine,
		waits: func(reason string) { r.setStatus(event.StatusWaiting, reason) },
		alone: func(err error) {
			// The bound on this session's children still holds; that the machine's cannot be kept is no reason to stop.
			r.notice(event.NoticeWarning, "children of other agentls processes cannot be counted: "+err.Error(),
				"make the state folder writable (see `agentls doctor`)")
		},
	}
}

// equip gives the run all that it works with except a model: a layer, rights, tools, hooks and commands.
func equip(r *Run) {
	r.place = newPlace(r)
	r.plan.agent = r.definition.Slug
	if r.parent != nil {
		r.plan.above = &r.parent.plan
	}
	r.plan.only = r.former != nil &&
		(r.former.Powers.Planning || r.parent != nil && r.former.belowPlan(r.parent.descendsFrom))
	r.hooks = r.newHooks()
	r.commands = newCommands(r)
	if r.parent != nil {
		r.layer = r.parent.layer.Fork()
		r.stored = r.session.Board.Layer(r.id, r.layer, r.parent.stored)
	} else {
		r.layer = r.session.Board.Proposal().Fork()
		r.stored = r.session.Board.Layer(r.id, r.layer, nil)
	}
	r.gate.plan, r.gate.layer = &r.plan, func() *workspace.Layer { return r.layer }
	r.gate.rights = newRights(r)
	r.gate.only, r.gate.limited = onlyOf(r)
	r.tools = newTools(r)
}

// chooseModel opens the model of the run: the one that is asked for, or that of its agent, of the former run that it
// goes on with, or of its parent.
func (r *spec) chooseModel() (err error) {
	if r.definition.IsProgram() {
		r.model = program{r.definition.Slug}
		return nil
	}
	choice := provider.Choice{Override: r.request.Model, Definition: r.definition.Model}
	if r.parent != nil {
		choice.Parent = r.parent.model.Name()
		r.preset = r.parent.preset
	}
	if r.former != nil && !provider.IsOffline(r.former.Model) { // a run that was offline may get a real model now
		choice.Former = r.former.Model
	}
	choice = choice.With(r.config)
	r.model, err = r.process.OpenModel(choice)
	if err != nil && choice.Former != "" { // the former run's model cannot be had any more
		choice.Former = ""
		r.model, err = r.process.OpenModel(choice)
	}
	if err != nil {
		return err
	}
	own := provider.Sampling{
		Temperature: r.definition.Temperature, MaxTokens: r.definition.MaxTokens,
		Effort: model.Effort(r.definition.Effort),
	}
	r.preset, r.sampling = choice.Sampling(r.preset, own)
	r.price = provider.Price(r.config, r.model.Name())
	if err := r.readSchema(); err != nil {
		return err
	}
	return r.chooseEffort()
}
