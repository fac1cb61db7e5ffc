package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxBackground is how many commands of one run may be in the background at once.
const maxBackground = 16

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

// Start starts a command in the background, on what the run sees in its layer. ctx bounds the start; without a sandbox
// the command ends with life.
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
