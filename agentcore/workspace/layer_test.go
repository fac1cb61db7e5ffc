package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// kind returns the kind of a *FileError, "" for any other.
func kind(err error) ErrorKind {
	var file *FileError
	if errors.As(err, &file) {
		return file.Kind
	}
	return ""
}

func TestWriteIsRefused(t *testing.T) {
	v, dir := open(t, map[string]string{
		"a": "a\n", "dir/b": "b\n", "bin": "\x00", ".env": "KEY=1\n", ".git/config": "c\n",
		"dir/.vscode/tasks.json": "{}",
	})
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	write(t, layer, filepath.Join(dir, "made/x"), "x\n", "")
	v.SetDocument("untitled:1", "u\n", 1)
	if file, err := layer.Read("untitled:1"); err != nil || file.Text != "u\n" || file.Version != 1 {
		t.Errorf("got %+v, %v", file, err)
	}
	a := StampOf("a\n")
	for _, test := range []struct {
		name, text string
		base       Stamp
		want       ErrorKind
	}{
		{"a", "x", "", Exists},
		{"a", "x", "other", Stale},
		{"none", "x", "other", Stale},
		{"dir", "x", "", Directory},
		{"made", "x", "", Directory},
		{"made/x/y", "x", "", NotRegular},
		{"a/b", "x", "", NotRegular},
		{"bin", "x", "", Binary},
		{"a", "x\x00", a, Binary},
		{"a", "\xff", a, Binary},
		{".env", "x", "", Protected},
		{".git/hooks/pre-commit", "x", "", Protected},
		{".GIT/config", "x", "", Protected},
		{"dir/.vscode/tasks.json", "x", "", Protected},
		{"../out", "x", "", Outside},
		{".", "x", "", Directory},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := layer.Write(filepath.Join(dir, test.name), test.text, test.base, Author{})
			if kind(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			var file *FileError
			if errors.As(err, &file) && (file.Hint == "" || file.Detail == "") {
				t.Errorf("no help in %+v", file)
			}
			if test.name == "a" && (test.want == Stale || test.want == Exists) &&
				(file.Current == nil || file.Current.Text != "a\n") {
				t.Errorf("the text as it is now is missing: %+v", file)
			}
		})
	}
	if _, err := layer.Write("untitled:1", "x", StampOf("u\n"), Author{}); kind(err) != Outside {
		t.Errorf("a document without a file was written: %v", err)
	}
	if err := layer.Delete(filepath.Join(dir, "none"), "", Author{}); kind(err) != NotFound {
		t.Errorf("got %v", err)
	}
	if err := layer.Delete(filepath.Join(dir, "a"), "other", Author{}); kind(err) != Stale {
		t.Errorf("got %v", err)
	}
	if changes := layer.Changes(); len(changes) != 1 {
		t.Errorf("got %+v", changes)
	}
}

func TestLayerSeesWhatIsBelow(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	if _, ok := layer.Seen(path); ok {
		t.Error("seen before it was read")
	}
	write(t, layer, path, "one\ntwo\nthree\nfour\nFIVE\n", "")
	read := func(want string) {
		t.Helper()
		file, err := layer.Read(path)
		if err != nil || file.Text != want {
			t.Errorf("got %q, %v; want %q", file.Text, err, want)
		}
	}
	seen, _ := layer.Seen(path)
	v.SetDocument(path, "ONE\ntwo\nthree\nfour\nfive\n", 1)
	if _, err := layer.Write(path, "lost keystrokes\n", seen, Author{}); kind(err) != Stale {
		t.Errorf("a write over what the user typed: %v", err)
	}
	read("ONE\ntwo\nthree\nfour\nFIVE\n")
	// An edit that does not fit any more is left out, and is back where the text is.
	v.SetDocument(path, "ONE\ntwo\nthree\nfour\nfünf\n", 2)
	read("ONE\ntwo\nthree\nfour\nfünf\n")
	v.SetDocument(path, five, 3)
	read("one\ntwo\nthree\nfour\nFIVE\n")
	v.SetDocument(path, "one\ntwo\nthree\nfour\nfünf\n", 4)
	write(t, layer, path, "eins\ntwo\nthree\nfour\nfünf\n", "")
	report := merge(t, layer)
	if len(report.Conflicts) != 1 ||
		report.Conflicts[0] != (Conflict{
			Path: path, StartLine: 4, EndLine: 5, Base: "five\n", Ours: "FIVE\n", Theirs: "fünf\n",
		}) ||
		len(report.Hunks) != 1 {
		t.Errorf("got %+v", report)
	}
	read("eins\ntwo\nthree\nfour\nfünf\n")
	// The run goes on on the merged text.
	write(t, layer, path, "eins\nzwei\nthree\nfour\nfünf\n", "")
	if report := merge(t, layer); len(report.Conflicts) != 0 {
		t.Errorf("got %+v", report)
	}
	read("eins\nzwei\nthree\nfour\nfünf\n")
}

// What a run reads it knows from its next turn on: the other calls of this one were made up before.
func TestSeenFromTheNextTurnOn(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	layer := v.NewProposal(ProposalOptions{}).Fork()
	old, err := layer.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := layer.Seen(path); ok {
		t.Error("seen in the turn that read it")
	}
	layer.NextTurn()
	v.SetDocument(path, "typed\n", 1)
	file, err := layer.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if stamp, _ := layer.SeenWhole(path); stamp != old.Stamp {
		t.Error("a call knows what another of its turn read")
	}
	if _, err := layer.Write(path, "typed\nmore\n", file.Stamp, Author{}); err != nil {
		t.Fatal(err)
	}
	if _, ok := layer.SeenWhole(path); ok {
		t.Error("a run knows the text that it edited without having seen it")
	}
	layer.NextTurn()
	if _, ok := layer.SeenWhole(path); !ok {
		t.Error("a run does not know what it read and edited in its last turn")
	}
	layer.Forget(path)
	layer.NextTurn()
	if _, ok := layer.Seen(path); ok {
		t.Error("not forgotten")
	}
}

func TestChildrenMerge(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	s := v.NewProposal(ProposalOptions{})
	parent := s.Fork()
	write(t, parent, path, "ONE\ntwo\nthree\nfour\nfive\n", "parent")
	first, second := parent.Fork(), parent.Fork()
	if _, ok := first.Seen(path); ok {
		t.Error("a child has seen what its parent read")
	}
	write(t, first, path, "ONE\ntwo\nTHREE\nfour\nfive\n", "first")
	write(t, second, path, "ONE\ntwo\ndrei\nfour\nFIVE\n", "second")
	write(t, second, filepath.Join(dir, "new"), "new\n", "second")
	if file, err := parent.Read(path); err != nil || file.Text != "ONE\ntwo\nthree\nfour\nfive\n" {
		t.Errorf("a parent sees its child's edits too early: %+v, %v", file, err)
	}
	if report := merge(t, first); len(report.Conflicts) != 0 || len(report.Hunks) != 0 {
		t.Errorf("got %+v", report)
	}
	report := merge(t, second)
	if len(report.Conflicts) != 1 || report.Conflicts[0].Ours != "drei\n" ||
		report.Conflicts[0].Theirs != "THREE\n" || report.Conflicts[0].Path != path {
		t.Errorf("got %+v", report)
	}
	changes := parent.Changes()
	if len(changes) != 2 || changes[0].After.Text != "ONE\ntwo\nTHREE\nfour\nFIVE\n" ||
		changes[0].Before.Text != five || changes[1].Before != nil || len(changes[0].Authors) != 3 {
		t.Errorf("got %+v", changes)
	}
	if len(s.Hunks()) != 0 {
		t.Error("hunks appeared before the root merged")
	}
	ids := merge(t, parent).Hunks
	if len(ids) != 4 {
		t.Fatalf("got %d hunks", len(ids))
	}
	for i, reason := range []string{"parent", "first", "second", "second"} {
		if h, ok := s.Hunk(ids[i]); !ok || h.Author.Reason != reason {
			t.Errorf("hunk %d is %+v", i, h)
		}
	}
}

func TestMergeThatCannotRead(t *testing.T) {
	v, dir := open(t, map[string]string{"a": "a\n", "b": "b\n"})
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	write(t, layer, filepath.Join(dir, "a"), "A\n", "")
	write(t, layer, filepath.Join(dir, "b"), "B\n", "")
	put(t, filepath.Join(dir, "a"), "\x00\x00\x00")
	v.DiskChanged([]string{filepath.Join(dir, "a")})
	report, err := layer.Merge()
	if kind(err) != Binary || len(report.Hunks) != 1 {
		t.Errorf("got %+v, %v", report, err)
	}
	put(t, filepath.Join(dir, "a"), "a\n")
	v.DiskChanged([]string{filepath.Join(dir, "a")})
	if report := merge(t, layer); len(report.Hunks) != 1 {
		t.Errorf("got %+v", report)
	}
}

// Everybody works at once; the race detector and the last state judge.
func TestConcurrentUse(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	var told sync.Map
	s := v.NewProposal(ProposalOptions{})
	s.options.Changed = func(hunks []Hunk) {
		for _, h := range hunks {
			told.Store(h.ID, h.State)
		}
		s.Hunks()
	}
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			layer := s.Fork()
			for i := range 30 {
				other := filepath.Join(dir, fmt.Sprintf("file%d", n))
				file, err := layer.Read(other)
				if err != nil && kind(err) != NotFound {
					t.Error(err)
				}
				if _, err := layer.Write(other, fmt.Sprintf("%d\n%s", i, file.Text), file.Stamp, Author{}); err != nil {
					t.Error(err)
				}
				if _, err := layer.Merge(); err != nil {
					t.Error(err)
				}
				for _, err := range layer.Walk(t.Context(), dir, WalkOptions{}) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Go(func() {
		for i := range 200 {
			v.SetDocument(path, fmt.Sprintf("%d\n%s", i, five), int32(i))
			v.DiskChanged([]string{dir})
			if i%20 == 0 {
				v.CloseDocument(path)
			}
		}
	})
	group.Go(func() {
		for range 100 {
			if m := v.Track(path, StampOf(five), 1, 2, func() {}); m != nil {
				m.Lines()
				m.Release()
			}
			for _, h := range s.Hunks() {
				s.Edits([]event.HunkID{h.ID})
			}
		}
	})
	group.Wait()
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	hunks := s.Hunks()
	if len(hunks) != 4 {
		t.Fatalf("got %+v", hunks)
	}
	for _, h := range hunks {
		if state, ok := told.Load(h.ID); !ok || state != event.StateOpen || len(Lines(h.After)) != 30 {
			t.Errorf("told %v of %+v", state, h)
		}
	}
}

// Children end beside each other while their parent brings to the session what the first of them left.
func TestMergesBesideEachOther(t *testing.T) {
	const children = 24
	var lines []string
	for i := range children {
		lines = append(lines, fmt.Sprintf("line %d\n", i), "\n", "\n")
	}
	for range 20 {
		v, dir := open(t, map[string]string{"a": strings.Join(lines, "")})
		path := filepath.Join(dir, "a")
		s := v.NewProposal(ProposalOptions{})
		parent := s.Fork()
		var group sync.WaitGroup
		for i := range children {
			child := parent.Fork()
			group.Go(func() {
				for { // a sibling's edit may come between
					file, err := child.Read(path)
					if err != nil {
						t.Error(err)
						return
					}
					text := strings.Replace(file.Text, fmt.Sprintf("line %d\n", i), fmt.Sprintf("LINE %d\n", i), 1)
					_, err = child.Write(path, text, file.Stamp, Author{})
					if err == nil {
						break
					}
					if kind(err) != Stale {
						t.Error(err)
						return
					}
				}
				merge(t, child)
			})
		}
		ended := make(chan struct{})
		go func() { group.Wait(); close(ended) }()
		for done := false; !done; {
			select {
			case <-ended:
				done = true
			default:
			}
			merge(t, parent)
		}
		merge(t, parent)
		file, err := s.Fork().Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file.Text, "line") {
			t.Fatalf("an edit is lost:\n%s", file.Text)
		}
		s.Close()
	}
}

// What comes back under a deletion, since it changed, is not deleted by a run that has not seen it.
func TestDeletedTwice(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	layer := v.NewProposal(ProposalOptions{}).Fork()
	old, err := layer.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	layer.NextTurn()
	if err := layer.Delete(path, old.Stamp, Author{}); err != nil {
		t.Fatal(err)
	}
	v.SetDocument(path, "typed\n", 1)
	now, err := layer.Fork().Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := layer.Delete(path, now.Stamp, Author{}); kind(err) != Stale {
		t.Errorf("a run deletes what it has not seen: %v", err)
	}
	if _, err := layer.Read(path); err != nil {
		t.Fatal(err)
	}
	layer.NextTurn()
	if err := layer.Delete(path, now.Stamp, Author{}); err != nil {
		t.Errorf("a run cannot delete what it has read: %v", err)
	}
}
