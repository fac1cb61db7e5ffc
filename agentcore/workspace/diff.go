package workspace

import (
	"slices"
)

// piece says that the lines [a0, a1) of one text stand where another has [b0, b1).
type piece struct{ a0, a1, b0, b1 int }

// effort bounds the edit distance that the exact diff looks at before it splits the texts at lines that
// occur once in both; its memory grows with the square.
const effort = 400

// diffLines compares the lines [a0, a1) of a with [b0, b1) of b. The pieces are sorted, at least one equal
// line apart, and slid down as far as they go.
func diffLines(a, b *Index, a0, a1, b0, b1 int) []piece {
	for a0 < a1 && b0 < b1 && a.Line(a0) == b.Line(b0) {
		a0++
		b0++
	}
	for a0 < a1 && b0 < b1 && a.Line(a1-1) == b.Line(b1-1) {
		a1--
		b1--
	}
	if a0 == a1 && b0 == b1 {
		return nil
	}
	var pieces []piece
	if a0 == a1 || b0 == b1 {
		pieces = []piece{{a0, a1, b0, b1}}
	} else {
		ids := make(map[string]int32)
		number := func(x *Index, from, to int) []int32 {
			list := make([]int32, 0, to-from)
			for i := from; i < to; i++ {
				line := x.Line(i)
				id, ok := ids[line]
				if !ok {
					id = int32(len(ids))
					ids[line] = id
				}
				list = append(list, id)
			}
			return list
		}
		d := differ{a: number(a, a0, a1), b: number(b, b0, b1)}
		d.compare(0, len(d.a), 0, len(d.b))
		for _, p := range d.pieces {
			pieces = append(pieces, piece{p.a0 + a0, p.a1 + a0, p.b0 + b0, p.b1 + b0})
		}
	}
	return slide(a, b, pieces)
}

// slide moves each pure insertion or deletion down while the text allows, and joins pieces that meet.
func slide(a, b *Index, pieces []piece) []piece {
	for i := len(pieces) - 1; i >= 0; i-- {
		p := &pieces[i]
		for p.a0 == p.a1 || p.b0 == p.b1 {
			limit := a.Len()
			if i+1 < len(pieces) {
				limit = pieces[i+1].a0
			}
			if p.a1 < limit {
				if p.a0 == p.a1 && b.Line(p.b0) == b.Line(p.b1) || p.b0 == p.b1 && a.Line(p.a0) == a.Line(p.a1) {
					p.a0, p.a1, p.b0, p.b1 = p.a0+1, p.a1+1, p.b0+1, p.b1+1
					continue
				}
				break
			}
			if i+1 == len(pieces) {
				break
			}
			next := pieces[i+1]
			p.a1, p.b1 = next.a1, next.b1
			pieces = slices.Delete(pieces, i+1, i+2)
		}
	}
	return pieces
}

// differ compares two lists of line numbers and collects the pieces in order.
type differ struct {
	a, b   []int32
	pieces []piece
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

func (d *differ) compare(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0++
		b0++
	}
	tail := 0
	for a0 < a1-tail && b0 < b1-tail && d.a[a1-tail-1] == d.b[b1-tail-1] {
		tail++
	}
	a1, b1 = a1-tail, b1-tail
	if a0 == a1 || b0 == b1 {
		d.add(a0, a1, b0, b1)
		return
	}
	if d.shortest(a0, a1, b0, b1) {
		return
	}
	anchors := d.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		d.add(a0, a1, b0, b1)
		return
	}
	for _, at := range anchors {
		d.compare(a0, at[0], b0, at[1])
		a0, b0 = at[0]+1, at[1]+1
	}
	d.compare(a0, a1, b0, b1)
}

// shortest adds the shortest edit script (E. Myers, "An O(ND) Difference Algorithm and Its Variations",
// 1986, figure 2), or reports false where it is longer than effort.
func (d *differ) shortest(a0, a1, b0, b1 int) bool {
	n, m := a1-a0, b1-b0
	limit := min(n+m, effort)
	reach := make([]int32, 2*limit+3)
	middle := limit + 1
	var trace [][]int32
	for step := 0; step <= limit; step++ {
		trace = append(trace, slices.Clone(reach[middle-step-1:middle+step+2]))
		for k := -step; k <= step; k += 2 {
			var x int
			if k == -step || k != step && reach[middle+k-1] < reach[middle+k+1] {
				x = int(reach[middle+k+1])
			} else {
				x = int(reach[middle+k-1]) + 1
			}
			y := x - k
			for x < n && y < m && d.a[a0+x] == d.b[b0+y] {
				x++
				y++
			}
			reach[middle+k] = int32(x)
			if x >= n && y >= m {
				d.backtrack(trace, a0, b0, n, m)
				return true
			}
		}
	}
	return false
}

// backtrack walks the trace of shortest from its end and adds what it finds in order.
func (d *differ) backtrack(trace [][]int32, a0, b0, x, y int) {
	var found []piece
	for step := len(trace) - 1; step > 0; step-- {
		// Each saved row is centred: diagonal k lies at k+step+1.
		reach, k := trace[step], x-y
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

// anchors returns the longest increasing series of lines that occur once in either text (patience diff).
func (d *differ) anchors(a0, a1, b0, b1 int) [][2]int {
	type places struct{ inA, inB, a, b int }
	seen := make(map[int32]*places)
	for i := a0; i < a1; i++ {
		p := seen[d.a[i]]
		if p == nil {
			p = &places{}
			seen[d.a[i]] = p
		}
		p.inA++
		p.a = i
	}
	for i := b0; i < b1; i++ {
		if p := seen[d.b[i]]; p != nil {
			p.inB++
			p.b = i
		}
	}
	type card struct {
		at   [2]int
		back int
	}
	var cards []card
	var tops []int
	for i := a0; i < a1; i++ {
		p := seen[d.a[i]]
		if p.inA != 1 || p.inB != 1 {
			continue
		}
		pile, _ := slices.BinarySearchFunc(tops, p.b, func(top, b int) int { return cards[top].at[1] - b })
		back := -1
		if pile > 0 {
			back = tops[pile-1]
		}
		cards = append(cards, card{[2]int{p.a, p.b}, back})
		if pile == len(tops) {
			tops = append(tops, len(cards)-1)
		} else {
			tops[pile] = len(cards) - 1
		}
	}
	if len(tops) == 0 {
		return nil
	}
	var series [][2]int
	for i := tops[len(tops)-1]; i >= 0; i = cards[i].back {
		series = append(series, cards[i].at)
	}
	slices.Reverse(series)
	return series
}
