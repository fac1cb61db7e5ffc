package workspace

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// The tests of this file count what a change of many files costs, at n files and at 2n, so that no step becomes one
// that looks at all files for each of them.

// wide is a view with a text in each of n files, fifty to a folder, and what a command makes of all of them.
type wide struct {
	view    *View
	session *Proposal
	told    []int // the hunks of each call of Changed
	changed []Written
	// made are the same texts in new files, moved these and that the old ones are gone.
	made, moved []Written
}

func newWide(t *testing.T, n int) *wide {
	t.Helper()
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("src/p%02d/f%03d.go", i/50, i)] = fmt.Sprintf("one\ntwo\nthree\nfour %d\n", i)
	}
	view, dir := open(t, files)
	w := &wide{view: view}
	w.session = view.NewProposal(ProposalOptions{Changed: func(list []Hunk) { w.told = append(w.told, len(list)) }})
	for name, text := range files {
		w.changed = append(w.changed, Written{
			Path: filepath.Join(dir, filepath.FromSlash(name)), Content: []byte("one\n2\nthree\n4\n"), Existed: true,
			Before: sha256.Sum256([]byte(text)),
		})
		gone := w.changed[len(w.changed)-1]
		gone.Deleted, gone.Content = true, nil
		made := Written{Path: filepath.Join(dir, "made", filepath.FromSlash(name)), Content: []byte(text)}
		w.made, w.moved = append(w.made, made), append(w.moved, made, gone)
	}
	return w
}

// take has a run make what a command wrote edits of its own.
func (w *wide) take(t *testing.T, written []Written) *Layer {
	t.Helper()
	layer := w.session.Fork()
	snapshot := layer.Snapshot()
	snapshot.taken = time.Now().Add(time.Hour) // the files are younger than the test needs
	for _, taken := range snapshot.TakeAll(written, Author{Reason: "made"}) {
		if !taken.Changed || taken.Problem != nil {
			t.Fatalf("%+v", taken)
		}
	}
	return layer
}

// TestWideCommandCosts: what a command wrote is looked at a few times for each file, and its folders once for all; no
// file is held against all the others.
func TestWideCommandCosts(t *testing.T) {
	for _, test := range []struct {
		name    string
		written func(*wide) []Written
		looks   int64 // for each file, at the disk
	}{
		{"change", func(w *wide) []Written { return w.changed }, 10},
		{"make", func(w *wide) []Written { return w.made }, 8},
		{"move", func(w *wide) []Written { return w.moved }, 30},
	} {
		count := func(n int) (looks, visits int64) {
			w := newWide(t, n)
			r, _ := w.view.locate(w.changed[0].Path)
			below, err := r.folders()
			if err != nil {
				t.Fatal(err)
			}
			w.take(t, test.written(w))
			calls := below.Calls()
			return calls.Paths + calls.Looks + calls.Files + calls.Folders, w.view.expected.visited.Load()
		}
		const n, folder, each = 200, 20, 20
		one, visits := count(n)
		two, _ := count(2 * n)
		if most := n*test.looks + (n/50+2)*folder; one > most {
			t.Errorf("%s: %d files took %d looks at the disk, want %d at most", test.name, n, one, most)
		}
		if two > 2*one {
			t.Errorf("%s: %d files took %d looks at the disk, twice as many %d", test.name, n, one, two)
		}
		if most := int64(n * each); visits > most {
			t.Errorf("%s: %d files visited %d names, want %d at most", test.name, n, visits, most)
		}
	}
}

// TestWideMergeIsToldOnce: however many files a merge changes, whoever counts and stores the hunks is told once.
func TestWideMergeIsToldOnce(t *testing.T) {
	w := newWide(t, 120)
	merge(t, w.take(t, w.changed))
	if len(w.told) != 1 || w.told[0] != 240 {
		t.Errorf("hunks were told of as %v, want 240 at once", w.told)
	}
}

// TestManyHunksAreFoundAtOnce: what is done with many hunks looks at each of them a few times, not all for each.
func TestManyHunksAreFoundAtOnce(t *testing.T) {
	w := newWide(t, 120)
	merge(t, w.take(t, w.changed))
	var ids []event.HunkID
	for _, h := range w.session.Hunks() {
		ids = append(ids, h.ID)
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"edits", func() { w.session.Edits(ids) }},
		{"remark", func() { w.session.Remark(ids, "looked at") }},
		{"overwrite", func() { w.session.Overwrite(ids) }},
		{"confirm", func() { w.session.Confirm(ids[:len(ids)/2], false, "no") }},
		{"reject", func() { w.session.Reject(ids) }},
	} {
		w.session.visited = 0
		step.do()
		if most := 3 * len(ids); w.session.visited == 0 || w.session.visited > most {
			t.Errorf("%s looked at %d hunks for %d, want %d at most", step.name, w.session.visited, len(ids), most)
		}
	}
	if left := w.session.Hunks(); left[0].State != event.StateRejected {
		t.Errorf("%d hunks are left: %+v", len(left), left[0])
	}
}

// TestSavingCostsWhatChanged: what a run stores behind each call costs the files of that call, not all of its layer.
func TestSavingCostsWhatChanged(t *testing.T) {
	w := newWide(t, 200)
	layer := w.take(t, w.changed)
	_, _, saved := layer.SavedSince(0)
	layer.visited = 0
	const rounds = 20
	for round := range rounds {
		for _, file := range w.changed {
			write(t, layer, file.Path, fmt.Sprint("round ", round), "")
			changed, dropped, now := layer.SavedSince(saved)
			if len(changed) != 1 || changed[0].Path != file.Path || len(dropped) != 0 {
				t.Fatalf("%d files are changed, %v dropped", len(changed), dropped)
			}
			saved = now
		}
	}
	if most := 3 * rounds * len(w.changed); layer.visited > most {
		t.Errorf("%d calls looked at %d changes, want %d at most", rounds*len(w.changed), layer.visited, most)
	}
	if most := 64 + 2*len(w.changed) + 2; len(layer.journal) > most {
		t.Errorf("the layer remembers %d changes, want %d at most", len(layer.journal), most)
	}
	for _, file := range w.changed[:50] {
		if err := layer.Delete(file.Path, StampOf(fmt.Sprint("round ", rounds-1)), Author{}); err != nil {
			t.Fatal(err)
		}
	}
	if changed, dropped, _ := layer.SavedSince(saved); len(changed) != 50 || len(dropped) != 0 {
		t.Errorf("%d files are changed, %v dropped", len(changed), dropped)
	}
	merge(t, layer)
	if changed, dropped, _ := layer.SavedSince(saved); len(changed) != 0 || len(dropped) != len(w.changed) {
		t.Errorf("%d files are changed, %d dropped", len(changed), len(dropped))
	}
}

// TestExpectedNames: what may be below a path, and what differs from a name in letter case alone, is known of every
// path that was added or renamed, as a walk over all of them finds it.
func TestExpectedNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e expected
		name := rapid.SampledFrom([]string{"a", "A", "s", "ſ", "σ", "ς", "K", "K", "b.", "b"})
		draw := func(label string, least int) string {
			return "/" + strings.Join(rapid.SliceOfN(name, least, 4).Draw(t, label), "/")
		}
		all := map[string]bool{}
		add := func(at string) {
			for ; at != "/"; at = path.Dir(at) {
				all[at] = true
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "renames") > 0 {
				at := draw("path", 1)
				e.add(at)
				add(at)
				continue
			}
			from, to := draw("from", 1), draw("to", 1)
			e.add(from)
			add(from)
			for _, at := range slices.Collect(maps.Keys(all)) {
				if renamed := renamed(at, from, to); renamed != at {
					add(renamed)
				}
			}
			e.rename(from, to)
		}
		at := draw("asked", 1)
		dir, base := path.Dir(at), path.Base(at)
		inside, twins := false, false
		for other := range all {
			inside = inside || strings.HasPrefix(other, at+"/")
			name := path.Base(other)
			twins = twins || path.Dir(other) == dir && name != base && strings.EqualFold(name, base)
			if !e.has(foldedSlash(other)) {
				t.Fatalf("%s is forgotten", other)
			}
		}
		if got := e.inside(at); got != inside {
			t.Fatalf("below %s is anything: %t, want %t", at, got, inside)
		}
		if got := e.twins(dir, base); got != twins {
			t.Fatalf("%s has a twin: %t, want %t", at, got, twins)
		}
	})
}

// TestTwinsOfOneCommand: of two new files whose names differ in letter case alone a command brings one.
func TestTwinsOfOneCommand(t *testing.T) {
	view, dir := open(t, map[string]string{"src/there.go": "there\n"})
	layer := view.NewProposal(ProposalOptions{}).Fork()
	var written []Written
	for _, name := range []string{"src/Name.go", "src/name.go", "new/A/x", "new/a/x", "src/other.go"} {
		written = append(written, Written{Path: filepath.Join(dir, filepath.FromSlash(name)), Content: []byte(name)})
	}
	var got []string
	for _, taken := range layer.Snapshot().TakeAll(written, Author{}) {
		got = append(got, fmt.Sprintf("%s %t", view.Relative(taken.Path), taken.Problem == nil))
	}
	want := "new/A/x true, new/a/x false, src/Name.go true, src/name.go false, src/other.go true"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("it took %s, want %s", all, want)
	}
}
