package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/process"
)

// Box is the sandbox of one run: what its commands leave for each other, and its processes. Its methods may be called
// from any goroutine. Commands of Run use the box one after another; commands of Start have copies of their own.
type Box struct {
	options Options
	trees   *Trees // shared, or its own
	report  Report
	dir     string // the folder of everything that belongs to the box
	unlock  func() error

	// turn is held by the command that uses roots, works and the upper layers.
	turn   chan struct{}
	roots  []folder
	caches []cacheLayer
	works  int
	// commands counts the commands that ran without walls.
	commands int
	notes    []string // for the result of the command that has the turn

	// ctx ends with the box.
	ctx     context.Context
	cancel  context.CancelFunc
	machine machine

	mu       sync.Mutex
	closed   bool
	followed []*Followed
	users    sync.WaitGroup // running calls and background processes; Add only under mu
}

// folder is one workspace folder of a box.
type folder struct {
	given string // as the caller writes it
	real  string // without symbolic links
	view  shown
}

// shown is a view that is either an overlay or a copy.
type shown interface {
	seed(texts map[string]Text) error
	collect() (found, error)
	// layOver copies what earlier commands left onto a fresh copy.
	layOver(to *copyView) error
	close() error
}

// cacheLayer is a cache of a tool, and the folder for what commands write into it.
type cacheLayer struct {
	Cache
	dir  string
	work string // the work folder of the last command, on an overlay
}

// Probe finds out which level this machine allows, by trying it in a throw-away folder below stateDir.
func Probe(ctx context.Context, stateDir string) Report { return Try(ctx, stateDir, func(Level) {}) }

// Try is Probe, and also calls tell as soon as the level is known: before it makes the checks that do not decide on the
// level, and before it deletes its folder.
func Try(ctx context.Context, stateDir string, tell func(Level)) Report {
	return probe(ctx, stateDir, tell)
}

// Open makes a box. It deletes the boxes in the same StateDir whose process is gone. The caller must Close the box.
func Open(ctx context.Context, o Options) (*Box, error) {
	o.Limits = o.Limits.withDefaults()
	if len(o.Roots) == 0 {
		return nil, errors.New("open a sandbox: there is no workspace folder")
	}
	if o.Report == nil {
		r := Probe(ctx, o.StateDir)
		o.Report = &r
	}
	if o.Report.Level == None {
		return nil, ErrNone
	}
	if err := os.MkdirAll(o.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("open a sandbox: %w", err)
	}
	if err := sweep(o.StateDir); err != nil {
		return nil, fmt.Errorf("delete what an earlier sandbox has left: %w", err)
	}
	dir, unlock, err := makeBoxDir(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("open a sandbox: %w", err)
	}
	trees := o.Trees
	if trees == nil {
		trees = &Trees{}
	}
	b := &Box{options: o, trees: trees, report: *o.Report, dir: dir, unlock: unlock, turn: make(chan struct{}, 1)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if err := b.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open a sandbox: %w", err), b.Close())
	}
	return b, nil
}

func (b *Box) open() error {
	for _, name := range []string{"home", "tmp", "out"} {
		if err := os.Mkdir(filepath.Join(b.dir, name), 0o700); err != nil {
			return err
		}
	}
	for i, given := range b.options.Roots {
		if !filepath.IsAbs(given) {
			return fmt.Errorf("the workspace folder %q is not absolute", given)
		}
		real, err := filepath.EvalSymlinks(given)
		if err != nil {
			return err
		}
		f := folder{given: filepath.Clean(given), real: real}
		if f.view, err = b.newView(real, filepath.Join(b.dir, fmt.Sprintf("root%d", i)), b.report.Overlay); err != nil {
			return err
		}
		b.roots = append(b.roots, f)
	}
	for i, c := range b.options.Caches {
		real, err := filepath.EvalSymlinks(c.Path)
		if err != nil {
			continue // the tool is not on this machine
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			continue
		}
		c.Path = real
		b.caches = append(b.caches, cacheLayer{Cache: c, dir: filepath.Join(b.dir, fmt.Sprintf("cache%d", i))})
	}
	b.machine = newMachine(b.dir, b.report.Cgroup)
	return nil
}

// Level is the level on which commands run.
func (b *Box) Level() Level { return b.report.Level }

// use registers a call, unless the box is closed.
func (b *Box) use() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	b.users.Add(1)
	return nil
}

// take waits for the turn.
func (b *Box) take(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ctx.Done():
		return ErrClosed
	case b.turn <- struct{}{}:
		return nil
	}
}

// Close ends every process of the box, waits for their ends, and deletes what they left. Closing again does nothing.
func (b *Box) Close() error {
	b.mu.Lock()
	again := b.closed
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.users.Wait()
	if again {
		return nil
	}
	var errs []error
	for _, f := range b.followed { // nobody adds to them any more
		errs = append(errs, f.closeViews())
	}
	for _, f := range b.roots {
		errs = append(errs, f.view.close())
	}
	if b.options.Trees == nil {
		errs = append(errs, b.trees.Close())
	}
	errs = append(errs, b.machine.close(), removeTree(b.dir), b.unlock())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}

// Run runs a command and waits for its end. On an error, there is no result: the command could not be started, or ctx
// has ended and with it every process of the command.
func (b *Box) Run(ctx context.Context, c Command) (Result, error) {
	if err := b.use(); err != nil {
		return Result{}, err
	}
	defer b.users.Done()
	if err := b.take(ctx); err != nil {
		return Result{}, err
	}
	defer func() { <-b.turn }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()

	timeout := c.Timeout
	if timeout <= 0 {
		timeout = b.options.Limits.Timeout
	}
	r, err := b.run(ctx, c, timeout)
	if errors.Is(err, errOverlay) {
		// Some file systems cannot be a lower layer. Any of them can be copied.
		reason := err
		if err = b.useCopies(); err == nil {
			r, err = b.run(ctx, c, timeout)
			r.Notes = append(r.Notes,
				fmt.Sprintf("the workspace is a synced copy, since it cannot be mounted copy-on-write (%v)", reason))
		}
	}
	switch {
	case b.ctx.Err() != nil:
		return Result{}, ErrClosed
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case err != nil:
		return Result{}, fmt.Errorf("run a command in the sandbox: %w", err)
	}
	return r, nil
}

// errOverlay is the error of a workspace folder that cannot be mounted copy-on-write.
var errOverlay = errors.New("overlayfs")

// useCopies replaces the overlays by copies. The overlays hold nothing yet, since a folder that cannot be mounted fails
// at the first command.
func (b *Box) useCopies() error {
	b.report.Overlay = false
	for i := range b.roots {
		f := &b.roots[i]
		if err := f.view.close(); err != nil {
			return err
		}
		v, err := b.newView(f.real, filepath.Join(b.dir, fmt.Sprintf("copy%d", i)), false)
		if err != nil {
			return err
		}
		f.view = v
	}
	return nil
}

func (b *Box) run(ctx context.Context, c Command, timeout time.Duration) (Result, error) {
	for i, texts := range split(b.roots, c.Overlay) {
		if err := b.roots[i].view.seed(texts); err != nil {
			return Result{}, err
		}
	}
	output := b.newSpool()
	if c.SplitErrors {
		output.split()
	}
	started := time.Now()
	b.notes = nil
	ch, err := b.start(ctx, c, b.roots, output)
	if err != nil {
		_, _ = output.close()
		return Result{}, errors.Join(err, b.reset())
	}
	stopTimer := context.AfterFunc(ctx, ch.kill)
	defer stopTimer()
	timer := time.AfterFunc(timeout, ch.kill)
	s, err := ch.wait()
	inTime := timer.Stop()
	r, rerr := b.result(s, output)
	r.Duration = time.Since(started)
	r.Notes = append(r.Notes, b.notes...)
	if !inTime && !s.Done {
		r.TimedOut, err = true, nil
		r.Notes = append(r.Notes, fmt.Sprintf("the command was ended after %s, its time limit", timeout))
	}
	if err != nil && s.Started && !s.Done && ctx.Err() == nil {
		r.Exit, r.Signal, err = 128+9, "SIGKILL", nil
		r.Notes = append(r.Notes,
			"the sandbox ended before the command did; it may have run out of processes or memory")
	}
	if err != nil && !s.Started && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(slices.Concat(r.Output, r.Errors))) // the output of bwrap
	}
	if err == nil {
		err = rerr
	}
	for _, f := range b.roots {
		found, cerr := f.view.collect()
		if err == nil {
			err = cerr
		}
		r.Changes = append(r.Changes, found.changes...)
		r.Kept = append(r.Kept, found.kept...)
	}
	return r, err
}

// reset removes the agent's texts after a command that never ran.
func (b *Box) reset() error {
	var errs []error
	for _, f := range b.roots {
		_, err := f.view.collect()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// result turns the sandbox's report into the caller's.
func (b *Box) result(s status, output *spool) (Result, error) {
	file, ferr := output.close()
	r := Result{Level: b.report.Level, Output: output.bytes(), OutputSize: output.size, OutputFile: file, Exit: s.Exit}
	if output.errors != nil {
		r.Errors = output.errors.bytes()
	}
	r.Notes = append(r.Notes, s.Notes...)
	if ferr != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the whole output could not be kept: %v", ferr))
	}
	if s.Signal > 0 {
		r.Exit, r.Signal = 128+s.Signal, process.SignalName(s.Signal)
	}
	switch {
	case s.Limit != "":
		r.Exit, r.Signal = 128+9, "SIGKILL"
		r.Notes = append(r.Notes, "the command was ended at its limit of "+s.Limit)
	case s.Step == stepOverlay:
		return r, fmt.Errorf("%w: %s", errOverlay, s.Error)
	case s.Step == stepCommand:
		return r, errors.New(s.Error)
	case s.Step != "":
		return r, fmt.Errorf("%s: %s", s.Step, s.Error)
	}
	return r, nil
}

func (b *Box) newSpool() *spool {
	dir := b.options.OutputDir
	if dir == "" {
		dir = filepath.Join(b.dir, "out")
	}
	return &spool{keep: b.options.Limits.Output, limit: b.options.Limits.WholeOutput, dir: dir, run: b.options.Run}
}

// split sorts the agent's texts by workspace folder and makes their paths relative. A text outside of all folders is
// dropped, since no command could see it.
func split(roots []folder, overlay map[string]Text) []map[string]Text {
	byRoot := make([]map[string]Text, len(roots))
	for i := range byRoot {
		byRoot[i] = map[string]Text{}
	}
	for path, text := range overlay {
		if root, rel := locate(roots, path); root >= 0 {
			byRoot[root][rel] = text
		}
	}
	return byRoot
}

// locate returns the workspace folder that a path lies in, and the path relative to it; -1 where it lies in none.
func locate(roots []folder, path string) (root int, rel string) {
	root = -1
	for i, f := range roots {
		for _, name := range []string{f.given, f.real} {
			in, err := filepath.Rel(name, path)
			if err == nil && filepath.IsLocal(in) && in != "." && (root < 0 || len(in) < len(rel)) {
				root, rel = i, in
			}
		}
	}
	return root, rel
}

// argv is the command with its shell, if it has one.
func (c Command) argv() ([]string, error) {
	switch {
	case len(c.Argv) > 0 && c.Script != "":
		return nil, errors.New("a command has either arguments or a script")
	case len(c.Argv) > 0:
		return c.Argv, nil
	case c.Script == "":
		return nil, errors.New("there is no command")
	}
	shell := "sh"
	if _, err := exec.LookPath("bash"); err == nil {
		shell = "bash"
	}
	return []string{shell, "-c", c.Script}, nil
}

// environ is the environment of commands.
func (b *Box) environ(c Command, dir, home, tmp string) []string {
	env := map[string]string{"PATH": os.Getenv("PATH")}
	for _, pair := range slices.Concat(b.options.Env, c.Env) {
		if key, value, ok := strings.Cut(pair, "="); ok {
			env[key] = value
		}
	}
	env[runVariable], env["PWD"] = b.options.Run, dir
	if home != "" {
		env["HOME"] = home
	}
	if tmp != "" {
		env["TMPDIR"] = tmp
	}
	// `git status` must not need to write into .git, which is protected.
	env["GIT_OPTIONAL_LOCKS"] = "0"
	pairs := make([]string, 0, len(env))
	for _, key := range slices.Sorted(maps.Keys(env)) {
		pairs = append(pairs, key+"="+env[key])
	}
	return pairs
}

// startDir is the folder in which a command starts, without symbolic links in the root's part.
func (b *Box) startDir(c Command) string {
	if c.Dir == "" {
		return b.roots[0].real
	}
	dir := filepath.Clean(c.Dir)
	for _, f := range b.roots {
		if rel, err := filepath.Rel(f.given, dir); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(f.real, rel)
		}
	}
	return dir
}

// onCopies prepares a command without walls that runs in the copies of the folders. The last variable of its
// environment marks it.
func (b *Box) onCopies(c Command, roots []folder) (argv, env []string, dir string, err error) {
	if argv, err = c.argv(); err != nil {
		return nil, nil, "", err
	}
	dir, inside := b.startDir(c), false
	for _, f := range roots {
		v, ok := f.view.(*copyView)
		if rel, err := filepath.Rel(f.real, dir); ok && err == nil && filepath.IsLocal(rel) {
			dir, inside = filepath.Join(v.dir, rel), true
			break
		}
	}
	if !inside {
		return nil, nil, "", fmt.Errorf("%s is not in the workspace, of which this command gets a copy", dir)
	}
	b.commands++
	own := fmt.Sprintf("%s=%s-%d", commandVariable, filepath.Base(b.dir), b.commands)
	return argv, append(b.environ(c, dir, "", filepath.Join(b.dir, "tmp")), own), dir, nil
}

// commandVariable is a variable of commands without walls. Each command has another value.
const commandVariable = "AGENTLS_COMMAND"

// startBare starts a command without walls.
func (b *Box) startBare(c Command, roots []folder, output *spool) (child, error) {
	argv, env, dir, err := b.onCopies(c, roots)
	if err != nil {
		return nil, err
	}
	return startBare(argv, env, dir, c.stdin(), output)
}

// stdin is the standard input of a command, nil for an empty one.
func (c Command) stdin() io.Reader {
	switch {
	case c.Input != nil:
		return c.Input // itself, so that nothing has to copy it
	case c.Stdin != nil:
		return bytes.NewReader(c.Stdin)
	}
	return nil
}

// sweep deletes the folders of boxes whose process is gone.
func sweep(stateDir string) error {
	entries, err := os.ReadDir(stateDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), boxPrefix) {
			continue
		}
		dir := filepath.Join(stateDir, e.Name())
		unlock, err := lockDir(dir)
		if err != nil {
			continue // the box is in use, or another process deletes it
		}
		if err := errors.Join(sweepCgroup(dir), removeTree(dir), unlock()); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// boxPrefix begins the names of the folders of boxes.
const boxPrefix = "box-"

// makeBoxDir makes a folder and locks it. The name is chosen first, so that the folder can be made again if a sweep
// deletes it, still empty, before it is locked.
func makeBoxDir(stateDir string) (string, func() error, error) {
	spread(stateDir)
	for range 100 {
		dir, err := os.MkdirTemp(stateDir, boxPrefix)
		if err != nil {
			return "", nil, err
		}
		if unlock, err := lockDir(dir); err == nil {
			if _, err := os.Stat(dir); err == nil {
				return dir, unlock, nil
			}
			if err := unlock(); err != nil {
				return "", nil, err
			}
		}
	}
	return "", nil, errors.New("the folder of the sandbox could not be locked")
}

// newBaseView opens a workspace folder for reading.
func (b *Box) newBaseView(root string) (view, error) {
	disk, err := os.OpenRoot(root)
	if err != nil {
		return view{}, err
	}
	v := view{
		root: root, disk: disk, ignored: b.options.Ignored, isText: b.options.IsText,
		maxText: b.options.Limits.Text,
	}
	if v.isText == nil {
		v.isText = isUTF8
	}
	return v, nil
}

// newCopyView is a copy of a workspace folder in dir. moved says that commands see the copy at dir.
func (b *Box) newCopyView(root, dir string, moved bool) (*copyView, error) {
	v, err := b.newBaseView(root)
	if err != nil {
		return nil, err
	}
	return newCopyView(v, dir, b.options, moved)
}

// maxLeft bounds how many temporary files are looked at.
const maxLeft = 1000

// Left lists the files that commands have left in the box's own home folder and its folder for temporary files, each
// with a mark of its version. The names are those that commands use. The files are deleted with the box. What programs
// store there for themselves is left out, and only the first thousand files are looked at.
func (b *Box) Left() map[string]string {
	left := map[string]string{}
	for own, shown := range map[string]string{"tmp": "/tmp", "home": b.options.Home} {
		dir := filepath.Join(b.dir, own)
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			// what cannot be read is left out
			rel, outside := filepath.Rel(dir, path)
			name := filepath.Join(shown, rel)
			switch {
			case len(left) >= maxLeft:
				return fs.SkipAll
			case err != nil || outside != nil:
				return nil
			case entry.IsDir() && own == "home" && slices.Contains(keptByPrograms, rel):
				return fs.SkipDir
			case !entry.Type().IsRegular() || slices.Contains(b.options.Tools, name):
				return nil
			}
			if info, err := entry.Info(); err == nil {
				left[name] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return left
}

// keptByPrograms are folders below home in which programs store things that nobody asked for.
var keptByPrograms = []string{".cache", ".config", ".local"}
