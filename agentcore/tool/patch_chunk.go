package tool

import (
	"fmt"
	"slices"
	"strings"
)

// patchedText is the text of one file while chunks are applied to it, one after the other.
type patchedText struct {
	original string
	lines    []patchedLine
	// from is where the region of the last chunk ends, overlap where it begins.
	from, overlap int
	// at are the 1-based lines of the original where chunks were applied; notes say what was tolerated.
	at    []int
	notes []string
}

// patchedLine is a line with its ending. number is its 1-based line in the original, 0 for a line of the patch.
type patchedLine struct {
	text, ending string
	number       int
}

func newPatchedText(text string) *patchedText {
	t := &patchedText{original: text}
	if text == "" {
		return t
	}
	for i, l := range shownLines(text) {
		t.lines = append(t.lines, patchedLine{text[l.start:l.end], text[l.end:l.next], i + 1})
	}
	return t
}

// String is the text as it is now.
func (t *patchedText) String() string {
	var out strings.Builder
	for _, l := range t.lines {
		out.WriteString(l.text)
		out.WriteString(l.ending)
	}
	return out.String()
}

// levels say in what lines may differ from the file; each allows more than the one before.
var levels = []struct {
	differs string
	form    func(string) string
	// shifts says that the indentation may differ, by the same amount in all lines.
	shifts bool
}{
	{"", func(s string) string { return s }, false},
	{"trailing spaces", trimRight, false},
	{"indentation", func(s string) string { return strings.Trim(s, " \t") }, true},
	{"punctuation", func(s string) string { return strings.TrimSpace(plainPunctuation.Replace(s)) }, true},
}

// plainPunctuation turns the punctuation of word processors and models into ASCII.
var plainPunctuation = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
	"\u201f", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u2026", "...", "\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2009", " ", "\u202f", " ", "\u3000", " ", "\ufeff",
	"", "\u200b", "",
)

// spot is where the lines of a chunk are: count lines from start.
type spot struct {
	start, count int
	// skip is how many soft lines at the chunk's end were left out.
	skip   int
	level  int
	indent func(string) (string, bool)
	note   string
}

// apply carries out one chunk. On an error, which says what was looked for and what is similar, nothing has changed.
func (t *patchedText) apply(c *chunk) error {
	place, err := t.locate(c)
	if err != nil {
		return err
	}
	if err := t.put(c, place); err != nil {
		return err
	}
	if place.note != "" {
		t.notes = append(t.notes, fmt.Sprintf("The chunk at line %d of the patch %s.", c.line, place.note))
	}
	if place.level > 0 {
		t.notes = append(t.notes,
			fmt.Sprintf(
				"The chunk at line %d of the patch differed from the file in its %s; the lines that stay are as in "+
					"the file.", c.line, levels[place.level].differs))
	}
	return nil
}

// locate finds the lines of a chunk. It searches below the lines that the chunk names. If the chunk names none, it
// searches behind the former chunk, then over the lines that this one left, then in the whole file. It searches first
// for the exact lines, then as levels allow.
func (t *patchedText) locate(c *chunk) (spot, error) {
	above, missing := t.above(c, t.from)
	if missing != "" {
		return spot{}, t.notFound(c, missing)
	}
	if len(c.old(0)) == 0 {
		return t.insertion(c, above)
	}
	highest := -1 // each chunk may name its class again
	if above >= 0 {
		highest, _ = t.above(c, 0)
	}
	for _, skip := range slices.Compact([]int{0, c.soft}) {
		old := c.old(skip)
		if len(old) == 0 {
			continue
		}
		if i := t.indexOf(c.hint); i >= 0 && t.fits(old, i, 0) != nil {
			return spot{start: i, count: len(old), skip: skip}, nil
		}
		if start := len(t.lines) - len(old); c.atEnd && start+len(old) > above {
			for level := range levels {
				if indent := t.fits(old, start, level); indent != nil {
					return spot{start, len(old), skip, level, indent, ""}, nil
				}
			}
		}
		if above >= 0 {
			for level := range levels {
				starts := t.search(old, max(above, t.from), level)
				if len(starts) == 1 || len(starts) > 1 && level == 0 {
					return t.spotAt(old, starts[0], skip, level, ""), nil
				}
				if len(starts) > 1 {
					return spot{}, t.ambiguous(starts, level)
				}
			}
		}
		if found, ok, err := t.anywhere(c, skip, above, highest); ok || err != nil {
			return found, err
		}
	}
	return spot{}, t.notFound(c, "")
}

// anywhere searches for the lines of a chunk behind the former chunk, then over the lines that this one left, then in
// the whole file, but not above what ends at highest. above is where the lines are that the chunk names, -1 for none.
func (t *patchedText) anywhere(c *chunk, skip, above, highest int) (found spot, ok bool, err error) {
	old := c.old(skip)
	for level := range levels {
		for domain, from := range []int{t.from, t.overlap, 0} {
			starts := t.search(old, from, level)
			starts = slices.DeleteFunc(starts, func(i int) bool { return i+len(old) <= highest })
			if len(starts) > 1 {
				return spot{}, false, t.ambiguous(starts, level)
			}
			if len(starts) == 0 {
				continue
			}
			var note string
			switch {
			case c.atEnd:
				note = "was found, though not at the end of the file"
			case domain == 2 && above < 0:
				note = "was found above the chunk before it"
			}
			return t.spotAt(old, starts[0], skip, level, note), true, nil
		}
	}
	return spot{}, false, nil
}

func (t *patchedText) spotAt(old []string, start, skip, level int, note string) spot {
	return spot{start, len(old), skip, level, t.fits(old, start, level), note}
}

// insertion finds the place of a chunk that has only new lines.
func (t *patchedText) insertion(c *chunk, above int) (spot, error) {
	switch {
	case above >= 0:
		return spot{start: above + 1}, nil
	case c.hint == 0:
		return spot{}, nil
	case c.hint > 0 && c.hintOld == 0:
		if i := t.indexOf(c.hint); i >= 0 {
			return spot{start: i + 1}, nil
		}
		return spot{},
			fmt.Errorf(
				"line %d, behind which lines are to come, is not in the file, which has %s; put a line of the "+
					"file around them as context", c.hint, count(len(t.lines), "line", "lines"))
	case c.hint > 0:
		return spot{},
			fmt.Errorf(
				"it has only lines that come, and its header does not say where; add a line of the file " +
					"above or below them as context, with a space before it")
	}
	place := spot{start: len(t.lines)}
	if !c.atEnd && len(t.lines) > 0 {
		place.note = "has no context, so its lines were put at the end of the file"
	}
	return place, nil
}

// above returns the line, 0-based, of the last line that the chunk names above its place, -1 if it names none; or
// the first of them that is missing. The lines are looked for from a line on, then in the whole file.
func (t *patchedText) above(c *chunk, from int) (int, string) {
	at := -1
	for _, name := range c.above {
		i := t.named(name, from)
		if i < 0 && at < 0 {
			i = t.named(name, 0)
		}
		if i < 0 {
			return -1, name
		}
		at, from = i, i+1
	}
	return at, ""
}

// named finds a line, from an index on, that is equal to name, or else begins with it, or else did so until the former
// chunks changed it.
func (t *patchedText) named(name string, from int) int {
	wanted := strings.TrimSpace(plainPunctuation.Replace(name))
	prefix := -1
	for i := from; i < len(t.lines); i++ {
		content := strings.TrimSpace(t.lines[i].text)
		if content == name {
			return i
		}
		if prefix < 0 && strings.HasPrefix(plainPunctuation.Replace(content), wanted) {
			prefix = i
		}
	}
	if prefix < 0 && len(t.at) > 0 {
		original := newPatchedText(t.original)
		if k := original.named(name, 0); k >= 0 {
			prefix = slices.IndexFunc(t.lines, func(l patchedLine) bool { return l.number > k+1 }) - 1
			return max(prefix, -1)
		}
	}
	return prefix
}

// indexOf returns where a 1-based line of the original is now, or -1.
func (t *patchedText) indexOf(number int) int {
	if number <= 0 {
		return -1
	}
	return slices.IndexFunc(t.lines, func(l patchedLine) bool { return l.number == number })
}

// search returns where old fits, at or behind from.
func (t *patchedText) search(old []string, from, level int) []int {
	if level > 0 && allBlank(old) {
		return nil
	}
	var starts []int
	for i := max(from, 0); i+len(old) <= len(t.lines); i++ {
		if t.fits(old, i, level) != nil {
			starts = append(starts, i)
		}
	}
	return starts
}

// fits returns how the indentation changes if old stands at a line, nil if old does not stand there.
func (t *patchedText) fits(old []string, start, level int) func(string) (string, bool) {
	if start < 0 || start+len(old) > len(t.lines) || level > 0 && allBlank(old) {
		return nil
	}
	for k, wanted := range old {
		if content := t.lines[start+k].text; content != wanted &&
			(level == 0 || levels[level].form(content) != levels[level].form(wanted)) {
			return nil
		}
	}
	same := func(indent string) (string, bool) { return indent, true }
	if !levels[level].shifts {
		return same
	}
	var shifts []shift
	for k, wanted := range old {
		if !blank(wanted) {
			shifts = append(shifts, shift{old: indentOf(wanted), file: indentOf(t.lines[start+k].text)})
		}
	}
	if !slices.ContainsFunc(shifts, func(s shift) bool { return s.old != s.file }) {
		return same
	}
	return uniform(shifts)
}

// put replaces the lines of a chunk. Lines that stay keep their bytes.
func (t *patchedText) put(c *chunk, place spot) error {
	ending := t.ending(place.start)
	if c.comesAsFile(t.lines[place.start : place.start+place.count]) {
		place.indent = nil
	}
	var out []patchedLine
	k := place.start
	for _, op := range c.ops[:len(c.ops)-place.skip] {
		switch op.kind {
		case ' ':
			out = append(out, t.lines[k])
			k++
		case '-':
			k++
		default:
			text := op.text
			if place.indent != nil && !blank(text) {
				before := indentOf(text)
				after, ok := place.indent(before)
				if !ok {
					return fmt.Errorf(
						"it fits line %d only with another indentation, which the line %q cannot take without mixing; "+
							"copy the indentation of the file exactly", t.number(place.start), clip(text, 80))
				}
				text = after + text[len(before):]
			}
			out = append(out, patchedLine{text, ending, 0})
		}
	}
	t.at = append(t.at, t.number(place.start+c.lead()))
	last := ending // of the last line, if the chunk reaches it
	if place.start+place.count == len(t.lines) {
		if len(t.lines) > 0 {
			last = t.lines[len(t.lines)-1].ending
		}
		if c.endings {
			last = ""
			if !c.bare {
				last = ending
			}
		}
		for i := range out {
			if out[i].ending == "" {
				out[i].ending = ending
			}
		}
		if len(out) > 0 {
			out[len(out)-1].ending = last
			if place.start > 0 && t.lines[place.start-1].ending == "" {
				t.lines[place.start-1].ending = ending
			}
		}
	}
	t.lines = slices.Replace(t.lines, place.start, place.start+place.count, out...)
	t.overlap, t.from = place.start, place.start+len(out)
	return nil
}

// comesAsFile reports whether the added lines are indented like the file's lines, although the chunk has these lines
// with another indentation. If a line that stays shows the chunk's own indentation, all lines have it.
func (c *chunk) comesAsFile(found []patchedLine) bool {
	var old, file, coming []string
	for _, op := range c.ops {
		switch {
		case op.kind == ' ' && !blank(op.text):
			return false
		case op.kind == '-':
			old = append(old, op.text)
		case op.kind == '+' && !blank(op.text):
			coming = append(coming, op.text)
		}
	}
	for _, l := range found {
		file = append(file, l.text)
	}
	return len(old) > 0 && len(coming) > 0 && inFile(old, file, coming)
}

// lead counts the context lines before the first change.
func (c *chunk) lead() int {
	return max(slices.IndexFunc(c.ops, func(op patchOp) bool { return op.kind != ' ' }), 0)
}

// number is the 1-based number, in the original, of a line or of the place where it would be.
func (t *patchedText) number(i int) int {
	for ; i < len(t.lines); i++ {
		if n := t.lines[i].number; n > 0 {
			return n
		}
	}
	if t.original == "" {
		return 1
	}
	return len(shownLines(t.original)) + 1
}

// ending is how lines end around a line.
func (t *patchedText) ending(at int) string {
	for _, i := range []int{at, at - 1} {
		if i >= 0 && i < len(t.lines) && t.lines[i].ending != "" {
			return t.lines[i].ending
		}
	}
	return "\n"
}

func (t *patchedText) ambiguous(starts []int, level int) error {
	var lines []int
	for _, i := range starts {
		lines = append(lines, t.number(i))
	}
	text := ""
	if level > 0 {
		text = ", but for their " + levels[level].differs
	}
	return fmt.Errorf(
		"its lines stand %d times%s, at lines %s; add lines of context until it fits one place, or name a line above "+
			"the place behind @@", len(lines), text, numbers(lines, 20))
}

// notFound says which lines of a chunk are missing, and what is similar.
func (t *patchedText) notFound(c *chunk, missing string) error {
	var out strings.Builder
	old := c.old(0)
	p := place{text: t.original, lines: shownLines(t.original), old: old, name: "the patch"}
	switch {
	case t.original == "" && missing == "":
		return fmt.Errorf("the file is empty, so there is nothing to match; use lines with + only")
	case allBlank(old) && missing == "":
		return fmt.Errorf("it has only blank lines as context, which do not stand so in the file; add a line with text")
	case missing != "":
		p.old = []string{missing}
		fmt.Fprintf(&out, "no line reads or begins %q, which its @@ line names; name one "+
			"that does, or leave the name out where the lines fit one place", clip(missing, 80))
	default:
		out.WriteString("its lines do not stand in the file")
		if name := len(c.above); name > 0 {
			if starts := t.search(old, 0, 0); len(starts) > 0 {
				return fmt.Errorf("its lines stand at line %d, but not below %q, which its @@ line "+
					"names; name a line that stands above them, or give the lines that you mean", t.number(starts[0]),
					clip(c.above[name-1], 80))
			}
		}
		if new := c.new(); !allBlank(new) && !slices.Equal(new, old) {
			if done := newPatchedText(t.original).search(new, 0, 0); len(done) > 0 {
				fmt.Fprintf(&out,
					"; what it makes of them stands at line %d already, so it seems to be done: leave it out",
					done[0]+1)
				return fmt.Errorf("%s", out.String())
			}
		}
	}
	out.WriteString(p.nearest())
	return fmt.Errorf("%s", out.String())
}
