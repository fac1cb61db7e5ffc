package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/filelock"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
)

// arriving begins the names of marks that are not locked yet.
const arriving = ".arriving-"

// mark notes a server that is about to start. release is called when nothing of it is left.
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

// EndLeft ends the MCP servers without a sandbox that have outlived their process. The folder has a file for each, by
// the value of its mark, which is locked as long as the process lives that has started the server.
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
			continue // it has ended just now
		}
		if locked, err := filelock.Try(file, true); err == nil && locked {
			problems = append(problems, process.EndStrays(command.DirectMark+entry.Name()), os.Remove(path))
		}
		problems = append(problems, file.Close())
	}
	return errors.Join(problems...)
}
