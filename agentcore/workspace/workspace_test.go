package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes a view on a folder with files; a name that ends with "/" is a folder.
func open(t testing.TB, files map[string]string) (*View, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	v, err := Open([]Root{{Path: dir, Name: "root"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v, dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// write replaces a file's text in a layer.
func write(t testing.TB, l *Layer, path, text, reason string) {
	t.Helper()
	var base Stamp
	if file, err := l.Read(path); err == nil {
		base = file.Stamp
	}
	if _, err := l.Write(path, text, base, Author{Run: "r1", Agent: "a", Reason: reason}); err != nil {
		t.Fatal(err)
	}
}

func merge(t testing.TB, l *Layer) MergeReport {
	t.Helper()
	report, err := l.Merge()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestProposal(t *testing.T) {
	v, dir := open(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n"})
	path := filepath.Join(dir, "a.txt")
	var changed []Hunk
	s := v.NewProposal(ProposalOptions{ID: "p", Changed: func(hunks []Hunk) { changed = append(changed, hunks...) }})
	defer s.Close()
	layer := s.Fork()
	write(t, layer, path, "one\nTWO\nthree\nfour\nfive\n", "capitals")
	write(t, layer, path, "one\nTWO\nthree\nfour\nfive\nsix\n", "more")
	report := merge(t, layer)
	if len(report.Hunks) != 2 || len(report.Conflicts) != 0 || len(changed) != 2 {
		t.Fatalf("got %+v, changed %+v", report, changed)
	}
	hunks := s.Hunks()
	if hunks[0].Author.Reason != "capitals" || hunks[1].Author.Reason != "more" || hunks[1].StartLine != 5 {
		t.Fatalf("got %+v", hunks)
	}
	v.SetDocument(path, "zero\none\ntwo\nthree\nfour\nfive\n", 1)
	edits, failed := s.Edits(report.Hunks[:1])
	if len(failed) != 0 || len(edits) != 1 || edits[0].Edits[0] != (Edit{9, 13, "TWO\n"}) || edits[0].Version != 1 {
		t.Fatalf("got %+v, %+v", edits, failed)
	}
	s.Confirm(report.Hunks[:1], true, "")
	v.SetDocument(path, "zero\none\nTWO\nthree\nfour\nfive\n", 2)
	if h, _ := s.Hunk(report.Hunks[0]); h.State != event.StateAccepted {
		t.Fatalf("got %+v", h)
	}
	if file, err := layer.Read(path); err != nil || file.Text != "zero\none\nTWO\nthree\nfour\nfive\nsix\n" {
		t.Fatalf("got %+v, %v", file, err)
	}
}

// A folder that stays is still read by whoever was at it when another one came.
func TestRootsThatStayKeepTheirHandles(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	before, err := (*v.roots.Load())[0].open()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.SetRoots([]Root{{Path: t.TempDir()}, {Path: dir, Name: "renamed"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := before.Stat("a"); err != nil {
		t.Errorf("the folder was closed under its reader: %v", err)
	}
	if err := v.SetRoots(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := before.Stat("a"); err == nil {
		t.Error("a folder that left is still open")
	}
}

// TestHugeDocument refuses an open document above the limit, and reads it again when it has become smaller.
func TestHugeDocument(t *testing.T) {
	v, err := Open(nil, Options{MaxFileSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	v.SetDocument("/a", "12345", 1)
	var failure *FileError
	if _, err := v.Read("/a"); !errors.As(err, &failure) || failure.Kind != TooLarge {
		t.Errorf("the error is %v", err)
	}
	v.SetDocument("/a", "1234", 2)
	if file, err := v.Read("/a"); err != nil || file.Text != "1234" {
		t.Errorf("read %+v, %v", file, err)
	}
}
