package workspace

import (
	"hash/maphash"
	"slices"
)

// piece says that the lines [a0, a1) of one text stand where another has [b0, b1).
type piece struct{ a0, a1, b0, b1 int }

// effort bounds the edit distance up to which the exact diff is made. Above it, the texts are split at lines that occur
// once in both, or where the shortest script so far got furthest. The diff's memory grows with the square of this
// number.
const effort = 400

// budget bounds the steps of one comparison. When it is used up, the rest counts as replaced, so that a comparison
// never takes more than a fraction of a second.
const budget = 16_000_000

// diffLines compares all lines of two texts. The pieces are sorted, and at least one equal line lies between two. Each
// is slid down as far as possible, unless balance places it.
func diffLines(a, b *Index) []piece {
	return balance(a, b, slide(a, b, newAlignment(a, b, 0).pieces(way{})))
}

// alignment holds the numbered lines of two texts, without the lines with which both begin and end, except for a few of
// these.
type alignment struct {
	a, b []int32
	head int // how many equal lines in front were left out
	ids  int // all numbers are below this
}

func newAlignment(a, b *Index, margin int) alignment {
	n, m := a.Len(), b.Len()
	head := 0
	for head < min(n, m) && a.Line(head) == b.Line(head) {
		head++
	}
	for n > head && m > head && a.Line(n-1) == b.Line(m-1) {
		n--
		m--
	}
	head = max(0, head-margin)
	n, m = min(n+margin, a.Len()), min(m+margin, b.Len())
	result := alignment{head: head}
	if head == n || head == m {
		// The texts have no line in common, so that the numbers are never looked at.
		result.a, result.b = make([]int32, n-head), make([]int32, m-head)
		return result
	}
	numbers := newNumbering(n + m - 2*head)
	result.a = numbers.lines(a, head, n)
	result.b = numbers.lines(b, head, m)
	result.ids = len(numbers.texts)
	return result
}

// way is how two texts are compared: from their ends, and with the second text first. All ways are right, but take
// different lines for equal where several scripts are equally short.
type way struct{ backwards, swapped bool }

// pieces compares the texts.
func (t alignment) pieces(w way) []piece {
	n, m := len(t.a), len(t.b)
	if n == 0 && m == 0 {
		return nil
	}
	if n == 0 || m == 0 {
		return []piece{{t.head, t.head + n, t.head, t.head + m}}
	}
	d := differ{a: t.a, b: t.b, ids: t.ids, left: budget}
	if w.backwards {
		d.a, d.b = slices.Clone(t.a), slices.Clone(t.b)
		slices.Reverse(d.a)
		slices.Reverse(d.b)
	}
	if w.swapped {
		d.a, d.b = d.b, d.a
	}
	d.compare(0, len(d.a), 0, len(d.b), true)
	for i, p := range d.pieces {
		if w.swapped {
			p = piece{p.b0, p.b1, p.a0, p.a1}
		}
		if w.backwards {
			p = piece{n - p.a1, n - p.a0, m - p.b1, m - p.b0}
		}
		d.pieces[i] = piece{p.a0 + t.head, p.a1 + t.head, p.b0 + t.head, p.b1 + t.head}
	}
	if w.backwards {
		slices.Reverse(d.pieces)
	}
	return d.pieces
}

// numbering gives equal lines equal numbers. It is a hash table of its own: a map of strings would take several times
// as long, and this is most of the cost of comparing long texts.
type numbering struct {
	seed   maphash.Seed
	table  []int32 // number + 1; 0 for an empty entry
	hashes []uint64
	texts  []string
}

func newNumbering(lines int) *numbering {
	size := 16
	for size < 2*lines {
		size *= 2
	}
	return &numbering{seed: maphash.MakeSeed(), table: make([]int32, size)}
}

func (t *numbering) lines(x *Index, from, to int) []int32 {
	list := make([]int32, to-from)
	for i := range list {
		line := x.Line(from + i)
		list[i] = t.number(line, maphash.String(t.seed, line))
	}
	return list
}

func (t *numbering) number(line string, hash uint64) int32 {
	mask := uint64(len(t.table) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := t.table[at] - 1
		if n < 0 {
			t.table[at] = int32(len(t.texts)) + 1
			t.hashes = append(t.hashes, hash)
			t.texts = append(t.texts, line)
			return t.table[at] - 1
		}
		if t.hashes[n] == hash && t.texts[n] == line {
			return n
		}
	}
}

// slide moves each pure insertion or deletion down while the text allows, and joins pieces that meet.
func slide(a, b *Index, pieces []piece) []piece {
	// The finished pieces stand at the end of the same list, from next on.
	next := len(pieces)
	for i := len(pieces) - 1; i >= 0; i-- {
		p := pieces[i]
		for p.a0 == p.a1 || p.b0 == p.b1 {
			limit := a.Len()
			if next < len(pieces) {
				limit = pieces[next].a0
			}
			if p.a1 < limit {
				if p.a0 == p.a1 && b.Line(p.b0) == b.Line(p.b1) || p.b0 == p.b1 && a.Line(p.a0) == a.Line(p.a1) {
					p.a0, p.a1, p.b0, p.b1 = p.a0+1, p.a1+1, p.b0+1, p.b1+1
					continue
				}
				break
			}
			if next == len(pieces) {
				break
			}
			p.a1, p.b1 = pieces[next].a1, pieces[next].b1
			next++
		}
		next--
		pieces[next] = p
	}
	return pieces[next:]
}

// balanceEffort bounds how many lines balance compares.
const balanceEffort = 1 << 20

// balance looks among replaced lines for other places of the equal lines between an insertion and a deletion, so that
// on either side about as many lines come as go. The script stays as short. If the insertion and the deletion stayed
// apart, one piece would bring a changed line and the other would take its old text away, and each would be wrong
// without the other.
func balance(a, b *Index, pieces []piece) []piece {
	var result []piece
	left := balanceEffort
	for _, q := range pieces {
		last := len(result) - 1
		if last < 0 {
			result = append(result, q)
			continue
		}
		p := result[last]
		grown, shrunk := p.delta(), q.delta()
		switch {
		case grown > 0 && shrunk < 0: // the lines of b stay, but are matched with other lines of a
			by := repeats(a, p.a1, q.a0, q.a1, grown, -shrunk, &left)
			p.a1, q.a0 = p.a1+by, q.a0+by
		case grown < 0 && shrunk > 0:
			by := repeats(b, p.b1, q.b0, q.b1, shrunk, -grown, &left)
			p.b1, q.b0 = p.b1+by, q.b0+by
		}
		result[last] = p
		if q.a0 < q.a1 || q.b0 < q.b1 {
			result = append(result, q)
		}
	}
	return result
}

// delta is how many lines a piece adds.
func (p piece) delta() int { return p.b1 - p.b0 - (p.a1 - p.a0) }

// repeats looks for another place, further down and before end, at which the lines [from, to) stand again, and with
// which the piece that adds and the piece that takes away become most balanced. It returns how many lines further down
// that is; 0 where no place is better.
func repeats(x *Index, from, to, end, added, taken int, left *int) int {
	best, off := 0, added+taken
	for by := 1; by < added+taken && to+by <= end && *left > 0; by++ {
		now := abs(added-by) + abs(taken-by)
		if now >= off {
			continue
		}
		same := 0
		for from+same < to && x.Line(from+same) == x.Line(from+same+by) {
			same++
		}
		*left -= 1 + same
		if from+same == to {
			best, off = by, now
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// differ compares two lists of line numbers and collects the pieces in order.
type differ struct {
	a, b   []int32
	ids    int
	pieces []piece
	// left is how much of the budget remains.
	left int
	// reach and trace belong to shortest, and are kept for its next call. reach is how far each diagonal got. trace
	// holds what reach was before each step and at the end, row after row.
	reach, trace []int32
	places       []places
}

func (d *differ) add(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	if n := len(d.pieces); n > 0 && d.pieces[n-1].a1 == a0 && d.pieces[n-1].b1 == b0 {
		d.pieces[n-1].a1, d.pieces[n-1].b1 = a1, b1
		return
	}
	d.pieces = append(d.pieces, piece{a0, a1, b0, b1})
}

// compare compares a part of the lists. split says whether lines that occur once may be looked for.
func (d *differ) compare(a0, a1, b0, b1 int, split bool) {
	for {
		for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
			a0++
			b0++
		}
		for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
			a1--
			b1--
		}
		if a0 == a1 || b0 == b1 || d.left <= 0 {
			d.add(a0, a1, b0, b1)
			return
		}
		x, y, steps := d.shortest(d.a[a0:a1], d.b[b0:b1], effort)
		if x < a1-a0 || y < b1-b0 {
			if split {
				if anchors := d.anchors(a0, a1, b0, b1); len(anchors) > 0 {
					for _, at := range anchors {
						d.compare(a0, at[0], b0, at[1], true)
						a0, b0 = at[0]+1, at[1]+1
					}
					continue
				}
				split = false // few such lines remain in a part
			}
		}
		d.backtrack(a0, b0, x, y, steps)
		a0, b0 = a0+x, b0+y
	}
}

// shortest looks for the shortest edit script (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986,
// figure 2). It returns how far it got in either text, and in how many steps: to the ends, or less far where more steps
// than effort are needed.
func (d *differ) shortest(a, b []int32, effort int) (x, y, steps int) {
	n, m := len(a), len(b)
	limit := min(n+m, effort)
	size := 2*limit + 5
	if len(d.reach) < size {
		d.reach = make([]int32, size)
	}
	reach := d.reach[:size]
	clear(reach)
	middle := limit + 2
	d.trace = d.trace[:0]
	for step := 0; ; step++ {
		d.trace = append(d.trace, reach[middle-step-1:middle+step+2]...)
		for k := -step; k <= step; k += 2 {
			var x int
			if k == -step || k != step && reach[middle+k-1] < reach[middle+k+1] {
				x = int(reach[middle+k+1])
			} else {
				x = int(reach[middle+k-1]) + 1
			}
			y := x - k
			from := x
			for x < n && y < m && a[x] == b[y] {
				x++
				y++
			}
			d.left -= 1 + x - from
			reach[middle+k] = int32(x)
			if x >= n && y >= m {
				d.trace = append(d.trace, reach[middle-step-2:middle+step+3]...)
				return n, m, step
			}
		}
		if step < limit && d.left > 0 {
			continue
		}
		for k := -step; k <= step; k += 2 {
			far := int(reach[middle+k])
			if far <= n && far-k <= m && far+far-k > x+y {
				x, y = far, far-k
			}
		}
		return x, y, step
	}
}

// backtrack walks the trace of shortest back from where it got to, and adds the pieces that it finds in order.
func (d *differ) backtrack(a0, b0, x, y, steps int) {
	var found []piece
	for step := steps; step > 0; step-- {
		// Row step begins behind the rows before it, each of which is two longer than the one before; diagonal k lies
		// at k+step+1.
		reach, k := d.trace[step*step+2*step:], x-y
		at := func(k int) int { return int(reach[k+step+1]) }
		previous := k - 1
		if k == -step || k != step && at(k-1) < at(k+1) {
			previous = k + 1
		}
		px := at(previous)
		py := px - previous
		if previous == k+1 {
			found = append(found, piece{a0 + px, a0 + px, b0 + py, b0 + py + 1})
		} else {
			found = append(found, piece{a0 + px, a0 + px + 1, b0 + py, b0 + py})
		}
		x, y = px, py
	}
	for _, p := range slices.Backward(found) {
		d.add(p.a0, p.a1, p.b0, p.b1)
	}
}

// places tells how often a line occurs in either text, and where it occurs last.
type places struct{ inA, inB, a, b int32 }

// anchors returns the longest increasing series of lines that occur once in either text (patience diff).
func (d *differ) anchors(a0, a1, b0, b1 int) [][2]int {
	d.left -= 4 * (a1 - a0 + b1 - b0)
	if d.places == nil {
		d.places = make([]places, d.ids)
	}
	for i := a0; i < a1; i++ {
		p := &d.places[d.a[i]]
		p.inA++
		p.a = int32(i)
	}
	for i := b0; i < b1; i++ {
		p := &d.places[d.b[i]]
		p.inB++
		p.b = int32(i)
	}
	type card struct {
		at   [2]int
		back int
	}
	var cards []card
	var tops []int
	for i := a0; i < a1; i++ {
		p := d.places[d.a[i]]
		if p.inA != 1 || p.inB != 1 {
			continue
		}
		pile := len(tops)
		if pile > 0 && cards[tops[pile-1]].at[1] > int(p.b) {
			pile, _ = slices.BinarySearchFunc(tops, int(p.b), func(top, b int) int { return cards[top].at[1] - b })
		}
		back := -1
		if pile > 0 {
			back = tops[pile-1]
		}
		cards = append(cards, card{[2]int{int(p.a), int(p.b)}, back})
		if pile == len(tops) {
			tops = append(tops, len(cards)-1)
		} else {
			tops[pile] = len(cards) - 1
		}
	}
	for _, id := range d.a[a0:a1] {
		d.places[id] = places{}
	}
	for _, id := range d.b[b0:b1] {
		d.places[id] = places{}
	}
	if len(tops) == 0 {
		return nil
	}
	series := make([][2]int, 0, len(tops))
	for i := tops[len(tops)-1]; i >= 0; i = cards[i].back {
		series = append(series, cards[i].at)
	}
	slices.Reverse(series)
	return series
}
