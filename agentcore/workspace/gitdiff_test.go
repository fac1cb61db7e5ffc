package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkout is a folder with files in it, maybe in a repository, that diffs are applied to with the real git.
type checkout struct {
	top, dir string
}

func (c checkout) git(args []string, stdin string) error {
	git := exec.Command("git", args...)
	git.Dir = c.dir
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.top),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	git.Stdin = strings.NewReader(stdin)
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// files returns what is in the folder, by name, an executable with a mark in front.
func (c checkout) files() (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := string(data)
		if info.Mode()&0o100 != 0 {
			text = "executable: " + text
		}
		found[slashName(c.dir, path)] = text
		return nil
	})
	return found, err
}

// diffCase is a folder before and after edits. Paths of edits are relative.
type diffCase struct {
	name  string
	files map[string]string // "executable: " in front of a text sets the mode
	edits []FileEdit
	want  map[string]string
}

// check applies the diff of a case forwards and looks whether it goes backwards from there.
func (d diffCase) check(dir string, repository bool, below string) error {
	c := checkout{top: dir, dir: filepath.Join(dir, filepath.FromSlash(below))}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	if repository {
		if err := (checkout{dir, dir}).git([]string{"init", "-q"}, ""); err != nil {
			return err
		}
	}
	for name, text := range d.files {
		path := filepath.Join(c.dir, filepath.FromSlash(name))
		text, executable := strings.CutPrefix(text, "executable: ")
		mode := os.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			return err
		}
	}
	base := NewDiffBase(c.dir)
	var diff strings.Builder
	ordered, cyclic := Ordered(d.edits)
	for _, e := range append(ordered, cyclic...) {
		format := Format{Encoding: "utf-8", Mode: 0o644}
		text, executable := strings.CutPrefix(d.files[e.Path], "executable: ")
		if executable {
			format.Mode = 0o755
		}
		e.Before = text
		e.Path = filepath.Join(c.dir, filepath.FromSlash(e.Path))
		if e.MoveTo != "" {
			e.MoveTo = filepath.Join(c.dir, filepath.FromSlash(e.MoveTo))
		}
		diff.WriteString(e.Diff(base, format))
	}
	if err := c.git([]string{"apply", "--whitespace=nowarn"}, diff.String()); err != nil {
		return fmt.Errorf("%w\n%s", err, diff.String())
	}
	got, err := c.files()
	if err != nil {
		return err
	}
	if difference := cmp.Diff(d.want, got); difference != "" {
		return fmt.Errorf("git made other files of it (-want +got):\n%s\n%s", difference, diff.String())
	}
	if err := c.git([]string{"apply", "--whitespace=nowarn", "--check", "-R"}, diff.String()); err != nil {
		return fmt.Errorf("%w\n%s", err, diff.String())
	}
	return nil
}

func TestDiffWithGit(t *testing.T) {
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, d := range []diffCase{
		{
			"edit",
			map[string]string{"a.txt": ten},
			[]FileEdit{{Path: "a.txt", Edits: []Edit{{Start: 2, End: 3, New: "two"}}}},
			map[string]string{"a.txt": strings.Replace(ten, "2", "two", 1)},
		},
		{
			"create", nil,
			[]FileEdit{{Path: "sub/new file.txt", Create: true, Edits: []Edit{{New: "one\ntwo"}}}},
			map[string]string{"sub/new file.txt": "one\ntwo"},
		},
		{
			"create an empty file", nil,
			[]FileEdit{{Path: "sub/empty", Create: true}},
			map[string]string{"sub/empty": ""},
		},
		{
			"delete",
			map[string]string{"a.txt": ten, "b": "x"},
			[]FileEdit{{Path: "a.txt", Delete: true}},
			map[string]string{"b": "x"},
		},
		{
			"delete an empty file",
			map[string]string{"a": "", "b": "x"},
			[]FileEdit{{Path: "a", Delete: true}},
			map[string]string{"b": "x"},
		},
		{
			"delete an empty executable",
			map[string]string{"a": "executable: ", "b": "x"},
			[]FileEdit{{Path: "a", Delete: true}},
			map[string]string{"b": "x"},
		},
		{
			"rename",
			map[string]string{"a.txt": ten},
			[]FileEdit{{Path: "a.txt", MoveTo: "sub/b.txt"}},
			map[string]string{"sub/b.txt": ten},
		},
		{
			"rename an executable and edit it",
			map[string]string{"bin/run": "executable: " + ten},
			[]FileEdit{{Path: "bin/run", MoveTo: "start", Edits: []Edit{{Start: 2, End: 3, New: "two"}}}},
			map[string]string{"start": "executable: " + strings.Replace(ten, "2", "two", 1)},
		},
		{
			"rename an empty file",
			map[string]string{"a": ""},
			[]FileEdit{{Path: "a", MoveTo: "b"}},
			map[string]string{"b": ""},
		},
		{
			"rename in a chain",
			map[string]string{"a": "1\n", "b": "2\n"},
			[]FileEdit{{Path: "a", MoveTo: "b"}, {Path: "b", MoveTo: "c"}},
			map[string]string{"b": "1\n", "c": "2\n"},
		},
		{
			"rename and make the old name again",
			map[string]string{"a": ten},
			[]FileEdit{{Path: "a", MoveTo: "b"}, {Path: "new", Create: true, Edits: []Edit{{New: "n\n"}}}},
			map[string]string{"b": ten, "new": "n\n"},
		},
		{
			"strange names",
			map[string]string{"with space": ten, `quote"d`: ten, "tab\tbed": ten, "äöü 😀": ten, `back\slash`: ten},
			[]FileEdit{
				{Path: "with space", MoveTo: "more space s"},
				{Path: `quote"d`, Edits: []Edit{{Start: 2, End: 3, New: "two"}}},
				{Path: "tab\tbed", MoveTo: `tab"bed`, Edits: []Edit{{Start: 2, End: 3, New: "two"}}},
				{Path: "äöü 😀", MoveTo: "ß/å"},
				{Path: `back\slash`, Delete: true},
			},
			map[string]string{
				"more space s": ten,
				`quote"d`:      strings.Replace(ten, "2", "two", 1),
				`tab"bed`:      strings.Replace(ten, "2", "two", 1),
				"ß/å":          ten,
			},
		},
		{
			"CRLF and no last line end",
			map[string]string{"a.txt": "1\r\n2\r\n3"},
			[]FileEdit{
				{
					Path:   "a.txt",
					MoveTo: "b.txt",
					Edits:  []Edit{{Start: 3, End: 4, New: "two"}, {Start: 7, End: 7, New: "rd"}},
				},
			},
			map[string]string{"b.txt": "1\r\ntwo\r\n3rd"},
		},
	} {
		for _, where := range []struct {
			name, below string
			repository  bool
		}{{"a plain folder", "", false}, {"a repository", "", true}, {"a folder of a repository", "deep/er", true}} {
			t.Run(d.name+" in "+where.name, func(t *testing.T) {
				if err := d.check(t.TempDir(), where.repository, where.below); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestDiffOfAnyText renames and changes texts with every kind of line end.
func TestDiffOfAnyText(t *testing.T) {
	line := rapid.StringMatching(`[ab \t]{0,3}(\n|\r\n|\n\n)`)
	texts := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "")
		return text + rapid.SampledFrom([]string{"", "end", "end\r"}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := texts.Draw(t, "before"), texts.Draw(t, "after")
		var edits []Edit
		x, y := NewIndex(before), NewIndex(after)
		for _, p := range Diff(before, after) {
			edits = append(edits, Edit{x.Start(p.Start), x.Start(p.End), y.Slice(p.NewStart, p.NewEnd)})
		}
		move := ""
		name := "a"
		if rapid.Bool().Draw(t, "rename") {
			move, name = "b", "b"
		}
		if move == "" && before == after {
			return
		}
		d := diffCase{
			files: map[string]string{"a": before},
			edits: []FileEdit{{Path: "a", MoveTo: move, Edits: edits}},
			want:  map[string]string{name: after},
		}
		dir, err := os.MkdirTemp("", "agentls-diff-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := d.check(dir, false, ""); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOrdered(t *testing.T) {
	ordered, cyclic := Ordered([]FileEdit{
		{Path: "a", MoveTo: "b"},
		{Path: "b", MoveTo: "c"},
		{Path: "c", Delete: true},
		{Path: "d", MoveTo: "e"},
		{Path: "e", MoveTo: "d"},
		{Path: "new", Create: true},
		{Path: "z"},
		{Path: "f.go", MoveTo: "F.go"},
	})
	names := func(edits []FileEdit) string {
		var list []string
		for _, e := range edits {
			list = append(list, e.Path)
		}
		return strings.Join(list, " ")
	}
	if got := names(ordered); got != "c z b a f.go new" {
		t.Errorf("the order is %s", got)
	}
	if got := names(cyclic); got != "d e" {
		t.Errorf("the cycle is %s", got)
	}
}
