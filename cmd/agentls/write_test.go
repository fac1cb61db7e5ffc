package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/workspace"
)

// writing is a folder with one file, and the edit of one word in it.
func writing(t *testing.T, name, content string) (folder *os.Root, path string, edit workspace.FileEdit) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return folder, path, workspace.FileEdit{
		Path: path, Before: "one two\n",
		Edits: []workspace.Edit{{Start: 4, End: 7, New: "2"}},
	}
}

var plainFormat = workspace.Format{Encoding: "utf-8"}

// holds expects a file's bytes, and that nothing else is left in its folder.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestWriteEncodings(t *testing.T) {
	text := "one two\n"
	units := func(text string, order func(uint16) []byte) string {
		data := order(0xfeff)
		for _, u := range utf16.Encode([]rune(text)) {
			data = append(data, order(u)...)
		}
		return string(data)
	}
	little := func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }
	big := func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }
	for _, test := range []struct {
		format       workspace.Format
		before, want string
	}{
		{plainFormat, text, "one 2\n"},
		{workspace.Format{Encoding: "utf-8", BOM: true}, "\ufeff" + text, "\ufeffone 2\n"},
		{workspace.Format{Encoding: "utf-16le", BOM: true}, units(text, little), units("one 2\n", little)},
		{workspace.Format{Encoding: "utf-16be", BOM: true}, units(text, big), units("one 2\n", big)},
	} {
		folder, path, edit := writing(t, "a.txt", test.before)
		if err := writeEdit(folder, folder.Name(), edit, test.format); err != nil {
			t.Errorf("%+v: %v", test.format, err)
		}
		holds(t, path, test.want)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o640 {
			t.Errorf("the mode became %v", info.Mode())
		}
	}
}

func TestWriteRefusals(t *testing.T) {
	t.Run("changed meanwhile", func(t *testing.T) {
		folder, path, edit := writing(t, "a.txt", "one two three\n")
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil ||
			!strings.Contains(err.Error(), "changed meanwhile") {
			t.Errorf("the error is %v", err)
		}
		holds(t, path, "one two three\n")
	})
	t.Run("deleted meanwhile", func(t *testing.T) {
		folder, path, edit := writing(t, "a.txt", "")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil ||
			!strings.Contains(err.Error(), "changed meanwhile") {
			t.Errorf("the error is %v", err)
		}
		if exists(path) {
			t.Error("the file is back")
		}
	})
	t.Run("created meanwhile", func(t *testing.T) {
		folder, path, edit := writing(t, "a.txt", "mine\n")
		edit = workspace.FileEdit{Path: edit.Path, Create: true, Edits: []workspace.Edit{{New: "theirs\n"}}}
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil ||
			!strings.Contains(err.Error(), "there is such a file now") {
			t.Errorf("the error is %v", err)
		}
		holds(t, path, "mine\n")
	})
	t.Run("another encoding meanwhile", func(t *testing.T) {
		folder, path, edit := writing(t, "a.txt", "\ufeffone two\n")
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil {
			t.Error("there is no error")
		}
		holds(t, path, "\ufeffone two\n")
	})
	t.Run("hard links", func(t *testing.T) {
		folder, path, edit := writing(t, "a.txt", "one two\n")
		if err := os.Link(path, filepath.Join(folder.Name(), "b.txt")); err != nil {
			t.Fatal(err)
		}
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil ||
			!strings.Contains(err.Error(), "hard links") {
			t.Errorf("the error is %v", err)
		}
		holds(t, path, "one two\n")
	})
	t.Run("outside", func(t *testing.T) {
		folder, _, edit := writing(t, "a.txt", "one two\n")
		other := filepath.Join(t.TempDir(), "a.txt")
		if err := os.WriteFile(other, []byte("one two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		edit.Path = other
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil ||
			!strings.Contains(err.Error(), "outside") {
			t.Errorf("the error is %v", err)
		}
		holds(t, other, "one two\n")
	})
	t.Run("link out", func(t *testing.T) {
		folder, _, edit := writing(t, "a.txt", "one two\n")
		other := filepath.Join(t.TempDir(), "a.txt")
		if err := os.WriteFile(other, []byte("one two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		edit.Path = filepath.Join(folder.Name(), "link.txt")
		if err := os.Symlink(other, edit.Path); err != nil {
			t.Fatal(err)
		}
		if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil ||
			!strings.Contains(err.Error(), "link out") {
			t.Errorf("the error is %v", err)
		}
		holds(t, other, "one two\n")
	})
}

func TestWriteThroughLink(t *testing.T) {
	folder, path, edit := writing(t, "a.txt", "one two\n")
	edit.Path = filepath.Join(folder.Name(), "link.txt")
	if err := os.Symlink("a.txt", edit.Path); err != nil {
		t.Fatal(err)
	}
	if err := writeEdit(folder, folder.Name(), edit, plainFormat); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "one 2\n")
	if target, err := os.Readlink(edit.Path); err != nil || target != "a.txt" {
		t.Errorf("the link is %q (%v)", target, err)
	}
}

func TestWriteCreatesAndDeletes(t *testing.T) {
	folder, path, edit := writing(t, "a.txt", "one two\n")
	if err := writeEdit(folder, folder.Name(), workspace.FileEdit{Path: path, Before: edit.Before, Delete: true},
		plainFormat); err != nil {
		t.Fatal(err)
	}
	if exists(path) {
		t.Error("the file is still there")
	}
	deep := filepath.Join(folder.Name(), "x", "y", "new.txt")
	if err := writeEdit(folder, folder.Name(),
		workspace.FileEdit{Path: deep, Create: true, Edits: []workspace.Edit{{New: "new\n"}}},
		plainFormat); err != nil {
		t.Fatal(err)
	}
	holds(t, deep, "new\n")
}

// TestWriteAfterChange changes a file while the agent is at work on another.
func TestWriteAfterChange(t *testing.T) {
	c := newCall(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"}, "", "run", "--write", "Change both.")
	turns := c.useScript(t, `
turn
call read {"path": "a.txt"}
call read {"path": "b.txt"}
turn
call edit {"path": "a.txt", "old_string": "a", "new_string": "A"}
call edit {"path": "b.txt", "old_string": "b", "new_string": "B"}
turn
wait changed
text Done.
`)
	ended := make(chan int, 1)
	go func() { ended <- c.run(t.Context()) }()
	if err := turns.Reached(t.Context(), "changed", 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "b.txt"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	turns.Release("changed")
	code := <-ended
	holds(t, filepath.Join(c.dir, "a.txt"), "A\n")
	holds(t, filepath.Join(c.dir, "b.txt"), "mine\n")
	// What changed before the edits were computed is a conflict, what changed behind that a refusal.
	told := c.out.String() + c.err.String()
	if !strings.Contains(told, "in conflict") && !strings.Contains(told, "changed meanwhile") {
		t.Errorf("nothing is said of b.txt (exit code %d):\n%s", code, told)
	}
}

func TestWriteRename(t *testing.T) {
	utf16le := "\xff\xfeo\x00n\x00e\x00 \x00t\x00w\x00o\x00\n\x00"
	for _, test := range []struct {
		name, before, want string
		format             workspace.Format
		edits              bool
	}{
		{"the name alone", "one two\n", "one two\n", plainFormat, false},
		{"the text, too", "one two\n", "one 2\n", plainFormat, true},
		{
			"in UTF-16", utf16le, "\xff\xfeo\x00n\x00e\x00 \x002\x00\n\x00",
			workspace.Format{Encoding: "utf-16le", BOM: true},
			true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder, path, edit := writing(t, "a.txt", test.before)
			edit.MoveTo = filepath.Join(folder.Name(), "sub", "b.txt")
			if !test.edits {
				edit.Edits = nil
			}
			if err := writeEdit(folder, folder.Name(), edit, test.format); err != nil {
				t.Fatal(err)
			}
			holds(t, edit.MoveTo, test.want)
			info, err := os.Stat(edit.MoveTo)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o640 {
				t.Errorf("the mode is %v", info.Mode())
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the old name is still there: %v", err)
			}
		})
	}
}

func TestWriteRenameRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string, edit *workspace.FileEdit){
		"over another file": func(t *testing.T, _ string, edit *workspace.FileEdit) {
			if err := os.WriteFile(edit.MoveTo, []byte("taken\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"a changed file": func(t *testing.T, path string, _ *workspace.FileEdit) {
			if err := os.WriteFile(path, []byte("one two\n\n"), 0o640); err != nil {
				t.Fatal(err)
			}
		},
		"out of the folder": func(t *testing.T, _ string, edit *workspace.FileEdit) {
			edit.MoveTo = filepath.Join(t.TempDir(), "b.txt")
		},
		"a file that is gone": func(t *testing.T, path string, _ *workspace.FileEdit) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder, path, edit := writing(t, "a.txt", "one two\n")
			edit.MoveTo = filepath.Join(folder.Name(), "b.txt")
			spoil(t, path, &edit)
			before := folderTexts(t, folder.Name())
			if err := writeEdit(folder, folder.Name(), edit, plainFormat); err == nil {
				t.Error("it was written")
			}
			if diff := cmp.Diff(before, folderTexts(t, folder.Name())); diff != "" {
				t.Errorf("the folder has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestWriteRenameOfCase(t *testing.T) {
	folder, _, edit := writing(t, "a.txt", "one two\n")
	edit.MoveTo, edit.Edits = filepath.Join(folder.Name(), "A.txt"), nil
	if err := writeEdit(folder, folder.Name(), edit, plainFormat); err != nil {
		t.Fatal(err)
	}
	holds(t, edit.MoveTo, "one two\n")
}

// folderTexts returns the files of a folder with their texts.
func folderTexts(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// reorganising are the turns of a run that changes, makes, renames and deletes files.
func reorganising() *script.Script {
	return script.New("reorganising",
		script.Turn{Answer: []script.Step{
			script.Call{Name: "read", Arguments: `{"path":"one.txt"}`},
			script.Call{Name: "read", Arguments: `{"path":"two words.txt"}`},
			script.Call{Name: "read", Arguments: `{"path":"bin/gone.txt"}`},
		}},
		script.Turn{Answer: []script.Step{
			script.Call{
				Name: "patch",
				Arguments: `{"patch":"*** Begin Patch\n*** Update File: one.txt\n@@\n-1\n+one\n*** Add File: sub/ä new.txt\n+new\n` +
					`*** Update File: two words.txt\n*** Move to: sub/three words.txt\n@@\n-2\n+two\n*** Delete File: bin/gone.txt\n*** End Patch\n"}`,
			},
		}},
		script.Turn{Answer: []script.Step{script.Text("Done.")}},
	)
}

// TestReorganise has the same edits written by the command, and by git from the diff that the command prints.
func TestReorganise(t *testing.T) {
	t.Parallel()
	files := map[string]string{"one.txt": "1\nsame\n", "two words.txt": "2\r\nsame", "bin/gone.txt": "gone\n"}
	want := map[string]string{"one.txt": "one\nsame\n", "sub/three words.txt": "two\r\nsame", "sub/ä new.txt": "new\n"}
	check := func(d *desk) {
		d.Helper()
		got := map[string]string{}
		err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(d.dir, path) // path is below dir
			got[filepath.ToSlash(name)] = string(text)
			return err
		})
		if err != nil {
			d.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.Errorf("the files are others (-want +got):\n%s", diff)
		}
	}
	t.Run("written", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, files)
		vendors[0].provide(d, reorganising())
		d.must(exitOK, "run", "--root", d.dir, "--agent", "coder", "--write", "reorganise")
		check(d)
	})
	t.Run("by git", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, files)
		vendors[0].provide(d, reorganising())
		diff, _ := d.must(exitOK, "run", "--root", d.dir, "--agent", "coder", "--format", "diff", "reorganise")
		for _, args := range [][]string{
			{"apply", "--whitespace=nowarn"},
			{"apply", "--whitespace=nowarn", "--check", "-R"},
		} {
			git := exec.CommandContext(d.ctx, "git", args...)
			git.Dir, git.Stdin = d.dir, strings.NewReader(diff)
			git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(d.dir),
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
			if out, err := git.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v\n%s\n%s", strings.Join(args, " "), err, out, diff)
			}
		}
		check(d)
	})
}
