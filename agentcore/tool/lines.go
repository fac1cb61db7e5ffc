package tool

import (
	"slices"
	"sort"
	"strings"
)

// line is one line of a text, in bytes: its content is [start, end), its ending [end, next).
type line struct{ start, end, next int }

// splitLines cuts a text at \n, \r\n and \r, as LSP does. A text of n endings has n+1 lines, the last one
// without an ending and perhaps empty.
func splitLines(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	from := func(at int, ending byte) int { // the next ending, the end of the text where there is none
		if i := strings.IndexByte(text[at:], ending); i >= 0 {
			return at + i
		}
		return len(text)
	}
	start := 0
	feed, carriage := from(0, '\n'), from(0, '\r')
	for feed < len(text) || carriage < len(text) {
		end := min(feed, carriage)
		next := end + 1
		if next < len(text) && end == carriage && feed == next {
			next++
		}
		lines = append(lines, line{start, end, next})
		start = next
		if feed < start {
			feed = from(start, '\n')
		}
		if carriage < start {
			carriage = from(start, '\r')
		}
	}
	return append(lines, line{start, len(text), len(text)})
}

// contents returns the lines of a text without their endings.
func contents(text string) []string {
	lines := splitLines(text)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = text[l.start:l.end]
	}
	return out
}

// shownLines is splitLines without the empty line after a final ending: what people and models count.
func shownLines(text string) []line {
	lines := splitLines(text)
	if last := lines[len(lines)-1]; len(lines) > 1 && last.start == last.end {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lineAt returns the 0-based line that holds a byte offset.
func lineAt(lines []line, offset int) int {
	return sort.Search(len(lines), func(i int) bool { return lines[i].start > offset }) - 1
}

// indentOf returns the leading spaces and tabs of a line.
func indentOf(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, " \t"))]
}

func trimRight(text string) string { return strings.TrimRight(text, " \t") }

func blank(text string) bool { return strings.TrimLeft(text, " \t") == "" }

func allBlank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(s string) bool { return !blank(s) })
}
