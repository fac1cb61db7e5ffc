package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// goFile is a parsed Go file, with the nodes that rules ask for gathered in one pass.
type goFile struct {
	syntax *ast.File
	tokens *token.File
	text   string
	name   string

	lists       [][]ast.Stmt
	ifs         []*ast.IfStmt
	binaries    []*ast.BinaryExpr
	assignments []*ast.AssignStmt
	calls       []*ast.CallExpr
	statements  []*ast.CallExpr // calls that are statements of their own
	functions   []goFunction
	goes        []*ast.GoStmt
	literals    []*ast.CompositeLit
	deferred    []*ast.DeferStmt // directly in a loop
}

// goFunction is a function, a method or a function literal with a body.
type goFunction struct {
	kind *ast.FuncType
	body *ast.BlockStmt
	decl *ast.FuncDecl // nil for a literal
}

// parseGo returns nil if the text is not valid Go: then the checkers have said so.
func parseGo(name, text string) *goFile {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	g := &goFile{syntax: syntax, tokens: set.File(syntax.FileStart), text: text, name: name}
	g.gather(syntax, false)
	return g
}

// gather collects nodes. Loop tells that a defer found on the way runs once for each round.
func (g *goFile) gather(root ast.Node, loop bool) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			g.functions = append(g.functions, goFunction{kind: n.Type, body: n.Body})
			g.gather(n.Body, false)
			return false
		case *ast.FuncDecl:
			if n.Body != nil {
				g.functions = append(g.functions, goFunction{kind: n.Type, body: n.Body, decl: n})
			}
		case *ast.ForStmt:
			if !loop {
				for _, part := range []ast.Node{n.Init, n.Cond, n.Post} {
					if part != nil {
						g.gather(part, false)
					}
				}
				g.gather(n.Body, !leaves(n.Body))
				return false
			}
		case *ast.RangeStmt:
			if !loop {
				g.gather(n.X, false)
				g.gather(n.Body, !leaves(n.Body))
				return false
			}
		case *ast.BlockStmt:
			g.lists = append(g.lists, n.List)
		case *ast.CaseClause:
			g.lists = append(g.lists, n.Body)
		case *ast.CommClause:
			g.lists = append(g.lists, n.Body)
		case *ast.IfStmt:
			g.ifs = append(g.ifs, n)
		case *ast.BinaryExpr:
			g.binaries = append(g.binaries, n)
		case *ast.AssignStmt:
			g.assignments = append(g.assignments, n)
		case *ast.CallExpr:
			g.calls = append(g.calls, n)
		case *ast.ExprStmt:
			if called, ok := n.X.(*ast.CallExpr); ok {
				g.statements = append(g.statements, called)
			}
		case *ast.GoStmt:
			g.goes = append(g.goes, n)
		case *ast.CompositeLit:
			g.literals = append(g.literals, n)
		case *ast.DeferStmt:
			if loop {
				g.deferred = append(g.deferred, n)
			}
		}
		return true
	})
}

// leaves reports whether the last statement of a loop's body ends the loop, so that there is one round at most.
func leaves(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	switch last := body.List[len(body.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK || last.Tok == token.GOTO
	}
	return false
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
func (g *goFile) imports(path string) string {
	for _, spec := range g.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || imported != path {
			continue
		}
		if spec.Name != nil {
			if spec.Name.Name == "_" || spec.Name.Name == "." {
				return ""
			}
			return spec.Name.Name
		}
		for i := len(path) - 1; i >= 0; i-- {
			if path[i] == '/' {
				return path[i+1:]
			}
		}
		return path
	}
	return ""
}

// calls a function of the package at a path; the name of the function, or "".
func (g *goFile) function(c *ast.CallExpr, path string) string {
	selector, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := selector.X.(*ast.Ident)
	if !ok || x.Name != g.imports(path) {
		return ""
	}
	return selector.Sel.Name
}

// isOneOf reports whether a call is of one of the functions of the package at a path.
func (g *goFile) isOneOf(c *ast.CallExpr, path string, names ...string) bool {
	name := g.function(c, path)
	return name != "" && slices.Contains(names, name)
}

// method returns the name of a called method or function behind a dot, or "".
func method(c *ast.CallExpr) string {
	if selector, ok := c.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	return ""
}

// text returns the value of a string literal.
func text(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

// isNamed reports whether an expression is a plain name.
func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// isPure reports whether an expression has no calls, receives or function literals, so that it gives the same
// when it is evaluated again.
func isPure(e ast.Expr) bool {
	pure := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit:
			pure = false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				pure = false
			}
		}
		return pure
	})
	return pure
}

// uses reports whether a name occurs in a node.
func uses(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && ident.Name == name {
			found = true
		}
		return !found
	})
	return found
}
