package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	v, dir := open(t, map[string]string{
		"plain": "a\r\nb", "empty": "", "bom": "\xef\xbb\xbfä\n", "le": "\xff\xfea\x00=\xd8\x00\xde\n\x00",
		"be": "\xfe\xff\x00a\x00\n", "latin": "\xe4\n", "zero": "a\x00b", "odd": "\xff\xfea",
		"lone": "\xff\xfe\x00\xd8a\x00", "dir/x": "", "large": strings.Repeat("x", 8<<20+1),
		"limit": strings.Repeat("x", 8<<20), ".env": "A=1", ".env.example": "A=", "key.pem": "-", "id_rsa": "-",
		"sub/credentials": "c", ".aws/credentials": "c",
	})
	if err := os.Chmod(filepath.Join(dir, "plain"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text string
		format     Format
		kind       ErrorKind
	}{
		{name: "plain", text: "a\r\nb", format: Format{"utf-8", false, 0o755}},
		{name: "empty", format: Format{"utf-8", false, 0o644}},
		{name: "bom", text: "ä\n", format: Format{"utf-8", true, 0o644}},
		{name: "le", text: "a😀\n", format: Format{"utf-16le", true, 0o644}},
		{name: "be", text: "a\n", format: Format{"utf-16be", true, 0o644}},
		{name: ".env.example", text: "A=", format: Format{"utf-8", false, 0o644}},
		{name: "sub/credentials", text: "c", format: Format{"utf-8", false, 0o644}},
		{name: "latin", kind: Binary},
		{name: "zero", kind: Binary},
		{name: "odd", kind: Binary},
		{name: "lone", kind: Binary},
		{name: "dir", kind: Directory},
		{name: "large", kind: TooLarge},
		{name: "none", kind: NotFound},
		{name: "plain/x", kind: NotFound},
		{name: ".env", kind: Protected},
		{name: "key.pem", kind: Protected},
		{name: "id_rsa", kind: Protected},
		{name: ".aws/credentials", kind: Protected},
		{name: "../x", kind: Outside},
	} {
		for range 2 { // from disk, and from the cache
			file, err := v.Read(filepath.Join(dir, test.name))
			if runtime.GOOS == "windows" {
				file.Format.Mode, test.format.Mode = 0, 0
			}
			if kind(err) != test.kind || file.Text != test.text || file.Format != test.format {
				t.Errorf("%s: got %q, %+v, %v", test.name, file.Text, file.Format, err)
			}
			if err == nil && (file.Version != -1 || file.Stamp != StampOf(test.text)) {
				t.Errorf("%s: got version %d, stamp %s", test.name, file.Version, file.Stamp)
			}
		}
	}
	if file, err := v.Read(filepath.Join(dir, "limit")); err != nil || len(file.Text) != 8<<20 {
		t.Errorf("a file of just the limit: %v", err)
	}
}

func TestReadFollowsTheEditor(t *testing.T) {
	v, dir := open(t, map[string]string{"a": "disk\n"})
	path := filepath.Join(dir, "a")
	read := func(want string, version int32) {
		t.Helper()
		if file, err := v.Read(path); err != nil || file.Text != want || file.Version != version {
			t.Errorf("got %+v, %v; want %q", file, err, want)
		}
	}
	read("disk\n", -1)
	v.SetDocument(path, "buffer\n", 3)
	read("buffer\n", 3)
	put(t, path, "newer\n")
	read("buffer\n", 3)
	v.CloseDocument(path)
	read("newer\n", -1)
}

func TestLinks(t *testing.T) {
	v, dir := open(t, map[string]string{"in/file": "in\n", ".env": "A=1\n"})
	outside := t.TempDir()
	put(t, filepath.Join(outside, "secret"), "secret\n")
	for name, target := range map[string]string{
		"out":      outside,
		"outfile":  filepath.Join(outside, "secret"),
		"link":     "in",
		"linkfile": "in/file",
		"hidden":   ".env",
		"loop":     "loop",
		"self":     ".",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]ErrorKind{
		"outfile":    Outside,
		"out/secret": Outside,
		"linkfile":   "",
		"link/file":  "",
		"hidden":     Protected,
		"link":       Directory,
	} {
		if _, err := v.Read(filepath.Join(dir, name)); kind(err) != want || want == "" && err != nil {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	for name, want := range map[string]ErrorKind{"out/new": Outside, "outfile": Outside, "hidden": Protected} {
		if _, err := layer.Write(filepath.Join(dir, name), "x", "", Author{}); kind(err) != want {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	var names []string
	for e, err := range layer.Walk(t.Context(), dir, WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, v.Relative(e.Path))
	}
	if got, want := strings.Join(names, " "), ".env hidden in in/file link linkfile self"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	put(t, filepath.Join(two, "only"), "")
	put(t, filepath.Join(one, "both"), "")
	put(t, filepath.Join(two, "both"), "")
	outside := filepath.Join(dir, "outside")
	v, err := Open([]Root{{Path: one}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	check := func(name, want string, wantKind ErrorKind) {
		t.Helper()
		got, err := v.Resolve(name)
		if got != want || kind(err) != wantKind {
			t.Errorf("%q: got %q, %v; want %q, %s", name, got, err, want, wantKind)
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "one") {
				t.Errorf("%q: no root in %v", name, err)
			}
			return
		}
		if back, err := v.Resolve(v.Relative(got)); back != got || err != nil {
			t.Errorf("%q: back from %q it is %q, %v", name, v.Relative(got), back, err)
		}
	}
	check("a/b", filepath.Join(one, "a", "b"), "")
	check("", one, "")
	check(".", one, "")
	check("a/../b", filepath.Join(one, "b"), "")
	check("../x", "", Outside)
	check("../one/x", filepath.Join(one, "x"), "")
	check(filepath.Join(one, "x"), filepath.Join(one, "x"), "")
	check(outside, "", Outside)
	check(one+"more", "", Outside)
	check("~/x", "", Outside)
	check("a\x00b", "", NotFound)
	v.SetDocument(outside, "open\n", 1)
	check(outside, outside, "")
	v.SetDocument("untitled:1", "", 1)
	check("untitled:1", "untitled:1", "")

	if err := v.SetRoots([]Root{{Path: one}, {Path: two, Name: "zwei"}}); err != nil {
		t.Fatal(err)
	}
	check("one/x", filepath.Join(one, "x"), "")
	check("zwei/x", filepath.Join(two, "x"), "")
	check("zwei", two, "")
	check("only", filepath.Join(two, "only"), "")
	check("both", filepath.Join(one, "both"), "")
	check("nowhere", "", NotFound)
	if got := v.Relative(filepath.Join(two, "a", "b")); got != "zwei/a/b" {
		t.Errorf("got %q", got)
	}
	if err := v.SetRoots([]Root{{Path: "relative"}}); err == nil || len(v.Roots()) != 2 {
		t.Errorf("a relative root: %v, %+v", err, v.Roots())
	}
}

func TestWalkEnds(t *testing.T) {
	v, dir := open(t, map[string]string{"a": "", "b/c": ""})
	layer := v.NewProposal(ProposalOptions{}).Fork()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for _, err := range layer.Walk(ctx, dir, WalkOptions{}) {
		n++
		last = err
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %d entries and %v", n, last)
	}
	for range layer.Walk(t.Context(), dir, WalkOptions{}) {
		break
	}
	for name, want := range map[string]ErrorKind{"none": NotFound, "a": NotRegular, "..": Outside} {
		for _, err := range layer.Walk(t.Context(), filepath.Join(dir, name), WalkOptions{}) {
			if kind(err) != want {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := layer.List(filepath.Join(dir, name)); kind(err) != want {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := diskCache{limit: 3000}
	v, dir := open(t, nil)
	r, _ := v.locate(dir)
	below, err := r.folders()
	if err != nil {
		t.Fatal(err)
	}
	info, err := below.Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "a"} {
		c.put(name, info, info.Modified.AddDate(1, 0, 0), diskFile{text: newText(strings.Repeat("x", 1000))})
	}
	if _, ok := c.get("b", info); ok || c.size > c.limit || len(c.files) != 2 {
		t.Errorf("%d bytes in %d files", c.size, len(c.files))
	}
	if _, ok := c.get("a", info); !ok {
		t.Error("the newest is not kept")
	}
	c.put("d", info, info.Modified, diskFile{text: newText("x")})
	if _, ok := c.get("d", info); ok {
		t.Error("a file that was just written is trusted")
	}
}
