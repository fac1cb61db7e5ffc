package workspace

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// tree is what a layer shows of all files.
func tree(t *rapid.T, l *Layer, dir string) map[string]string {
	files := make(map[string]string)
	for e, err := range l.Walk(t.Context(), dir, WalkOptions{Ignored: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Dir {
			continue
		}
		file, err := l.Read(e.Path)
		if err != nil {
			t.Fatalf("listed, but %v", err)
		}
		files[strings.TrimPrefix(e.Path, dir+"/")] = file.Text
	}
	return files
}

// alter does something to the files of a layer and to its model, a map of paths and texts.
func alter(t *rapid.T, l *Layer, dir string, files map[string]string, names []string) {
	name := rapid.SampledFrom(names).Draw(t, "name")
	path := filepath.Join(dir, name)
	text, there := files[name]
	var base Stamp
	if there {
		base = StampOf(text)
	}
	blocked := slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(other string) bool {
		return strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")
	})
	switch action := rapid.SampledFrom([]string{"write", "write", "move", "move", "delete"}).Draw(t, "action"); {
	case action == "write" && !blocked:
		lines := append(Lines(text), "")
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		lines[at] = rapid.SampledFrom([]string{"", "x\n", "y\n", "z\nz\n"}).Draw(t, "line")
		next := strings.Join(lines, "")
		switch _, err := l.Write(path, next, base, Author{Run: "r"}); {
		case err == nil:
			files[name] = next
		case kind(err) != Directory || there: // the folder on disk stays, though it has nothing in it
			t.Fatal(err)
		}
	case action == "delete" && there:
		if err := l.Delete(path, base, Author{Run: "r"}); err != nil {
			t.Fatal(err)
		}
		delete(files, name)
	case action == "move":
		to := rapid.SampledFrom(names).Draw(t, "to")
		err := l.Move(path, filepath.Join(dir, to), base, Author{Run: "r"})
		if err != nil {
			break // whether it may be is the matter of another test; nothing has moved
		}
		for _, from := range slices.Collect(maps.Keys(files)) {
			if rest, ok := strings.CutPrefix(from, name); ok && (rest == "" || rest[0] == '/') {
				files[to+rest] = files[from]
				delete(files, from)
			}
		}
	}
}

func TestLayersWithMovesAtRandom(t *testing.T) {
	top := t.TempDir()
	runs := 0
	names := []string{"a", "b", "c", "d/e", "d/f", "d", "g"}
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(top, fmt.Sprint(runs))
		files := map[string]string{"a": "1\n2\n3\n4\n5\n6\n", "b": "b1\nb2\nb3\n", "d/e": "e1\ne2\ne3\ne4\n"}
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Open([]Root{{Path: dir}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		s := v.NewProposal(ProposalOptions{ID: "p"})
		defer s.Close()
		layers := []*Layer{s.Fork()}
		check := func(what string) {
			for i, l := range layers {
				if got := tree(t, l, dir); i == len(layers)-1 && !maps.Equal(got, files) {
					t.Fatalf("%s: the layer shows %q, want %q", what, got, files)
				}
			}
		}
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{
				"change", "change", "change", "change", "fork", "merge", "reload",
			}).Draw(t, "step") {
			case "change":
				alter(t, layers[len(layers)-1], dir, files, names)
				check("changed")
			case "fork":
				if len(layers) < 4 {
					layers = append(layers, layers[len(layers)-1].Fork())
				}
				check("forked")
			case "merge":
				l := layers[len(layers)-1]
				report, err := l.Merge()
				if err != nil || len(report.Conflicts) > 0 {
					t.Fatalf("got %+v, %v", report, err)
				}
				if left := l.Saved(); len(left) > 0 {
					t.Fatalf("after the merge there is %+v", left)
				}
				check("merged, seen from above")
				if len(layers) > 1 && rapid.Bool().Draw(t, "end") {
					layers = layers[:len(layers)-1]
				}
				check("merged")
			case "reload":
				// Another process has the same layer.
				i := len(layers) - 1
				l := newLayer(v, s, layers[i].parent)
				if conflicts := l.Load(layers[i].Saved()); len(conflicts) > 0 {
					t.Fatalf("got %+v", conflicts)
				}
				layers[i] = l
				check("loaded")
			}
		}
		for ; len(layers) > 0; layers = layers[:len(layers)-1] {
			if report, err := layers[len(layers)-1].Merge(); err != nil || len(report.Conflicts) > 0 {
				t.Fatalf("got %+v, %v", report, err)
			}
			check("merged at the end")
		}
		got := tree(t, s.Fork(), dir)
		if !maps.Equal(got, files) {
			t.Fatalf("the session shows %q, want %q", got, files)
		}
		// Taking all of it makes the disk so.
		var open []event.HunkID
		for _, h := range s.Hunks() {
			if h.State == event.StateOpen {
				open = append(open, h.ID)
			}
		}
		edits, failed := s.Edits(open)
		if len(failed) > 0 {
			t.Fatalf("failed: %+v", failed)
		}
		disk := map[string]string{"a": "1\n2\n3\n4\n5\n6\n", "b": "b1\nb2\nb3\n", "d/e": "e1\ne2\ne3\ne4\n"}
		for _, e := range edits {
			from, to := strings.TrimPrefix(e.Path, dir+"/"), strings.TrimPrefix(e.MoveTo, dir+"/")
			after := e.After()
			delete(disk, from)
			switch {
			case e.MoveTo != "":
				if _, there := disk[to]; there {
					t.Fatalf("%s is moved over %s", from, to)
				}
				disk[to] = after
			case !e.Delete:
				disk[from] = after
			}
		}
		if !maps.Equal(disk, files) {
			t.Fatalf("the edits make %q, want %q", disk, files)
		}
	})
}

// TestThreeForks lets three forks edit a file, and one of them move it: what does not collide arrives, and what does
// is reported with both sides.
func TestThreeForks(t *testing.T) {
	top := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(top, fmt.Sprint(runs))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		const lines = 12
		text := func(edit func(i int) string) string {
			var b strings.Builder
			for i := range lines {
				if line := edit(i); line != "" {
					b.WriteString(line)
				} else {
					fmt.Fprintf(&b, "line %d\n", i)
				}
			}
			return b.String()
		}
		base := text(func(int) string { return "" })
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, []byte(base), 0o644); err != nil {
			t.Fatal(err)
		}
		v, err := Open([]Root{{Path: dir}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		s := v.NewProposal(ProposalOptions{ID: "p"})
		defer s.Close()
		parent := s.Fork()
		mover := rapid.IntRange(-1, 2).Draw(t, "mover")
		edited := make(map[int][]int) // which forks edited a line
		var forks []*Layer
		for n := range 3 {
			l := parent.Fork()
			forks = append(forks, l)
			mine := rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 1, 3, rapid.ID[int]).Draw(t, "lines")
			for _, i := range mine {
				edited[3*i] = append(edited[3*i], n)
			}
			if _, err := l.Write(path, text(func(i int) string {
				if i%3 == 0 && slices.Contains(mine, i/3) {
					return fmt.Sprintf("fork %d\n", n)
				}
				return ""
			}), StampOf(base), Author{Run: event.RunID(fmt.Sprint(n))}); err != nil {
				t.Fatal(err)
			}
			if n == mover {
				file, err := l.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := l.Move(path, filepath.Join(dir, "b"), file.Stamp, Author{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var conflicts []Conflict
		order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
		for _, n := range order {
			report, err := forks[n].Merge()
			if err != nil {
				t.Fatal(err)
			}
			conflicts = append(conflicts, report.Conflicts...)
		}
		if mover >= 0 {
			path = filepath.Join(dir, "b")
		}
		want, clashes := make(map[int]int), 0
		for i, by := range edited {
			clashes += len(by) - 1
			for _, n := range order {
				if slices.Contains(by, n) {
					want[i] = n
					break
				}
			}
		}
		file, err := parent.Read(path)
		if expected := text(func(i int) string {
			if n, ok := want[i]; ok {
				return fmt.Sprintf("fork %d\n", n)
			}
			return ""
		}); err != nil || file.Text != expected {
			t.Fatalf("got %q, %v, want %q", file.Text, err, expected)
		}
		if len(conflicts) != clashes {
			t.Fatalf("%d conflicts, want %d: %+v", len(conflicts), clashes, conflicts)
		}
		for _, c := range conflicts {
			if !strings.HasPrefix(c.Ours, "fork") || !strings.HasPrefix(c.Theirs, "fork") ||
				c.Ours == c.Theirs || !strings.HasPrefix(c.Base, "line") {
				t.Fatalf("got %+v", c)
			}
		}
	})
}
