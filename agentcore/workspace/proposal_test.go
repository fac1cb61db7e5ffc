package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

const five = "one\ntwo\nthree\nfour\nfive\n"

// proposal is a session with one file that is open, and what Changed told of it.
type proposal struct {
	*Proposal
	t       *testing.T
	path    string
	version int32
	changed [][]Hunk
}

func propose(t *testing.T, shown string, texts ...string) *proposal {
	t.Helper()
	v, dir := open(t, map[string]string{"a.txt": shown})
	p := &proposal{t: t, path: filepath.Join(dir, "a.txt")}
	v.SetDocument(p.path, shown, 0)
	p.Proposal = v.NewProposal(ProposalOptions{
		ID: "p1", Changed: func(hunks []Hunk) { p.changed = append(p.changed, hunks) },
	})
	t.Cleanup(p.Close)
	layer := p.Fork()
	for _, text := range texts {
		write(t, layer, p.path, text, "")
	}
	merge(t, layer)
	return p
}

func (p *proposal) show(text string) {
	p.version++
	p.view.SetDocument(p.path, text, p.version)
}

// is checks the hunks, each as "state start-end before → after".
func (p *proposal) is(want ...string) {
	p.t.Helper()
	var got []string
	for _, h := range p.Hunks() {
		got = append(got, describe(h))
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func describe(h Hunk) string {
	place := string(rune('0'+h.StartLine)) + "-" + string(rune('0'+h.EndLine))
	return string(h.State) + " " + place + " " + h.Before + "→ " + h.After
}

func TestHunksFollowTyping(t *testing.T) {
	for _, test := range []struct {
		name, proposed string
		shown          []string
		want           []string
	}{
		{"above", "one\ntwo\nTHREE\nfour\nfive\n", []string{"zero\n" + five}, []string{"open 3-4 three\n→ THREE\n"}},
		{
			"beside", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\nTWO\nthree\nFOUR\nfive\n"},
			[]string{"open 2-3 three\n→ THREE\n"},
		},
		{
			"in it", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\ntwo\nthree!\nfour\nfive\n"},
			[]string{"conflict 2-3 three\n→ THREE\n"},
		},
		{
			"in it and back", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\ntwo\nthree!\nfour\nfive\n", "zero\none\ntwo\nthree!\nfour\nfive\n", "zero\n" + five},
			[]string{"open 3-4 three\n→ THREE\n"},
		},
		{
			"the same by hand", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\ntwo\nT\nfour\nfive\n", "one\ntwo\nTHREE\nfour\nfive\n"},
			[]string{"accepted 2-3 three\n→ THREE\n"},
		},
		{
			"a line joined and split", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\ntwothree\nfour\nfive\n", five},
			[]string{"open 2-3 three\n→ THREE\n"},
		},
		{
			"lines deleted and back", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\nfive\n", five},
			[]string{"open 2-3 three\n→ THREE\n"},
		},
		{
			"everything deleted and back", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"", five},
			[]string{"open 2-3 three\n→ THREE\n"},
		},
		{
			"an insertion, in front", "one\nnew\ntwo\nthree\nfour\nfive\n",
			[]string{"one\nmine\ntwo\nthree\nfour\nfive\n"},
			[]string{"open 2-2 → new\n"},
		},
		{
			"an insertion by hand", "one\nnew\ntwo\nthree\nfour\nfive\n",
			[]string{"one\nnew\ntwo\nthree\nfour\nfive\n"},
			[]string{"accepted 2-2 → new\n"},
		},
		{
			"half of two lines by hand", "one\nTWO\nTHREE\nfour\nfive\n",
			[]string{"one\nTWO\nthree\nfour\nfive\n"},
			[]string{"conflict 1-3 two\nthree\n→ TWO\nTHREE\n"},
		},
		{
			"the end loses its line ending", five + "six\n",
			[]string{strings.TrimSuffix(five, "\n")},
			[]string{"conflict 4-5 → six\n"},
		},
		{
			"the end gets it back", five + "six\n",
			[]string{strings.TrimSuffix(five, "\n"), five},
			[]string{"open 5-5 → six\n"},
		},
		{
			"a formatter ran", "one\ntwo\nTHREE\nfour\nfive\n",
			[]string{"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n"},
			[]string{"conflict 0-5 three\n→ THREE\n"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, five, test.proposed)
			for _, text := range test.shown {
				p.show(text)
			}
			p.is(test.want...)
		})
	}
}

func TestConflictKeepsBothSides(t *testing.T) {
	p := propose(t, five, "one\ntwo\nTHREE\nfour\nfive\n")
	id := p.Hunks()[0].ID
	p.show("one\ntwo\ndrei\nfour\nfive\n")
	h, ok := p.Hunk(id)
	if !ok || h.State != event.StateConflict || h.Current != "drei\n" || h.After != "THREE\n" || h.Detail == "" {
		t.Errorf("got %+v", h)
	}
	if edits, failed := p.Edits([]event.HunkID{id, "nothing", id}); len(edits) != 0 ||
		len(failed) != 2 || failed[0].ID != id || failed[1].ID != "nothing" {
		t.Errorf("got %+v, %+v", edits, failed)
	}
	// A later edit of the lines takes its place.
	layer := p.Fork()
	write(t, layer, p.path, "one\ntwo\nDREI\nfour\nfive\n", "")
	merge(t, layer)
	if h, _ := p.Hunk(id); h.State != event.StateSuperseded {
		t.Errorf("got %+v", h)
	}
	p.is("superseded 2-3 three\n→ THREE\n", "open 2-3 drei\n→ DREI\n")
	if failed := p.Reject([]event.HunkID{id}); len(failed) != 1 {
		t.Errorf("a superseded hunk was rejected")
	}
}

func TestHunksOfSeveralWrites(t *testing.T) {
	p := propose(t, five, "ONE\ntwo\nthree\nfour\nfive\n",
		"ONE\ntwo\nTHREE\nfour\nfive\n", "ONE\ntwo\nTHREE!\nfour\nfive\n")
	p.is("open 0-1 one\n→ ONE\n", "open 2-3 three\n→ THREE!\n")
	first := p.Hunks()
	layer := p.Fork()
	write(t, layer, p.path, "ONE\nTWO\nTHREE!\nfour\nfive\n", "")
	report := merge(t, layer)
	p.is("open 0-1 one\n→ ONE\n", "open 1-2 two\n→ TWO\n", "open 2-3 three\n→ THREE!\n")
	if len(report.Hunks) != 1 || p.Hunks()[1].ID != report.Hunks[0] || p.Hunks()[0].ID != first[0].ID {
		t.Errorf("got %+v", report)
	}
	// Taking edits back takes their hunks away.
	write(t, layer, p.path, five, "")
	if report := merge(t, layer); len(report.Hunks) != 0 {
		t.Errorf("got %+v", report)
	}
	p.is("superseded 0-1 one\n→ ONE\n", "superseded 1-2 two\n→ TWO\n", "superseded 2-3 three\n→ THREE!\n")
}

func TestAcceptSeveralFiles(t *testing.T) {
	v, dir := open(t, map[string]string{"a": "a\n", "b": "b\nb\n", "old": "old\n"})
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, layer, at("a"), "A\n", "why a")
	write(t, layer, at("new/file"), "new\n", "why new")
	file, err := layer.Read(at("old"))
	if err != nil {
		t.Fatal(err)
	}
	if err := layer.Delete(at("old"), file.Stamp, Author{Reason: "why old"}); err != nil {
		t.Fatal(err)
	}
	if _, err := layer.Read(at("old")); kind(err) != NotFound {
		t.Errorf("a deleted file: %v", err)
	}
	report := merge(t, layer)
	v.SetDocument(at("b"), "b\nb\n", 7)
	edits, failed := s.Edits(report.Hunks)
	if len(failed) != 0 || len(edits) != 3 {
		t.Fatalf("got %+v, %+v", edits, failed)
	}
	a, created, deleted := edits[0], edits[1], edits[2]
	if a.Path != at("a") || a.Version != -1 || a.Before != "a\n" ||
		!slices.Equal(a.Edits, []Edit{{0, 2, "A\n"}}) || a.Reasons[0] != "why a" {
		t.Errorf("got %+v", a)
	}
	if !created.Create || created.Path != at("new/file") ||
		!slices.Equal(created.Edits, []Edit{{0, 0, "new\n"}}) || created.Reasons[0] != "why new" {
		t.Errorf("got %+v", created)
	}
	if !deleted.Delete || deleted.Path != at("old") || len(deleted.Edits) != 0 || deleted.Reasons[0] != "why old" {
		t.Errorf("got %+v", deleted)
	}
	// The editor makes the new file empty first.
	s.Confirm(report.Hunks, true, "")
	v.SetDocument(at("new/file"), "", 1)
	v.SetDocument(at("new/file"), "new\n", 2)
	put(t, at("a"), "A\n")
	v.Recheck(at("a"))
	if err := os.Remove(at("old")); err != nil {
		t.Fatal(err)
	}
	v.DiskChanged([]string{dir})
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, h := range s.Hunks() {
		if h.State != event.StateAccepted {
			t.Errorf("got %+v", h)
		}
	}
	if n := len(s.Accepted()); n != 3 {
		t.Errorf("%d of 3 hunks can be undone", n)
	}
	s.Close()
	if len(v.anchors) != 0 {
		t.Errorf("%d anchors are left", len(v.anchors))
	}
}

func TestEditorThatDoesNotTakeEdits(t *testing.T) {
	p := propose(t, five, "one\ntwo\nTHREE\nfour\nfive\n")
	ids := []event.HunkID{p.Hunks()[0].ID}
	p.Edits(ids)
	p.Confirm(ids, false, "the document is read-only")
	if h, _ := p.Hunk(ids[0]); h.State != event.StateOpen || h.Detail != "the document is read-only" {
		t.Errorf("got %+v", h)
	}
	p.Confirm(ids, true, "")
	if h, _ := p.Hunk(ids[0]); h.State != event.StateAccepted {
		t.Errorf("got %+v", h)
	}
	if _, failed := p.Edits(ids); len(failed) != 1 {
		t.Error("a hunk was given out twice")
	}
	if failed := p.Reject(ids); len(failed) != 1 {
		t.Error("a hunk that was taken was rejected")
	}
	p.show("one\ntwo\nthree\nfour\n")
	if h, _ := p.Hunk(ids[0]); h.State != event.StateOpen || h.Detail == "" {
		t.Errorf("got %+v", h)
	}
	var states []event.ProposalState
	for _, hunks := range p.changed {
		states = append(states, hunks[0].State)
	}
	if want := []event.ProposalState{"open", "open", "accepted", "open"}; !slices.Equal(states, want) {
		t.Errorf("Changed told %q, want %q", states, want)
	}
}

func TestCreatedFileThatAppears(t *testing.T) {
	v, dir := open(t, nil)
	path := filepath.Join(dir, "new")
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	write(t, layer, path, "mine\n", "")
	merge(t, layer)
	v.SetDocument(path, "other\n", 1)
	if h := s.Hunks()[0]; h.State != event.StateConflict || h.Current != "other\n" {
		t.Errorf("got %+v", h)
	}
	v.CloseDocument(path)
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := s.Hunks()[0]; h.State != event.StateOpen {
		t.Errorf("got %+v", h)
	}
	if _, err := v.Read(path); kind(err) != NotFound {
		t.Errorf("got %v", err)
	}
	if file, err := layer.Read(path); err != nil || file.Text != "mine\n" {
		t.Errorf("got %+v, %v", file, err)
	}
}

// TestCreatedFileThatAppearsBlank: editors make an empty file, or one empty line, before they fill it; what the hunk
// replaces then is told.
func TestCreatedFileThatAppearsBlank(t *testing.T) {
	v, dir := open(t, nil)
	path := filepath.Join(dir, "new")
	var told []Hunk
	s := v.NewProposal(ProposalOptions{Changed: func(hunks []Hunk) { told = append(told, hunks...) }})
	layer := s.Fork()
	write(t, layer, path, "mine\n", "")
	merge(t, layer)
	v.SetDocument(path, "\n", 1)
	if last := told[len(told)-1]; last.Before != "\n" || last.State != event.StateOpen {
		t.Errorf("told %+v", told)
	}
}

func TestRestore(t *testing.T) {
	p := propose(t, five, "ONE\ntwo\nthree\nfour\nnew\nfive\n")
	former := p.Hunks()
	for _, test := range []struct {
		name, shown string
		want        []string
	}{
		{"the same text", five, []string{"open 0-1 one\n→ ONE\n", "open 4-4 → new\n"}},
		{"moved", "zero\n" + five, []string{"open 1-2 one\n→ ONE\n", "open 5-5 → new\n"}},
		{"twice", "zero\none\none\n", []string{"conflict 0-1 one\n→ ONE\n", "conflict 3-3 → new\n"}},
		{"other", "x\n", []string{"conflict 0-1 one\n→ ONE\n", "conflict 1-1 → new\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := propose(t, test.shown)
			restored := slices.Clone(former)
			for i := range restored {
				restored[i].Path = q.path
			}
			q.Restore(restored)
			q.is(test.want...)
			if q.Hunks()[0].ID != former[0].ID || len(q.changed) != 1 {
				t.Errorf("got %+v, told %d times", q.Hunks(), len(q.changed))
			}
			q.Restore(restored) // they are there already
			q.is(test.want...)
		})
	}
}

func TestSessionsAreApart(t *testing.T) {
	p := propose(t, five, "one\ntwo\nTHREE\nfour\nfive\n")
	other := p.view.NewProposal(ProposalOptions{})
	if file, err := other.Fork().Read(p.path); err != nil || file.Text != five {
		t.Errorf("got %+v, %v", file, err)
	}
	layer := other.Fork()
	write(t, layer, p.path, "one\ntwo\nDREI\nfour\nfive\n", "")
	merge(t, layer)
	ids := []event.HunkID{p.Hunks()[0].ID}
	p.Edits(ids)
	p.show("one\ntwo\nTHREE\nfour\nfive\n")
	p.is("accepted 2-3 three\n→ THREE\n")
	if h := other.Hunks()[0]; h.State != event.StateConflict {
		t.Errorf("got %+v", h)
	}
	other.Close()
	p.Close() // it follows what can be undone
	if len(other.Hunks()) != 0 || len(p.view.anchors) != 0 {
		t.Error("a closed session has hunks")
	}
}

func TestMarks(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	gone := map[string]int{}
	track := func(name string, start, end int) *Mark {
		return v.Track(path, StampOf(five), start, end, func() {
			gone[name]++
			v.Roots() // no lock is held
		})
	}
	two, four, released := track("two", 1, 2), track("four", 3, 4), track("released", 3, 4)
	if v.Track(filepath.Join(dir, "none"), "", 0, 1, nil) != nil {
		t.Error("a file that is not there has a mark")
	}
	if v.Track(path, StampOf("older"), 0, 1, nil) != nil {
		t.Error("there is a mark on a text that is not there")
	}
	v.SetDocument(path, "zero\n"+five, 1)
	if start, end, ok := four.Lines(); start != 4 || end != 5 || !ok {
		t.Errorf("got %d, %d, %v", start, end, ok)
	}
	released.Release()
	v.SetDocument(path, "zero\none\ntwo\nthree\nFOUR\nfive\n", 2)
	if _, _, ok := four.Lines(); ok || gone["four"] != 1 {
		t.Errorf("gone %v", gone)
	}
	if start, _, ok := two.Lines(); start != 2 || !ok {
		t.Errorf("got %d, %v", start, ok)
	}
	// Closing the document shows the disk again.
	v.CloseDocument(path)
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if start, _, ok := two.Lines(); start != 1 || !ok {
		t.Errorf("got %d, %v", start, ok)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	v.DiskChanged([]string{dir})
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := two.Lines(); ok || gone["two"] != 1 || gone["released"] != 0 || len(v.anchors) != 0 {
		t.Errorf("gone %v, %d anchors", gone, len(v.anchors))
	}
	two.Release()
}
