package workspace

import "sort"

// lineChanges compares two texts for the view: the common head and tail are skipped bytewise, so that a
// keystroke costs a comparison of memory and its own line.
func lineChanges(old, next string) []change {
	head := commonPrefix(old, next)
	for head > 0 && !(lineStart(old, head) && lineStart(next, head)) {
		head--
	}
	tail := commonSuffix(old[head:], next[head:])
	for tail > 0 && !(lineStart(old, len(old)-tail) && lineStart(next, len(next)-tail)) {
		tail--
	}
	first := countLines(old[:head])
	before, after := old[head:len(old)-tail], next[head:len(next)-tail]
	if before == "" && after == "" {
		return nil
	}
	n, m := countLines(before), countLines(after)
	if min(n, m) == 0 || max(n, m) == 1 {
		return []change{{start: first, end: first + n, old: before, text: after, lines: m}}
	}
	changes := changesBetween(NewIndex(before), NewIndex(after))
	for i := range changes {
		changes[i].start += first
		changes[i].end += first
	}
	return changes
}

const stride = 512

func commonPrefix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && a[i:i+stride] == b[i:i+stride] {
		i += stride
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && a[len(a)-i-stride:len(a)-i] == b[len(b)-i-stride:len(b)-i] {
		i += stride
	}
	for i < n && a[len(a)-i-1] == b[len(b)-i-1] {
		i++
	}
	return i
}

// spanOf returns the range changes[i:j] that overlaps the lines [start, end). The changes before i end at or above
// start.
func spanOf(changes []change, start, end int) (i, j int) {
	i = sort.Search(len(changes), func(k int) bool { return changes[k].end > start })
	j = sort.Search(len(changes), func(k int) bool { return changes[k].start >= end })
	return i, max(i, j)
}

// shiftOf is how many lines changes[:i] added.
func shiftOf(changes []change, i int) int {
	sum := 0
	for _, c := range changes[:i] {
		sum += c.delta()
	}
	return sum
}
