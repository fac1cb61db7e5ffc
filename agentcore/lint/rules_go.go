package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// inGo makes the check of a rule that needs valid Go.
func inGo(check func(*goFile) []hit) func(*File) []hit {
	return func(f *File) []hit {
		if f.goSyntax == nil {
			return nil
		}
		return check(f.goSyntax)
	}
}

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
		Name: "identical-branches", Languages: Go, Severity: Warning, check: inGo(goIdenticalBranches),
		Message: "Both branches do the same, so the condition decides nothing. One of them was probably meant to differ.",
	},
	{
		Name: "identical-operands", Languages: Go, Severity: Warning, check: inGo(goIdenticalOperands),
		Message: "Both sides of this operator are the same. One of them was probably meant to be something else.",
		same:    []string{"SA4000", "bools", "redundant"},
	},
	{
		Name: "self-assignment", Languages: Go, Severity: Warning, check: inGo(goSelfAssignments),
		Message: "This assigns a value to itself and does nothing. One side was probably meant to be something else.",
		same:    []string{"assign", "self-assignment"},
	},
	{
		Name: "empty-error-check", Languages: Go, Severity: Warning, check: inGo(goEmptyErrorChecks),
		Message: "The error is tested and then nothing is done about it. Handle or return it, or say in a comment why it does not matter.",
		same:    []string{"SA9003", "empty branch"},
	},
	{
		Name: "dropped-error", Languages: Go, Severity: Warning, check: goDroppedErrors,
		Message: "The error of this call is dropped.",
		same:    []string{"errcheck"},
	},
	{
		Name: "overwritten-error", Languages: Go, Severity: Warning, check: inGo(goOverwrittenErrors),
		Message: "This error is overwritten by the next statement before anything looks at it. Check it first.",
		same:    []string{"SA4006", "ineffassign"},
	},
	{
		Name: "defer-in-loop", Languages: Go, Severity: Warning, check: goDeferInLoop,
		Message: "The deferred call runs at the end of the function, not of each round, so that what it releases piles up. Move the body of the loop into a function.",
	},
	{
		Name: "wait-group-add", Languages: Go, Severity: Warning, check: inGo(goWaitGroupAdd),
		Message: "Add is called inside the goroutine, so Wait may return before it has run. Call Add before the go statement, or use WaitGroup.Go.",
		same:    []string{"waitgroup", "SA2000"},
	},
	{
		Name: "copied-lock", Languages: Go, Severity: Warning, check: inGo(goCopiedLocks),
		Message: "The method has a value receiver, so it locks a copy of the lock and protects nothing. Use a pointer receiver.",
		same:    []string{"copylocks", "passes lock by value"},
	},
	{
		Name: "sql-concatenation", Languages: Go, Severity: Warning, check: inGo(goSQL),
		Message: "The query is put together from text and values, which invites SQL injection. Use placeholders and pass the values as arguments.",
		same:    []string{"G201", "G202"},
	},
	{
		Name: "shell-injection", Languages: Go, Severity: Warning, check: inGo(goShell),
		Message: "A shell gets a command that is put together from values, which invites injection. Run the program directly with its arguments.",
		same:    []string{"G204"},
	},
	{
		Name: "insecure-tls", Languages: Go, Severity: Warning, check: inGo(goInsecureTLS),
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. Give the right RootCAs instead.",
		same:    []string{"G402"},
	},
	{
		Name: "unclosed-body", Languages: Go, Severity: Warning, check: inGo(goUnclosedBodies),
		Message: "The body of this response is never closed, so its connection leaks. Close it when the error is nil: defer response.Body.Close().",
		same:    []string{"bodyclose"},
	},
	{
		Name: "unused-result", Languages: Go, Severity: Warning, check: inGo(goUnusedResults),
		Message: "This function changes nothing and only returns a result, which is dropped here. Assign it.",
		same:    []string{"unusedresult", "SA4017"},
	},
	{
		Name: "compared-error-text", Languages: Go, Severity: Information, check: inGo(goErrorTexts),
		Message: "An error is told by its text, which may change at any time. Use errors.Is or errors.As.",
	},
	{
		Name: "debug-print", Languages: Go, Severity: Information, check: goDebugPrints,
		Message: "This looks like a print that was left from debugging. Remove it.",
	},
}

// goUnreachable looks behind statements that always leave their block. Labels may be jumped to.
func goUnreachable(g *goFile) []hit {
	var hits []hit
	for _, list := range g.lists {
		for i, statement := range list[:max(len(list)-1, 0)] {
			if !g.alwaysLeaves(statement) {
				continue
			}
			next := list[i+1]
			switch next.(type) {
			case *ast.LabeledStmt, *ast.EmptyStmt:
			case *ast.ExprStmt:
				// A panic may stand there to say that this is not reached.
				if c, ok := next.(*ast.ExprStmt).X.(*ast.CallExpr); !ok || !isNamed(c.Fun, "panic") {
					hits = append(hits, g.until(next, list[len(list)-1]))
				}
			case *ast.ReturnStmt:
				// Behind a panic or os.Exit a return is there for the compiler or the reader.
				if _, called := statement.(*ast.ExprStmt); !called {
					hits = append(hits, g.until(next, list[len(list)-1]))
				}
			default:
				hits = append(hits, g.until(next, list[len(list)-1]))
			}
			break
		}
	}
	return hits
}

func (g *goFile) until(first, last ast.Node) hit {
	return hit{line: g.line(first.Pos()), endLine: g.line(last.End())}
}

func (g *goFile) alwaysLeaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok != token.FALLTHROUGH
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		return ok && (isNamed(c.Fun, "panic") || g.isOneOf(c, "os", "Exit") || g.isOneOf(c, "log", "Fatal", "Fatalf", "Fatalln"))
	}
	return false
}

func goIdenticalConditions(g *goFile) []hit {
	var hits []hit
	inner := map[*ast.IfStmt]bool{}
	for _, first := range g.ifs {
		if inner[first] {
			continue
		}
		seen := map[string]bool{}
		for at := first; at != nil; {
			// A statement before the condition may change what it says.
			condition := g.source(at.Cond)
			if at.Init == nil && repeatable(condition) {
				if seen[condition] {
					hits = append(hits, g.hit(at.Cond))
				}
				seen[condition] = true
			} else if at.Init != nil {
				clear(seen)
			}
			next, ok := at.Else.(*ast.IfStmt)
			if !ok {
				break
			}
			inner[next] = true
			at = next
		}
	}
	return hits
}

// repeatable reports whether a condition, asked twice in a row, gives the same both times: its text calls
// nothing that moves on.
func repeatable(condition string) bool {
	lower := strings.ToLower(condition)
	for _, word := range []string{"()", "next", "read", "scan", "shift", "pop", "advance", "accept", "consume", "match", "exec", "rand", "recv", "<-", "++", "--", "await", "yield", "try", "swap", "eat", "skip", "take", "poll", ":="} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return true
}

func goIdenticalBranches(g *goFile) []hit {
	var hits []hit
	for _, s := range g.ifs {
		if other, ok := s.Else.(*ast.BlockStmt); ok && len(s.Body.List) > 0 && g.source(s.Body) == g.source(other) {
			hits = append(hits, g.until(s, s))
		}
	}
	return hits
}

func goIdenticalOperands(g *goFile) []hit {
	var hits []hit
	for _, b := range g.binaries {
		switch b.Op {
		case token.EQL, token.LSS, token.GTR, token.LEQ, token.GEQ, token.LAND, token.LOR, token.SUB, token.QUO, token.REM, token.XOR, token.AND, token.OR, token.AND_NOT:
		default:
			continue // x != x asks for NaN, x + x doubles
		}
		if b.Op == token.EQL || b.Op == token.SUB {
			// With a number that asks for NaN or infinity, which is done with plain names and terms.
			switch b.X.(type) {
			case *ast.SelectorExpr, *ast.IndexExpr:
			default:
				continue
			}
		}
		if _, constant := b.X.(*ast.BasicLit); !constant && isPure(b.X) && g.source(b.X) == g.source(b.Y) {
			hits = append(hits, g.hit(b))
		}
	}
	return hits
}

func goSelfAssignments(g *goFile) []hit {
	var hits []hit
	for _, a := range g.assignments {
		if a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i := range a.Lhs {
			if !isNamed(a.Lhs[i], "_") && isPure(a.Lhs[i]) && g.source(a.Lhs[i]) == g.source(a.Rhs[i]) {
				hits = append(hits, g.hit(a))
			}
		}
	}
	return hits
}

// goEmptyErrorChecks looks for "if err != nil {}" without even a comment inside.
func goEmptyErrorChecks(g *goFile) []hit {
	var hits []hit
	for _, s := range g.ifs {
		condition, ok := s.Cond.(*ast.BinaryExpr)
		if !ok || s.Else != nil || len(s.Body.List) > 0 || condition.Op != token.NEQ || !isNamed(condition.Y, "nil") {
			continue
		}
		name, ok := condition.X.(*ast.Ident)
		if !ok || !isErrorName(name.Name) || strings.ContainsAny(g.source(s.Body), "/") {
			continue
		}
		hits = append(hits, g.hit(s))
	}
	return hits
}

func isErrorName(name string) bool {
	return name == "err" || strings.HasSuffix(name, "Err") || strings.HasPrefix(name, "err") && len(name) == 4
}

// withError are functions of the standard library that return a value and an error, where the value is of no use
// after an error and a blank identifier is seldom meant.
var withError = map[string][]string{
	"strconv":       {"Atoi", "ParseInt", "ParseUint", "ParseFloat", "Unquote"},
	"os":            {"Open", "Create", "OpenFile", "ReadFile", "ReadDir", "CreateTemp", "MkdirTemp", "Stat", "Lstat"},
	"io":            {"ReadAll"},
	"net/http":      {"Get", "Post", "NewRequest", "NewRequestWithContext"},
	"net/url":       {"Parse", "QueryUnescape", "PathUnescape"},
	"encoding/json": {"Marshal", "MarshalIndent"},
	"time":          {"Parse", "ParseDuration", "ParseInLocation", "LoadLocation"},
	"crypto/rand":   {"Read", "Int"},
	"regexp":        {"Compile", "MatchString"},
}

// onlyError are functions that return nothing but an error that tells of lost work.
var onlyError = map[string][]string{
	"os":            {"WriteFile", "Rename", "MkdirAll", "Mkdir", "Chdir", "Truncate", "Link", "Symlink"},
	"encoding/json": {"Unmarshal"},
	"io":            {"Copy", "CopyN", "ReadFull"},
	"net/http":      {"ListenAndServe", "ListenAndServeTLS"},
	"encoding/xml":  {"Unmarshal"},
}

// goDroppedErrors looks where the types are certain: at functions of the standard library. Marshalling is left out
// for a blank identifier, since many types always encode, and so are tests and the init of an if. A comment on the
// line or the one above says that it is meant.
func goDroppedErrors(f *File) []hit {
	g := f.goSyntax
	if g == nil || f.isTest() {
		return nil
	}
	var hits []hit
	inits := map[ast.Stmt]bool{}
	for _, s := range g.ifs {
		inits[s.Init] = true
	}
	for _, a := range g.assignments {
		if len(a.Lhs) != 2 || len(a.Rhs) != 1 || !isNamed(a.Lhs[1], "_") || isNamed(a.Lhs[0], "_") || inits[a] || f.comment(g.line(a.Pos())-1, g.line(a.End())) {
			continue
		}
		c, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok {
			continue
		}
		name := g.named(c, withError)
		if name == "" || strings.HasPrefix(name, "json.") || constantArguments(c) {
			continue
		}
		hits = append(hits, hit{line: g.line(a.Pos()), message: fmt.Sprintf("The error of %s is dropped, so a failure goes on as a zero value. Check it.", name)})
	}
	for _, c := range g.statements {
		if len(c.Args) > 0 && (strings.HasPrefix(g.source(c.Args[0]), "&") || g.source(c.Args[0]) == "io.Discard") {
			continue // writing into memory or into nothing does not fail
		}
		if name := g.named(c, onlyError); name != "" && !f.comment(g.line(c.Pos())-1, g.line(c.End())) {
			hits = append(hits, hit{line: g.line(c.Pos()), message: fmt.Sprintf("The error of %s is dropped, so a failure goes unnoticed. Check it.", name)})
		}
	}
	return hits
}

// named returns "package.Function" if a call is of a function in the table.
func (g *goFile) named(c *ast.CallExpr, table map[string][]string) string {
	for path, names := range table {
		if g.isOneOf(c, path, names...) {
			return g.source(c.Fun)
		}
	}
	return ""
}

// constantArguments reports whether a call cannot fail by surprise, because it has literals and parts of matches only.
func constantArguments(c *ast.CallExpr) bool {
	return !slices.ContainsFunc(c.Args, func(e ast.Expr) bool {
		if element, ok := e.(*ast.IndexExpr); ok {
			// A part of what a regular expression fits has the right form.
			if name, ok := element.X.(*ast.Ident); ok && (name.Name == "m" || strings.HasPrefix(name.Name, "match") || strings.HasPrefix(name.Name, "sub")) {
				return false
			}
		}
		_, literal := e.(*ast.BasicLit)
		return !literal
	})
}

// goOverwrittenErrors looks at neighbours in a block that both assign an error, the second without reading it.
func goOverwrittenErrors(g *goFile) []hit {
	var hits []hit
	for _, list := range g.lists {
		for i := range max(len(list)-1, 0) {
			first, ok := list[i].(*ast.AssignStmt)
			if !ok || len(first.Rhs) != 1 {
				continue
			}
			if _, called := first.Rhs[0].(*ast.CallExpr); !called {
				continue
			}
			second, ok := list[i+1].(*ast.AssignStmt)
			if !ok {
				continue
			}
			for _, e := range first.Lhs {
				name, ok := e.(*ast.Ident)
				if !ok || !isErrorName(name.Name) || !slices.ContainsFunc(second.Lhs, func(e ast.Expr) bool { return isNamed(e, name.Name) }) {
					continue
				}
				if !slices.ContainsFunc(second.Rhs, func(e ast.Expr) bool { return uses(e, name.Name) }) {
					hits = append(hits, g.hit(first))
				}
			}
		}
	}
	return hits
}

// goDeferInLoop looks at calls that release something. In a test the few that pile up do no harm.
func goDeferInLoop(f *File) []hit {
	g := f.goSyntax
	if g == nil || f.isTest() {
		return nil
	}
	var hits []hit
	for _, d := range g.deferred {
		switch method(d.Call) {
		case "Close", "Unlock", "RUnlock", "Release", "Free", "Stop", "Remove", "RemoveAll", "Done", "Rollback":
			hits = append(hits, g.hit(d))
		}
	}
	return hits
}

// goWaitGroupAdd looks at the first statement of a goroutine.
func goWaitGroupAdd(g *goFile) []hit {
	var hits []hit
	for _, s := range g.goes {
		function, ok := s.Call.Fun.(*ast.FuncLit)
		if !ok || len(function.Body.List) == 0 {
			continue
		}
		first, ok := function.Body.List[0].(*ast.ExprStmt)
		if !ok {
			continue
		}
		c, ok := first.X.(*ast.CallExpr)
		if ok && method(c) == "Add" && len(c.Args) == 1 && g.source(c.Args[0]) == "1" && strings.Contains(strings.ToLower(g.source(c.Fun)), "wg") || ok && method(c) == "Add" && strings.Contains(g.text, "sync.WaitGroup") && len(c.Args) == 1 && g.source(c.Args[0]) == "1" && uses(function.Body, "Done") {
			hits = append(hits, g.hit(c))
		}
	}
	return hits
}

// goCopiedLocks looks for methods with value receivers on structs of this file that hold a lock by value and
// lock it.
func goCopiedLocks(g *goFile) []hit {
	locks := map[string][]string{} // fields by type
	for _, declaration := range g.syntax.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			kind, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			structure, ok := kind.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range structure.Fields.List {
				if name := g.source(field.Type); name == "sync.Mutex" || name == "sync.RWMutex" {
					locks[kind.Name.Name] = append(locks[kind.Name.Name], name)
				}
			}
		}
	}
	var hits []hit
	for _, function := range g.functions {
		if function.decl == nil || function.decl.Recv == nil || len(function.decl.Recv.List) != 1 {
			continue
		}
		receiver := function.decl.Recv.List[0]
		if name, ok := receiver.Type.(*ast.Ident); ok && len(locks[name.Name]) > 0 && uses(function.body, "Lock") {
			hits = append(hits, g.hit(function.decl))
		}
	}
	return hits
}
