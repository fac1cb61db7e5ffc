package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitFiles lists what git would add in a folder that is a repository.
func gitFiles(t *testing.T, dir string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--others", "--exclude-standard")
	command.Dir = dir
	command.Env = gitEnvironment(t)
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Split(strings.TrimSuffix(string(output), "\x00"), "\x00")
	if files[0] == "" {
		return nil
	}
	slices.Sort(files)
	return files
}

func gitEnvironment(t *testing.T) []string {
	home := t.TempDir()
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_SYSTEM="+os.DevNull, "HOME="+home, "XDG_CONFIG_HOME="+home)
}

// walked lists the files that Walk yields, as slash paths.
func walked(t *testing.T, l *Layer, dir string, o WalkOptions) []string {
	t.Helper()
	var files []string
	for e, err := range l.Walk(t.Context(), dir, o) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.Dir {
			files = append(files, l.View().Relative(e.Path))
		}
	}
	slices.Sort(files)
	return files
}

func repository(t *testing.T, dir string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "init", "-q")
	command.Dir = dir
	command.Env = gitEnvironment(t)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

func TestIgnoreAgainstGit(t *testing.T) {
	names := []string{
		"a", "b", "ab", "abc", "a.go", "b.go", "x.txt", "a b", "a1", "A", "!a", "#a", "a[b", "a*b", "-", "]", "ä",
		"\\a", "trailing ", "d/a", "d/b", "d/ab", "d/a.go", "d/e/a", "d/e/b.go", "d/e/f/a", "d/e/f/x.txt", "e/a",
		"e/d/a", "e/d/b", "build/a", "build/keep/a", "d/build/b.go",
	}
	list := append(strings.Split(`a b ab a* *b ?b a? *.go !a.go !a !*.go * !*/ !d/ d d/ /d /a a/ d/a d/* d/*/a d/**/a **/a **/d/a d/** !d/e/ !d/e/** a/** **/build build/ `+
		`!build/ !build/keep [ab] [!ab] [^ab] [a-c] [!a-c]* a[[:digit:]] [[:upper:]] [[:alpha:]]* [[:nope:]] [[:alpha:] [ a[ a[b a\[b \!a \#a #a \a a\*b a** **b a**b d**a d/**a `+
		`**/ /** ** // / ! !! /*/ /*/* *.* .* !.gitignore */a */e d/e/f **/f/ f/** [a/b] d[/]a d?a d*a []] []-a] [!]] [\]] [a\-c] [-] [z-a] ä ? ?? [ä] \\a \\\\a a\ e/d/../a ./a`, " "),
		"a b", "a\\ b", "trailing ", "trailing\\ ", "a   ", "a\t", "\\", "")
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\n", "")
	}
	files := make(map[string]string)
	for _, name := range names {
		files[name] = ""
	}
	v, dir := open(t, files)
	repository(t, dir)
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	compare := func(ignores map[string]string) {
		t.Helper()
		for name, text := range ignores {
			put(t, filepath.Join(dir, name), text)
		}
		got, want := walked(t, layer, dir, WalkOptions{}), gitFiles(t, dir)
		if !slices.Equal(got, want) {
			t.Errorf("%q\nwe list  %q\ngit lists %q", ignores, got, want)
		}
		for name := range ignores {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pattern := range list {
		compare(map[string]string{".gitignore": pattern + "\n"})
	}
	random := rand.New(rand.NewPCG(5, 6))
	some := func() string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(list[random.IntN(len(list))])
			b.WriteString([]string{"\n", "\n", "\r\n"}[random.IntN(3)])
		}
		return b.String()
	}
	glob := func() string {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString([]string{
				"a", "b", "d", "e", "/", "*", "**", "**/", "?", "[a-e]", "[!a]", ".go", "!", "\\",
			}[random.IntN(14)])
		}
		return b.String() + "\n"
	}
	for range 250 {
		compare(map[string]string{".gitignore": glob() + glob()})
		ignores := map[string]string{".gitignore": some(), ".git/info/exclude": some()}
		for _, name := range []string{"d/.gitignore", "d/e/.gitignore", "build/.gitignore"} {
			if random.IntN(2) == 0 {
				ignores[name] = some()
			}
		}
		compare(ignores)
	}
}

func TestIgnoreOfTheRepositoryAround(t *testing.T) {
	_, top := open(t, map[string]string{
		".gitignore": "*.log\n/sub/top\nsub/in/deep\n!sub/keep.log\n", "sub/.gitignore": "*.tmp\n",
		"sub/in/.gitignore": "!x.tmp\n", "sub/a.log": "", "sub/keep.log": "", "sub/top": "", "sub/a.go": "",
		"sub/in/a.tmp": "", "sub/in/x.tmp": "", "sub/in/deep/x": "", "sub/in/more/x.log": "", "excluded": "",
		"sub/in/excluded": "",
	})
	repository(t, top)
	put(t, filepath.Join(top, ".git", "info", "exclude"), "excluded\n")
	for _, start := range []string{"sub", "sub/in"} {
		dir := filepath.Join(top, start)
		v, err := Open([]Root{{Path: dir}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		layer := v.NewProposal(ProposalOptions{}).Fork()
		if got, want := walked(t, layer, dir, WalkOptions{}), gitFiles(t, dir); !slices.Equal(got, want) ||
			len(got) < 2 {
			t.Errorf("%s: we list %q, git lists %q", start, got, want)
		}
	}
	// Somebody opened a folder that the repository around it ignores.
	put(t, filepath.Join(top, ".gitignore"), "*\n")
	v, err := Open([]Root{{Path: filepath.Join(top, "sub")}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	got := walked(t, v.NewProposal(ProposalOptions{}).Fork(), filepath.Join(top, "sub"), WalkOptions{})
	if len(got) != 10 {
		t.Errorf("got %q", got)
	}
}

func TestIgnoreOfALinkedWorkTree(t *testing.T) {
	v, dir := open(t, map[string]string{
		"main/.git/info/exclude":          "excluded\n",
		"main/.git/worktrees/w/commondir": "../..\n",
		"w/excluded":                      "",
		"w/a":                             "",
		"main/excluded":                   "",
		"main/sub/excluded":               "",
	})
	put(t, filepath.Join(dir, "w", ".git"), "gitdir: "+filepath.Join(dir, "main", ".git", "worktrees", "w")+"\n")
	put(t, filepath.Join(dir, ".gitignore"), "a\n") // of no repository that w belongs to
	got := walked(t, v.NewProposal(ProposalOptions{}).Fork(), dir, WalkOptions{})
	if want := []string{".gitignore", "w/a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWildmatchStaysQuick(t *testing.T) {
	// Without a memory of what failed, this takes longer than the age of the universe.
	if wildmatch(strings.Repeat("a*", 40)+"b", strings.Repeat("a", 400)) {
		t.Error("matched")
	}
	if wildmatch(strings.Repeat("**/a/", 20)+"b", strings.Repeat("a/", 100)) {
		t.Error("matched")
	}
}

func TestWalkShowsLayersAndObeysThem(t *testing.T) {
	v, dir := open(t, map[string]string{
		"a.go": "a\n", "gone.go": "g\n", "sub/b.go": "bb\n", ".gitignore": "*.log\n", "x.log": "", "sub/y.log": "",
	})
	s := v.NewProposal(ProposalOptions{})
	parent := s.Fork()
	write(t, parent, filepath.Join(dir, "new/deep/c.go"), "ccc\n", "")
	file, err := parent.Read(filepath.Join(dir, "gone.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Delete(filepath.Join(dir, "gone.go"), file.Stamp, Author{}); err != nil {
		t.Fatal(err)
	}
	merge(t, parent)
	v.SetDocument(filepath.Join(dir, "sub", "open.go"), "open\n", 1)
	v.SetDocument("untitled:Untitled-1", "", 1)
	layer := parent.Fork()
	write(t, layer, filepath.Join(dir, "sub", "b.go"), "longer\n", "")
	var got []string
	for e, err := range layer.Walk(t.Context(), dir, WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %v", v.Relative(e.Path), e.Dir))
	}
	want := []string{
		".gitignore false", "a.go false", "new true", "new/deep true", "new/deep/c.go false",
		"sub true", "sub/b.go false", "sub/open.go false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// An editor's unsaved .gitignore counts.
	v.SetDocument(filepath.Join(dir, ".gitignore"), "sub/\n", 1)
	got = walked(t, layer, dir, WalkOptions{Depth: 1})
	if !slices.Equal(got, []string{".gitignore", "a.go", "x.log"}) {
		t.Errorf("got %q", got)
	}
	got = walked(t, layer, filepath.Join(dir, "sub"), WalkOptions{})
	if !slices.Equal(got, []string{"sub/b.go", "sub/open.go", "sub/y.log"}) {
		t.Errorf("got %q", got)
	}
	if got := walked(t, layer, dir, WalkOptions{Ignored: true}); len(got) != 7 {
		t.Errorf("got %q", got)
	}
	entries, err := layer.List(filepath.Join(dir, "new"))
	if err != nil || len(entries) != 1 || !entries[0].Dir || filepath.Base(entries[0].Path) != "deep" {
		t.Errorf("got %+v, %v", entries, err)
	}
}
