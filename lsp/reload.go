package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/watch"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/lending"
)

// reloader keeps the definitions, skills and configuration as they are on the disk. Code that knows of a change calls
// touch; one goroutine then reads everything again and hands new snapshots to the engine. A file that cannot be used
// does not affect the others.
//
// The editor's own file events are not enough, even where it announces them: Helix tells only what it has saved itself,
// and no editor looks at the user's folders outside the workspace.
type reloader struct {
	*window
	trust *trust
	// shown makes the surfaces read the settings again, and refreshes the diagnostics of files. Neither waits.
	shown   func()
	touched func(paths ...string)
	news    chan struct{}     // has room for one value, which says that something may have changed
	asks    chan chan<- error // callers that wait for the next reload; each channel has room for its outcome
	loader  agent.Loader      // owned by load, which runs before run begins, and then in run
	now     atomic.Pointer[authoring.Vocabulary]

	// lender and surroundings exist before the engine, which is opened with what they find.
	lender       *lending.Lender
	surroundings provider.Surroundings
	// settled says that the settings were read and asked for. Only a try to open the engine uses it, and there is one
	// try at a time.
	settled bool

	mu      sync.Mutex
	targets []watch.Target

	// The fields below are owned by run.
	faulty map[string]bool // files that had errors
	told   map[string]bool // errors that the user was told of
}

func newReloader(w *window, lender *lending.Lender) *reloader {
	keys := &secret.Keys{Getenv: w.options.Getenv, File: w.options.Dirs.Keys()}
	return &reloader{
		window: w, news: make(chan struct{}, 1), asks: make(chan chan<- error), faulty: map[string]bool{},
		told: map[string]bool{}, lender: lender,
		surroundings: provider.Surroundings{Getenv: keys.Get, Editor: lender},
	}
}

// vocabulary returns what can be named now; before the first load, what is built in.
func (r *reloader) vocabulary() *authoring.Vocabulary {
	v := r.now.Load()
	loaded := v != nil
	if !loaded {
		v = builtinVocabulary()
	}
	with := *v
	with.Imports, with.Matches = r.imports, r.matches
	if loaded && r.ready() {
		with.Registry = r.engine.Agents() // includes those registered at run time
	}
	return &with
}

// builtinVocabulary is the vocabulary of a server without any file.
var builtinVocabulary = sync.OnceValue(func() *authoring.Vocabulary {
	builtin, err := agent.Builtin()
	if err != nil {
		builtin = nil // the error is reported where an engine is opened
	}
	return &authoring.Vocabulary{
		Registry: agent.NewRegistry(builtin...), Skills: skill.NewSet(skill.Builtin()...), Config: config.Default(),
		Usable: usable(provider.Surroundings{}),
	}
})

// usable makes the function that finds what a configuration offers to definitions, with the models in these
// surroundings.
func usable(in provider.Surroundings) func(*config.Config) agent.Known {
	return func(cfg *config.Config) agent.Known { return registry.Known(cfg, nil, in) }
}

// touch says that anything may have changed. It never waits.
func (r *reloader) touch() { wake(r.news) }

// changed says that these files have changed on disk; nil means any. It never waits.
func (r *reloader) changed(paths []string) {
	if paths == nil || slices.ContainsFunc(paths, r.concerns) {
		r.touch()
	}
}

// concerns reports whether a file may be read by load.
func (r *reloader) concerns(path string) bool {
	if r.authoredKind(path) != authoring.None {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.targets, func(t watch.Target) bool { return strings.HasPrefix(path, t.Path) })
}

// roots are the workspace folders whose files count: those that the user trusts.
func (r *reloader) roots() []string { return r.trust.roots() }

// foreign are the folders of other tools whose files are read, too, below a project or the home folder.
var foreign = []string{
	".claude/agents", ".claude/commands", ".claude/skills", ".opencode/agent", ".opencode/agents", ".opencode/command",
	".opencode/commands",
}

// watched are the files and folders that load reads.
func (r *reloader) watched() []watch.Target {
	const deep = 4 // plugins/NAME/skills/NAME
	dirs := r.options.Dirs
	var list []watch.Target
	if dirs.Config != "" {
		list = append(list, watch.Target{Path: dirs.Config, Depth: deep})
	}
	if dirs.File != "" && filepath.Dir(dirs.File) != dirs.Config {
		list = append(list, watch.Target{Path: dirs.File})
	}
	// Folders that are not trusted are watched, too, since the user is asked about files that appear there.
	roots := r.folders()
	for _, base := range append(slices.Clone(roots), r.home()) {
		if base == "" {
			continue
		}
		for _, name := range foreign {
			list = append(list, watch.Target{
				Path: filepath.Join(base, filepath.FromSlash(name)), Base: base, Depth: deep,
			})
		}
	}
	for _, root := range roots {
		list = append(list, watch.Target{Path: filepath.Join(root, ".agentls"), Base: root, Depth: deep},
			watch.Target{Path: filepath.Join(root, config.ProjectServers)},
			watch.Target{Path: filepath.Join(root, ".github", "prompts"), Base: root, Depth: 1})
		for _, name := range instruction.Named() {
			list = append(list, watch.Target{Path: filepath.Join(root, filepath.FromSlash(name)), Base: root, Depth: 1})
		}
	}
	for _, name := range r.trust.actors() {
		if !slices.ContainsFunc(list,
			func(t watch.Target) bool { return strings.HasPrefix(name, t.Path+string(filepath.Separator)) }) {
			list = append(list, watch.Target{Path: name})
		}
	}
	return list
}

// run reads again when something has changed, until ctx ends.
func (r *reloader) run(ctx context.Context) {
	var watcher *watch.Watcher
	err := r.caught(func() (err error) {
		watcher, err = watch.Start(r.aim(), watch.Options{
			Changed: r.changed,
			Failed: func(err error) {
				r.logger.Warn("a change of a definition may go unnoticed", "error", err)
			},
		})
		return err
	})
	if err != nil {
		// The editor's own events and each save still tell of changes.
		r.logger.Warn("changes of definitions by other programs are not noticed", "error", err)
	} else {
		defer func() {
			if err := watcher.Close(); err != nil {
				r.logger.Warn("the watch of the definitions did not end well", "error", err)
			}
		}()
	}
	r.touch() // for changes since the first load
	for {
		var waiting chan<- error
		select {
		case <-r.news:
		case waiting = <-r.asks:
		case <-ctx.Done():
			return
		}
		err := r.caught(func() error {
			if before := r.targets; watcher != nil {
				if targets := r.aim(); !slices.Equal(targets, before) {
					watcher.Set(targets)
				}
			}
			r.reload(ctx)
			return nil
		})
		if waiting != nil {
			waiting <- err
		} else if err != nil {
			r.tell(ctx, protocol.MessageTypeError, "agentls: "+err.Error())
		}
	}
}

// aim finds out again what has to be watched.
func (r *reloader) aim() []watch.Target {
	targets := r.watched()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets = targets
	return targets
}

// again reads everything again, and waits for that.
func (r *reloader) again(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case r.asks <- done:
	case <-ctx.Done():
		return ctx.Err()
	case <-r.background.Done():
		return context.Cause(r.background)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-r.background.Done():
		return context.Cause(r.background)
	}
}

// settingsTime bounds how long the first run waits for the editor's settings.
const settingsTime = 2 * time.Second

// settle reads the settings. The first call asks the editor for its own, then and after each change.
func (r *reloader) settle(ctx context.Context) {
	r.settings.load()
	if r.settled {
		return
	}
	asked := make(chan struct{})
	r.settings.renew(nil)
	r.goes(func(ctx context.Context) { r.followSettings(ctx, asked) })
	patience := time.NewTimer(settingsTime)
	defer patience.Stop()
	select {
	case <-asked:
	case <-patience.C: // the settings count when they come
	case <-ctx.Done():
	}
	r.settled = true
}

// followSettings reads the settings again after each change, until ctx ends: it asks the editor or, where the editor
// does not answer, takes what the editor sent. It closes asked after the first time.
func (r *reloader) followSettings(ctx context.Context, asked chan<- struct{}) {
	for first := true; ; first = false {
		select {
		case <-r.settings.news:
		case <-ctx.Done():
			return
		}
		r.guarded(func() { r.readSettings(ctx) })
		if first {
			close(asked)
		}
		if r.ready() { // otherwise the engine is opened with these settings
			r.touch()
		}
	}
}

// engineOptions are the options that the engine is opened with.
func (r *reloader) engineOptions(v *authoring.Vocabulary) agentcore.Options {
	o := r.options
	return agentcore.Options{
		StateDir: o.Dirs.State, Config: v.Config, Agents: v.Registry, Skills: v.Skills, OpenModel: o.OpenModel,
		Getenv: o.Getenv, KeysFile: o.Dirs.Keys(), UserConfig: o.Dirs.File, Home: r.home(), ConfigDir: o.Dirs.Config,
		Redactor: o.Redactor,
		Crash:    o.Crash,
		Logger:   r.logger, Name: r.client.Title(), TrustChanged: r.touch, Editor: r.lender,
	}
}

// begin finds out which folders are trusted, before any run, and reads their files. The engine is open, and run has not
// begun.
func (r *reloader) begin(ctx context.Context) error {
	r.trust.read(ctx)
	if r.trust.given != nil || len(r.roots()) == 0 {
		return nil
	}
	r.settings.load()
	next, err := r.load(ctx)
	if err != nil {
		return err
	}
	if !r.trust.unchanged(ctx) {
		return nil // the first reload looks again
	}
	r.engine.SetConfig(r.settings.current())
	r.engine.Registry().SetBase(next.Registry)
	r.engine.SetSkills(next.Skills)
	return nil
}

// load reads the definitions and the skills. Where it fails, what it read the last time stays.
func (r *reloader) load(ctx context.Context) (*authoring.Vocabulary, error) {
	next := *r.vocabulary()
	next.Config = r.settings.current()
	next.Usable = usable(r.surroundings)
	dirs := r.options.Dirs
	skills, err := skill.Load(ctx, skill.Folders(dirs.Config, r.home(), r.roots()...))
	if err != nil {
		return nil, fmt.Errorf("load the skills: %w", err)
	}
	next.Skills = skills
	r.loader.Path = r.options.Getenv("PATH")
	registry, err := r.loader.Load(ctx, agent.StandardFolders(dirs.Config, r.home(), r.roots()...), next.Known())
	if err != nil {
		return nil, fmt.Errorf("load the definitions: %w", err)
	}
	next.Registry = registry
	r.now.Store(&next)
	return &next, nil
}

// reload reads everything again, and hands it to the parts that use it.
func (r *reloader) reload(ctx context.Context) {
	r.trust.read(ctx)
	r.settings.load()
	r.shown()
	r.engine.SetConfig(r.settings.current())
	r.tellSettings(ctx)
	next, err := r.load(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.tell(ctx, protocol.MessageTypeWarning, "agentls goes on with the definitions that it has: "+err.Error())
		}
		return
	}
	if !r.trust.unchanged(ctx) {
		r.touch() // trust may have changed since the files were read
		return
	}
	r.engine.Registry().SetBase(next.Registry)
	r.engine.SetSkills(next.Skills)
	r.trust.ask()
	r.report(ctx, next)
	r.touched(r.documents.Authored()...)
}

// report shows the errors in files: as diagnostics for files in the workspace, in the log for others. It also logs
// which definitions are not used because another one has the same name.
func (r *reloader) report(ctx context.Context, v *authoring.Vocabulary) {
	faulty, told := map[string]bool{}, map[string]bool{}
	for _, p := range slices.Concat(v.Registry.Problems(), v.Skills.Problems()) {
		if p.Severity != event.SeverityError && !p.Hides() {
			continue
		}
		if !p.Hides() {
			faulty[p.File] = true
			if r.showsDiagnostics() && r.inWorkspace(p.File) {
				continue
			}
		}
		text := "agentls: " + p.String()
		told[text] = true
		if r.told[text] {
			continue
		}
		r.log(ctx, protocol.MessageTypeWarning, text)
	}
	for path := range r.faulty {
		r.touched(path)
	}
	for path := range faulty {
		r.touched(path)
	}
	r.faulty, r.told = faulty, told
}
