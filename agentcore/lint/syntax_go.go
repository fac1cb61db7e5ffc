package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// goFile is a parsed Go file.
type goFile struct {
	syntax *ast.File
	tokens *token.File
	text   string
}

// parseGo returns nil if the text is not valid Go: then the checkers have said so.
func parseGo(name, text string) *goFile {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return &goFile{syntax: syntax, tokens: set.File(syntax.FileStart), text: text}
}

// nodes returns all nodes of a kind, in the order of the text.
func nodes[T ast.Node](root ast.Node) []T {
	var found []T
	ast.Inspect(root, func(n ast.Node) bool {
		if one, ok := n.(T); ok {
			found = append(found, one)
		}
		return true
	})
	return found
}

// statements returns the calls that are statements of their own.
func (g *goFile) statements() []*ast.CallExpr {
	var found []*ast.CallExpr
	for _, s := range nodes[*ast.ExprStmt](g.syntax) {
		if c, ok := s.X.(*ast.CallExpr); ok {
			found = append(found, c)
		}
	}
	return found
}

// offset is in bytes from the start of the file.
func (g *goFile) offset(pos token.Pos) int { return g.tokens.Offset(pos) }

// line counts from 1 and knows nothing of //line comments.
func (g *goFile) line(pos token.Pos) int { return g.tokens.PositionFor(pos, false).Line }

// source is the text of a node.
func (g *goFile) source(n ast.Node) string {
	start, end := g.offset(n.Pos()), g.offset(n.End())
	if start < 0 || end > len(g.text) || start > end {
		return ""
	}
	return g.text[start:end]
}

// hit is one at a node.
func (g *goFile) hit(n ast.Node) hit { return hit{line: g.line(n.Pos())} }

// imports returns the name that a package has in this file, or "" if it is not imported under one.
func (g *goFile) imports(name string) string {
	for _, spec := range g.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || imported != name {
			continue
		}
		if spec.Name == nil {
			return path.Base(name)
		}
		if spec.Name.Name != "_" && spec.Name.Name != "." {
			return spec.Name.Name
		}
		return ""
	}
	return ""
}

// function returns the name of the function of the package at a path that is called, or "".
func (g *goFile) function(c *ast.CallExpr, path string) string {
	selector, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := selector.X.(*ast.Ident); !ok || x.Name != g.imports(path) {
		return ""
	}
	return selector.Sel.Name
}

// isOneOf reports whether a call is of one of the functions of the package at a path.
func (g *goFile) isOneOf(c *ast.CallExpr, path string, names ...string) bool {
	name := g.function(c, path)
	return name != "" && slices.Contains(names, name)
}

// named returns "package.Function" if a call is of a function in the table, or "".
func (g *goFile) named(c *ast.CallExpr, table map[string][]string) string {
	for path, names := range table {
		if g.isOneOf(c, path, names...) {
			return g.source(c.Fun)
		}
	}
	return ""
}

// method returns the name of a called method or function behind a dot, or "".
func method(c *ast.CallExpr) string {
	if selector, ok := c.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	return ""
}

// isNamed reports whether an expression is a plain name.
func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}
