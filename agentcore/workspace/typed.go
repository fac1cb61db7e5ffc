package workspace

// now is the text that the lines refer to, nil where there is no such file. The lock is held.
func (a *anchor) now() *text {
	if a.typed.behind {
		a.text, a.typed.behind = a.typed.buffer.whole(), false
	}
	return a.text
}

// of notes that the lines refer to the text of an open document, if they do. The lock is held.
func (a *anchor) of(b *Buffer) {
	if a.now() == b.whole() {
		a.typed.buffer = b
	}
}

// follow moves marks along an edit of the open document. It reports false where more than marks is tied to the file, or
// where the edit is none of the text that the lines refer to: then the whole texts are to be compared. The lock is
// held.
func (a *anchor) follow(v *View, next *Buffer, seq uint64) bool {
	former := a.typed.buffer
	if former == nil || !next.edits() || a.closing ||
		len(a.piles)+len(a.incoming)+len(a.expected) > 0 {
		return false
	}
	changes, looks := linesBetween(former, next)
	a.seq, a.typed = seq, typed{next, true, a.typed.looks + looks}
	for m := range a.marks {
		if !m.shift(changes) {
			m.lost()
		}
	}
	v.release(a)
	return true
}

// linesBetween are the changes from one buffer to the other as [lineChanges] has them, but for their texts where it is
// one place that has changed. looks are the nodes that it compared.
func linesBetween(old, next *Buffer) (changes []change, looks int) {
	a, b := old.tree(), next.tree()
	n, m := a.measured().bytes, b.measured().bytes
	head, looks := inCommon(a, b, false)
	if head == n && n == m {
		return nil, looks
	}
	tail, more := inCommon(a, b, true)
	looks += more
	if !(a.lineStart(head) && b.lineStart(head)) {
		head = a.afterBreaks(a.breaksBefore(head - 1))
	}
	tail = min(tail, n-head, m-head)
	if tail > 0 && !(a.lineStart(n-tail) && b.lineStart(m-tail)) {
		if breaks := a.breaksBefore(n - tail); breaks < a.measured().breaks {
			tail = n - a.afterBreaks(breaks+1)
		} else {
			tail = 0
		}
	}
	first := a.breaksBefore(head)
	count := func(root *node, end int) int {
		lines := root.breaksBefore(end) - first
		if end > head && !root.lineStart(end) {
			lines++
		}
		return lines
	}
	before, after := count(a, n-tail), count(b, m-tail)
	if min(before, after) == 0 || max(before, after) == 1 {
		return []change{{start: first, end: first + before, lines: after}}, looks
	}
	changes = changesBetween(NewIndex(a.slice(head, n-tail)), NewIndex(b.slice(head, m-tail)))
	for i := range changes {
		changes[i].start += first
		changes[i].end += first
	}
	return changes, looks
}

// inCommon is how many bytes two trees have in common at their beginning, or at their end where back is set, and how
// many pairs of nodes that took: it looks into no subtree that is in both.
func inCommon(a, b *node, back bool) (same, looks int) {
	if a == nil || b == nil {
		return 0, 0
	}
	parts := func(list []*node, n *node) []*node {
		if back {
			return append(list, n.left, n.right)
		}
		return append(list, n.right, n.left)
	}
	// What is left of each tree, what comes next at the end; both begin at the same byte.
	left, right := []*node{a}, []*node{b}
	for len(left) > 0 && len(right) > 0 {
		looks++
		x, y := left[len(left)-1], right[len(right)-1]
		switch {
		case x != y && x.left != nil && (y.left == nil || x.sum.bytes >= y.sum.bytes):
			left = parts(left[:len(left)-1], x)
			continue
		case x != y && y.left != nil:
			right = parts(right[:len(right)-1], y)
			continue
		}
		left, right = left[:len(left)-1], right[:len(right)-1]
		if x == y {
			same += x.sum.bytes
			continue
		}
		n := 0
		if back {
			n = commonSuffix(x.piece, y.piece)
		} else {
			n = commonPrefix(x.piece, y.piece)
		}
		same += n
		if n < len(x.piece) && n < len(y.piece) {
			return same, looks
		}
		left, right = x.after(left, n, back), y.after(right, n, back)
	}
	return same, looks
}

// after appends what is left of a piece without so many bytes at one end, if anything is.
func (n *node) after(list []*node, bytes int, back bool) []*node {
	switch {
	case bytes == len(n.piece):
		return list
	case back:
		return append(list, &node{piece: n.piece[:len(n.piece)-bytes]})
	}
	return append(list, &node{piece: n.piece[bytes:]})
}
