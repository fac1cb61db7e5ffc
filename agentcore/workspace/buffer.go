package workspace

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Units are what the columns of a position count.
type Units uint8

const (
	// Bytes of UTF-8.
	Bytes Units = iota
	// UTF16 code units, of which characters beyond U+FFFF have two.
	UTF16
	// Runes are Unicode code points.
	Runes
)

// Buffer is a text that is edited a little at a time: a balanced tree of pieces. A change costs the logarithm of the
// text's length, and the length of the inserted text. A buffer is immutable: an edit makes another one. It may be used
// from any goroutine. The whole text is put together when it is first asked for.
type Buffer struct {
	// source is the text of a buffer that was not made by an edit. Its tree is made at the first edit.
	source  string
	planted sync.Once
	root    *node // nil is the empty text
	joined  sync.Once
	text    *text
}

// node is a leaf, which has a piece, or has two children.
type node struct {
	sum         measure
	height      int
	piece       string
	left, right *node
}

// measure is the size of a piece. A piece never ends inside a character, or between the bytes of "\r\n".
type measure struct {
	bytes, utf16, runes int
	breaks              int // line endings, as Lines counts them
}

func (m measure) plus(o measure) measure {
	return measure{m.bytes + o.bytes, m.utf16 + o.utf16, m.runes + o.runes, m.breaks + o.breaks}
}

func (m measure) in(u Units) int {
	switch u {
	case UTF16:
		return m.utf16
	case Runes:
		return m.runes
	}
	return m.bytes
}

// pieceSize is about how many bytes a piece has.
const pieceSize = 512

// NewBuffer makes a buffer of a text.
func NewBuffer(s string) *Buffer { return &Buffer{source: s} }

func (b *Buffer) tree() *node {
	b.planted.Do(func() {
		if b.source != "" {
			b.root = treeOf(pieces(b.source))
		}
	})
	return b.root
}

// edits reports whether the buffer was made by edits from another one, so that both share the pieces that were not
// edited.
func (b *Buffer) edits() bool { return b.source == "" }

// whole is the text in one piece.
func (b *Buffer) whole() *text {
	b.joined.Do(func() {
		if b.source != "" {
			b.text = newText(b.source)
			return
		}
		var all strings.Builder
		all.Grow(b.root.measured().bytes)
		b.root.writeTo(&all)
		b.text = newText(all.String())
	})
	return b.text
}

// Index returns the whole text with its lines. The first call costs the text's length.
func (b *Buffer) Index() *Index { return b.whole().index() }

// Len is the length in bytes.
func (b *Buffer) Len() int { return b.tree().measured().bytes }

// Replace returns the buffer in which the bytes from start to end, both at the borders of characters, are replaced.
func (b *Buffer) Replace(start, end int, insert string) *Buffer {
	before, rest := b.tree().split(start)
	_, after := rest.split(end - start)
	// Inserted text is joined with its neighbours, so that characters stay whole and pieces long enough.
	before, head := before.cutLast()
	tail, after := after.cutFirst()
	return &Buffer{root: join(join(before, treeOf(pieces(head+insert+tail))), after)}
}

// Offset returns the offset in bytes of a position: a line and a column in units, both 0-based. A line beyond the text
// means the text's end, a column beyond the line the end of the line before its line ending, and a column inside a
// character the character's start, as LSP 3.18 ("Position") has it.
func (b *Buffer) Offset(line, column int, units Units) int {
	root := b.tree()
	sum := root.measured()
	if line > sum.breaks {
		return sum.bytes
	}
	start := root.afterBreaks(line)
	end := sum.bytes
	if line < sum.breaks {
		end = root.afterBreaks(line + 1)
		last := root.at(end - 1)
		end--
		if last == '\n' && end > start && root.at(end-1) == '\r' {
			end--
		}
	}
	if column >= end-start { // a character has no more units than bytes
		return end
	}
	return min(end, root.afterUnits(root.before(start).in(units)+column, units))
}

// at returns one byte.
func (n *node) at(offset int) byte {
	for n.left != nil {
		if left := n.left.sum.bytes; offset < left {
			n = n.left
		} else {
			n, offset = n.right, offset-left
		}
	}
	return n.piece[offset]
}

func (n *node) measured() measure {
	if n == nil {
		return measure{}
	}
	return n.sum
}

func (n *node) writeTo(b *strings.Builder) {
	switch {
	case n == nil:
	case n.left == nil:
		b.WriteString(n.piece)
	default:
		n.left.writeTo(b)
		n.right.writeTo(b)
	}
}

// before measures the first bytes, without counting their line endings.
func (n *node) before(bytes int) measure {
	var sum measure
	for n != nil && n.left != nil {
		if left := n.left.sum; bytes < left.bytes {
			n = n.left
		} else {
			sum, bytes, n = sum.plus(left), bytes-left.bytes, n.right
		}
	}
	switch {
	case n == nil || bytes == 0:
	case n.sum.bytes == n.sum.runes:
		sum = sum.plus(measure{bytes: bytes, utf16: bytes, runes: bytes})
	default:
		sum = sum.plus(measured(n.piece[:bytes]))
	}
	return sum
}

// breaksBefore counts the line endings that end at or before an offset.
func (n *node) breaksBefore(offset int) int {
	breaks := 0
	for n != nil && n.left != nil {
		if left := n.left.sum; offset < left.bytes {
			n = n.left
		} else {
			breaks, offset, n = breaks+left.breaks, offset-left.bytes, n.right
		}
	}
	switch {
	case n == nil || offset <= 0:
		return breaks
	case offset < len(n.piece) && n.piece[offset-1] == '\r' && n.piece[offset] == '\n':
		offset-- // the offset is inside of "\r\n"
	}
	return breaks + measured(n.piece[:min(offset, len(n.piece))]).breaks
}

// lineStart is [lineStart] of the text.
func (n *node) lineStart(at int) bool {
	if at == 0 {
		return true
	}
	switch n.at(at - 1) {
	case '\n':
		return true
	case '\r':
		return at == n.sum.bytes || n.at(at) != '\n'
	}
	return false
}

// slice returns the text from one offset to another.
func (n *node) slice(from, to int) string {
	var b strings.Builder
	b.Grow(to - from)
	n.writeSlice(&b, from, to)
	return b.String()
}

func (n *node) writeSlice(b *strings.Builder, from, to int) {
	switch {
	case n == nil || from >= to || from >= n.sum.bytes || to <= 0:
	case n.left == nil:
		b.WriteString(n.piece[max(from, 0):min(to, len(n.piece))])
	default:
		left := n.left.sum.bytes
		n.left.writeSlice(b, from, to)
		n.right.writeSlice(b, from-left, to-left)
	}
}

// afterBreaks returns the offset behind the first so many line endings.
func (n *node) afterBreaks(breaks int) int {
	at := 0
	for n != nil && n.left != nil {
		if left := n.left.sum; breaks <= left.breaks {
			n = n.left
		} else {
			at, breaks, n = at+left.bytes, breaks-left.breaks, n.right
		}
	}
	if n == nil {
		return 0
	}
	in := 0
	for feeds := !strings.Contains(n.piece, "\r"); breaks > 0; breaks-- {
		if feeds {
			in += strings.IndexByte(n.piece[in:], '\n') + 1
		} else {
			in = nextLine(n.piece, in)
		}
	}
	return at + in
}

// afterUnits returns the offset of the last character that begins at or before so many units.
func (n *node) afterUnits(count int, units Units) int {
	at := 0
	for n != nil && n.left != nil {
		if left := n.left.sum; count < left.in(units) {
			n = n.left
		} else {
			at, count, n = at+left.bytes, count-left.in(units), n.right
		}
	}
	if n == nil {
		return 0
	}
	if n.sum.bytes == n.sum.in(units) {
		count = min(count, n.sum.bytes)
		for count > 0 && count < n.sum.bytes && !utf8.RuneStart(n.piece[count]) {
			count--
		}
		return at + count
	}
	for i, r := range n.piece {
		wide := 1
		if units == UTF16 && r >= 0x10000 {
			wide = 2
		}
		if count < wide {
			return at + i
		}
		count -= wide
	}
	return at + len(n.piece)
}

func measured(s string) measure {
	m := measure{bytes: len(s), breaks: strings.Count(s, "\n")}
	if strings.Contains(s, "\r") {
		m.breaks += strings.Count(s, "\r") - strings.Count(s, "\r\n")
	}
	m.runes = utf8.RuneCountInString(s)
	m.utf16 = m.runes
	if m.runes < m.bytes {
		for i := range len(s) {
			if s[i] >= 0xf0 { // the first byte of four
				m.utf16++
			}
		}
	}
	return m
}

// pieces cuts a text.
func pieces(s string) []*node {
	var list []*node
	for s != "" {
		cut := len(s)
		if cut > 2*pieceSize {
			cut = pieceSize
			for !utf8.RuneStart(s[cut]) || s[cut] == '\n' && s[cut-1] == '\r' {
				cut++
				if cut == len(s) {
					break
				}
			}
		}
		list = append(list, &node{sum: measured(s[:cut]), piece: s[:cut]})
		s = s[cut:]
	}
	return list
}

// treeOf makes a tree of pieces.
func treeOf(list []*node) *node {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return parent(treeOf(list[:len(list)/2]), treeOf(list[len(list)/2:]))
}

func parent(left, right *node) *node {
	return &node{sum: left.sum.plus(right.sum), height: max(left.height, right.height) + 1, left: left, right: right}
}

// join puts one tree behind another; the heights of siblings differ by one at most, as in AVL trees.
func join(left, right *node) *node {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.height > right.height+1:
		return balanced(left.left, join(left.right, right))
	case right.height > left.height+1:
		return balanced(join(left, right.left), right.right)
	}
	return parent(left, right)
}

// balanced is parent for trees whose heights differ by two at most.
func balanced(left, right *node) *node {
	switch {
	case left.height > right.height+1:
		if left.left.height >= left.right.height {
			return parent(left.left, parent(left.right, right))
		}
		return parent(parent(left.left, left.right.left), parent(left.right.right, right))
	case right.height > left.height+1:
		if right.right.height >= right.left.height {
			return parent(parent(left, right.left), right.right)
		}
		return parent(parent(left, right.left.left), parent(right.left.right, right.right))
	}
	return parent(left, right)
}

// split cuts a tree in two at an offset.
func (n *node) split(at int) (before, after *node) {
	switch {
	case n == nil || at >= n.sum.bytes:
		return n, nil
	case at <= 0:
		return nil, n
	case n.left == nil:
		// Nobody sees the halves, since Replace joins them with other text. So they may end inside of "\r\n", and only
		// their length counts.
		return &node{sum: measure{bytes: at}, piece: n.piece[:at]}, &node{
			sum:   measure{bytes: len(n.piece) - at},
			piece: n.piece[at:],
		}
	case at < n.left.sum.bytes:
		before, after = n.left.split(at)
		return before, join(after, n.right)
	}
	before, after = n.right.split(at - n.left.sum.bytes)
	return join(n.left, before), after
}

// cutLast removes the last piece.
func (n *node) cutLast() (rest *node, last string) {
	switch {
	case n == nil:
		return nil, ""
	case n.left == nil:
		return nil, n.piece
	}
	rest, last = n.right.cutLast()
	return join(n.left, rest), last
}

// cutFirst removes the first piece.
func (n *node) cutFirst() (first string, rest *node) {
	switch {
	case n == nil:
		return "", nil
	case n.left == nil:
		return n.piece, nil
	}
	first, rest = n.left.cutFirst()
	return first, join(rest, n.right)
}
