package offline

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/outline"
)

const structureOnly = "This is the structure as it can be read off the text. What it is for, beyond its comments, the rules cannot say."

// explain tells what files or a selection hold: what can be read off their structure.
func (t *task) explain() turn {
	if len(t.files) == 0 && len(t.terms(1)) > 0 && (t.has("grep") || t.has("glob")) {
		return t.explore()
	}
	if len(t.files) == 0 {
		return turn{text: "There is no file to explain: open one and ask again, or name it, as in \"explain main.go\".\n\n" + noModel + "\n"}
	}
	files := t.files[:min(len(t.files), maxFiles)]
	if !t.has("read") {
		return turn{text: "The offline rules need the tool `read` to look at a file, and this agent does not have it.\n\n" + noModel + "\n"}
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
			fmt.Fprintf(&b, "%s could not be read: %s\n", path, cmp.Or(withoutPrefix(s.problem), "the turns of this run were used up"))
			continue
		}
		f := newFile(path, text)
		o := overview{file: f, first: 1, last: max(lines, 1)}
		fmt.Fprintf(&b, "%s: %s, %d lines", path, languageName(f.language), lines)
		if t.first > 0 {
			o.first, o.last = t.first, min(t.last, o.last)
			fmt.Fprintf(&b, "; what follows is on lines %d-%d", o.first, o.last)
		}
		b.WriteString(".\n")
		switch {
		case f.goSyntax != nil:
			o.golang(&b)
		case f.language == prose:
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
	for _, r := range ruleTable() {
		if r.name == name {
			return fmt.Sprintf("It comes from the rule %s: %s", r.name, r.message)
		}
	}
	return ""
}

func languageName(l language) string {
	switch l {
	case golang:
		return "Go"
	case javascript:
		return "JavaScript"
	case typescript:
		return "TypeScript"
	case python:
		return "Python"
	case shell:
		return "shell script"
	case prose:
		return "text"
	case data:
		return "data or settings"
	}
	return "a file of a kind that the rules do not know"
}

// overview tells what lines first to last of a file hold.
type overview struct {
	file        *file
	first, last int
}

func (o overview) covers(first, last int) bool { return first <= o.last && last >= o.first }

func (o overview) whole() bool { return o.first == 1 && o.last == len(o.file.starts) }

// golang writes the declarations of a Go file, with the first sentences of their comments.
func (o overview) golang(b *strings.Builder) {
	g := o.file.goSyntax
	if o.whole() {
		fmt.Fprintf(b, "Package %s.%s\n", g.syntax.Name.Name, sentence(g.syntax.Doc))
		var paths []string
		for _, spec := range g.syntax.Imports {
			paths = append(paths, strings.Trim(spec.Path.Value, "\"`"))
		}
		if len(paths) > 0 {
			fmt.Fprintf(b, "It imports %s.\n", strings.Join(paths, ", "))
		}
	}
	for _, declaration := range g.syntax.Decls {
		if !o.covers(g.line(declaration.Pos()), g.line(declaration.End())) {
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
	g := o.file.goSyntax
	end := d.Type.End()
	head := strings.Join(strings.Fields(o.file.text[g.offset(d.Pos()):g.offset(end)]), " ")
	fmt.Fprintf(b, "- line %d: %s.%s", g.line(d.Pos()), head, sentence(d.Doc))
	if d.Body == nil {
		b.WriteString("\n")
		return
	}
	var called []string
	returns, loops, branches, starts := 0, 0, 0, 0
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if n == nil || !o.covers(g.line(n.Pos()), g.line(n.End())) {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			name := g.source(n.Fun)
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
	}{{branches, "branch", "branches"}, {loops, "loop", "loops"}, {starts, "goroutine", "goroutines"}, {returns, "return", "returns"}} {
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
	g := o.file.goSyntax
	if d.Tok == token.IMPORT {
		return
	}
	for _, spec := range d.Specs {
		if !o.covers(g.line(spec.Pos()), g.line(spec.End())) {
			continue
		}
		switch s := spec.(type) {
		case *ast.TypeSpec:
			comment := s.Doc
			if comment == nil {
				comment = d.Doc
			}
			fmt.Fprintf(b, "- line %d: type %s, %s.%s\n", g.line(s.Pos()), s.Name.Name, kindOf(g, s.Type), sentence(comment))
		case *ast.ValueSpec:
			var names []string
			for _, name := range s.Names {
				names = append(names, name.Name)
			}
			comment := s.Doc
			if comment == nil && len(d.Specs) == 1 {
				comment = d.Doc
			}
			fmt.Fprintf(b, "- line %d: %s %s.%s\n", g.line(s.Pos()), d.Tok, strings.Join(names, ", "), sentence(comment))
		}
	}
}

func kindOf(g *goFile, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StructType:
		return fmt.Sprintf("a struct of %d fields", e.Fields.NumFields())
	case *ast.InterfaceType:
		return fmt.Sprintf("an interface of %d methods", e.Methods.NumFields())
	case *ast.FuncType:
		return "a function type"
	}
	return strings.Join(strings.Fields(g.source(e)), " ")
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
		line := o.file.codeLine(number)
		match := outline.Definition().FindStringSubmatch(line)
		if match == nil && o.file.language == shell {
			match = shellFunction().FindStringSubmatch(line)
		}
		if match == nil || strings.HasPrefix(line, "      ") || o.file.language&scripts != 0 && localVariable().MatchString(line) {
			continue
		}
		if count++; count > most {
			continue
		}
		comment := ""
		if number > 1 {
			if above := strings.TrimSpace(o.file.line(number - 1)); strings.HasPrefix(above, "//") || strings.HasPrefix(above, "#") && !strings.HasPrefix(above, "#!") {
				comment = " " + strings.TrimSpace(strings.TrimLeft(above, "/#"))
			}
		}
		text := strings.TrimRight(strings.TrimSpace(o.file.line(number)), " {:")
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
	shellFunction = pattern(`^\s*(?:function\s+)?([A-Za-z_]\w*)\s*\(\)\s*\{?`)
	localVariable = pattern(`^\s+(?:const|let|var)\s`)
)

// headings lists those of Markdown.
func (o overview) headings(b *strings.Builder) {
	found := false
	for number := o.first; number <= o.last; number++ {
		if line := o.file.codeLine(number); strings.HasPrefix(line, "#") {
			found = true
			level := len(line) - len(strings.TrimLeft(line, "#"))
			fmt.Fprintf(b, "%s- line %d: %s\n", strings.Repeat("  ", level-1), number, strings.TrimSpace(o.file.line(number)[level:]))
		}
	}
	if !found {
		b.WriteString("It has no headings.\n")
	}
}
