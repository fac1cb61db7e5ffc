package beneath

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStep: what takes the place of openat2(2) where it cannot be had refuses the same.
func TestStep(t *testing.T) {
	r, dir := open(t, "a/b/text", "top")
	link(t, "b", filepath.Join(dir, "a/link"))
	link(t, "a", filepath.Join(dir, "way"))
	for rel, want := range map[string]error{
		".": nil, "a": nil, "a/b": nil, "a/link": unix.ENOTDIR, "way/b": unix.ENOTDIR, "way": unix.ENOTDIR,
		"a/../a": unix.EXDEV, "..": unix.EXDEV, "a/../../x": unix.EXDEV, "top": unix.ENOTDIR, "none/b": unix.ENOENT,
	} {
		fd, err := r.step(rel, folderFlags)
		if err == nil {
			unix.Close(fd)
		}
		if e, _ := err.(*os.PathError); want != nil && (e == nil || e.Err != want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", rel, err, want)
		}
	}
}

// TestReadPipe: a pipe hangs nobody.
func TestReadPipe(t *testing.T) {
	r, dir := open(t, "a/text")
	if err := unix.Mkfifo(filepath.Join(dir, "a/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := r.Open("a", Refuse)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var buffer []byte
	if _, _, err := f.ReadFile("pipe", &buffer, 9); err != ErrNotRegular {
		t.Error(err)
	}
	if got := names(r, "a", Refuse); got != "pipe? text" {
		t.Error(got)
	}
}
