package lsptest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parseLine reads a line of a script: an optional [profile,…] or [!profile,…], a verb, and arguments. An argument is a
// word, a Go string in double quotes, or, at the end of the line, JSON that begins with { or [.
func parseLine(text string) (line, error) {
	var l line
	rest := strings.TrimSpace(text)
	if rest == "" || strings.HasPrefix(rest, "#") {
		return l, nil
	}
	if condition, ok := strings.CutPrefix(rest, "["); ok {
		names, after, found := strings.Cut(condition, "]")
		if !found {
			return l, fmt.Errorf("%q has no end", rest)
		}
		names, l.not = strings.CutPrefix(names, "!")
		l.only = strings.Split(names, ",")
		rest = strings.TrimSpace(after)
	}
	l.verb, rest, _ = strings.Cut(rest, " ")
	for {
		rest = strings.TrimSpace(rest)
		switch {
		case rest == "":
			return l, nil
		case rest[0] == '{' || rest[0] == '[':
			decoder := json.NewDecoder(strings.NewReader(rest))
			// What is no JSON may be once captured values stand in it.
			if err := decoder.Decode(new(json.RawMessage)); err == nil {
				if behind := strings.TrimSpace(rest[decoder.InputOffset():]); behind != "" {
					return l,
						fmt.Errorf("there is %q behind the JSON, which ends the line; a comment has a line of its own",
							behind)
				}
			}
			l.args = append(l.args, rest)
			return l, nil
		case rest[0] == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return l, fmt.Errorf("read the string %s: %w", rest, err)
			}
			value, err := strconv.Unquote(quoted)
			if err != nil {
				return l, fmt.Errorf("read the string %s: %w", quoted, err)
			}
			l.args = append(l.args, value)
			rest = rest[len(quoted):]
		default:
			var word string
			word, rest, _ = strings.Cut(rest, " ")
			l.args = append(l.args, word)
		}
	}
}

var placeForm = regexp.MustCompile(`^(\d+)(?::(\d+))?(?:-(\d+):(\d+))?$`)

// span finds a place in a text, as byte offsets: L:C-L:C or L:C, 1-based and in characters, L for the whole line
// without its ending, "all", or a piece of the text, of which the first one is meant.
func span(content, where string) (start, end int, err error) {
	if where == "all" {
		return 0, len(content), nil
	}
	m := placeForm.FindStringSubmatch(where)
	if m == nil {
		at := strings.Index(content, where)
		if at < 0 {
			return 0, 0, fmt.Errorf("there is no %q in the text", where)
		}
		return at, at + len(where), nil
	}
	number := func(s string) uint32 {
		n, _ := strconv.ParseUint(s, 10, 31) // digits, by the expression
		return uint32(max(n, 1) - 1)
	}
	if start, err = UTF32.Offset(content, Position{Line: number(m[1]), Character: number(m[2])}); err != nil {
		return 0, 0, err
	}
	switch {
	case m[3] != "":
		end, err = UTF32.Offset(content, Position{Line: number(m[3]), Character: number(m[4])})
	case m[2] == "":
		end = lineEnd(content, start)
	default:
		end = start
	}
	return start, end, err
}
