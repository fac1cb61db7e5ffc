package workspace

import (
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Restore adopts hunks of an earlier process. A hunk whose text stands at its lines, or at exactly one
// other place, is open there; any other is a conflict. Settled hunks are only remembered. It reads files
// that are not open.
func (s *Session) Restore(hunks []Hunk) {
	v := s.view
	defer v.notices.run()
	paths := make(map[string][]Hunk)
	for _, h := range hunks {
		path := cleanPath(h.Path)
		paths[path] = append(paths[path], h)
	}
	for path, hunks := range paths {
		c, err := v.content(path)
		if err != nil {
			c.text = nil
		}
		v.mu.Lock()
		if !s.closed.Load() {
			s.restore(path, c, hunks)
		}
		v.mu.Unlock()
	}
}

func (s *Session) restore(path string, c content, hunks []Hunk) {
	a := s.view.anchor(path, c)
	p := a.piles[s]
	if p == nil {
		p = &pile{}
		a.piles[s] = p
	}
	for _, r := range hunks {
		if _, _, known := s.find(r.ID); known != nil {
			continue
		}
		if r.State != event.StateOpen && r.State != event.StateConflict {
			s.kept = append(s.kept, r)
			continue
		}
		h := &hunk{
			id: r.ID, state: event.StateOpen, start: r.StartLine, end: r.EndLine, before: r.Before, after: r.After,
			create: r.Create, delete: r.Delete, authors: []Author{r.Author}, notify: true,
		}
		h.place(a.text, r)
		p.hunks = append(p.hunks, h)
	}
	p.arrange()
	s.publish(a, p)
}

// place finds where a restored hunk belongs.
func (h *hunk) place(shown *text, r Hunk) {
	x := shown.index()
	switch {
	case h.create:
		h.followCreate(shown)
	case h.delete:
		h.followDelete(shown)
	case shown == nil:
		h.conflictAt(0, 0, "the file is gone")
	case r.State == event.StateOpen && r.Stamp == shown.stamp():
	case h.before == "":
		// Nothing tells where the lines belong in another text.
		h.conflictAt(min(h.start, x.Len()), min(h.start, x.Len()), "the file was changed while agentls did not run")
	case x.Slice(h.start, h.end) == h.before:
	default:
		if at, ok := onlyPlace(x, h.before); ok {
			h.start, h.end = at, at+countLines(h.before)
		} else {
			h.conflictAt(min(h.start, x.Len()), min(h.end, x.Len()), "the file was changed while agentls did not run")
		}
	}
}

func (h *hunk) conflictAt(start, end int, detail string) {
	h.start, h.end = start, end
	h.home, h.homeAt = h.before, 0
	h.settle(event.StateConflict, detail)
}

// onlyPlace finds whole lines in a text where they stand once.
func onlyPlace(x *Index, lines string) (int, bool) {
	found, n := -1, countLines(lines)
	for at := 0; ; at++ {
		i := strings.Index(x.Text()[min(at, len(x.Text())):], lines)
		if i < 0 {
			return found, found >= 0
		}
		at += i
		line := x.LineAt(at)
		if x.Start(line) != at || x.Slice(line, line+n) != lines {
			continue
		}
		if found >= 0 {
			return 0, false
		}
		found = line
	}
}
