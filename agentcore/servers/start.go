package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/filelock"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/workspace"
)

// starter starts a server on pipes whenever its client needs it. Only the client's goroutine uses it.
type starter struct {
	Setup
	caller Caller // the first run that needed the server
	server Server // with its references replaced
	starts int
}

// withholds says why the server may not be started now, empty if it may. A server of the user, like a hook of the user,
// also runs in folders that are not trusted, but only in a sandbox, and not if its program is in such a folder.
func (s *starter) withholds() string {
	level, trusted := s.caller.Level(), s.Trusted()
	switch {
	case s.caller.Sandbox.Dir() == "":
		return "no workspace folder is open"
	case s.server.Project && !trusted:
		return errUntrusted.Error()
	case s.server.Project && level != permission.Full:
		return "it comes from the workspace, and there is no full sandbox to hold it (see `agentls doctor`)"
	case trusted:
		return ""
	case level != permission.Full:
		return "the workspace is not trusted, and without a full sandbox the server could start programs from it"
	}
	if file := s.Named(s.server.command, s.server.env); file != "" {
		return file + ", which it names, is a file of a workspace that is not trusted"
	}
	return ""
}

// open starts the server.
func (s *starter) open(ctx context.Context) (*process.Live, error) {
	if why := s.withholds(); why != "" {
		return nil, mcp.Permanent(errors.New(why))
	}
	s.starts++
	if s.caller.Sandbox.Direct() {
		return s.direct()
	}
	return s.sandboxed(ctx)
}

// variables are the variables of the server's configuration, and its marks.
func (s *starter) variables() []string {
	list := []string{"AGENTLS_SESSION=" + string(s.Session)}
	for name, value := range s.server.env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (s *starter) sandboxed(ctx context.Context) (*process.Live, error) {
	ignored := s.Proposal.Fork().Ignored()
	options, _, err := s.caller.Sandbox.Options(func() *workspace.Ignored { return ignored })
	if err != nil {
		return nil, mcp.Permanent(err)
	}
	if !s.server.Project {
		options.Tools = append(options.Tools, programFolders(s.server.command, options.Home)...)
	}
	start := sandbox.Command{Argv: s.server.command, Dir: s.server.dir, Env: s.variables()}
	if !s.server.Project && !s.Trusted() {
		start.Dir = "/tmp" // a program that looks for others in its folder must not find those of the workspace
	}
	return command.Live(ctx, options, start, s.howItEnded)
}

// howItEnded describes the end of a server in one line, with its last output.
func (s *starter) howItEnded(exit process.Exit, words []byte, err error) string {
	how := command.Ending(permission.Visible(filepath.Base(s.server.command[0])), exit, words, err)
	return s.Redactor.Text(how)
}

// programFolders are the folders below the home folder with the programs that a user's server names, so that its
// sandbox shows them. For a file in a package, it is the whole package, since the file needs the rest.
func programFolders(command []string, home string) []string {
	var list []string
	if home == "" {
		return nil
	}
	for _, word := range command {
		if rest, ok := strings.CutPrefix(word, "~/"); ok {
			word = filepath.Join(home, rest)
		}
		rel, err := filepath.Rel(home, word)
		if err != nil || !filepath.IsAbs(word) || !filepath.IsLocal(rel) || rel == "." ||
			permission.Secret(filepath.ToSlash(word)) {
			continue
		}
		info, err := os.Stat(word)
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		shown := filepath.Clean(word)
		for dir, up := filepath.Dir(shown), 0; up < 5 && dir != home &&
			len(dir) > len(home); dir, up = filepath.Dir(dir), up+1 {
			if slices.ContainsFunc([]string{"package.json", "pyproject.toml", "pyvenv.cfg"}, func(name string) bool {
				_, err := os.Stat(filepath.Join(dir, name))
				return err == nil
			}) {
				shown = dir
				break
			}
		}
		list = append(list, shown)
	}
	return list
}

// direct starts the server as if the user started it, if there is no sandbox.
func (s *starter) direct() (*process.Live, error) {
	name := fmt.Sprintf("%s-%s-%d", s.Session, s.server.Name, s.starts)
	release, err := mark(s.Marks, name)
	if err != nil {
		return nil, err
	}
	live, err := command.LiveDirect(process.Program{
		Argv: s.server.command, Dir: s.caller.Sandbox.Dir(), Env: s.caller.Sandbox.Environ(s.variables()...),
		Mark: command.DirectMark + name,
	}, func(exit process.Exit, words []byte, err error) string {
		return s.howItEnded(exit, words, errors.Join(err, release()))
	})
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		err = mcp.Permanent(err)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return live, nil
}

// arriving is the beginning of the names of marks that are not locked yet.
const arriving = ".arriving-"

// mark notes a server that is about to start. release must be called when none of its processes is left.
func mark(dir, name string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("note a server that is started: %w", err)
	}
	file, err := os.CreateTemp(dir, arriving)
	if err != nil {
		return nil, fmt.Errorf("note a server that is started: %w", err)
	}
	path := filepath.Join(dir, name)
	locked, err := filelock.Try(file, true)
	if err == nil && !locked {
		err = errors.New("its file is locked")
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("note a server that is started: %w", err), file.Close(),
			os.Remove(file.Name()))
	}
	return func() error { return errors.Join(os.Remove(path), file.Close()) }, nil
}

// EndLeft ends the MCP servers without a sandbox that have outlived their process. marks is a folder with a file for
// each server, whose name is the value of its mark. The file is locked as long as the process lives that started the
// server.
func EndLeft(marks string) error {
	entries, err := os.ReadDir(marks)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for servers that were left: %w", err)
	}
	var problems []error
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), arriving) {
			continue
		}
		path := filepath.Join(marks, entry.Name())
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue // the server has just ended
		}
		if locked, err := filelock.Try(file, true); err == nil && locked {
			problems = append(problems, process.EndStrays(command.DirectMark+entry.Name()), os.Remove(path))
		}
		problems = append(problems, file.Close())
	}
	return errors.Join(problems...)
}
