package beneath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// open makes files in a new folder, and a Root of it.
func open(t *testing.T, names ...string) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), root.Close()); err != nil {
			t.Error(err)
		}
	})
	return r, dir
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("links take a right here: %v", err)
		}
		t.Fatal(err)
	}
}

// names lists a folder, "!" for one that is refused.
func names(r *Root, rel string, links Links) string {
	f, err := r.Open(filepath.FromSlash(rel), links)
	if err != nil {
		return "!"
	}
	defer f.Close()
	entries, err := f.Entries()
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, e := range entries {
		switch e.Type {
		case 0:
			list = append(list, e.Name)
		case fs.ModeDir:
			list = append(list, e.Name+"/")
		case fs.ModeSymlink:
			list = append(list, e.Name+"@")
		default:
			list = append(list, e.Name+"?")
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestOpen: nothing outside is opened, whichever way links and dots lead there.
func TestOpen(t *testing.T) {
	_, outside := open(t, "secret/key")
	r, dir := open(t, "a/b/text", "a/b/more", "top")
	link(t, "b", filepath.Join(dir, "a/in"))
	link(t, "../a/b", filepath.Join(dir, "a/over"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(dir, "a/out"))
	link(t, filepath.Join(dir, "a/b"), filepath.Join(dir, "a/absolute"))
	link(t, "../../"+filepath.Base(outside)+"/secret", filepath.Join(dir, "a/up"))
	link(t, "a", filepath.Join(dir, "link"))
	for _, test := range []struct{ rel, refuse, follow string }{
		{".", "a/ link@ top", "a/ link@ top"},
		{"a/b", "more text", "more text"},
		{"a", "absolute@ b/ in@ out@ over@ up@", "absolute@ b/ in@ out@ over@ up@"},
		{"a/in", "!", "more text"},
		{"a/over", "!", "more text"},
		{"link/b", "!", "more text"},
		{"a/out", "!", "!"},
		{"a/up", "!", "!"},
		{"a/absolute", "!", "!"},
		{"a/../..", "!", "!"},
		{"top", "!", "!"},
		{"none", "!", "!"},
	} {
		if got := names(r, test.rel, Refuse); got != test.refuse {
			t.Errorf("%s without links: %q, want %q", test.rel, got, test.refuse)
		}
		if got := names(r, test.rel, Follow); got != test.follow {
			t.Errorf("%s: %q, want %q", test.rel, got, test.follow)
		}
	}
}

func TestEntriesMany(t *testing.T) {
	var want []string
	for i := range 3000 {
		want = append(want, "a/"+strings.Repeat("n", i%200)+string(rune('a'+i%26))+strings.Repeat("m", i/200))
	}
	slices.Sort(want)
	want = slices.Compact(want)
	r, _ := open(t, want...)
	got := strings.Fields(names(r, "a", Refuse))
	if len(got) != len(want) {
		t.Fatalf("%d of %d", len(got), len(want))
	}
	for i, name := range got {
		if "a/"+name != want[i] {
			t.Fatalf("%d: %s, want %s", i, name, want[i])
		}
	}
	if calls := r.Calls(); calls != (Calls{Folders: 1, Looks: calls.Looks}) || calls.Looks > 1 {
		t.Errorf("it took %+v", calls)
	}
}

func TestReadFile(t *testing.T) {
	r, dir := open(t, "a/text", "a/empty")
	if err := os.WriteFile(filepath.Join(dir, "a/empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link(t, "text", filepath.Join(dir, "a/link"))
	f, err := r.Open("a", Refuse)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var buffer []byte
	for _, test := range []struct {
		name, want string
		most, size int64
		err        error
	}{
		{"text", "a/text", 6, 6, nil},
		{"text", "", 5, 6, ErrTooLong},
		{"empty", "", 5, 0, nil},
		{".", "", 5, 0, ErrNotRegular},
		{"none", "", 5, 0, fs.ErrNotExist},
	} {
		data, size, err := f.ReadFile(test.name, &buffer, test.most)
		if string(data) != test.want || size != test.size || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %d bytes, %v", test.name, data, size, err)
		}
	}
	if data, _, err := f.ReadFile("link", &buffer, 9); err == nil && runtime.GOOS != "windows" {
		t.Errorf("a link is read: %q", data)
	}
}

// TestPath: a path is looked at and read below the root alone, whichever way links and dots lead, and one without any
// link is known by one look.
func TestPath(t *testing.T) {
	_, outside := open(t, "secret/key")
	r, dir := open(t, "a/b/text", "top")
	link(t, "b", filepath.Join(dir, "a/in"))
	link(t, "b/text", filepath.Join(dir, "a/file"))
	link(t, "nowhere", filepath.Join(dir, "a/dangling"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(dir, "a/out"))
	link(t, "../../"+filepath.Base(outside)+"/secret", filepath.Join(dir, "a/up"))
	var buffer []byte
	for _, test := range []struct {
		rel, want    string
		plain, found bool
	}{
		{"a/b/text", "a/b/text", true, true},
		{"a/b", "", true, true},
		{"a/none/deep", "", true, false},
		{"none", "", true, false},
		{"a/in/text", "a/b/text", false, true},
		{"a/in/none", "", false, false},
		{"a/file", "a/b/text", false, true},
		{"a/dangling", "", false, false},
		{"a/out/key", "", false, false},
		{"a/up/key", "", false, false},
		{"../" + filepath.Base(outside) + "/secret/key", "", false, false},
	} {
		rel := filepath.FromSlash(test.rel)
		if got := r.Plain(rel); got != test.plain && (got || runtime.GOOS == "linux") {
			t.Errorf("%s is plain: %t", rel, got)
		}
		before := r.Calls()
		info, err := r.Stat(rel)
		if now := r.Calls(); now.Paths != before.Paths+1 {
			t.Errorf("%s took %d looks", rel, now.Paths-before.Paths)
		}
		want, problem := r.dir.Stat(rel)
		if (err == nil) != test.found || (problem == nil) != test.found ||
			errors.Is(err, fs.ErrNotExist) != errors.Is(problem, fs.ErrNotExist) {
			t.Errorf("%s is found: %v, by os.Root %v", rel, err, problem)
		}
		if err == nil &&
			(info.Mode != want.Mode() || info.Size != want.Size() || !info.Modified.Equal(want.ModTime())) {
			t.Errorf("%s: %+v, want %v", rel, info, want)
		}
		data, read, err := r.ReadFile(rel, &buffer, 100)
		if string(data) != test.want || (err == nil) != (test.want != "") || err == nil && !read.Same(info) {
			t.Errorf("%s: %q, %v", rel, data, err)
		}
	}
	if _, info, err := r.ReadFile("top", &buffer, 2); err != ErrTooLong || info.Size != 3 {
		t.Errorf("%v, %d bytes", err, info.Size)
	}
	top, _ := r.Stat("top")
	if other, _ := r.Stat("a"); top.Same(other) {
		t.Error("two files are one")
	}
}
