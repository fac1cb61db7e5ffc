package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

// contextLines is how many unchanged lines stand around a change in a diff.
const contextLines = 3

// change replaces the lines [start, end) of a text, counted by "\n" alone as diff and patch do, by others.
type change struct {
	start, end int
	old, new   []string
}

// unified is the difference that an edit makes to a file, in the unified format of diff (POSIX.1-2024, diff -u),
// as `git apply` and `patch -p1` take it. The name has slashes and is relative to the folder where that is done.
func unified(name string, f workspace.File, edit workspace.FileEdit) string {
	before, edits := edit.Before, edit.Edits
	if f.Format.BOM && f.Format.Encoding == "utf-8" && !edit.Create {
		// The byte order mark is no part of the text, but it is of the file that the diff is for.
		const bom = "\ufeff"
		before = bom + before
		edits = slices.Clone(edits)
		for i := range edits {
			edits[i].Start += len(bom)
			edits[i].End += len(bom)
		}
	}
	if edit.Delete {
		edits = []workspace.Edit{{Start: 0, End: len(before)}}
	}
	old := splitLines(before)
	changes := lineChanges(before, old, edits)
	if len(changes) == 0 {
		return emptyFile(name, edit)
	}
	var b strings.Builder
	from, to := "--- "+diffName("a/"+name), "+++ "+diffName("b/"+name)
	if edit.Create {
		from = "--- /dev/null"
	}
	if edit.Delete {
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

// emptyFile is the diff of a file that comes or goes without a line, which only git's own header can tell.
func emptyFile(name string, edit workspace.FileEdit) string {
	kind := "new"
	switch {
	case edit.Delete:
		kind = "deleted"
	case !edit.Create:
		return ""
	}
	return fmt.Sprintf("diff --git %s %s\n%s file mode 100644\n", quoteName("a/"+name), quoteName("b/"+name), kind)
}

// writeHunk writes changes that are near each other with the lines around them. shift is by how many lines
// the text before them has grown; with them it has grown by what is returned.
func writeHunk(b *strings.Builder, old []string, changes []change, shift int) int {
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

// splitLines splits a text after each "\n".
func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// lineChanges widens byte edits, which are sorted and do not overlap, to whole lines, joins those that share
// one, and leaves out what does not change.
func lineChanges(text string, old []string, edits []workspace.Edit) []change {
	starts := make([]int, len(old)+1)
	for i, line := range old {
		starts[i+1] = starts[i] + len(line)
	}
	// widen returns the lines that an edit touches.
	widen := func(e workspace.Edit) (start, end int) {
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
	var changes []change
	for i := 0; i < len(edits); {
		first := i
		start, end := widen(edits[i])
		i++
		var text string
		for {
			text = applied(old, starts, start, end, edits[first:i])
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
		if c, ok := trim(change{start, end, old[start:end], splitLines(text)}); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

// applied is the text of the lines [start, end) with edits in them.
func applied(old []string, starts []int, start, end int, edits []workspace.Edit) string {
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

// trim takes equal lines off both ends; ok is false where nothing is left.
func trim(c change) (_ change, ok bool) {
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
