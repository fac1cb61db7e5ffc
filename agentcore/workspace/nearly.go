package workspace

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Extensions of editors change text that is inserted: they close brackets, indent, remove spaces. The editor then shows
// neither the text that an edit was made for nor the text that the edit leads to.

// nearly finds those of the edits computed last that the next text has in another form. It returns the text with only
// these edits, which lies between the present text and the next; nil where there are none.
func (a *anchor) nearly(next *text) *text {
	if a.now() == nil || next == nil {
		return nil
	}
	for i := len(a.expected) - 1; i >= 0; i-- {
		e := a.expected[i]
		if e.text == next.s {
			return nil
		}
		kept := e.in(a.now(), next)
		if len(kept.ids) == 0 {
			continue
		}
		if kept.text != next.s && kept.text != a.now().s {
			a.expected = []expectation{kept}
			return newText(kept.text)
		}
	}
	return nil
}

// in returns the part of an expectation, which was made for from, that the next text has.
func (e expectation) in(from, next *text) expectation {
	kept := e
	kept.ids, kept.changes = nil, nil
	made, x := NewIndex(e.text), next.index()
	changes := lineChanges(e.text, next.s)
	lift := 0
	for i, c := range e.changes {
		start := c.start + lift
		end := start + c.lines
		lift += c.delta()
		first, last := 0, len(changes)
		for first < last && changes[first].end < start {
			first++
		}
		for last > first && changes[last-1].start > end {
			last--
		}
		if first < last {
			lo, hi := min(start, changes[first].start), max(end, changes[last-1].end)
			above, below := made.Slice(lo, start), made.Slice(end, hi)
			now := x.Slice(lo+shiftOf(changes, first), hi+shiftOf(changes, last))
			if !nearer(now, above+c.text+below, above+c.old+below) {
				continue
			}
		}
		if !e.undo {
			kept.ids = append(kept.ids, e.ids[i])
		}
		kept.changes = append(kept.changes, c)
	}
	if len(kept.changes) == len(e.changes) {
		kept.ids = e.ids
		return kept
	}
	if e.undo {
		kept.ids = nil // each of its changes is made of several hunks, which cannot be told apart
		return kept
	}
	var b strings.Builder
	at, old := 0, from.index()
	for _, c := range kept.changes {
		b.WriteString(old.Slice(at, c.start))
		b.WriteString(c.text)
		at = c.end
	}
	b.WriteString(old.Slice(at, old.Len()))
	kept.text = b.String()
	return kept
}

// nearer reports whether a text is closer to a than to b: it has most of what only a has, little of what only b has,
// and more in common with a. Words and marks count; white space counts where a and b do not differ otherwise.
func nearer(text, a, b string) bool {
	now, made, was := atoms(text, false), atoms(a, false), atoms(b, false)
	if missing(made, was)+missing(was, made) == 0 {
		now, made, was = atoms(text, true), atoms(a, true), atoms(b, true)
	}
	added, removed := without(made, was), without(was, made)
	if len(added) == 0 && leaves(removed, made, now) {
		return false // and an edit that inserts nothing cannot be made twice
	}
	if len(words(added)) > 0 {
		// Extensions put brackets back, so that brackets which are left do not mean that the edit was not made.
		removed = words(removed)
	}
	return 2*missing(added, now) <= missing(added, nil) && 2*missing(removed, now) >= missing(removed, nil) &&
		missing(now, made)+missing(made, now) < missing(now, was)+missing(was, now)
}

// leaves reports whether the text still has a word that a deletion removes: the user has kept the rest of the line.
func leaves(removed, made, now map[string]int) bool {
	for atom := range removed {
		if wordy(atom) && now[atom] > made[atom] {
			return true
		}
	}
	return false
}

// words are the atoms that are words.
func words(atoms map[string]int) map[string]int {
	list := map[string]int{}
	for atom, n := range atoms {
		if wordy(atom) {
			list[atom] = n
		}
	}
	return list
}

func wordy(atom string) bool {
	r, _ := utf8.DecodeRuneInString(atom)
	return isWord(r)
}

// atoms counts the words of a text, its other characters and, if asked for, its white space.
func atoms(text string, spaces bool) map[string]int {
	count := map[string]int{}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if isWord(r) {
			for size < len(text) {
				r, n := utf8.DecodeRuneInString(text[size:])
				if !isWord(r) {
					break
				}
				size += n
			}
		}
		if spaces || !unicode.IsSpace(r) {
			count[text[:size]]++
		}
		text = text[size:]
	}
	return count
}

// without returns the atoms that one text has more often than another.
func without(atoms, others map[string]int) map[string]int {
	rest := map[string]int{}
	for atom, n := range atoms {
		if n > others[atom] {
			rest[atom] = n - others[atom]
		}
	}
	return rest
}

// missing is how many bytes the atoms have that one text has more often than another.
func missing(atoms, in map[string]int) int {
	sum := 0
	for atom, n := range without(atoms, in) {
		sum += n * len(atom)
	}
	return sum
}
