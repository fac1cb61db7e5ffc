package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/workspace"
)

// checker is a program, or a parser of ours, that judges a text. Outside of the sandbox, it runs no code of the project
// and loads no configuration from the workspace.
type checker struct {
	// name is the Source of its diagnostics.
	name string
	// files are doublestar patterns of base names.
	files []string
	// programs are names of programs; the first that is on PATH is used. They are empty for a checker that runs in this
	// process, or that finds its program by itself.
	programs []string
	limit    time.Duration
	run      func(context.Context, *subject) ([]Diagnostic, error)
}

// checkers returns the table, in the order of the report.
func checkers() []checker {
	return []checker{
		{name: "go syntax", files: []string{"*.go"}, run: goSyntax},
		{name: "gofmt", files: []string{"*.go"}, run: gofmt},
		{name: "go vet", files: []string{"*.go"}, programs: []string{"go"}, limit: vetLimit, run: goVet},
		{
			name: "shellcheck", files: shellFiles, programs: []string{"shellcheck"}, limit: 10 * time.Second,
			run: shellcheck,
		},
		{name: "ruff", files: pythonFiles, programs: []string{"ruff"}, limit: 10 * time.Second, run: ruff},
		{
			name: "python", files: pythonFiles, programs: []string{"python3", "python"}, limit: 10 * time.Second,
			run: pythonSyntax,
		},
		{
			name: "node", files: []string{"*.{js,mjs,cjs}"}, programs: []string{"node"}, limit: 10 * time.Second,
			run: nodeSyntax,
		},
		{name: "eslint", files: []string{"*.{js,mjs,cjs,jsx,ts,mts,cts,tsx,vue,svelte,astro}"}, run: eslint},
		{name: "json", files: []string{"*.{json,webmanifest,geojson}"}, run: jsonSyntax},
		{name: "toml", files: []string{"*.toml"}, run: tomlSyntax},
		{name: "yaml", files: []string{"*.{yaml,yml}"}, run: yamlSyntax},
	}
}

// subject is one file that one checker looks at.
type subject struct {
	host    CheckedWorkspace
	file    workspace.File
	lines   []line
	program string
	limit   time.Duration
}

// errNotApplicable is returned by a checker that does not judge this file after all.
var errNotApplicable = errors.New("not applicable")

// Diagnosis is what the editor and the checkers say about a file.
type Diagnosis struct {
	// Diagnostics are sorted by place, without duplicates.
	Diagnostics []Diagnostic
	// Used names the checkers that judged the file, Missing those whose program is not on this machine.
	Used, Missing []string
	// Failed says in a clause for each which checkers failed, and why; Withheld, which were not run.
	Failed, Withheld []string
}

// Diagnose asks the editor, and every checker for this kind of file, about the file's text as the run sees it, with
// unsaved and proposed changes. It runs code of the project only through [Checks.RunChecker]. The only error is that of
// ctx.
func Diagnose(ctx context.Context, host CheckedWorkspace, file workspace.File) (Diagnosis, error) {
	type outcome struct {
		checker     checker
		diagnostics []Diagnostic
		missing     bool
		err         error
	}
	var roots []string
	for _, root := range host.Files().View().Roots() {
		roots = append(roots, root.Path)
	}
	table := checkers()
	outcomes := make([]outcome, len(table))
	var group beside.Group
	for i, c := range table {
		outcomes[i] = outcome{checker: c, err: errNotApplicable}
		if !c.knows(file) {
			continue
		}
		s := &subject{host: host, file: file, lines: splitLines(file.Text), limit: c.limit}
		if len(c.programs) > 0 && !s.find(c.programs, roots) {
			outcomes[i].missing, outcomes[i].err = true, nil
			continue
		}
		group.Go(func() {
			outcomes[i].diagnostics, outcomes[i].err = c.run(ctx, s)
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return Diagnosis{}, err
	}
	d := Diagnosis{Diagnostics: editorDiagnostics(ctx, host, file)}
	for _, o := range outcomes {
		switch {
		case errors.Is(o.err, errNotApplicable):
		case o.missing, errors.Is(o.err, errNoProgram):
			d.Missing = append(d.Missing, o.checker.name)
		case withheld(o.err) != "":
			d.Withheld = append(d.Withheld, fmt.Sprintf("%s, since %s", o.checker.name, withheld(o.err)))
		case o.err != nil:
			d.Failed = append(d.Failed, fmt.Sprintf("%s: %v", o.checker.name, o.err))
		default:
			d.Used = append(d.Used, o.checker.name)
			d.Diagnostics = append(d.Diagnostics, o.diagnostics...)
		}
	}
	withinLines(d.Diagnostics, file.Text)
	d.Diagnostics = distinct(d.Diagnostics)
	return d, nil
}

// withinLines moves diagnostics behind the last line to that line's end. Parsers report something missing at the end of
// a file there, but people do not count the empty line after the last ending, and report_finding has no such line.
func withinLines(list []Diagnostic, text string) {
	lines := shownLines(text)
	last := len(lines) - 1
	end := lines[last].end - lines[last].start
	for i := range list {
		span := &list[i].Span
		if span.StartLine > last {
			*span = event.Span{StartLine: last, StartColumn: end, EndLine: last, EndColumn: end}
		}
	}
}

// withheld is the reason of a *WithheldError, or "".
func withheld(err error) string {
	if e, ok := errors.AsType[*WithheldError](err); ok {
		return e.Reason
	}
	return ""
}

// editorDiagnostics translates what the editor says about the text that it shows to the lines of the run's text. It
// leaves out diagnostics on lines that the run has changed.
func editorDiagnostics(ctx context.Context, host CheckedWorkspace, file workspace.File) []Diagnostic {
	list := slices.Clone(host.EditorDiagnostics(ctx, file.Path))
	if len(list) == 0 {
		return nil
	}
	shown, err := host.Files().View().Read(file.Path)
	if err != nil || shown.Stamp == file.Stamp {
		// The editor's diagnostics of a file that it does not show are about the file as the run sees it.
		return list
	}
	lines := workspace.MapLines(shown.Text, file.Text)
	var moved []Diagnostic
	for _, d := range list {
		start, same := lines.To(d.Span.StartLine)
		end, alsoSame := lines.To(d.Span.EndLine)
		if same && alsoSame && end-start == d.Span.EndLine-d.Span.StartLine {
			d.Span.StartLine, d.Span.EndLine = start, end
			moved = append(moved, d)
		}
	}
	return moved
}

// knows reports whether the checker judges this kind of file: by its name, or its interpreter line.
func (c checker) knows(file workspace.File) bool {
	base := filepath.Base(file.Path)
	for _, pattern := range c.files {
		if interpreter, ok := strings.CutPrefix(pattern, "#!"); ok {
			if !strings.Contains(base, ".") && interpreterOf(file.Text) == interpreter {
				return true
			}
			continue
		}
		// The patterns are ours and valid, so Match has no error.
		if ok, _ := doublestar.Match(pattern, base); ok {
			return true
		}
	}
	return false
}

// interpreterOf returns the program that a script's first line names, such as "sh" or "python3", or "".
func interpreterOf(text string) string {
	first, ok := strings.CutPrefix(text[:min(len(text), 200)], "#!")
	if !ok {
		return ""
	}
	first, _, _ = strings.Cut(first, "\n")
	fields := strings.Fields(first)
	if len(fields) > 1 && filepath.Base(fields[0]) == "env" {
		fields = slices.DeleteFunc(fields[1:],
			func(s string) bool { return strings.HasPrefix(s, "-") || strings.Contains(s, "=") })
	}
	if len(fields) == 0 {
		return ""
	}
	return filepath.Base(fields[0])
}

func (s *subject) find(programs, roots []string) bool {
	for _, name := range programs {
		if path, ok := process.Find(name, roots); ok {
			s.program = path
			return true
		}
	}
	return false
}

// filter runs the program with the text on its standard input, in a folder outside of any project.
func (s *subject) filter(ctx context.Context, args ...string) (output, error) {
	return program{
		program: s.program, args: args, dir: neutralDir(), stdin: s.file.Text,
		limit: s.limit, run: s.host.Author("").Run,
	}.output(ctx)
}

// at returns an empty span at a 1-based line and column, where columns count bytes or, with characters
// set, code points. Places outside the text are moved into it.
func (s *subject) at(row, column int, characters bool) event.Span {
	row = max(0, min(row-1, len(s.lines)-1))
	l := s.lines[row]
	content := s.file.Text[l.start:l.end]
	column = max(0, column-1)
	if characters {
		column = byteColumn(content, column)
	}
	column = min(column, len(content))
	return event.Span{StartLine: row, StartColumn: column, EndLine: row, EndColumn: column}
}

// byteColumn turns a 0-based column in code points into one in bytes.
func byteColumn(content string, column int) int {
	offset := 0
	for range column {
		if offset >= len(content) {
			break
		}
		_, size := utf8.DecodeRuneInString(content[offset:])
		offset += size
	}
	return offset
}

// between returns the span from one place to another; an end before the start is the start.
func between(start, end event.Span) event.Span {
	if end.StartLine < start.StartLine || end.StartLine == start.StartLine && end.StartColumn < start.StartColumn {
		return start
	}
	return event.Span{
		StartLine: start.StartLine, StartColumn: start.StartColumn, EndLine: end.StartLine,
		EndColumn: end.StartColumn,
	}
}

// offset is the span's start in bytes of the text.
func (s *subject) offset(span event.Span) int {
	return s.lines[span.StartLine].start + span.StartColumn
}

// spanAt returns an empty span at a byte offset of the text.
func (s *subject) spanAt(offset int) event.Span {
	offset = max(0, min(offset, len(s.file.Text)))
	row := lineAt(s.lines, offset)
	return s.at(row+1, offset-s.lines[row].start+1, false)
}

// diagnostic fills in what all diagnostics of a subject share.
func (s *subject) diagnostic(source string, severity event.Severity, span event.Span, message string) Diagnostic {
	return Diagnostic{
		Path: s.file.Path, Span: span, Severity: severity, Source: source,
		Message: strings.Join(strings.Fields(message), " "),
	}
}

// fixLines is how many lines on each side a fix may include so that its text occurs only once.
const fixLines = 4

// fix turns a replacement of the bytes [start, end) into one of a text that occurs only once, or returns nil.
func (s *subject) fix(start, end int, replacement string) *Fix {
	text := s.file.Text
	if start < 0 || end < start || end > len(text) {
		return nil
	}
	first, last := lineAt(s.lines, start), lineAt(s.lines, end)
	if end > start && end == s.lines[last].start {
		last--
	}
	for range fixLines {
		from, to := s.lines[first].start, max(end, s.lines[last].end)
		if old := text[from:to]; strings.Count(text, old) == 1 {
			return &Fix{OldString: old, NewString: text[from:start] + replacement + text[end:to]}
		}
		first, last = max(0, first-1), min(len(s.lines)-1, last+1)
	}
	return nil
}

// distinct sorts diagnostics by place, and leaves out those that repeat an earlier one. The editor's come first.
func distinct(list []Diagnostic) []Diagnostic {
	type key struct {
		line    int
		message string
	}
	seen := map[key]bool{}
	list = slices.DeleteFunc(list, func(d Diagnostic) bool {
		k := key{d.Span.StartLine, d.Message}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		if a.Span.StartLine != b.Span.StartLine {
			return a.Span.StartLine - b.Span.StartLine
		}
		return a.Span.StartColumn - b.Span.StartColumn
	})
	return list
}
