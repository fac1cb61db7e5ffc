package workspace

// anchor returns what is tied to a file. It makes it from what was just read. The lock is held.
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
	// A file that comes back is compared with the text that it had before it was gone.
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

// markStale asks the view's goroutine to read a path again. The lock is held.
func (v *View) markStale(path string) {
	if v.closed {
		return
	}
	v.stale[path] = struct{}{}
	if v.settled == nil {
		v.settled = make(chan struct{})
	}
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// sync moves what is anchored to a file to the text that was just read of it. The lock is held.
func (v *View) sync(a *anchor, c content) {
	if doc := v.docs[a.path]; doc != nil {
		if shown := doc.buffer.whole(); a.now() != shown {
			v.move(a, shown, v.clock.Add(1))
		}
		a.of(doc.buffer)
		return
	}
	if c.open || c.seq < a.seq {
		return
	}
	if h := v.held[a.path]; h != nil {
		h.missed = true
		return
	}
	v.move(a, c.text, c.seq)
}

// save remembers the text as the disk's. The lock is held.
func (a *anchor) save() {
	a.saved = a.now()
	for _, p := range a.piles {
		for _, u := range p.undos {
			u.saved = &savedUndo{hunk: u.hunk, covers: u.covers, on: a.now()}
		}
	}
}

// reverted tells what a change of the file threw away. closed says that the document was closed, so that unsaved text
// is lost; back says that the text is as it was saved. It must be called once for each change. The lock is held.
func reverted(docs map[string]*document, a *anchor, next *text) (closed, back bool) {
	closed = a.closing && docs[a.path] == nil && next != nil && a.now() != nil
	a.closing = false
	return closed, next != nil && a.now() != nil && a.saved != nil && next.same(a.saved)
}

// Track watches the lines [startLine, endLine) of a file, 0-based, in the text that has the stamp, as Read returned it.
// An empty range watches one line. gone is called once, without locks held, when the text of the lines was changed or
// deleted, possibly before Track returns; it must not block. Track reads the file if it is not open. It returns nil
// where the editor shows another text by now, or none. Release ends a mark. Callbacks of other changes may run before
// Track returns, so the caller must hold no lock that they take.
func (v *View) Track(path string, stamp Stamp, startLine, endLine int, gone func()) *Mark {
	path = cleanPath(path)
	c, err := v.content(path)
	if err != nil || c.text == nil || c.text.stamp() != stamp {
		return nil
	}
	defer v.notices.run()
	v.mu.Lock()
	defer v.mu.Unlock()
	a := v.anchor(path, c)
	if !a.now().same(c.text) {
		v.release(a)
		return nil
	}
	startLine = max(startLine, 0)
	m := &Mark{view: v, anchor: a, start: startLine, end: max(endLine, startLine+1), gone: gone}
	a.marks[m] = struct{}{}
	return m
}

// recheck reads what the editor shows, and moves what is anchored to it. For its hunks, a file that cannot be read as a
// text is gone.
func (v *View) recheck(path string, verify bool) {
	c, err := v.content(path)
	if err != nil {
		c.text = nil
	}
	v.mu.Lock()
	if a := v.anchors[path]; a != nil {
		v.sync(a, c)
		if verify {
			v.verify(a)
		}
	}
	v.mu.Unlock()
	v.notices.run()
}
