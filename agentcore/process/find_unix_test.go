//go:build unix

package process

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFind: a program in a folder, or one that leads there, is not found.
func TestFind(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(root, "inside"), filepath.Join(bin, "outside")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "inside"), filepath.Join(bin, "linked")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", root+string(os.PathListSeparator)+bin)
	for name, want := range map[string]bool{"outside": true, "inside": false, "linked": false, "none": false} {
		if _, got := Find(name, []string{root}); got != want {
			t.Errorf("Find(%s) is %t, want %t", name, got, want)
		}
	}
}
