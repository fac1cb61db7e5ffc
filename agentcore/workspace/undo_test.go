package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// made returns the text that an edit leads to, as the editor makes it.
func made(e FileEdit) string {
	var b strings.Builder
	at := 0
	for _, one := range e.Edits {
		b.WriteString(e.Before[at:one.Start] + one.New)
		at = one.End
	}
	return b.String() + e.Before[at:]
}

// accept takes every open hunk.
func (p *proposal) accept() []event.HunkID {
	p.t.Helper()
	var ids []event.HunkID
	for _, h := range p.Hunks() {
		if h.State == event.StateOpen {
			ids = append(ids, h.ID)
		}
	}
	edits, failed := p.Edits(ids)
	if len(failed) > 0 || len(edits) != 1 {
		p.t.Fatalf("accept: %+v, %+v", edits, failed)
	}
	p.show(made(edits[0]))
	return ids
}

// undoes takes hunks back, and checks the text and that they are settled.
func (p *proposal) undoes(ids []event.HunkID, want string) {
	p.t.Helper()
	edits, failed := p.UndoEdits(ids)
	if len(failed) > 0 || len(edits) != 1 {
		p.t.Fatalf("undo: %+v, %+v", edits, failed)
	}
	p.ConfirmUndo(ids, true, "")
	p.show(made(edits[0]))
	if text := p.text(); text != want {
		p.t.Errorf("undone: %q, want %q", text, want)
	}
	p.undone(ids...)
}

func (p *proposal) undone(ids ...event.HunkID) {
	p.t.Helper()
	for _, id := range ids {
		if h, ok := p.Hunk(id); !ok || h.State != event.StateRejected || h.Detail != "undone" {
			p.t.Errorf("an undone hunk is %+v", h)
		}
		if slices.ContainsFunc(p.Accepted(), func(h Hunk) bool { return h.ID == id }) {
			p.t.Errorf("hunk %s can be undone again", id)
		}
	}
}

func (p *proposal) text() string {
	p.t.Helper()
	file, err := p.view.Read(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	return file.Text
}

// undos describes what can be undone.
func (p *proposal) undos(want ...string) {
	p.t.Helper()
	var got []string
	for _, h := range p.Accepted() {
		got = append(got, describe(h))
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("can be undone\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestUndo(t *testing.T) {
	const proposed = "one\nTWO\nthree\nnew\nfour\n"
	for _, test := range []struct {
		name  string
		typed []string
		want  string
	}{
		{"at once", nil, five},
		{"text above", []string{"zero\none\nTWO\nthree\nnew\nfour\n"}, "zero\n" + five},
		{"text between", []string{"one\nTWO\nthree!\nmore\nnew\nfour\n"}, "one\ntwo\nthree!\nmore\nfour\nfive\n"},
		{"changed there and back", []string{"one\nTWICE\nthree\nnew\nfour\n", proposed}, five},
		{"everything deleted and back", []string{"", proposed}, five},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, five, proposed)
			ids := p.accept()
			for _, text := range test.typed {
				p.show(text)
			}
			p.undoes(ids, test.want)
		})
	}
}

func TestUndoOne(t *testing.T) {
	p := propose(t, five, "one\nTWO\nthree\nnew\nfour\n")
	ids := p.accept()
	p.undos("open 1-2 TWO\n→ two\n", "open 3-4 new\n→ ", "open 5-5 → five\n")
	p.undoes(ids[1:2], "one\nTWO\nthree\nfour\n")
	p.undos("open 1-2 TWO\n→ two\n", "open 4-4 → five\n")
	if _, failed := p.UndoEdits(ids[1:2]); len(failed) != 1 || !strings.Contains(failed[0].Reason, "undone") {
		t.Errorf("undone twice: %+v", failed)
	}
	p.undoes([]event.HunkID{ids[0], ids[2]}, five)
}

func TestUndoIsNeverForced(t *testing.T) {
	p := propose(t, five, "one\nTWO\nthree\nfour\nfive\n")
	ids := p.accept()
	p.show("one\nTWO and mine\nthree\nfour\nfive\n")
	edits, failed := p.UndoEdits(ids)
	if len(edits) != 0 || len(failed) != 1 || !strings.Contains(failed[0].Reason, "changed") {
		t.Errorf("got %+v, %+v", edits, failed)
	}
	h := p.Accepted()[0]
	if h.State != event.StateConflict || h.Current != "TWO and mine\n" || h.After != "two\n" {
		t.Errorf("got %+v", h)
	}
	if edits, failed := p.UndoEdits([]event.HunkID{"nobody"}); len(edits) != 0 || len(failed) != 1 {
		t.Errorf("got %+v, %+v", edits, failed)
	}
}

func TestEditorsOwnUndo(t *testing.T) {
	p := propose(t, five, "one\nTWO\nthree\nnew\nfour\nfive\n")
	ids := p.accept()
	p.show(p.text() + "more\n")
	p.show(five + "more\n")
	p.undone(ids...)
	p.undos()
	// What the editor brings back then is the user's.
	p.show("one\nTWO\nthree\nnew\nfour\nfive\nmore\n")
	p.undone(ids...)
}

// TestTakenBackFormatted: the file is closed without the deletion, and a formatter had saved what stands there.
func TestTakenBackFormatted(t *testing.T) {
	p := propose(t, "one  \n\n\ttwo\nthree \nfour\n", "\ttwo\nthree \nfour\n")
	ids := p.accept()
	p.show("one\n\n    two\nthree\nfour\n")
	p.undone(ids...)
	if edits, failed := p.UndoEdits(ids); len(edits) != 0 || len(failed) != 1 {
		t.Errorf("the lines would be there twice: %+v, %+v", edits, failed)
	}
}

func TestUndoOfLayers(t *testing.T) {
	newer := func(t *testing.T) (p *proposal, older, newer []event.HunkID) {
		p = propose(t, five, "one\nTWO\nthree\nfour\nfive\n")
		older = p.accept()
		layer := p.Fork()
		write(t, layer, p.path, "one\nTWO!\nthree\nfour\nfive\n", "")
		merge(t, layer)
		return p, older, p.accept()
	}
	t.Run("the older alone", func(t *testing.T) {
		p, older, _ := newer(t)
		if edits, failed := p.UndoEdits(older); len(edits) != 0 || len(failed) != 1 {
			t.Errorf("got %+v, %+v", edits, failed)
		}
	})
	t.Run("both", func(t *testing.T) {
		p, older, newer := newer(t)
		p.undoes(append(older, newer...), five)
	})
	t.Run("one after the other", func(t *testing.T) {
		p, older, newer := newer(t)
		p.undoes(newer, "one\nTWO\nthree\nfour\nfive\n")
		p.undoes(older, five)
	})
	t.Run("that take each other back", func(t *testing.T) {
		p := propose(t, five, five+"new\n")
		older := p.accept()
		layer := p.Fork()
		write(t, layer, p.path, five, "")
		merge(t, layer)
		ids := append(older, p.accept()...)
		p.show(five + "mine\n")
		edits, failed := p.UndoEdits(ids)
		if len(edits) != 0 || len(failed) != 0 {
			t.Fatalf("got %+v, %+v", edits, failed)
		}
		p.ConfirmUndo(ids, true, "")
		p.undone(ids...)
	})
	t.Run("an open one above it", func(t *testing.T) {
		p := propose(t, five, "one\nTWO\nthree\nfour\nfive\n")
		older := p.accept()
		layer := p.Fork()
		write(t, layer, p.path, "one\nTWO!\nthree\nfour\nFIVE\n", "")
		merge(t, layer)
		p.undoes(older, five)
		p.is("rejected 1-2 two\n→ TWO\n", "conflict 1-2 TWO\n→ TWO!\n", "open 4-5 five\n→ FIVE\n")
	})
}

func TestUndoRefusedByTheEditor(t *testing.T) {
	p := propose(t, five, "one\nTWO\nthree\nfour\nfive\n")
	ids := p.accept()
	p.UndoEdits(ids)
	p.ConfirmUndo(ids, false, "it is read-only")
	p.undos("open 1-2 TWO\n→ two\n")
	p.UndoEdits(ids)
	p.ConfirmUndo(ids, true, "")
	if _, failed := p.UndoEdits(ids); len(failed) != 1 {
		t.Errorf("undone twice at once: %+v", failed)
	}
	p.show(p.text() + "typed\n") // but it still has it
	if h, _ := p.Hunk(ids[0]); h.State != event.StateAccepted {
		t.Errorf("got %+v", h)
	}
	p.undoes(ids, five+"typed\n")
}

func TestUndoOfFiles(t *testing.T) {
	v, dir := open(t, map[string]string{"old": "old\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	s := v.NewProposal(ProposalOptions{})
	defer s.Close()
	layer := s.Fork()
	write(t, layer, at("new"), "new\n", "")
	if err := layer.Delete(at("old"), StampOf("old\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	ids := merge(t, layer).Hunks
	disk := func(edits []FileEdit) {
		for _, e := range edits {
			if e.Delete {
				if err := os.Remove(e.Path); err != nil {
					t.Fatal(err)
				}
			} else {
				put(t, e.Path, made(e))
			}
			v.Recheck(e.Path)
		}
	}
	edits, _ := s.Edits(ids)
	s.Confirm(ids, true, "")
	disk(edits)
	edits, failed := s.UndoEdits(ids)
	if len(failed) != 0 || len(edits) != 2 || !edits[0].Delete || !edits[1].Create {
		t.Fatalf("got %+v, %+v", edits, failed)
	}
	put(t, at("new"), "new\nand mine\n")
	v.Recheck(at("new"))
	if edits, failed = s.UndoEdits(ids); len(failed) != 1 || len(edits) != 1 || !edits[0].Create {
		t.Fatalf("a changed file: %+v, %+v", edits, failed)
	}
	put(t, at("new"), "new\n")
	v.Recheck(at("new"))
	edits, _ = s.UndoEdits(ids)
	s.ConfirmUndo(ids, true, "")
	disk(edits)
	if _, err := os.Stat(at("new")); err == nil {
		t.Error("the new file is still there")
	}
	if text, err := os.ReadFile(at("old")); err != nil || string(text) != "old\n" {
		t.Errorf("the old file has %q, %v", text, err)
	}
	if left := s.Accepted(); len(left) != 0 {
		t.Errorf("can be undone: %+v", left)
	}
}

func TestUndoAfterRestart(t *testing.T) {
	const proposed = "one\nTWO\nthree\nfour\nnew\nfive\n"
	for _, test := range []struct {
		name, found string
		undos       []string
		hunks       []string
		want        string
	}{
		{name: "saved", found: proposed, undos: []string{"open 1-2 TWO\n→ two\n", "open 4-5 new\n→ "}, want: five},
		{
			name: "changed elsewhere", found: "zero\n" + proposed,
			undos: []string{"open 2-3 TWO\n→ two\n", "open 5-6 new\n→ "}, want: "zero\n" + five,
		},
		{name: "not saved", found: five, hunks: []string{"open 1-2 two\n→ TWO\n", "open 4-4 → new\n"}},
		{
			name: "changed there", found: "one\nTWO!\nthree\nfour\nfive\n",
			undos: []string{"conflict 1-2 TWO\n→ two\n"}, hunks: []string{"open 4-4 → new\n"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, five, proposed)
			p.accept()
			left := p.Left()
			for i := range p.changed { // at a kill, the rows are those that were told
				for _, h := range p.changed[i] {
					if h.State == event.StateAccepted && !slices.ContainsFunc(left, func(l Hunk) bool {
						return l.ID == h.ID && l.Place == h.Place && l.Before == h.Before &&
							l.After == h.After && l.Stamp == h.Stamp
					}) {
						t.Errorf("told of %+v, left are %+v", h, left)
					}
				}
			}
			q := propose(t, test.found)
			for i := range left {
				left[i].Path = q.path
			}
			q.Restore(left)
			q.undos(test.undos...)
			q.is(test.hunks...)
			if test.want != "" {
				q.undoes(IDs(left), test.want)
			}
		})
	}
}

// TestUndoAtRandom: what was accepted can be undone, in any order, and every line of the user stays.
func TestUndoAtRandom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	rapid.Check(t, func(t *rapid.T) {
		v, err := Open([]Root{{Path: dir}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		shown := texts("\n").Draw(t, "text")
		version := int32(0)
		show := func(text string) {
			version++
			v.SetDocument(path, text, version)
			shown = text
		}
		show(shown)
		s := v.NewProposal(ProposalOptions{})
		defer s.Close()
		original := shown
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			layer := s.Fork()
			file, err := layer.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := layer.Write(path, texts("\n").Draw(t, "proposed"), file.Stamp, Author{}); err != nil {
				t.Fatal(err)
			}
			report, err := layer.Merge()
			if err != nil {
				t.Fatal(err)
			}
			edits, failed := s.Edits(report.Hunks)
			if len(failed) > 0 {
				t.Fatalf("accept: %+v", failed)
			}
			if len(edits) > 0 {
				s.Confirm(report.Hunks, true, "")
				show(made(edits[0]))
			}
		}
		var mine []string
		for i := range rapid.IntRange(0, 2).Draw(t, "typed") {
			lines := Lines(shown)
			at := rapid.IntRange(0, len(lines)).Draw(t, "at")
			line := "user " + string(rune('a'+i)) + "\n"
			if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
				at--
			}
			show(strings.Join(slices.Insert(lines, at, line), ""))
			mine = append(mine, line)
		}
		ids := IDs(s.Accepted())
		edits, failed := s.UndoEdits(ids)
		if len(mine) == 0 && len(failed) > 0 {
			t.Fatalf("nothing was typed, but %+v", failed)
		}
		if len(edits) > 0 {
			done := slices.DeleteFunc(slices.Clone(ids), func(id event.HunkID) bool {
				return slices.ContainsFunc(failed, func(f HunkFailure) bool { return f.ID == id })
			})
			s.ConfirmUndo(done, true, "")
			show(made(edits[0]))
			for _, id := range done {
				if h, _ := s.Hunk(id); h.State != event.StateRejected {
					t.Fatalf("an undone hunk is %+v", h)
				}
			}
		}
		if len(mine) == 0 && shown != original {
			t.Fatalf("undone: %q, was %q", shown, original)
		}
		for _, line := range mine {
			if strings.Count(shown, line) != 1 {
				t.Fatalf("the user's %q is lost in %q", line, shown)
			}
		}
	})
}

// Moves come back after a restart as what they were: proposed, accepted, or made while agentls did not run.
func TestMoveAfterRestart(t *testing.T) {
	again := func(m *moves, left []Hunk) {
		m.session.Close()
		m.session = m.view.NewProposal(m.session.options)
		m.session.Restore(left)
	}
	t.Run("proposed", func(t *testing.T) {
		m, _ := proposed(t)
		again(m, m.session.Left())
		hunks := m.hunks("a>b", "a:ONE")
		m.do(hunks)
		m.states(hunks, event.StateAccepted)
	})
	t.Run("made meanwhile", func(t *testing.T) {
		m, _ := proposed(t)
		left := m.session.Left()
		m.session.Close()
		if err := os.Rename(m.at("a"), m.at("b")); err != nil {
			t.Fatal(err)
		}
		m.view.DiskChanged([]string{m.at("a"), m.at("b")})
		again(m, left)
		m.hunks("b:ONE")
		if h := m.session.Accepted(); len(h) != 1 || h[0].MoveTo != m.at("a") {
			t.Errorf("can be undone: %+v", h)
		}
	})
	t.Run("in the way", func(t *testing.T) {
		m, _ := proposed(t)
		left := m.session.Left()
		m.session.Close()
		put(t, m.at("b"), "another\n")
		m.view.DiskChanged([]string{m.at("b")})
		again(m, left)
		for _, h := range m.session.Hunks() {
			if want := h.MoveTo != ""; (h.State == event.StateConflict) != want {
				t.Errorf("got %+v", h)
			}
		}
	})
	t.Run("accepted", func(t *testing.T) {
		m, _ := proposed(t)
		var told []Hunk
		m.session.options.Changed = func(hunks []Hunk) {
			for _, h := range hunks {
				if h.State == event.StateAccepted {
					told = slices.DeleteFunc(told, func(former Hunk) bool { return former.ID == h.ID })
					told = append(told, h)
				}
			}
		}
		hunks := m.hunks("a>b", "a:ONE")
		m.do(hunks)
		left := m.session.Left()
		for name, left := range map[string][]Hunk{"left": left, "told": told} {
			again(m, left)
			edits, failed := m.session.UndoEdits(IDs(hunks))
			if len(failed) > 0 || len(edits) != 1 || edits[0].Path != m.at("b") ||
				edits[0].MoveTo != m.at("a") || made(edits[0]) != five {
				t.Errorf("%s: undo by %+v, %+v", name, edits, failed)
			}
		}
	})
}
