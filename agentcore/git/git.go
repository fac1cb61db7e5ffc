package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/process"
)

const (
	// limit is how long one command of git may take.
	limit = 30 * time.Second
	// maxOutput bounds the output of one command, in bytes.
	maxOutput = 64 << 20
)

// pins are options for git before its command. They switch off what a repository's configuration could start or
// contact.
var pins = []string{
	"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "protocol.allow=never", "-c", "core.quotePath=false", "-c", "safe.bareRepository=explicit",
}

// environment is the environment for git: the user's own, with settings by which git asks, fetches and writes nothing.
func environment() []string {
	return append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_EXTERNAL_DIFF=", "GIT_ASKPASS=", "GIT_TRACE=", "LC_ALL=C")
}

// Repository is a work tree and its repository. Its methods may be called from any goroutine; each starts git and waits
// for it.
type Repository struct {
	// Top is the folder of the work tree, absolute, by the name that it has from the folder that Find was given.
	Top     string
	program string
}

// Find finds the repository that contains a folder, an absolute path. It does not start a program named git that lies
// in that folder or in the work tree. The error is a *fault.Error: NotFound if the folder is in no work tree or git is
// not installed; otherwise it says what git says, such as that the folder belongs to another user.
func Find(ctx context.Context, dir string) (*Repository, error) {
	program, ok := process.Find("git", []string{dir, cmp.Or(Top(dir), dir)})
	if !ok {
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: "git is not installed, so nothing is known of changes",
			Hint: "install git, or name the files to review",
		}
	}
	r := &Repository{Top: dir, program: program}
	out, err := r.run(ctx, "", "rev-parse", "--show-cdup")
	if err != nil {
		if strings.Contains(err.Error(), "not a git repository") || strings.Contains(err.Error(), "work tree") {
			return nil, &fault.Error{
				Kind: fault.NotFound, Detail: fmt.Sprintf("%s lies in no git repository", dir),
				Hint: "open a folder that does, or name the files to review", Cause: err,
			}
		}
		return nil, err
	}
	// Going up from dir keeps its name, even if that name contains a link.
	r.Top = filepath.Join(dir, filepath.FromSlash(strings.TrimRight(out, "\r\n")))
	return r, nil
}

// Top is the folder of a repository, at or above a folder, which is an absolute path; empty if there is none. It looks
// for .git, and starts nothing.
func Top(folder string) string {
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// run runs a command of git in the work tree and returns what it says.
func (r *Repository) run(ctx context.Context, stdin string, args ...string) (string, error) {
	command := "git " + args[0]
	ran, err := process.Run(ctx, process.Program{
		Argv: append(append([]string{r.program}, pins...), args...), Dir: r.Top, Env: environment(), Limit: limit,
		Stdin: strings.NewReader(stdin),
	}, maxOutput)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("start %s in %s: %w", command, r.Top, err)
	case ran.Late:
		return "", refused(command, r.Top, fmt.Sprintf("it took longer than %s", limit))
	case ran.Code != 0:
		said := strings.TrimPrefix(string(bytes.TrimSpace(ran.Stderr)), "fatal: ")
		return "", refused(command, r.Top, said)
	case ran.Cut:
		return "", refused(command, r.Top, fmt.Sprintf("it said more than %d MiB", maxOutput>>20))
	}
	return string(ran.Stdout), nil
}

func refused(command, dir, why string) error {
	return &fault.Error{
		Kind: fault.InvalidRequest, Detail: fmt.Sprintf("%s could not tell the changes in %s: %s", command, dir, why),
		Hint: "mend that, or name the files to review",
	}
}
