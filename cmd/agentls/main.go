// Command agentls is a language server for AI agents. An editor starts it as `agentls serve`; the other
// subcommands run the same agents, on the same engine, from a command line.
//
// The exit codes are 0 for success, 1 for findings at or above --fail-on (for doctor: a failed check), 2 for
// a command line, file, agent or model that cannot be used, 3 for a run that failed, was ended before its
// task was done, left work of a subagent undone or did not pass its --until check, 4 for a run that completed but was
// denied calls, 130 after an interrupt and 143 after SIGTERM.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
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

// process is what the command line gets from its surroundings. Tests bring their own.
type process struct {
	environment
	console
	args   []string         // without the program's name
	hidden *secret.Redactor // see redactor

	// openModel makes models; nil means the engine's own wires.
	openModel func(provider.Choice) (model.Model, error)
	// probe finds out which sandbox the machine offers; nil means the machine's own.
	probe func(ctx context.Context, stateDir string, tell func(sandbox.Level)) sandbox.Report
	// crash is called at the points that tests end the process at; nil is for everybody else.
	crash crash.Hook
}

// environment is where the process works.
type environment struct {
	dir    string // the current folder, absolute
	home   string // the user's home folder, "" where there is none
	getenv func(string) string
}

// console is where the process reads and writes.
type console struct {
	stdin         io.ReadCloser
	stdinTerminal bool
	stdout        screen
	stderr        screen
}

// screen is an output and what it can show.
type screen struct {
	io.Writer
	terminal bool
	color    bool
	// dumb is a terminal whose cursor cannot be moved; ascii is one that may lack all but ASCII.
	dumb, ascii bool
	// size returns columns and rows; nil where the output is no terminal.
	size func() (width, height int)
}

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

// deferCollection has the first garbage collection begin once the heap has 16 MiB instead of 4: a process needs about
// that much until its first request is out, and its collection would only compete with an editor that starts beside it.
// From the first on they go on as ever. What the user sets in the environment holds.
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
		home = "" // who needs it says so
	}
	return &process{
		args: os.Args[1:], environment: environment{dir, home, os.Getenv},
		console: console{os.Stdin, term.IsTerminal(int(os.Stdin.Fd())), screenOf(os.Stdout), screenOf(os.Stderr)},
	}, nil
}

// redactor knows what of the environment is secret. It is the one of this process: the log and the engine share it.
func (p *process) redactor() *secret.Redactor {
	if p.hidden == nil {
		p.hidden = &secret.Redactor{}
		p.hidden.AddEnviron(os.Environ())
	}
	return p.hidden
}

// keys are where the keys of providers are looked for.
func (v *environment) keys(dirs config.Dirs) *secret.Keys {
	return &secret.Keys{Getenv: v.getenv, File: dirs.Keys()}
}

// screenOf looks at a file of this process: is it a terminal, and does it want colours (https://no-color.org)?
func screenOf(file *os.File) screen {
	s := screen{Writer: file, terminal: term.IsTerminal(int(file.Fd()))}
	if s.terminal {
		s.dumb = os.Getenv("TERM") == "dumb"
		s.color = os.Getenv("NO_COLOR") == "" && !s.dumb
		s.ascii = !showsUnicode(os.Getenv, runtime.GOOS)
		s.size = func() (int, int) {
			width, height, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 80, 24
			}
			return width, height
		}
	}
	return s
}

// showsUnicode reports whether a terminal shows more than ASCII, by its locale (POSIX, "Environment Variables") and
// kind: the console of Linux has few of the characters. Consoles of Windows have no locale there.
func showsUnicode(getenv func(string) string, system string) bool {
	if system == "windows" {
		return true
	}
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return strings.Contains(locale, "utf8") && getenv("TERM") != "linux"
}

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ code int }

func (i interrupted) Error() string {
	if i.code == exitTerminated {
		return "ended by SIGTERM"
	}
	return "interrupted"
}

// interruptible returns a context that the first interrupt or SIGTERM cancels, with an interrupted as the
// cause. The second one ends the process at once. stop gives the signals back.
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

func codeOf(s os.Signal) int {
	if s == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}
