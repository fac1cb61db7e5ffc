package sandbox

import (
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/agentls/agentls/agentcore/process"
)

// status is a report of the process in the sandbox: a line of JSON on the status pipe.
type status struct {
	// Heard is true once the process has read what it is to do.
	Heard bool `json:",omitempty"`
	// Started is true when the command runs, or is about to.
	Started bool `json:",omitempty"`
	// Done is true when the command has ended, with Exit or Signal.
	Done   bool `json:",omitempty"`
	Exit   int  `json:",omitempty"`
	Signal int  `json:",omitempty"`
	// Step and Error say what failed before the command ran.
	Step  string `json:",omitempty"`
	Error string `json:",omitempty"`
	// Limit names the limit that ended the command.
	Limit string `json:",omitempty"`
	// Notes are added by the starting side.
	Notes []string `json:"-"`
	// Checks are the results of a probe.
	Checks []Check `json:",omitempty"`
}

// child is a running command with all processes that it started.
type child interface {
	// kill ends all of them at once. It does not wait.
	kill()
	// wait returns when none of its processes is left, as far as that can be waited for. It is called once.
	wait() (status, error)
	// began is closed when the command runs, or when it is known that it never will.
	began() <-chan struct{}
}

// waitDelay is how long pipes may stay open after the end of a process.
const waitDelay = 2 * time.Second

// bare is a command without walls, in a process group of its own. Processes that leave the group are found by the last
// variable of their environment, which no other command has.
type bare struct {
	cmd      *exec.Cmd
	variable string
	started  chan struct{}
}

func startBare(argv, env []string, dir string, stdin io.Reader, output *spool) (*bare, error) {
	path, err := lookPath(argv[0], env, dir)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: argv, Env: env, Dir: dir, Stdin: stdin, Stdout: output.stdout(),
		Stderr: output.stderr(), WaitDelay: waitDelay,
	}
	process.OwnGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b := &bare{cmd: cmd, variable: env[len(env)-1], started: make(chan struct{})}
	close(b.started)
	return b, nil
}

func (b *bare) kill() { _ = process.KillGroup(b.cmd) }

func (b *bare) began() <-chan struct{} { return b.started }

func (b *bare) wait() (status, error) {
	err := b.cmd.Wait()
	// Processes that the command left behind would change files while the changes are collected.
	_ = process.KillGroup(b.cmd)
	if serr := process.EndStrays(b.variable); err == nil {
		err = serr
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	s := status{Started: true, Done: true}
	s.Exit, s.Signal = process.Ended(b.cmd.ProcessState)
	return s, err
}
