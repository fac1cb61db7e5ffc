package agentcore

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// hookProcess is a hook without a sandbox: the leader of a group of processes, which end with it, and what has left the
// group.
type hookProcess struct {
	cmd            *exec.Cmd
	stdout, stderr head
	// variable is in the environment of its processes, and of no others.
	variable string
}

// startHook starts a program in a folder, with that environment and input.
func startHook(argv []string, dir string, env []string, variable string, input []byte) (*hookProcess, error) {
	program := argv[0]
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	p := &hookProcess{cmd: exec.Command(program, argv[1:]...), variable: variable}
	p.cmd.Dir, p.cmd.Env, p.cmd.WaitDelay = dir, append(env, "PWD="+dir), directDelay
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = bytes.NewReader(input), &p.stdout, &p.stderr
	process.OwnGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, err // it names the program
	}
	return p, nil
}

// wait waits for the end of the hook, which comes with ctx or the time limit at the latest, and ends what it left
// running.
func (p *hookProcess) wait(ctx context.Context, limit time.Duration) hook.Exit {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var ending sync.WaitGroup
	ending.Add(1)
	stop := context.AfterFunc(ctx, func() {
		defer ending.Done()
		p.kill()
	})
	state, err := p.cmd.Process.Wait()
	if stop() {
		ending.Done()
	}
	ending.Wait()
	// What it left running holds its output open.
	p.kill()
	_ = p.cmd.Wait() // for the output; how the process ended is known
	var exit hook.Exit
	if err != nil {
		exit.Failure = err
	} else {
		exit.Code, exit.Signal = process.ExitCode(state)
	}
	if exit.Signal != "" && ctx.Err() == context.DeadlineExceeded {
		exit.TimedOut = limit
	}
	var more bool
	exit.Stdout, exit.Cut = p.stdout.text()
	exit.Stderr, more = p.stderr.text()
	if more {
		exit.Stderr = append(exit.Stderr, "…"...)
	}
	return exit
}

// kill ends the hook's group, whose leader may be gone, and what has left it.
func (p *hookProcess) kill() {
	_ = process.KillGroup(p.cmd)
	// What cannot be looked for is looked for again when the run ends, which tells.
	_ = sandbox.EndStrays(p.variable)
}

// head keeps the first hook.MaxOutput bytes of an output, whoever writes it.
type head struct {
	mu   sync.Mutex
	kept []byte
	more bool
}

// Write never fails, so that a hook with much to say is not ended by that.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := hook.MaxOutput - len(h.kept)
	h.kept = append(h.kept, p[:min(len(p), room)]...)
	h.more = h.more || len(p) > room
	return len(p), nil
}

func (h *head) text() (kept []byte, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.kept), h.more
}
