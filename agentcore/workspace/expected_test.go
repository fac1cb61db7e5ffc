package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestProtectedByProposals builds what git runs things of out of proposals alone, by several layers and in each order.
func TestProtectedByProposals(t *testing.T) {
	parts := []string{"sub/HEAD", "Sub/objects/pack/x", "sub/REFS/heads/x"}
	for i := range parts {
		w := newProtectedWorld(t)
		order := append(append([]string{}, parts[i:]...), parts[:i]...)
		for n, name := range order {
			why, protected := w.view.Protected(w.path(name), nil)
			if last := n == len(order)-1; protected != last {
				t.Errorf("%v: %s is protected: %v %s", order, name, protected, why)
			}
			layer := w.session.Fork() // of another run each time: none sees what the others write
			if err := create(layer, w.path(name)); n == len(order)-1 != isProtected(err) {
				t.Errorf("%v: write %s: %v", order, name, err)
			}
		}
		if _, protected := w.view.Protected(w.path("SUB/config"), nil); !protected {
			t.Errorf("%v: the settings of the repository are not protected", order)
		}
		if _, protected := w.view.Protected(w.path("other/config"), nil); protected {
			t.Errorf("%v: another folder is protected", order)
		}
	}
}

func TestProtectedTogether(t *testing.T) {
	w := newProtectedWorld(t)
	also := NewTogether(w.path("sub/HEAD"), w.path("sub/commondir"))
	if _, protected := w.view.Protected(w.path("sub/config"), also); !protected {
		t.Error("what one call makes a repository is not judged as one")
	}
	if _, protected := w.view.Protected(w.path("sub/config"), nil); protected {
		t.Error("a call that was only judged counts")
	}
}

// TestProtectedWhereItMoves takes the parts to one folder by moves, by a rename of the user's and by an open document.
func TestProtectedWhereItMoves(t *testing.T) {
	w := newProtectedWorld(t)
	layer := w.session.Fork()
	for _, name := range []string{"a/one", "b/objects/x"} {
		if err := create(layer, w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := layer.Move(w.path("a/one"), w.path("b/head"), StampOf("x\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	w.view.Rename(w.path("b"), w.path("c"))
	w.view.SetDocument(w.path("c/refs/x"), "", 1)
	if _, protected := w.view.Protected(w.path("c/config"), nil); !protected {
		t.Error("what was moved, renamed and opened is no repository")
	}
	if err := create(layer, w.path("c/hooks/post-checkout")); !isProtected(err) {
		t.Errorf("a hook is written: %v", err)
	}
}

// TestProtectedByProposedPointers: a `.git` file and settings that the user let one run propose count for all runs.
func TestProtectedByProposedPointers(t *testing.T) {
	w := newProtectedWorld(t)
	layer := w.session.Fork()
	for name, text := range map[string]string{
		"lib/.git": "gitdir: store\n", ".git/config": "[core]\n\thooksPath = tools\n",
	} {
		layer.Allow(w.path(name))
		if _, err := layer.Write(w.path(name), text, "", Author{}); err != nil {
			t.Fatal(err)
		}
	}
	other := w.session.Fork()
	for name, want := range map[string]bool{
		"lib/store/config": true, "tools/pre-commit": true, "lib/a": false, "a": false,
	} {
		if err := create(other, w.path(name)); isProtected(err) != want {
			t.Errorf("write %s: %v", name, err)
		}
	}
}

// TestProtectedThroughLinks: the parts come by a link to the folder as well.
func TestProtectedThroughLinks(t *testing.T) {
	w := newProtectedWorld(t)
	if err := os.Mkdir(w.path("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", w.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link/HEAD", "sub/objects/x"} {
		if err := create(w.session.Fork(), w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, protected := w.view.Protected(w.path("link/refs/x"), nil); !protected {
		t.Error("what leads to a repository is not protected")
	}
}

// TestProtectedByRestored: what former processes left counts.
func TestProtectedByRestored(t *testing.T) {
	w := newProtectedWorld(t)
	w.session.Restore([]Hunk{{ID: "1", Path: w.path("sub/HEAD"), State: "open", After: "x\n", Create: true}})
	layer := w.session.Fork()
	layer.Load([]LayerFile{{Path: w.path("sub/commondir"), Text: "x\n", Created: true}})
	if _, protected := w.view.Protected(w.path("sub/config"), nil); !protected {
		t.Error("what was restored is no repository")
	}
}

type protectedWorld struct {
	view    *View
	session *Proposal
	dir     string
}

func newProtectedWorld(t *testing.T) protectedWorld {
	t.Helper()
	dir := t.TempDir()
	view, err := Open([]Root{{Path: dir}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	return protectedWorld{view, view.NewProposal(ProposalOptions{}), dir}
}

func (w protectedWorld) path(rel string) string { return filepath.Join(w.dir, filepath.FromSlash(rel)) }

func create(l *Layer, name string) error {
	_, err := l.Write(name, "x\n", "", Author{})
	return err
}

func isProtected(err error) bool {
	var refused *FileError
	return errors.As(err, &refused) && refused.Kind == Protected
}
