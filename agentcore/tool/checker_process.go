package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/process"
)

// processOutput bounds how much of each output is kept, in bytes; the rest is read and dropped.
const processOutput = 1 << 20

// program is one run of a checker's program. It runs only the named file, with an environment from an allow-list and,
// unless stdin is set, an empty standard input. It ends with its whole process group.
type program struct {
	program string // absolute
	args    []string
	dir     string
	env     []string // in addition to the allow-list
	stdin   string
	limit   time.Duration
	run     event.RunID
}

// output is the output of a process. A status other than 0 is no error, since checkers use it.
type output struct {
	stdout, stderr string
	status         int
}

// passedOn are the only variables that a checker's process inherits: no keys or tokens are in them.
var passedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP",
	"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "XDG_CACHE_HOME",
	"SystemRoot", "SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATHEXT", "ComSpec",
}

func (p program) output(ctx context.Context) (output, error) {
	env := []string{"AGENTLS_RUN=" + string(p.run)}
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	ran, err := process.Run(ctx, process.Program{
		Argv: append([]string{p.program}, p.args...), Dir: p.dir, Env: append(env, p.env...), Limit: p.limit,
		Stdin: strings.NewReader(p.stdin),
	}, processOutput)
	name := filepath.Base(p.program)
	switch {
	case ctx.Err() != nil:
		return output{}, ctx.Err()
	case err != nil:
		return output{}, fmt.Errorf("start %s: %w", name, err)
	case ran.Late:
		return output{}, fmt.Errorf("%s took longer than %s and was stopped", name, p.limit)
	case ran.Signal != "":
		ran.Code = -1 // no status of its own
	}
	return output{string(ran.Stdout), string(ran.Stderr), ran.Code}, nil
}

// within reports whether path is root or below it, by the names alone.
func within(root, path string) bool {
	relative, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(relative)
}

// neutralDir is a folder that holds no configuration of a project.
func neutralDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return filepath.VolumeName(home) + string(filepath.Separator)
}
