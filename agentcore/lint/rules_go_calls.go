package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// sqlStart fits the beginning of a statement of SQL that takes values.
var sqlStart = lazyregexp.New(`(?i)^[\s("'` + "`" + `_]*(?:select\b.+\bfrom\b|insert\s+into\b|update\b.+\bset\b|delete\s+from\b)`)

// goSQL looks at the query of database/sql's methods. Numbers and names of columns are put in by %d and by
// constants often enough; so it has to be %s, %v or a "+" with something that is no constant by its name.
func goSQL(g *goFile) []hit {
	if g.imports("database/sql") == "" && !strings.Contains(g.text, "sqlx") && !strings.Contains(g.text, "pgx") {
		return nil
	}
	var hits []hit
	for _, c := range g.calls {
		at := 0
		switch method(c) {
		case "Query", "QueryRow", "Exec", "Prepare":
		case "QueryContext", "QueryRowContext", "ExecContext", "PrepareContext":
			at = 1
		default:
			continue
		}
		if len(c.Args) <= at {
			continue
		}
		if pieces, built := g.built(c.Args[at]); built && sqlStart().MatchString(pieces) {
			hits = append(hits, g.hit(c.Args[at]))
		}
	}
	return hits
}

// built returns the constant pieces of a text that is put together from values by "+" or fmt.Sprintf with %s, %q
// or %v. Names in capitals or with "table", "column" or "placeholder" in them are taken for constants.
func (g *goFile) built(e ast.Expr) (pieces string, ok bool) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, a := g.built(e.X)
		right, b := g.built(e.Y)
		return left + right, a || b || isValue(e.X) || isValue(e.Y)
	case *ast.BasicLit:
		value, _ := text(e)
		return value, false
	case *ast.ParenExpr:
		return g.built(e.X)
	case *ast.CallExpr:
		if !g.isOneOf(e, "fmt", "Sprintf") || len(e.Args) < 2 {
			return "", false
		}
		format, _ := text(e.Args[0])
		if !strings.Contains(format, "%s") && !strings.Contains(format, "%v") && !strings.Contains(format, "'%") {
			return format, false
		}
		return format, slices.ContainsFunc(e.Args[1:], isValue)
	}
	return "", false
}

// isValue reports whether an expression is a variable, a field, an element or a call, and no constant by its name.
func isValue(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	case *ast.IndexExpr:
		return true
	case *ast.CallExpr:
		name = method(e)
		return name == "Get" || name == "FormValue" || name == "PathValue" || name == "Query" || name == "URLParam" || name == "Param"
	default:
		return false
	}
	lower := strings.ToLower(name)
	for _, word := range []string{"table", "column", "field", "where", "order", "placeholder", "schema", "clause", "sql", "query", "join", "limit", "cond", "stmt", "part", "prefix", "suffix", "cols", "marks", "set"} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return name != strings.ToUpper(name) || len(name) == 1
}

// goShell looks at exec.Command("sh", "-c", …) with a text that is put together.
func goShell(g *goFile) []hit {
	var hits []hit
	for _, c := range g.calls {
		at := 0
		switch g.function(c, "os/exec") {
		case "Command":
		case "CommandContext":
			at = 1
		default:
			continue
		}
		if len(c.Args) < at+3 {
			continue
		}
		program, _ := text(c.Args[at])
		flag, _ := text(c.Args[at+1])
		name := program[strings.LastIndexByte(program, '/')+1:]
		if !slices.Contains([]string{"sh", "bash", "zsh", "dash", "cmd"}, name) || flag != "-c" && !strings.EqualFold(flag, "/c") {
			continue
		}
		if _, built := g.built(c.Args[at+2]); built {
			hits = append(hits, g.hit(c.Args[at+2]))
		}
	}
	return hits
}

// goInsecureTLS looks for InsecureSkipVerify: true outside of tests.
func goInsecureTLS(g *goFile) []hit {
	var hits []hit
	if strings.HasSuffix(g.name, "_test.go") || !strings.Contains(g.text, "InsecureSkipVerify") {
		return nil
	}
	for _, literal := range g.literals {
		for _, element := range literal.Elts {
			// Who verifies the connection in a function of his own may switch the other off.
			if pair, ok := element.(*ast.KeyValueExpr); ok && isNamed(pair.Key, "InsecureSkipVerify") && isNamed(pair.Value, "true") && !strings.Contains(g.source(literal), "VerifyPeerCertificate") && !strings.Contains(g.source(literal), "VerifyConnection") {
				hits = append(hits, g.hit(pair))
			}
		}
	}
	return hits
}

// goUnclosedBodies looks for responses of net/http's plain functions whose variable is used for nothing but its
// fields, while the function never mentions Close.
func goUnclosedBodies(g *goFile) []hit {
	if g.imports("net/http") == "" || strings.HasSuffix(g.name, "_test.go") {
		return nil
	}
	var hits []hit
	for _, function := range g.functions {
		ast.Inspect(function.body, func(n ast.Node) bool {
			if _, nested := n.(*ast.FuncLit); nested {
				return false // it is in the list itself
			}
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 {
				return true
			}
			c, ok := a.Rhs[0].(*ast.CallExpr)
			if !ok || !g.isOneOf(c, "net/http", "Get", "Post", "PostForm", "Head") && g.source(c.Fun) != "http.DefaultClient.Do" {
				return true
			}
			name, ok := a.Lhs[0].(*ast.Ident)
			if !ok || name.Name == "_" {
				return true
			}
			if !strings.Contains(g.source(function.body), name.Name+".Body.Close") && onlyFields(function.body, name.Name, a) {
				hits = append(hits, g.hit(a))
			}
			return true
		})
	}
	return hits
}

// onlyFields reports whether a variable is used for selections only, so that nobody else can close what it holds.
// Its body counts as handed over where it is no argument of a reading function.
func onlyFields(body ast.Node, name string, made ast.Node) bool {
	only := true
	selected := map[*ast.Ident]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if ident, ok := n.X.(*ast.Ident); ok && ident.Name == name {
				selected[ident] = true
			}
		case *ast.AssignStmt:
			if n == made {
				selected[n.Lhs[0].(*ast.Ident)] = true
			}
			for _, e := range n.Rhs {
				if selector, ok := e.(*ast.SelectorExpr); ok && isNamed(selector.X, name) && selector.Sel.Name == "Body" {
					only = false
				}
			}
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				if selector, ok := e.(*ast.SelectorExpr); ok && isNamed(selector.X, name) && selector.Sel.Name == "Body" {
					only = false
				}
			}
		case *ast.BinaryExpr:
			if isNamed(n.X, name) && isNamed(n.Y, "nil") {
				selected[n.X.(*ast.Ident)] = true
			}
		case *ast.Ident:
			if n.Name == name && !selected[n] {
				only = false
			}
		}
		return only
	})
	return only
}

// goUnusedResults looks for calls of pure functions as statements.
func goUnusedResults(g *goFile) []hit {
	if strings.HasSuffix(g.name, "_test.go") {
		return nil // benchmarks call for the time alone
	}
	var hits []hit
	for _, c := range g.statements {
		name := g.function(c, "strings")
		if name == "" {
			name = g.function(c, "bytes")
		}
		switch name {
		case "", "NewReader", "NewReplacer", "NewBuffer", "NewBufferString":
			if !g.isOneOf(c, "path/filepath", "Join", "Clean", "Base", "Dir", "Ext") && !g.isOneOf(c, "strconv", "Itoa", "Quote", "FormatInt") && !g.isOneOf(c, "fmt", "Sprintf", "Sprint", "Sprintln", "Errorf") && !g.isOneOf(c, "errors", "New", "Join") {
				continue
			}
		}
		hits = append(hits, g.hit(c))
	}
	return hits
}

// goErrorTexts looks for err.Error() == "…" and strings.Contains(err.Error(), "…").
func goErrorTexts(g *goFile) []hit {
	if strings.HasSuffix(g.name, "_test.go") {
		return nil
	}
	isText := func(e ast.Expr) bool {
		c, ok := e.(*ast.CallExpr)
		if !ok || method(c) != "Error" || len(c.Args) > 0 {
			return false
		}
		name, ok := c.Fun.(*ast.SelectorExpr).X.(*ast.Ident)
		return ok && isErrorName(name.Name)
	}
	var hits []hit
	for _, b := range g.binaries {
		if (b.Op == token.EQL || b.Op == token.NEQ) && (isText(b.X) || isText(b.Y)) {
			if value, ok := text(b.Y); !ok || value != "" {
				hits = append(hits, g.hit(b))
			}
		}
	}
	return hits
}

// debugWords begin what people print while they look for a mistake.
var debugWords = lazyregexp.New(`^\W{0,6}(?:(?i:debug|dbg)\b|(?i:here+)\b\W*\d*\W*$|(?:XXX|FIXME|TESTING|HERE|ASDF)\b|(?i:got here|in here|am here|reached here|asdf|qwer|wtf)\W*$)`)

// goDebugPrints looks for prints whose text gives them away, for the built-in println, and for dumps.
func goDebugPrints(f *File) []hit {
	g := f.goSyntax
	if g == nil || f.isTest() {
		return nil
	}
	var hits []hit
	for _, c := range g.statements {
		builtin := isNamed(c.Fun, "println")
		dumped := strings.HasPrefix(g.source(c.Fun), "spew.") && strings.Contains(method(c), "ump")
		value, printed := "", false
		if len(c.Args) > 0 {
			value, _ = text(c.Args[0])
		}
		if (g.isOneOf(c, "fmt", "Print", "Printf", "Println") || g.isOneOf(c, "log", "Print", "Printf", "Println")) && len(c.Args) > 0 {
			printed = debugWords().MatchString(value)
		}
		if !builtin && !dumped && !printed {
			continue
		}
		found := g.hit(c)
		// Only a print of literals can go without leaving a variable or, being the last, an import unused.
		if constantArguments(c) && debugWords().MatchString(value) && (builtin || strings.Count(f.code, g.source(c.Fun.(*ast.SelectorExpr).X)+".") > 1) {
			found.edit = f.removeStatement(g.offset(c.Pos()), g.offset(c.End()))
		}
		hits = append(hits, found)
	}
	return hits
}
