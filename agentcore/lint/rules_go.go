package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// What go vet and the compiler report is not among them.
var goRules = []Rule{
	{
		Name: "dropped-error", Languages: Go, Severity: Warning, check: shipped(inGo(goDroppedErrors)),
		Message: "The error of this call is dropped.",
		same:    []string{"errcheck"},
	},
	{
		Name: "overwritten-error", Languages: Go, Severity: Warning, check: inGo(goOverwrittenErrors),
		Message: "This error is overwritten by the next statement before anything looks at it. Check it first.",
		same:    []string{"SA4006", "ineffassign"},
	},
	{
		Name: "defer-in-loop", Languages: Go, Severity: Warning, check: shipped(inGo(goDeferInLoop)),
		Message: "The deferred call runs at the end of the function, not of each round, so that what it releases " +
			"piles up. Move the body of the loop into a function.",
	},
	{
		Name: "insecure-tls", Languages: Go, Severity: Warning, check: shipped(goInsecureTLS),
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. " +
			"Give the right RootCAs instead.",
		same: []string{"G402"},
	},
}

// inGo makes the check of a rule that needs valid Go.
func inGo(check func(*File, *goFile) []hit) func(*File) []hit {
	return func(f *File) []hit {
		if f.goSyntax == nil {
			return nil
		}
		return check(f, f.goSyntax)
	}
}

// isError reports whether an expression is a variable with an error, by its name.
func isError(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && (name.Name == "err" || strings.HasSuffix(name.Name, "Err") || strings.HasPrefix(name.Name, "err") &&
		len(name.Name) == 4)
}

// withError are functions of the standard library that return a value and an error, where the value is of no use
// after an error and a blank identifier is seldom meant.
var withError = map[string][]string{
	"strconv":     {"Atoi", "ParseInt", "ParseUint", "ParseFloat", "Unquote"},
	"os":          {"Open", "Create", "OpenFile", "ReadFile", "ReadDir", "CreateTemp", "MkdirTemp", "Stat", "Lstat"},
	"io":          {"ReadAll"},
	"net/http":    {"Get", "Post", "NewRequest", "NewRequestWithContext"},
	"net/url":     {"Parse", "QueryUnescape", "PathUnescape"},
	"time":        {"Parse", "ParseDuration", "ParseInLocation", "LoadLocation"},
	"crypto/rand": {"Read", "Int"},
	"regexp":      {"Compile", "MatchString"},
}

// onlyError are functions that return nothing but an error that tells of lost work.
var onlyError = map[string][]string{
	"os":            {"WriteFile", "Rename", "MkdirAll", "Mkdir", "Chdir", "Truncate", "Link", "Symlink"},
	"encoding/json": {"Unmarshal"},
	"io":            {"Copy", "CopyN", "ReadFull"},
	"net/http":      {"ListenAndServe", "ListenAndServeTLS"},
	"encoding/xml":  {"Unmarshal"},
}

// goDroppedErrors looks where the types are certain: at functions of the standard library. The init of an if is left
// out, and a comment on the line or the one above says that it is meant.
func goDroppedErrors(f *File, g *goFile) []hit {
	var hits []hit
	drop := func(n ast.Node, name, consequence string) {
		if name != "" && !f.comment(g.line(n.Pos())-1, g.line(n.End())) {
			message := fmt.Sprintf("The error of %s is dropped, so a failure goes %s. Check it.", name, consequence)
			hits = append(hits, hit{line: g.line(n.Pos()), message: message})
		}
	}
	inits := map[ast.Stmt]bool{}
	for _, s := range nodes[*ast.IfStmt](g.syntax) {
		inits[s.Init] = true
	}
	for _, a := range nodes[*ast.AssignStmt](g.syntax) {
		if len(a.Lhs) != 2 || len(a.Rhs) != 1 || !isNamed(a.Lhs[1], "_") || isNamed(a.Lhs[0], "_") || inits[a] {
			continue
		}
		if c, ok := a.Rhs[0].(*ast.CallExpr); ok && !constantArguments(c) {
			drop(a, g.named(c, withError), "on as a zero value")
		}
	}
	for _, c := range g.statements() {
		if len(c.Args) > 0 && (strings.HasPrefix(g.source(c.Args[0]), "&") || g.source(c.Args[0]) == "io.Discard") {
			continue // writing into memory or into nothing does not fail
		}
		drop(c, g.named(c, onlyError), "unnoticed")
	}
	return hits
}

// constantArguments reports whether a call cannot fail by surprise, because it has literals and parts of what a regular
// expression fits only.
func constantArguments(c *ast.CallExpr) bool {
	return !slices.ContainsFunc(c.Args, func(e ast.Expr) bool {
		if element, ok := e.(*ast.IndexExpr); ok {
			name, ok := element.X.(*ast.Ident)
			return !ok || name.Name != "m" && !strings.HasPrefix(name.Name, "match") &&
				!strings.HasPrefix(name.Name, "sub")
		}
		_, literal := e.(*ast.BasicLit)
		return !literal
	})
}

// goOverwrittenErrors looks at neighbours in a block that both assign an error, the second without reading it.
func goOverwrittenErrors(_ *File, g *goFile) []hit {
	var hits []hit
	for _, block := range nodes[*ast.BlockStmt](g.syntax) {
		var before *ast.AssignStmt
		for _, s := range block.List {
			second, _ := s.(*ast.AssignStmt)
			if before != nil && second != nil && len(before.Rhs) == 1 {
				_, called := before.Rhs[0].(*ast.CallExpr)
				for _, e := range before.Lhs {
					if name, ok := e.(*ast.Ident); called && ok && isError(e) && assigns(second, name.Name) {
						hits = append(hits, g.hit(before))
					}
				}
			}
			before = second
		}
	}
	return hits
}

// assigns reports whether a statement assigns a variable and does not read it.
func assigns(a *ast.AssignStmt, name string) bool {
	named := func(e ast.Expr) bool { return isNamed(e, name) }
	reads := func(e ast.Expr) bool {
		return slices.ContainsFunc(nodes[*ast.Ident](e), func(i *ast.Ident) bool { return i.Name == name })
	}
	return slices.ContainsFunc(a.Lhs, named) && !slices.ContainsFunc(a.Rhs, reads)
}

// goDeferInLoop looks at calls that release something. In a test the few that pile up do no harm.
func goDeferInLoop(_ *File, g *goFile) []hit {
	var hits []hit
	var walk func(root ast.Node, loop bool)
	walk = func(root ast.Node, loop bool) {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				walk(n.Body, false)
				return false
			case *ast.ForStmt:
				walk(n.Body, loop || !leaves(n.Body))
				return false
			case *ast.RangeStmt:
				walk(n.Body, loop || !leaves(n.Body))
				return false
			case *ast.DeferStmt:
				releases := []string{
					"Close", "Unlock", "RUnlock", "Release", "Free", "Stop", "Remove", "RemoveAll",
					"Done", "Rollback",
				}
				if loop && slices.Contains(releases, method(n.Call)) {
					hits = append(hits, g.hit(n))
				}
			}
			return true
		})
	}
	walk(g.syntax, false)
	return hits
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

var skipsVerification = lazyregexp.New(`\bInsecureSkipVerify\s*[:=]\s*true\b`)

// goInsecureTLS leaves alone who verifies connections in a function of his own.
func goInsecureTLS(f *File) []hit {
	if strings.Contains(f.code, "VerifyPeerCertificate") || strings.Contains(f.code, "VerifyConnection") {
		return nil
	}
	return f.matches(skipsVerification(), "InsecureSkipVerify")
}
