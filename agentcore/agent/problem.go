package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Problem is one thing that is wrong with a definition. One of SeverityError means that the definition
// cannot be used; all others are about a detail that is left out or was guessed.
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
	// Fix is an edit that surely mends it; nil where there is none.
	Fix *Fix
	// Beside says that the definition alone is right, and that another one has its name.
	Beside bool
	// Locked says that the definition alone is right, and that the provider of its model has no key.
	Locked bool
}

// Fix replaces a place of the text.
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

// Unread reports whether the problem is with a file or a folder that is not read because of where it lies.
func (p Problem) Unread() bool { return p.Key == keyUnread }

// Failed reports whether a problem among them is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == event.SeverityError })
}

// keyUnread is the key of problems with what is not read because of where it lies.
const keyUnread = "file"
