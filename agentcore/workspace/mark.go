package workspace

// Mark is a range of lines that follows the user's typing. Its methods may be called from any goroutine.
type Mark struct {
	view       *View
	anchor     *anchor
	start, end int
	gone       func()
	dead       bool
}

// Track watches the lines [startLine, endLine) of a file, 0-based, in the text of the stamp, as Read has
// returned it. gone is called once, without locks held, when their text was changed or deleted, possibly
// before Track returns; it must not block. An empty range watches one line. Track reads the file where it is
// not open; it returns nil where the editor shows another text by now, or none. Marks are ended by Release.
// Callbacks of other changes may run before it returns, so the caller must hold no lock that they take.
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
