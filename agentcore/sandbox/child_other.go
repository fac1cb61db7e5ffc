//go:build !unix

package sandbox

import (
	"os"
	"os/exec"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends the command. It fails only where that is gone already.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func howEnded(state *os.ProcessState) (exit, signal int) { return state.ExitCode(), 0 }

func signalName(signal int) string { return strconv.Itoa(signal) }
