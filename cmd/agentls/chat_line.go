package main

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// typedLine is what a user types: one line, or several that were pasted or parted by Alt-Enter. Characters are what a
// person sees as one, whatever they are made of.
type typedLine struct {
	chars []string
	at    int // the character that the cursor is on
	// killed is what was cut last, for ctrl-y.
	killed string
	// past are former lines, the newest last. back is how many of them the user has gone back, with the line that was
	// left for them in draft.
	past  []string
	back  int
	draft string
}

// charsOf parts a text into its characters.
func charsOf(text string) []string {
	var chars []string
	for len(text) > 0 {
		first, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if first == "\r\n" || first == "\r" {
			chars = append(chars, "\n")
		} else {
			chars = append(chars, first)
		}
		text = text[len(first):]
	}
	return chars
}

func (l *typedLine) text() string { return strings.Join(l.chars, "") }

// offset is where the cursor is, in bytes.
func (l *typedLine) offset() int { return len(strings.Join(l.chars[:l.at], "")) }

func (l *typedLine) empty() bool { return len(l.chars) == 0 }

// set replaces the line; the cursor is behind it.
func (l *typedLine) set(text string) {
	l.chars = charsOf(text)
	l.at = len(l.chars)
}

// insert puts a text in front of the cursor. What it holds may join what stands there, as an accent does its letter.
func (l *typedLine) insert(text string) {
	before := strings.Join(l.chars[:l.at], "") + strings.ToValidUTF8(text, string(utf8.RuneError))
	after := l.chars[l.at:]
	l.chars = charsOf(before)
	l.at = len(l.chars)
	l.chars = append(l.chars, after...)
}

// replace puts a text in the place of the bytes between two offsets, and the cursor behind it.
func (l *typedLine) replace(from, to int, text string) {
	whole := l.text()
	l.set(whole[:from] + text)
	l.chars = append(l.chars, charsOf(whole[to:])...)
}

// cut takes the characters out between two places, and keeps them for ctrl-y.
func (l *typedLine) cut(from, to int) {
	if from == to {
		return
	}
	l.killed = strings.Join(l.chars[from:to], "")
	l.delete(from, to)
}

func (l *typedLine) delete(from, to int) {
	l.chars = slices.Delete(l.chars, from, to)
	l.at = from
}

// lineStart and lineEnd are the ends of the line that the cursor is in.
func (l *typedLine) lineStart() int {
	for i := l.at; i > 0; i-- {
		if l.chars[i-1] == "\n" {
			return i
		}
	}
	return 0
}

func (l *typedLine) lineEnd() int {
	if i := slices.Index(l.chars[l.at:], "\n"); i >= 0 {
		return l.at + i
	}
	return len(l.chars)
}

// ofWord reports whether a character belongs to a word.
func ofWord(char string) bool {
	r, _ := utf8.DecodeRuneInString(char)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
}

// wordStart is the beginning of the word at or in front of the cursor; blank takes what stands between blanks for one.
func (l *typedLine) wordStart(blank bool) int {
	part := func(char string) bool {
		if blank {
			return strings.TrimSpace(char) != ""
		}
		return ofWord(char)
	}
	i := l.at
	for i > 0 && !part(l.chars[i-1]) {
		i--
	}
	for i > 0 && part(l.chars[i-1]) {
		i--
	}
	return i
}

func (l *typedLine) wordEnd() int {
	i := l.at
	for i < len(l.chars) && !ofWord(l.chars[i]) {
		i++
	}
	for i < len(l.chars) && ofWord(l.chars[i]) {
		i++
	}
	return i
}

// press carries out a key as GNU readline does in its Emacs mode; false means that the key is none of the line's.
func (l *typedLine) press(key string) bool {
	switch key {
	case "left", "ctrl+b":
		l.at = max(0, l.at-1)
	case "right", "ctrl+f":
		l.at = min(len(l.chars), l.at+1)
	case "home", "ctrl+a":
		l.at = l.lineStart()
	case "end", "ctrl+e":
		l.at = l.lineEnd()
	case "alt+b", "ctrl+left", "alt+left":
		l.at = l.wordStart(false)
	case "alt+f", "ctrl+right", "alt+right":
		l.at = l.wordEnd()
	case "up", "ctrl+p":
		l.up()
	case "down", "ctrl+n":
		l.down()
	case "alt+enter", "shift+enter", "ctrl+j":
		l.insert("\n")
	default:
		return l.erase(key)
	}
	return true
}

// erase carries out the keys that take something out of the line, or put it back.
func (l *typedLine) erase(key string) bool {
	switch key {
	case "backspace", "ctrl+h", "shift+backspace":
		l.delete(max(0, l.at-1), l.at)
	case "delete", "ctrl+d":
		l.delete(l.at, min(len(l.chars), l.at+1))
	case "ctrl+w":
		l.cut(l.wordStart(true), l.at)
	case "alt+backspace", "ctrl+backspace":
		l.cut(l.wordStart(false), l.at)
	case "alt+d", "ctrl+delete":
		l.cut(l.at, l.wordEnd())
	case "ctrl+u":
		l.cut(l.lineStart(), l.at)
	case "ctrl+k":
		l.cut(l.at, l.lineEnd())
	case "ctrl+y":
		l.insert(l.killed)
	default:
		return false
	}
	return true
}

// up goes to the line above, or to the former one that the user entered.
func (l *typedLine) up() {
	start := l.lineStart()
	if start == 0 {
		l.recall(l.back + 1)
		return
	}
	column := l.at - start
	l.at = start - 1
	l.at = min(l.lineStart()+column, start-1)
}

// down goes to the line below, or to the later one that the user entered.
func (l *typedLine) down() {
	end := l.lineEnd()
	if end == len(l.chars) {
		l.recall(l.back - 1)
		return
	}
	column := l.at - l.lineStart()
	l.at = end + 1
	l.at = min(l.at+column, l.lineEnd())
}

// recall shows the line that was entered so many lines ago, 0 for the one that is being typed.
func (l *typedLine) recall(back int) {
	if back < 0 || back > len(l.past) {
		return
	}
	if l.back == 0 {
		l.draft = l.text()
	}
	if l.back = back; back == 0 {
		l.set(l.draft)
		return
	}
	l.set(l.past[len(l.past)-back])
}

// enter takes the line, and keeps it among the former ones if it is told to.
func (l *typedLine) enter(keep bool) string {
	text := l.text()
	if keep && strings.TrimSpace(text) != "" && (len(l.past) == 0 || l.past[len(l.past)-1] != text) {
		l.past = append(l.past, text)
	}
	l.clear()
	return text
}

// clear drops what was typed.
func (l *typedLine) clear() { l.chars, l.at, l.back, l.draft = nil, 0, 0, "" }

// layOut breaks the line into rows of a width behind a sign, and says where the cursor is in them.
func (l *typedLine) layOut(sign string, width int) (rows []string, x, y int) {
	indent := strings.Repeat(" ", ansi.StringWidth(sign))
	row, used := sign, len(indent)
	next := func() {
		rows = append(rows, row)
		row, used = indent, len(indent)
	}
	for i, char := range l.chars {
		shown := shownAs(char)
		if wide := ansi.StringWidth(shown); char != "\n" && used+wide > width && used > len(indent) {
			next()
		}
		if i == l.at {
			x, y = used, len(rows)
		}
		if char == "\n" {
			next()
			continue
		}
		row += shown
		used += ansi.StringWidth(shown)
	}
	if l.at == len(l.chars) {
		if used >= width {
			next()
		}
		x, y = used, len(rows)
	}
	return append(rows, row), x, y
}

// shownAs is how a character is drawn: as itself, unless it would do something to the terminal.
func shownAs(char string) string {
	switch char {
	case "\n":
		return ""
	case "\t":
		return "    "
	}
	return visible(char)
}
