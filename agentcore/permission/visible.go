package permission

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is text as it may be shown to a person who decides on it: what has no glyph of its own, changes the direction
// of text or looks like a space is written as an escape. Newlines and tabs become \n and \t, so that the result is one
// line.
func Visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x80 && hidden(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Legible is a text as it may be shown to a person who only reads it: what nobody sees in it ([Unseen]) is written as
// an escape; emoji, lines and tabs stay.
func Legible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	kept := 0
	for start, end := range Unseen(s) {
		b.WriteString(s[kept:start])
		b.WriteString(Visible(s[start:end]))
		kept = end
	}
	if kept == 0 {
		return s
	}
	return b.String() + s[kept:]
}

// LegibleLine is [Legible] for a text that is shown in one line.
func LegibleLine(s string) string {
	if isPlain(s) {
		return s
	}
	return inOneLine.Replace(Legible(s))
}

var inOneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

// isPlain reports whether a text is printable ASCII alone, which most texts of events are: all of it is seen.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Quoted is the name of a file as people and models are told it: as it is, or between quotes where it could be taken
// for several or for another one, since it has characters that [Visible] escapes or begins like a quoted one.
func Quoted(name string) string {
	if Visible(name) == name && !strings.HasPrefix(name, `"`) {
		return name
	}
	return `"` + Visible(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)) + `"`
}

// Unquoted is the inverse of [Quoted]. What is not quoted stays as it is.
func Unquoted(name string) string {
	if len(name) > 1 && name[0] == '"' {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// hidden is stricter than [Unseen]: of what is decided on, nothing may look like something else. It reports whether a
// reader would not see a character, or take it for a space.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r == 0x3164, r == 0xffa0, r == 0x115f, r == 0x1160, r == 0x2800: // letters that are blank
		return true
	case varies(r), r == 0x034f, r == 0x180e:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) || unicode.Is(unicode.Z, r) ||
		unicode.Is(unicode.Co, r) || r >= 0xe0000 && r <= 0xe0fff
}
