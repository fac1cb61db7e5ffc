package agentcore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
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
	// Config is the first configuration; SetConfig replaces it.
	Config *config.Config
	// Agents are the first definitions, but for those registered at run time; nil means the built-in ones. SetAgents
	// replaces them.
	Agents *agent.Registry
	// Skills are the first skills; nil means the built-in ones. SetSkills replaces them.
	Skills *skill.Set
	// Tools are what agents can do; nil means the built-in ones.
	Tools []tool.Tool
	// OpenModel makes the model of a choice; nil means the wires of this package (see OpenModel).
	OpenModel func(provider.Choice) (model.Model, error)
	// Editor is what an editor lends; nil where there is none.
	Editor Editor
	// Getenv reads the environment, for keys and the detection of providers; nil means os.Getenv.
	Getenv func(string) string
	// KeysFile holds keys that the environment lacks, as lines NAME=value; empty means none (see secret.Keys).
	KeysFile string
	// UserConfig is the path of the user's config.toml, where the tool statusline sets its key; empty means that it
	// cannot.
	UserConfig string
	// Redactor knows secrets that must not be stored, published or sent; nil means a new one. The engine adds the
	// keys of its providers.
	Redactor *secret.Redactor
	// Name is what this process is to a person who looks for it from another one, such as the editor's name; it may be
	// empty.
	Name string
	// TrustChanged is called when another process has changed which folders the user trusts, on a goroutine of the
	// engine, which waits for it; nil means that nobody is told.
	TrustChanged func()
	// Crash is called at the points that tests end the process at; nil is for everybody else.
	Crash crash.Hook
	// Now is the clock by which retention tells age; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Engine owns the sessions of one process and their store. Its methods may be called from any
// goroutine and never wait on a model; those that wait on the disk say so.
type Engine struct {
	store     *store.Store
	log       *feed.Log
	history   *history.Reader
	agents    *registry.Agents
	skills    atomic.Pointer[skill.Set]
	tools     map[string]tool.Tool
	toolOrder []tool.Tool
	openModel func(provider.Choice) (model.Model, error)
	editor    Editor              // nil where there is none
	getenv    func(string) string // for keys alone
	redactor  *secret.Redactor
	stateDir  string // absolute
	keysFile  string
	userFile  string // the user's config.toml, empty for none
	decisions *authority.Decisions
	machine   *slot.Machine // the slots of all processes on this state folder
	local     *provider.LocalServers
	crash     crash.Hook
	now       func() time.Time // for retention alone
	client    *http.Client     // of all models, so that runs share connections
	logger    *slog.Logger
	config    atomic.Pointer[config.Config]

	// ctx is the root of all runs; its cause tells a shutdown from a cancel.
	ctx    context.Context
	cancel context.CancelCauseFunc
	wait   sync.WaitGroup

	// probe finds probed, what of a sandbox the machine offers, when first needed.
	probe  sync.Once
	probed sandbox.Report
	// checking is held by the checkers that run in sandboxes, of which there may be many at once: a child for each
	// file.
	checking chan struct{}

	// storeFailing is set from a failed commit to the next good one, so that people hear of it once.
	storeFailing atomic.Bool

	mu       sync.Mutex
	closed   bool
	sessions map[event.SessionID]*Session
	runs     map[event.RunID]*run
	ended    []event.RunID // those of runs that have ended, oldest first
}

// keptRuns is how many ended runs the engine remembers. The store knows the others.
const keptRuns = 1000

// Open opens the store in the state folder and makes an engine on it. It waits on the disk. Runs that
// a former process left alive become interrupted; they are told as a notice when their session is opened.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	if e.store, err = store.Open(ctx, filepath.Join(o.StateDir, "agentls.db"), store.Options{
		Committed: e.committed, Failed: e.commitFailed, Damaged: e.damaged, Redact: e.redactor.Text, Name: o.Name,
		Crash: o.Crash, Logger: o.Logger,
	}); err != nil {
		return nil, fmt.Errorf("open the state in %s: %w", o.StateDir, err)
	}
	e.log.Use(e.store)
	e.history = history.New(history.Options{
		Store: e.store, Redact: e.redactor.Text, Output: e.outputOf, Narrow: authority.Narrowed,
		Live: func(id event.RunID) (history.Run, bool) { info, err := e.RunInfo(id); return info, err == nil },
	})
	if err := e.interruptDead(ctx); err != nil {
		return nil, errors.Join(err, e.store.Close(ctx))
	}
	if err := servers.EndLeft(serverMarks(e.stateDir)); err != nil {
		o.Logger.Warn("servers of a former process may be left", "error", err)
	}
	if err := command.ForgetOutputs(e.outputDir()); err != nil {
		o.Logger.Warn("old outputs of commands stay", "error", err)
	}
	if e.decisions, err = authority.NewDecisions(ctx, e.store); err != nil {
		return nil, errors.Join(err, e.store.Close(ctx))
	}
	agents := registry.Options{Store: e.store, Base: o.Agents, Known: e.Known, Logger: o.Logger}
	if e.agents, err = registry.Open(ctx, agents); err != nil {
		return nil, errors.Join(err, e.store.Close(ctx))
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.wait.Go(func() { e.retains(e.ctx) })
	e.wait.Go(func() { e.log.Trim(e.ctx, o.Logger) })
	if o.TrustChanged != nil {
		e.wait.Go(func() {
			e.decisions.Follow(e.ctx, o.TrustChanged, e.agents.Read, func(err error) {
				o.Logger.Warn("what other processes decide is not noticed at once", "error", err)
			})
		})
	}
	return e, nil
}

// prepare makes an engine without its store, and fills in what the options leave out.
func prepare(o *Options) (*Engine, error) {
	if o.Config == nil {
		o.Config = config.Default()
	}
	if o.Agents == nil {
		builtin, err := agent.Builtin()
		if err != nil {
			return nil, err
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
	stateDir, err := filepath.Abs(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("find the state folder: %w", err)
	}
	keys := &secret.Keys{Getenv: o.Getenv, File: o.KeysFile}
	e := &Engine{
		tools: map[string]tool.Tool{}, toolOrder: o.Tools,
		openModel: o.OpenModel, editor: o.Editor, getenv: keys.Get, redactor: o.Redactor, client: model.NewHTTPClient(),
		crash: o.Crash, now: o.Now, logger: o.Logger,
		stateDir: stateDir, keysFile: o.KeysFile, userFile: o.UserConfig,
		sessions: map[event.SessionID]*Session{}, runs: map[event.RunID]*run{},
		checking: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	e.local = &provider.LocalServers{Client: e.client, Getenv: e.getenv}
	for _, t := range o.Tools {
		e.tools[t.Spec().Name] = t
	}
	if e.openModel == nil {
		e.openModel = e.wireModel
	}
	e.SetConfig(o.Config)
	e.machine = slot.NewMachine(filepath.Join(stateDir, "slots"),
		func() int { return e.Config().MaxChildrenPerMachine })
	e.skills.Store(o.Skills)
	e.log = feed.New()
	return e, nil
}

// committed publishes events. It runs on the store's goroutine.
func (e *Engine) committed(events []event.Event) {
	if slices.ContainsFunc(events, func(one event.Event) bool { return !event.Transient(one.Body) }) {
		e.storeFailing.Store(false)
	}
	e.log.Append(events)
}

// commitFailed ends the runs whose events could not be stored: they would go on without a trace. What concerns
// no live run is told once. It runs on the store's goroutine.
func (e *Engine) commitFailed(events []store.NewEvent, err error) {
	if errors.Is(err, store.ErrClosed) {
		return // whoever closes the engine hears of it
	}
	failure := fault.Unstored(err)
	if !e.storeFailing.Swap(true) {
		e.logger.Error("what happens cannot be stored", "error", err)
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
			r.cancel(failure)
		}
	}
}

// damaged tells people that the database was found to be damaged. It runs on the store's goroutine.
func (e *Engine) damaged(err error) {
	e.log.AppendUnsaved(event.Event{Time: time.Now().UTC(), Body: event.Notice{
		Level: event.NoticeError, Message: "the database of agentls is damaged: " + err.Error(),
		Hint: "restart agentls: it repairs the database then, and keeps the damaged file",
	}})
}

// Repaired says, for a person, what Open did with a damaged database; "" if it was sound.
func (e *Engine) Repaired() string {
	if r := e.store.Recovery(); r != nil {
		return r.String()
	}
	return ""
}

// errShutdown is the cause of runs that end because the process does; they become interrupted.
var errShutdown = errors.New("agentls is shutting down")

// Interrupt ends every run as interrupted, and lets no other begin. It waits for nothing.
func (e *Engine) Interrupt() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel(errShutdown)
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
	e.client.CloseIdleConnections()
	for _, s := range sessions {
		s.close()
	}
	err := errors.Join(late, e.store.Close(ctx))
	e.log.Close()
	return err
}

// Config returns the configuration that new runs get.
func (e *Engine) Config() *config.Config { return e.config.Load() }

// SetConfig replaces the configuration. Runs keep the one that they started with.
func (e *Engine) SetConfig(c *config.Config) {
	hideSecrets(c, e.getenv, e.redactor)
	e.config.Store(c)
}

// SetSkills replaces the skills that new runs get, but in sessions with their own. Runs keep those that they started
// with.
func (e *Engine) SetSkills(skills *skill.Set) { e.skills.Store(skills) }

// Agents returns the definitions of this moment. A run keeps the one that it started with.
func (e *Engine) Agents() *agent.Registry { return e.agents.Now() }

// Registry is where definitions are registered at run time and replaced.
func (e *Engine) Registry() *registry.Agents { return e.agents }

// Known is what a definition may name now, without the skills that single sessions have.
func (e *Engine) Known() agent.Known {
	known := registry.Known(e.Config(), e.toolOrder, e.surroundings())
	known.Skills = append([]string{}, e.skills.Load().Names()...)
	known.Registry = e.Agents()
	known.Agents = append([]string{}, known.Registry.Names()...)
	return known
}

// Decisions are what the user decided: trust in folders, and permissions.
func (e *Engine) Decisions() *authority.Decisions { return e.decisions }

// Grants returns the permissions that were granted and hold, the latest first: all, or those that bind a session.
func (e *Engine) Grants(session event.SessionID) []permission.Grant {
	var folders []string
	if s, err := e.Session(session); err == nil {
		folders = s.view.Folders()
	}
	return e.decisions.Grants(session, folders)
}

// History reads what is stored of the sessions of any process.
func (e *Engine) History() *history.Reader { return e.history }

// OpenSession makes a session on a view. The findings that former sessions left open on the same roots
// come along where their lines still stand. It reads the disk.
func (e *Engine) OpenSession(ctx context.Context, view *workspace.View, title string) (*Session, error) {
	return e.openSession(ctx, view, title, func(s *Session) error { return s.board.AdoptFindings(ctx) })
}

// ContinueSession makes a session on a view as OpenSession does. What ended sessions on the same roots proposed comes
// along, too: the hunks that wait for the user and those that can be undone, under their old ids, and what runs had
// written that were interrupted. It reads the disk, and returns when that is durable.
func (e *Engine) ContinueSession(ctx context.Context, view *workspace.View, title string) (*Session, error) {
	return e.openSession(ctx, view, title, func(s *Session) error {
		s.continued = true
		if err := s.board.AdoptProposals(ctx, board.AdoptedUndos); err != nil {
			return err
		}
		if err := s.board.AdoptFindings(ctx); err != nil {
			return err
		}
		return s.Flush(ctx)
	})
}

// ResumeSession makes a session on a view as OpenSession does, for [Session.Resume] of a run. What that run, those that
// it went on with and their children proposed and nobody decided on comes along, so that files are as the conversation
// says; of other runs nothing does. It refuses where another process has those edits open. It reads the disk.
func (e *Engine) ResumeSession(ctx context.Context, view *workspace.View, title string,
	run event.RunID,
) (*Session, error) {
	runs, err := e.lineage(ctx, run)
	if err != nil {
		return nil, err
	}
	sessions, err := e.store.Waiting(ctx, runs)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		what := fmt.Sprintf("what the run %s proposed waits in the session %s, which", run, session)
		if err := e.openElsewhere(ctx, session, what,
			"accept or reject it there, or close it there, and resume the run then"); err != nil {
			return nil, err
		}
	}
	return e.openSession(ctx, view, title, func(s *Session) error {
		s.continued = true
		if err := s.board.AdoptProposals(ctx, 0, runs...); err != nil {
			return err
		}
		if err := s.board.AdoptFindings(ctx); err != nil {
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
	s := &Session{
		ID: event.NewSessionID(), engine: e, view: view, account: account{title: title}, created: time.Now().UTC(),
		budget: newBudget(), errands: newErrands(e.ctx),
		slots: slot.NewPool(func() int { return e.Config().MaxChildrenPerSession }),
	}
	s.events = feed.Writer{Session: s.ID, Store: e.store}
	s.asks.Events = s.events
	s.board = board.New(board.Options{View: view, Events: s.events, Title: s.Title, Chain: e.chain, Crash: e.crash})
	s.servers = newServers(s)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, errShutdown
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

func (e *Engine) run(id event.RunID) (*run, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.runs[id]; r != nil {
		return r, nil
	}
	return nil, fault.Missing("run", string(id), "it may have ended long ago, or in an earlier session")
}

// chain is the first of the runs of a run's prompt; empty for a run that the engine does not remember.
func (e *Engine) chain(id event.RunID) event.RunID {
	r, err := e.run(id)
	if err != nil {
		return ""
	}
	return r.chain()
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

// Wait returns the result of a run when it has ended and that is durable. When ctx ends first it
// returns the state of that moment, without an error. A run of another process, or of long ago, has the result
// that is stored; one that another process works on is waited for, too.
func (e *Engine) Wait(ctx context.Context, id event.RunID) (event.RunResult, error) {
	r, err := e.run(id)
	if err != nil {
		if err := e.waitElsewhere(ctx, id); err != nil && ctx.Err() == nil {
			return event.RunResult{}, err
		}
		return e.formerResult(context.WithoutCancel(ctx), id)
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.snapshot().Status.Final() {
			<-r.done // nobody hears of an end that would not survive a crash; the store answers every commit
		}
	}
	return r.snapshot(), nil
}

// formerResult returns what is stored of a run that the engine does not remember.
func (e *Engine) formerResult(ctx context.Context, id event.RunID) (event.RunResult, error) {
	row, err := e.store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return event.RunResult{}, fault.Missing("run", string(id),
			"list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return event.RunResult{}, fmt.Errorf("read the run %s: %w", id, err)
	}
	result := event.RunResult{
		Status: row.Status, Reason: row.Reason, Output: row.Response, Usage: row.Usage, Turns: row.Turns,
		DurationMs: row.Duration.Milliseconds(), Proposal: row.Proposal,
	}
	if !row.Status.Final() {
		result.DurationMs = max(0, time.Since(row.Created).Milliseconds())
	}
	if row.Copied {
		turns, err := e.store.CopiedTurns(ctx, row.Session)
		if err != nil {
			return event.RunResult{}, err
		}
		result.Turns = turns[id]
	}
	result.Outcome = row.Outcome()
	if len(row.FilesModified) > 0 {
		session, err := e.history.Session(ctx, row.Session)
		if err != nil {
			return result, err
		}
		result.Files = history.ChangedFiles(session.Roots, row.FilesModified)
	}
	if len(row.Failure) > 0 {
		result.Error = &event.Failure{}
		if err := json.Unmarshal(row.Failure, result.Error); err != nil {
			return result, fmt.Errorf("read why the run %s failed: %w", id, err)
		}
	}
	if len(row.Result) > 0 {
		result.Result = &event.ChildResult{}
		if err := json.Unmarshal(row.Result, result.Result); err != nil {
			return result, fmt.Errorf("read the report of the run %s: %w", id, err)
		}
	}
	if result.ToolCalls, err = e.formerCalls(ctx, row); err != nil {
		return result, err
	}
	children, err := e.store.Children(ctx, id)
	if err != nil {
		return result, fmt.Errorf("read the children of the run %s: %w", id, err)
	}
	for _, c := range children {
		if c.Role != history.RoleHidden {
			result.Children = append(result.Children, c.ID)
		}
	}
	return result, nil
}

// formerCalls are the calls that are stored of a run.
func (e *Engine) formerCalls(ctx context.Context, row store.Run) (list []event.CallSummary, err error) {
	calls, err := e.store.ToolCalls(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read the tool calls of the run %s: %w", row.ID, err)
	}
	for _, c := range calls {
		summary := event.CallSummary{
			Name: c.Tool, Status: c.Status,
			DurationMs: c.Finished.Sub(c.Started).Milliseconds(),
		}
		if c.Status == "" {
			if !row.Status.Final() {
				continue // another process is about to make it
			}
			summary.Status, summary.DurationMs = event.CallCancelled, 0 // the process ended before the call did
		}
		list = append(list, summary)
	}
	return list, nil
}

// Cancel ends a run and every run below it. It returns at once; an ended run is left as it is.
func (e *Engine) Cancel(id event.RunID) error {
	r, err := e.run(id)
	if err != nil {
		return err
	}
	r.cancel(fault.ErrCancelled)
	return nil
}

// history.Run describes a run of this process; those that ended long ago are forgotten.
func (e *Engine) RunInfo(id event.RunID) (history.Run, error) {
	r, err := e.run(id)
	if err != nil {
		return history.Run{}, err
	}
	return r.info(), nil
}
