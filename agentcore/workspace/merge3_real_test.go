package workspace

import (
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	word     = regexp.MustCompile(`[A-Za-z_]\w{3,}`)
	function = regexp.MustCompile(`(?m)^func (?s:.*?)\n}\n`)
	comment  = regexp.MustCompile(`(?m)^\t*//.*\n`)
	imports  = regexp.MustCompile(`(?m)^import \(\n`)
)

// rework edits a source file as people do.
func rework(random *rand.Rand, source string) string {
	pick := func(found [][]int) []int {
		if len(found) == 0 {
			return []int{0, 0}
		}
		return found[random.IntN(len(found))]
	}
	switch random.IntN(8) {
	case 0: // an identifier has another name
		at := pick(word.FindAllStringIndex(source, -1))
		name := source[at[0]:at[1]]
		return regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(source, name+"Renamed")
	case 1: // a block stands deeper
		at := pick(function.FindAllStringIndex(source, -1))
		block := source[at[0]:at[1]]
		return source[:at[0]] + "if true {\n\t" + strings.ReplaceAll(block, "\n", "\n\t") + "\n}\n" + source[at[1]:]
	case 2: // a function has moved
		at := pick(function.FindAllStringIndex(source, -1))
		rest := source[:at[0]] + source[at[1]:]
		to := pick(function.FindAllStringIndex(rest, -1))[1]
		return rest[:to] + "\n" + source[at[0]:at[1]] + rest[to:]
	case 3:
		at := pick(imports.FindAllStringIndex(source, -1))[1]
		return source[:at] + fmt.Sprintf("\t%q\n", fmt.Sprint("more", random.IntN(3))) + source[at:]
	case 4: // comments are gone
		keep := random.IntN(4)
		return comment.ReplaceAllStringFunc(source, func(line string) string {
			if random.IntN(4) < keep {
				return line
			}
			return ""
		})
	case 5: // a function was copied, and the copy changed
		at := pick(function.FindAllStringIndex(source, -1))
		return source[:at[1]] + "\n" + strings.Replace(source[at[0]:at[1]], "func ", "func other", 1) + source[at[1]:]
	case 6:
		at := pick(function.FindAllStringIndex(source, -1))
		return source[:at[0]] + source[at[1]:]
	}
	lines := slices.Collect(strings.Lines(source))
	for range 1 + random.IntN(8) {
		at := random.IntN(len(lines) + 1)
		lines = slices.Replace(lines, at, min(len(lines), at+random.IntN(3)),
			fmt.Sprintf("\tx%d := 1\n", random.IntN(3)), "\n")
	}
	return strings.Join(lines, "")
}

// sources returns the standard library's files.
func sources(t *testing.T) []string {
	t.Helper()
	var paths []string
	root := filepath.Join(build.Default.GOROOT, "src")
	if build.Default.GOROOT == "" { // a binary built with -trimpath does not know it
		output, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(strings.TrimSpace(string(output)), "src")
	}
	for _, below := range []string{
		"archive", "bufio", "bytes", "compress", "encoding", "go", "net", "os", "strings", "text",
	} {
		err := filepath.WalkDir(filepath.Join(root, below), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(paths) < 500 {
		t.Fatalf("%s has %d files only", root, len(paths))
	}
	return paths
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestMerge3OfSources has git judge merges of real files, edited as people edit.
func TestMerge3OfSources(t *testing.T) {
	paths := sources(t)
	var cases []triple
	for seed := range soak(60, 400, 5000) {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		path := paths[random.IntN(len(paths))]
		base := readText(t, path)
		ours, theirs := base, base
		for range 1 + random.IntN(2) {
			ours, theirs = rework(random, ours), rework(random, theirs)
		}
		cases = append(cases, triple{fmt.Sprintf("seed %d, %s", seed, path), base, ours, theirs})
	}
	n := judge(t, cases)
	t.Log(n)
	if all := len(cases); n.alike < all/4 || n.conflicts < all/10 || n.careful > n.alike/2 || n.contained > all/1000 {
		t.Errorf("the cases say little: %v", n)
	}
}

// TestMerge3OfHistories has git judge merges of versions that files really had: those in this repository's history, and
// in neighbouring versions of modules, as far as this machine has either.
func TestMerge3OfHistories(t *testing.T) {
	if n := soak(0, 0, 1); n == 0 {
		return // it takes minutes
	}
	for name, versions := range map[string][][]string{
		"repository": repositoryVersions(t), "modules": moduleVersions(t),
	} {
		var cases []triple
		for _, texts := range versions {
			for i := 2; i < len(texts); i++ {
				cases = append(cases,
					triple{name, texts[i-2], texts[i-1], texts[i]},
					triple{name, texts[i-1], texts[i-2], texts[i]})
			}
		}
		n := judge(t, cases)
		t.Logf("%s: %v", name, n)
		if n.careful > max(10, len(cases)/20) || n.contained > max(2, len(cases)/200) {
			t.Errorf("%s: too many conflicts: %v", name, n)
		}
	}
}

// repositoryVersions returns the texts of each Go file in the history of the repository, oldest first.
func repositoryVersions(t *testing.T) [][]string {
	t.Helper()
	git := func(args ...string) string {
		command := exec.CommandContext(t.Context(), "git", args...)
		output, err := command.Output()
		if err != nil {
			return "" // no repository, or a version in which the file was not there
		}
		return string(output)
	}
	var versions [][]string
	for name := range strings.Lines(git("ls-files", "--full-name", "../../*.go", "../../*.md")) {
		name = strings.TrimSpace(name)
		var texts []string
		for revision := range strings.Lines(git("log", "--reverse", "--format=%H", "--", ":/"+name)) {
			if text := git("show", strings.TrimSpace(revision)+":"+name); text != "" {
				texts = append(texts, text)
			}
		}
		versions = append(versions, texts)
	}
	return versions
}

// moduleVersions returns the texts of files that three or more versions of a module in the cache have.
func moduleVersions(t *testing.T) [][]string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(string(output))
	modules := map[string][]string{}
	_ = filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error { // no cache: no versions
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case path == filepath.Join(cache, "cache"):
			return filepath.SkipDir
		case strings.Contains(entry.Name(), "@"):
			module, _, _ := strings.Cut(path, "@")
			modules[module] = append(modules[module], path)
			return filepath.SkipDir
		}
		return nil
	})
	var versions [][]string
	for _, module := range slices.Sorted(maps.Keys(modules)) { // there is a bound: the same files each time
		dirs := modules[module]
		if len(dirs) < 2 {
			continue
		}
		_ = filepath.WalkDir(dirs[0], func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || len(versions) > 3000 {
				return nil
			}
			var texts []string
			for _, dir := range dirs {
				if data, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(path, dirs[0]))); err == nil {
					texts = append(texts, string(data))
				}
			}
			if len(texts) == 2 { // two versions and an edit of the first
				texts = append(texts, rework(rand.New(rand.NewPCG(1, uint64(len(versions)))), texts[0]))
				texts[0], texts[1] = texts[1], texts[0]
			}
			versions = append(versions, texts)
			return nil
		})
	}
	return versions
}

// TestMerge3OfTwoParts: what two sides change far from each other is merged without a conflict.
func TestMerge3OfTwoParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head, tail := texts("\n").Draw(t, "head")+"\n", texts("\n").Draw(t, "tail")
		newHead, newTail := texts("\n").Draw(t, "new head")+"\n", texts("\n").Draw(t, "new tail")
		middle := "middle 1\nmiddle 2\nmiddle 3\n"
		merged, conflicts := Merge3(head+middle+tail, newHead+middle+tail, head+middle+newTail)
		if want := newHead + middle + newTail; merged != want || len(conflicts) > 0 {
			t.Fatalf("got %q, %+v, want %q", merged, conflicts, want)
		}
	})
}
