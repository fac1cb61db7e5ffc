// Command agentls is a language server for AI agents. An editor starts it as `agentls serve`; the other
// subcommands run the same agents, on the same engine, from a command line.
//
// The exit codes are 0 for success, 1 for findings at or above --fail-on (for doctor: a failed check), 2 for
// a command line, file, agent or model that cannot be used, 3 for a run that failed, was ended before its
// task was done, left work of a subagent undone or did not pass its --until check, 4 for a run that completed but was
// denied calls, 130 after an interrupt and 143 after SIGTERM.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/agentls/agentls/agentcore/sandbox"
)

func main() {
	sandbox.Dispatch()
	deferCollection()
	p, err := system()
	if err != nil {
		fmt.Fprintf(os.Stderr, "agentls: %v\n", err)
		os.Exit(exitUsage)
	}
	ctx, stop := interruptible(context.Background())
	code := p.run(ctx)
	stop()
	os.Exit(code)
}

// deferCollection delays the first garbage collection until the heap has 16 MiB instead of 4. A process needs about
// that much until its first request is sent, and a collection would only compete with an editor that starts at the same
// time. Later collections are as usual. Settings of the user in the environment take precedence.
func deferCollection() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	usual := debug.SetGCPercent(400)
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
}

// system is the command line as the operating system started it.
func system() (*process, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w; change to a folder that exists", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // the error is reported where the folder is needed
	}
	return &process{
		args: os.Args[1:], environment: environment{dir, home, os.Getenv},
		console: console{os.Stdin, term.IsTerminal(int(os.Stdin.Fd())), screenOf(os.Stdout), screenOf(os.Stderr)},
	}, nil
}

// interruptible returns a context that the first interrupt or SIGTERM cancels, with an interrupted as the cause. The
// second signal ends the process at once. stop ends the handling of signals.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	stopped := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			cancel(interrupted{codeOf(s)})
		case <-stopped:
			return
		}
		select {
		case s := <-signals:
			os.Exit(codeOf(s))
		case <-stopped:
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(stopped)
		cancel(nil)
	})
}
