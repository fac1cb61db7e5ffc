package sandbox

import (
	"os"
	"syscall"
)

// In a process that was started to set up a sandbox, this function does not return. It runs before main, and before the
// init functions of packages that take longer than the sandbox itself: where imports leave the order open, Go
// initializes packages by import path.
func init() {
	if len(os.Args) > 0 && os.Args[0] == marker || len(os.Args) == 2 && os.Args[1] == marker {
		// Not os.Exit, since nothing that a program does at its exit is needed here, such as the race detector's second
		// of waiting.
		syscall.Exit(enter())
	}
}

// Dispatch must be the first call in main and in each TestMain. A program that does not call it gets no full sandbox.
func Dispatch() { dispatched.Store(true) }
