// Package clip shortens texts for people and models.
package clip

import (
	"fmt"
	"strings"
)

// Text is a text of at most so many characters. One that is cut ends with an ellipsis, which counts.
func Text(text string, most int) string {
	if len(text) <= most { // as many bytes at least
		return text
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// LeftOut is in every text that Middle cut.
const LeftOut = "bytes left out"

// Middle cuts a text in its middle to about limit bytes.
func Middle(text string, limit int) string {
	if len(text) <= limit+64 {
		return text
	}
	head := limit * 2 / 3
	tail := len(text) - (limit - head)
	return strings.ToValidUTF8(text[:head], "") + fmt.Sprintf("\n… %d %s …\n", tail-head, LeftOut) +
		strings.ToValidUTF8(text[tail:], "")
}

// Counted is a number of things in words.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// FirstLine shortens a text to one line of at most 80 characters.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Text(line, 80)
}
