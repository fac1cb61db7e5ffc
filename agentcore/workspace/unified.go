package workspace

import (
	"fmt"
	"slices"
	"strings"
)

// contextLines is how many unchanged lines stand around a change in a diff.
const contextLines = 3

// lineChange replaces the lines [start, end) of a text, counted by "\n" alone as diff and patch do, by others.
type lineChange struct {
	start, end int
	old, new   []string
}

// Unified returns the difference that the edit makes to its file, in the unified format of diff (POSIX.1-2024, diff
// -u), as `git apply` and `patch -p1` take it. The name has slashes and is relative to the folder where that is done;
// there are no `diff --git` lines (but for empty files), since git would take their names as relative to the top of the
// repository. Format is that of the file; one that is not UTF-8 has a diff for people only.
func (e FileEdit) Unified(name string, format Format) string {
	before, edits := e.Before, e.Edits
	if format.BOM && format.Encoding == "utf-8" && !e.Create {
		// The byte order mark is no part of the text, but it is of the file that the diff is for.
		const bom = "\ufeff"
		before = bom + before
		edits = slices.Clone(edits)
		for i := range edits {
			edits[i].Start += len(bom)
			edits[i].End += len(bom)
		}
	}
	if e.Delete {
		edits = []Edit{{End: len(before)}}
	}
	old := fileLines(before)
	changes := wholeLineChanges(before, old, edits)
	if len(changes) == 0 {
		return emptyFile(name, e)
	}
	var b strings.Builder
	from, to := "--- "+diffName("a/"+name), "+++ "+diffName("b/"+name)
	if e.Create {
		from = "--- /dev/null"
	}
	if e.Delete {
		to = "+++ /dev/null"
	}
	b.WriteString(from + "\n" + to + "\n")
	shift := 0 // how many lines the text before the hunk has grown
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].start-changes[n-1].end <= 2*contextLines {
			n++
		}
		shift = writeHunk(&b, old, changes[:n], shift)
		changes = changes[n:]
	}
	return b.String()
}

// Unified returns what the layer does to the lines of one file, in the unified format, for people to read. A move does
// not show in it, since both of its names are the given one.
func (c Change) Unified(name string) string {
	edit := FileEdit{Create: c.Before == nil, Delete: c.After == nil}
	if !edit.Create {
		edit.Before = c.Before.Text
	}
	if !edit.Delete {
		x := NewIndex(edit.Before)
		for _, h := range Diff(edit.Before, c.After.Text) {
			edit.Edits = append(edit.Edits, Edit{Start: x.Start(h.Start), End: x.Start(h.End), New: h.After})
		}
	}
	return edit.Unified(name, Format{})
}

// emptyFile is the diff of a file that comes or goes without a line, which only git's own header can tell.
func emptyFile(name string, e FileEdit) string {
	kind := "new"
	switch {
	case e.Delete:
		kind = "deleted"
	case !e.Create:
		return ""
	}
	return fmt.Sprintf("diff --git %s %s\n%s file mode 100644\n", quoteName("a/"+name), quoteName("b/"+name), kind)
}

// writeHunk writes changes that are near each other with the lines around them. shift is by how many lines
// the text before them has grown; with them it has grown by what is returned.
func writeHunk(b *strings.Builder, old []string, changes []lineChange, shift int) int {
	first, last := changes[0], changes[len(changes)-1]
	start, end := max(0, first.start-contextLines), min(len(old), last.end+contextLines)
	grown := 0
	for _, c := range changes {
		grown += len(c.new) - len(c.old)
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", lineRange(start, end-start), lineRange(start+shift, end-start+grown))
	at := start
	for _, c := range changes {
		writeLines(b, ' ', old[at:c.start])
		writeLines(b, '-', c.old)
		writeLines(b, '+', c.new)
		at = c.end
	}
	writeLines(b, ' ', old[at:end])
	return shift + grown
}

// lineRange is a range in a hunk's head: 1-based, and the line before for an empty one.
func lineRange(start, length int) string {
	switch length {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, length)
}

func writeLines(b *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(mark)
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// fileLines splits a text after each "\n", as diff does; for Lines a lone "\r" ends a line too.
func fileLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// wholeLineChanges widens byte edits, which are sorted and do not overlap, to whole lines, joins those that share
// one, and leaves out what does not change.
func wholeLineChanges(text string, old []string, edits []Edit) []lineChange {
	starts := make([]int, len(old)+1)
	for i, line := range old {
		starts[i+1] = starts[i] + len(line)
	}
	// widen returns the lines that an edit touches.
	widen := func(e Edit) (start, end int) {
		start, onBoundary := slices.BinarySearch(starts, e.Start)
		if !onBoundary {
			start--
		}
		if start > 0 && start == len(old) && !strings.HasSuffix(text, "\n") {
			start-- // what is appended goes on with the last line
		}
		end, _ = slices.BinarySearch(starts, e.End)
		return start, end
	}
	var changes []lineChange
	for i := 0; i < len(edits); {
		first := i
		start, end := widen(edits[i])
		i++
		var text string
		for {
			text = editedLines(old, starts, start, end, edits[first:i])
			whole := text == "" || strings.HasSuffix(text, "\n")
			if i < len(edits) {
				if from, to := widen(edits[i]); from < end || from == end && !whole {
					end = max(end, to)
					i++
					continue
				}
			}
			if whole || end == len(old) {
				break
			}
			end++ // the changed line goes on in the next one
		}
		if c, ok := trimLines(lineChange{start, end, old[start:end], fileLines(text)}); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

// editedLines is the text of the lines [start, end) with edits in them.
func editedLines(old []string, starts []int, start, end int, edits []Edit) string {
	text := strings.Join(old[start:end], "")
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at : e.Start-starts[start]])
		b.WriteString(e.New)
		at = e.End - starts[start]
	}
	b.WriteString(text[at:])
	return b.String()
}

// trimLines takes equal lines off both ends; ok is false where nothing is left.
func trimLines(c lineChange) (_ lineChange, ok bool) {
	for len(c.old) > 0 && len(c.new) > 0 && c.old[0] == c.new[0] {
		c.start, c.old, c.new = c.start+1, c.old[1:], c.new[1:]
	}
	for len(c.old) > 0 && len(c.new) > 0 && c.old[len(c.old)-1] == c.new[len(c.new)-1] {
		c.end, c.old, c.new = c.end-1, c.old[:len(c.old)-1], c.new[:len(c.new)-1]
	}
	return c, len(c.old)+len(c.new) > 0
}

// diffName is a name in the head of a diff: quoted where git quotes it, and followed by a tab where it has spaces.
func diffName(name string) string {
	quoted := quoteName(name)
	if quoted == name && strings.Contains(name, " ") {
		return name + "\t"
	}
	return quoted
}

// quoteName quotes a name as git does (core.quotePath off) if it has quotes, backslashes or control characters.
func quoteName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' || r == '\\' }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
