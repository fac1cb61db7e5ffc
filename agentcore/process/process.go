// Package process is the one place that starts programs as the user: commands and hooks where there is no sandbox, the
// user's own MCP servers, the command of the status line. Package sandbox takes its groups from here, too.
//
// A program leads a group of processes of its own, so that it and what it has started are ended together. What has left
// the group is found by a variable in its environment that no other process has (Program.Mark), and by that alone: an
// id may belong to another process by then. Where no system tells the environment of processes, it is not found.
//
// A command line may start what the next one is to find, so that what has left its group goes on after its end, until
// the run ends it (Program.Lingers). All other programs end as a whole.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Exit is how a process ended.
type Exit struct {
	// Code is the exit code as shells report it: 128 and the signal's number where a signal ended the process.
	Code int
	// Signal is the name of the signal, such as "SIGKILL"; empty where the process ended by itself.
	Signal string
}

// ExitOf is how a process ended, once it was waited for.
func ExitOf(state *os.ProcessState) Exit {
	code, number := Ended(state)
	if number != 0 {
		return Exit{128 + number, SignalName(number)}
	}
	return Exit{Code: code}
}

// String says how the process ended, to follow the process's name: "ended with exit code 1" or "was ended by SIGKILL".
func (e Exit) String() string {
	if e.Signal != "" {
		return "was ended by " + e.Signal
	}
	return fmt.Sprintf("ended with exit code %d", e.Code)
}

// outputDelay is how long the outputs of a program may stay open after its end.
const outputDelay = 2 * time.Second

// Program is a program to be started as the user.
type Program struct {
	// Argv is a program and its arguments. A program whose name has a slash and is not absolute lies below Dir.
	Argv []string
	// Dir is the folder to start in, absolute.
	Dir string
	// Env is the program's environment as NAME=value, without Mark and PWD.
	Env []string
	// Mark is a variable as NAME=value that is in the environment of the program's processes and of no others. If it is
	// empty, processes that leave the group are not found.
	Mark string
	// Limit is how long the program may take; 0 is no limit.
	Limit time.Duration
	// Stdin, Stdout and Stderr are as those of [exec.Cmd].
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Lingers lets processes that the program has started fill its outputs for a moment after its end, and lets those
	// that have left its group go on.
	Lingers bool
}

// Process is a program that was started. Its methods may be called from any goroutine.
type Process struct {
	program Program
	cmd     *exec.Cmd
	stop    func() bool // ends the wait for the end of the context
	timer   *time.Timer // nil for no limit

	mu    sync.Mutex
	ended bool // whether it has ended; the id of its group may then belong to others
	late  bool
}

// Start starts a program. It ends with ctx, or at its limit. The error names the program.
func Start(ctx context.Context, p Program) (*Process, error) {
	name := p.Argv[0]
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	cmd := exec.Command(name, p.Argv[1:]...)
	cmd.Dir, cmd.WaitDelay = p.Dir, outputDelay
	cmd.Env = append(slices.Clip(p.Env), "PWD="+p.Dir)
	if p.Mark != "" {
		cmd.Env = append(cmd.Env, p.Mark)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	OwnGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	started := &Process{program: p, cmd: cmd}
	started.stop = context.AfterFunc(ctx, started.Kill)
	if p.Limit > 0 {
		started.timer = time.AfterFunc(p.Limit, started.expire)
	}
	return started, nil
}

// Kill ends the program's group, whose leader may be gone, and the processes that have left it. It does not wait.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	_ = KillGroup(p.cmd)
	if p.program.Mark != "" {
		// If the processes cannot be looked for now, the caller that started the program looks again and reports the
		// error.
		_ = EndStrays(p.program.Mark)
	}
}

func (p *Process) expire() {
	p.mu.Lock()
	p.late = true
	p.mu.Unlock()
	p.Kill()
}

// Wait waits for the end of the program and of its outputs, and ends the processes that must end with it. late reports
// that the limit was reached before. The error says why the program could not be waited for, or that its output may be
// incomplete. Wait is called once.
func (p *Process) Wait() (exit Exit, late bool, err error) {
	var state *os.ProcessState
	if p.program.Lingers {
		err = p.cmd.Wait()
		state = p.cmd.ProcessState
	} else {
		state, err = p.cmd.Process.Wait()
		p.Kill()         // processes that it left behind hold its outputs open
		_ = p.cmd.Wait() // for the outputs; how the process ended is known
	}
	p.stop()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.program.Lingers {
		_ = KillGroup(p.cmd)
	}
	p.ended = true
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if state != nil {
		exit = ExitOf(state)
	}
	return exit, p.late, err
}

// Ran is the outcome of a program that ran to its end.
type Ran struct {
	Exit
	// Late says that the limit was reached.
	Late bool
	// Stdout and Stderr are the beginnings of the program's outputs, any bytes. Where there was more, Stderr ends with
	// an ellipsis, and Cut is set for Stdout.
	Stdout, Stderr []byte
	Cut            bool
}

// Run runs a program to its end, and keeps the first most bytes of each of its outputs. The error says why the program
// was not run.
func Run(ctx context.Context, p Program, most int) (Ran, error) {
	stdout, stderr := &Head{Most: most}, &Head{Most: most}
	p.Stdout, p.Stderr = stdout, stderr
	started, err := Start(ctx, p)
	if err != nil {
		return Ran{}, err
	}
	var ran Ran
	ran.Exit, ran.Late, err = started.Wait()
	var more bool
	ran.Stdout, ran.Cut = stdout.Text()
	if ran.Stderr, more = stderr.Text(); more {
		ran.Stderr = append(ran.Stderr, "…"...)
	}
	return ran, err
}

// Head keeps the first bytes of an output. Its methods may be called from any goroutine.
type Head struct {
	// Most is how many bytes are kept.
	Most int

	mu   sync.Mutex
	kept []byte
	more bool
}

// Write never fails, so that a program with much output is not ended by an error.
func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := h.Most - len(h.kept)
	h.kept = append(h.kept, p[:min(len(p), room)]...)
	h.more = h.more || len(p) > room
	return len(p), nil
}

// Text is what was kept so far, and whether there was more.
func (h *Head) Text() (kept []byte, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.kept), h.more
}

// Live is a running program with which messages are exchanged over its standard input and output.
type Live struct {
	// In is its standard input and Out its standard output. The caller closes both.
	In, Out *os.File
	// Kill ends the program and all processes that it started. It does not wait.
	Kill func()
	// Wait returns when none of its processes is left, and says in one line how the program ended.
	Wait func() string
}

// Pipes are the two ends of a program's standard input and output.
type Pipes struct {
	// In and Out are the ends of the caller, ChildIn and ChildOut those of the program.
	In, Out, ChildIn, ChildOut *os.File
}

// NewPipes makes the pipes.
func NewPipes() (p Pipes, err error) {
	if p.ChildIn, p.In, err = os.Pipe(); err != nil {
		return p, fmt.Errorf("make a pipe: %w", err)
	}
	if p.Out, p.ChildOut, err = os.Pipe(); err != nil {
		return p, errors.Join(fmt.Errorf("make a pipe: %w", err), p.ChildIn.Close(), p.In.Close())
	}
	return p, nil
}

// Given closes the program's ends once the program has them. Where it could not be started, as err says, Given closes
// all ends.
func (p Pipes) Given(err error) error {
	closing := errors.Join(p.ChildIn.Close(), p.ChildOut.Close())
	if err != nil {
		return errors.Join(err, closing, p.In.Close(), p.Out.Close())
	}
	return closing
}
