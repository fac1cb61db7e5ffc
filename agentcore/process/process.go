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
	"fmt"
	"os"
)

// Exit is how a process ended.
type Exit struct {
	// Code is the exit code as shells tell it: 128 and the signal's number where a signal ended it.
	Code int
	// Signal is the name of that signal, such as "SIGKILL"; empty where it ended by itself.
	Signal string
}

// ExitOf is how a process ended that was waited for.
func ExitOf(state *os.ProcessState) Exit {
	code, number := Ended(state)
	if number != 0 {
		return Exit{128 + number, SignalName(number)}
	}
	return Exit{Code: code}
}

// String says it behind the name of the process, such as "ended with exit code 1" or "was ended by SIGKILL".
func (e Exit) String() string {
	if e.Signal != "" {
		return "was ended by " + e.Signal
	}
	return fmt.Sprintf("ended with exit code %d", e.Code)
}
