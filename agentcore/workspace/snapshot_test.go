package workspace

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snapped is a workspace whose layer has some files of every kind, and a snapshot of it.
func snapped(t *testing.T) (layer *Layer, snapshot Snapshot, path func(string) string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = func(name string) string { return filepath.Join(root, name) }
	for name, text := range map[string]string{
		"bom.txt":     "\ufeffdisk\r\n",
		"wide.txt":    "\xff\xfed\x00\n\x00",
		"plain.txt":   "disk\n",
		"same.txt":    "same\n",
		"gone.txt":    "disk\n",
		"tool.sh":     "true\n",
		".git/config": "x\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	view, err := Open([]Root{{Path: root}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	session := view.NewProposal(ProposalOptions{})
	t.Cleanup(func() {
		session.Close()
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	layer = session.Fork()
	view.SetDocument(path("bom.txt"), "typed\r\n", 1)
	view.SetDocument(path("wide.txt"), "é\n", 1)
	view.SetDocument(path("same.txt"), "same\n", 1)
	view.SetDocument(path(".env"), "KEY=1\n", 1)
	if err := layer.Delete(path("gone.txt"), StampOf("disk\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	if _, err := layer.Write(path("new/n.txt"), "", "", Author{}); err != nil {
		t.Fatal(err)
	}
	return layer, layer.Snapshot(), path
}

func TestSnapshotHasTheBytesOfFiles(t *testing.T) {
	layer, snapshot, _ := snapped(t)
	var got []string
	for path, data := range snapshot.Files() {
		text := fmt.Sprintf("%q", data)
		if data == nil {
			text = "-"
		}
		got = append(got, layer.View().Relative(path)+" "+text)
	}
	want := `bom.txt "\ufefftyped\r\n"|gone.txt -|new/n.txt ""|wide.txt "\xff\xfe\xe9\x00\n\x00"`
	if strings.Join(got, "|") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestTake(t *testing.T) {
	sum := func(text string) [32]byte { return sha256.Sum256([]byte(text)) }
	for _, test := range []struct {
		name      string
		written   Written
		meanwhile string // typed at the path before the result is taken
		// text is what the layer shows then, "-" for no file; said is what the result says.
		text, said string
	}{
		{
			"the encoding survives",
			Written{Path: "bom.txt", Content: []byte("\ufeffmade\r\n"), Existed: true, Before: sum("\ufefftyped\r\n")},
			"", "made\r\n", "changed",
		},
		{
			"another encoding",
			Written{Path: "bom.txt", Content: []byte("made\r\n"), Existed: true, Before: sum("\ufefftyped\r\n")},
			"",
			"made\r\n", "changed its encoding stays as it is",
		},
		{
			"UTF-16",
			Written{
				Path:    "wide.txt",
				Content: []byte("\xff\xfem\x00\n\x00"),
				Existed: true,
				Before:  sum("\xff\xfe\xe9\x00\n\x00"),
			},
			"", "m\n", "changed",
		},
		{
			"of the disk",
			Written{Path: "plain.txt", Content: []byte("made\n"), Existed: true, Before: sum("disk\n")},
			"", "made\n", "changed",
		},
		{
			"typed the same",
			Written{Path: "plain.txt", Content: []byte("made\n"), Existed: true, Before: sum("disk\n")},
			"made\n",
			"made\n", "",
		},
		{
			"opened and typed elsewhere",
			Written{Path: "same.txt", Content: []byte("top\nsame\n"), Existed: true, Before: sum("same\n")},
			"same\n1\n2\nend\n", "top\nsame\n1\n2\nend\n", "changed",
		},
		{
			"typed over",
			Written{Path: "plain.txt", Content: []byte("made\n"), Existed: true, Before: sum("disk\n")},
			"typed\n", "typed\n", "conflict 1-1",
		},
		{
			"deleted",
			Written{Path: "plain.txt", Deleted: true, Existed: true, Before: sum("disk\n")},
			"", "-",
			"changed deleted",
		},
		{
			"deleted and typed",
			Written{Path: "plain.txt", Deleted: true, Existed: true, Before: sum("disk\n")},
			"typed\n", "typed\n", "conflict 1-1",
		},
		{"new", Written{Path: "sub/x.txt", Content: []byte("x\n")}, "", "x\n", "changed created"},
		{"new twice", Written{Path: "x.txt", Content: []byte("x\n")}, "other\n", "other\n", "conflict 1-1"},
		{"made again", Written{Path: "gone.txt", Content: []byte("again\n")}, "", "again\n", "changed created"},
		{
			"executable",
			Written{Path: "tool.sh", Content: []byte("true\n"), Executable: true, Existed: true, Before: sum("true\n")},
			"", "true\n", "it is executable in the sandbox, which cannot be proposed: the user runs chmod +x",
		},
		{
			"protected",
			Written{Path: ".git/config", Content: []byte("y\n"), Existed: true, Before: sum("x\n")},
			"",
			"x\n", "problem protected",
		},
		{"secret", Written{Path: "sub/.env", Content: []byte("K=1\n")}, "", "-", "problem protected"},
		{"outside", Written{Path: "../x", Content: []byte("x\n")}, "", "-", "problem outside_workspace"},
		{
			"saved meanwhile",
			Written{Path: "plain.txt", Content: []byte("made\n"), Existed: true, Before: sum("other\n")},
			"", "disk\n",
			"problem stale",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			layer, snapshot, path := snapped(t)
			if test.meanwhile != "" {
				layer.View().SetDocument(path(test.written.Path), test.meanwhile, 2)
			}
			name := test.written.Path
			test.written.Path = path(name)
			taken := snapshot.Take(test.written, Author{Reason: "made"})
			said := []string{}
			if taken.Changed {
				said = append(said, "changed")
			}
			if taken.Created {
				said = append(said, "created")
			}
			if taken.Deleted {
				said = append(said, "deleted")
			}
			for _, c := range taken.Conflicts {
				said = append(said, fmt.Sprintf("conflict %d-%d", c.StartLine+1, c.EndLine))
			}
			said = append(said, taken.Notes...)
			if problem, ok := taken.Problem.(*FileError); ok {
				said = append(said, "problem "+string(problem.Kind))
			} else if taken.Problem != nil {
				t.Fatal(taken.Problem)
			}
			if got := strings.Join(said, " "); got != test.said {
				t.Errorf("it says %q, want %q", got, test.said)
			}
			text := "-"
			if c, err := layer.content(path(name)); err == nil && c.text != nil {
				text = c.text.string()
			}
			if text != test.text {
				t.Errorf("the layer shows %q, want %q", text, test.text)
			}
			if stamp, ok := layer.Seen(path(name)); ok && taken.Changed {
				t.Errorf("the run counts as having seen %s", stamp)
			}
		})
	}
}

func TestMergeKeeping(t *testing.T) {
	got, conflicts := mergeKeeping("1\n2\n3\n4\n5\n6\n7\n8\n",
		"a\n2\n3\n4\n5\n6\n7\nb\nc\n", "1\n2\nnew\n3\n4\n5\n6\n7\n8!\nmore\n")
	if got != "a\n2\nnew\n3\n4\n5\n6\n7\n8!\nmore\n" {
		t.Errorf("the text is %q", got)
	}
	if len(conflicts) != 1 || conflicts[0].StartLine != 8 || conflicts[0].EndLine != 10 ||
		conflicts[0].Ours != "b\nc\n" || conflicts[0].Theirs != "8!\nmore\n" {
		t.Errorf("the conflicts are %+v", conflicts)
	}
}

func TestIgnored(t *testing.T) {
	layer, _, path := snapped(t)
	layer.View().SetDocument(path(".gitignore"), "out/\n*.log\n!keep.log\n", 1)
	layer.View().SetDocument(path("sub/.gitignore"), "/x\n", 1)
	ignored := layer.Ignored()
	for name, want := range map[string]bool{
		"out/":        true,
		"out":         false,
		"out/a/b.txt": true,
		"a.log":       true,
		"keep.log":    false,
		"sub/a.log":   true,
		"sub/x":       true,
		"x":           false,
		"sub/y/x":     false,
		".":           false,
	} {
		if got := ignored.Has(path(name), strings.HasSuffix(name, "/")); got != want {
			t.Errorf("%s: ignored is %v", name, got)
		}
	}
}
