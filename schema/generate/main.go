// Generate makes everything that follows from schema/agent.metamodel.json and agent.table.json: Go
// types and dispatch, Lua's names and annotations, the documents and the JSON Schema. Run it with `go generate
// ./schema`, or `go run ./schema/generate` at the root of the module. Another language is another function in
// outputs.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the root of the module")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(root, f.path), f.content, 0o644); err != nil {
			return fmt.Errorf("write a generated file: %w", err)
		}
	}
	return nil
}

// file is a generated file; its path is from the root of the module.
type file struct {
	path    string
	content []byte
}

// outputs are the generated files in the order of writing.
var outputs = []struct {
	path  string
	write func(*Model, *Table) ([]byte, error)
}{
	{"agentcore/event/events_gen.go", goEvents},
	{"editors/nvim/lua/agentls/protocol.lua", lua},
	{"lsp/methods/types_gen.go", goMethodTypes},
	{"lsp/methods/methods_gen.go", goMethods},
	{"schema/agent.schema.json", jsonSchema},
	{"schema/PROTOCOL.md", markdown},
	{"editors/vscode/src/protocol.ts", typeScript},
}

// generate reads the sources below root and returns all generated files.
func generate(root string) ([]file, error) {
	m, t, err := read(root)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, output := range outputs {
		content, err := output.write(m, t)
		if err != nil {
			return nil, fmt.Errorf("generate %s: %w", output.path, err)
		}
		files = append(files, file{output.path, content})
	}
	return files, nil
}

func read(root string) (*Model, *Table, error) {
	source, err := os.ReadFile(filepath.Join(root, "schema/agent.metamodel.json"))
	if err != nil {
		return nil, nil, fmt.Errorf("read the metamodel: %w", err)
	}
	m, err := ReadModel(source)
	if err != nil {
		return nil, nil, err
	}
	if source, err = os.ReadFile(filepath.Join(root, "schema/agent.table.json")); err != nil {
		return nil, nil, fmt.Errorf("read the table: %w", err)
	}
	t, err := ReadTable(source, m)
	return m, t, err
}
