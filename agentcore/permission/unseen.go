package permission

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unseen yields the parts of a text that say something to a model and show nothing to its reader, as byte offsets in
// order; neighbours are one part. They are control characters, controls of direction (https://trojansource.codes),
// widths of zero, tags (U+E0000 to U+E007F, which spell out ASCII), private characters, and joiners and variation
// selectors where nothing stands that they could join or vary: a row of those spells out bytes. Emoji, the scripts that
// need joiners, and a byte order mark in front are as they should be.
func Unseen(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start, flag := -1, 0 // of a part; the end of a flag
		before := rune(0)    // the last one that is seen
		for i, r := range text {
			if n := flagAt(text[i:]); n > 0 {
				flag = i + n
			}
			unseen := i >= flag && !(i == 0 && r == '\ufeff') && unseenAfter(before, r)
			if !unseen {
				before = r
			}
			switch {
			case unseen && start < 0:
				start = i
			case !unseen && start >= 0:
				if !yield(start, i) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(start, len(text))
		}
	}
}

// Seen is a text without what its reader does not see ([Unseen]). It is what a model gets of a text that came with a
// project: written as escapes, the characters would still say what they say, and whoever trusted the text has not read
// it.
func Seen(text string) string {
	// broken bytes could become a character once what stands between them is gone
	text = strings.ToValidUTF8(text, "\ufffd")
	var b strings.Builder
	kept := 0
	for start, end := range Unseen(text) {
		b.WriteString(text[kept:start])
		kept = end
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// CountUnseen is how many characters of a text nobody sees.
func CountUnseen(text string) int {
	n := 0
	for start, end := range Unseen(text) {
		n += utf8.RuneCountInString(text[start:end])
	}
	return n
}

// flags are the sequences of tags that Unicode recommends for interchange (UTS #51, emoji tag sequences): those of
// England, Scotland and Wales.
var flags = []string{
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
}

// flagAt is the length of the flag that a text begins with, in bytes.
func flagAt(text string) int {
	for _, f := range flags {
		if strings.HasPrefix(text, f) {
			return len(f)
		}
	}
	return 0
}

// unseenAfter reports whether a character that stands after another one is not seen.
func unseenAfter(before, r rune) bool {
	joins := func(r rune) bool { return r == 0x200c || r == 0x200d }
	switch {
	case r == '\t', r == '\n', r == '\r', unicode.Is(signs, r):
		return false
	case joins(r):
		return before < 0x300 || joins(before)
	case r >= 0xe0100 && r <= 0xe01ef:
		return !unicode.Is(unicode.Han, before)
	case r >= 0x180b && r <= 0x180d, r == 0x180f:
		return !unicode.Is(unicode.Mongolian, before)
	case varies(r):
		keycap := before >= '0' && before <= '9' || before == '#' || before == '*'
		return !keycap && (before < 0xa1 || joins(before) || varies(before) || unseenAfter(0, before))
	case r == 0x3164, r == 0xffa0, r == 0x034f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

// signs are the format characters that are drawn: signs around numbers in Arabic, Syriac and Kaithi, and how
// hieroglyphs are put together.
var signs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0600, 0x0605, 1},
		{0x06dd, 0x06dd, 1},
		{0x070f, 0x070f, 1},
		{0x0890, 0x0891, 1},
		{0x08e2, 0x08e2, 1},
	},
	R32: []unicode.Range32{{0x110bd, 0x110bd, 1}, {0x110cd, 0x110cd, 1}, {0x13430, 0x1345f, 1}},
}

// varies reports whether a character selects a variant of the one before it.
func varies(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180d || r == 0x180f
}
