//go:build !unix

package agentcore

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process; one that is gone needs nothing.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func howEnded(state *os.ProcessState) (exit int, signal string) { return state.ExitCode(), "" }
