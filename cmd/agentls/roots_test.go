package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChooseRoot(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"repo/.git", "repo/sub", "desk/here", "plain"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "desk"), filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, dir, named string
		files            []string
		root, first      string
	}{
		{"no files", "desk", "", nil, "desk", ""},
		{"below the current folder", "desk", "", []string{"a", "here/b"}, "desk", "desk/a"},
		{"in a repository", "desk", "", []string{"../repo/sub/a"}, "repo", "repo/sub/a"},
		{"the first file decides", "desk", "", []string{"../repo/sub/a", "../repo/b"}, "repo", "repo/sub/a"},
		{"in no repository", "desk", "", []string{"../plain/a"}, "plain", "plain/a"},
		{"named", "desk", "../repo", []string{"../repo/sub/a"}, "repo", "repo/sub/a"},
		{"named, and the file lies elsewhere", "desk", "here", []string{"../plain/a"}, "desk/here", "plain/a"},
		{"a link to the current folder", "desk", "", []string{"../link/a"}, "desk", "desk/a"},
		{"a current folder behind a link", "link", "", []string{"../desk/here/a"}, "link", "link/here/a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := func(path string) string { return filepath.Join(top, filepath.FromSlash(path)) }
			p := &environment{dir: at(test.dir)}
			root, paths, err := p.chooseRoot(test.named, p.absolute(test.files))
			if err != nil {
				t.Fatal(err)
			}
			if root.Path != at(test.root) || root.Name != filepath.Base(test.root) {
				t.Errorf("the root is %+v, want %s", root, at(test.root))
			}
			if len(paths) != len(test.files) || len(paths) > 0 && paths[0] != at(test.first) {
				t.Errorf("the paths are %q, want %s first", paths, at(test.first))
			}
		})
	}
	t.Run("files apart", func(t *testing.T) {
		p := &environment{dir: filepath.Join(top, "desk")}
		if _, _, err := p.chooseRoot("", p.absolute([]string{"../repo/sub/a", "b"})); err == nil ||
			!strings.Contains(err.Error(), "--root") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a file as root", func(t *testing.T) {
		file := filepath.Join(top, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := &environment{dir: top}
		if _, _, err := p.chooseRoot("file", nil); err == nil {
			t.Error("there is no error")
		}
	})
}
