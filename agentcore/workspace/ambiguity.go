package workspace

import (
	"cmp"
	"slices"
)

// Where lines repeat, two texts can be aligned in several ways. A merge can be trusted only if all of them lead to the
// same text, since nobody knows which alignment another tool, such as git, takes.

// margin is how many of the equal lines at the begin and at the end of two texts are looked at: a change beside them
// may as well be placed among them.
const margin = 500

// carefulEffort bounds the edit distance up to which all shortest scripts are looked for.
const carefulEffort = 1500

// span is a range of lines, [from, to).
type span struct{ from, to int }

// wideRanges returns for each piece the lines of a over which the same change could be made, sorted. These are the
// neighbouring lines that some shortest script does not keep for the same line of b, and the lines up to the next piece
// where they say too little to tell two changes apart. Pieces that belong together get the same range.
func wideRanges(a, b *Index, pieces []piece) []span {
	if len(pieces) == 0 {
		return nil
	}
	t := newAlignment(a, b, margin)
	ranges := t.ranges(a, b, pieces)
	common := t.common()
	// From the last range to the first, a range is joined with the next one if only common lines lie between them, and
	// few in proportion to what has changed around: another tool may count these lines as changed, too.
	weight := 0
	for i := len(ranges) - 1; i >= 0; i-- {
		own := pieces[i].a1 - pieces[i].a0 + pieces[i].b1 - pieces[i].b0
		if i+1 == len(ranges) {
			weight = own
			continue
		}
		here, next := &ranges[i], ranges[i+1]
		if gap := next.from - here.to; gap <= 0 || islandShare*gap <= weight+own &&
			!slices.Contains(common[here.to-t.head:next.from-t.head], false) {
			here.to = max(here.to, next.to)
			weight += own
		} else {
			weight = own
		}
	}
	for i := 1; i < len(ranges); i++ {
		if ranges[i].from < ranges[i-1].to {
			ranges[i] = ranges[i-1]
		}
	}
	return ranges
}

// islandShare is how many changed lines there must be for each common line that is taken as changed with them.
const islandShare = 3

// common tells for each line of the first text whether one of the texts has it more than once.
func (t alignment) common() []bool {
	counts := make([][2]int, max(t.ids, 1))
	for _, id := range t.a {
		counts[id][0]++
	}
	for _, id := range t.b {
		counts[id][1]++
	}
	result := make([]bool, len(t.a))
	for i, id := range t.a {
		result[i] = counts[id][0] > 1 || counts[id][1] > 1
	}
	return result
}

func (t alignment) ranges(a, b *Index, pieces []piece) []span {
	own := newScript(a, b, pieces)
	unsure, ok := t.unsure()
	if !ok {
		return groups([]script{
			own, newScript(a, b, t.pieces(way{backwards: true})),
			newScript(a, b, t.pieces(way{swapped: true})), newScript(a, b, t.pieces(way{true, true})),
		})
	}
	for _, p := range own {
		unsure = append(unsure, span{p.from, p.to})
	}
	slices.SortFunc(unsure, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	joined := unsure[:1]
	for _, s := range unsure[1:] {
		if last := &joined[len(joined)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			joined = append(joined, s)
		}
	}
	ranges := make([]span, len(pieces))
	for i, p := range pieces {
		for joined[0].to < p.a1 {
			joined = joined[1:]
		}
		ranges[i] = joined[0]
	}
	return ranges
}

// unsure returns the lines of the first text, in order, that some shortest script does not keep for the same line of
// the second. It reports false where the scripts are longer than carefulEffort, or where there are too many to tell.
func (t alignment) unsure() ([]span, bool) {
	n, m := len(t.a), len(t.b)
	from := differ{left: budget}
	x, y, steps := from.shortest(t.a, t.b, carefulEffort)
	if x < n || y < m {
		return nil, false
	}
	a, b := slices.Clone(t.a), slices.Clone(t.b)
	slices.Reverse(a)
	slices.Reverse(b)
	to := differ{left: budget}
	to.shortest(a, b, carefulEffort)
	// A point (x, y), on diagonal x-y, is on a shortest script if d steps lead to it and steps-d lead on from it to the
	// end. On a diagonal, these points lie between how far d-2 steps lead and how far d steps lead, from either end.
	points := func(k, d int) span {
		lo, hi := from.reached(k, d-2, n, m)+1, from.reached(k, d, n, m)
		k = n - m - k
		return span{max(lo, n-to.reached(k, steps-d, n, m)), min(hi, n-to.reached(k, steps-d-2, n, m)-1) + 1}
	}
	// Each script passes each line once. ways counts the different ways to pass a line; a deletion counts for two.
	ways := make([]int32, n+1)
	left := budget
	for d := 0; d <= steps; d++ {
		for k := -d; k <= d; k += 2 {
			here := points(k, d)
			left -= max(1, here.to-here.from)
			if left < 0 {
				return nil, false
			}
			for x := here.from; x+1 < here.to; x++ {
				if t.a[x] == t.b[x-k] {
					ways[x]++
				}
			}
			if d == steps || here.from >= here.to {
				continue
			}
			there := points(k+1, d+1)
			for x := max(here.from, there.from-1); x < min(here.to, there.to-1); x++ {
				ways[x] += 2
			}
		}
	}
	var spans []span
	for x := range n {
		switch last := len(spans) - 1; {
		case ways[x] == 1:
		case last >= 0 && spans[last].to == t.head+x:
			spans[last].to++
		default:
			spans = append(spans, span{t.head + x, t.head + x + 1})
		}
	}
	return spans, true
}

// reached returns how far shortest got in the first text of n lines on a diagonal with at most so many steps, without
// leaving the texts. It returns one less than the diagonal's first point where shortest did not reach the diagonal.
func (d *differ) reached(k, steps, n, m int) int {
	first := max(0, k)
	if steps < 0 || k < -steps || k > steps {
		return first - 1
	}
	// The row that was kept before a step tells what the steps before it have reached.
	row := steps + 1
	return min(int(d.trace[row*row+2*row+k+row+1]), n, m+k)
}

// script is a way to make one text of another: its pieces, with the ranges over which each can be moved.
type script []slidable

type slidable struct{ from, to, delta int }

func newScript(a, b *Index, pieces []piece) script {
	result := make(script, len(pieces))
	for i, p := range pieces {
		floor, limit := 0, a.Len()
		if i > 0 {
			floor = pieces[i-1].a1
		}
		if i+1 < len(pieces) {
			limit = pieces[i+1].a0
		}
		up, down := 0, 0
		switch {
		case p.a0 == p.a1:
			for p.a0-up > floor && b.Line(p.b0-up-1) == b.Line(p.b1-up-1) {
				up++
			}
			for p.a1+down < limit && b.Line(p.b0+down) == b.Line(p.b1+down) {
				down++
			}
		case p.b0 == p.b1:
			for p.a0-up > floor && a.Line(p.a0-up-1) == a.Line(p.a1-up-1) {
				up++
			}
			for p.a1+down < limit && a.Line(p.a0+down) == a.Line(p.a1+down) {
				down++
			}
		}
		result[i] = slidable{p.a0 - up, p.a1 + down, (p.b1 - p.b0) - (p.a1 - p.a0)}
	}
	return result
}

// groups returns for each piece of the first script the range of lines behind which all scripts take the same lines for
// equal again.
func groups(scripts []script) []span {
	ranges := make([]span, len(scripts[0]))
	at := make([]int, len(scripts))
	shift := make([]int, len(scripts))
	// next is the script whose next piece begins first, -1 at the end.
	next := func() int {
		first := -1
		for i, s := range scripts {
			if at[i] < len(s) && (first < 0 || s[at[i]].from < scripts[first][at[first]].from) {
				first = i
			}
		}
		return first
	}
	for at[0] < len(ranges) {
		first, i := at[0], next()
		found := span{scripts[i][at[i]].from, scripts[i][at[i]].to}
		for i >= 0 {
			agree := !slices.ContainsFunc(shift, func(s int) bool { return s != shift[0] })
			p := scripts[i][at[i]]
			if agree && p.from > found.to {
				break
			}
			found.to = max(found.to, p.to)
			shift[i] += p.delta
			at[i]++
			i = next()
		}
		for i := first; i < at[0]; i++ {
			ranges[i] = found
		}
	}
	return ranges
}
