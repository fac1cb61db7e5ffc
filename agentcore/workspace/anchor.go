package workspace

import (
	"slices"
	"sort"
	"strings"
)

// anchor holds what is tied to lines of one file as the editor shows it. It belongs to the view's lock.
type anchor struct {
	path string
	// text is what the lines refer to, nil where there is no such file; last is then the text that was.
	text, last *text
	seq        uint64
	marks      map[*Mark]struct{}
	piles      map[*Session]*pile
	// expected are texts that the editor would show if it took the edits that were computed last.
	expected []expectation
}

// anchor returns what is tied to a file, making it from what was just read. The lock is held.
func (v *View) anchor(path string, c content) *anchor {
	a := v.anchors[path]
	if a == nil {
		a = &anchor{path: path, text: c.text, seq: c.seq, marks: make(map[*Mark]struct{}), piles: make(map[*Session]*pile)}
		v.anchors[path] = a
	}
	v.sync(a, c)
	return a
}

// release forgets an anchor that nothing is tied to. The lock is held.
func (v *View) release(a *anchor) {
	if len(a.marks) == 0 && len(a.piles) == 0 {
		delete(v.anchors, a.path)
	}
}

// move ties everything to a new text of the file. The lock is held.
func (v *View) move(a *anchor, next *text, seq uint64) {
	a.seq = seq
	if a.text.same(next) {
		if next != nil {
			a.text = next
		}
		return
	}
	previous := a.text
	var taken *expectation
	var changes []change
	if previous != nil && next != nil {
		taken, changes = a.taken(next)
		if taken == nil {
			changes = lineChanges(previous.s, next.s)
		}
	}
	a.text = next
	if next == nil {
		a.last = previous
	}
	for m := range a.marks {
		if previous == nil || next == nil || !m.shift(changes) {
			m.lost()
		}
	}
	if previous == nil && a.last != nil {
		// The file is back: what was tied to it is tied to the text that it had.
		changes = lineChanges(a.last.s, next.s)
	}
	for s, p := range a.piles {
		p.move(a, previous, next, changes, taken, s)
		s.publish(a, p)
	}
	if next != nil {
		a.last = nil
	}
	a.expected = nil
}

// lineChanges compares two texts for the view: the common head and tail are skipped bytewise, so that a
// keystroke costs a comparison of memory and its own line.
func lineChanges(old, next string) []change {
	head := commonPrefix(old, next)
	for head > 0 && !(lineStart(old, head) && lineStart(next, head)) {
		head--
	}
	tail := commonSuffix(old[head:], next[head:])
	for tail > 0 && !(lineStart(old, len(old)-tail) && lineStart(next, len(next)-tail)) {
		tail--
	}
	first := countLines(old[:head])
	before, after := old[head:len(old)-tail], next[head:len(next)-tail]
	if before == "" && after == "" {
		return nil
	}
	n, m := countLines(before), countLines(after)
	if n <= 1 || m <= 1 {
		return []change{{start: first, end: first + n, old: before, text: after, lines: m}}
	}
	changes := changesBetween(NewIndex(before), NewIndex(after))
	for i := range changes {
		changes[i].start += first
		changes[i].end += first
	}
	return changes
}

const stride = 512

func commonPrefix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && a[i:i+stride] == b[i:i+stride] {
		i += stride
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && a[len(a)-i-stride:len(a)-i] == b[len(b)-i-stride:len(b)-i] {
		i += stride
	}
	for i < n && a[len(a)-i-1] == b[len(b)-i-1] {
		i++
	}
	return i
}

// spanOf finds the changes that overlap the lines [start, end): changes[i:j]; those before i end at or
// above start.
func spanOf(changes []change, start, end int) (i, j int) {
	i = sort.Search(len(changes), func(k int) bool { return changes[k].end > start })
	j = sort.Search(len(changes), func(k int) bool { return changes[k].start >= end })
	return i, max(i, j)
}

// shiftOf is the number of lines that changes[:i] added.
func shiftOf(changes []change, i int) int {
	sum := 0
	for _, c := range changes[:i] {
		sum += c.delta()
	}
	return sum
}

// Mark is a range of lines that follows the user's typing. Its methods may be called from any goroutine.
type Mark struct {
	view       *View
	anchor     *anchor
	start, end int
	gone       func()
	dead       bool
}

// Track watches the lines [startLine, endLine) of a file as the editor shows it now, 0-based. gone is
// called once, without locks held, when their text was changed or deleted; it must not block. An empty
// range watches one line. Track reads the file where it is not open; it returns nil where there is no
// such text. Marks are ended by Release.
func (v *View) Track(path string, startLine, endLine int, gone func()) *Mark {
	path = cleanPath(path)
	c, err := v.content(path)
	if err != nil || c.text == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	a := v.anchor(path, c)
	if a.text == nil {
		v.release(a)
		return nil
	}
	startLine = max(startLine, 0)
	m := &Mark{view: v, anchor: a, start: startLine, end: max(endLine, startLine+1), gone: gone}
	a.marks[m] = struct{}{}
	return m
}

// Lines returns where the lines are now, 0-based, the end exclusive; ok is false once they are gone or
// released.
func (m *Mark) Lines() (start, end int, ok bool) {
	m.view.mu.Lock()
	defer m.view.mu.Unlock()
	return m.start, m.end, !m.dead
}

// Release ends the mark; gone will not be called any more, unless it is just being called.
func (m *Mark) Release() {
	m.view.mu.Lock()
	defer m.view.mu.Unlock()
	if m.dead {
		return
	}
	m.dead = true
	delete(m.anchor.marks, m)
	m.view.release(m.anchor)
}

// shift follows changes; it reports false where they touch the mark's lines. The lock is held.
func (m *Mark) shift(changes []change) bool {
	i, j := spanOf(changes, m.start, m.end)
	if i < j {
		return false
	}
	by := shiftOf(changes, i)
	m.start, m.end = m.start+by, m.end+by
	return true
}

// lost ends the mark and says so. The lock is held.
func (m *Mark) lost() {
	m.dead = true
	delete(m.anchor.marks, m)
	if m.gone != nil {
		m.view.notices.add(m.gone)
	}
}

// move carries the session's hunks of one file along. changes lead from the previous text (or, for a file
// that is back, from the one it had) to next.
func (p *pile) move(a *anchor, previous, next *text, changes []change, taken *expectation, s *Session) {
	p.cache = nil
	for _, h := range p.hunks {
		if h.pending {
			// The editor said that it took the hunk; what it shows now has to prove it.
			h.notify = true
		}
	}
	switch {
	case next == nil:
		p.vanish(a.last)
	case previous == nil && a.last == nil:
		p.appear(next)
	default:
		if previous == nil {
			p.unvanish()
		}
		if taken != nil && taken.session == s {
			p.take(taken)
		}
		p.follow(changes, next)
	}
	for _, h := range p.hunks {
		if h.pending && !(h.create && next != nil && next.s == "") {
			h.pending = false
			if h.state == accepted {
				h.state = open
				h.detail = "the editor said that it made the change, but its text does not have it"
			}
		}
	}
	p.sweep()
}

// vanish is for a file that is no more: nothing of it can be changed.
func (p *pile) vanish(last *text) {
	for _, h := range p.hunks {
		switch {
		case h.delete:
			h.settle(accepted)
		case h.create && h.state != conflict:
		case h.create:
			h.start, h.end, h.current, h.home, h.homeAt = 0, 0, "", "", 0
			h.settle(open)
		case h.state == conflict:
			h.current = ""
		default:
			h.home, h.homeAt = last.index().Slice(h.start, h.end), 0
			h.settle(conflict)
			h.detail = "the file is gone"
		}
	}
}

// unvanish undoes vanish for a file that is back.
func (p *pile) unvanish() {
	for _, h := range p.hunks {
		if h.state == conflict && !h.create && !h.delete && h.current == "" {
			h.current = h.home
		}
	}
}

// appear is for a file that was proposed and now exists.
func (p *pile) appear(next *text) {
	for _, h := range p.hunks {
		switch {
		case !h.create:
		case next.s == h.after:
			h.settle(accepted)
		case next.s == "":
			// Editors make an empty file first, and fill it then.
		default:
			h.start, h.end, h.current, h.home = 0, countLines(next.s), next.s, ""
			h.settle(conflict)
			h.detail = "a file of this name appeared with another text"
		}
	}
}

// settle gives the hunk a new state that people should hear of.
func (h *hunk) settle(state proposalState) {
	if h.state == state && !h.pending {
		return
	}
	h.state, h.detail, h.pending, h.notify = state, "", false, true
}

// take accepts the hunks whose edits the text now has, exactly as they were computed. The changes that
// lead there are those of the hunks, so they overlap the hunks' own lines only.
func (p *pile) take(e *expectation) {
	for _, h := range p.hunks {
		if slices.Contains(e.ids, h.id) {
			h.settle(accepted)
		}
	}
}

// follow moves the hunks along a change of the text.
func (p *pile) follow(changes []change, next *text) {
	if len(changes) == 0 {
		return
	}
	var live, broken []*hunk
	for _, h := range p.hunks {
		switch {
		case h.state == accepted && !h.pending:
		case h.delete || h.create:
			h.compareWhole(next)
		case h.state == conflict:
			broken = append(broken, h)
		default:
			live = append(live, h)
		}
	}
	for len(live) > 0 {
		first := live[0]
		i, j := spanOf(changes, first.start, first.end)
		n := 1
		for n < len(live) && i < j {
			from, to := spanOf(changes, live[n].start, live[n].end)
			if from >= j || from == to {
				break
			}
			j = max(j, to)
			n++
		}
		if i == j {
			first.beside(changes, i)
		} else {
			collide(live[:n], changes, i, j)
		}
		live = live[n:]
	}
	for _, h := range broken {
		h.followBroken(changes)
	}
}

// compareWhole looks after hunks that make or delete the whole file.
func (h *hunk) compareWhole(next *text) {
	want := h.before
	if h.create {
		want = h.after
	}
	switch {
	case h.create && next.s == want:
		h.settle(accepted)
	case h.create && next.s == "" && h.state != conflict:
	case h.delete && next.s == want:
		h.start, h.end, h.current = 0, countLines(next.s), ""
		h.settle(open)
	default:
		h.start, h.end, h.current = 0, countLines(next.s), next.s
		h.settle(conflict)
		h.detail = "the file was changed"
	}
}

// beside moves a hunk that no change overlaps; changes[:i] lie above it. If the lines beside it now are
// what it proposes, it is already there.
func (h *hunk) beside(changes []change, i int) {
	by := shiftOf(changes, i)
	start, end := h.start, h.end
	h.start, h.end = start+by, end+by
	var above, below change
	if i > 0 && changes[i-1].end == start {
		above = changes[i-1]
	}
	if i < len(changes) && changes[i].start == end {
		below = changes[i]
	}
	if above.text == "" && below.text == "" && above.old == "" && below.old == "" {
		return
	}
	there := above.text+h.before+below.text == above.old+h.after+below.old
	if start == end {
		there = there || endsWithLines(above.text, h.after) && !endsWithLines(above.old, h.after) ||
			startsWithLines(below.text, h.after) && !startsWithLines(below.old, h.after)
	}
	if there {
		h.settle(accepted)
	}
}

func endsWithLines(text, lines string) bool {
	return strings.HasSuffix(text, lines) && lineStart(text, len(text)-len(lines))
}

func startsWithLines(text, lines string) bool {
	return strings.HasPrefix(text, lines) && (len(text) == len(lines) || lineStart(text, len(lines)))
}

// collide settles hunks that changes[i:j] overlap: they are accepted where their text is already there,
// carried over where the changes are elsewhere in their lines, and a conflict otherwise.
func collide(hunks []*hunk, changes []change, i, j int) {
	lo := min(hunks[0].start, changes[i].start)
	var old, ours, next strings.Builder
	// The lines that the group covers are those of its hunks and of its changes; walk them in order.
	at := lo
	hi := max(hunks[len(hunks)-1].end, changes[j-1].end)
	g, c := 0, i
	oldLines := linesOf(hunks, changes[i:j], lo, hi)
	for k, line := range oldLines {
		old.WriteString(line)
		at = lo + k
		for g < len(hunks) && hunks[g].end <= at && hunks[g].start != hunks[g].end {
			g++
		}
		for g < len(hunks) && hunks[g].start == at {
			ours.WriteString(hunks[g].after)
			if hunks[g].start != hunks[g].end {
				break
			}
			g++
		}
		if g == len(hunks) || at < hunks[g].start || at >= hunks[g].end {
			ours.WriteString(line)
		}
		for c < j && changes[c].end <= at && changes[c].start != changes[c].end {
			c++
		}
		for c < j && changes[c].start == at {
			next.WriteString(changes[c].text)
			if changes[c].start != changes[c].end {
				break
			}
			c++
		}
		if c == j || at < changes[c].start || at >= changes[c].end {
			next.WriteString(line)
		}
	}
	by := shiftOf(changes, i)
	from := lo + by
	to := hi + shiftOf(changes, j)
	if ours.String() == next.String() {
		for _, h := range hunks {
			h.start, h.end = from, to
			h.settle(accepted)
		}
		return
	}
	merged, conflicts := Merge3(old.String(), ours.String(), next.String())
	if len(conflicts) > 0 {
		for _, h := range hunks {
			h.home, h.homeAt, h.current = old.String(), h.start-lo, next.String()
			h.start, h.end = from, to
			h.settle(conflict)
			h.detail = "the lines were changed in another way"
		}
		return
	}
	pieces := Diff(next.String(), merged)
	for k, h := range hunks {
		switch {
		case len(pieces) == 0:
			h.start, h.end = from, to
			h.settle(accepted)
		case k >= len(pieces):
			h.settle(superseded)
			h.detail = "it became part of hunk " + string(hunks[0].id)
		default:
			d := pieces[k]
			if k == len(hunks)-1 && len(pieces) > len(hunks) {
				// More differences than hunks: the last hunk takes the rest in one piece.
				last := pieces[len(pieces)-1]
				d.Before = NewIndex(next.String()).Slice(d.Start, last.End)
				d.After = NewIndex(merged).Slice(d.NewStart, last.NewEnd)
				d.End = last.End
			}
			h.start, h.end = from+d.Start, from+d.End
			h.before, h.after = d.Before, d.After
			h.settle(open)
			h.notify = true
		}
	}
}

// linesOf returns the old lines [lo, hi), each of which belongs to a hunk or to a change.
func linesOf(hunks []*hunk, changes []change, lo, hi int) []string {
	lines := make([]string, hi-lo)
	for _, h := range hunks {
		copy(lines[h.start-lo:], Lines(h.before))
	}
	for _, c := range changes {
		copy(lines[c.start-lo:], Lines(c.old))
	}
	return lines
}

// followBroken moves a conflict, and opens it again where its lines are back as they were.
func (h *hunk) followBroken(changes []change) {
	var above, below, current strings.Builder
	by, start, end := 0, h.start, h.end
	lines := Lines(h.current)
	at := h.start
	copyTo := func(to int) {
		for ; at < to; at++ {
			current.WriteString(lines[at-h.start])
		}
	}
	touched := 0
	for _, c := range changes {
		edge := (c.end == h.start || c.start == h.end) && (c.start == c.end || h.start == h.end)
		if !edge && !(c.start < h.end && h.start < c.end) {
			if c.end <= h.start {
				by += c.delta()
			}
			continue
		}
		touched += c.delta()
		start, end = min(start, c.start), max(end, c.end)
		old := Lines(c.old)
		for k, line := range old {
			switch n := c.start + k; {
			case n < h.start:
				above.WriteString(line)
			case n >= h.end:
				below.WriteString(line)
			}
		}
		copyTo(min(c.start, h.end))
		current.WriteString(c.text)
		at = max(at, min(c.end, h.end))
	}
	copyTo(h.end)
	h.homeAt += countLines(above.String())
	h.home = above.String() + h.home + below.String()
	if now := current.String(); now != h.current {
		h.current, h.notify = now, true
	}
	h.start, h.end = start+by, end+by+touched
}

// sweep opens conflicts whose lines are back, takes out what is settled, and sorts the rest.
func (p *pile) sweep() {
	for _, h := range p.hunks {
		if h.state != conflict || h.create || h.delete {
			continue
		}
		x := NewIndex(h.home)
		n := countLines(h.before)
		if h.current == x.Slice(0, h.homeAt)+h.after+x.Slice(h.homeAt+n, x.Len()) {
			h.settle(accepted)
			continue
		}
		if h.current != h.home || h.detail == goneDetail && p.missing {
			continue
		}
		start := h.start + h.homeAt
		if slices.ContainsFunc(p.hunks, func(other *hunk) bool {
			return other != h && other.live() && start <= other.end && other.start <= start+n
		}) {
			continue
		}
		h.start, h.end, h.current, h.home, h.homeAt = start, start+n, "", "", 0
		h.settle(open)
	}
	p.settled = nil
	p.hunks = slices.DeleteFunc(p.hunks, func(h *hunk) bool {
		if h.live() || h.state == conflict {
			return false
		}
		p.settled = append(p.settled, h)
		return true
	})
	slices.SortStableFunc(p.hunks, func(a, b *hunk) int { return a.start - b.start })
}
