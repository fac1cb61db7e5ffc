package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxKept is how many of the files that a command left in its sandbox are named.
const maxKept = 20

// Set is what a run has running outside of this process: its box, which the first command opens, and the commands in
// the background. Its methods may be called from any goroutine. Close ends all of it.
type Set struct {
	Sandbox
	// editable returns why the run may not change a file without a question, or nil. judge is that of the batch.
	editable func(judge *workspace.Judge, path string) error
	// ignored is what version control ignores, as seen by the command that runs.
	ignored atomic.Pointer[workspace.Ignored]

	mu         sync.Mutex
	closed     bool
	box        *sandbox.Box
	folders    Folders // of the box
	directs    int     // how many commands ran without a sandbox
	background map[string]*background
	// outputs are the files that hold outputs, which the run may read.
	outputs map[string]bool
	// preparing says that Ahead is at work. aheads are its goroutines, for which Close waits; Go is called under mu.
	preparing bool
	aheads    beside.Group
}

// New makes the commands of a run. editable returns why the run may not change a file without a question, or nil; its
// judge is that of all files which one command changed.
func New(s Sandbox, editable func(judge *workspace.Judge, path string) error) *Set {
	return &Set{Sandbox: s, editable: editable}
}

// Box returns the run's box.
func (s *Set) Box(ctx context.Context) (*sandbox.Box, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, sandbox.ErrClosed
	}
	if s.box != nil {
		return s.box, nil
	}
	options, folders, err := s.Options(s.ignored.Load)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Open(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("%w; the user sees with `agentls doctor` what is missing", err)
	}
	s.box, s.folders = box, folders
	return box, nil
}

// Ahead opens the box, starts what attends to the next command, and reads the workspace if no command has yet. It is
// called when a command is about to come, and does not wait. It ignores errors, since the command will report them.
func (s *Set) Ahead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.preparing || s.closed {
		return
	}
	s.preparing = true
	s.aheads.Go(func() {
		defer func() {
			s.mu.Lock()
			s.preparing = false
			s.mu.Unlock()
		}()
		if s.Direct() {
			return
		}
		if box, err := s.Box(context.Background()); err == nil {
			box.Ahead()
		}
	})
}

// Shown is a path of the box in terms of the view.
func (s *Set) Shown(path string) string { return s.folders.Shown(path) }

// Look takes a snapshot of what the run sees in its layer, for the next command.
func (s *Set) Look(layer *workspace.Layer) (workspace.Snapshot, map[string]sandbox.Text) {
	s.ignored.Store(layer.Ignored())
	snapshot := layer.Snapshot()
	overlay := map[string]sandbox.Text{}
	for path, content := range snapshot.Files() {
		overlay[path] = sandbox.Text{Content: content, Deleted: content == nil}
	}
	return snapshot, overlay
}

// Run runs a command to its end and proposes what it changed in the run's layer.
func (s *Set) Run(ctx context.Context, layer *workspace.Layer, command tool.Command,
	author workspace.Author,
) (tool.CommandResult, error) {
	if s.Direct() {
		p, err := s.startDirect(ctx, command)
		if err != nil {
			return tool.CommandResult{}, err
		}
		<-p.Done() // this comes soon after ctx ends, at the latest
		if err := ctx.Err(); err != nil {
			return tool.CommandResult{}, err
		}
		result, err := p.Wait(ctx)
		return s.result(result), err
	}
	box, err := s.Box(ctx)
	if err != nil {
		return tool.CommandResult{}, err
	}
	snapshot, overlay := s.Look(layer)
	done, err := box.Run(ctx, sandbox.Command{Script: command.Script, Timeout: command.Timeout, Overlay: overlay})
	if err != nil {
		return tool.CommandResult{}, err
	}
	result := s.result(done)
	result.Files = s.Propose(snapshot, s.folders.written(done.Changes), author)
	return result, nil
}

// Propose makes edits of those written files that the run may change itself, and says of the others why they are left
// out.
func (s *Set) Propose(snapshot workspace.Snapshot, written []workspace.Written, author workspace.Author,
) []workspace.Taken {
	free, barred := s.barred(written)
	return append(snapshot.TakeAll(free, author), barred...)
}

// barred separates the changes of a command that the run may make itself from those that it may not: a command must not
// be a way around the rules on edits, and its words do not tell what it changes.
func (s *Set) barred(written []workspace.Written) (free []workspace.Written, barred []workspace.Taken) {
	for _, w := range written { // so that each is judged as if the others existed
		if !w.Deleted {
			s.View.Expect(w.Path)
		}
	}
	judge := s.View.Judge(nil)
	for _, w := range written {
		if err := s.editable(judge, w.Path); err != nil {
			barred = append(barred, workspace.Taken{Path: w.Path, Problem: err})
			continue
		}
		free = append(free, w)
	}
	return free, barred
}

// Expect announces the files that a command wrote, so that each is judged as if the others existed.
func (s *Set) Expect(changes []sandbox.Change) {
	for _, change := range changes {
		if !change.Deleted {
			s.View.Expect(s.Shown(change.Path))
		}
	}
}

// Take makes edits of the run from the changes of a command.
func (s *Set) Take(snapshot workspace.Snapshot, changes []sandbox.Change, author workspace.Author) []workspace.Taken {
	return snapshot.TakeAll(s.folders.written(changes), author)
}

// written are changes of a box in terms of the view.
func (f Folders) written(changes []sandbox.Change) []workspace.Written {
	written := make([]workspace.Written, 0, len(changes))
	for _, change := range changes {
		written = append(written, workspace.Written{
			Path: f.Shown(change.Path), Content: change.Content, Deleted: change.Deleted,
			Executable: change.Mode&0o111 != 0,
			Existed:    change.Existed, Before: change.Before,
		})
	}
	return written
}

// result is what a model is told of a command's result, without the changes.
func (s *Set) result(r sandbox.Result) tool.CommandResult {
	result := tool.CommandResult{
		Output: strings.ToValidUTF8(string(r.Output), "\uFFFD"), Size: r.OutputSize, Exit: r.Exit, Signal: r.Signal,
		TimedOut: r.TimedOut, Notes: r.Notes,
	}
	if r.OutputFile != "" {
		if err := s.clean(r.OutputFile); err != nil {
			result.Notes = append(result.Notes, err.Error())
		} else {
			result.Whole = r.OutputFile
		}
	}
	for i, kept := range r.Kept {
		if i == maxKept {
			result.Notes = append(result.Notes, fmt.Sprintf("the same goes for %d more files", len(r.Kept)-i))
			break
		}
		fate := "stays in the sandbox, where the next commands find it"
		if kept.Removed {
			fate = "was removed from the sandbox"
		}
		result.Notes = append(result.Notes,
			fmt.Sprintf("%s %s: %s", s.View.Shown(s.Shown(kept.Path)), fate, kept.Reason))
	}
	return result
}

// Close ends all commands of the run and waits until nothing of them is left.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	box, processes, direct := s.box, slices.Collect(maps.Values(s.background)), s.directs > 0
	s.mu.Unlock()
	for _, b := range processes {
		b.process.Kill()
	}
	var err error
	if box != nil {
		err = box.Close()
	}
	for _, b := range processes {
		<-b.process.Done() // the process was killed
	}
	if direct {
		err = errors.Join(err, process.EndStrays(Mark(s.ID)))
	}
	s.aheads.Wait()
	return err
}

// maxBackground is how many commands of one run may be in the background at the same time.
const maxBackground = 16

// background is a command in the background.
type background struct {
	command tool.Command
	process watched

	mu   sync.Mutex
	read int64 // how much of its output was read, in bytes
}

// watched is a command that can be looked at while it runs.
type watched interface {
	// Output returns the output behind the first bytes, and how many bytes there are by now.
	Output(since int64) (output []byte, size int64)
	// Kill ends the command. It does not wait.
	Kill()
	// Done is closed when none of the command's processes is left.
	Done() <-chan struct{}
	// Wait waits until Done is closed or ctx ends.
	Wait(ctx context.Context) (sandbox.Result, error)
}

// Start starts a command in the background, on the files as the run sees them in its layer. ctx bounds the start.
// Without a sandbox, the command ends with life.
func (s *Set) Start(ctx, life context.Context, layer *workspace.Layer, command tool.Command) (id string, err error) {
	s.mu.Lock()
	alive := 0
	for _, b := range s.background {
		select {
		case <-b.process.Done():
		default:
			alive++
		}
	}
	s.mu.Unlock()
	if alive >= maxBackground {
		return "", fmt.Errorf("%d commands are in the background already; end one with bash_kill first", alive)
	}
	var p watched
	if s.Direct() {
		p, err = s.startDirect(life, command)
	} else {
		var box *sandbox.Box
		if box, err = s.Box(ctx); err == nil {
			_, overlay := s.Look(layer)
			p, err = box.Start(ctx, sandbox.Command{Script: command.Script, Timeout: command.Timeout, Overlay: overlay})
		}
	}
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p.Kill()
		return "", sandbox.ErrClosed
	}
	if s.background == nil {
		s.background = map[string]*background{}
	}
	id = fmt.Sprintf("bash-%d", len(s.background)+1)
	s.background[id] = &background{command: command, process: p}
	return id, nil
}

func (s *Set) find(id string) (*background, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.background[id]; b != nil {
		return b, nil
	}
	if len(s.background) == 0 {
		return nil, fmt.Errorf("there is no command %q; nothing was started in the background", id)
	}
	return nil, fmt.Errorf("there is no command %q; there are %s", id,
		strings.Join(slices.Sorted(maps.Keys(s.background)), ", "))
}

// state returns how far a command in the background is.
func (s *Set) state(ctx context.Context, b *background) (tool.BackgroundCommand, error) {
	state := tool.BackgroundCommand{Command: b.command}
	select {
	case <-b.process.Done():
		result, err := b.process.Wait(ctx)
		if err != nil {
			return state, fmt.Errorf("the command in the background failed: %w", err)
		}
		state.Ended, state.Result = true, s.result(result)
		state.Result.Output = ""
	default:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	output, size := b.process.Output(b.read)
	state.Output, b.read = strings.ToValidUTF8(string(output), "\uFFFD"), size
	return state, nil
}

// Output waits for a command in the background, and returns how far it is.
func (s *Set) Output(ctx context.Context, id string, wait time.Duration) (tool.BackgroundCommand, error) {
	b, err := s.find(id)
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
	return s.state(ctx, b)
}

// Kill ends a command in the background, and returns when nothing of it is left.
func (s *Set) Kill(ctx context.Context, id string) (tool.BackgroundCommand, error) {
	b, err := s.find(id)
	if err != nil {
		return tool.BackgroundCommand{}, err
	}
	b.process.Kill()
	select {
	case <-b.process.Done():
	case <-ctx.Done():
		return tool.BackgroundCommand{}, ctx.Err()
	}
	return s.state(ctx, b)
}
