package tool

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// reading is one way to read old and new.
type reading struct {
	old, new string
	// differs says what was ignored; empty for old as it is given.
	differs string
	// lines says that old begins at the begin of a line, apart from its indentation.
	lines bool
	// number is the 1-based line at which old says it stands, and at which it must; 0 where it says nothing.
	number int
	// problem is why the reading is refused if old matches.
	problem string
}

// allows reports whether the reading permits a match.
func (r reading) allows(p *place, m match) bool {
	at := lineAt(p.lines, m.start)
	return (!r.lines || blank(p.text[p.lines[at].start:m.start])) && (r.number == 0 || r.number == at+1)
}

// readings are the ways to read old and new. The first way that matches counts.
func readings(old, new string) []reading {
	list := []reading{{old: old, new: new}}
	if r, ok := unnumbered(old, new); ok {
		list = append(list, r)
	}
	for _, r := range slices.Clone(list) {
		if trimmed, ok := r.withoutBlanks(); ok {
			list = append(list, trimmed)
		}
	}
	return list
}

// numberedLine is a line as read and other tools show it: behind its number.
var numberedLine = lazyregexp.New(`^ *(\d+)(?:\t|→| \|(?: |$)|\||:)`)

// numberOf returns the number in front of a line, -1 without one, and the line without it.
func numberOf(text string) (int, string) {
	found := numberedLine().FindStringSubmatch(text)
	if found == nil {
		return -1, text
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return -1, text
	}
	return n, text[len(found[0]):]
}

// unnumbered reads old without the numbers that read shows, which increase by one from line to line, and also new if it
// has them. A single number, or numbers as grep shows them, must be those of the place.
func unnumbered(old, new string) (reading, bool) {
	lines := contents(old)
	var bare []string
	first, last, colons := 0, 0, false
	for k, s := range lines {
		n, rest := numberOf(s)
		switch {
		case s == "" && k == len(lines)-1 && k > 0:
		case n < 0 || k > 0 && n != last+1:
			return reading{}, false
		case k == 0:
			first = n
		}
		colons = colons || n >= 0 && s[len(s)-len(rest)-1] == ':'
		last = max(n, last)
		bare = append(bare, rest)
	}
	r := reading{old: strings.Join(bare, "\n"), new: new, differs: "line numbers", lines: true}
	if first == last || colons {
		r.number = first
	}
	with, without := 0, 0
	var rests []string
	for _, s := range contents(new) {
		n, rest := numberOf(s)
		switch {
		case n >= first && n <= last+strings.Count(new, "\n"):
			with++
		case !blank(s):
			without++
		}
		rests = append(rests, rest)
	}
	looks := func(lines []string) bool {
		return !slices.ContainsFunc(lines, func(s string) bool { n, _ := numberOf(s); return n < 0 && s != "" })
	}
	switch {
	case with == 0 || looks(bare) && !looks(rests):
	case without > 0:
		r.problem = "old_string has the line numbers that read shows, and so have some " +
			"lines of new_string, but not all; leave the numbers out of both"
	default:
		r.new = strings.Join(rests, "\n")
	}
	return r, true
}

// withoutBlanks is the reading without the blank lines before and behind old that the text lacks; new loses as many.
func (r reading) withoutBlanks() (reading, bool) {
	old, new := contents(r.old), contents(r.new)
	if allBlank(old) {
		return r, false
	}
	text := func(s string) bool { return !blank(s) }
	above := slices.IndexFunc(old, text)
	behind := blanksBehind(old)
	if above == 0 && (behind == 0 || behind == 1 && old[len(old)-1] == "") {
		return r, false
	}
	for range above {
		if len(new) > 1 && blank(new[0]) {
			new = new[1:]
		}
	}
	old = old[above : len(old)-behind]
	switch left := blanksBehind(new); {
	case allBlank(new):
		new = []string{""}
		if behind > 0 {
			old = append(slices.Clone(old), "")
		}
	case left > 0 && behind > 0:
		old = append(slices.Clone(old), "")
		new = append(slices.Clone(new[:len(new)-left]), slices.Repeat([]string{""}, max(1, left-behind+1))...)
	}
	r.old, r.new = strings.Join(old, "\n"), strings.Join(new, "\n")
	r.lines, r.differs = true, "blank lines around it"
	return r, r.old != r.new
}

// blanksBehind counts the blank lines at the end.
func blanksBehind(lines []string) int {
	n := 0
	for n < len(lines) && blank(lines[len(lines)-1-n]) {
		n++
	}
	return n
}

// elision is a line that stands for others, perhaps as a comment.
var elision = lazyregexp.New(`^\s*(//|#|--|/\*|<!--)?\s*(\.\.\.|…)\s*(\*/|-->)?\s*$`)

// pieces cuts a text at lines that stand for others.
func pieces(text string) []string {
	var list []string
	var out strings.Builder
	lines := contents(text)
	for i, s := range lines {
		if elision().MatchString(s) {
			list = append(list, out.String())
			out.Reset()
			continue
		}
		out.WriteString(s)
		if i < len(lines)-1 {
			out.WriteByte('\n')
		}
	}
	return append(list, out.String())
}

// elided replaces the pieces of old between lines "..." by as many pieces of new. Each piece of old must occur once in
// the text, and the pieces must follow each other. The result is nil if old has no such lines.
func (p *place) elided(old, new string) (*Replacement, error) {
	from, to := pieces(old), pieces(new)
	if len(from) == 1 || allBlank(contents(strings.Join(from, ""))) {
		return nil, nil
	}
	refuse := func(kind MatchErrorKind, lines []int, format string, a ...any) (*Replacement, error) {
		return nil, &MatchError{Kind: kind, Lines: lines, text: "old_string has a line ... that is not in the file; " +
			fmt.Sprintf(format, a...) + ". Give all lines, or make several edits"}
	}
	if len(from) != len(to) {
		return refuse(NotFound, nil, "where it stands for lines that stay, new_string has to have the same lines ...")
	}
	result := Replacement{Tolerated: "lines left out"}
	var out strings.Builder
	end := 0
	for i, piece := range from {
		if allBlank(contents(piece)) && allBlank(contents(to[i])) {
			continue
		}
		q := *p
		q.old = contents(piece)
		matches, _, _ := q.find(reading{old: piece, lines: i > 0}, false)
		switch {
		case allBlank(q.old) || len(matches) == 0:
			return refuse(NotFound, nil, "piece %d of %d around it is not in the file%s", i+1, len(from), q.nearest())
		case len(matches) > 1:
			e := AsMatchError(q.ambiguous(matches, false))
			return refuse(Ambiguous, e.Lines,
				"piece %d of %d around it occurs %d times, at lines %s", i+1, len(from), len(matches), numbers(e.Lines,
					20))
		case matches[0].start < end:
			at := lineAt(p.lines, matches[0].start) + 1
			return refuse(NotFound, []int{at}, "piece %d of %d stands at line %d, above the one before it", i+1,
				len(from), at)
		}
		replaced, err := q.replace(matches, contents(to[i]))
		if err != nil {
			return nil, err
		}
		m := matches[0]
		tail := p.text[m.end:]
		head := strings.TrimSuffix(replaced.Text, tail)
		out.WriteString(head[min(end, len(head)):])
		end = m.end
		result.Lines = append(result.Lines, replaced.Lines...)
	}
	out.WriteString(p.text[end:])
	result.Text = out.String()
	return &result, nil
}

// escapes are the ways to escape a text once too often.
var escapes = []struct {
	by  string
	off func(string) string
}{
	{`as in a string: it has \n, \t, \" or \\ where the file has a line ending, a tab, ` +
		"a quote or a backslash", unescaped},
	{"as in HTML: it has &lt;, &gt;, &amp; or &quot; where the file has the character", html.UnescapeString},
}

// unescaped is a text without the escapes of a string.
func unescaped(text string) string {
	var out string
	if json.Unmarshal([]byte(`"`+text+`"`), &out) == nil {
		return out
	}
	return strings.NewReplacer(`\\`, `\`, `\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'").Replace(text)
}

// escapedTwice says that old would be in the text if it were escaped once less; empty where it would not.
func (p *place) escapedTwice() string {
	old := strings.Join(p.old, "\n")
	for _, e := range escapes {
		off := e.off(old)
		if off == old {
			continue
		}
		q := *p
		q.old = contents(off)
		if matches, _, _ := q.find(reading{old: off}, false); len(matches) > 0 {
			return fmt.Sprintf(
				"; it seems to be escaped twice, %s (line %d). Send it again with one escaping less, the new text too",
				e.by, lineAt(p.lines, matches[0].start)+1)
		}
	}
	return ""
}
