package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// What go vet owns is not among them, such as assignments to oneself and copied locks, but for code that is never
// reached, which is told on a machine without Go, too.
var goRules = []Rule{
	{
		Name: "unreachable-code", Languages: Go, Severity: Warning, check: inGo(goUnreachable),
		Message: "This code is never reached, because the statement before it always leaves. Remove it, or move it up.",
		same:    []string{"unreachable", "unreachable code"},
	},
	{
		Name: "identical-condition", Languages: Go, Severity: Warning, check: inGo(goIdenticalConditions),
		Message: "This condition was already tested above, so this branch never runs.",
	},
	{
		Name: "empty-error-check", Languages: Go, Severity: Warning, check: inGo(goEmptyErrorChecks),
		Message: "The error is tested and then nothing is done about it. Handle or return it, or say in a " +
			"comment why it does not matter.",
		same: []string{"SA9003", "empty branch"},
	},
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
	{
		Name: "unclosed-body", Languages: Go, Severity: Warning, check: shipped(inGo(goUnclosedBodies)),
		Message: "The body of this response is never closed, so its connection leaks. Close it when the " +
			"error is nil: defer response.Body.Close().",
		same: []string{"bodyclose"},
	},
	{
		Name: "unused-result", Languages: Go, Severity: Warning, check: shipped(inGo(goUnusedResults)),
		Message: "This function changes nothing and only returns a result, which is dropped here. Assign it.",
		same:    []string{"unusedresult", "SA4017"},
	},
	{
		Name: "debug-print", Languages: Go, Severity: Information, check: shipped(inGo(goDebugPrints)),
		Message: "This looks like a print that was left from debugging. Remove it.",
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

// goUnreachable looks behind statements that always leave their block. Labels may be jumped to.
func goUnreachable(_ *File, g *goFile) []hit {
	var lists [][]ast.Stmt
	ast.Inspect(g.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			lists = append(lists, n.List)
		case *ast.CaseClause:
			lists = append(lists, n.Body)
		case *ast.CommClause:
			lists = append(lists, n.Body)
		}
		return true
	})
	var hits []hit
	for _, list := range lists {
		at := slices.IndexFunc(list, g.alwaysLeaves)
		if at < 0 || at == len(list)-1 {
			continue
		}
		next := list[at+1]
		meant := false
		switch s := next.(type) {
		case *ast.LabeledStmt, *ast.EmptyStmt:
			meant = true
		case *ast.ExprStmt: // a panic may stand there to say that this is not reached
			c, ok := s.X.(*ast.CallExpr)
			meant = ok && isNamed(c.Fun, "panic")
		case *ast.ReturnStmt: // behind a panic or os.Exit a return is there for the compiler or the reader
			_, meant = list[at].(*ast.ExprStmt)
		}
		if !meant {
			hits = append(hits, hit{line: g.line(next.Pos()), endLine: g.line(list[len(list)-1].End())})
		}
	}
	return hits
}

func (g *goFile) alwaysLeaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok != token.FALLTHROUGH
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		return ok && (isNamed(c.Fun, "panic") || g.isOneOf(c, "os", "Exit") ||
			g.isOneOf(c, "log", "Fatal", "Fatalf", "Fatalln"))
	}
	return false
}

func goIdenticalConditions(_ *File, g *goFile) []hit {
	var hits []hit
	inner := map[*ast.IfStmt]bool{}
	for _, first := range nodes[*ast.IfStmt](g.syntax) {
		if inner[first] {
			continue
		}
		seen := map[string]bool{}
		for at := first; at != nil; {
			if at.Init != nil {
				clear(seen) // the statement may change what the condition says
			} else if condition := g.source(at.Cond); repeatable(condition) {
				if seen[condition] {
					hits = append(hits, g.hit(at.Cond))
				}
				seen[condition] = true
			}
			at, _ = at.Else.(*ast.IfStmt)
			inner[at] = true
		}
	}
	return hits
}

// repeatable reports whether a condition, asked twice in a row, gives the same both times: its text calls
// nothing that moves on.
func repeatable(condition string) bool {
	lower := strings.ToLower(condition)
	return !slices.ContainsFunc([]string{
		"()", "next", "read", "scan", "shift", "pop", "advance", "accept", "consume", "match", "rand", "recv", "<-",
		"try", "swap", "eat", "skip",
		"take", "poll",
	}, func(word string) bool { return strings.Contains(lower, word) })
}

// goEmptyErrorChecks looks for "if err != nil {}" without even a comment inside.
func goEmptyErrorChecks(_ *File, g *goFile) []hit {
	var hits []hit
	for _, s := range nodes[*ast.IfStmt](g.syntax) {
		condition, ok := s.Cond.(*ast.BinaryExpr)
		if !ok || s.Else != nil || len(s.Body.List) > 0 || condition.Op != token.NEQ || !isNamed(condition.Y, "nil") {
			continue
		}
		if isError(condition.X) && !strings.Contains(g.source(s.Body), "/") {
			hits = append(hits, g.hit(s))
		}
	}
	return hits
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

// goUnclosedBodies looks for responses of net/http's plain functions that the function neither closes nor hands on.
func goUnclosedBodies(_ *File, g *goFile) []hit {
	if g.imports("net/http") == "" {
		return nil
	}
	var hits []hit
	for _, function := range nodes[*ast.BlockStmt](g.syntax) {
		for _, s := range function.List {
			a, ok := s.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 || a.Tok != token.DEFINE {
				continue
			}
			c, ok := a.Rhs[0].(*ast.CallExpr)
			if !ok || !g.isOneOf(c, "net/http", "Get", "Post", "PostForm", "Head") &&
				g.source(c.Fun) != "http.DefaultClient.Do" {
				continue
			}
			if name, ok := a.Lhs[0].(*ast.Ident); ok && name.Name != "_" && !g.handsOn(function, name.Name) {
				hits = append(hits, g.hit(a))
			}
		}
	}
	return hits
}

// handsOn reports whether a response is closed, or somebody else may close it: it is used for more than its fields, or
// its body for more than an argument.
func (g *goFile) handsOn(function ast.Node, name string) bool {
	uses := -1 // its definition
	for _, ident := range nodes[*ast.Ident](function) {
		if ident.Name == name {
			uses++
		}
	}
	for _, s := range nodes[*ast.SelectorExpr](function) {
		if isNamed(s.X, name) && s.Sel.Name != "Body" {
			uses--
		}
	}
	for _, c := range nodes[*ast.CallExpr](function) {
		for _, e := range c.Args {
			if g.source(e) == name+".Body" {
				uses--
			}
		}
	}
	return uses > 0
}

// pure are functions that only return a result; nil is all of a package but its constructors.
var pure = map[string][]string{
	"strings": nil, "bytes": nil, "path/filepath": {"Join", "Clean", "Base", "Dir", "Ext"},
	"strconv": {"Itoa", "Quote", "FormatInt"},
	"fmt":     {"Sprintf", "Sprint", "Sprintln", "Errorf"}, "errors": {"New", "Join"},
}

// goUnusedResults looks for calls of pure functions as statements. Benchmarks, which are tests, call for the time
// alone.
func goUnusedResults(_ *File, g *goFile) []hit {
	var hits []hit
	for _, c := range g.statements() {
		for path, names := range pure {
			name := g.function(c, path)
			if name != "" && (slices.Contains(names, name) || names == nil && !strings.HasPrefix(name, "New")) {
				hits = append(hits, g.hit(c))
			}
		}
	}
	return hits
}

// goDebugPrints looks for prints whose text gives them away, for the built-in println, and for dumps.
func goDebugPrints(f *File, g *goFile) []hit {
	var hits []hit
	for _, c := range g.statements() {
		builtin := isNamed(c.Fun, "println")
		dumped := strings.HasPrefix(g.source(c.Fun), "spew.") && strings.Contains(method(c), "ump")
		printed := false
		if len(c.Args) > 0 {
			value, _ := text(c.Args[0])
			printed = debugWords().MatchString(value)
		}
		if !builtin && !dumped && (!printed || g.named(c, map[string][]string{"fmt": prints, "log": prints}) == "") {
			continue
		}
		found := g.hit(c)
		// Only a print of literals can go without leaving a variable or, being the last, an import unused.
		if constantArguments(c) && printed &&
			(builtin || strings.Count(f.code, g.source(c.Fun.(*ast.SelectorExpr).X)+".") > 1) {
			found.edit = f.removeStatement(g.offset(c.Pos()), g.offset(c.End()))
		}
		hits = append(hits, found)
	}
	return hits
}

var (
	prints = []string{"Print", "Printf", "Println"}
	// debugWords begin what people print while they look for a mistake.
	debugWords = lazyregexp.New(
		`^\W{0,6}(?:(?i:debug|dbg)\b|(?i:here+)\b\W*\d*\W*$|(?:XXX|FIXME|TESTING|HERE|ASDF)\b|` +
			`(?i:got here|in here|am here|reached here|asdf|qwer|wtf)\W*$)`)
)
