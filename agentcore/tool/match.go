package tool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

// Replacement is the outcome of Replace.
type Replacement struct {
	// Text is the whole new text.
	Text string
	// Lines are the 1-based lines of the old text where a match began.
	Lines []int
	// Tolerated says in what a match that was not exact differed: "line endings", "trailing spaces", "indentation",
	// "punctuation", "final newline", "line numbers", "blank lines around it" or "lines left out"; empty for an exact
	// match.
	Tolerated string
}

// Replace puts new in the place of the only occurrence of old in text, or of every one if all is set.
//
// An exact match comes first. Without one, old may differ from the text in line endings, then also in
// trailing spaces, then in an indentation that differs by the same amount in every line, then in quotes, dashes and
// spaces that are not ASCII, then at last in a first line that begins, and a last one that ends, inside a line; the
// last two may match one place only. Where nothing matches, old is read without line numbers, without blank lines
// around it, and with a line "..." standing for the lines between two pieces (see readings and elided). The final
// newline of old also matches the end of a text that has none.
//
// Lines which old and new share stay as they are in the text, byte for byte; the others take the line endings and the
// indentation of the place. Bytes outside the match never change. An error says what to do instead, for a model;
// it is a *MatchError.
func Replace(text, old, new string, all bool) (Replacement, error) {
	if old == new || slices.Equal(contents(old), contents(new)) {
		return Replacement{}, &MatchError{
			Kind: NoChange,
			text: "old_string and new_string are the same, so nothing would change; give another " +
				"new_string, or leave the edit out",
		}
	}
	if text == "" && allBlank(contents(old)) {
		return Replacement{Text: new, Lines: []int{1}}, nil
	}
	if old == "" {
		return Replacement{}, &MatchError{Kind: EmptyOld, text: "old_string is empty or missing, " +
			" which only fits an empty or new file; give the text to replace, or use write"}
	}
	added := missingEnding(text, old)
	p := place{text: text + added, lines: splitLines(text + added), old: contents(old), open: added != ""}
	result, err := p.replaceAs(old, new, all)
	if err != nil {
		return Replacement{}, err
	}
	result.Text = strings.TrimSuffix(result.Text, added)
	if result.Text == text {
		return Replacement{}, &MatchError{
			Kind: NoChange, Lines: result.Lines,
			text: fmt.Sprintf(
				"the text at line %d already reads so, but for %s; nothing would change, so leave the edit out",
				result.Lines[0], cmp.Or(result.Tolerated, "nothing")),
		}
	}
	return result, nil
}

// missingEnding returns the line ending that a text lacks at its end and old has at its own; empty for none.
func missingEnding(text, old string) string {
	lines := splitLines(text)
	if last := lines[len(lines)-1]; last.start == last.end || !strings.ContainsAny(old[len(old)-1:], "\r\n") {
		return ""
	}
	if len(lines) > 1 {
		return text[lines[len(lines)-2].end:lines[len(lines)-2].next]
	}
	return "\n"
}

// replaceAs replaces old in the first reading that matches.
func (p *place) replaceAs(old, new string, all bool) (Replacement, error) {
	for _, r := range readings(old, new) {
		q := *p
		q.old = contents(r.old)
		matches, tolerated, several := q.find(r, all)
		switch {
		case len(matches) == 0:
			continue
		case r.problem != "":
			return Replacement{}, &MatchError{
				Kind: Unadaptable, Lines: []int{lineAt(q.lines, matches[0].start) + 1}, text: r.problem,
			}
		case len(matches) > 1 && !(all && several):
			return Replacement{}, q.ambiguous(matches, several)
		}
		result, err := q.replace(matches, contents(r.new))
		if err != nil {
			return Replacement{}, err
		}
		result.Tolerated = cmp.Or(r.differs, tolerated, result.Tolerated)
		if p.open && matches[len(matches)-1].end == len(p.text) {
			result.Tolerated = cmp.Or(result.Tolerated, "final newline")
		}
		return result, nil
	}
	if result, err := p.elided(old, new); result != nil || err != nil {
		if err != nil {
			return Replacement{}, err
		}
		return *result, nil
	}
	return Replacement{}, p.notFound()
}

// find returns the matches of the first level that has any, what they differ in, and whether there may be several.
func (p *place) find(r reading, all bool) (matches []match, tolerated string, several bool) {
	for _, level := range []struct {
		tolerated string
		find      func() []match
		several   bool
	}{
		{"", func() []match { return p.exact(r.old, all) }, true},
		{"line endings", p.anyEnding, true},
		{"trailing spaces", p.anyTrailing, true},
		{"indentation", func() []match { return p.anyIndent(levels[2].form) }, true},
		{"punctuation", func() []match { return p.anyIndent(levels[3].form) }, false},
		{"indentation", p.anyBoundary, false},
	} {
		matches = slices.DeleteFunc(level.find(), func(m match) bool { return !r.allows(p, m) })
		if len(matches) > 0 {
			return matches, level.tolerated, level.several
		}
	}
	return nil, "", false
}

// MatchErrorKind sorts why Replace refused.
type MatchErrorKind string

// The kinds of MatchError.
const (
	NotFound  MatchErrorKind = "not_found"
	Ambiguous MatchErrorKind = "ambiguous"
	NoChange  MatchErrorKind = "no_change"
	EmptyOld  MatchErrorKind = "empty_old"
	// Unadaptable means that the place was found, but that new cannot get the place's indentation, or has line numbers
	// in some lines.
	Unadaptable MatchErrorKind = "unadaptable"
)

// MatchError says why Replace refused, and where the text comes near. Its text is for a model.
type MatchError struct {
	Kind MatchErrorKind
	// Lines are the 1-based lines of the matches, or of the nearest text.
	Lines []int
	text  string
}

func (e *MatchError) Error() string { return e.text }

// place is one text in which old is looked for.
type place struct {
	text  string
	lines []line
	old   []string
	// open says that the text has no line ending at its end, and that one was added to compare it with old.
	open bool
	// name is the model's name for old; empty means old_string.
	name string
}

// match is a piece of the text, in bytes, which begins and ends outside any \r\n and has as many lines
// as old.
type match struct {
	start, end int
	// indent turns the indentation of a line of new into that of the place; nil leaves it.
	indent func(string) (string, bool)
	// head says that the match begins inside a line, so that indent does not apply to the first line of new.
	head bool
}

// exact finds old byte for byte. Occurrences do not overlap, except that the only one is checked for a
// second that overlaps it, since the model can only have meant one of them.
func (p *place) exact(old string, all bool) []match {
	var matches []match
	for from := 0; ; {
		m, ok := p.nextExact(old, from)
		if !ok {
			break
		}
		matches = append(matches, m)
		from = m.end
	}
	if len(matches) == 1 && !all {
		if m, ok := p.nextExact(old, matches[0].start+1); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

func (p *place) nextExact(old string, from int) (match, bool) {
	for {
		i := strings.Index(p.text[from:], old)
		if i < 0 {
			return match{}, false
		}
		start := from + i
		end := start + len(old)
		if !p.splitsEnding(start) && !p.splitsEnding(end) {
			return match{start: start, end: end}, true
		}
		from = start + 1
	}
}

// splitsEnding reports whether an offset lies between \r and \n.
func (p *place) splitsEnding(offset int) bool {
	return offset > 0 && offset < len(p.text) && p.text[offset-1] == '\r' && p.text[offset] == '\n'
}

func (p *place) content(i int) string { return p.text[p.lines[i].start:p.lines[i].end] }

// scan tries each line of the text as the first line of a match; matches do not overlap.
func (p *place) scan(try func(first int) (match, bool)) []match {
	var matches []match
	for i := 0; i+len(p.old) <= len(p.lines); i++ {
		if m, ok := try(i); ok && (len(matches) == 0 || m.start >= matches[len(matches)-1].end) {
			matches = append(matches, m)
		}
	}
	return matches
}

// anyEnding finds old with other line endings: its first line ends a line, its last begins one.
func (p *place) anyEnding() []match {
	last := len(p.old) - 1
	if last == 0 {
		return nil
	}
	return p.scan(func(i int) (match, bool) {
		if !strings.HasSuffix(p.content(i), p.old[0]) || !strings.HasPrefix(p.content(i+last), p.old[last]) {
			return match{}, false
		}
		for k := 1; k < last; k++ {
			if p.content(i+k) != p.old[k] {
				return match{}, false
			}
		}
		return match{start: p.lines[i].end - len(p.old[0]), end: p.lines[i+last].start + len(p.old[last])}, true
	})
}

// anyTrailing finds old with other spaces and tabs at the ends of lines.
func (p *place) anyTrailing() []match {
	last := len(p.old) - 1
	if allBlank(p.old) || last == 0 && trimRight(p.old[0]) == p.old[0] {
		return nil
	}
	return p.scan(func(i int) (match, bool) {
		first, wanted := trimRight(p.content(i)), trimRight(p.old[0])
		if !strings.HasSuffix(first, wanted) {
			return match{}, false
		}
		m := match{start: p.lines[i].start + len(first) - len(wanted), end: p.lines[i].end}
		for k := 1; k < last; k++ {
			if trimRight(p.content(i+k)) != trimRight(p.old[k]) {
				return match{}, false
			}
		}
		if last > 0 {
			content := p.content(i + last)
			switch {
			case strings.HasPrefix(content, p.old[last]):
				m.end = p.lines[i+last].start + len(p.old[last])
			case trimRight(content) == trimRight(p.old[last]):
				m.end = p.lines[i+last].end
			default:
				return match{}, false
			}
		}
		return m, true
	})
}

// anyIndent finds old with another indentation, the same change in every line that is not blank. Whole
// lines match, in the given form, one of levels; old may end in a line ending.
func (p *place) anyIndent(form func(string) string) []match {
	if allBlank(p.old) {
		return nil
	}
	last := len(p.old) - 1
	return p.scan(func(i int) (match, bool) {
		var shifts []shift
		for k, wanted := range p.old {
			if k == last && k > 0 && wanted == "" {
				continue
			}
			content := p.content(i + k)
			if content != wanted && form(content) != form(wanted) {
				return match{}, false
			}
			if !blank(wanted) {
				shifts = append(shifts, shift{old: indentOf(wanted), file: indentOf(content)})
			}
		}
		indent := uniform(shifts)
		if indent == nil {
			return match{}, false
		}
		end := p.lines[i+last].end
		if last > 0 && p.old[last] == "" {
			end = p.lines[i+last].start
		}
		return match{start: p.lines[i].start, end: end, indent: indent}, true
	})
}

// anyBoundary finds old with another indentation, where its first line lacks its indentation or begins inside a line of
// the text, and its last line may end inside a line.
func (p *place) anyBoundary() []match {
	last := len(p.old) - 1
	if last == 0 || blank(p.old[0]) || indentOf(p.old[0]) != "" || allBlank(p.old[1:]) {
		return nil
	}
	return p.scan(func(i int) (match, bool) {
		first, wanted := trimRight(p.content(i)), trimRight(p.old[0])
		if !strings.HasSuffix(first, wanted) {
			return match{}, false
		}
		m := match{start: p.lines[i].start + len(first) - len(wanted), head: true}
		var shifts []shift
		for k := 1; k <= last; k++ {
			content, wanted := p.content(i+k), p.old[k]
			before, after := indentOf(wanted), indentOf(content)
			m.end = p.lines[i+k].end
			switch rest, body := content[len(after):], wanted[len(before):]; {
			case k == last && wanted == "":
				m.end = p.lines[i+k].start
				continue
			case blank(wanted) && blank(content):
				continue
			case trimRight(rest) == trimRight(body):
			case k == last && body != "" && strings.HasPrefix(rest, body):
				m.end = p.lines[i+k].start + len(after) + len(body)
			default:
				return match{}, false
			}
			shifts = append(shifts, shift{old: before, file: after})
		}
		if m.indent = uniform(shifts); m.indent == nil {
			return match{}, false
		}
		// If the other lines lost an indentation, too, it is not the one that the first line lost.
		more, _ := m.indent("")
		return m, more == "" || !blank(first[:len(first)-len(wanted)])
	})
}

// replace builds the new text from left to right.
func (p *place) replace(matches []match, newLines []string) (Replacement, error) {
	var out strings.Builder
	var result Replacement
	from := 0
	for _, m := range matches {
		at := lineAt(p.lines, m.start)
		moved, kept, err := p.framed(m, newLines, at)
		if err != nil {
			return Replacement{}, err
		}
		if m.indent == nil && (moved.indent != nil || moved.start != m.start) {
			result.Tolerated = "indentation"
		}
		piece, err := p.adapt(moved, newLines, kept, at)
		if err != nil {
			return Replacement{}, err
		}
		out.WriteString(p.text[from:moved.start])
		out.WriteString(piece)
		result.Lines = append(result.Lines, at+1)
		from = m.end
	}
	out.WriteString(p.text[from:])
	result.Text = out.String()
	return result, nil
}

// adapt writes new for one match: lines that old and new share, as kept says, are taken from the file.
func (p *place) adapt(m match, newLines []string, kept []int, at int) (string, error) {
	found := p.text[m.start:m.end]
	lines := splitLines(found)
	ending := p.ending(lines, found, at)
	var out strings.Builder
	for k, content := range newLines {
		if j := kept[k]; j > 0 || j == 0 && (k == 0 || !m.head) {
			content = found[lines[j].start:lines[j].end]
		} else if m.indent != nil && !blank(content) && !(k == 0 && m.head) {
			before := indentOf(content)
			after, ok := m.indent(before)
			if !ok {
				return "", unadaptable(at)
			}
			content = after + content[len(before):]
		}
		out.WriteString(content)
		switch {
		case k == len(newLines)-1:
		case kept[k] >= 0 && kept[k] < len(lines)-1:
			out.WriteString(found[lines[kept[k]].end:lines[kept[k]].next])
		case kept[k+1] > 0:
			out.WriteString(found[lines[kept[k+1]-1].end:lines[kept[k+1]-1].next])
		default:
			out.WriteString(ending)
		}
	}
	return out.String(), nil
}

// shared returns for each line of new the index of the line of old that it repeats, -1 for a line that is added.
func shared(old, new []string) []int {
	kept := make([]int, len(new))
	for k := range kept {
		kept[k] = -1
	}
	from, shift := 0, 0
	text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	for _, hunk := range append(workspace.Diff(text(old), text(new)),
		workspace.LineHunk{Start: len(old), NewStart: len(new)}) {
		for j := from; j < hunk.Start; j++ {
			kept[j+shift] = j
		}
		from, shift = hunk.End, hunk.NewEnd-hunk.End
	}
	return kept
}

// ending is how lines end at a place: in the match, on its line, or on the line before.
func (p *place) ending(lines []line, found string, at int) string {
	if len(lines) > 1 {
		return found[lines[0].end:lines[0].next]
	}
	for _, i := range []int{at, at - 1} {
		if i >= 0 && p.lines[i].next > p.lines[i].end {
			return p.text[p.lines[i].end:p.lines[i].next]
		}
	}
	return "\n"
}

func (p *place) ambiguous(matches []match, several bool) error {
	e := &MatchError{Kind: Ambiguous}
	for _, m := range matches {
		e.Lines = append(e.Lines, lineAt(p.lines, m.start)+1)
	}
	e.text = fmt.Sprintf(
		"old_string occurs %d times, at lines %s; add neighbouring lines to it until it fits one place", len(matches),
		numbers(e.Lines, 20))
	if several {
		e.text += ", or set replace_all"
	}
	return e
}

// numbers writes a list of numbers, at most limit of them.
func numbers(list []int, limit int) string {
	var out strings.Builder
	for i, n := range list {
		if i == limit {
			fmt.Fprintf(&out, " and %d more", len(list)-limit)
			break
		}
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprint(&out, n)
	}
	return out.String()
}

// AsMatchError returns the MatchError in err, or nil.
func AsMatchError(err error) *MatchError {
	var e *MatchError
	errors.As(err, &e)
	return e
}
