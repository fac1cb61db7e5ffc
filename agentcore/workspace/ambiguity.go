package workspace

import (
	"cmp"
	"slices"
)

// Two texts can be aligned in many ways where lines repeat, and a merge is only to be trusted where all of them lead to
// the same: which of them another tool takes, such as git, nobody knows.

// margin is how many of the lines that two texts begin and end with are looked at, since a change beside them may as
// well lie among them.
const margin = 500

// carefulEffort is effort for finding all shortest scripts.
const carefulEffort = 1500

// span is a range of lines, [from, to).
type span struct{ from, to int }

// wideRanges returns for each piece, sorted, the lines of a over which it could be made as well: those beside it that
// not every shortest script keeps for the same line of b, and those up to the next piece where they say too little to
// tell two changes apart. Pieces that belong together have the same range.
func wideRanges(a, b *Index, pieces []piece) []span {
	if len(pieces) == 0 {
		return nil
	}
	t := newAlignment(a, b, margin)
	ranges := t.ranges(a, b, pieces)
	common := t.common()
	// From the last to the first, each range takes in the one behind it where only common lines lie between, and not
	// many for what has changed around them: another tool may count those as changed, too.
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

// islandShare is how many changed lines there are at least for each common line that does not keep changes apart.
const islandShare = 3

// common tells of each line of the first text whether it is more than once in one of the texts.
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

// unsure returns the lines of the first text, in order, that not all shortest scripts keep for the same line of the
// second. It reports false where those are longer than carefulEffort, or there are too many to tell.
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
	// A point (x, y), on diagonal x-y, is on a shortest script if it takes d steps to come there and steps-d to go on.
	// On a diagonal those are the points between how far one got in d-2 steps and in d, from either end.
	points := func(k, d int) span {
		lo, hi := from.reached(k, d-2, n, m)+1, from.reached(k, d, n, m)
		k = n - m - k
		return span{max(lo, n-to.reached(k, steps-d, n, m)), min(hi, n-to.reached(k, steps-d-2, n, m)-1) + 1}
	}
	// Each line is passed once by each script. ways counts in how many different ones, where a deletion counts for two.
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

// reached returns how far shortest got in the first text of n lines on a diagonal with at most d steps, within the
// texts; one less than the diagonal's first point where it did not come there.
func (d *differ) reached(k, steps, n, m int) int {
	first := max(0, k)
	if steps < 0 || k < -steps || k > steps {
		return first - 1
	}
	// What was reached in some steps is in the row that was kept before the next one.
	row := steps + 1
	return min(int(d.trace[row*row+2*row+k+row+1]), n, m+k)
}

// script is a way to make one text of another: the pieces, with the ranges over which each can slide.
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

// groups returns for each piece of the first script the lines up to where all scripts take the same lines for
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
