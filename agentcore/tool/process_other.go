//go:build !unix

package tool

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process; the checkers that are used here start no others but the go command, whose
// children end when their pipes close.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
