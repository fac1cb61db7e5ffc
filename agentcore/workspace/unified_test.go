package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// gitApply applies a diff to a file in an empty folder with the real git, and returns what is there then; ok is
// false where there is no file.
func gitApply(t interface {
	Helper()
	Fatalf(string, ...any)
}, name, before string, exists bool, diff string,
) (after string, ok bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "agentls-diff-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	if exists {
		if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
	}
	git := exec.Command("git", "apply", "--whitespace=nowarn")
	git.Dir = dir
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	git.Stdin = strings.NewReader(diff)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%q\n%s", err, out, before, diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	return string(text), true
}

func TestUnifiedWithGit(t *testing.T) {
	plain := Format{Encoding: "utf-8"}
	for _, test := range []struct {
		name, file string
		format     Format
		edit       FileEdit
	}{
		{
			"replace a word", "a.txt", plain,
			FileEdit{Before: "one\ntwo\nthree\n", Edits: []Edit{{Start: 4, End: 7, New: "2"}}},
		},
		{
			"append behind a line without an end", "a.txt", plain,
			FileEdit{Before: "one", Edits: []Edit{{Start: 3, End: 3, New: "\ntwo"}}},
		},
		{
			"add the end of the last line", "a.txt", plain,
			FileEdit{Before: "one", Edits: []Edit{{Start: 3, End: 3, New: "\n"}}},
		},
		{"take the end of the last line", "a.txt", plain, FileEdit{Before: "one\n", Edits: []Edit{{Start: 3, End: 4}}}},
		{"join lines", "a.txt", plain, FileEdit{Before: "one\ntwo\nthree\n", Edits: []Edit{{Start: 3, End: 4}}}},
		{"fill an empty file", "a.txt", plain, FileEdit{Edits: []Edit{{New: "one\n"}}}},
		{"empty a file", "a.txt", plain, FileEdit{Before: "one\n", Edits: []Edit{{End: 4}}}},
		{
			"byte order mark", "a.txt",
			Format{Encoding: "utf-8", BOM: true},
			FileEdit{Before: "one\ntwo\n", Edits: []Edit{{End: 3, New: "1"}}},
		},
		{
			"carriage returns", "a.txt", plain,
			FileEdit{Before: "one\r\ntwo\rthree\r\n", Edits: []Edit{{Start: 5, End: 9, New: "2\r"}}},
		},
		{"spaces in the name", "a folder/b c.txt", plain, FileEdit{Before: "one\n", Edits: []Edit{{End: 3, New: "1"}}}},
		{
			"quotes and controls in the name", "a\"\\\tb\n.txt", plain,
			FileEdit{Before: "one\n", Edits: []Edit{{End: 3, New: "1"}}},
		},
		{
			"beyond ASCII", "größe.txt", plain,
			FileEdit{Before: "Maß\n", Edits: []Edit{{Start: 0, End: 4, New: "Meter"}}},
		},
		{"create", "new/a.txt", plain, FileEdit{Create: true, Edits: []Edit{{New: "one\ntwo"}}}},
		{"create empty", "a.txt", plain, FileEdit{Create: true}},
		{"delete", "a.txt", plain, FileEdit{Delete: true, Before: "one\ntwo\n"}},
		{"delete empty", "a.txt", plain, FileEdit{Delete: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before, err := test.format.Encode(test.edit.Before)
			if err != nil {
				t.Fatal(err)
			}
			want, err := test.format.Encode(test.edit.After())
			if err != nil {
				t.Fatal(err)
			}
			got, ok := gitApply(t, test.file, string(before),
				!test.edit.Create, test.edit.Unified(test.file, test.format))
			if ok == test.edit.Delete || ok && got != string(want) {
				t.Errorf("git apply made %q (%v), want %q", got, ok, want)
			}
		})
	}
}

// TestUnifiedAtRandom compares what git apply makes of a diff with the edits themselves.
func TestUnifiedAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{
			"a\n", "b\n", "\n", "a\r\n", "c\rd\n", "b", " \n", "- x\n", "\\\n", "@@ -1 +1 @@\n",
		})
		before := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "")
		places := rapid.SliceOfN(rapid.IntRange(0, len(before)), 2, 8).Draw(t, "places")
		slices.Sort(places)
		edit := FileEdit{Before: before}
		for i := 0; i+1 < len(places); i += 2 {
			text := strings.Join(rapid.SliceOfN(line, 0, 3).Draw(t, "new"), "")
			edit.Edits = append(edit.Edits, Edit{Start: places[i], End: places[i+1], New: text})
		}
		want := edit.After()
		diff := edit.Unified("f", Format{Encoding: "utf-8"})
		if diff == "" {
			if want != before {
				t.Fatalf("no diff between %q and %q", before, want)
			}
			return
		}
		if got, ok := gitApply(t, "f", before, true, diff); !ok || got != want {
			t.Fatalf("git apply made %q (%v) of %q, want %q\n%s", got, ok, before, want, diff)
		}
	})
}
