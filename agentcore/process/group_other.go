//go:build !unix

package process

import (
	"os"
	"os/exec"
	"strconv"
)

// OwnGroup does nothing: there are no process groups here.
func OwnGroup(*exec.Cmd) {}

// KillGroup ends the process. The error is [os.ErrProcessDone] where it is gone already.
func KillGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Ended returns the exit code of a process.
func Ended(state *os.ProcessState) (exit, signal int) { return state.ExitCode(), 0 }

// SignalName is the number of a signal in words.
func SignalName(signal int) string { return strconv.Itoa(signal) }
