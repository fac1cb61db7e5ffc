package workspace

import "sort"

// anchor holds what is tied to lines of one file as the editor shows it. It belongs to the view's lock.
type anchor struct {
	path string
	// text is what the lines refer to, but for what was typed since, nil where there is no such file; last is then the
	// text that was.
	text, last *text
	typed      typed
	// saved is the text that the open document had on disk, nil where it is not known; closing says that the document
	// was closed, and what the disk has is still to be read.
	saved   *text
	closing bool
	seq     uint64
	marks   map[*Mark]struct{}
	piles   map[*Proposal]*pile
	// incoming are the files that sessions want to move here.
	incoming map[*Proposal]*anchor
	// expected are texts that the editor would show if it took the edits that were computed last.
	expected []expectation
}

// anchor returns what is tied to a file, making it from what was just read. The lock is held.
func (v *View) anchor(path string, c content) *anchor {
	a := v.anchors[path]
	if a == nil {
		a = newAnchor(path, c)
		if doc := v.docs[path]; doc != nil {
			a.saved = doc.saved.whole()
		}
		v.anchors[path] = a
	}
	v.sync(a, c)
	// The last hunk may just have been settled.
	v.anchors[path] = a
	return a
}

func newAnchor(path string, c content) *anchor {
	return &anchor{
		path: path, text: c.text, seq: c.seq, marks: make(map[*Mark]struct{}),
		piles: make(map[*Proposal]*pile),
	}
}

// release forgets an anchor that nothing is tied to. The lock is held.
func (v *View) release(a *anchor) {
	if len(a.marks) == 0 && len(a.piles) == 0 && len(a.incoming) == 0 && v.anchors[a.path] == a {
		delete(v.anchors, a.path)
	}
}

// move ties everything to a new text of the file. The lock is held.
func (v *View) move(a *anchor, next *text, seq uint64) {
	a.seq = seq
	closed, back := reverted(v.docs, a, next)
	if a.now().same(next) {
		if next != nil {
			a.text = next
		}
		return
	}
	if !closed && !back {
		if between := a.nearly(next); between != nil {
			v.move(a, between, seq)
		}
	}
	previous := a.now()
	// A file that is back after it was gone is compared with what it was.
	from := previous
	if from == nil {
		from = a.last
	}
	var taken *expectation
	var changes []change
	if from != nil && next != nil {
		if taken = a.taken(from, next); taken != nil && !(closed && taken.undo) {
			changes = taken.changes
		} else {
			taken, changes = nil, lineChanges(from.s, next.s)
		}
	}
	lost := nothingLost
	switch {
	case closed && back:
		lost = allLost
	case closed, back && (taken == nil || taken.undo):
		lost = maybeLost
	}
	a.text, a.last, a.typed.buffer = next, nil, nil
	if next == nil {
		a.last = from
	}
	a.expected = nil
	for m := range a.marks {
		if previous == nil || next == nil || !m.shift(changes) {
			m.lost()
		}
	}
	for s, p := range a.piles {
		p.move(from, next, changes, taken, lost, s)
		s.publish(a, p)
	}
	if v.arrive(a); next == nil {
		v.departed(a)
	}
	v.release(a)
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
	if min(n, m) == 0 || max(n, m) == 1 {
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
