package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/outline"
)

const (
	// symbolsShown is how many are listed.
	symbolsShown = 200
	// symbolLine is in characters of a shown line.
	symbolLine = 160
)

type symbolsArguments struct {
	Kind   string `json:"kind" enum:"definition,references,document,workspace" alias:"action,operation,query,type"`
	Path   string `json:"path,omitempty" alias:"file_path,file,filename"`
	Line   int    `json:"line,omitempty" minimum:"1"`
	Column int    `json:"column,omitempty" minimum:"1" alias:"character,col"`
	Name   string `json:"name,omitempty" jsonschema:"or this" alias:"symbol,identifier,text"`
}

func symbolsTool() Tool {
	return New(Definition[symbolsArguments, CheckedWorkspace]{
		Name: "symbols",
		Description: "Find where a symbol is defined or used, what a file defines (document), or names that match " +
			"(workspace).",
		Effect:  Reads,
		Access:  func(a symbolsArguments) Access { return onPath(a.Path) },
		Subject: ByPath,
		Example: symbolsArguments{Kind: "references", Path: "main.go", Name: "Run"},
		Title: func(a symbolsArguments) string {
			return strings.TrimSpace(strings.Join(slices.DeleteFunc([]string{a.Kind, "of", cmp.Or(a.Name, a.Path)},
				func(s string) bool { return s == "" }), " "))
		},
		Run: symbols,
	})
}

// lookup is one call of symbols at work.
type lookup struct {
	ctx  context.Context
	host CheckedWorkspace
	a    symbolsArguments
	path string // absolute, empty where none is named
	// guessed says why no language server was asked, once that is known.
	guessed string
	source  string
}

// symbols answers a line for each symbol, then one on who said so:
//
//	main.go:12:6: function Run in Server | func (s *Server) Run() error {
//	By gopls.
//
// Lines and columns count from 1, columns in bytes.
func symbols(ctx context.Context, host CheckedWorkspace, a symbolsArguments) (Result, error) {
	l := &lookup{ctx: ctx, host: host, a: a}
	if a.Path != "" {
		var err error
		if l.path, err = host.Files().View().Resolve(a.Path); err != nil {
			return Result{}, err
		}
		if !host.MayRead(l.path) {
			return Result{}, fmt.Errorf("%s may not be read", host.Files().View().Shown(l.path))
		}
		if _, err := peek(host.Files(), l.path); err != nil {
			return Result{}, explain(host, l.path, err)
		}
	}
	var list []Symbol
	var err error
	switch kind := SymbolKind(a.Kind); {
	case kind == ListDocument && l.path == "":
		return Result{}, errors.New("path is missing; name the file whose symbols you want")
	case kind == ListDocument:
		list, err = l.document()
	case a.Name == "" && (l.path == "" || a.Line == 0 || kind == ListWorkspace):
		return Result{}, errors.New("name is missing; name the symbol, or give path, line and column of one")
	case kind == ListWorkspace:
		list, err = l.workspace(a.Name)
	default:
		list, err = l.at(kind)
	}
	if err != nil {
		return Result{}, err
	}
	list = slices.DeleteFunc(list, func(s Symbol) bool {
		return host.Files().View().Relative(s.Path) != s.Path && !host.MayRead(s.Path)
	})
	return l.answer(list), nil
}

// ask asks a language server. ok is false where there is none, and the patterns have to do.
func (l *lookup) ask(q SymbolQuery) (list []Symbol, ok bool, err error) {
	if l.guessed != "" {
		return nil, false, nil
	}
	found, err := l.host.Symbols(l.ctx, q)
	var withheld *WithheldError
	switch {
	case l.ctx.Err() != nil:
		return nil, false, l.ctx.Err()
	case errors.As(err, &withheld):
		l.guessed = withheld.Reason
		return nil, false, nil
	case err != nil:
		l.guessed = "the language server failed: " + err.Error()
		return nil, false, nil
	}
	l.source = found.Source
	return found.List, true, nil
}

// document lists what the file defines.
func (l *lookup) document() ([]Symbol, error) {
	list, ok, err := l.ask(SymbolQuery{Kind: ListDocument, Path: l.path})
	if err != nil || ok {
		return list, err
	}
	return l.outlineOf(l.path), nil
}

func (l *lookup) outlineOf(path string) []Symbol {
	file, err := peek(l.host.Files(), path)
	if err != nil {
		return nil
	}
	var list []Symbol
	for _, s := range outline.Symbols(file.Text) {
		list = append(list, Symbol{Path: path, Span: wordSpan(s.Line, s.Column, s.Name), Name: s.Name, Kind: s.Kind})
	}
	return list
}

func wordSpan(line, column int, name string) event.Span {
	return event.Span{StartLine: line, StartColumn: column, EndLine: line, EndColumn: column + len(name)}
}

// workspace lists the symbols whose names match, those that are called exactly so first.
func (l *lookup) workspace(name string) ([]Symbol, error) {
	list, ok, err := l.ask(SymbolQuery{Kind: ListWorkspace, Path: l.path, Name: name})
	if err != nil {
		return nil, err
	}
	if !ok {
		list, err = l.grepped(regexp.QuoteMeta(lastPart(name)), func(line, word string) bool {
			defined, minor := outline.Defines(line)
			return !minor && strings.Contains(strings.ToLower(defined), strings.ToLower(lastPart(name)))
		})
	}
	slices.SortStableFunc(list, func(a, b Symbol) int {
		return cmp.Compare(rankOf(a, name), rankOf(b, name))
	})
	return list, err
}

// rankOf is how far a symbol is from a name.
func rankOf(s Symbol, name string) int {
	switch {
	case s.called(name):
		return 0
	case strings.EqualFold(lastPart(s.Name), lastPart(name)):
		return 1
	}
	return 2
}

// called reports whether a symbol has a name, which may begin with what the symbol is in, as in Server.Run.
func (s Symbol) called(name string) bool {
	if s.Name == name {
		return true
	}
	if lastPart(s.Name) != lastPart(name) {
		return false
	}
	before := strings.TrimSuffix(strings.TrimSuffix(name, lastPart(name)), ".")
	whole := s.Container + "." + s.Name
	return before == "" ||
		strings.HasSuffix(strings.NewReplacer("(", "", ")", "", "*",
			"").Replace(strings.TrimSuffix(strings.TrimSuffix(whole, lastPart(s.Name)), ".")), before)
}

// calledSo keeps the symbols that have a name; where none has all of it, those whose own name it ends in, since what a
// symbol is in may be spelled otherwise.
func calledSo(list []Symbol, name string) []Symbol {
	exact := slices.DeleteFunc(slices.Clone(list), func(s Symbol) bool { return !s.called(name) })
	if len(exact) > 0 {
		return exact
	}
	return slices.DeleteFunc(list, func(s Symbol) bool { return lastPart(s.Name) != lastPart(name) })
}

// lastPart is a name without what it is in: Run of Server.Run or server::run.
func lastPart(name string) string {
	if i := strings.LastIndexAny(name, ".:#/"); i >= 0 && i < len(name)-1 {
		return name[i+1:]
	}
	return name
}

// at answers for a symbol by its position, or by its name.
func (l *lookup) at(kind SymbolKind) ([]Symbol, error) {
	if l.path == "" {
		named, err := l.workspace(l.a.Name)
		if err != nil {
			return nil, err
		}
		named = calledSo(named, l.a.Name)
		if kind == FindDefinition || len(named) == 0 {
			if kind == FindReferences && l.guessed != "" {
				return l.uses(l.a.Name)
			}
			return named, nil
		}
		var all []Symbol
		const most = 5 // of the same name
		for _, s := range named[:min(len(named), most)] {
			list, ok, err := l.ask(SymbolQuery{
				Kind: kind, Path: s.Path, Line: s.Span.StartLine,
				Column: nameColumn(l.host, s),
			})
			if err != nil {
				return nil, err
			}
			if !ok {
				return l.uses(l.a.Name)
			}
			all = append(all, list...)
		}
		return distinctPlaces(all), nil
	}
	line, column, word, err := l.position()
	if err != nil {
		return nil, err
	}
	list, ok, err := l.ask(SymbolQuery{Kind: kind, Path: l.path, Line: line, Column: column})
	if err != nil || ok {
		return distinctPlaces(list), err
	}
	if kind == FindReferences {
		return l.uses(word)
	}
	defined, err := l.workspace(word)
	return slices.DeleteFunc(defined, func(s Symbol) bool { return s.Name != lastPart(word) }), err
}

// nameColumn is where a symbol's name stands in its first line: servers may mean all of it.
func nameColumn(host Workspace, s Symbol) int {
	file, err := peek(host.Files(), s.Path)
	if err != nil {
		return s.Span.StartColumn
	}
	for line, column := range outline.Words(file.Text, lastPart(s.Name)) {
		if line == s.Span.StartLine && column >= s.Span.StartColumn {
			return column
		}
	}
	return s.Span.StartColumn
}

// position finds the symbol in the file: where the call says, else where its name stands, best where it is defined.
func (l *lookup) position() (line, column int, word string, err error) {
	file, err := peek(l.host.Files(), l.path)
	if err != nil {
		return 0, 0, "", explain(l.host, l.path, err)
	}
	lines := shownLines(file.Text)
	if l.a.Line > len(lines) {
		return 0, 0, "", fmt.Errorf("the file has %s, not %d", count(len(lines), "line", "lines"), l.a.Line)
	}
	if l.a.Name == "" {
		text := file.Text[lines[l.a.Line-1].start:lines[l.a.Line-1].end]
		if l.a.Column > 0 {
			column = min(l.a.Column-1, len(text))
		} else if defined, _ := outline.Defines(text); defined != "" {
			column = max(strings.Index(text, defined), 0)
		} else {
			column = len(text) - len(strings.TrimLeft(text, " \t"))
		}
		return l.a.Line - 1, column, wordAt(text, column), nil
	}
	name := lastPart(l.a.Name)
	found := false
	for at, from := range outline.Words(file.Text, name) {
		onLine := l.a.Line == 0 || at == l.a.Line-1
		defined, _ := outline.Defines(file.Text[lines[min(at, len(lines)-1)].start:lines[min(at, len(lines)-1)].end])
		if onLine && (!found || defined == name) {
			line, column, found = at, from, true
			if defined == name {
				break
			}
		}
	}
	if !found {
		where := l.host.Files().View().Shown(l.path)
		if l.a.Line > 0 {
			where = fmt.Sprintf("line %d of %s", l.a.Line, where)
		}
		return 0, 0, "", fmt.Errorf("there is no %s in %s; leave out path to look for it everywhere", name, where)
	}
	return line, column, name, nil
}

// wordAt is the name that stands at a column of a line.
func wordAt(line string, column int) string {
	isWord := func(r rune) bool {
		return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
	}
	before := strings.TrimRightFunc(line[:column], isWord)
	rest := line[column:]
	return line[len(before):column] + rest[:len(rest)-len(strings.TrimLeftFunc(rest, isWord))]
}

// uses lists where a word stands, for want of a language server.
func (l *lookup) uses(name string) ([]Symbol, error) {
	return l.grepped(`\b`+regexp.QuoteMeta(lastPart(name))+`\b`, nil)
}

// grepped searches the files for an expression; of lines that keep takes.
func (l *lookup) grepped(expression string, keep func(line, word string) bool) ([]Symbol, error) {
	starts, err := startOf(l.host, "")
	if err != nil {
		return nil, err
	}
	include := globPattern{pattern: "**"}
	if ext := filepath.Ext(l.path); ext != "" {
		if include, err = newGlob("*" + ext); err != nil {
			include = globPattern{pattern: "**"} // an ending that is no pattern
		}
	}
	if keep != nil {
		expression = "(?i:" + expression + ")"
	}
	s := newSearch(l.host, expression, regexp.MustCompile(expression))
	var list []Symbol
	for h := range s.files(l.ctx, starts, include) {
		if h.err != nil {
			return nil, h.err
		}
		lines := shownLines(h.text)
		for _, m := range h.matches {
			text := h.text[lines[m.line].start:lines[m.line].end]
			found := Symbol{Path: h.path, Span: event.Span{
				StartLine: m.line, StartColumn: m.column, EndLine: m.line,
				EndColumn: m.column,
			}}
			if keep != nil {
				if !keep(text, "") {
					continue
				}
				found.Name, _ = outline.Defines(text)
				found.Kind = outline.KindOf(text)
				found.Span = wordSpan(m.line, max(strings.Index(text, found.Name), 0), found.Name)
			}
			list = append(list, found)
		}
		if len(list) > 2*symbolsShown {
			break
		}
	}
	return list, l.ctx.Err()
}

// distinctPlaces leaves out places that are there twice.
func distinctPlaces(list []Symbol) []Symbol {
	type key struct {
		path         string
		line, column int
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(list, func(s Symbol) bool {
		k := key{s.Path, s.Span.StartLine, s.Span.StartColumn}
		was := seen[k]
		seen[k] = true
		return was
	})
}

// answer writes what was found.
func (l *lookup) answer(list []Symbol) Result {
	view := l.host.Files().View()
	var out strings.Builder
	texts := map[string][]string{}
	var paths []string
	for i, s := range list {
		if i == symbolsShown {
			fmt.Fprintf(&out, "(%d more)\n", len(list)-i)
			break
		}
		if _, known := texts[s.Path]; !known {
			texts[s.Path] = nil
			if file, err := peek(l.host.Files(), s.Path); err == nil {
				texts[s.Path] = strings.Split(file.Text, "\n")
				paths = append(paths, s.Path)
			}
		}
		fmt.Fprintf(&out, "%s:%d:%d:", view.Shown(s.Path), s.Span.StartLine+1, s.Span.StartColumn+1)
		if named := strings.TrimSpace(s.Kind + " " + s.Name); named != "" {
			out.WriteString(" " + named)
		}
		if s.Container != "" {
			out.WriteString(" in " + s.Container)
		}
		if lines := texts[s.Path]; s.Span.StartLine < len(lines) && SymbolKind(l.a.Kind) != ListDocument {
			out.WriteString(" | " + clip(strings.TrimSpace(lines[s.Span.StartLine]), symbolLine))
		}
		out.WriteByte('\n')
	}
	if len(list) == 0 {
		out.WriteString("Nothing was found. ")
	}
	if l.guessed != "" {
		fmt.Fprintf(&out, "By patterns in the text, which may be wrong: %s.", l.guessed)
	} else {
		fmt.Fprintf(&out, "By %s.", l.source)
	}
	summary := count(len(list), "place", "places")
	if l.guessed == "" {
		summary += " by " + l.source
	}
	return Result{Text: out.String(), Summary: summary, Paths: paths}
}
