package agent

import (
	"embed"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

//go:embed builtin/*.md builtin/programs/*.md
var builtinFiles embed.FS

// Builtin returns the built-in agents. It fails if one of them has any problem, even a warning.
var Builtin = sync.OnceValues(func() ([]*Definition, error) { return readBuiltin("builtin") })

// Programs returns the definitions of those well-known agents of others whose programs are in one of the folders of
// path, a list as in PATH. They speak the Agent Client Protocol.
func Programs(path string) ([]*Definition, error) {
	list, err := readBuiltin("builtin/programs")
	return slices.DeleteFunc(list, func(d *Definition) bool {
		return !slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
			_, err := exec.LookPath(filepath.Join(dir, d.Program.Command[0]))
			return err == nil && filepath.IsAbs(dir)
		})
	}), err
}

func readBuiltin(dir string) ([]*Definition, error) {
	entries, err := builtinFiles.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the built-in agents: %w", err)
	}
	var list []*Definition
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		data, err := builtinFiles.ReadFile(dir + "/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read a built-in agent: %w", err)
		}
		file := ParseAs(Native, entry.Name(), string(data))
		for _, p := range file.Problems {
			err = errors.Join(err, errors.New(p.String()))
		}
		if err != nil {
			return nil, fmt.Errorf("read the built-in agents: %w", err)
		}
		for _, d := range file.Definitions {
			d.Source = Source{}
			list = append(list, d)
		}
	}
	return list, nil
}
