// Package process holds what the ways to start a program have in common: a command leads a group of processes of its
// own, so that it and what it has started are ended together. What leaves the group is the sandbox's matter.
package process

import "os"

// ExitCode returns the exit code of a process as shells tell it: 128 and the number of the signal that ended it, whose
// name comes, too; empty for none.
func ExitCode(state *os.ProcessState) (code int, signal string) {
	code, number := Ended(state)
	if number != 0 {
		return 128 + number, SignalName(number)
	}
	return code, ""
}
