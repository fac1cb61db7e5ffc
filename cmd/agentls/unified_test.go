package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/workspace"
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
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
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
	plain := workspace.Format{Encoding: "utf-8"}
	for _, test := range []struct {
		name, file string
		format     workspace.Format
		edit       workspace.FileEdit
	}{
		{"replace a word", "a.txt", plain, workspace.FileEdit{Before: "one\ntwo\nthree\n", Edits: []workspace.Edit{{Start: 4, End: 7, New: "2"}}}},
		{"append behind a line without an end", "a.txt", plain, workspace.FileEdit{Before: "one", Edits: []workspace.Edit{{Start: 3, End: 3, New: "\ntwo"}}}},
		{"add the end of the last line", "a.txt", plain, workspace.FileEdit{Before: "one", Edits: []workspace.Edit{{Start: 3, End: 3, New: "\n"}}}},
		{"take the end of the last line", "a.txt", plain, workspace.FileEdit{Before: "one\n", Edits: []workspace.Edit{{Start: 3, End: 4}}}},
		{"join lines", "a.txt", plain, workspace.FileEdit{Before: "one\ntwo\nthree\n", Edits: []workspace.Edit{{Start: 3, End: 4}}}},
		{"fill an empty file", "a.txt", plain, workspace.FileEdit{Edits: []workspace.Edit{{New: "one\n"}}}},
		{"empty a file", "a.txt", plain, workspace.FileEdit{Before: "one\n", Edits: []workspace.Edit{{End: 4}}}},
		{"byte order mark", "a.txt", workspace.Format{Encoding: "utf-8", BOM: true}, workspace.FileEdit{Before: "one\ntwo\n", Edits: []workspace.Edit{{End: 3, New: "1"}}}},
		{"carriage returns", "a.txt", plain, workspace.FileEdit{Before: "one\r\ntwo\rthree\r\n", Edits: []workspace.Edit{{Start: 5, End: 9, New: "2\r"}}}},
		{"spaces in the name", "a folder/b c.txt", plain, workspace.FileEdit{Before: "one\n", Edits: []workspace.Edit{{End: 3, New: "1"}}}},
		{"quotes and controls in the name", "a\"\\\tb\n.txt", plain, workspace.FileEdit{Before: "one\n", Edits: []workspace.Edit{{End: 3, New: "1"}}}},
		{"beyond ASCII", "größe.txt", plain, workspace.FileEdit{Before: "Maß\n", Edits: []workspace.Edit{{Start: 0, End: 4, New: "Meter"}}}},
		{"create", "new/a.txt", plain, workspace.FileEdit{Create: true, Edits: []workspace.Edit{{New: "one\ntwo"}}}},
		{"create empty", "a.txt", plain, workspace.FileEdit{Create: true}},
		{"delete", "a.txt", plain, workspace.FileEdit{Delete: true, Before: "one\ntwo\n"}},
		{"delete empty", "a.txt", plain, workspace.FileEdit{Delete: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before, err := encodeText(test.edit.Before, test.format)
			if err != nil {
				t.Fatal(err)
			}
			want, err := encodeText(applyEdits(test.edit), test.format)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := gitApply(t, test.file, string(before), !test.edit.Create, unified(test.file, workspace.File{Format: test.format}, test.edit))
			if ok == test.edit.Delete || ok && got != string(want) {
				t.Errorf("git apply made %q (%v), want %q", got, ok, want)
			}
		})
	}
}

// TestUnifiedAtRandom compares what git apply makes of a diff with the edits themselves.
func TestUnifiedAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "\n", "a\r\n", "c\rd\n", "b", " \n", "- x\n", "\\\n", "@@ -1 +1 @@\n"})
		before := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "")
		places := rapid.SliceOfN(rapid.IntRange(0, len(before)), 2, 8).Draw(t, "places")
		slices.Sort(places)
		edit := workspace.FileEdit{Before: before}
		for i := 0; i+1 < len(places); i += 2 {
			text := strings.Join(rapid.SliceOfN(line, 0, 3).Draw(t, "new"), "")
			edit.Edits = append(edit.Edits, workspace.Edit{Start: places[i], End: places[i+1], New: text})
		}
		want := applyEdits(edit)
		diff := unified("f", workspace.File{Format: workspace.Format{Encoding: "utf-8"}}, edit)
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
