package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/beneath"
	"github.com/agentls/agentls/agentcore/beside"
)

// scannedTexts are the files that Scan yields, with their texts or what is wrong with them.
func scannedTexts(t *testing.T, l *Layer, dir string) []string {
	t.Helper()
	var list []string
	for file, err := range Scan(t.Context(), l, dir, func(string) bool { return true },
		func(_ string, data []byte) string { return string(data) }) {
		if err != nil {
			t.Fatal(err)
		}
		line := l.View().Relative(file.Path) + ": " + file.Result
		var problem *FileError
		if errors.As(file.Err, &problem) {
			line += string(problem.Kind)
		}
		list = append(list, line)
	}
	return list
}

// walkedTexts are the same by List and Read, folder by folder, in the order of Walk, which lists the same.
func walkedTexts(t *testing.T, l *Layer, dir string) []string {
	t.Helper()
	var want []Entry
	var below func(dir string, rules ignores)
	below = func(dir string, rules ignores) {
		entries, err := l.List(dir)
		if err != nil {
			return
		}
		rules = rules.enter(dir, isRepository(dir), excludes(l, filepath.Join(dir, ".gitignore")))
		for _, e := range entries {
			if strings.EqualFold(filepath.Base(e.Path), ".git") || rules.ignored(e.Path, e.Dir) {
				continue
			}
			want = append(want, e)
			if e.Dir && !l.view.isLink(e.Path) {
				below(e.Path, rules)
			}
		}
	}
	r, _ := l.view.locate(dir)
	below(dir, ignoresAbove(l, r, dir))
	var entries []Entry
	for e, err := range l.Walk(t.Context(), dir, WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
		if info, err := os.Lstat(e.Path); e.Plain && (err != nil || info.Mode()&os.ModeSymlink != 0) {
			t.Errorf("%s is plain, but %v, %v", e.Path, info, err)
		}
	}
	if !slices.Equal(entries, want) {
		t.Errorf("walked %v\nlisted %v", entries, want)
	}
	var list []string
	for _, e := range entries {
		if e.Dir {
			continue
		}
		file, err := l.Fork().Read(e.Path)
		line := l.View().Relative(e.Path) + ": " + file.Text
		var problem *FileError
		if errors.As(err, &problem) {
			if problem.Kind != Binary && problem.Kind != TooLarge {
				continue
			}
			line += string(problem.Kind)
		}
		list = append(list, line)
	}
	return list
}

// TestScanIsWalkAndRead: what is scanned is what is listed and read one by one, whatever documents and layers show.
func TestScanIsWalkAndRead(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.log\nout/\n!keep.log\n", "a.go": "a\n", "x.log": "", "keep.log": "kept\n", "out/x": "",
		".env": "KEY=1\n", "bin": "a\x00b", "bom": "\ufeffmarked\n", "utf16": "\xff\xfea\x00\n\x00", "empty": "",
		"sub/.gitignore": "*.tmp\n", "sub/b.go": "b\n", "sub/c.tmp": "", "sub/deep/d.go": "d\n", "z/e.go": "e\n",
		"a-b": "", "a/b": "ab\n", ".git/HEAD": "ref: x\n", "big": strings.Repeat("b", 300),
	}
	for i := range 50 {
		files[fmt.Sprintf("many/f%02d", i)] = fmt.Sprintln(i)
	}
	_, dir := open(t, files)
	v, err := Open([]Root{{Path: dir}}, Options{MaxFileSize: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for name, to := range map[string]string{
		"link.go": "a.go", "folder": "sub", "out.go": "/etc/hostname", "dangling": "nowhere", "env": ".env",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(7, 8))
	names := []string{
		"a.go", "sub/b.go", "sub/deep/d.go", "many/f07", "z/e.go", "new.go", "new/deep/f.go", "sub/new.tmp", "out/new",
		"a/c",
	}
	for round := range 60 {
		s := v.NewProposal(ProposalOptions{})
		layer := s.Fork()
		for range random.IntN(6) {
			path := filepath.Join(dir, names[random.IntN(len(names))])
			file, err := layer.Read(path)
			switch random.IntN(4) {
			case 0:
				v.SetDocument(path, fmt.Sprintf("typed %d\n", round), 1)
				defer v.CloseDocument(path)
			case 1:
				if err == nil {
					_ = layer.Delete(path, file.Stamp, Author{}) // what may not be deleted stays
				}
			default:
				// what may not be written stays
				_, _ = layer.Write(path, fmt.Sprintf("written %d\n", round), file.Stamp, Author{})
			}
			layer.NextTurn()
		}
		if random.IntN(3) == 0 {
			v.SetDocument(filepath.Join(dir, ".gitignore"), "many/\nz\n", 1)
		}
		for _, start := range []string{dir, filepath.Join(dir, "sub"), filepath.Join(dir, "many")} {
			got, want := scannedTexts(t, layer, start), walkedTexts(t, layer, start)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, %s:\nscanned %q\nwalked  %q", round, start, got, want)
			}
			var listed []string
			for file, err := range Scan[string](t.Context(), layer, start,
				func(path string) bool { return strings.HasSuffix(path, ".go") }, nil) {
				if err != nil {
					t.Fatal(err)
				}
				listed = append(listed, v.Relative(file.Path))
			}
			all := slices.DeleteFunc(walked(t, layer, start, WalkOptions{}),
				func(name string) bool { return !strings.HasSuffix(name, ".go") })
			if slices.Sort(listed); !slices.Equal(listed, all) {
				t.Fatalf("round %d: listed %q, want %q", round, listed, all)
			}
		}
		v.CloseDocument(filepath.Join(dir, ".gitignore"))
		s.Close()
	}
}

func TestScanEnds(t *testing.T) {
	files := map[string]string{"latin": "caf\xe9\n"}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%03d", i/20, i)] = "x\n"
	}
	v, dir := open(t, files)
	layer := v.NewProposal(ProposalOptions{}).Fork()
	all := func(string) bool { return true }
	n := 0
	for range Scan(t.Context(), layer, dir, all, func(string, []byte) int { return 1 }) {
		if n++; n == 30 {
			break // its goroutines end all the same
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	for file, err := range Scan(ctx, layer, dir, all, func(string, []byte) int { cancel(); return 1 }) {
		if last = err; err == nil && file.Path == "" {
			t.Error("a file without a path")
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a cancelled scan ended with %v", last)
	}
	for _, start := range []string{"latin", "none", "../x"} {
		last = nil
		for _, err := range Scan(t.Context(), layer, filepath.Join(dir, start),
			all, func(string, []byte) int { return 1 }) {
			last = err
		}
		if last == nil {
			t.Errorf("%s can be scanned", start)
		}
	}
	// What is no UTF-8 but has no zero byte is searched as it is, as ripgrep does.
	if got := scannedTexts(t, layer, dir); !slices.Contains(got, "latin: caf\xe9\n") {
		t.Errorf("got %q", got)
	}
}

// TestIgnoredAgainstCheckIgnore asks git about each single path.
func TestIgnoredAgainstCheckIgnore(t *testing.T) {
	paths := []string{
		"a", "b", "abc/a", "abc/keep", "abc/d/keep", "abc/d/a", "1", "x1y", "xay", "d/1", "d/e/abc/keep", "keep", "a ",
		"a b", "#a", "!a", "\\", "a\\b", "[a]", "d/e/f/g.go", "d/e/g.go", "g.go", "G.go", "ä", "d/ä",
	}
	folders := []string{"abc", "abc/d", "d", "d/e", "d/e/abc", "d/e/f"}
	lists := [][]string{
		{"abc/**", "!abc/keep"},
		{"abc/*", "!abc/keep"},
		{"abc/", "!abc/keep"},
		{"[!x]"},
		{"[!x]*", "![[:digit:]]"},
		{"*[[:digit:]]*", "!/x1y"},
		{"a\\ ", "a b"},
		{"a "},
		{"a   ", "\\#a", "\\!a"},
		{"\\\\", "a\\\\b", "\\[a\\]"},
		{"**/abc/**", "!**/keep"},
		{"/*", "!/abc", "/abc/*", "!/abc/keep"},
		{"d/**/g.go", "!d/e/g.go"},
		{"*", "!*/", "!*.go"},
		{"*.go", "![a-f].go", "!d/"},
		{"?", "!a"},
		{"[[:alpha:]]", "[]]", "[a-"},
		{"d/*", "!d/e"},
		{"ä", "!/d/ä"},
		{"[ä]"},
	}
	files := map[string]string{}
	for _, name := range paths {
		files[name] = ""
	}
	v, dir := open(t, files)
	repository(t, dir)
	environment := gitEnvironment(t)
	layer := v.NewProposal(ProposalOptions{}).Fork()
	random := rand.New(rand.NewPCG(9, 10))
	for round := range len(lists) + 60 {
		ignores := map[string]string{}
		if round < len(lists) {
			ignores[".gitignore"] = strings.Join(lists[round], "\n") + "\n"
		} else {
			for _, name := range []string{".gitignore", "abc/.gitignore", "d/.gitignore", "d/e/.gitignore"} {
				if random.IntN(2) == 0 {
					ignores[name] = strings.Join(lists[random.IntN(len(lists))], "\n") +
						"\r\n" + strings.Join(lists[random.IntN(len(lists))], "\n")
				}
			}
		}
		for name, text := range ignores {
			put(t, filepath.Join(dir, name), text)
		}
		command := exec.CommandContext(t.Context(), "git", "check-ignore", "--no-index", "-z", "--stdin")
		command.Dir, command.Env = dir, environment
		command.Stdin = strings.NewReader(strings.Join(append(slices.Clone(paths), folders...), "\x00"))
		out, err := command.Output()
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: none is ignored
			t.Fatal(err)
		}
		want := strings.Split(string(out), "\x00")
		ignored := layer.Ignored()
		for i, name := range append(slices.Clone(paths), folders...) {
			if got := ignored.Has(filepath.Join(dir, name), i >= len(paths)); got != slices.Contains(want, name) {
				t.Errorf("%q: %s is ignored: %v, and for git %v", ignores, name, got, !got)
			}
		}
		for name := range ignores {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestScanPanics: a panic over one file is the caller's, who can answer for it, and the scan ends.
func TestScanPanics(t *testing.T) {
	v, dir := open(t, map[string]string{"a/one": "x", "b/two": "x", "c/three": "x"})
	layer := v.NewProposal(ProposalOptions{}).Fork()
	read := func(path string, _ []byte) string {
		if filepath.Base(path) == "two" {
			panic("injected")
		}
		return path
	}
	defer func() {
		if p, ok := recover().(*beside.Panic); !ok || p.Value != "injected" {
			t.Errorf("raised is %v", p)
		}
	}()
	for _, err := range Scan(t.Context(), layer, dir, func(string) bool { return true }, read) {
		if err != nil {
			break
		}
	}
	t.Error("the scan ended as if nothing had happened")
}

// TestScanCalls: each folder is opened once, whatever its depth, and the start twice; what is in it is not looked at,
// and a file is opened where it is read.
func TestScanCalls(t *testing.T) {
	dir := t.TempDir()
	const folders, files = 3 + 40, 40 * 25
	for i := range files {
		name := filepath.Join(dir, fmt.Sprintf("a/b/c/d%d/f%d", i%40, i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte("text"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Open([]Root{{Path: dir}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	l := v.NewProposal(ProposalOptions{}).Fork()
	r, _ := v.locate(dir)
	below, err := r.folders()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		do   func() int
		want beneath.Calls
		n    int
	}{
		{"walk", func() (n int) {
			for range l.Walk(t.Context(), dir, WalkOptions{}) {
				n++
			}
			return n
		}, beneath.Calls{Folders: 2 + folders}, folders + files},
		{"walk two levels", func() (n int) {
			for range l.Walk(t.Context(), dir, WalkOptions{Depth: 2}) {
				n++
			}
			return n
		}, beneath.Calls{Folders: 3}, 2},
		{"names", func() (n int) {
			for range Scan[struct{}](t.Context(), l, dir, func(string) bool { return true }, nil) {
				n++
			}
			return n
		}, beneath.Calls{Folders: 2 + folders}, files},
		{
			"texts", func() int { return len(scannedTexts(t, l, dir)) },
			beneath.Calls{Folders: 2 + folders, Files: files},
			files,
		},
	} {
		before := below.Calls()
		n := test.do()
		after := below.Calls()
		got := beneath.Calls{
			Folders: after.Folders - before.Folders,
			Looks:   after.Looks - before.Looks,
			Files:   after.Files - before.Files,
		}
		if n != test.n || got != test.want {
			t.Errorf("%s: %d with %+v, want %d with %+v", test.name, n, got, test.n, test.want)
		}
	}
}
