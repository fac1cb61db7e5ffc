package sandbox

import (
	"os"
	"sync/atomic"
	"syscall"
)

// dispatched tells that this program calls Dispatch, so that starting itself again is no endless chain.
var dispatched atomic.Bool

// Dispatch must be the first thing that main, or a TestMain, does. In a process that was started to set up a sandbox it
// does that and does not return; everywhere else it returns at once.
func Dispatch() {
	if len(os.Args) > 0 && os.Args[0] == marker || len(os.Args) == 2 && os.Args[1] == marker {
		// Not os.Exit: what the program does at its exit, the race detector's second of waiting too, is not for here.
		syscall.Exit(enter())
	}
	dispatched.Store(true)
}
