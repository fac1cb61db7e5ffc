package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// wordPattern is a rule's pattern for commands: words, of which the last may end in *.
type wordPattern struct {
	words []string // as patterns, where * is any text inside one word
	plain []string // the same as text, for words without *
	rest  bool     // * at the end: whatever follows is matched, too
	stem  bool     // the last word is only the beginning of one: it ends in ** or, before the *, in punctuation
}

// parsePattern parts a pattern into words, as a shell does with static ones: spaces separate, quotes and backslashes
// keep. Only a * that is not quoted stands for anything.
func parsePattern(pattern string) (wordPattern, error) {
	const star = "\x00" // a * that is quoted; no command has a NUL
	var p wordPattern
	var word strings.Builder
	in, quote := false, byte(0)
	end := func() {
		if in {
			p.words = append(p.words, word.String())
		}
		word.Reset()
		in = false
	}
	text := func(c byte) {
		in = true
		if c == '*' {
			word.WriteString(star)
		} else {
			word.WriteByte(c)
		}
	}
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case quote == '\'' && c == '\'', quote == '"' && c == '"':
			quote = 0
		case quote != '\'' && c == '\\' && i+1 < len(pattern):
			i++
			text(pattern[i])
		case quote != 0:
			text(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			end()
		case c == '\n' || c == 0:
			return p, fmt.Errorf("%q is no pattern of words: write it on one line", pattern)
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		return p, fmt.Errorf("a quote in %q is not closed", pattern)
	}
	end()
	p.endStar()
	if len(p.words) == 0 {
		return p, fmt.Errorf("%q holds no word: write * for every command", pattern)
	}
	for _, w := range p.words {
		p.plain = append(p.plain, strings.ReplaceAll(w, star, "*"))
	}
	return p, nil
}

// endStar takes a * at the end of a pattern for any rest.
func (p *wordPattern) endStar() {
	if n := len(p.words) - 1; n >= 0 && strings.HasSuffix(p.words[n], "*") {
		p.rest = true
		p.stem = strings.HasSuffix(p.words[n], "**")
		p.words[n] = strings.TrimRight(p.words[n], "*")
		switch last := p.words[n]; {
		case last == "":
			p.words, p.stem = p.words[:n], false
		case strings.ContainsRune("/:=._-", rune(last[len(last)-1])):
			p.stem = true
		}
	}
}

// matchWord matches one word of a command. A word pattern with * never matches one with .. in it, which would lead
// elsewhere.
func (p *wordPattern) matchWord(i int, text string) bool {
	stem := p.stem && i == len(p.words)-1
	if !stem && !strings.Contains(p.words[i], "*") {
		return p.plain[i] == text
	}
	if slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '=' || r == ':' }), "..") {
		return false
	}
	pattern := p.words[i]
	if stem {
		pattern += "*"
	}
	return wildcard(pattern, strings.ReplaceAll(text, "*", "\x00"))
}

// match reports whether the first words of a command are the pattern's, and no others follow where it has no * at its
// end.
func (p *wordPattern) match(args []word) bool {
	if len(args) < len(p.words) || !p.rest && len(args) != len(p.words) {
		return false
	}
	for i := range p.words {
		if args[i].glob || !p.matchWord(i, args[i].text) {
			return false
		}
	}
	return true
}

// exact reports whether the pattern is one command with all its words.
func (p *wordPattern) exact() bool {
	return !p.rest && !slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(w, "*") })
}

// reach reports whether the pattern speaks for a command in a wider sense, for rules that do not allow: the program by
// any path, options in front of a subcommand left out, and options of the pattern anywhere behind it, however they are
// written. A wildcard may become any word: where loose is set, it is taken for the one that matches.
func (p *wordPattern) reach(args []word, loose bool) bool {
	if len(args) == 0 {
		return false
	}
	first := args[0].text
	if !(loose && args[0].glob) && !p.matchWord(0, first) && !p.matchWord(0, path.Base(first)) &&
		!strings.EqualFold(p.plain[0], programName(first)) {
		return false
	}
	return p.ordered(args, loose) || p.spelled(args, loose)
}

// becomes reports whether a word is one of the pattern's, or may become it.
func (p *wordPattern) becomes(i int, w word, loose bool) bool {
	if loose && w.glob && !(strings.HasPrefix(w.text, "./") && strings.HasPrefix(p.plain[i], "-")) {
		return true
	}
	if p.rest && !p.stem && i > 0 && i == len(p.words)-1 && !strings.Contains(p.words[i], "*") &&
		strings.HasPrefix(w.text, p.plain[i]) {
		return true // the star may be meant as one in the word
	}
	return p.matchWord(i, w.text)
}

// ordered looks for the pattern's words in a command, one behind the other.
func (p *wordPattern) ordered(args []word, loose bool) bool {
	// reached are the places where the pattern's words so far may end. There may be several, because an option can
	// have a value of its own.
	reached := make([]bool, len(args)+2)
	reached[1] = true
	for i := 1; i < len(p.words); i++ {
		next := make([]bool, len(args)+2)
		for at, from := range args {
			if !reached[at] {
				continue
			}
			if p.becomes(i, from, loose) {
				next[at+1] = true
			}
			switch {
			case strings.HasPrefix(p.plain[i], "-"):
				reached[at+1] = true
			case strings.HasPrefix(from.text, "-"):
				reached[at+1], reached[at+2] = true, true
			}
		}
		reached = next
	}
	if p.rest {
		return slices.Contains(reached, true)
	}
	return reached[len(args)]
}

// quoteWord writes a word so that parsePattern reads it as this one word.
func quoteWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/:=._-+,@%^", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// wildcard matches with * as any text, even none.
func wildcard(pattern, text string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}
