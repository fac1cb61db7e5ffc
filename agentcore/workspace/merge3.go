package workspace

import "strings"

// change is a piece of a difference between two texts, with the lines over which the same change could be made. Where
// the wide ranges of two changes meet, the result of both depends on how the texts were aligned.
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

// widen makes changes of pieces.
func widen(a, b *Index, pieces []piece) []change {
	changes := make([]change, len(pieces))
	ranges := wideRanges(a, b, pieces)
	for i, p := range pieces {
		changes[i] = change{
			p.a0, p.a1, ranges[i].from, ranges[i].to,
			a.Slice(p.a0, p.a1), b.Slice(p.b0, p.b1), p.b1 - p.b0,
		}
	}
	return changes
}

// Merge3 merges two texts that both come from base, line by line. Where both changed the same lines, or lines that
// touch, and not in the same way, the merged text keeps the lines of base, and a Conflict tells both sides. The
// conflict's lines are those of the merged text, and its Path is empty. Merge3 joins nothing that `git merge-file`
// would call a conflict, except where git misses the shortest script of a large change. It is more careful than git
// where lines repeat, so that the alignment decides which of them a change is for.
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

// firstGroup returns how many changes of each list belong to the first group of changes that touch each other, and
// which lines the group covers.
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

// replaced returns the lines [lo, hi) with changes applied. All changes lie within these lines.
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
