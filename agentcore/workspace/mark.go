package workspace

// Lines returns where the lines are now, 0-based, the end exclusive. ok is false once the lines are gone or the mark
// was released.
func (m *Mark) Lines() (start, end int, ok bool) {
	m.view.mu.Lock()
	defer m.view.mu.Unlock()
	return m.start, m.end, !m.dead
}

// Release ends the mark. gone is not called any more, but a call that has begun may still be under way.
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

// release forgets an anchor that nothing is tied to. The lock is held.
func (v *View) release(a *anchor) {
	if len(a.marks) == 0 && len(a.piles) == 0 && len(a.incoming) == 0 && v.anchors[a.path] == a {
		delete(v.anchors, a.path)
	}
}
