package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
)

// process is the command line's surroundings. Tests bring their own.
type process struct {
	environment
	console
	args   []string         // without the program's name
	hidden *secret.Redactor // see redactor

	// openModel makes models; nil means the engine's own wires.
	openModel func(provider.Choice) (model.Model, error)
	// openTerminal takes the terminal over for a chat, as openScreen does; nil means the machine's own.
	openTerminal func(past []string, complete completer) chatTerminal
	// probe finds out which sandbox the machine offers; nil means the machine's own.
	probe func(ctx context.Context, stateDir string, tell func(sandbox.Level)) sandbox.Report
	// crash is called at the points where tests end the process; nil outside of tests.
	crash crash.Hook
}

// environment is the place in which the process works.
type environment struct {
	dir    string // the current folder, absolute
	home   string // the user's home folder, "" where there is none
	getenv func(string) string
}

// console is what the process reads from and writes to.
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
	// dumb says that the terminal's cursor cannot be moved, ascii that the terminal may show nothing but ASCII.
	dumb, ascii bool
	// size returns columns and rows; nil where the output is no terminal.
	size func() (width, height int)
}

// redactor knows the secrets in the environment. There is one in this process, which the log and the engine share.
func (p *process) redactor() *secret.Redactor {
	if p.hidden == nil {
		p.hidden = &secret.Redactor{}
		p.hidden.AddEnviron(os.Environ())
	}
	return p.hidden
}

// keys are the places where keys of providers are looked for.
func (v *environment) keys(dirs config.Dirs) *secret.Keys {
	return &secret.Keys{Getenv: v.getenv, File: dirs.Keys()}
}

// screenOf finds out whether a file of this process is a terminal and wants colours (https://no-color.org).
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
