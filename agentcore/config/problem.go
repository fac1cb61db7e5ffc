package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/spelling"
)

// Severity says how bad a Problem is.
type Severity int

const (
	// SeverityError is a value that was refused: the layer below decides.
	SeverityError Severity = iota
	// SeverityWarning is something that was ignored.
	SeverityWarning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	switch s {
	case SeverityError:
		return "error"
	case SeverityWarning:
		return "warning"
	}
	return fmt.Sprintf("severity %d", int(s))
}

// MarshalText makes a Severity a word in JSON.
func (s Severity) MarshalText() ([]byte, error) {
	return []byte(s.String()), nil
}

// Problem is one thing that is wrong in a source of the configuration. Values of secret keys are not repeated in it.
type Problem struct {
	// Source names the source for people: "user file", "environment AGENTLS_MAX_DEPTH", "editor settings" …
	Source string `json:"source"`
	// File is the path of the file, empty for other sources.
	File string `json:"file,omitempty"`
	// Line is 1-based; 0 where the source has no lines.
	Line int `json:"line,omitempty"`
	// Column is 1-based and counts bytes of UTF-8 text; 0 where Line is.
	Column int `json:"column,omitempty"`
	// Key is the full key (see Value.Key), empty where the problem is with the source as a whole.
	Key string `json:"key,omitempty"`
	// Message says what is wrong, Hint what to do.
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Severity Severity `json:"severity"`
	// Whole says that nothing of the source could be used, its permission rules included.
	Whole bool `json:"whole,omitempty"`
}

// String returns the problem in one line: place, severity, key, message and hint.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
	} else {
		b.WriteString(p.Source)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	fmt.Fprintf(&b, ": %s: ", p.Severity)
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// cutLast cuts a dotted key before its last segment.
func cutLast(key string) (table, last string, found bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// didYouMean is the hint for an unknown key.
func didYouMean(unknown string, known []string) string {
	if k := spelling.Nearest(unknown, known); k != "" {
		return "did you mean " + k + "?"
	}
	if len(known) <= 8 {
		return "known here: " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
	}
	return "agentls config lists the known keys"
}
