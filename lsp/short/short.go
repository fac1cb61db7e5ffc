// Package short shows texts and numbers where there is little room: in a menu, in a line of a status, in an outline.
package short

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Elapsed is a duration as it is read at a glance, such as "12 s" or "3 min 5 s".
func Elapsed(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}

// Tokens is a count with two digits that tell, such as 950, 3.1k or 1.2M.
func Tokens(n int64) string {
	short := func(unit int64, suffix string) string {
		if tenths := (n*10 + unit/2) / unit; tenths < 100 {
			return fmt.Sprintf("%d.%d%s", tenths/10, tenths%10, suffix)
		}
		return fmt.Sprintf("%d%s", (n+unit/2)/unit, suffix)
	}
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_500:
		return short(1000, "k")
	}
	return short(1_000_000, "M")
}

// maxLine is how long a Line is, in characters.
const maxLine = 60

// Line is the beginning of a text in one line, for a menu.
func Line(text string) string {
	return Beginning(strings.Join(strings.Fields(text), " "), maxLine)
}

// Beginning is the beginning of a text, at most limit characters, the last of which says that there is more.
func Beginning(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// Count is a number with its noun, such as "1 edit" or "3 edits".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
