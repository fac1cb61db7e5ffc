package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// grepLimit is how many matching lines grep shows if the call does not say.
	grepLimit = 100
	// grepContext is the most lines around a match that grep shows.
	grepContext = 50
	// grepLine is in characters of a shown line; a longer one is cut around the match.
	grepLine = 250
)

type grepArguments struct {
	Pattern string `json:"pattern" jsonschema:"RE2; (?i) ignores case" alias:"query,regex,search,regexp"`
	Path    string `json:"path,omitempty" jsonschema:"folder or file" alias:"directory,dir,target_directory"`
	Include string `json:"include,omitempty" jsonschema:"files such as *.go or src/**/*.{ts,tsx}" alias:"glob,file_pattern,include_pattern"`
	Context int    `json:"context,omitempty" jsonschema:"lines around each match" minimum:"0" alias:"context_lines"`
	Limit   int    `json:"limit,omitempty" jsonschema:"default 100" minimum:"1" alias:"head_limit,max_results"`
}

func grepTool() Tool {
	return New(Definition[grepArguments]{
		Name:        "grep",
		Description: "Search the text of files, unsaved and proposed changes included. Ignored and binary files are left out.",
		Effect:      Reads,
		Example:     grepArguments{Pattern: `func \w+Error\(`, Include: "*.go"},
		Title: func(a grepArguments) string {
			return strings.TrimSuffix("search "+a.Pattern+" in "+a.Path, " in ")
		},
		Run: grep,
	})
}

// hits are the matches in one file: 0-based lines, and in each the byte column where the match begins.
type hits struct {
	path    string
	text    string
	lines   []line
	matches []hit
	// skipped says why the file was not searched, if it was not.
	skipped workspace.ErrorKind
	err     error
}

type hit struct{ line, column int }

func grep(ctx context.Context, host Host, a grepArguments) (Result, error) {
	var note string
	expression, err := regexp.Compile(a.Pattern)
	if err != nil {
		note = fmt.Sprintf("(the pattern is no RE2 expression, %s; it was searched as plain text)\n", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
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
	s := search{host: host, layer: host.Files().Fork(), expression: expression, multi: spansLines(a.Pattern)}
	s.literal, _ = expression.LiteralPrefix()
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
	return Result{Text: note + page.text(), Summary: fmt.Sprintf("%s in %s", count(page.matches, "match", "matches"), count(page.files, "file", "files"))}, nil
}

// spansLines reports whether a pattern asks for a line ending, so that it is matched against whole texts.
func spansLines(pattern string) bool {
	return strings.Contains(pattern, "\n") || strings.Contains(pattern, `\n`) || strings.HasPrefix(pattern, "(?s")
}

// search is one call of grep at work.
type search struct {
	host       Host
	layer      *workspace.Layer
	expression *regexp.Regexp
	literal    string
	multi      bool
}

// files yields the result of each file that include names, in the order of the walk. A few files are searched
// at once, by goroutines that have all ended when files returns.
func (s *search) files(ctx context.Context, starts []string, include globPattern) func(yield func(hits) bool) {
	return func(yield func(hits) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// Each file's result has a channel of its own; their order in the queue is that of the walk, and its
		// capacity bounds how many are at work.
		queue := make(chan chan hits, 2*runtime.GOMAXPROCS(0))
		go func() {
			defer close(queue)
			s.walk(ctx, starts, include, queue)
		}()
		stopped := false
		for result := range queue {
			h := <-result
			if !stopped && !yield(h) {
				// The rest of the queue is drained, so that its goroutines end.
				stopped = true
				cancel()
			}
		}
	}
}

func (s *search) walk(ctx context.Context, starts []string, include globPattern, queue chan<- chan hits) {
	send := func(work func() hits) bool {
		result := make(chan hits, 1)
		select {
		case queue <- result:
		case <-ctx.Done():
			return false
		}
		go func() { result <- work() }()
		return true
	}
	if len(starts) == 1 && isFile(s.layer, starts[0]) {
		send(func() hits {
			// A file that was asked for by name is not skipped in silence.
			if !s.host.MayRead(starts[0]) {
				return hits{err: fmt.Errorf("%s may not be read, so it is not searched", s.host.Files().View().Relative(starts[0]))}
			}
			if _, err := s.layer.Read(starts[0]); err != nil {
				return hits{err: explain(s.host, starts[0], err)}
			}
			return s.file(ctx, starts[0])
		})
		return
	}
	view := s.host.Files().View()
	for entry, err := range walk(ctx, s.host, starts, 0) {
		if err != nil {
			send(func() hits { return hits{err: err} })
			return
		}
		if entry.Dir || !include.match(entry.relative) && !include.match(view.Relative(entry.Path)) {
			continue
		}
		if !send(func() hits { return s.file(ctx, entry.Path) }) {
			return
		}
	}
}

// file searches one file. What cannot be read as text is skipped.
func (s *search) file(ctx context.Context, path string) hits {
	h := hits{path: path}
	if ctx.Err() != nil {
		return h
	}
	file, err := s.layer.Read(path)
	var problem *workspace.FileError
	if errors.As(err, &problem) {
		h.skipped = problem.Kind
		return h
	}
	if err != nil {
		h.err = err
		return h
	}
	if s.literal != "" && !strings.Contains(file.Text, s.literal) && !s.multi {
		return h
	}
	h.text, h.lines = file.Text, shownLines(file.Text)
	if s.multi {
		h.matches = s.whole(&h)
		return h
	}
	for i, l := range h.lines {
		if place := s.expression.FindStringIndex(h.text[l.start:l.end]); place != nil {
			h.matches = append(h.matches, hit{i, place[0]})
		}
		if i%1000 == 0 && ctx.Err() != nil {
			return h
		}
	}
	return h
}

// whole matches against the text with \n as its line endings.
func (s *search) whole(h *hits) []hit {
	if strings.Contains(h.text, "\r") {
		h.text = strings.ReplaceAll(strings.ReplaceAll(h.text, "\r\n", "\n"), "\r", "\n")
		h.lines = shownLines(h.text)
	}
	var matches []hit
	for _, place := range s.expression.FindAllStringIndex(h.text, -1) {
		i := max(lineAt(h.lines, place[0]), 0)
		if len(matches) == 0 || matches[len(matches)-1].line != i {
			matches = append(matches, hit{i, place[0] - h.lines[i].start})
		}
	}
	return matches
}

// grepPage writes the answer.
type grepPage struct {
	limit, context           int
	view                     *workspace.View
	out                      strings.Builder
	matches, files, tooLarge int
	full                     bool
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
			p.out.WriteString(p.view.Relative(h.path) + "\n")
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
		end := min(m.line+1+p.context, len(h.lines))
		if i+1 < len(h.matches) {
			end = min(end, h.matches[i+1].line)
		}
		for ; next < end; next++ {
			p.line(h, next, "-", 0)
		}
	}
}

func (p *grepPage) line(h hits, i int, mark string, column int) {
	text := h.text[h.lines[i].start:h.lines[i].end]
	fmt.Fprintf(&p.out, "%d%s%s\n", i+1, mark, around(text, column))
}

// around cuts a long line so that the byte at column stays in sight.
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
		fmt.Fprintf(&p.out, "(there are more than these %d matches; narrow the pattern or path, or raise limit)\n", p.matches)
	}
	if p.tooLarge > 0 {
		fmt.Fprintf(&p.out, "(%s too large to search)\n", count(p.tooLarge, "file was", "files were"))
	}
	return p.out.String()
}
