package agentcore

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/filelock"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
)

// serverMarks is the folder with a file for each MCP server that runs without a sandbox, by the value of its variable.
// It is locked as long as the process lives that has started the server, so that the next one finds those that outlived
// theirs.
func (e *Engine) serverMarks() string { return filepath.Join(e.stateDir, "servers") }

// arriving begins the names of marks that are not locked yet.
const arriving = ".arriving-"

// markServer notes a server that is about to start. release is called when nothing of it is left.
func (e *Engine) markServer(name string) (release func() error, err error) {
	dir := e.serverMarks()
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

// endServers ends the MCP servers without a sandbox that have outlived their process.
func (e *Engine) endServers() error {
	entries, err := os.ReadDir(e.serverMarks())
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
		path := filepath.Join(e.serverMarks(), entry.Name())
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue // it has ended just now
		}
		if locked, err := filelock.Try(file, true); err == nil && locked {
			problems = append(problems, process.EndStrays(command.DirectMark+entry.Name()), os.Remove(path))
		}
		problems = append(problems, file.Close())
	}
	return errors.Join(problems...)
}

// direct starts the server as the user would, where there is no sandbox.
func (s *mcpStarter) direct() (*process.Live, error) {
	r := s.run
	name := fmt.Sprintf("%s-%s-%d", r.session.ID, s.server.name, s.starts)
	release, err := r.engine.markServer(name)
	if err != nil {
		return nil, err
	}
	live, err := command.LiveDirect(process.Program{
		Argv: s.server.command, Dir: r.session.home(), Env: r.commands.Environ(s.variables()...),
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
