package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// To read a file takes its size twice, as bytes and as text, and its stamp next to nothing.
func TestReadingTakesTheSizeOfTheFile(t *testing.T) {
	const size = 1 << 20
	text := strings.Repeat("x", size)
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := Open([]Root{{Path: filepath.Dir(path)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if n := allocated(func() {
		found, err := v.readDisk(path)
		if err != nil || found.text.s != text {
			t.Errorf("%d bytes were read, %v", len(found.text.s), err)
		}
	}); n > 2*size+size/8 {
		t.Errorf("to read %d bytes takes %d", size, n)
	}
	if n := allocated(func() { StampOf(text) }); n > size/8 {
		t.Errorf("the stamp of %d bytes takes %d", size, n)
	}
}
