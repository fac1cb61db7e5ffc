package main

import (
	"fmt"
	"os"
	"syscall"
)

// The exit codes of the process.
const (
	exitOK          = 0
	exitFindings    = 1
	exitUsage       = 2
	exitFailed      = 3
	exitDenied      = 4
	exitInterrupted = 130
	exitTerminated  = 143
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ code int }

func (i interrupted) Error() string {
	if i.code == exitTerminated {
		return "ended by SIGTERM"
	}
	return "interrupted"
}

// exitError ends the process with a code. A nil err prints nothing.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is an error that the user can correct on the command line.
func usage(format string, arguments ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, arguments...)}
}

func codeOf(s os.Signal) int {
	if s == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

// exitsOfEach are the exit codes of each command that starts runs.
const exitsOfEach = `  4    a run completed, but a call was denied and no later call of the same tool succeeded. --ignore-denied makes
       this 0, and --format json lists the denied calls with the reasons
  130  you interrupted it`
