package agentls_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLines is the longest that a hand-written file may be: one that is longer holds two subjects.
const maxLines = 800

// TestFileLength fails on a hand-written Go file that is too long to be read in one go.
func TestFileLength(t *testing.T) {
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("count the lines: %v", err)
			continue
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxLines && !generated(t, file, text) {
			t.Errorf("%s has %d lines, more than %d: split it by what a reader looks for", file, lines, maxLines)
		}
	}
}

// generated tells whether a file carries the line that marks generated code for the go command and its tools.
func generated(t *testing.T, file string, text []byte) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Errorf("parse the package clause: %v", err)
		return false
	}
	return ast.IsGenerated(parsed)
}

// maxMethods and maxFields are how many methods and fields a type may have: one with more is several things. An
// embedded type counts as one field.
const (
	maxMethods = 40
	maxFields  = 25
)

// TestTypeSize fails on a type that a reader can't hold in their head. What only uses a type is a function, and fields
// that belong together are a type of their own, which may be embedded.
func TestTypeSize(t *testing.T) {
	methods, fields := map[string]int{}, map[string]int{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("parse: %v", err)
			continue
		}
		if ast.IsGenerated(parsed) {
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[filepath.Dir(file)+"."+receiver(n.Recv.List[0].Type)]++
				}
			case *ast.TypeSpec:
				if made, ok := n.Type.(*ast.StructType); ok {
					name := filepath.Dir(file) + "." + n.Name.Name
					for _, field := range made.Fields.List {
						fields[name] += max(1, len(field.Names))
					}
				}
			}
			return true
		})
	}
	for _, count := range []struct {
		what string
		of   map[string]int
		most int
	}{{"methods", methods, maxMethods}, {"fields", fields, maxFields}} {
		if len(count.of) < 500 {
			t.Errorf("only %d types with %s were found", len(count.of), count.what)
		}
		for name, n := range count.of {
			if n > count.most {
				t.Errorf("%s has %d %s, more than %d: split it", name, n, count.what, count.most)
			}
		}
	}
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

const (
	// maxColumns is the longest that a line of a document or of a hand-written Go file may be, in characters.
	maxColumns = 120
	// maxWayIn is how long ARCHITECTURE.md may be, in bytes: what is longer is no way in. Decisions belong to package
	// comments.
	maxWayIn = 20 << 10
)

// TestDocumentLength fails on a document with a line that does not fit beside another window, and on a way in that
// nobody reads to its end.
func TestDocumentLength(t *testing.T) {
	list := documents(t)
	for _, name := range []string{
		"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "agentcore/agent/builtin/coder.md",
		"agentcore/skill/builtin/agentls/SKILL.md", "schema/PROTOCOL.md",
	} {
		if !slices.Contains(list, name) {
			t.Errorf("%s is not among the documents", name)
		}
	}
	for _, file := range list {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("measure the lines: %v", err)
			continue
		}
		if file == "ARCHITECTURE.md" && len(text) > maxWayIn {
			t.Errorf("%s has %d bytes, more than %d: move what is about one package into its comment",
				file, len(text), maxWayIn)
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			columns := utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))
			if columns > maxColumns && !strings.HasPrefix(line, "|") { // a row of a table cannot be broken
				t.Errorf("%s:%d has %d characters, more than %d: break the line", file, number, columns, maxColumns)
			}
		}
	}
}

// TestLineLength fails on a line of a hand-written Go file, tests included, that does not fit beside another window. A
// tab is four columns. Lines with a part of a long string are not counted: the string is data.
func TestLineLength(t *testing.T) {
	top, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(goFiles(t), top...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("measure the lines: %v", err)
			continue
		}
		if generated(t, file, text) {
			continue
		}
		data := linesOfData(text)
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
			if columns := utf8.RuneCountInString(line); columns > maxColumns && !data[number] {
				t.Errorf("%s:%d has %d columns, more than %d: break the line", file, number, columns, maxColumns)
			}
		}
	}
}

// linesOfData are the lines, from 1, that hold a part of a string which may not be broken, or would not be read better
// then.
func linesOfData(text []byte) map[int]bool {
	const long = 80
	lines := map[int]bool{}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if raw := strings.HasPrefix(literal, "`"); kind != token.STRING || !raw && len(literal) < long {
			continue
		}
		first := file.Line(at)
		for n := range strings.Count(literal, "\n") + 1 {
			lines[first+n] = true
		}
	}
}

// documents are the Markdown files, also built-in definitions and skills, and PROTOCOL.md, whose generator breaks the
// lines. CHANGELOG.md keeps what was released as it is.
func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			hidden := strings.HasPrefix(entry.Name(), ".") && path != "." && path != ".github"
			if hidden || slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, entry.Name()) {
				return fs.SkipDir
			}
		case strings.HasSuffix(path, ".md") && path != "CHANGELOG.md":
			list = append(list, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
