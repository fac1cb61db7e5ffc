package offline

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/outline"
)

const structureOnly = "This is the structure as it can be read off the text. What it is for, beyond its " +
	"comments, the rules cannot say."

// explain tells what files or a selection hold: what can be read off their structure.
func (t *task) explain() turn {
	if len(t.files) == 0 && len(t.terms(1)) > 0 && (t.has("grep") || t.has("glob")) {
		return t.explore()
	}
	if len(t.files) == 0 {
		return turn{
			text: "There is no file to explain: open one and ask again, or name it, as in \"explain main.go\".\n\n" +
				noModel + "\n",
		}
	}
	files := t.files[:min(len(t.files), maxFiles)]
	if !t.has("read") {
		return turn{
			text: "The offline rules need the tool `read` to look at a file, and this agent does not have it.\n\n" +
				noModel + "\n",
		}
	}
	if calls := t.reading(files, false); len(calls) > 0 && t.turns < maxTurns {
		return turn{calls: calls}
	}
	var b strings.Builder
	if t.finding.message != "" {
		fmt.Fprintf(&b, "The finding at line %d: %s\n", t.finding.line, t.finding.message)
		if text := explainRule(t.finding.rule); text != "" {
			b.WriteString(text + "\n")
		}
		b.WriteString("\n")
	}
	for _, path := range files {
		s := t.sourceOf(path)
		text, lines := s.text()
		if !s.read {
			fmt.Fprintf(&b, "%s could not be read: %s\n", path,
				cmp.Or(withoutPrefix(s.problem), "the turns of this run were used up"))
			continue
		}
		f := lint.NewFile(path, text)
		o := overview{file: f, source: text, first: 1, last: max(lines, 1)}
		o.syntax, o.tokens = f.GoSyntax()
		fmt.Fprintf(&b, "%s: %s, %d lines", path, f.Language, lines)
		if t.first > 0 {
			o.first, o.last = t.first, min(t.last, o.last)
			fmt.Fprintf(&b, "; what follows is on lines %d-%d", o.first, o.last)
		}
		b.WriteString(".\n")
		switch {
		case o.syntax != nil:
			o.golang(&b)
		case f.Language == lint.Prose:
			o.headings(&b)
		default:
			o.definitions(&b)
		}
	}
	b.WriteString("\n" + structureOnly + "\n" + noModel + "\n")
	return turn{text: b.String()}
}

// explainRule says what a rule looks for, in the words of its table.
func explainRule(name string) string {
	for _, r := range lint.Rules() {
		if r.Name == name {
			return fmt.Sprintf("It comes from the rule %s: %s", r.Name, r.Message)
		}
	}
	return ""
}

// overview tells what lines first to last of a file hold.
type overview struct {
	file        *lint.File
	source      string
	first, last int
	// syntax and tokens are those of valid Go.
	syntax *ast.File
	tokens *token.File
}

func (o overview) covers(first, last int) bool { return first <= o.last && last >= o.first }

func (o overview) whole() bool { return o.first == 1 && o.last == o.file.Lines() }

// line counts from 1 and knows nothing of //line comments.
func (o overview) line(pos token.Pos) int { return o.tokens.PositionFor(pos, false).Line }

func (o overview) between(start, end token.Pos) string {
	return o.source[o.tokens.Offset(start):min(o.tokens.Offset(end), len(o.source))]
}

func (o overview) text(n ast.Node) string { return o.between(n.Pos(), n.End()) }

// golang writes the declarations of a Go file, with the first sentences of their comments.
func (o overview) golang(b *strings.Builder) {
	if o.whole() {
		fmt.Fprintf(b, "Package %s.%s\n", o.syntax.Name.Name, sentence(o.syntax.Doc))
		var paths []string
		for _, spec := range o.syntax.Imports {
			paths = append(paths, strings.Trim(spec.Path.Value, "\"`"))
		}
		if len(paths) > 0 {
			fmt.Fprintf(b, "It imports %s.\n", strings.Join(paths, ", "))
		}
	}
	for _, declaration := range o.syntax.Decls {
		if !o.covers(o.line(declaration.Pos()), o.line(declaration.End())) {
			continue
		}
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			o.function(b, d)
		case *ast.GenDecl:
			o.general(b, d)
		}
	}
}

func (o overview) function(b *strings.Builder, d *ast.FuncDecl) {
	head := strings.Join(strings.Fields(o.between(d.Pos(), d.Type.End())), " ")
	fmt.Fprintf(b, "- line %d: %s.%s", o.line(d.Pos()), head, sentence(d.Doc))
	if d.Body == nil {
		b.WriteString("\n")
		return
	}
	var called []string
	returns, loops, branches, starts := 0, 0, 0, 0
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if n == nil || !o.covers(o.line(n.Pos()), o.line(n.End())) {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			name := o.text(n.Fun)
			if len(name) < 40 && !strings.ContainsAny(name, "({\n") && !slices.Contains(called, name) {
				called = append(called, name)
			}
		case *ast.ReturnStmt:
			returns++
		case *ast.ForStmt, *ast.RangeStmt:
			loops++
		case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			branches++
		case *ast.GoStmt:
			starts++
		}
		return true
	})
	const most = 10
	if len(called) > 0 {
		more := ""
		if len(called) > most {
			more = fmt.Sprintf(" and %d more", len(called)-most)
			called = called[:most]
		}
		fmt.Fprintf(b, " It calls %s%s.", strings.Join(called, ", "), more)
	}
	var shape []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{branches, "branch", "branches"}, {loops, "loop", "loops"}, {starts, "goroutine", "goroutines"}, {
		returns,
		"return", "returns",
	}} {
		switch {
		case part.n == 1:
			shape = append(shape, "1 "+part.one)
		case part.n > 1:
			shape = append(shape, fmt.Sprintf("%d %s", part.n, part.many))
		}
	}
	if len(shape) > 0 {
		fmt.Fprintf(b, " It has %s.", strings.Join(shape, ", "))
	}
	b.WriteString("\n")
}

func (o overview) general(b *strings.Builder, d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		return
	}
	for _, spec := range d.Specs {
		if !o.covers(o.line(spec.Pos()), o.line(spec.End())) {
			continue
		}
		switch s := spec.(type) {
		case *ast.TypeSpec:
			comment := s.Doc
			if comment == nil {
				comment = d.Doc
			}
			fmt.Fprintf(b, "- line %d: type %s, %s.%s\n", o.line(s.Pos()), s.Name.Name, o.kindOf(s.Type),
				sentence(comment))
		case *ast.ValueSpec:
			var names []string
			for _, name := range s.Names {
				names = append(names, name.Name)
			}
			comment := s.Doc
			if comment == nil && len(d.Specs) == 1 {
				comment = d.Doc
			}
			fmt.Fprintf(b, "- line %d: %s %s.%s\n", o.line(s.Pos()), d.Tok, strings.Join(names, ", "),
				sentence(comment))
		}
	}
}

func (o overview) kindOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StructType:
		return fmt.Sprintf("a struct of %d fields", e.Fields.NumFields())
	case *ast.InterfaceType:
		return fmt.Sprintf("an interface of %d methods", e.Methods.NumFields())
	case *ast.FuncType:
		return "a function type"
	}
	return strings.Join(strings.Fields(o.text(e)), " ")
}

// sentence returns the first sentence of a comment with a blank in front, or "".
func sentence(comment *ast.CommentGroup) string {
	if comment == nil {
		return ""
	}
	if text := new(doc.Package).Synopsis(comment.Text()); text != "" {
		return " " + text
	}
	return ""
}

// definitions lists the lines that define something, with the comment before them.
func (o overview) definitions(b *strings.Builder) {
	const most = 60
	count := 0
	for number := o.first; number <= o.last; number++ {
		line := o.file.CodeLine(number)
		match := outline.Definition().FindStringSubmatch(line)
		if match == nil && o.file.Language == lint.Shell {
			match = shellFunction().FindStringSubmatch(line)
		}
		if match == nil || strings.HasPrefix(line, "      ") || o.file.Language.IsScript() &&
			localVariable().MatchString(line) {
			continue
		}
		if count++; count > most {
			continue
		}
		comment := ""
		if number > 1 {
			if above := strings.TrimSpace(o.file.Line(number - 1)); strings.HasPrefix(above, "//") ||
				strings.HasPrefix(above, "#") && !strings.HasPrefix(above, "#!") {
				comment = " " + strings.TrimSpace(strings.TrimLeft(above, "/#"))
			}
		}
		text := strings.TrimRight(strings.TrimSpace(o.file.Line(number)), " {:")
		fmt.Fprintf(b, "- line %d: %s.%s\n", number, text, comment)
	}
	switch {
	case count == 0:
		b.WriteString("No definitions were recognized.\n")
	case count > most:
		fmt.Fprintf(b, "(%d more definitions)\n", count-most)
	}
}

var (
	shellFunction = lazyregexp.New(`^\s*(?:function\s+)?([A-Za-z_]\w*)\s*\(\)\s*\{?`)
	localVariable = lazyregexp.New(`^\s+(?:const|let|var)\s`)
)

// headings lists those of Markdown.
func (o overview) headings(b *strings.Builder) {
	found := false
	for number := o.first; number <= o.last; number++ {
		if line := o.file.CodeLine(number); strings.HasPrefix(line, "#") {
			found = true
			level := len(line) - len(strings.TrimLeft(line, "#"))
			fmt.Fprintf(b, "%s- line %d: %s\n", strings.Repeat("  ", level-1), number,
				strings.TrimSpace(o.file.Line(number)[level:]))
		}
	}
	if !found {
		b.WriteString("It has no headings.\n")
	}
}
