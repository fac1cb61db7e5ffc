//go:build unix

package sandbox

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup starts a command as the leader of a new session, so that it and its children can be ended together.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// killGroup ends the command's process group. A group that is gone already needs nothing.
func killGroup(cmd *exec.Cmd) {
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
}

// howEnded returns the exit code, or the number of the signal.
func howEnded(state *os.ProcessState) (exit, signal int) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 0, int(ws.Signal())
	}
	return state.ExitCode(), 0
}

// signalName is the name of a signal, such as "SIGKILL".
func signalName(signal int) string { return unix.SignalName(syscall.Signal(signal)) }
