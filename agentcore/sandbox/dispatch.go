package sandbox

import (
	"os"
	"syscall"
)

// In a process that was started to set up a sandbox this does not return. It comes before main, and before the packages
// that take longer to get ready than a sandbox does: Go initializes by the order of import paths where imports leave it
// open.
func init() {
	if len(os.Args) > 0 && os.Args[0] == marker || len(os.Args) == 2 && os.Args[1] == marker {
		// Not os.Exit: what the program does at its exit, the race detector's second of waiting too, is not for here.
		syscall.Exit(enter())
	}
}

// Dispatch must be the first thing that main, or a TestMain, does: a program that does not call it gets no full
// sandbox.
func Dispatch() { dispatched.Store(true) }
