package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverlay(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"disk.go", "merged.go", "gone.go"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("disk\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	view, err := Open([]Root{{Path: root}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	session := view.NewProposal(ProposalOptions{})
	defer session.Close()
	layer := session.Fork()
	path := func(name string) string { return filepath.Join(root, name) }
	write := func(name, text string, base Stamp) {
		t.Helper()
		if _, err := layer.Write(path(name), text, base, Author{}); err != nil {
			t.Fatal(err)
		}
	}
	write("merged.go", "merged\n", StampOf("disk\n"))
	if _, err := layer.Merge(); err != nil {
		t.Fatal(err)
	}
	write("new/n.go", "new\n", "")
	if err := layer.Delete(path("gone.go"), StampOf("disk\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	view.SetDocument(path("typed.go"), "typed\n", 1)
	view.SetDocument(path(".env"), "KEY=1\n", 1)
	view.SetDocument(filepath.Join(filepath.Dir(root), "outside.go"), "outside\n", 1)
	want := map[string]string{"merged.go": "merged\n", "new/n.go": "new\n", "typed.go": "typed\n", "gone.go": ""}
	got := map[string]string{}
	for _, file := range layer.Fork().Overlay(root) {
		got[view.Relative(file.Path)] = file.Text
		if (file.Stamp == "") != (file.Path == path("gone.go")) {
			t.Errorf("the stamp of %s is %q", file.Path, file.Stamp)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
