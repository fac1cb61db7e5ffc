package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// cancelTime is how long a cancelled run may take to end.
	cancelTime = 5 * time.Second
	// maxStdin bounds a text from standard input, in bytes.
	maxStdin = 8 << 20
)

// workFlags are the flags that the commands share which have agents work.
type workFlags struct {
	*settings
	format   string
	write    bool
	failOn   string
	model    string
	effort   string
	maxTurns int
	timeout  time.Duration
	maxCost  float64
	// permissionMode is how much the run asks, "" for the agent's own.
	permissionMode string
	root           string
	quiet          bool
	stdinFilename  string
	ignoreDenied   bool
}

// add adds all of them to a command.
func (f *workFlags) add(c *cobra.Command, failOn string) {
	flags := c.Flags()
	flags.StringVar(&f.format, "format", "text", "what to print: text, json, sarif or diff")
	flags.StringVar(&f.failOn, "fail-on", failOn,
		"exit with 1 for a finding that is at least an error, warning, information or hint, or never")
	f.addRun(c)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	flags.BoolVar(&f.ignoreDenied, "ignore-denied", false, "do not exit with 4 when calls were denied")
	flags.StringVar(&f.stdinFilename, "stdin-filename", "", "the `file` that a text from standard input (-) stands for")
}

// addRun adds those that are about the runs themselves.
func (f *workFlags) addRun(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.write, "write", false, "write the proposed edits to the files")
	flags.StringVar(&f.model, "model", "", "`provider/model`, a preset, or offline")
	flags.StringVar(&f.effort, "effort", "",
		"how much the model thinks: "+strings.Join(model.Efforts, ", ")+" (default: the agent's or the model's own)")
	flags.IntVar(&f.maxTurns, "max-turns", 0,
		"greatest number of turns of a run, each an answer of the model (0: the agent's own)")
	flags.DurationVar(&f.timeout, "timeout", 0, "greatest `duration` of a run, such as 90s (0: the agent's own)")
	flags.Float64Var(&f.maxCost, "max-cost", 0, "greatest cost of a run in US `dollars` (0: the agent's own)")
	flags.StringVar(&f.permissionMode, "permission-mode", "",
		"which calls need your permission: "+strings.Join(modeNames, ", ")+" (default: the agent's own)")
	flags.StringVar(&f.root, "root", "",
		"the workspace `folder` (default: the current folder if it holds the files, else their git repository)")
}

// formats are the values of --format.
var formats = []string{"text", "json", "sarif", "diff"}

// severities are the values of --fail-on but for never, the gravest first.
var severities = []string{
	string(event.SeverityError), string(event.SeverityWarning), string(event.SeverityInformation),
	string(event.SeverityHint),
}

// modeNames are the values of --permission-mode.
var modeNames = []string{
	string(permission.Default), string(permission.Plan), string(permission.AcceptEdits), string(permission.Bypass),
}

// check refuses values that make no sense, before anything is done.
func (f *workFlags) check() error {
	switch {
	case !slices.Contains(formats, f.format):
		return usage("there is no format %q%s", f.format,
			cmp.Or(didYouMean(f.format, formats), "; write --format "+strings.Join(formats, ", ")))
	case f.failOn != "never" && !slices.Contains(severities, f.failOn):
		known := append(slices.Clone(severities), "never")
		return usage("there is no severity %q%s", f.failOn,
			cmp.Or(didYouMean(f.failOn, known), "; write --fail-on "+strings.Join(known, ", ")))
	case !model.Effort(f.effort).Valid():
		return usage("there is no effort %q%s", f.effort,
			cmp.Or(didYouMean(f.effort, model.Efforts), "; write one of "+strings.Join(model.Efforts, ", ")))
	case f.maxTurns < 0:
		return usage("--max-turns is %d; write a number of turns, or 0 for the agent's own", f.maxTurns)
	case f.permissionMode != "" && !slices.Contains(modeNames, f.permissionMode):
		return usage("there is no permission mode %q%s", f.permissionMode,
			cmp.Or(didYouMean(f.permissionMode, modeNames), "; write one of "+strings.Join(modeNames, ", ")))
	case !(f.maxCost >= 0): // nor is what is no number
		return usage("--max-cost is %v; write dollars, or 0 for the agent's own", f.maxCost)
	case f.timeout < 0:
		return usage("--timeout is %s; write a time such as 90s, or 0 for the agent's own", f.timeout)
	}
	return nil
}

// job is what a command asks of an agent.
type job struct {
	agent  string // "" for the default agent
	prompt string
	title  string
	files  []string // as they were named; "-" is a text on standard input
	each   bool     // whether each file gets a run of its own
	// folders says that a folder stands for the files in it.
	folders bool
	// changes are the changes that the job is about, in the named files and folders, if any.
	changes git.Scope
	// resume is the run that this job goes on with, with the same agent.
	resume event.RunID
	// schema is the output schema of the answer, as it was written; empty for none.
	schema json.RawMessage
	// iterations and until are the run's limit of passes and the check that ends them.
	iterations int
	until      string
	// goal is the check by the name of a goal.
	goal string
}

// work has an agent do a job and prints the result.
func (p *process) work(ctx context.Context, f *workFlags, j job) error {
	if err := f.check(); err != nil {
		return err
	}
	files, text, err := p.readStdin(f, j.files)
	if err != nil {
		return err
	}
	root, paths, err := p.rootOf(f, &j, files)
	if err != nil {
		return err
	}
	return p.opened(ctx, f, j, workplace{root, paths, text},
		func(engine *agentcore.Engine, view *workspace.View, trust authority.FolderTrust, paths []string) error {
			return p.conduct(ctx, f, engine, view, trust, j.request(f, distinct(paths)), j.resume)
		})
}

// workplace is what a job works on: a folder, the files that are meant in it, absolute, and the text from standard
// input, if there is one.
type workplace struct {
	root  workspace.Root
	paths []string
	text  *string
}

// opening holds the parts of a job's engine until the engine is open.
type opening struct {
	cfg      *config.Config
	dirs     config.Dirs
	trust    authority.FolderTrust
	projects []string // the folders that the user trusts
	options  agentcore.Options
	adapt    func(*agentcore.Options) // see openSite
	tried    trial
	state    *agentcore.State // nil where there is none, and once it is the engine's
}

// load reads the configuration and the agents of a folder, as far as the user trusts it. For an agent that may start
// commands, it meanwhile has the sandbox tried.
func (o *opening) load(ctx context.Context, p *process, f *workFlags, j job, root string) (err error) {
	var problems []config.Problem
	o.cfg, problems, o.dirs, o.trust, err = p.loadTrusting(f.settings, root,
		func(dirs config.Dirs) (t authority.FolderTrust, err error) {
			own, _, _, err := p.load(f.settings)
			if err == nil && (j.agent == "" || j.agent == own.DefaultAgent) && made(dirs.State) {
				// begun before the agent is known, since the default agent usually may start commands
				o.tried.begin(ctx, p, own, dirs)
			}
			o.options = p.engineOptions(nil, dirs, nil)
			o.options.Name = "the command line"
			t, o.state, err = p.openTrust(ctx, dirs, o.options, root)
			return t, err
		})
	if err != nil {
		return err
	}
	p.tellProblems(problems, f.quiet)
	p.tellUntrusted(o.trust, f.quiet)
	o.projects = trustedFolders(o.trust, root)
	if o.options.Agents, err = p.agents(ctx, o.cfg, o.dirs, o.projects...); err != nil {
		return err
	}
	if d, err := o.options.Agents.Find(cmp.Or(j.agent, o.cfg.DefaultAgent)); err == nil && d.Allows("bash") {
		o.tried.begin(ctx, p, o.cfg, o.dirs)
	}
	return nil
}

// closeState closes the state unless an engine has taken it over.
func (o *opening) closeState(ctx context.Context) error {
	if o.state == nil {
		return nil
	}
	return o.state.Close(context.WithoutCancel(ctx))
}

// engine opens the engine, unless the files that act in the folder are no longer those that the user trusts.
func (o *opening) engine(ctx context.Context, p *process) (*agentcore.Engine, error) {
	skills, err := skill.Load(ctx, skill.Folders(o.dirs.Config, p.home, o.projects...))
	if err != nil {
		return nil, fmt.Errorf("load the skills: %w", err)
	}
	if len(o.projects) > 0 {
		if err := o.trust.Unchanged(ctx); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	o.options.Config, o.options.Skills, o.options.UserConfig, o.options.Home = o.cfg, skills, o.dirs.File, p.home
	o.options.ConfigDir = o.dirs.Config
	o.options.Sandbox, o.options.SandboxLevel = o.tried.report, o.tried.level
	o.options.State = o.state
	if o.adapt != nil {
		o.adapt(&o.options)
	}
	repairTold := o.state != nil
	o.state = nil // the engine's
	engine, err := agentcore.Open(ctx, o.options)
	if err != nil {
		return nil, fmt.Errorf("%w; make the state folder %s usable, or name another in AGENTLS_STATE", err,
			o.dirs.State)
	}
	if text := engine.Repaired(); text != "" && !repairTold {
		if _, err := fmt.Fprintln(p.stderr, "agentls:", text); err != nil {
			return nil, errors.Join(err, engine.Close(context.WithoutCancel(ctx)))
		}
	}
	return engine, nil
}

// made reports whether a folder exists.
func made(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}

// trial finds out which sandbox the machine offers, while other work before a run goes on: the run's prompt says what
// its commands see and reach. The zero value has not begun.
type trial struct {
	// report waits for the result, and level for its level; nil where the trial has not begun.
	report func() sandbox.Report
	level  func() sandbox.Level
	cancel context.CancelFunc
}

// begin starts the trial, unless it has begun or the user wants no sandbox.
func (t *trial) begin(ctx context.Context, p *process, cfg *config.Config, dirs config.Dirs) {
	if t.report != nil || cfg.Sandbox == config.SandboxOff {
		return
	}
	probe := p.probe
	if probe == nil {
		probe = sandbox.Try
	}
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	told := make(chan sandbox.Level, 1)
	t.level = sync.OnceValue(func() sandbox.Level { return <-told })
	t.report = sync.OnceValue(func() sandbox.Report {
		return probe(ctx, run.SandboxDir(dirs.State), func(l sandbox.Level) { told <- l })
	})
	go t.report()
}

// end ends the trial, and waits for its end.
func (t *trial) end() {
	if t.report != nil {
		t.cancel()
		t.report()
	}
}

// openView opens the workspace of a job's files, and returns the files. The file that is named - has the text from
// standard input.
func openView(ctx context.Context, root workspace.Root, paths []string, text *string, j job,
) (*workspace.View, []string, error) {
	view, err := workspace.Open([]workspace.Root{root}, workspace.Options{})
	if err != nil {
		return nil, nil, err
	}
	if text != nil {
		view.SetDocument(paths[slices.Index(j.files, "-")], *text, 0)
	}
	if j.folders {
		paths, err = inFolders(ctx, view, paths)
	}
	if err = errors.Join(err, readable(view, paths)); err != nil {
		view.Close()
		return nil, nil, err
	}
	return view, paths, nil
}

// request makes the engine's request for a job on some files.
func (j job) request(f *workFlags, paths []string) agentcore.RunRequest {
	request := agentcore.RunRequest{
		Agent: j.agent, Prompt: j.prompt, Title: j.title, Model: f.model, Effort: model.Effort(f.effort),
		Limits:         agent.Limits{MaxTurns: f.maxTurns, Timeout: f.timeout, Cost: f.maxCost},
		PermissionMode: permission.Mode(f.permissionMode), Iterations: j.iterations, Until: j.until, Goal: j.goal,
		OutputSchema: j.schema,
		Changes:      j.changes,
	}
	if j.each && len(paths) > 1 {
		request.Each = paths
	} else {
		request.Context.Paths = paths
	}
	return request
}

// startable is an error if there is no agent with this name or, where none is named, no default agent.
func startable(agents *agent.Registry, name, byDefault string) error {
	if name != "" {
		_, err := findAgent(agents, name)
		return err
	}
	if _, err := findAgent(agents, byDefault); err != nil {
		return usage("default_agent of the configuration: %w", err)
	}
	return nil
}

// conduct starts the run, follows it to its end, and prints the result. trust is how far the user trusts the folder.
// resume is the run that it goes on with, if any.
func (p *process) conduct(ctx context.Context, f *workFlags, engine *agentcore.Engine, view *workspace.View,
	trust authority.FolderTrust, request agentcore.RunRequest, resume event.RunID,
) error {
	root := view.Roots()[0].Path
	trusted := trustedFolders(trust, root)
	session, err := openSession(ctx, engine, view, trust, request.Title, resume)
	if err != nil {
		return err
	}
	w := p.newWatch(f, engine)
	events := engine.Subscribe("", 0)
	// An interrupt must end the run, whose results so far are shown, and not its start.
	start := func() (event.RunID, error) { return session.Start(context.WithoutCancel(ctx), request) }
	if resume != "" {
		start = func() (event.RunID, error) { return session.ResumeWith(context.WithoutCancel(ctx), resume, request) }
	}
	run, err := start()
	if fault.Is(err, fault.Unchanged) {
		return p.unchanged(f, err)
	} else if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := w.follow(ctx, events, run); err != nil {
		return err
	}
	r, err := gather(ctx, p.dir, session, w, run)
	if err != nil {
		return err
	}
	r.unmet = request.Until+request.Goal != "" && w.progress.tree.unmet()
	r.leftOpen = w.progress.tree.leftOpen(len(request.Each) > 0)
	var refused error
	if f.write {
		if refused, err = r.accept(ctx, session); err != nil {
			return err
		}
	}
	r.held = len(request.OutputSchema) > 0
	if err := p.deliver(f, r); err != nil {
		return err
	}
	code := r.exitCode(f.failOn)
	switch {
	case refused != nil:
		return &exitError{exitFailed, refused}
	case code == exitOK && f.ignoreDenied:
		return nil
	case code == exitOK:
		return r.deniedError(root, len(trusted) > 0)
	case w.cut:
		return &exitError{code, nil} // the user who interrupted it knows why
	}
	return &exitError{code, r.failure()}
}

// newWatch watches the runs of an engine, and asks the user at a terminal.
func (p *process) newWatch(f *workFlags, engine *agentcore.Engine) *watch {
	w := &watch{
		engine: engine, progress: progress{out: p.stderr, quiet: f.quiet, tree: newTree()},
		findings: map[event.FindingID]reported{}, asks: terminalAsks{engine: engine},
	}
	if p.stdinTerminal && p.stderr.terminal {
		w.asks.in = p.stdin
	}
	return w
}

// deliver prints a result in the chosen format.
func (p *process) deliver(f *workFlags, r *result) error {
	text, err := r.encode(f.format, p)
	if err != nil {
		return err
	}
	return p.print(text)
}

// deniedError returns the error of a run that completed although calls were denied; nil if none was.
func (r *result) deniedError(root string, trusted bool) error {
	if denied := r.refusal(root, trusted); denied != nil {
		return &exitError{exitDenied, denied}
	}
	return nil
}

// openSession makes the session of a run, or of one that goes on with another, on a folder that the user trusts so far.
func openSession(ctx context.Context, engine *agentcore.Engine, view *workspace.View, trust authority.FolderTrust,
	title string, resume event.RunID,
) (session *agentcore.Session, err error) {
	if resume == "" {
		session, err = engine.OpenSession(ctx, view, title)
	} else {
		session, err = engine.ResumeSession(ctx, view, title, resume)
	}
	if refusal, ok := errors.AsType[*fault.Error](err); ok && resume != "" {
		return nil, &exitError{exitUsage, refusal}
	} else if err != nil {
		return nil, err
	}
	root := view.Roots()[0].Path
	trusted := trustedFolders(trust, root)
	session.SetFolders(map[string]authority.FolderTrust{root: trust})
	session.SetTrusted(len(trusted) > 0, trusted...)
	return session, nil
}

// readStdin returns the files, with the name that "-" stands for in its place, and the text from standard input if "-"
// is among them.
func (o *console) readStdin(f *workFlags, files []string) ([]string, *string, error) {
	at := slices.Index(files, "-")
	switch {
	case at < 0 && f.stdinFilename != "":
		return nil, nil, usage("--stdin-filename is for a text from standard input; write - among the files")
	case at < 0:
		return files, nil, nil
	case f.stdinFilename == "":
		return nil, nil, usage("- reads a text from standard input; say with --stdin-filename which file it stands for")
	case f.write:
		return nil, nil, usage("--write does not go with a text from standard input; take the edits from --format diff")
	case slices.Contains(files[at+1:], "-"):
		return nil, nil, usage("- is there twice; standard input can be read once")
	}
	data, err := io.ReadAll(io.LimitReader(o.stdin, maxStdin+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read standard input: %w", err)
	case len(data) > maxStdin:
		return nil, nil, usage("the text on standard input has more than %d bytes; work on a smaller one", maxStdin)
	case bytes.IndexByte(data, 0) >= 0 || !validText(data):
		return nil, nil, usage("the text on standard input is not UTF-8; convert it first")
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	named := slices.Clone(files)
	named[at] = f.stdinFilename
	return named, &text, nil
}

// readable tries every file, so that all files that cannot be worked on are reported together.
func readable(view *workspace.View, paths []string) error {
	var faults []error
	for _, path := range paths {
		if _, err := view.Read(path); err != nil {
			faults = append(faults, toPerson(err))
		}
	}
	return errors.Join(faults...)
}

// toPerson replaces the hint for a file that cannot be read by one for a person at a shell, since the file's own hint
// is for models.
func toPerson(err error) error {
	problem, ok := errors.AsType[*workspace.FileError](err)
	if !ok {
		return err
	}
	told := *problem
	switch told.Kind {
	case workspace.Directory:
		told.Hint = "name the files in it that are to be worked on"
	case workspace.NotFound:
		told.Hint = "check its name"
	}
	return &told
}

// distinct removes repeated paths.
func distinct(paths []string) []string {
	var list []string
	for _, path := range paths {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// reported is a finding with the run that made it.
type reported struct {
	event.Finding
	run event.RunID
}

// watch follows a run.
type watch struct {
	engine   *agentcore.Engine
	progress progress
	findings map[event.FindingID]reported
	asks     terminalAsks
	denials  denials
	// cut says that something ended the run before its own end.
	cut bool
}

// errLate is that of a run that goes on after it was cancelled.
var errLate = errors.New(
	"the run did not end in time after it was cancelled; its findings so far are in the state folder")

type delivery struct {
	event event.Event
	err   error
}

// deliver reads events until ctx ends, or the last one was read, which is an error.
func deliver(ctx context.Context, events *feed.Subscription) <-chan delivery {
	deliveries := make(chan delivery)
	go func() {
		for {
			e, err := events.Next(ctx)
			select {
			case deliveries <- delivery{e, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return deliveries
}

// follow reads the events until the run has ended. When ctx ends it ends the run, and waits for that a
// bounded time.
func (w *watch) follow(ctx context.Context, events *feed.Subscription, root event.RunID) error {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	deliveries := deliver(reading, events)
	ticks := time.NewTicker(redrawInterval)
	defer ticks.Stop()
	defer w.progress.end()
	ended := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case d := <-deliveries:
			if d.err != nil {
				if w.cut && errors.Is(d.err, feed.ErrClosed) {
					return nil
				}
				return fmt.Errorf("follow the run: %w", d.err)
			}
			w.take(d.event)
			if _, finished := d.event.Body.(event.RunFinished); finished && d.event.Run == root {
				return nil
			}
		case line := <-w.asks.lines:
			w.say(w.asks.typed(line))
		case <-ticks.C:
			if !w.asks.asking() { // drawing would cover what the user types
				w.progress.tick()
			}
		case <-ended:
			ended, w.cut = nil, true
			late = time.After(cancelTime)
			w.end(ctx, root)
		case <-late:
			return errLate
		}
	}
}

// end cancels the run. For SIGTERM, it lets the engine interrupt the run, so that it can be resumed.
func (w *watch) end(ctx context.Context, root event.RunID) {
	var cause interrupted
	if errors.As(context.Cause(ctx), &cause) && cause.code == exitTerminated {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		go func() {
			defer cancel()
			_ = w.engine.Close(closing) // reported when it is closed again at the end
		}()
		return
	}
	_ = w.engine.Cancel(root) // it fails only if there is no such run, and there is one
}

// note notes what an event says of findings and denied calls.
func (w *watch) note(e event.Event) {
	switch body := e.Body.(type) {
	case event.FindingReported:
		if w.progress.tree.nodes[e.Run] != nil {
			// findings of former sessions are among them, with the runs that made them
			w.findings[body.Finding.ID] = reported{body.Finding, e.Run}
			w.recount()
		}
	case event.FindingCleared:
		delete(w.findings, body.Finding)
		w.recount()
	}
	if n := w.progress.tree.nodes[e.Run]; n != nil {
		w.denials.take(e, n.agent)
	}
}

// take notes one event, and shows it.
func (w *watch) take(e event.Event) {
	w.note(e)
	switch body := e.Body.(type) {
	case event.AskOpened:
		w.say(w.asks.opened(e.Session, body.Ask))
	case event.AskResolved:
		w.say(w.asks.resolved(body.Ask))
	}
	if w.asks.asking() {
		w.progress.tree.apply(e)
		return
	}
	w.progress.show(e)
}

// say writes a line of its own.
func (w *watch) say(text string) {
	if text != "" {
		w.progress.erase()
		w.progress.write(text + "\n")
	}
}

// recount tells the tree how many findings each run has, those of its children included.
func (w *watch) recount() {
	counts := map[event.RunID]int{}
	for _, f := range w.findings {
		counts[f.run]++
	}
	for id, n := range w.progress.tree.nodes {
		n.findings = counts[id]
	}
	for id := range counts {
		if n := w.progress.tree.nodes[id]; n != nil {
			for above := n.parent; above != nil; above = above.parent {
				above.findings += counts[id]
			}
		}
	}
}
