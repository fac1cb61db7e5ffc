package agent

import (
	"embed"
	"errors"
	"fmt"
	"sync"
)

//go:embed builtin/*.md
var builtinFiles embed.FS

// Builtin returns the built-in agents. It fails if one of them has any problem, even a warning.
var Builtin = sync.OnceValues(func() ([]*Definition, error) {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		return nil, fmt.Errorf("list the built-in agents: %w", err)
	}
	var list []*Definition
	for _, entry := range entries {
		data, err := builtinFiles.ReadFile("builtin/" + entry.Name())
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
})
