package offline

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// goFile is a parsed Go file.
type goFile struct {
	set    *token.FileSet
	syntax *ast.File
}

// parseGo returns nil if the text is not valid Go: then the checkers have said so.
func parseGo(name, text string) *goFile {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return &goFile{set, syntax}
}

// offset is in bytes from the start of the file.
func (g *goFile) offset(pos token.Pos) int { return g.set.PositionFor(pos, false).Offset }

// line counts from 1 and knows nothing of //line comments.
func (g *goFile) line(pos token.Pos) int { return g.set.PositionFor(pos, false).Line }

var goRules = []rule{
	{
		name: "defer-in-loop", languages: golang, severity: warning, check: goDeferInLoop,
		message: "The deferred call runs at the end of the function, not of each round, so what it closes piles up. Move the body of the loop into a function.",
	},
}

func goDeferInLoop(f *file) []hit {
	if f.goSyntax == nil {
		return nil
	}
	var hits []hit
	var look func(node ast.Node, loop bool)
	look = func(node ast.Node, loop bool) {
		ast.Inspect(node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				look(n.Body, false)
				return false
			case *ast.ForStmt:
				look(n.Body, true)
				return false
			case *ast.RangeStmt:
				look(n.Body, true)
				return false
			case *ast.DeferStmt:
				if loop {
					hits = append(hits, hit{line: f.goSyntax.line(n.Pos())})
				}
			}
			return true
		})
	}
	look(f.goSyntax.syntax, false)
	return hits
}
