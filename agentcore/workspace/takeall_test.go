package workspace

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTakeAll(t *testing.T) {
	gone := func(path, text string) Written {
		return Written{Path: path, Deleted: true, Existed: true, Before: sha256.Sum256([]byte(text))}
	}
	made := func(path, text string) Written { return Written{Path: path, Content: []byte(text)} }
	const long = "alpha one\nbravo two\ncharlie three\ndelta four\n"
	for _, test := range []struct {
		name      string
		files     map[string]string
		meanwhile map[string]string // typed before the result is taken
		written   []Written
		want      string
	}{
		{"as it is", map[string]string{"a": "x\n"}, nil, []Written{gone("a", "x\n"), made("d/b", "x\n")}, "d/b<a"},
		{
			"changed",
			map[string]string{"a": long},
			nil,
			[]Written{gone("a", long), made("b", strings.Replace(long, "delta four", "echo", 1))},
			"b<a",
		},
		{
			"another text",
			map[string]string{"a": long},
			nil,
			[]Written{gone("a", long), made("b", "alpha one\nnothing of it at all here\nand more\n")},
			"-a +b",
		},
		{
			"much longer",
			map[string]string{"a": "x\n"},
			nil,
			[]Written{gone("a", "x\n"), made("b", "x\n"+long)},
			"-a +b",
		},
		{
			"the more similar one",
			map[string]string{"a": long},
			nil,
			[]Written{gone("a", long), made("b", long+"echo\n"), made("c", long)},
			"+b c<a",
		},
		{
			"the same name",
			map[string]string{"a/f": "x\n", "a/g": "x\n"},
			nil,
			[]Written{gone("a/f", "x\n"), gone("a/g", "x\n"), made("b/f", "x\n"), made("b/g", "x\n")},
			"b/f<a/f b/g<a/g",
		},
		{
			"each once",
			map[string]string{"a": "x\n"},
			nil,
			[]Written{gone("a", "x\n"), made("b", "x\n"), made("c", "x\n")},
			"b<a +c",
		},
		{"empty", map[string]string{"a": ""}, nil, []Written{gone("a", ""), made("b", "")}, "-a +b"},
		{
			"a folder in its place",
			map[string]string{"a": "x\n"},
			nil,
			[]Written{gone("a", "x\n"), made("a/b", "x\n")},
			"-a +a/b",
		},
		{"over another one", map[string]string{"a": "x\n", "b": "y\n"}, nil, []Written{
			gone("a", "x\n"), {Path: "b", Content: []byte("x\n"), Existed: true, Before: sha256.Sum256([]byte("y\n"))},
		}, "-a ~b"},
		{
			"typed meanwhile",
			map[string]string{"a": "x\n"},
			map[string]string{"a": "typed\n"},
			[]Written{gone("a", "x\n"), made("b", "x\n")},
			"!a +b",
		},
		{
			"made meanwhile",
			map[string]string{"a": "x\n"},
			map[string]string{"b": "typed\n"},
			[]Written{gone("a", "x\n"), made("b", "x\n")},
			"-a !b",
		},
		{
			"to a protected path",
			map[string]string{"a": "x\n"},
			nil,
			[]Written{gone("a", "x\n"), made(".git/hooks/a", "x\n")},
			"!.git/hooks/a -a",
		},
		{
			"from a protected path",
			map[string]string{".vscode/a": "x\n"},
			nil,
			[]Written{gone(".vscode/a", "x\n"), made("a", "x\n")},
			"!.vscode/a +a",
		},
		{
			"encoded",
			map[string]string{"a": "\xff\xfex\x00\n\x00"},
			nil,
			[]Written{gone("a", "\xff\xfex\x00\n\x00"), made("b", "\xff\xfex\x00\n\x00")},
			"b<a",
		},
		{
			"encoded otherwise",
			map[string]string{"a": "x\n"},
			nil,
			[]Written{gone("a", "x\n"), made("b", "\xff\xfex\x00\n\x00")},
			"b<a (its encoding stays as it is)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range test.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			view, err := Open([]Root{{Path: root}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			session := view.NewProposal(ProposalOptions{})
			defer func() {
				session.Close()
				if err := view.Close(); err != nil {
					t.Error(err)
				}
			}()
			layer := session.Fork()
			snapshot := layer.Snapshot()
			for name, text := range test.meanwhile {
				view.SetDocument(filepath.Join(root, name), text, 1)
			}
			for i := range test.written {
				test.written[i].Path = filepath.Join(root, test.written[i].Path)
			}
			var got []string
			for _, taken := range snapshot.TakeAll(test.written, Author{Reason: "made"}) {
				rel := view.Relative(taken.Path)
				switch {
				case taken.Problem != nil || len(taken.Conflicts) > 0:
					rel = "!" + rel
				case taken.MovedFrom != "":
					rel += "<" + view.Relative(taken.MovedFrom)
				case taken.Created:
					rel = "+" + rel
				case taken.Deleted:
					rel = "-" + rel
				case taken.Changed:
					rel = "~" + rel
				}
				for _, note := range taken.Notes {
					rel += " (" + note + ")"
				}
				got = append(got, rel)
			}
			if all := strings.Join(got, " "); all != test.want {
				t.Errorf("it took %s\nwant    %s", all, test.want)
			}
			for _, w := range test.written {
				c, err := layer.content(w.Path)
				if err != nil || w.Deleted || strings.Contains(test.want, "!"+view.Relative(w.Path)) {
					continue
				}
				if decoded, _, _ := Decode(w.Content); c.text == nil || c.text.string() != decoded {
					t.Errorf("%s shows %q", view.Relative(w.Path), c.text.string())
				}
			}
		})
	}
}
