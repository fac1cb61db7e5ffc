package agentcore

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/filelock"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// commandVariable is in the environment of a process without a sandbox and of what it starts; its value is no other's.
const commandVariable = "AGENTLS_COMMAND="

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
			problems = append(problems, sandbox.EndStrays(commandVariable+entry.Name()), os.Remove(path))
		}
		problems = append(problems, file.Close())
	}
	return errors.Join(problems...)
}

// direct starts the server as the user would, where there is no sandbox.
func (s *mcpStarter) direct() (*mcp.Process, error) {
	r := s.run
	name := fmt.Sprintf("%s-%s-%d", r.session.ID, s.server.name, s.starts)
	own := commandVariable + name
	dir := authority.Home(r.session.view)
	program := s.server.command[0]
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	cmd := exec.Command(program, s.server.command[1:]...)
	words := &head{}
	cmd.Dir, cmd.WaitDelay = dir, directDelay
	cmd.Env = append(append(r.engine.redactor.Environ(os.Environ()), s.variables()...), runVariable(r.id),
		own, "PWD="+dir)
	release, err := r.engine.markServer(name)
	if err != nil {
		return nil, err
	}
	p, err := newPipes()
	if err != nil {
		return nil, errors.Join(err, release())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.childIn, p.childOut, words
	process.OwnGroup(cmd)
	err = cmd.Start()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		err = mcp.Permanent(err)
	}
	if err := p.given(err); err != nil {
		return nil, errors.Join(err, release())
	}
	kill := func() {
		_ = process.KillGroup(cmd)
		// What cannot be looked for is looked for again by the next process.
		_ = sandbox.EndStrays(own)
	}
	return &mcp.Process{In: p.in, Out: p.out, Kill: kill, Wait: func() string {
		err := cmd.Wait()
		kill() // what it left
		if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		exit, signal := process.ExitCode(cmd.ProcessState)
		said, _ := words.text()
		return s.howItEnded(exit, signal, said, errors.Join(err, release()))
	}}, nil
}
