package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// machine drives one file of a session at random and checks what must hold after each step.
type machine struct {
	view    *View
	session *Proposal
	layer   *Layer
	path    string
	open    bool
	version int32
	past    []string
	told    map[event.HunkID]Hunk
}

func (m *machine) shown() string {
	c, err := m.view.content(m.path)
	if err != nil {
		panic(err)
	}
	return c.text.string()
}

func (m *machine) proposed(t *rapid.T) string {
	c, err := m.session.content(m.path)
	if err != nil {
		t.Fatal(err)
	}
	return c.text.string()
}

func (m *machine) opened() []Hunk {
	return slices.DeleteFunc(m.session.Hunks(), func(h Hunk) bool { return h.State != event.StateOpen })
}

// show makes the editor show a text, in its buffer or on disk.
func (m *machine) show(t *rapid.T, text string) {
	m.past = append(m.past, m.shown())
	if m.open {
		m.version++
		m.view.SetDocument(m.path, text, m.version)
		return
	}
	if err := os.WriteFile(m.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m.changed(t)
}

func (m *machine) changed(t *rapid.T) {
	m.view.DiskChanged([]string{m.path})
	if err := m.view.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) Type(t *rapid.T) {
	text := m.shown()
	start := rapid.IntRange(0, len(text)).Draw(t, "start")
	end := rapid.IntRange(start, min(len(text), start+5)).Draw(t, "end")
	typed := rapid.SampledFrom([]string{"", "a", "b\n", "\n", "a\nb\n", "}\n"}).Draw(t, "typed")
	next := text[:start] + typed + text[end:]
	before := m.proposed(t)
	merged, conflicts := Merge3(text, before, next)
	quiet := len(m.opened()) == len(m.unsettled()) && !m.made(text, before, next)
	m.show(t, next)
	if len(conflicts) == 0 && quiet && len(m.opened()) == len(m.unsettled()) {
		if got := m.proposed(t); got != merged && !m.ambiguous(text, before, next) {
			t.Fatalf("shown %q, proposed %q, typed %q: now proposed %q, want %q", text, before, next, got, merged)
		}
	}
}

// made reports whether the next text has a line of an edit that was on its way, which may then count as made.
func (m *machine) made(text, proposed, next string) bool {
	m.view.mu.Lock()
	a := m.view.anchors[m.path]
	asked := a != nil && len(a.expected) > 0
	m.view.mu.Unlock()
	return asked && slices.ContainsFunc(Lines(proposed), func(line string) bool {
		return slices.Contains(Lines(next), line) && !slices.Contains(Lines(text), line)
	})
}

// ambiguous reports whether the texts can be aligned in several ways, so that a merge depends on how.
func (m *machine) ambiguous(texts ...string) bool {
	for _, text := range texts {
		seen := map[string]bool{}
		for _, line := range Lines(text) {
			if seen[line] {
				return true
			}
			seen[line] = true
		}
	}
	return false
}

func (m *machine) unsettled() []Hunk {
	return slices.DeleteFunc(m.session.Hunks(), func(h Hunk) bool {
		return h.State != event.StateOpen && h.State != event.StateConflict
	})
}

func (m *machine) Undo(t *rapid.T) {
	if len(m.past) == 0 {
		return
	}
	m.show(t, rapid.SampledFrom(m.past[max(0, len(m.past)-3):]).Draw(t, "past"))
}

func (m *machine) Propose(t *rapid.T) {
	file, err := m.layer.Read(m.path)
	if err != nil && file.Text != "" {
		t.Fatal(err)
	}
	lines := Lines(file.Text)
	at := rapid.IntRange(0, len(lines)).Draw(t, "at")
	end := rapid.IntRange(at, min(len(lines), at+2)).Draw(t, "to")
	lines = slices.Replace(lines, at, end,
		rapid.SampledFrom([][]string{nil, {"n\n"}, {"n\n", "o\n"}, {"a\n"}, {"}\n"}}).Draw(t, "lines")...)
	text := strings.Join(lines, "")
	reason := rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "reason")
	if _, err := m.layer.Write(m.path, text, file.Stamp, Author{Reason: reason}); err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "merge") {
		m.Merge(t)
	}
}

func (m *machine) Merge(t *rapid.T) {
	c, err := m.layer.content(m.path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.layer.Merge()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.layer.Changes()) > 0 {
		t.Fatal("a layer has edits after it was merged")
	}
	if got := m.proposed(t); got != c.text.string() {
		t.Fatalf("the layer was %q, the session is %q; %+v", c.text.string(), got, report)
	}
}

func (m *machine) Accept(t *rapid.T) {
	opened := m.opened()
	var ids []event.HunkID
	for _, h := range opened {
		if rapid.Bool().Draw(t, "accept") {
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	edits, failed := m.session.Edits(ids)
	if len(failed) > 0 || len(edits) != 1 {
		t.Fatalf("edits %+v, failed %+v", edits, failed)
	}
	e := edits[0]
	if e.Before != m.shown() || len(e.Edits) != len(ids) || len(e.Reasons) != len(ids) {
		t.Fatalf("got %+v for %d hunks, shown %q", e, len(ids), m.shown())
	}
	var next strings.Builder
	at := 0
	for _, edit := range e.Edits {
		next.WriteString(e.Before[at:edit.Start] + edit.New)
		at = edit.End
	}
	next.WriteString(e.Before[at:])
	proposed := m.proposed(t)
	first := rapid.Bool().Draw(t, "confirm first")
	if first {
		m.session.Confirm(ids, true, "")
		if got := m.proposed(t); got != proposed {
			t.Fatalf("confirming made %q of the proposal %q", got, proposed)
		}
	}
	m.show(t, next.String())
	if !first {
		m.session.Confirm(ids, true, "")
	}
	if got := m.proposed(t); got != proposed {
		t.Fatalf("accepting made %q of the proposal %q", got, proposed)
	}
	for _, h := range opened {
		want := event.StateOpen
		if slices.Contains(ids, h.ID) {
			want = event.StateAccepted
		}
		if now, _ := m.session.Hunk(h.ID); now.State != want {
			t.Fatalf("hunk %+v is %+v, want %s", h, now, want)
		}
	}
}

func (m *machine) TakeBack(t *rapid.T) {
	var ids []event.HunkID
	for _, h := range m.session.Accepted() {
		if rapid.Bool().Draw(t, "take back") {
			ids = append(ids, h.ID)
		}
	}
	edits, failed := m.session.UndoEdits(ids)
	done := slices.DeleteFunc(ids, func(id event.HunkID) bool {
		return slices.ContainsFunc(failed, func(f HunkFailure) bool { return f.ID == id })
	})
	for _, f := range failed {
		if f.Reason == "" {
			t.Fatalf("no reason: %+v", f)
		}
	}
	first := rapid.Bool().Draw(t, "confirm first")
	if first || len(edits) == 0 {
		m.session.ConfirmUndo(done, true, "")
	}
	if len(edits) > 0 {
		if edits[0].Before != m.shown() {
			t.Fatalf("the edits are for %q, shown is %q", edits[0].Before, m.shown())
		}
		m.show(t, made(edits[0]))
	}
	if !first {
		m.session.ConfirmUndo(done, true, "")
	}
	for _, id := range done {
		if h, _ := m.session.Hunk(id); h.State != event.StateRejected || h.Detail != undone {
			t.Fatalf("an undone hunk is %+v", h)
		}
	}
}

// Restart has another process go on with the session.
func (m *machine) Restart(t *rapid.T) {
	standing := func() (list []Hunk) {
		for _, h := range append(m.opened(), m.session.Accepted()...) {
			if h.State == event.StateOpen {
				h.Detail, h.Author = "", Author{}
				list = append(list, h)
			}
		}
		return list
	}
	before, left := standing(), m.session.Left()
	m.session.Close()
	clear(m.told)
	m.session = m.view.NewProposal(m.session.options)
	m.session.Restore(left)
	m.layer = m.session.Fork()
	if after := standing(); !reflect.DeepEqual(before, after) {
		t.Fatalf("before the restart\n%+v\nafter it\n%+v", before, after)
	}
}

func (m *machine) Refuse(t *rapid.T) {
	opened := m.opened()
	if len(opened) == 0 {
		return
	}
	h := rapid.SampledFrom(opened).Draw(t, "hunk")
	edits, failed := m.session.Edits([]event.HunkID{h.ID})
	if len(failed) > 0 || len(edits) != 1 {
		t.Fatalf("edits %+v, failed %+v", edits, failed)
	}
	lies := rapid.Bool().Draw(t, "lies")
	m.session.Confirm([]event.HunkID{h.ID}, lies, "no")
	m.view.Recheck(m.path)
	if now, _ := m.session.Hunk(h.ID); now.State != event.StateOpen || now.Detail == "" {
		t.Fatalf("a hunk that the editor did not take is %+v", now)
	}
}

func (m *machine) Reject(t *rapid.T) {
	unsettled := m.unsettled()
	if len(unsettled) == 0 {
		return
	}
	shown := m.shown()
	if rapid.Bool().Draw(t, "all") {
		var ids []event.HunkID
		for _, h := range unsettled {
			ids = append(ids, h.ID)
		}
		if failed := m.session.Reject(ids); len(failed) > 0 {
			t.Fatalf("failed %+v", failed)
		}
		if got := m.proposed(t); got != shown {
			t.Fatalf("nothing is proposed for %q, but the session shows %q", shown, got)
		}
		return
	}
	h := rapid.SampledFrom(unsettled).Draw(t, "hunk")
	if failed := m.session.Reject([]event.HunkID{h.ID}); len(failed) > 0 {
		t.Fatalf("failed %+v", failed)
	}
	if now, _ := m.session.Hunk(h.ID); now.State != event.StateRejected {
		t.Fatalf("a rejected hunk is %+v", now)
	}
}

func (m *machine) OpenOrClose(t *rapid.T) {
	if m.open {
		m.view.CloseDocument(m.path)
		m.open = false
		if err := m.view.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	m.open = true
	m.version++
	m.view.SetDocument(m.path, m.shown(), m.version)
}

// Rename is the user's.
func (m *machine) Rename(t *rapid.T) {
	proposed, hunks := m.proposed(t), m.opened()
	to := m.path + "x"
	if len(to) > len(filepath.Dir(m.path))+20 {
		return
	}
	if err := os.Rename(m.path, to); err != nil {
		t.Fatal(err)
	}
	m.view.Rename(m.path, to)
	m.path = to
	if err := m.view.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := m.proposed(t); got != proposed {
		t.Fatalf("the proposal was %q, is %q", proposed, got)
	}
	for _, h := range hunks {
		if now, _ := m.session.Hunk(h.ID); now.State != h.State || now.StartLine != h.StartLine || now.Path != to {
			t.Fatalf("%+v is %+v", h, now)
		}
	}
}

func (m *machine) VanishAndReturn(t *rapid.T) {
	if m.open {
		return
	}
	hunks, text := m.session.Hunks(), m.shown()
	if err := os.Remove(m.path); err != nil {
		t.Fatal(err)
	}
	m.changed(t)
	for _, h := range m.session.Hunks() {
		if h.State == event.StateOpen {
			t.Fatalf("the file is gone, but this is open: %+v", h)
		}
	}
	m.show(t, text)
	if now := m.session.Hunks(); !slices.EqualFunc(hunks, now,
		func(a, b Hunk) bool { return a.ID == b.ID && a.State == b.State && a.StartLine == b.StartLine }) {
		t.Fatalf("the file is back; hunks were %+v, are %+v", hunks, now)
	}
}

func (m *machine) checkPile() error {
	m.view.mu.Lock()
	defer m.view.mu.Unlock()
	a := m.view.anchors[m.path]
	if a == nil {
		return nil
	}
	p := a.piles[m.session]
	if p == nil || len(p.hunks)+len(p.undos) == 0 {
		return errors.New("an anchor without anything tied to it is kept")
	}
	for _, h := range p.hunks {
		if h.start > h.end || h.end > a.text.index().Len() {
			return fmt.Errorf("a hunk lies outside the text: %+v", h)
		}
	}
	for _, u := range p.undos {
		if u.start > u.end || u.end > a.text.index().Len() {
			return fmt.Errorf("an undo lies outside the text: %+v", u.hunk)
		}
		if u.state == event.StateOpen && a.text.index().Slice(u.start, u.end) != u.before {
			return fmt.Errorf("an undo's lines are not those of the text: %+v", u.hunk)
		}
	}
	return checkHunks(a.text, p.patch(a.text).hunks)
}

// Check is run after every step.
func (m *machine) Check(t *rapid.T) {
	if err := m.checkPile(); err != nil {
		t.Fatal(err)
	}
	hunks := m.session.Hunks()
	if !slices.IsSortedFunc(hunks, byPlace) {
		t.Fatalf("not in order: %+v", hunks)
	}
	if len(hunks) != len(m.told) {
		t.Fatalf("told of %d hunks, there are %d", len(m.told), len(hunks))
	}
	for _, h := range hunks {
		if told := m.told[h.ID]; told.State != h.State || told.Before != h.Before ||
			told.After != h.After || told.Author != h.Author {
			t.Fatalf("told %+v, is %+v", told, h)
		}
	}
}

func TestSessionAtRandom(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		// A name of its own for each run keeps the runs apart.
		path := filepath.Join(dir, "file"+string(rune('a'+runs%26)))
		if err := os.WriteFile(path, []byte(texts("\n").Draw(t, "text")), 0o644); err != nil {
			t.Fatal(err)
		}
		v, err := Open([]Root{{Path: dir}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		m := &machine{view: v, path: path, told: map[event.HunkID]Hunk{}}
		m.session = v.NewProposal(ProposalOptions{Changed: func(hunks []Hunk) {
			for _, h := range hunks {
				m.told[h.ID] = h
			}
		}})
		defer m.session.Close()
		m.layer = m.session.Fork()
		m.OpenOrClose(t)
		actions := rapid.StateMachineActions(m)
		actions["Type again"] = m.Type
		actions["Propose again"] = m.Propose
		t.Repeat(actions)
	})
}
