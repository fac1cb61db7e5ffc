package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// parseGo returns the syntax errors of the file: for each line, the first that the parser found, as the compiler does.
// With AllErrors, a brace that is missing at the end would be reported as a missing semicolon, which the parser expects
// there, too.
func parseGo(s *subject) (*ast.File, scanner.ErrorList) {
	file, err := parser.ParseFile(token.NewFileSet(), "", s.file.Text, parser.ParseComments|parser.SkipObjectResolution)
	var list scanner.ErrorList
	errors.As(err, &list)
	return file, list
}

func goSyntax(_ context.Context, s *subject) ([]Diagnostic, error) {
	_, list := parseGo(s)
	list.RemoveMultiples()
	var out []Diagnostic
	for _, e := range list {
		out = append(out, s.diagnostic("go syntax", event.SeverityError, s.spanAt(e.Pos.Offset), e.Msg))
	}
	return out, nil
}

func gofmt(_ context.Context, s *subject) ([]Diagnostic, error) {
	file, list := parseGo(s)
	if len(list) > 0 || ast.IsGenerated(file) {
		return nil, errNotApplicable
	}
	formatted, err := format.Source([]byte(s.file.Text))
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	was := contents(s.file.Text)
	now := contents(string(formatted))
	row := 0
	for row < min(len(was), len(now)) && was[row] == now[row] {
		row++
	}
	if row == len(was) && row == len(now) {
		return nil, nil
	}
	return []Diagnostic{s.diagnostic("gofmt", event.SeverityHint, s.at(row+1, 1, false),
		"the file is not formatted as gofmt does, from this line on")}, nil
}

// goVet runs `go vet` on the file's package, with an overlay of all files that the run sees otherwise than the disk. It
// compiles, but runs no code of the project: no cgo, no tool flags from the environment or from `go env -w`, no
// network, no version control.
func goVet(ctx context.Context, s *subject) ([]Diagnostic, error) {
	parsed, list := parseGo(s)
	if len(list) > 0 {
		return nil, errNotApplicable
	}
	if slices.ContainsFunc(parsed.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` }) {
		return cgoVet(ctx, s)
	}
	temp, err := os.MkdirTemp("", "agentls-vet-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(temp)
	// The go command prints real paths.
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return nil, fmt.Errorf("find the temporary folder: %w", err)
	}
	o := overlay{dir: temp, original: map[string]string{}, Replace: map[string]string{}}
	if err := o.fill(s); err != nil {
		return nil, err
	}
	if !o.inModule(s.file.Path) {
		return nil, errNotApplicable
	}
	flags := []string{"-buildvcs=false"}
	// Without an overlay, all files of a package lead to the same question, which the go command answers once.
	if len(o.Replace) > 0 {
		flags = append(flags, "-overlay="+o.file())
	}
	v := vet{subject: s, overlay: &o}
	if v.env, err = goFolders(ctx, s); err != nil {
		return nil, err
	}
	out, err := v.run(ctx, append([]string{"vet", "-json"}, flags...)...)
	if err != nil {
		return nil, err
	}
	if out.status == 0 {
		return v.findings(out.stdout + out.stderr)
	}
	return v.unloadable(ctx, out.stderr, flags)
}

// unloadable finds all errors because of which the package could not be loaded; vet has told only some.
func (v *vet) unloadable(ctx context.Context, told string, flags []string) ([]Diagnostic, error) {
	if !strings.Contains(told, "\nvet: ") {
		// The fault is in the module or a dependency, or build tags exclude the file.
		if strings.Contains(told, "build constraints exclude all Go files") {
			return nil, errNotApplicable
		}
		if list := v.errors(told); len(list) > 0 {
			return list, nil
		}
		return nil, fmt.Errorf("it could not load the package: %s", v.detail(told))
	}
	// vet stops at the first type error; the compiler, which fails before it links anything, lists all.
	built, err := v.run(ctx,
		append([]string{"build", "-gcflags=-e", "-o", filepath.Join(v.overlay.dir, "out")}, flags...)...)
	if err != nil {
		return nil, err
	}
	if list := v.errors(built.stderr); len(list) > 0 {
		return list, nil
	}
	if list := v.errors(told); len(list) > 0 {
		return list, nil
	}
	// Another file of the package is at fault.
	return nil, fmt.Errorf("it could not load the package: %s", strings.TrimPrefix(v.detail(told), "vet: "))
}

// cgoVet runs `go vet` with cgo in the sandbox, since cgo runs compilers with flags that the project names.
func cgoVet(ctx context.Context, s *subject) ([]Diagnostic, error) {
	v := vet{subject: s, overlay: &overlay{Replace: map[string]string{}}}
	for _, root := range s.host.Files().View().Roots() {
		for _, file := range s.host.Files().Overlay(root.Path) {
			v.overlay.Replace[file.Path] = string(file.Stamp)
		}
	}
	if !v.overlay.inModule(s.file.Path) {
		return nil, errNotApplicable
	}
	out, err := s.project(ctx, filepath.Dir(s.file.Path), "env", "CGO_ENABLED=1", "GOPROXY=off", "GOTOOLCHAIN=local",
		s.program, "vet", "-json", "-buildvcs=false", ".")
	switch {
	case err != nil:
		return nil, err
	case out.Exit == 0:
		return v.findings(out.Stdout + out.Stderr)
	}
	if list := v.errors(out.Stderr); len(list) > 0 {
		return list, nil
	}
	return nil, fmt.Errorf("it could not load the package: %s", v.detail(out.Stderr))
}

// inModule reports whether a go.mod lies beside a file or above it, on disk or in the overlay. It looks at
// names only.
func (o *overlay) inModule(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "go.mod")
		if replaced, ok := o.Replace[name]; ok {
			return replaced != ""
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
	}
}

// goFolders returns the folders of the go command's caches, which `go env -w` may have moved. The go command is asked
// outside of the project; nothing else of that configuration is used.
func goFolders(ctx context.Context, s *subject) ([]string, error) {
	out, err := program{
		program: s.program, args: []string{"env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH"}, dir: neutralDir(),
		env: []string{"GOTOOLCHAIN=local", "GOWORK=off"}, limit: s.limit, run: s.host.Author("").Run,
	}.output(ctx)
	if err != nil {
		return nil, err
	}
	var folders map[string]string
	if err := json.Unmarshal([]byte(out.stdout), &folders); err != nil {
		return nil, fmt.Errorf("read the answer of go env: %w", err)
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		env = append(env, name+"="+folders[name])
	}
	return env, nil
}

// overlay is the JSON of the go command's -overlay flag, with the temporary files that it names.
type overlay struct {
	dir string
	// original maps the name of a temporary file to the path that it stands for. The folder is left out, since the go
	// command may answer from its cache with the folder of an earlier run; only the names stay the same.
	original map[string]string
	Replace  map[string]string
}

func (o *overlay) file() string { return filepath.Join(o.dir, "overlay.json") }

func (o *overlay) add(path, text string) error {
	sum := sha256.Sum256([]byte(path + "\x00" + text))
	temp := filepath.Join(o.dir, hex.EncodeToString(sum[:12])+filepath.Ext(path))
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	o.Replace[path] = temp
	o.original[filepath.Base(temp)] = path
	return nil
}

// fill adds the file, and all other files of the workspace that the run sees otherwise than the disk.
func (o *overlay) fill(s *subject) error {
	layer := s.host.Files()
	for _, root := range layer.View().Roots() {
		for _, file := range layer.Overlay(root.Path) {
			if file.Stamp == "" {
				o.Replace[file.Path] = ""
			} else if err := o.add(file.Path, file.Text); err != nil {
				return err
			}
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode the overlay: %w", err)
	}
	if err := os.WriteFile(o.file(), raw, 0o600); err != nil {
		return fmt.Errorf("write the overlay: %w", err)
	}
	return nil
}

// vet is a run of the go command on one package.
type vet struct {
	*subject
	overlay *overlay
	env     []string
}

func (v *vet) run(ctx context.Context, args ...string) (output, error) {
	return program{
		program: v.program, args: append(args, "."), dir: filepath.Dir(v.file.Path), limit: v.limit,
		run: v.host.Author("").Run,
		env: append(slices.Clone(v.env), "GOENV=off", "GOFLAGS=", "GOPROXY=off", "GOSUMDB=off", "GOVCS=*:off",
			"GOTOOLCHAIN=local", "CGO_ENABLED=0"),
	}.output(ctx)
}

// path turns a path that the go command prints into the path that the run knows.
func (v *vet) path(printed string) string {
	if !filepath.IsAbs(printed) {
		printed = filepath.Join(filepath.Dir(v.file.Path), printed)
	}
	if original, ok := v.overlay.original[filepath.Base(printed)]; ok {
		return original
	}
	return printed
}

// position reads "path:line:column".
func (v *vet) position(text string) (path string, row, column int, ok bool) {
	parts := goPlace().FindStringSubmatch(text)
	if parts == nil {
		return "", 0, 0, false
	}
	row, _ = strconv.Atoi(parts[2])
	column, _ = strconv.Atoi(parts[3])
	return v.path(parts[1]), row, max(column, 1), true
}

var (
	goPlace = lazyregexp.New(`^(.+?\.go):(\d+)(?::(\d+))?$`)
	goError = lazyregexp.New(`(?m)^(?:vet: )?(.+?\.go:\d+(?::\d+)?): (.*)$`)
)

// vetFinding is one entry of `go vet -json`: package → analyzer → findings.
type vetFinding struct {
	Posn, End, Message string
	SuggestedFixes     []struct {
		Edits []struct {
			Filename   string
			Start, End int
			New        string
		}
	} `json:"suggested_fixes"`
}

// findings reads a stream of `go vet -json` objects, among lines that begin with #.
func (v *vet) findings(text string) ([]Diagnostic, error) {
	var clean strings.Builder
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "#") {
			clean.WriteString(l)
		}
	}
	var list []Diagnostic
	decoder := json.NewDecoder(strings.NewReader(clean.String()))
	for decoder.More() {
		var packages map[string]map[string]json.RawMessage
		if err := decoder.Decode(&packages); err != nil {
			return nil, fmt.Errorf("read its answer: %w", err)
		}
		for _, analyzers := range packages {
			for name, raw := range analyzers {
				var findings []vetFinding
				// An analyzer that failed has an object with its error instead of a list.
				if err := json.Unmarshal(raw, &findings); err != nil {
					return nil, fmt.Errorf("the analyzer %s failed: %s", name, clip(string(raw), 200))
				}
				for _, f := range findings {
					if d, ok := v.finding(name, f); ok {
						list = append(list, d)
					}
				}
			}
		}
	}
	return distinct(list), nil
}

func (v *vet) finding(analyzer string, f vetFinding) (Diagnostic, bool) {
	path, row, column, ok := v.position(f.Posn)
	if !ok || path != v.file.Path {
		return Diagnostic{}, false
	}
	span := v.at(row, column, false)
	if _, row, column, ok := v.position(f.End); ok {
		span = between(span, v.at(row, column, false))
	}
	d := v.diagnostic("go vet", event.SeverityWarning, span, f.Message)
	d.Code = analyzer
	if len(f.SuggestedFixes) == 1 && len(f.SuggestedFixes[0].Edits) == 1 {
		if e := f.SuggestedFixes[0].Edits[0]; v.path(e.Filename) == path {
			d.Fix = v.fix(e.Start, e.End, e.New)
		}
	}
	return d, true
}

// errors reads the compiler's messages about this file.
func (v *vet) errors(text string) []Diagnostic {
	var list []Diagnostic
	for _, parts := range goError().FindAllStringSubmatch(text, -1) {
		path, row, column, ok := v.position(strings.TrimSpace(parts[1]))
		if !ok || path != v.file.Path {
			continue
		}
		d := v.diagnostic("go vet", event.SeverityError, v.at(row, column, false), parts[2])
		d.Code = "compile"
		list = append(list, d)
	}
	return list
}

// detail is the first line of the go command's errors that is no package heading, with the names that the run knows.
func (v *vet) detail(text string) string {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		for temp, original := range v.overlay.original {
			l = strings.ReplaceAll(l, filepath.Join(v.overlay.dir, temp), v.host.Files().View().Shown(original))
		}
		return clip(l, 200)
	}
	return "it said nothing"
}

// vetLimit is how long go vet may take, with its compilation of dependencies.
const vetLimit = 20 * time.Second
