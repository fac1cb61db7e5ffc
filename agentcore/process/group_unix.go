//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// OwnGroup makes a command, which is not started yet, the leader of a session, and so of a group of its own without a
// terminal.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// KillGroup ends a command that was started with [OwnGroup], and all processes in its group. The error is
// [os.ErrProcessDone] where none of them is left.
func KillGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// Ended returns the exit code of a process, or the number of the signal that ended it.
func Ended(state *os.ProcessState) (exit, signal int) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 0, int(status.Signal())
	}
	return state.ExitCode(), 0
}

// SignalName is the name of a signal, such as "SIGKILL".
func SignalName(signal int) string { return unix.SignalName(syscall.Signal(signal)) }
