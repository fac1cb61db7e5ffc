package agentcore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/elsewhere"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/resume"
	"github.com/agentls/agentls/agentcore/retention"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Options are what an Engine is made of.
type Options struct {
	// StateDir is the folder of the database and of kept outputs; it is made if it is not there.
	StateDir string
	// State is the open store of that folder, if OpenState was called with the same options. The engine takes it over
	// and closes it, also where Open fails.
	State *State
	// Sandbox returns what the machine offers to keep commands apart, if the caller is finding that out already.
	// SandboxLevel returns its level if that is known earlier. Where they are nil, the engine finds it out when a run
	// first asks.
	Sandbox      func() sandbox.Report
	SandboxLevel func() sandbox.Level
	// Config is the first configuration; SetConfig replaces it.
	Config *config.Config
	// Agents are the first definitions, without those registered at run time; nil means the built-in ones. SetAgents
	// replaces them.
	Agents *agent.Registry
	// Skills are the first skills; nil means the built-in ones. SetSkills replaces them.
	Skills *skill.Set
	// Tools are what agents can do; nil means the built-in ones.
	Tools []tool.Tool
	// OpenModel makes the model of a choice; nil means the wires of this package (see OpenModel).
	OpenModel func(provider.Choice) (model.Model, error)
	// Editor is what an editor lends; nil where there is none.
	Editor run.Editor
	// Reading is told before a call works on files; nil where nobody has to know.
	Reading run.Reading
	// Getenv reads the environment, for keys and the detection of providers; nil means os.Getenv.
	Getenv func(string) string
	// KeysFile holds keys that the environment lacks, as lines NAME=value; empty means none (see secret.Keys).
	KeysFile string
	// UserConfig is the path of the user's config.toml, in which the tool statusline sets its key; if it is empty, the
	// tool cannot.
	UserConfig string
	// Home is the user's home folder, whose .claude/CLAUDE.md instructs agents; empty means none.
	Home string
	// ConfigDir is the user's folder of agentls's configuration, in which prompts lie; empty means none.
	ConfigDir string
	// Redactor knows secrets that must not be stored, published or sent; nil means a new one. The engine adds the
	// keys of its providers.
	Redactor *secret.Redactor
	// Name describes this process to people who see it from another process, such as the editor's name. It may be
	// empty.
	Name string
	// TrustChanged is called when another process has changed which folders the user trusts. The engine's goroutine
	// waits for it. If it is nil, nobody is told.
	TrustChanged func()
	// Crash is called at the points where tests end the process; nil outside of tests.
	Crash crash.Hook
	// Now is the clock by which retention tells age; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Engine owns the sessions of one process and their store. Its methods may be called from any goroutine. They never
// wait for a model; those that wait for the disk say so.
type Engine struct {
	process   run.Process
	store     *store.Store
	log       *feed.Log
	history   *history.Reader
	former    *resume.Reader
	others    *elsewhere.Processes
	retention *retention.Retention
	agents    *registry.Agents
	skills    atomic.Pointer[skill.Set]
	config    atomic.Pointer[config.Config]
	local     *provider.LocalServers

	// cancel ends all runs; its cause tells a shutdown from a cancellation.
	cancel context.CancelCauseFunc
	wait   sync.WaitGroup

	// storeFailing is true from a failed commit to the next successful one, so that people are told once.
	storeFailing atomic.Bool

	mu       sync.Mutex
	closed   bool
	sessions map[event.SessionID]*Session
	runs     map[event.RunID]*run.Run
	ended    []event.RunID // the runs that have ended, oldest first
}

// keptRuns is how many ended runs the engine remembers. The store knows the others.
const keptRuns = 1000

// Open opens the store in the state folder and makes an engine on it. It waits for the disk. Runs that a former process
// left alive become interrupted; a notice tells of them when their session is opened.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e, err := prepare(&o)
	if err == nil && o.State == nil {
		o.State, err = OpenState(ctx, o)
	}
	if err == nil {
		err = e.open(ctx, o)
	}
	if err == nil {
		return e, nil
	}
	if e != nil {
		e.cancel(run.ErrShutdown)
		e.wait.Wait()
	}
	if o.State != nil {
		err = errors.Join(err, o.State.Close(ctx))
	}
	return nil, err
}

// open fills an engine with what is stored. The caller closes the store if it fails.
func (e *Engine) open(ctx context.Context, o Options) (err error) {
	e.store = o.State.store
	o.State.use(e)
	e.log.Use(e.store)
	e.history = history.New(history.Options{
		Store: e.store, Redact: o.Redactor.Text, Output: e.process.Outputs.Of, Narrow: authority.Narrowed,
		Live: func(id event.RunID) (history.Run, bool) { info, err := e.RunInfo(id); return info, err == nil },
	})
	furnish(e, o)
	if err := e.others.InterruptDead(ctx); err != nil {
		return err
	}
	if err := servers.EndLeft(serverMarks(e.process.StateDir)); err != nil {
		o.Logger.Warn("servers of a former process may be left", "error", err)
	}
	if err := command.ForgetOutputs(e.process.Outputs.Dir); err != nil {
		o.Logger.Warn("old outputs of commands stay", "error", err)
	}
	if e.process.Decisions, err = authority.NewDecisions(ctx, e.store); err != nil {
		return err
	}
	agents := registry.Options{Store: e.store, Base: o.Agents, Known: e.Known, Logger: o.Logger}
	if e.agents, err = registry.Open(ctx, agents); err != nil {
		return err
	}
	root := e.process.Context
	e.wait.Go(func() { e.retention.Follow(root) })
	e.wait.Go(func() { e.log.Trim(root, o.Logger) })
	if o.TrustChanged != nil {
		e.wait.Go(func() {
			e.process.Decisions.Follow(root, o.TrustChanged, e.agents.Read, func(err error) {
				o.Logger.Warn("what other processes decide is not noticed at once", "error", err)
			})
		})
	}
	return nil
}

// furnish makes the engine's parts that read and delete in its store.
func furnish(e *Engine, o Options) {
	e.former = &resume.Reader{
		Store: e.store, History: e.history, Outputs: e.process.Outputs, Agents: e.Agents,
		InUse: func(ctx context.Context, session event.SessionID, what, hint string) error {
			return e.others.InUse(ctx, session, what, hint)
		},
	}
	e.others = &elsewhere.Processes{
		Store: e.store, Crash: o.Crash, Settle: e.former.SettleOutputs, Subscribe: e.Subscribe,
	}
	e.retention = &retention.Retention{
		StateDir: e.process.StateDir, Store: e.store, History: e.history, Crash: o.Crash, Now: o.Now,
		Config: e.Config, Logger: o.Logger, End: func(ctx context.Context, id event.SessionID) error {
			if s, err := e.Session(id); err == nil {
				return s.end(ctx)
			}
			return nil
		}, InUse: e.others.InUse,
	}
	e.process.Former, e.process.ParentOf = e.former.Former, e.former.ParentOf
}

// fill sets the options that are left out.
func (o *Options) fill() error {
	if o.Config == nil {
		o.Config = config.Default()
	}
	if o.Agents == nil {
		builtin, err := agent.Builtin()
		if err != nil {
			return err
		}
		o.Agents = agent.NewRegistry(builtin...)
	}
	if o.Skills == nil {
		o.Skills = skill.NewSet(skill.Builtin()...)
	}
	if o.Tools == nil {
		o.Tools = tool.Builtin()
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Redactor == nil {
		o.Redactor = &secret.Redactor{}
	}
	return nil
}

// prepare makes an engine without its store.
func prepare(o *Options) (*Engine, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	stateDir, err := filepath.Abs(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("find the state folder: %w", err)
	}
	keys := &secret.Keys{Getenv: o.Getenv, File: o.KeysFile}
	e := &Engine{log: feed.New(), sessions: map[event.SessionID]*Session{}, runs: map[event.RunID]*run.Run{}}
	root, cancel := context.WithCancelCause(context.Background())
	e.cancel = cancel
	e.process = run.Process{
		Context: root,
		Begin:   e.begin, Unsaved: e.log.AppendUnsaved, Config: e.Config, Agents: e.Agents,
		Tools: map[string]tool.Tool{}, ToolOrder: o.Tools, OpenModel: o.OpenModel, Surroundings: e.surroundings,
		Editor: o.Editor, Reading: o.Reading, Getenv: keys.Get, Client: model.NewHTTPClient(),
		Sandboxes: run.Sandboxes{Trees: &sandbox.Trees{}, Report: o.Sandbox, Level: o.SandboxLevel},
		Checking:  make(chan struct{}, runtime.GOMAXPROCS(0)), Crash: o.Crash, Logger: o.Logger,
		Outputs:  run.Outputs{Dir: filepath.Join(stateDir, "outputs"), Redactor: o.Redactor},
		StateDir: stateDir, Redactor: o.Redactor,
		User: run.User{Config: o.UserConfig, Home: o.Home, Folder: o.ConfigDir, Keys: o.KeysFile},
		Machine: slot.NewMachine(filepath.Join(stateDir, "slots"),
			func() int { return e.Config().MaxChildrenPerMachine }),
	}
	boxes := &e.process.Sandboxes
	if boxes.Report == nil {
		boxes.Report = sync.OnceValue(func() sandbox.Report {
			return sandbox.Probe(root, run.SandboxDir(stateDir)) // this takes a moment
		})
	}
	e.local = &provider.LocalServers{Client: e.process.Client, Getenv: keys.Get}
	for _, t := range o.Tools {
		e.process.Tools[tool.Brief(t).Name] = t
	}
	if o.OpenModel == nil {
		e.process.OpenModel = func(c provider.Choice) (model.Model, error) {
			return provider.Open(e.process.Context, c, e.surroundings())
		}
	}
	e.SetConfig(o.Config)
	e.skills.Store(o.Skills)
	return e, nil
}

// committed publishes events. It runs on the store's goroutine.
func (e *Engine) committed(events []event.Event) {
	if slices.ContainsFunc(events, func(one event.Event) bool { return !event.Transient(one.Body) }) {
		e.storeFailing.Store(false)
	}
	e.log.Append(events)
}

// commitFailed ends the runs whose events could not be stored, since they would go on without a trace. A failure that
// concerns no live run is reported once. It runs on the store's goroutine.
func (e *Engine) commitFailed(events []store.NewEvent, err error) {
	if errors.Is(err, store.ErrClosed) {
		return // Close returns this error
	}
	failure := fault.Unstored(err)
	if !e.storeFailing.Swap(true) {
		e.process.Logger.Error("what happens cannot be stored", "error", err)
		session := event.SessionID("")
		if len(events) > 0 {
			session = events[0].Session
		}
		e.log.AppendUnsaved(event.Event{
			Session: session, Time: time.Now().UTC(),
			Body: event.Notice{Level: event.NoticeError, Message: failure.Detail, Hint: failure.Hint},
		})
	}
	for _, lost := range events {
		if r, err := e.run(lost.Run); err == nil {
			r.Cancel(failure)
		}
	}
}

// Repaired says, for a person, what Open did with a damaged database; "" if it was sound.
func (e *Engine) Repaired() string {
	return repaired(e.store)
}

// Interrupt ends every run as interrupted, and lets no other begin. It waits for nothing.
func (e *Engine) Interrupt() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel(run.ErrShutdown)
}

// Close interrupts every run, waits for their goroutines (until ctx ends), and closes the store.
func (e *Engine) Close(ctx context.Context) error {
	e.Interrupt()
	e.mu.Lock()
	sessions := slices.Collect(maps.Values(e.sessions))
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() { e.wait.Wait(); close(ended) }()
	var late error
	select {
	case <-ended:
	case <-ctx.Done():
		late = errors.New("a run did not end in time after it was interrupted")
	}
	e.process.Client.CloseIdleConnections()
	for _, s := range sessions {
		s.close()
	}
	err := errors.Join(late, e.process.Sandboxes.Trees.Close(), e.store.Close(ctx))
	e.log.Close()
	return err
}

// Config returns the configuration that new runs get.
func (e *Engine) Config() *config.Config { return e.config.Load() }

// SetConfig replaces the configuration. Runs keep the one that they started with.
func (e *Engine) SetConfig(c *config.Config) {
	hideSecrets(c, e.process.Getenv, e.process.Redactor)
	e.config.Store(c)
}

// SetSkills replaces the skills that new runs get, except in sessions with skills of their own. Runs keep the skills
// that they started with.
func (e *Engine) SetSkills(skills *skill.Set) { e.skills.Store(skills) }

// Agents returns the definitions of this moment. A run keeps the one that it started with.
func (e *Engine) Agents() *agent.Registry { return e.agents.Now() }

// Registry registers and replaces definitions at run time.
func (e *Engine) Registry() *registry.Agents { return e.agents }

// surroundings are the places in which the engine looks for models.
func (e *Engine) surroundings() provider.Surroundings {
	return provider.Surroundings{
		Getenv: e.process.Getenv, Editor: e.process.Editor, Local: e.local.Find,
		Client: e.process.Client,
	}
}

// Known are the names that a definition may use now, without the skills of single sessions.
func (e *Engine) Known() agent.Known {
	known := registry.Known(e.Config(), e.process.ToolOrder, e.surroundings())
	known.Skills = append([]string{}, e.skills.Load().Names()...)
	known.Registry = e.Agents()
	known.Agents = append([]string{}, known.Registry.Names()...)
	return known
}

// Decisions are the user's decisions: trust in folders, and permissions.
func (e *Engine) Decisions() *authority.Decisions { return e.process.Decisions }

// Grants returns the granted permissions that still hold, the latest first: all, or those that bind a session.
func (e *Engine) Grants(session event.SessionID) []permission.Grant {
	var folders []string
	if s, err := e.Session(session); err == nil {
		folders = s.shared.View.Folders()
	}
	return e.process.Decisions.Grants(session, folders)
}

// History reads what is stored of the sessions of any process.
func (e *Engine) History() *history.Reader { return e.history }

// OpenSession makes a session on a view. It takes over the findings that former sessions left open on the same roots,
// where their lines are unchanged. It reads the disk.
func (e *Engine) OpenSession(ctx context.Context, view *workspace.View, title string) (*Session, error) {
	return e.openSession(ctx, view, title, func(s *Session) error { return s.shared.Board.AdoptFindings(ctx) })
}

// ContinueSession makes a session on a view as OpenSession does, and also takes over what ended sessions on the same
// roots proposed: the hunks that wait for the user and those that can be undone, under their old ids, and what
// interrupted runs had written. It reads the disk, and returns when the session is durable.
func (e *Engine) ContinueSession(ctx context.Context, view *workspace.View, title string) (*Session, error) {
	return adopting(ctx, e, view, title, board.AdoptedUndos)
}

// ResumeSession makes a session on a view as OpenSession does, for [Session.Resume] of a run. It takes over the
// undecided proposals of that run, of those that it went on with, and of their children, so that files are as the
// conversation says; not those of other runs. It refuses where another process has these proposals open. It reads the
// disk.
func (e *Engine) ResumeSession(ctx context.Context, view *workspace.View, title string,
	last event.RunID,
) (*Session, error) {
	runs, err := e.former.Lineage(ctx, last)
	if err != nil {
		return nil, err
	}
	sessions, err := e.store.Waiting(ctx, runs, false)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		what := fmt.Sprintf("what the run %s proposed waits in the session %s, which", last, session)
		if err := e.others.InUse(ctx, session, what,
			"accept or reject it there, or close it there, and resume the run then"); err != nil {
			return nil, err
		}
	}
	return adopting(ctx, e, view, title, 0, runs...)
}

// adopting makes a session that takes over what ended ones proposed (see [board.Board.AdoptProposals]), and waits until
// it is durable.
func adopting(ctx context.Context, e *Engine, view *workspace.View, title string, keep int,
	runs ...event.RunID,
) (*Session, error) {
	return e.openSession(ctx, view, title, func(s *Session) error {
		s.continued = true
		if err := s.shared.Board.AdoptProposals(ctx, keep, runs...); err != nil {
			return err
		}
		if err := s.shared.Board.AdoptFindings(ctx); err != nil {
			return err
		}
		return s.Flush(ctx)
	})
}

// Left reports whether former sessions left something on these folders for ContinueSession. It reads the disk.
func (e *Engine) Left(ctx context.Context, roots []string) (bool, error) {
	findings, err := e.store.OpenFindings(ctx, roots)
	if err != nil || len(findings) > 0 {
		return len(findings) > 0, err
	}
	return e.store.Left(ctx, roots)
}

func (e *Engine) openSession(ctx context.Context, view *workspace.View, title string,
	adopt func(*Session) error,
) (*Session, error) {
	s := e.newSession(view, title)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, run.ErrShutdown
	}
	e.sessions[s.ID] = s
	e.mu.Unlock()
	s.store(store.SessionOpen)
	if err := adopt(s); err != nil {
		e.mu.Lock()
		delete(e.sessions, s.ID)
		e.mu.Unlock()
		s.close()
		return nil, err
	}
	return s, nil
}

// Session returns an open session of this process.
func (e *Engine) Session(id event.SessionID) (*Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[id]; s != nil {
		return s, nil
	}
	return nil, fault.Missing("session", string(id), "list the sessions with agent/sessions")
}

func (e *Engine) run(id event.RunID) (*run.Run, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.runs[id]; r != nil {
		return r, nil
	}
	return nil, fault.Missing("run", string(id), "it may have ended long ago, or in an earlier session")
}

// begin registers a run whose goroutine is about to start.
func (e *Engine) begin(r *run.Run) (ended func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, run.ErrShutdown
	}
	e.runs[r.ID()] = r
	e.wait.Add(1)
	return func() {
		e.retire(r.ID())
		e.wait.Done()
	}, nil
}

// retire forgets the oldest of the ended runs.
func (e *Engine) retire(id event.RunID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = append(e.ended, id)
	if len(e.ended) > keptRuns {
		delete(e.runs, e.ended[0])
		e.ended = slices.Delete(e.ended, 0, 1)
	}
}

// Wait returns the result of a run when the run has ended and its end is durable. When ctx ends first, it returns the
// state of that moment, without an error. For a run of another process, or of long ago, it returns the stored result;
// it waits for a run that another process works on, too.
func (e *Engine) Wait(ctx context.Context, id event.RunID) (event.RunResult, error) {
	r, err := e.run(id)
	if err != nil {
		if err := e.others.Wait(ctx, id); err != nil && ctx.Err() == nil {
			return event.RunResult{}, err
		}
		return e.former.Result(context.WithoutCancel(ctx), id)
	}
	select {
	case <-r.Done():
	case <-ctx.Done():
		if r.Snapshot().Status.Final() {
			<-r.Done() // nobody is told of an end that a crash could undo; the store answers every commit
		}
	}
	return r.Snapshot(), nil
}

// Cancel ends a run and every run below it, and returns at once. A run that has ended stays as it is.
func (e *Engine) Cancel(id event.RunID) error {
	r, err := e.run(id)
	if err != nil {
		return err
	}
	r.Cancel(fault.ErrCancelled)
	return nil
}

// RunInfo describes a run of this process, except for those that ended long ago, which the engine has forgotten.
func (e *Engine) RunInfo(id event.RunID) (history.Run, error) {
	r, err := e.run(id)
	if err != nil {
		return history.Run{}, err
	}
	return r.Info(), nil
}

// Steer tells a run something, and what its "@"s name; a prompt that it calls by "/" is told as text, and keeps the run
// its agent, model and tools. The run reads it at its next turn; of an iterated run the pass under way does, and those
// behind it. The error is of the kind not_found where this process has no such run, and not_allowed where it has spoken
// its last word.
func (e *Engine) Steer(id event.RunID, text string) error {
	r, err := e.run(id)
	if err != nil {
		return err
	}
	session, err := e.Session(r.In().ID)
	if err != nil {
		return err
	}
	call, err := findPrompt(e.process.Context, session, text)
	switch {
	case err != nil:
		return err
	case call != nil && len(call.commands) > 0:
		return &fault.Error{
			Kind: fault.NotAllowed,
			Detail: fmt.Sprintf("the prompt /%s runs commands, and a run under way can only be told a text",
				call.prompt.Name),
			Hint: "start a run with it, or wait for this one and follow it",
		}
	case call != nil:
		text = call.text
	}
	attached, err := mentioned(e.process.Context, session, r.Agent(), text)
	if err != nil {
		return err
	}
	for i, a := range attached {
		if a.Picture != nil { // a message is a text
			attached[i].Text = "(an image: look at it by `read`)\n"
		}
	}
	return r.Steer(run.FromUser, strings.TrimSpace(text)+prompt.Attached(attached))
}

// SaidPlan is the file of the plan that a run of this process gave as its last word without asking the user about it;
// empty where there is none. It may be called from any goroutine.
func (e *Engine) SaidPlan(id event.RunID) string {
	r, err := e.run(id)
	if err != nil {
		return ""
	}
	return r.SaidPlan()
}

// ExplainRun says how a call of a run of this process would be decided, with the bounds that its parents set. It is
// [Session.Explain] for a run instead of an agent.
func (e *Engine) ExplainRun(id event.RunID, toolName, subject string) (permission.Explanation, error) {
	r, err := e.run(id)
	if err != nil {
		return permission.Explanation{}, err
	}
	rights := r.Rights()
	return rights.Explain(e.process.Tools, toolName, subject)
}

// RunInstructions are the instructions that a run of this process was given.
func RunInstructions(e *Engine, id event.RunID) (instruction.Set, error) {
	r, err := e.run(id)
	if err != nil {
		return instruction.Set{}, err
	}
	return r.Instructions(), nil
}

// Retention deletes sessions.
func (e *Engine) Retention() *retention.Retention { return e.retention }

// Others tells what the other processes on the state folder have open.
func (e *Engine) Others() *elsewhere.Processes { return e.others }

// Answer answers an open question of any session. The first answer counts; the error of a later one is of the kind
// not_found.
func (e *Engine) Answer(id event.AskID, answer authority.Answer) error {
	var asks []*authority.Asks
	for _, s := range e.openSessions() {
		asks = append(asks, &s.shared.Asks)
	}
	return authority.AnswerOne(asks, id, answer)
}

func (e *Engine) openSessions() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	sessions := make([]*Session, 0, len(e.sessions))
	for _, s := range e.sessions {
		sessions = append(sessions, s)
	}
	return sessions
}

// Subscribe starts reading the events of a session behind the number since. For a session of another process, the
// stored events come. With an empty session, it reads all sessions of this process from now on.
func (e *Engine) Subscribe(session event.SessionID, since uint64) *feed.Subscription {
	var deserted func(context.Context) error
	if _, err := e.Session(session); err != nil && session != "" {
		deserted = func(ctx context.Context) error { return e.others.InterruptDeserted(ctx, session) }
	}
	return e.log.Subscribe(session, since, deserted)
}

// hideSecrets tells the redactor what of a configuration is secret: keys and the values of headers.
func hideSecrets(c *config.Config, getenv func(string) string, redactor *secret.Redactor) {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if key, ok := p.Key(getenv); ok {
			redactor.Add(p.KeyEnv, key)
		}
		for _, header := range slices.Sorted(maps.Keys(p.Headers)) {
			redactor.Add(name+" "+header, p.Headers[header])
		}
	}
	if c.WebsearchKeyEnv != "" {
		redactor.Add(c.WebsearchKeyEnv, getenv(c.WebsearchKeyEnv))
	}
}

// Redactor removes secrets from texts.
func (e *Engine) Redactor() *secret.Redactor { return e.process.Redactor }
