package tool

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// readingHost is what searching needs of a Host.
type readingHost struct {
	Host
	layer *workspace.Layer
}

func (h readingHost) Files() *workspace.Layer { return h.layer }
func (h readingHost) MayRead(string) bool     { return true }

func (h readingHost) MayReadPlain(string) bool { return true }

// searching opens a folder for grep and glob.
func searching(t testing.TB, dir string) readingHost {
	t.Helper()
	view, err := workspace.Open([]workspace.Root{{Path: dir}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	session := view.NewProposal(workspace.ProposalOptions{ID: event.NewProposalID()})
	t.Cleanup(func() {
		session.Close()
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	return readingHost{layer: session.Fork()}
}

// modules are real repositories, as the module cache has them: the last one is the largest.
var modules = []string{"github.com/modelcontextprotocol/go-sdk", "mvdan.cc/sh/v3", "golang.org/x/tools"}

// moduleDir is the folder of a module that this one needs, in the module cache.
func moduleDir(t testing.TB, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("find the module %s: %v", path, err)
	}
	return dir
}

// ripgrep runs rg so that it looks at what we look at: what a repository without a past of its own ignores, and nothing
// else.
func ripgrep(t testing.TB, dir string, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "rg", append([]string{
		"--no-config", "--hidden", "--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-dot",
		"--glob=!.git", "--color=never", "--no-messages",
	}, arguments...)...)
	command.Dir = dir
	out, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil // no match
	}
	if err != nil {
		t.Fatalf("run rg %q: %v", arguments, err)
	}
	return out
}

// found collects all matching lines of a pattern, by file.
func grepAll(t testing.TB, h readingHost, dir, pattern string) map[string][]int {
	t.Helper()
	s := newSearch(h, pattern, regexp.MustCompile(pattern))
	all := map[string][]int{}
	for hits := range s.files(t.Context(), []string{dir}, globPattern{pattern: "**"}) {
		if hits.err != nil {
			t.Fatal(hits.err)
		}
		if len(hits.matches) == 0 {
			continue
		}
		lines := make([]int, len(hits.matches))
		for i, m := range hits.matches {
			lines[i] = m.line + 1
		}
		all[relativeTo(dir, hits.path)] = lines
	}
	return all
}

// oneByOne is grepAll in the simplest way.
func oneByOne(t *testing.T, h readingHost, dir, pattern string) map[string][]int {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	all := map[string][]int{}
	for entry, err := range walk(t.Context(), h, []string{dir}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		file, err := h.layer.Read(entry.Path)
		if err != nil {
			continue // a folder, or no text
		}
		for i, l := range shownLines(file.Text) {
			if file.Text != "" && expression.MatchString(file.Text[l.start:l.end]) {
				all[entry.relative] = append(all[entry.relative], i+1)
			}
		}
	}
	return all
}

func compareMatches(t *testing.T, pattern, module string, got, want map[string][]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%s in %s of %s: %d lines, want %d", pattern, name, module, len(got[name]), len(want[name]))
			return
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == nil {
			t.Errorf("%s in %s of %s: nothing should be there", pattern, name, module)
			return
		}
	}
}

func TestGrepAgainstRipgrep(t *testing.T) {
	for _, module := range modules {
		dir := moduleDir(t, module)
		h := searching(t, dir)
		for _, pattern := range []string{
			"func", `func [A-Za-z]+Error\(`, "(?i)deprecated", `\bctx\b`, "^package ", `[A-Z]{6,}$`, `"[^"]*%w`,
			"TODO|FIXME", "nothing of the kind", `^\s*$`, "é|ü|ß|漢",
		} {
			if testing.Short() { // which has to do without rg
				compareMatches(t, pattern, module, grepAll(t, h, dir, pattern), oneByOne(t, h, dir, pattern))
				continue
			}
			want := map[string][]int{}
			for line := range bytes.Lines(ripgrep(t, dir, "--line-number", "--no-heading", "--null",
				"--regexp="+pattern, ".")) {
				name, rest, ok := strings.Cut(string(line), "\x00")
				var number int
				if _, err := fmt.Sscanf(rest, "%d:", &number); !ok || err != nil {
					t.Fatalf("rg says %q", line)
				}
				name = strings.TrimPrefix(name, "./")
				want[name] = append(want[name], number)
			}
			compareMatches(t, pattern, module, grepAll(t, h, dir, pattern), want)
		}
		if testing.Short() {
			continue
		}
		var files []string
		for path, err := range filesBelow(t.Context(), h, []string{dir}, globPattern{pattern: "**"}) {
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, relativeTo(dir, path))
		}
		slices.Sort(files)
		want := strings.Fields(string(ripgrep(t, dir, "--files")))
		slices.Sort(want)
		if !slices.Equal(files, want) || len(want) < 50 {
			t.Errorf("%s: %d files, rg has %d", module, len(files), len(want))
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	dir := moduleDir(b, modules[len(modules)-1])
	for _, pattern := range []string{"func", `func \w+Error\(`, "nothing of the kind", "(?i)deprecated"} {
		name := strings.Map(func(r rune) rune {
			if strings.ContainsRune(` \+(?)`, r) {
				return '_'
			}
			return r
		}, pattern)
		b.Run("ours/"+name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				h := searching(b, dir) // with nothing in its cache
				b.StartTimer()
				grepAll(b, h, dir, pattern)
			}
		})
		b.Run("ripgrep/"+name, func(b *testing.B) {
			for b.Loop() {
				ripgrep(b, dir, "--line-number", "--no-heading", "--regexp="+pattern, ".")
			}
		})
	}
	b.Run("files/ours", func(b *testing.B) {
		h := searching(b, dir)
		for b.Loop() {
			for _, err := range filesBelow(b.Context(), h, []string{dir}, globPattern{pattern: "**"}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("files/ripgrep", func(b *testing.B) {
		for b.Loop() {
			ripgrep(b, dir, "--files")
		}
	})
}

// TestLineFinder: what is looked for first is in all that matches, whatever the expression.
func TestLineFinder(t *testing.T) {
	const text = "func One() {}\nFUNC two\n\ta.Error(\"x\")\nkelvin \u212a and long \u017f\ns K\nÄrger " +
		"ärger\nTODO\nfixme FIXME\nabcabc\n\n  \nlast"
	for _, pattern := range []string{
		"func", "(?i)func", "(?i)k", "(?i)s", "(?i)long s", "(?i)skel", "(?i)kelvin", "(?i)ärger", "TODO|FIXME",
		"(?i)todo|fixme", "(?i:todo)|FIXME", "a|ä", "(?i)x|ä", "(abc){2}", "(abc)+", "(abc)*", "(abc)?last",
		`\w+Error`, `f.*c`, "[fF]unc", "^$", `^\s*$`, "", ".", "x{0}", "(?i)FIX(me)", "last$", "^last", `\blast\b`,
		"One|two|TODO|last|abc", "nothing", `(?i)e\("X"`, "q*", "[[:upper:]]{4}", "a.?b", "",
	} {
		f := newLineFinder(pattern, regexp.MustCompile(pattern))
		for _, ending := range []string{"\n", "\r\n", "\r"} {
			data := strings.ReplaceAll(text, "\n", ending)
			_, got := f.find([]byte(data))
			if want := f.each([]byte(data)); !slices.Equal(got, want) {
				t.Errorf("%q with %q: %v, want %v", pattern, ending, got, want)
			}
		}
	}
	for pattern, want := range map[string]string{
		`func \w+Error\(`: "Error(", "(?i)deprecated": "deprecated", "(?i)sick ducks": "ic duc",
		"TODO|FIXME": "TODO FIXME", "a+b": "a", `\w`: "", "(?:ab|[cd])": "", "(?i:x)|ä": "",
	} {
		var got []string
		for _, n := range newLineFinder(pattern, regexp.MustCompile(pattern)).needles {
			got = append(got, string(n.text))
		}
		if strings.Join(got, " ") != want && !(pattern == "(?i)sick ducks" && len(got) == 1) {
			t.Errorf("%q needs %q, want %q", pattern, got, want)
		}
	}
}
