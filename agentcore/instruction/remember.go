package instruction

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// MaxRemembered bounds one thing that is remembered, in bytes.
	MaxRemembered = 500
	// maxRemembering bounds the file with what is remembered, in bytes: every agent that works in its folder reads all
	// of it.
	maxRemembering = 32 << 10
	// remembered is the heading above what is remembered.
	remembered = "Remembered"
)

// Remembering is the name of the file in which a folder's agents remember things.
const Remembering = "AGENTS.md"

// Remember returns the text of a file of instructions, "" for a new one, with another item in the list under the
// heading "Remembered". The error says why the item is not added.
func Remember(text, thing string) (string, error) {
	thing = strings.TrimSpace(strings.TrimLeft(strings.Join(strings.Fields(thing), " "), "-*# "))
	switch {
	case thing == "":
		return "", errors.New("there is nothing to remember; say it in a sentence")
	case len(thing) > MaxRemembered:
		return "", fmt.Errorf("it has %d bytes; at most %d are remembered at once: say it shorter", len(thing),
			MaxRemembered)
	case len(text)+len(thing) > maxRemembering:
		return "", fmt.Errorf("the file has %d bytes, and agents read all of it; shorten it first", len(text))
	}
	ending := "\n"
	if strings.Contains(text, "\r\n") {
		ending = "\r\n"
	}
	lines := strings.SplitAfter(text, "\n")
	begun, last := false, -1 // the section's beginning, and the end of its last line that is not blank
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.EqualFold(bare(line), bare(thing)) {
			return "", errors.New("it is remembered there already")
		}
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			begun = strings.EqualFold(strings.TrimSpace(title), remembered) && last < 0
		}
		if begun && line != "" {
			last = i
		}
	}
	item := "- " + thing + ending
	if last < 0 {
		before := strings.TrimRight(text, " \t\r\n")
		if before != "" {
			before += ending + ending
		}
		return before + "## " + remembered + ending + ending + item, nil
	}
	head, tail := strings.Join(lines[:last+1], ""), strings.Join(lines[last+1:], "")
	if !strings.HasSuffix(head, "\n") {
		head += ending
	}
	if strings.HasPrefix(strings.TrimSpace(lines[last]), "#") {
		head += ending
	}
	return head + item + tail, nil
}

// bare is a line without the marker of a list and without the full stop at its end.
func bare(line string) string { return strings.TrimRight(strings.TrimLeft(line, "-* \t"), ". \t") }
