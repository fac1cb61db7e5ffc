package tool

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

// readLines is how many lines read shows if the call names no number.
const readLines = 2000

type readArguments struct {
	Path   string `json:"path" alias:"file_path,file,filename,target_file"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, from 1" minimum:"0" alias:"start_line,start"`
	Limit  int    `json:"limit,omitempty" minimum:"1" alias:"max_lines"`
	Raw    bool   `json:"raw,omitempty" jsonschema:"a notebook as JSON, not by cells" hidden:"true"`
}

func readTool() Tool {
	return New(Definition[readArguments, Workspace]{
		Name:        "read",
		Description: "Read a text file, unsaved and proposed changes included, or see an image. Lines come numbered.",
		Effect:      Reads,
		Access: func(a readArguments) Access {
			access := onPath(a.Path)
			access.Whole = a.Offset == 0 && a.Limit == 0
			return access
		},
		Subject: ByPath,
		Example: readArguments{Path: "main.go", Offset: 1, Limit: 200},
		Title:   func(a readArguments) string { return "read " + a.Path },
		Run:     read,
	})
}

// read shows lines as "12\ttext": the number without padding costs the fewest tokens, and the tab keeps the
// indentation of the text apart from it. Line endings are shown as \n.
func read(_ context.Context, host Workspace, a readArguments) (Result, error) {
	file, err := readFile(host, a.Path)
	if problem, ok := errors.AsType[*workspace.FileError](err); ok &&
		(problem.Kind == workspace.Binary || problem.Kind == workspace.TooLarge) {
		if result, ok := readOther(host, a.Path); ok {
			return result, nil
		}
	}
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
	lines := numbered(file.Text)
	total := lines.count
	var note string
	if isNotebook(file.Path) && !a.Raw {
		if n, err := parseNotebook(file.Text); err != nil {
			note = fmt.Sprintf("(shown as text, since it %v)\n", err)
		} else {
			shown := n.shown()
			lines = listing{len(shown), func(i int) shownLine { return shown[i] }}
		}
	}
	first := sort.Search(lines.count, func(i int) bool { return lines.at(i).number >= a.Offset })
	if first == lines.count {
		return Result{}, fmt.Errorf("offset %d is past the end: %s has %s", a.Offset,
			host.Files().View().Shown(file.Path), count(total, "line", "lines"))
	}
	limit := readLines
	if a.Limit > 0 {
		limit = a.Limit
	}
	end := first + min(limit, lines.count-first)
	var out strings.Builder
	out.WriteString(note)
	shown, cut := first, false
	// Lines of a notebook may stand on one line of the file; a page ends behind them.
	for ; shown < end || shown > first && lines.same(shown); shown++ {
		line := lines.at(shown)
		text := clip(line.text, lineLimit)
		if out.Len()+len(text) > outputLimit {
			break
		}
		cut = cut || text != line.text
		fmt.Fprintf(&out, "%d\t%s\n", line.number, text)
	}
	if cut {
		fmt.Fprintf(&out, "(lines that end in … are longer than %d characters and were cut)\n", lineLimit)
	}
	out.WriteString(pageEnd(lines, first, shown, total))
	result.Text = out.String()
	result.Summary = count(shown-first, "line", "lines")
	return result, nil
}

// pageEnd says what follows a page of lines; it is empty at the end of the file.
func pageEnd(lines listing, first, shown, total int) string {
	if shown == lines.count {
		return ""
	}
	var b strings.Builder
	last, next := lines.at(max(shown-1, first)).number, shown
	for next > first && lines.same(next) {
		next++
	}
	if next > shown {
		fmt.Fprintf(&b, "(%s of line %d of the file are not shown; see them with raw)\n",
			count(next-shown, "line", "lines"), last)
	}
	if next < lines.count {
		fmt.Fprintf(&b, "(lines %d-%d of %d; read on with offset %d)\n", lines.at(first).number, last, total,
			lines.at(next).number)
	}
	return b.String()
}

// shownLine is one line of what read shows; number is the 1-based line of the file where it stands.
type shownLine struct {
	number int
	text   string
}

// listing is all that read can show of a file, in the order of the numbers. It makes each line when asked for it, since
// a page has only a few.
type listing struct {
	count int
	at    func(i int) shownLine
}

// same reports whether the file's line of a shown line is that of the line before.
func (l listing) same(i int) bool { return i < l.count && l.at(i).number == l.at(i-1).number }

// numbered returns all lines of a text.
func numbered(text string) listing {
	lines := shownLines(text)
	return listing{len(lines), func(i int) shownLine { return shownLine{i + 1, text[lines[i].start:lines[i].end]} }}
}
