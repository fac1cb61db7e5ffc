package workspace

import "strings"

// change is a piece of a difference, with the lines over which it could slide without changing the
// result: two changes whose wide ranges meet depend on how the texts were aligned.
type change struct {
	start, end       int
	wideFrom, wideTo int
	old, text        string
	// lines is the number of lines of text.
	lines int
}

func (c change) delta() int { return c.lines - (c.end - c.start) }

// changesBetween compares two texts.
func changesBetween(a, b *Index) []change {
	return widen(a, b, diffLines(a, b))
}

// widen finds how far each piece could lie elsewhere: a pure insertion or deletion can slide up and down, and where lines
// repeat there are other scripts as short, of which those count that other ways to compare find.
func widen(a, b *Index, pieces []piece) []change {
	changes := make([]change, len(pieces))
	for i, p := range pieces {
		changes[i] = change{
			p.a0, p.a1, p.a0, p.a1,
			a.Slice(p.a0, p.a1), b.Slice(p.b0, p.b1), p.b1 - p.b0,
		}
	}
	if len(pieces) == 0 {
		return changes
	}
	scripts := []script{newScript(a, b, pieces)}
	for _, other := range newAlignment(a, b).others() {
		scripts = append(scripts, newScript(a, b, other))
	}
	at := make([]int, len(scripts))
	for at[0] < len(pieces) {
		first := at[0]
		lo, hi := group(scripts, at)
		for i := first; i < at[0]; i++ {
			changes[i].wideFrom, changes[i].wideTo = lo, hi
		}
	}
	return changes
}

// script is a way to make one text of another: the pieces, with the ranges over which each can slide.
type script []struct{ from, to, delta int }

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
		result[i].from, result[i].to, result[i].delta = p.a0-up, p.a1+down, (p.b1-p.b0)-(p.a1-p.a0)
	}
	return result
}

// group takes the pieces from at on that belong together: up to where all scripts take the same lines for equal again.
func group(scripts []script, at []int) (lo, hi int) {
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
	shift := make([]int, len(scripts))
	take := func(i int) {
		p := scripts[i][at[i]]
		hi = max(hi, p.to)
		shift[i] += p.delta
		at[i]++
	}
	i := next()
	if i < 0 {
		return 0, 0
	}
	lo = scripts[i][at[i]].from
	take(i)
	for {
		agree := true
		for _, s := range shift {
			agree = agree && s == shift[0]
		}
		i := next()
		if i < 0 || agree && scripts[i][at[i]].from > hi {
			return lo, hi
		}
		take(i)
	}
}

// Merge3 merges two texts that both come from base, line by line. Where both changed the same lines, or
// lines that touch, and not in the same way, the merged text keeps the lines of base and a Conflict tells
// both sides; its lines are those of the merged text, and its Path is empty. It joins nothing that `git
// merge-file` would call a conflict.
func Merge3(base, ours, theirs string) (string, []Conflict) {
	if ours == theirs || base == theirs {
		return ours, nil
	}
	if base == ours {
		return theirs, nil
	}
	x := NewIndex(base)
	a, b := changesBetween(x, NewIndex(ours)), changesBetween(x, NewIndex(theirs))
	var merged strings.Builder
	var conflicts []Conflict
	done, line := 0, 0
	emit := func(text string) {
		merged.WriteString(text)
		line += countLines(text)
	}
	for len(a) > 0 || len(b) > 0 {
		i, j, lo, hi := firstGroup(a, b)
		emit(x.Slice(done, lo))
		switch {
		case j == 0:
			emit(replaced(x, lo, hi, a[:i]))
		case i == 0:
			emit(replaced(x, lo, hi, b[:j]))
		default:
			mine, yours := replaced(x, lo, hi, a[:i]), replaced(x, lo, hi, b[:j])
			if mine == yours {
				emit(mine)
				break
			}
			start := line
			emit(x.Slice(lo, hi))
			conflicts = append(conflicts, Conflict{
				StartLine: start, EndLine: line,
				Base: x.Slice(lo, hi), Ours: mine, Theirs: yours,
			})
		}
		a, b, done = a[i:], b[j:], hi
	}
	emit(x.Slice(done, x.Len()))
	return merged.String(), conflicts
}

// firstGroup returns how many changes of either list belong to the first group of changes that touch each
// other, and the lines that they cover.
func firstGroup(a, b []change) (i, j, lo, hi int) {
	if len(b) == 0 || len(a) > 0 && a[0].wideFrom <= b[0].wideFrom {
		lo, hi = a[0].wideFrom, a[0].wideTo
	} else {
		lo, hi = b[0].wideFrom, b[0].wideTo
	}
	for {
		switch {
		case i < len(a) && a[i].wideFrom <= hi:
			hi = max(hi, a[i].wideTo)
			i++
		case j < len(b) && b[j].wideFrom <= hi:
			hi = max(hi, b[j].wideTo)
			j++
		default:
			return i, j, lo, hi
		}
	}
}

// replaced returns the lines [lo, hi) with changes applied, all of which lie within.
func replaced(x *Index, lo, hi int, changes []change) string {
	var text strings.Builder
	for _, c := range changes {
		text.WriteString(x.Slice(lo, c.start))
		text.WriteString(c.text)
		lo = c.end
	}
	text.WriteString(x.Slice(lo, hi))
	return text.String()
}
