package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// grepLimit is how many matching lines grep shows if the call names no limit.
	grepLimit = 100
	// grepContext is the most lines around a match that grep shows.
	grepContext = 50
	// grepLine is how long a shown line may be, in characters; a longer one is cut around the match.
	grepLine = 250
)

type grepArguments struct {
	Pattern string `json:"pattern" jsonschema:"RE2; (?i) ignores case" alias:"query,regex,search,regexp"`
	Path    string `json:"path,omitempty" alias:"directory,dir,target_directory"`
	Include string `json:"include,omitempty" jsonschema:"such as *.go or src/**/*.{ts,tsx}" alias:"glob,file_pattern,include_pattern"`
	Context int    `json:"context,omitempty" jsonschema:"lines around" minimum:"0" alias:"context_lines"`
	Limit   int    `json:"limit,omitempty" minimum:"1" alias:"head_limit,max_results"`
}

func grepTool() Tool {
	return New(Definition[grepArguments, Workspace]{
		Name:        "grep",
		Description: "Search the text of files as you see it. Ignored and binary files are left out.",
		Effect:      Reads,
		Access:      func(a grepArguments) Access { return lookingIn(a.Path) },
		Subject:     ByPath,
		Example:     grepArguments{Pattern: `func \w+Error\(`, Include: "*.go"},
		Title: func(a grepArguments) string {
			return strings.TrimSuffix("search "+a.Pattern+" in "+a.Path, " in ")
		},
		Run: grep,
	})
}

// hits are the matches in one file: the 0-based lines, and for each line the byte column where the match begins.
type hits struct {
	path    string
	text    string // "" where there are none
	matches []hit
	// skipped says why the file was not searched, if it was not.
	skipped workspace.ErrorKind
	err     error
}

type hit struct{ line, column int }

func grep(ctx context.Context, host Workspace, a grepArguments) (Result, error) {
	var note string
	expression, err := regexp.Compile(a.Pattern)
	if err != nil {
		note = fmt.Sprintf("(the pattern is no RE2 expression, %s; it was searched as plain text)\n",
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		expression = regexp.MustCompile(regexp.QuoteMeta(a.Pattern))
	}
	if a.Pattern == "" {
		return Result{}, errors.New("pattern is empty; say what to look for, or use list to see the files")
	}
	include := globPattern{pattern: "**"}
	if a.Include != "" {
		if include, err = newGlob(a.Include); err != nil {
			return Result{}, fmt.Errorf("include: %w", err)
		}
	}
	starts, err := startOf(host, a.Path)
	if err != nil {
		return Result{}, err
	}
	limit := grepLimit
	if a.Limit > 0 {
		limit = a.Limit
	}
	s := newSearch(host, a.Pattern, expression)
	page := grepPage{limit: limit, context: min(a.Context, grepContext), view: host.Files().View()}
	for h := range s.files(ctx, starts, include) {
		if h.err != nil {
			return Result{}, h.err
		}
		if h.skipped == workspace.TooLarge {
			page.tooLarge++
		}
		if page.add(h); page.full {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return Result{Text: note + page.text(), Summary: fmt.Sprintf("%s in %s", count(page.matches, "match", "matches"),
		count(page.files, "file", "files"))}, nil
}

// search is a running call of grep.
type search struct {
	host   Workspace
	layer  *workspace.Layer
	finder *lineFinder
}

func newSearch(host Workspace, pattern string, expression *regexp.Regexp) *search {
	return &search{host: host, layer: host.Files().Fork(), finder: newLineFinder(pattern, expression)}
}

// files yields the result of each file that include names, in the order of the walk. It searches several files at once,
// by goroutines that have all ended when files returns. Files that may not be read are left out.
func (s *search) files(ctx context.Context, starts []string, include globPattern) func(yield func(hits) bool) {
	return func(yield func(hits) bool) {
		if len(starts) == 1 && isFile(s.layer, starts[0]) {
			yield(s.named(starts[0]))
			return
		}
		for _, start := range starts {
			for file, err := range workspace.Scan(ctx, s.layer, start, wants(s.host, start, include), s.look) {
				if err != nil {
					yield(hits{err: explain(s.host, start, err)})
					return
				}
				h := file.Result
				h.path = file.Path
				if problem, ok := errors.AsType[*workspace.FileError](file.Err); ok {
					h.skipped = problem.Kind
				}
				// Permission is checked only for files with a result, since that takes longer than searching.
				if (len(h.matches) > 0 || h.skipped != "") && !s.host.MayRead(h.path) {
					continue
				}
				if !yield(h) {
					return
				}
			}
		}
	}
}

// named searches a file that the call names. Such a file is never skipped without a word.
func (s *search) named(path string) hits {
	if !s.host.MayRead(path) {
		return hits{err: fmt.Errorf("%s may not be read, so it is not searched", s.host.Files().View().Shown(path))}
	}
	file, err := s.layer.Read(path)
	if err != nil {
		return hits{err: explain(s.host, path, err)}
	}
	h := s.look(path, []byte(file.Text))
	h.path = path
	return h
}

// look searches the text of a file. It must not keep data.
func (s *search) look(_ string, data []byte) hits {
	text, matches := s.finder.find(data)
	return hits{text: text, matches: matches}
}

// grepPage writes the answer.
type grepPage struct {
	limit, context           int
	view                     *workspace.View
	out                      strings.Builder
	matches, files, tooLarge int
	full                     bool
	lines                    []line // of the file that is written
}

func (p *grepPage) add(h hits) {
	if len(h.matches) == 0 {
		return
	}
	next := 0
	for i, m := range h.matches {
		if p.matches == p.limit || p.out.Len() > outputLimit {
			p.full = true
			return
		}
		if i == 0 {
			p.files++
			p.lines = shownLines(h.text)
			p.out.WriteString(p.view.Shown(h.path) + "\n")
		}
		p.matches++
		from := max(next, m.line-p.context)
		if p.context > 0 && next > 0 && from > next {
			p.out.WriteString("--\n")
		}
		for k := from; k < m.line; k++ {
			p.line(h, k, "-", 0)
		}
		p.line(h, m.line, ":", m.column)
		next = m.line + 1
		end := min(m.line+1+p.context, len(p.lines))
		if i+1 < len(h.matches) {
			end = min(end, h.matches[i+1].line)
		}
		for ; next < end; next++ {
			p.line(h, next, "-", 0)
		}
	}
}

func (p *grepPage) line(h hits, i int, mark string, column int) {
	text := strings.ToValidUTF8(h.text[p.lines[i].start:p.lines[i].end], "\ufffd")
	fmt.Fprintf(&p.out, "%d%s%s\n", i+1, mark, around(text, column))
}

// around cuts a long line so that the byte at column stays visible.
func around(text string, column int) string {
	if len(text) <= grepLine {
		return text
	}
	const before = 80
	if column <= before {
		return clip(text, grepLine)
	}
	start := column - before
	for start > 0 && start < len(text) && text[start]&0xC0 == 0x80 {
		// Not in the middle of a character.
		start--
	}
	return "…" + clip(text[start:], grepLine)
}

func (p *grepPage) text() string {
	switch {
	case p.matches == 0:
		p.out.WriteString("No match; files that git ignores and binary files were left out.\n")
	case p.full:
		fmt.Fprintf(&p.out, "(there are more than these %d matches; narrow the pattern or path, or raise limit)\n",
			p.matches)
	}
	if p.tooLarge > 0 {
		fmt.Fprintf(&p.out, "(%s too large to search)\n", count(p.tooLarge, "file was", "files were"))
	}
	return p.out.String()
}
