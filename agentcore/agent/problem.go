package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Problem is one thing that is wrong with a definition. A problem of SeverityError makes the definition unusable; all
// others are about a detail that was left out or guessed.
type Problem struct {
	// File is the path that was given to Parse.
	File string
	// Span is the place in the text: lines 0-based, columns in bytes.
	Span     event.Span
	Severity event.Severity
	// Key is the dotted key, as in Field; empty for the definition as a whole.
	Key string
	// Message says what is wrong, Hint what to do.
	Message, Hint string
	// Fix is an edit that certainly solves the problem; nil if there is none.
	Fix *Fix
	// Beside says that the definition itself is right, but another one has its name.
	Beside bool
	// Locked says that the definition itself is right, but the provider of its model has no key.
	Locked bool
}

// Fix replaces a part of the text.
type Fix struct {
	// Title names the action, such as `Replace "raed" by "read"`.
	Title string
	Span  event.Span
	New   string
}

// String is one line for people: file:line:column: severity: message; hint. Line and column are 1-based.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s: %s", p.File, p.Span.StartLine+1, p.Span.StartColumn+1, p.Severity, p.Message)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return b.String()
}

// Hides reports whether the definition is not used although nothing is wrong with it, since another one has its name.
func (p Problem) Hides() bool { return p.Beside && p.Severity == event.SeverityWarning }

// Unread reports whether the problem is that a file or a folder is not read because of its place.
func (p Problem) Unread() bool { return p.Key == keyUnread }

// Failed reports whether a problem among them is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == event.SeverityError })
}

// keyUnread is the key of problems with files and folders that are not read because of their place.
const keyUnread = "file"
