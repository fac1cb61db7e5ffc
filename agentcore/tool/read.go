package tool

import (
	"context"
	"fmt"
	"strings"
)

// readLines is how many lines read shows if the call does not say.
const readLines = 2000

type readArguments struct {
	Path   string `json:"path" jsonschema:"file, relative to the workspace or absolute" alias:"file_path,file,filename,target_file"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to show, from 1" minimum:"0" alias:"start_line,start"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines, default 2000" minimum:"1" alias:"max_lines"`
}

func readTool() Tool {
	return New(Definition[readArguments]{
		Name: "read",
		Description: "Read a text file as the editor shows it, unsaved and proposed changes included. " +
			"Each line comes as its number, a tab and its text.",
		Effect:  Reads,
		Example: readArguments{Path: "main.go", Offset: 1, Limit: 200},
		Title:   func(a readArguments) string { return "read " + a.Path },
		Run:     read,
	})
}

// read shows lines as "12\ttext": the number without padding costs the fewest tokens, and the tab keeps the
// indentation of the text apart from it. Line endings are shown as \n.
func read(_ context.Context, host Host, a readArguments) (Result, error) {
	file, err := readFile(host, a.Path)
	if err != nil {
		if file, err = readAttached(host, a.Path, err); err != nil {
			return Result{}, err
		}
	}
	result := Result{Paths: []string{file.Path}}
	if file.Text == "" {
		result.Text, result.Summary = "(the file is empty)", "empty"
		return result, nil
	}
	lines := shownLines(file.Text)
	first := max(a.Offset, 1) - 1
	if first >= len(lines) {
		return Result{}, fmt.Errorf("offset %d is past the end: %s has %s", a.Offset, host.Files().View().Relative(file.Path), count(len(lines), "line", "lines"))
	}
	limit := readLines
	if a.Limit > 0 {
		limit = a.Limit
	}
	end := first + min(limit, len(lines)-first)
	var out strings.Builder
	shown, cut := first, false
	for ; shown < end; shown++ {
		whole := file.Text[lines[shown].start:lines[shown].end]
		text := clip(whole, lineLimit)
		if out.Len()+len(text) > outputLimit {
			break
		}
		cut = cut || text != whole
		fmt.Fprintf(&out, "%d\t%s\n", shown+1, text)
	}
	if cut {
		fmt.Fprintf(&out, "(lines that end in … are longer than %d characters and were cut)\n", lineLimit)
	}
	if shown < len(lines) {
		fmt.Fprintf(&out, "(lines %d-%d of %d; read on with offset %d)\n", first+1, shown, len(lines), shown+1)
	}
	result.Text = out.String()
	result.Summary = count(shown-first, "line", "lines")
	return result, nil
}
