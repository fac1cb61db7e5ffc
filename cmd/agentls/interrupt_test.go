package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

const slowReview = `
turn
call report_finding {"path": "a.txt", "line": 1, "message": "Found before."}
turn
wait never
text Done.
`

// TestInterrupt interrupts a review while the model thinks: what was found is shown.
func TestInterrupt(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, code := range []int{exitInterrupted, exitTerminated} {
		c := newCall(t, map[string]string{"a.txt": "text\n"}, "", "review", "a.txt")
		turns := c.useScript(t, slowReview)
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan int, 1)
		go func() { ended <- c.run(ctx) }()
		if err := turns.Reached(t.Context(), "never", 1); err != nil {
			t.Fatal(err)
		}
		cancel(interrupted{code})
		if got := <-ended; got != code {
			t.Errorf("exit code %d, want %d", got, code)
		}
		if !strings.Contains(c.out.String(), "a.txt:1:1: warning: Found before. [script/test]\n") {
			t.Errorf("the finding is lost:\n%s\n%s", c.out.String(), c.err.String())
		}
		status := "cancelled"
		if code == exitTerminated {
			status = "interrupted"
		}
		if !strings.Contains(c.out.String(), "("+status+": the result is not complete)") ||
			!strings.Contains(c.err.String(), "reviewer: review a.txt: "+status) {
			t.Errorf("the run is not %s:\n%s\n%s", status, c.out.String(), c.err.String())
		}
	}
}

// TestNoLeak has a whole call leave no goroutine.
func TestNoLeak(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	newCall(t, reviewFiles, reviewTurns, "review", "a.txt").must(t, exitFindings)
}

// TestSignal sends this process a signal.
func TestSignal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, stop := interruptible(t.Context())
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	var cause interrupted
	if !errors.As(context.Cause(ctx), &cause) || cause.code != exitTerminated {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
}

// full is an output without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestFullOutput(t *testing.T) {
	c := newCall(t, reviewFiles, reviewTurns, "review", "a.txt")
	c.stdout.Writer = full{}
	c.must(t, exitFailed)
	if !strings.Contains(c.err.String(), "agentls: write to standard output: no space left on device") {
		t.Errorf("standard error is\n%s", c.err.String())
	}
}
