package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a character changes how a text is shown instead of being shown: control characters,
// bidirectional overrides (https://trojansource.codes) and other format characters. Joiners are left to the
// scripts and emoji that need them.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// visible returns the text with hidden characters and broken UTF-8 as Go escapes, such as \x1b and \u202e.
func visible(text string) string {
	clean := true
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") || hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !hidden(r):
			b.WriteString(text[:size])
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// visibleJSON returns JSON with hidden characters as escapes. Such characters occur only in strings, so that the value
// is the same.
func visibleJSON(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}

// columns is how many columns of a terminal a text takes. The text must hold no hidden characters.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200c' || r == '\u200d':
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the characters that take two columns (Unicode Standard Annex 11, in blocks).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// fit cuts a text to a width in columns, with an ellipsis where something is missing.
func fit(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	n := 0
	for i, r := range text {
		if n+runeColumns(r) > width-1 {
			return text[:i] + "…"
		}
		n += runeColumns(r)
	}
	return text
}
