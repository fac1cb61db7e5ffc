package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxMatcher is the longest matcher, in bytes.
const maxMatcher = 4096

// Matcher says for which tools, or which agents, a hook runs. It is immutable; the zero Matcher selects all.
type Matcher struct {
	names    []string
	folded   []string // the same names in one spelling
	patterns []*regexp.Regexp
	some     bool // false: the matcher selects all
}

// ParseMatcher reads a matcher. "" and "*" select all. Other texts are names with "|" between them, each in any
// spelling, or regular expressions (Go's regexp/syntax) for the whole name, in any case of letters. The error says
// which part is wrong.
func ParseMatcher(text string) (Matcher, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "*" {
		return Matcher{}, nil
	}
	if len(text) > maxMatcher {
		return Matcher{}, fmt.Errorf("the matcher is longer than %d bytes", maxMatcher)
	}
	parts := []string{text}
	if !strings.ContainsAny(text, `()[]{}\`) {
		parts = strings.Split(text, "|") // a "|" in brackets must not split an expression
	}
	m := Matcher{some: true}
	for _, part := range parts {
		switch part = strings.TrimSpace(part); {
		case part == "":
		case part == "*":
			return Matcher{}, nil
		case plain(part):
			m.names, m.folded = append(m.names, part), append(m.folded, fold(part))
		default:
			_, err := regexp.Compile(part) // each part by itself, so that the error names it
			var pattern *regexp.Regexp
			if err == nil {
				pattern, err = regexp.Compile(`(?i)^(?:` + part + `)$`)
			}
			if err != nil {
				return Matcher{}, fmt.Errorf("%q is neither a name nor a regular expression: %w", part, err)
			}
			m.patterns = append(m.patterns, pattern)
		}
	}
	return m, nil
}

// Names returns the alternatives that are plain names, as they are written.
func (m Matcher) Names() []string { return slices.Clone(m.names) }

// Match reports whether the matcher selects something with these spellings.
func (m Matcher) Match(spellings ...string) bool {
	if !m.some {
		return true
	}
	return slices.ContainsFunc(spellings, func(s string) bool {
		folded := fold(s)
		return slices.Contains(m.folded, folded) ||
			slices.ContainsFunc(m.patterns,
				func(p *regexp.Regexp) bool { return p.MatchString(s) || p.MatchString(folded) })
	})
}

// plain reports whether a part of a matcher is a name and no regular expression.
func plain(part string) bool {
	return !strings.ContainsFunc(part, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// separators are the characters in which spellings of a name differ.
var separators = strings.NewReplacer("_", "", "-", "")

// fold makes the spellings of a name equal.
func fold(name string) string { return separators.Replace(strings.ToLower(name)) }
