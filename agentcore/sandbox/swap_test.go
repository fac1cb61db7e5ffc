//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSwappedLinks collects what a command changed, and brings the copy up to date, while a process that outlived its
// command swaps files and folders of the copy for links that lead out of it.
func TestSwappedLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "f"), "outside")
	if err := os.Chmod(filepath.Join(outside, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d"} {
		files[name+"/f"] = "disk " + name
		files[name+".txt"] = "disk " + name
	}
	b, _ := open(t, files, atLevel(Copy))
	v, ok := b.roots[0].view.(*copyView)
	if !ok {
		t.Fatal("the folder is not copied")
	}
	if err := v.seed(nil); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		swap(v.dir, outside, stop)
	}()
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	changes, seeded := 0, 0
	for range rounds {
		f, err := v.collect()
		if err != nil {
			t.Errorf("collect: %v", err)
			break
		}
		changes += len(f.changes)
		for _, c := range f.changes {
			if strings.Contains(string(c.Content), "outside") ||
				!strings.HasPrefix(c.Path, v.root+string(filepath.Separator)) {
				t.Errorf("%s is taken for changed to %q", c.Path, c.Content)
			}
		}
		if err := v.seed(map[string]Text{"a/f": {Content: []byte("shown")}, "b.txt": {Deleted: true}}); err != nil {
			continue // no command runs on a copy that others change
		}
		seeded++
		if t.Failed() {
			break
		}
	}
	close(stop)
	<-stopped
	if changes == 0 || seeded == 0 {
		t.Errorf("the swapping was seen %d times, and missed %d times: this test shows nothing", changes, seeded)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside are %v, %v", entries, err)
	}
	info, err := os.Stat(filepath.Join(outside, "f"))
	if err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("the file outside: %v, %v", info, err)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(text) != "outside" {
		t.Errorf("the file outside has %q, %v", text, err)
	}
	// Once nobody swaps any more, a command sees the disk again.
	if r := sh(t, b, "cat a/f b.txt"); string(r.Output) != "disk adisk b" {
		t.Errorf("later: %q", r.Output)
	}
}

// swap exchanges folders and files in a folder for links until stop is closed. What fails was changed by the other side
// meanwhile.
func swap(dir, outside string, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		folder := filepath.Join(dir, []string{"a", "b", "c", "d"}[i%4])
		file := filepath.Join(dir, []string{"a.txt", "b.txt", "c.txt", "d.txt"}[i%4])
		_ = os.Rename(folder, folder+"-aside")
		_ = os.Symlink(outside, folder)
		_ = os.Rename(file, file+"-aside")
		_ = os.Symlink(filepath.Join(outside, "f"), file)
		_ = os.Remove(folder)
		_ = os.Rename(folder+"-aside", folder)
		_ = os.Remove(file)
		_ = os.Rename(file+"-aside", file)
		_ = os.WriteFile(filepath.Join(folder, "f"), []byte("made"), 0o600)
		_ = os.WriteFile(file, []byte("made"), 0o000)
	}
}
