package agentls_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"
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
