package tool

import (
	"fmt"
	"slices"
	"strings"
)

// shift is how one line is indented in old and in the file.
type shift struct{ old, file string }

// uniform returns the one change of indentation that explains all shifts, or nil.
func uniform(shifts []shift) func(string) (string, bool) {
	if len(shifts) == 0 {
		return nil
	}
	if indent := moved(shifts); indent != nil {
		return indent
	}
	every := func(holds func(shift) bool) bool {
		return !slices.ContainsFunc(shifts, func(s shift) bool { return !holds(s) })
	}
	widths := []int{8, 4, 3, 2}
	for _, width := range widths {
		unit := strings.Repeat(" ", width)
		if every(func(s shift) bool { return s.old == strings.ReplaceAll(s.file, "\t", unit) }) {
			return func(indent string) (string, bool) { return strings.ReplaceAll(indent, unit, "\t"), true }
		}
		if every(func(s shift) bool { return s.file == strings.ReplaceAll(s.old, "\t", unit) }) {
			return func(indent string) (string, bool) { return strings.ReplaceAll(indent, "\t", unit), true }
		}
	}
	if indent := otherPrefix(shifts[0], every); indent != nil {
		return indent
	}
	// Other units and another depth: only lines of two depths can confirm that.
	if every(func(s shift) bool { return s.old == shifts[0].old }) {
		return nil
	}
	for _, width := range widths {
		unit := strings.Repeat(" ", width)
		for _, change := range [][2]string{{unit, "\t"}, {"\t", unit}} {
			converted := make([]shift, len(shifts))
			for i, s := range shifts {
				converted[i] = shift{strings.ReplaceAll(s.old, change[0], change[1]), s.file}
			}
			if indent := moved(converted); indent != nil {
				return func(s string) (string, bool) { return indent(strings.ReplaceAll(s, change[0], change[1])) }
			}
		}
	}
	return nil
}

// moved explains shifts by an indentation that is added in front of every line, or removed.
func moved(shifts []shift) func(string) (string, bool) {
	every := func(holds func(shift) bool) bool {
		return !slices.ContainsFunc(shifts, func(s shift) bool { return !holds(s) })
	}
	first := shifts[0]
	if more, ok := strings.CutSuffix(first.file, first.old); ok &&
		every(func(s shift) bool { return s.file == more+s.old }) {
		return func(indent string) (string, bool) { return more + indent, true }
	}
	if less, ok := strings.CutSuffix(first.old, first.file); ok &&
		every(func(s shift) bool { return s.old == less+s.file }) {
		return func(indent string) (string, bool) { return strings.CutPrefix(indent, less) }
	}
	return nil
}

// otherPrefix explains shifts by a beginning of the indentation that is another one in the file. A deeper line of new
// can follow only if that does not mix tabs and spaces.
func otherPrefix(first shift, every func(func(shift) bool) bool) func(string) (string, bool) {
	old, file := first.old, first.file
	for old != "" && file != "" && old[len(old)-1] == file[len(file)-1] {
		old, file = old[:len(old)-1], file[:len(file)-1]
	}
	same := func(s shift) bool {
		rest, ok := strings.CutPrefix(s.old, old)
		return ok && s.file == file+rest
	}
	if !every(same) {
		return nil
	}
	return func(indent string) (string, bool) {
		rest, ok := strings.CutPrefix(indent, old)
		return file + rest, ok && strings.Trim(rest, file) == ""
	}
}

// unadaptable refuses a new text whose indentation cannot be changed to that of the place, or may mean two things.
func unadaptable(at int) error {
	return &MatchError{Kind: Unadaptable, Lines: []int{at + 1}, text: fmt.Sprintf("old_string fits line %d only with "+
		"another indentation, and it is not certain how the lines of new_string are to be indented there; "+
		"read the place again, and copy whole lines with their indentation into old_string", at+1)}
}

// framed decides whether the lines of new have the indentation of old or already that of the file. It returns the match
// with the resulting start and change of indentation, and which lines of new stay.
func (p *place) framed(m match, newLines []string, at int) (match, []int, error) {
	kept := shared(p.old, newLines)
	if m.indent == nil {
		m, err := p.behindMargin(m, newLines, at)
		return m, kept, err
	}
	skip := 0
	if m.head {
		skip = 1
	}
	found := contents(p.text[m.start:m.end])
	asFile := shared(found, newLines)
	keptOld, keptFile, first := 0, 0, -1
	var lines []string
	for k := skip; k < len(newLines); k++ {
		if blank(newLines[k]) {
			continue
		}
		if first < 0 {
			first = k
		}
		lines = append(lines, newLines[k])
		if kept[k] >= 0 {
			keptOld++
		}
		if asFile[k] >= 0 {
			keptFile++
		}
	}
	if len(lines) == 0 || !inFile(p.old[skip:], found[skip:], lines) {
		m.indent = p.unmixed(m.indent, newLines)
		return m, kept, nil
	}
	// Lines that old and new share speak against it, but deeper lines may be alike by chance.
	if keptOld >= max(keptFile, 1) && asFile[first] < 0 {
		return m, nil, unadaptable(at)
	}
	m.indent = nil
	return m, asFile, nil
}

// inFile reports whether lines have the indentation of the file, and not that of old, which shows the same lines of the
// file with another indentation. Where both are possible, the deeper of the two counts: by the other one, all lines
// would be deeper than old is.
func inFile(old, file, lines []string) bool {
	outer, inner := margin(old), margin(file)
	fits := func(indent string) bool {
		return !slices.ContainsFunc(lines, func(s string) bool { return !strings.HasPrefix(s, indent) })
	}
	return fits(inner) && (!fits(outer) || len(inner) > len(outer))
}

// margin is the indentation that all lines share which are not blank.
func margin(lines []string) string {
	shared, found := "", false
	for _, s := range lines {
		if blank(s) {
			continue
		}
		indent := indentOf(s)
		if !found {
			shared, found = indent, true
		}
		for !strings.HasPrefix(indent, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	return shared
}

// behindMargin is framed for old as the file has it. Where old leaves out the indentation of its first line, new may
// leave it out as well, in its first line or in all of them, or have it in all.
func (p *place) behindMargin(m match, newLines []string, at int) (match, error) {
	outside := p.text[p.lines[at].start:m.start]
	if outside == "" || !blank(outside) || len(newLines) == 0 || blank(newLines[0]) {
		return m, nil
	}
	whole := outside + indentOf(p.old[0])
	if strings.HasPrefix(newLines[0], whole) {
		if whole != outside {
			return m, unadaptable(at)
		}
		m.start = p.lines[at].start // new has the indentation that old lacks
		return m, nil
	}
	if blank(p.old[0]) || !allBlank(p.old[1:]) || allBlank(newLines[1:]) {
		return m, nil // the lines of old below the first show that new is indented as the file is
	}
	placed := append([]string{whole + newLines[0][len(indentOf(newLines[0])):]}, newLines[1:]...)
	inside := !slices.ContainsFunc(newLines[1:], func(s string) bool {
		return !blank(s) && !strings.HasPrefix(s, whole)
	})
	asFile, asOld := nests(placed, true), nests(newLines, false)
	switch {
	case inside && (asFile || !asOld):
		return m, nil
	case asFile == asOld:
		return m, unadaptable(at)
	case asOld:
		m.head = true
		m.indent = p.unmixed(func(indent string) (string, bool) { return outside + indent, true }, newLines)
	}
	return m, nil
}

// unmixed is a change of indentation that puts the same in front of every line, made to write tabs for the spaces of
// new, or spaces for its tabs, where it would mix them and nothing shows that the file does.
func (p *place) unmixed(indent func(string) (string, bool), newLines []string) func(string) (string, bool) {
	more, ok := indent("")
	if !ok || more == "" || slices.ContainsFunc(p.old, func(s string) bool {
		return !blank(s) && strings.Trim(indentOf(s), more[:1]) != ""
	}) {
		return indent
	}
	unit, other := "\t", " "
	if more[0] == ' ' {
		unit, other = " ", "\t"
	}
	from := other
	width := 0
	for _, s := range newLines {
		n := len(indentOf(s))
		switch {
		case blank(s) || n == 0:
			continue
		case strings.Trim(indentOf(s), other) != "":
			return indent
		case width == 0 || n < width:
			width = n
		}
	}
	switch {
	case width == 0 || strings.Trim(more, more[:1]) != "":
		return indent
	case unit == " ":
		unit = strings.Repeat(" ", p.unit())
	case width == 1: // not a level but an alignment, as in a comment
		return indent
	default:
		from = strings.Repeat(" ", width)
	}
	return func(s string) (string, bool) { return more + strings.ReplaceAll(s, from, unit), true }
}

// unit is how many spaces make a level in the text: the smallest indentation of more than one space.
func (p *place) unit() int {
	width := 0
	for i := range p.lines {
		content := p.content(i)
		if n := len(indentOf(content)); n > 1 && !blank(content) && (width == 0 || n < width) {
			width = n
		}
	}
	return max(width, 2)
}

// nests reports whether the indentation of lines agrees with their brackets. The first line has the indentation of the
// place. placed says that the lines have the indentation of the file: only then may lines be indented less, because
// they leave the block of the place, and must lines below a colon be deeper.
func nests(lines []string, placed bool) bool {
	type open struct {
		bracket byte
		indent  string
	}
	var stack []open
	base, before, left := indentOf(lines[0]), lines[0], false
	for i, s := range lines {
		if blank(s) {
			before = s
			continue
		}
		indent, body := indentOf(s), strings.TrimSpace(s)
		for k := range len(body) {
			if strings.IndexByte("([{", body[k]) >= 0 {
				stack = append(stack, open{body[k], indent})
				continue
			}
			kind := strings.IndexByte(")]}", body[k])
			if kind < 0 {
				continue
			}
			last := len(stack) - 1
			for last >= 0 && stack[last].bracket != "([{"[kind] {
				last--
			}
			closes := i > 0 && k == 0
			switch {
			case last >= 0:
				if closes && stack[last].indent != indent {
					return false
				}
				stack = stack[:last]
			case closes && (!placed || len(indent) >= len(base)):
				return false
			case closes:
				left = true
			}
		}
		outside := !strings.HasPrefix(indent, base)
		switch {
		case outside && !placed, outside && !left && !blank(before):
			return false
		case i > 0 && placed && strings.HasSuffix(strings.TrimSpace(before), ":") &&
			len(indent) <= len(indentOf(before)) && !atColonLevel(before, body):
			return false
		}
		before = s
	}
	return true
}

// atColonLevel reports whether a line may stand no deeper than one before it that ends with a colon: an item of a list,
// or one more case of a switch.
func atColonLevel(before, body string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(before), " ")
	return strings.HasPrefix(body, "- ") || strings.HasPrefix(body, "default") ||
		strings.HasPrefix(body, word+" ") || strings.HasPrefix(body, "}")
}
