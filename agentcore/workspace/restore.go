package workspace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Restore adopts hunks of an earlier process, in the order in which they were proposed or accepted. A hunk whose text
// stands where its Place says is open there. In a text that has changed, it is open where its lines stand once, or once
// with the lines around them. Otherwise it is merged into the text between those lines, and is in conflict where that
// cannot be done. An accepted hunk can be undone, but is open again where its text is missing, since the editor ended
// before saving it. Other settled hunks are only remembered. Restore reads files that are not open.
//
// A move is open where its file is at the old path, accepted where exactly that text is at the new path, and in
// conflict where files are at both.
func (s *Proposal) Restore(hunks []Hunk) {
	v := s.view
	defer v.notices.run()
	paths := make(map[string][]Hunk)
	targets := make(map[string]content) // of moves
	for _, h := range hunks {
		path := cleanPath(h.Path)
		v.expected.add(path)
		if h.MoveTo != "" {
			v.expected.add(cleanPath(h.MoveTo))
			h.Path, h.MoveTo = path, cleanPath(h.MoveTo)
			if targets[h.MoveTo] = v.seen(h.MoveTo); h.State == event.StateAccepted {
				switch old := v.seen(path); {
				case targets[h.MoveTo].text != nil:
					path = h.MoveTo
				case old.text != nil:
					h.State = event.StateOpen // the editor ended before it moved the file
				}
			}
		}
		paths[path] = append(paths[path], h)
	}
	ids := make([]event.HunkID, len(hunks))
	for i, h := range hunks {
		ids[i] = h.ID
	}
	v.mu.Lock()
	known := s.find(ids...)
	maps.Copy(known, s.findUndos(ids...))
	v.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		c, hunks := v.seen(path), paths[path]
		v.mu.Lock()
		if !s.closed.Load() {
			s.restore(path, c, hunks, targets, known)
		}
		v.mu.Unlock()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	age := make(map[event.HunkID]int, len(hunks)) // hunks that were accepted since have no age, and come last
	for i, h := range hunks {
		age[h.ID] = i - len(hunks)
	}
	slices.SortStableFunc(s.undoable, func(a, b event.HunkID) int { return cmp.Compare(age[a], age[b]) })
}

// seen is what the editor shows at a path, without a text where the file cannot be read.
func (v *View) seen(path string) content {
	c, err := v.content(path)
	if err != nil {
		c.text = nil
	}
	return c
}

// restore adopts the hunks of a file, except for those that are known already. The lock is held.
func (s *Proposal) restore(path string, c content, hunks []Hunk, targets map[string]content,
	known map[event.HunkID]located,
) {
	to := "" // where the file was moved to meanwhile
	for _, r := range hunks {
		if r.MoveTo != "" && r.State == event.StateOpen && c.text == nil && r.Stamp != "" &&
			targets[r.MoveTo].text.stamp() == r.Stamp {
			to, c.text = r.MoveTo, targets[r.MoveTo].text
		}
	}
	a := s.view.anchor(path, c)
	p := s.pile(a)
	for _, r := range hunks {
		_, here := known[r.ID]
		switch {
		case here:
			continue
		case r.State == event.StateAccepted:
			if s.restoreUndo(a, p, r) {
				continue
			}
		case r.State != event.StateOpen && r.State != event.StateConflict:
			s.kept = append(s.kept, r)
			continue
		}
		h := &hunk{
			id: r.ID, state: event.StateOpen, before: r.Before, after: r.After, moveTo: r.MoveTo,
			create: r.Create, delete: r.Delete, authors: r.authors(), notify: true,
		}
		if r.State == event.StateOpen {
			h.detail = r.Detail
		}
		if h.moveTo != "" {
			s.restoreMove(a, p, h, targets[h.moveTo], to == h.moveTo)
			continue
		}
		h.place(a.now(), r)
		if h.live() && slices.ContainsFunc(p.hunks, func(other *hunk) bool { return other.live() && other.same(h) }) {
			h.settle(event.StateSuperseded, "the same was proposed before")
		}
		p.hunks = append(p.hunks, h)
	}
	p.arrange()
	s.publish(a, p)
	if b := s.view.anchors[to]; to != "" && b != nil {
		s.view.join(a, b)
	}
}

// authors are the authors of a hunk of a former process, as far as they are known.
func (h *Hunk) authors() []Author {
	var authors []Author
	for _, run := range h.Runs {
		if run != h.Author.Run {
			authors = append(authors, Author{Run: run})
		}
	}
	authors = append(authors, h.Author)
	for _, finding := range h.Fixes {
		fix := h.Author
		fix.Finding = finding
		authors = append(authors, fix)
	}
	return authors
}

// restoreMove adopts a hunk that moves the file; made says that the file is there already. The lock is held.
func (s *Proposal) restoreMove(a *anchor, p *pile, h *hunk, target content, made bool) {
	h.before, h.after = "", ""
	if p.mover() != nil {
		h.settle(event.StateSuperseded, "the file was to be moved elsewhere before")
		p.hunks = append(p.hunks, h)
		return
	}
	b := s.view.anchor(h.moveTo, target)
	switch {
	case b.incoming[s] != nil:
		h.settle(event.StateSuperseded, "another file was to go there before")
		p.hunks = append(p.hunks, h)
		return
	case made:
	case a.now() == nil:
		h.gone = true
	case b.now() != nil && !(sameName(a.path, b.path) && b.now().same(a.now())):
		h.settle(event.StateConflict, "a file of this name appeared where it is to go")
	}
	p.hunks = append(p.hunks, h)
	s.view.link(s, a, b)
}

func (h *hunk) same(g *hunk) bool {
	return h.start == g.start && h.end == g.end && h.before == g.before && h.after == g.after && h.create == g.create &&
		h.delete == g.delete
}

// restoreUndo adopts an accepted hunk. It reports false where the text that the hunk replaced is there instead of the
// hunk's own. The lock is held.
func (s *Proposal) restoreUndo(a *anchor, p *pile, r Hunk) bool {
	h := &hunk{id: r.ID, authors: r.authors()}
	h.reverse = &hunk{state: event.StateOpen, before: r.After, after: r.Before, create: r.Delete, delete: r.Create}
	if r.MoveTo != "" {
		h.reverse.moveTo, h.reverse.gone = r.Path, a.now() == nil
	} else {
		h.reverse.place(a.now(), r)
	}
	if h.reverse.settled() {
		return false
	}
	batch := s.view.clock.Add(1)
	s.remember(p, h, r, batch)
	p.remark(a.now(), batch)
	for _, u := range p.undos {
		if u.batch == batch {
			u.saved = &savedUndo{} // the saved text is not known
		}
	}
	return true
}

const elsewhere = "the file was changed while agentls did not run"

// place finds where a restored hunk belongs. It settles a hunk whose new text stands there already.
func (h *hunk) place(shown *text, r Hunk) {
	x := shown.index()
	start, end := min(r.Place.StartLine, x.Len()), min(r.Place.EndLine, x.Len())
	switch {
	case h.create:
		h.followCreate(shown)
		return
	case h.delete:
		h.followDelete(shown)
		return
	case shown == nil:
		h.conflictAt(0, 0, "the file is gone")
		return
	case r.Stamp == shown.stamp() && r.State == event.StateConflict:
		h.conflictAt(start, end, r.Detail)
		return
	case r.Stamp == shown.stamp() && x.Slice(start, end) == h.before:
		h.start, h.end = start, end
		return
	}
	at, score := r.Place.find(x, h.before)
	there, better := r.Place.find(x, h.after)
	switch {
	case at >= 0 && (there < 0 || score >= better):
		h.start, h.end = at, at+countLines(h.before)
	case there >= 0:
		h.home, h.homeAt = h.before, 0
		h.start, h.end = there, there+countLines(h.after)
		h.fit(shown)
	default:
		if from, to := r.Place.between(x); from >= 0 {
			h.home, h.homeAt = h.before, 0
			h.start, h.end = from, to
			h.fit(shown)
			return
		}
		h.conflictAt(start, end, elsewhere)
	}
}

func (h *hunk) conflictAt(start, end int, detail string) {
	h.start, h.end = start, end
	h.home, h.homeAt = h.before, 0
	h.settle(event.StateConflict, detail)
}

// find returns the line at which whole lines stand in a text, -1 where that is not certain, and how many lines around
// them are unchanged. Where there are no lines to find, the place is where the lines around them meet.
func (p Place) find(x *Index, lines string) (at, score int) {
	above, below := NewIndex(p.Above), NewIndex(p.Below)
	n := countLines(lines)
	best, found, sure := -1, 0, false
	for line := range standing(x, lines) {
		up, down := matchUp(x, line, above), matchDown(x, line+n, below)
		if n == 0 && (up == 0 || down == 0) {
			continue
		}
		found++
		here := line == p.StartLine && up >= above.Len() && down >= below.Len()
		switch {
		case best < 0 || up+down > score:
			best, score, sure = line, up+down, true
		case up+down == score && here:
			best, sure = line, true
		case up+down == score && best != p.StartLine:
			sure = false
		}
	}
	if best < 0 || !sure || found > 1 && score == 0 {
		return -1, 0
	}
	return best, score
}

// between returns the range of lines between those that stood around the hunk, -1 where these do not stand exactly
// once.
func (p Place) between(x *Index) (from, to int) {
	if p.Above == "" && p.Below == "" {
		return -1, -1
	}
	from, to = 0, x.Len()
	if p.Above != "" {
		at, ok := onlyPlace(x, p.Above)
		if !ok {
			return -1, -1
		}
		from = at + countLines(p.Above)
	}
	if p.Below != "" {
		at, ok := onlyPlace(x, p.Below)
		if !ok {
			return -1, -1
		}
		to = at
	}
	if from > to {
		return -1, -1
	}
	return from, to
}

// matchUp counts how many lines above a line are unchanged. The start of the text counts as a line.
func matchUp(x *Index, line int, above *Index) int {
	for i := 0; ; i++ {
		switch {
		case i == above.Len():
			if i < placeLines && line == i {
				i++
			}
			return i
		case i >= line || x.Line(line-1-i) != above.Line(above.Len()-1-i):
			return i
		}
	}
}

// matchDown is matchUp for the lines below.
func matchDown(x *Index, line int, below *Index) int {
	for i := 0; ; i++ {
		switch {
		case i == below.Len():
			if i < placeLines && line+i == x.Len() {
				i++
			}
			return i
		case line+i >= x.Len() || x.Line(line+i) != below.Line(i):
			return i
		}
	}
}

// standing yields the lines of a text at which whole lines stand; every line for none.
func standing(x *Index, lines string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if lines == "" {
			for line := range x.Len() + 1 {
				if !yield(line) {
					return
				}
			}
			return
		}
		n, text := countLines(lines), x.Text()
		for at := 0; at <= len(text); at++ {
			i := strings.Index(text[at:], lines)
			if i < 0 {
				return
			}
			at += i
			line := x.LineAt(at)
			if x.Start(line) == at && x.Slice(line, line+n) == lines && !yield(line) {
				return
			}
		}
	}
}

// onlyPlace finds whole lines in a text where they stand once.
func onlyPlace(x *Index, lines string) (int, bool) {
	found := -1
	for line := range standing(x, lines) {
		if found >= 0 {
			return 0, false
		}
		found = line
	}
	return found, found >= 0
}

// Left returns what another process needs to go on with the session by [Proposal.Restore]: the open hunks and the
// conflicts, and the accepted hunks that can be undone, as what an undo would take back now, in the order in which they
// were accepted. Accepted hunks in conflict are left out: their lines are nowhere.
func (s *Proposal) Left() []Hunk {
	v := s.view
	v.mu.Lock()
	var hunks []Hunk
	var texts []*text
	undos := make(map[event.HunkID]Hunk)
	shown := make(map[event.HunkID]*text)
	for _, a := range v.anchors {
		p := a.piles[s]
		if p == nil {
			continue
		}
		for _, h := range p.hunks {
			hunks = append(hunks, a.hunk(h))
			texts = append(texts, a.now())
		}
		for _, u := range p.undos {
			if u.state == event.StateOpen && !u.gone && !u.pending {
				undos[u.id], shown[u.id] = a.accepted(u), a.now()
			}
		}
	}
	for _, id := range s.undoable {
		if h, ok := undos[id]; ok {
			hunks = append(hunks, h)
			texts = append(texts, shown[id])
		}
	}
	v.mu.Unlock()
	stamp(hunks, texts)
	return hunks
}
