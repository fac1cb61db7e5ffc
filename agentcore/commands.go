package agentcore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/sandbox/proxy"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxKeptOutput is how much of one command's output is kept where not all of it was shown, in bytes.
	maxKeptOutput = 8 << 20
	// keptOutputs is how long that is.
	keptOutputs = 7 * 24 * time.Hour
	// maxKept is how many files are named that a command left in its sandbox.
	maxKept = 20
	// maxBackground is how many commands of one run may be in the background at once.
	maxBackground = 16
)

// commands are what a run has running outside: its sandbox, opened by the first command, and the commands in the
// background. Its methods may be called from any goroutine; close ends all of it.
type commands struct {
	run *run

	// ignored is what version control ignores, as the command that runs sees it.
	ignored atomic.Pointer[workspace.Ignored]

	mu     sync.Mutex
	closed bool
	box    *sandbox.Box
	// real finds a workspace folder by where it is without symbolic links.
	real       map[string]string
	directs    int // how many commands ran without a sandbox
	background map[string]*background
	// outputs are the files that hold outputs, which the run may read.
	outputs map[string]bool
}

// background is a command in the background.
type background struct {
	command tool.Command
	process watched

	mu   sync.Mutex
	read int64 // of its output, in bytes
}

// watched is a command that somebody may look at while it runs.
type watched interface {
	// Output returns what came after the first bytes, and how many there are by now.
	Output(since int64) (output []byte, size int64)
	// Kill ends it and does not wait.
	Kill()
	// Done is closed when nothing of it is left.
	Done() <-chan struct{}
	// Wait waits for that, or for ctx.
	Wait(ctx context.Context) (sandbox.Result, error)
}

// sandboxReport is what the machine offers. The first call finds out, which takes a moment.
func (e *Engine) sandboxReport() sandbox.Report {
	e.probe.Do(func() { e.probed = sandbox.Probe(e.ctx, e.sandboxDir()) })
	return e.probed
}

// SandboxDir is where an engine with that state folder keeps its sandboxes, and tries out what the machine offers.
func SandboxDir(stateDir string) string { return filepath.Join(stateDir, "sandbox") }

func (e *Engine) sandboxDir() string { return SandboxDir(e.stateDir) }

func (e *Engine) outputDir() string { return filepath.Join(e.stateDir, "outputs") }

// forgetOutputs deletes the outputs that were kept for long enough.
func (e *Engine) forgetOutputs() error {
	entries, err := os.ReadDir(e.outputDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for old outputs of commands: %w", err)
	}
	var problems []error
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() &&
			time.Since(info.ModTime()) > keptOutputs {
			problems = append(problems, os.Remove(filepath.Join(e.outputDir(), entry.Name())))
		}
	}
	return errors.Join(problems...)
}

// writeCommands says in the prompt what commands see and reach.
func (r *run) writeCommands(b *strings.Builder) {
	otherwise := "the user is asked"
	if !r.tools.Asks(tool.Spec{Name: "bash", Effect: tool.Executes}) {
		otherwise = "only what a rule allows is run"
	}
	switch level := r.rights.Level(); {
	case level == permission.Full && r.config.SandboxNetwork:
		b.WriteString(
			"commands: in a sandbox with network; they see unsaved and proposed text; changes become proposals\n")
	case level == permission.Full && len(r.config.NetworkAllow) > 0:
		fmt.Fprintf(b,
			"commands: in a sandbox that reaches no hosts but %s, by the proxy in HTTP_PROXY; they see unsaved and "+
				"proposed text; changes become proposals\n",
			strings.Join(r.config.NetworkAllow, ", "))
	case level == permission.Full:
		b.WriteString(
			"commands: in a sandbox without network; they see unsaved and proposed text; changes become proposals\n")
	case level == permission.Partial:
		fmt.Fprintf(b, "commands: on a copy of the workspace with unsaved and proposed text, whose changes become "+
			"proposals; nothing else holds them back, so %s\n", otherwise)
	default:
		fmt.Fprintf(b, "commands: without a sandbox, on the disk as it is saved, which they change at once; %s\n",
			otherwise)
	}
}

// untrusted returns why a command may not run in a workspace that the user does not trust, or "". It may not even in a
// full sandbox, since what it runs is the workspace's own.
func (r *spec) untrusted(request permission.Request) string {
	if request.Command == "" || r.session.isTrusted() {
		return ""
	}
	return denied(permission.Decision{Advice: toolset.WithoutCommands}, toolset.UntrustedCommands)
}

// open returns the run's sandbox.
func (c *commands) open(ctx context.Context) (*sandbox.Box, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, sandbox.ErrClosed
	}
	if c.box != nil {
		return c.box, nil
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Open(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("%w; the user sees with `agentls doctor` what is missing", err)
	}
	c.box = box
	return box, nil
}

// options are those of the run's sandbox. The lock is held.
func (c *commands) options() (sandbox.Options, error) {
	e := c.run.engine
	report := e.sandboxReport()
	env, home := e.redactor.Environ(os.Environ()), authority.UserHome()
	o := sandbox.Options{
		Run: string(c.run.id), StateDir: e.sandboxDir(), OutputDir: e.outputDir(), Home: home, Env: env,
		Caches: sandbox.DefaultCaches(env, home),
		Tools:  append(sandbox.DefaultTools(env, home), c.run.hooks.programs(home)...),
		Hidden: []string{e.stateDir}, Protected: permission.ProtectedNames(),
		Network: sandbox.Network{Open: c.run.config.SandboxNetwork},
		Limits:  sandbox.Limits{WholeOutput: maxKeptOutput},
		Ignored: func(path string, dir bool) bool { return c.ignored.Load().Has(c.shown(path), dir) },
		Secret:  func(path string) bool { return permission.Secret(filepath.ToSlash(path)) },
		IsText:  workspace.IsText,
		Report:  &report,
	}
	if allow := c.run.config.NetworkAllow; len(allow) > 0 {
		gate, err := proxy.Gate(allow)
		if err != nil {
			return o, err
		}
		o.Network.Gate = gate
	}
	if e.keysFile != "" {
		o.Hidden = append(o.Hidden, e.keysFile)
	}
	c.real = map[string]string{}
	for _, root := range c.run.session.view.Roots() {
		if real, err := filepath.EvalSymlinks(root.Path); err == nil {
			o.Roots = append(o.Roots, root.Path)
			c.real[real] = root.Path
		}
	}
	if len(o.Roots) == 0 {
		return o, errors.New("no workspace folder is there to run commands in; use the file tools")
	}
	if err := os.MkdirAll(e.outputDir(), 0o700); err != nil {
		return o, fmt.Errorf("make a folder for the output of commands: %w", err)
	}
	return o, nil
}

// shown is a path of the sandbox as the view has it: below the folder as it was opened.
func (c *commands) shown(path string) string {
	best := ""
	for real := range c.real {
		if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) && len(real) > len(best) {
			best = real
		}
	}
	if best == "" {
		return path
	}
	rel, err := filepath.Rel(best, path)
	if err != nil {
		return path
	}
	return filepath.Join(c.real[best], rel)
}

// look takes a snapshot of what the run sees, for the next command.
func (c *commands) look() (workspace.Snapshot, map[string]sandbox.Text) {
	c.ignored.Store(c.run.layer.Ignored())
	snapshot := c.run.layer.Snapshot()
	overlay := map[string]sandbox.Text{}
	for path, content := range snapshot.Files() {
		overlay[path] = sandbox.Text{Content: content, Deleted: content == nil}
	}
	return snapshot, overlay
}

// foreground runs a command to its end and proposes what it changed.
func (c *commands) foreground(ctx context.Context, command tool.Command,
	author workspace.Author,
) (tool.CommandResult, error) {
	if c.run.rights.Unsandboxed() {
		p, err := c.startDirect(ctx, command)
		if err != nil {
			return tool.CommandResult{}, err
		}
		stop := context.AfterFunc(ctx, p.Kill)
		defer stop()
		<-p.Done() // soon after ctx ends at the latest
		if err := ctx.Err(); err != nil {
			return tool.CommandResult{}, err
		}
		result, err := p.Wait(ctx)
		return c.result(result), err
	}
	box, err := c.open(ctx)
	if err != nil {
		return tool.CommandResult{}, err
	}
	snapshot, overlay := c.look()
	done, err := box.Run(ctx, sandbox.Command{Script: command.Script, Timeout: command.Timeout, Overlay: overlay})
	if err != nil {
		return tool.CommandResult{}, err
	}
	result := c.result(done)
	free, barred := c.barred(done.Changes)
	result.Files = append(c.take(snapshot, free, author), barred...)
	return result, nil
}

// barred parts what a command changed into what the run may change itself and what it may not: a command is no way
// around the rules on edits, which cannot be told from its words.
func (c *commands) barred(changes []sandbox.Change) (free []sandbox.Change, barred []workspace.Taken) {
	c.expect(changes)
	for _, change := range changes {
		path := c.shown(change.Path)
		if err := c.run.editable(path, false); err != nil {
			barred = append(barred, workspace.Taken{Path: path, Problem: err})
			continue
		}
		free = append(free, change)
	}
	return free, barred
}

// expect has each of the files that a command wrote judged with the others there.
func (c *commands) expect(changes []sandbox.Change) {
	for _, change := range changes {
		if !change.Deleted {
			c.run.session.view.Expect(c.shown(change.Path))
		}
	}
}

// take makes what a command changed edits of the run.
func (c *commands) take(snapshot workspace.Snapshot, changes []sandbox.Change,
	author workspace.Author,
) []workspace.Taken {
	written := make([]workspace.Written, 0, len(changes))
	for _, change := range changes {
		written = append(written, workspace.Written{
			Path: c.shown(change.Path), Content: change.Content, Deleted: change.Deleted,
			Executable: change.Mode&0o111 != 0,
			Existed:    change.Existed, Before: change.Before,
		})
	}
	return snapshot.TakeAll(written, author)
}

// result is what a model hears of a result, but for the changes.
func (c *commands) result(r sandbox.Result) tool.CommandResult {
	result := tool.CommandResult{
		Output: strings.ToValidUTF8(string(r.Output), "\uFFFD"), Size: r.OutputSize, Exit: r.Exit, Signal: r.Signal,
		TimedOut: r.TimedOut, Notes: r.Notes,
	}
	if r.OutputFile != "" {
		if err := c.keep(r.OutputFile); err != nil {
			result.Notes = append(result.Notes, err.Error())
		} else {
			result.Whole = r.OutputFile
		}
	}
	for i, kept := range r.Kept {
		if i == maxKept {
			result.Notes = append(result.Notes, fmt.Sprintf("so do %d more files", len(r.Kept)-i))
			break
		}
		result.Notes = append(result.Notes, fmt.Sprintf("%s stays in the sandbox, where the next commands find it: %s",
			c.run.session.view.Shown(c.shown(kept.Path)), kept.Reason))
	}
	return result
}

// keep takes secrets out of a file with an output, and lets the run read it.
func (c *commands) keep(path string) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(c.run.engine.redactor.Text(string(text))), 0o600)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the whole output could not be kept: %w", err), os.Remove(path))
	}
	c.attach(path)
	return nil
}

// attach lets the run read a file with an output.
func (c *commands) attach(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outputs == nil {
		c.outputs = map[string]bool{}
	}
	c.outputs[path] = true
}

// attached reads the output of a command of the run or of those above it, or one that a run has left which it goes on
// with, or that one of these runs has started.
func (c *commands) attached(path string) (text string, ok bool, err error) {
	for r := c.run; r != nil; r = r.parent {
		r.commands.mu.Lock()
		ok = r.commands.outputs[path]
		r.commands.mu.Unlock()
		if ok || r == c.run && c.leftToRun(path) {
			data, err := os.ReadFile(path)
			if err != nil {
				return "", true, fmt.Errorf("read the output of a command: %w", err)
			}
			return strings.ToValidUTF8(string(data), "\uFFFD"), true, nil
		}
	}
	return "", false, nil
}

// leftTo is the run in the name of a file with an output.
var leftTo = regexp.MustCompile(`^(?:output-|task-)?(r[0-9a-z]+)[-.]`)

// leftToRun reports whether a file has the output of a run that has ended and that the run goes on with or has started,
// or that was started by one of these.
func (c *commands) leftToRun(path string) bool {
	name := leftTo.FindStringSubmatch(filepath.Base(path))
	if name == nil || filepath.Dir(path) != c.run.engine.outputDir() {
		return false
	}
	mine := []event.RunID{c.run.id}
	if c.run.former != nil {
		mine = append(mine, c.run.former.runs...)
	}
	for id := event.RunID(name[1]); id != ""; {
		if slices.Contains(mine, id) {
			return true
		}
		row, err := c.run.engine.store.Run(c.run.ctx, id)
		if err != nil {
			return false
		}
		id = row.Parent
	}
	return false
}

// start starts a command in the background.
func (c *commands) start(ctx context.Context, command tool.Command) (id string, err error) {
	c.mu.Lock()
	alive := 0
	for _, b := range c.background {
		select {
		case <-b.process.Done():
		default:
			alive++
		}
	}
	c.mu.Unlock()
	if alive >= maxBackground {
		return "", fmt.Errorf("%d commands are in the background already; end one with bash_kill first", alive)
	}
	var p watched
	if c.run.rights.Unsandboxed() {
		p, err = c.startDirect(c.run.ctx, command)
	} else {
		var box *sandbox.Box
		if box, err = c.open(ctx); err == nil {
			_, overlay := c.look()
			p, err = box.Start(ctx, sandbox.Command{Script: command.Script, Timeout: command.Timeout, Overlay: overlay})
		}
	}
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		p.Kill()
		return "", sandbox.ErrClosed
	}
	if c.background == nil {
		c.background = map[string]*background{}
	}
	id = fmt.Sprintf("bash-%d", len(c.background)+1)
	c.background[id] = &background{command: command, process: p}
	return id, nil
}

func (c *commands) find(id string) (*background, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.background[id]; b != nil {
		return b, nil
	}
	if len(c.background) == 0 {
		return nil, fmt.Errorf("there is no command %q; nothing was started in the background", id)
	}
	return nil, fmt.Errorf("there is no command %q; there are %s", id,
		strings.Join(slices.Sorted(maps.Keys(c.background)), ", "))
}

// state returns how far a command in the background is.
func (c *commands) state(ctx context.Context, b *background) (tool.BackgroundCommand, error) {
	state := tool.BackgroundCommand{Command: b.command}
	select {
	case <-b.process.Done():
		result, err := b.process.Wait(ctx)
		if err != nil {
			return state, fmt.Errorf("the command in the background failed: %w", err)
		}
		state.Ended, state.Result = true, c.result(result)
		state.Result.Output = ""
	default:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	output, size := b.process.Output(b.read)
	state.Output, b.read = strings.ToValidUTF8(string(output), "\uFFFD"), size
	return state, nil
}

// output waits for a command in the background.
func (c *commands) output(ctx context.Context, id string, wait time.Duration) (tool.BackgroundCommand, error) {
	b, err := c.find(id)
	if err != nil {
		return tool.BackgroundCommand{}, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-b.process.Done():
	case <-timer.C:
	case <-ctx.Done():
		return tool.BackgroundCommand{}, ctx.Err()
	}
	return c.state(ctx, b)
}

// kill ends a command in the background.
func (c *commands) kill(ctx context.Context, id string) (tool.BackgroundCommand, error) {
	b, err := c.find(id)
	if err != nil {
		return tool.BackgroundCommand{}, err
	}
	b.process.Kill()
	select {
	case <-b.process.Done():
	case <-ctx.Done():
		return tool.BackgroundCommand{}, ctx.Err()
	}
	return c.state(ctx, b)
}

// cut is the first and the last part of an output where it is longer than limit bytes.
func cut(output []byte, limit int) []byte {
	if len(output) <= limit {
		return output
	}
	missing := len(output) - limit
	return slices.Concat(output[:limit/2], fmt.Appendf(nil, "\n[%d bytes are left out here]\n", missing),
		output[len(output)-limit/2:])
}

// close ends all commands of the run and waits until nothing of them is left.
func (c *commands) close() error {
	c.mu.Lock()
	c.closed = true
	box, processes, direct := c.box, slices.Collect(maps.Values(c.background)), c.directs > 0
	c.mu.Unlock()
	for _, b := range processes {
		b.process.Kill()
	}
	var err error
	if box != nil {
		err = box.Close()
	}
	for _, b := range processes {
		<-b.process.Done() // it was killed
	}
	if direct {
		err = errors.Join(err, sandbox.EndStrays(runVariable(c.run.id)))
	}
	return err
}

// closeCommands is close as the end of a run needs it.
func (r *run) closeCommands() {
	if err := r.guarded("the end of its commands", r.commands.close); err != nil {
		r.notice(event.NoticeWarning, "what the run's commands left could not be cleared away: "+err.Error(),
			"look into "+r.engine.sandboxDir())
	}
}
