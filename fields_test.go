package agentls_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unread are fields of params that nothing has to read, and unset those of results that nothing has to set, with the
// reason.
var (
	unread = because{
		"methods.ModelMessage.Role": "the answer of a model is the assistant's",
		"methods.ModelPart.Error":   "an answer has no results of calls",
	}
	unset = because{
		"event.Unknown.Type": "made by the decoder of its own package, for events of a newer peer",
		"event.Unknown.Raw":  "likewise",
	}
)

// TestFieldsOfTheProtocol: every member of the custom protocol means something. What a peer sends in params and answers
// is read outside of generated code; what is sent to it is set. A member that is decoded and then ignored is a promise
// that nobody keeps.
func TestFieldsOfTheProtocol(t *testing.T) {
	uses := fieldUses(t)
	scope := uses.methods.Scope()
	var in, out []types.Type
	add := func(fn *types.Func, asks *[]types.Type, answers *[]types.Type) {
		sig := fn.Signature()
		for v := range sig.Params().Variables() {
			*asks = append(*asks, v.Type())
		}
		for v := range sig.Results().Variables() {
			*answers = append(*answers, v.Type())
		}
	}
	for _, name := range []string{"Server", "CommandServer"} {
		for fn := range scope.Lookup(name).Type().Underlying().(*types.Interface).Methods() {
			add(fn, &in, &out)
		}
	}
	for fn := range scope.Lookup("Client").Type().(*types.Named).Methods() {
		add(fn, &out, &in)
	}
	body := uses.events.Scope().Lookup("Body").Type().Underlying().(*types.Interface)
	for _, name := range uses.events.Scope().Names() {
		if typ := uses.events.Scope().Lookup(name).Type(); types.Implements(typ, body) {
			out = append(out, typ)
		}
	}
	for _, side := range []struct {
		what    string
		types   []types.Type
		used    map[*types.Var]bool
		excused because
	}{{"nothing reads", in, uses.read, unread}, {"nothing sets", out, uses.set, unset}} {
		fields := map[string]*types.Var{}
		for _, typ := range side.types {
			members(typ, fields)
		}
		if len(fields) < 20 {
			t.Errorf("%s: there are only %d members to look at", side.what, len(fields))
		}
		for name, field := range fields {
			if _, excused := side.excused[name]; excused == side.used[field] {
				t.Errorf("%s %s (excused: %t); take it out of schema/agent.metamodel.json, make it mean what is written there, "+
					"or mend the list of reasons", side.what, name, excused)
			}
		}
	}
}

// members collects the fields of a type, and of the types in them, that are of this module and on the wire.
func members(typ types.Type, into map[string]*types.Var) {
	switch typ := types.Unalias(typ).(type) {
	case *types.Pointer:
		members(typ.Elem(), into)
	case *types.Slice:
		members(typ.Elem(), into)
	case *types.Map:
		members(typ.Elem(), into)
	case *types.Named:
		s, isStruct := typ.Underlying().(*types.Struct)
		pkg := typ.Obj().Pkg()
		if !isStruct || pkg == nil || !strings.HasPrefix(pkg.Path(), modulePath) {
			return
		}
		for field := range s.Fields() {
			name := pkg.Name() + "." + typ.Obj().Name() + "." + field.Name()
			if _, known := into[name]; !known {
				into[name] = field
				members(field.Type(), into)
			}
		}
	}
}

// usesOfFields are the fields that code which is not generated reads and sets.
type usesOfFields struct {
	methods   *types.Package
	events    *types.Package
	read, set map[*types.Var]bool
	targets   map[ast.Expr]bool // of assignments, which read nothing
}

// fieldUses looks through every package of the module that can name the protocol's types.
func fieldUses(t *testing.T) usesOfFields {
	t.Helper()
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles, Deps           []string
		Module                  *struct{ Main bool }
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps",
		"-json=ImportPath,Export,Dir,GoFiles,Deps,Module", "./cmd/agentls")
	// As `make build` does, so that what it has compiled is there.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages: %v: %s", err, complaints.String())
	}
	exports := map[string]string{}
	var ours []listed
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			ours = append(ours, p)
		}
	}
	const methods, events = modulePath + "/lsp/methods", modulePath + "/agentcore/event"
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	uses := usesOfFields{read: map[*types.Var]bool{}, set: map[*types.Var]bool{}, targets: map[ast.Expr]bool{}}
	if uses.methods, err = imports.Import(methods); err != nil {
		t.Fatal(err)
	}
	if uses.events, err = imports.Import(events); err != nil {
		t.Fatal(err)
	}
	for _, p := range ours {
		if !slices.Contains(p.Deps, methods) && !slices.Contains(p.Deps, events) {
			continue
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		info := types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{Importer: imports, Sizes: types.SizesFor("gc", "amd64")}
		if _, err := config.Check(p.ImportPath, files, parsed, &info); err != nil {
			t.Fatalf("check %s: %v", p.ImportPath, err)
		}
		for _, file := range parsed {
			if !ast.IsGenerated(file) {
				ast.Inspect(file, func(n ast.Node) bool { uses.add(&info, n); return true })
			}
		}
	}
	return uses
}

// add takes in what a node does to fields. What is not plainly set counts as read: a field whose address is taken is
// both.
func (u usesOfFields) add(info *types.Info, n ast.Node) {
	field := func(e ast.Expr) *types.Var {
		switch e := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			v, _ := info.Uses[e.Sel].(*types.Var)
			return v
		case *ast.Ident:
			v, _ := info.Uses[e].(*types.Var)
			return v
		}
		return nil
	}
	all := func(typ types.Type, into map[*types.Var]bool) {
		if p, ok := typ.Underlying().(*types.Pointer); ok {
			typ = p.Elem()
		}
		if s, ok := typ.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				into[f] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if v := field(n); v != nil && !u.targets[n] {
			u.read[v] = true
		}
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			u.targets[to] = n.Tok == token.ASSIGN
			for to != nil {
				if v := field(to); v != nil {
					u.set[v] = true
				}
				switch at := to.(type) {
				case *ast.SelectorExpr: // setting a part of a field sets the field
					to = at.X
				case *ast.IndexExpr:
					to = at.X
				case *ast.ParenExpr:
					to = at.X
				default:
					to = nil
				}
			}
		}
	case *ast.UnaryExpr:
		if v := field(n.X); v != nil && n.Op == token.AND {
			u.set[v] = true
		}
	case *ast.CompositeLit:
		for _, element := range n.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				if v := field(pair.Key); v != nil {
					u.set[v] = true
				}
			} else {
				all(info.TypeOf(n), u.set)
			}
		}
	case *ast.CallExpr: // a conversion takes and gives all fields
		if fun := info.Types[n.Fun]; fun.IsType() && len(n.Args) == 1 {
			all(fun.Type, u.set)
			all(info.TypeOf(n.Args[0]), u.read)
		}
	}
}
