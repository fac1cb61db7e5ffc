package permission

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// A rule that denies a command with an option means the option, not its spelling: `rm -rf*` is `rm -fr`, `rm -r -f` and
// `rm --recursive --force`, too.

// bundled are short options in one word. A word with more letters is rather a long option behind one dash.
var bundled = lazyregexp.New(`^-[A-Za-z]{1,3}$`)

// longNames are the long options that programs have for a letter.
var longNames = map[rune][]string{
	'f': {"force"}, 'r': {"recursive"}, 'R': {"recursive"}, 'd': {"delete"}, 'D': {"delete", "force"}, 'a': {"all"},
	'i': {"in-place"}, 'g': {"global"}, 'o': {"output"}, 'y': {"yes"}, 'q': {"quiet"},
	'u': {"user"}, 'v': {"volumes"}, 'm': {"message"},
}

// spelled reports whether a command has the pattern's words in their order and all of its options, however they are
// written.
func (p *wordPattern) spelled(args []word, loose bool) bool {
	if program, _ := lookup(args[0].text); program.dash {
		return false
	}
	plain := wordPattern{rest: p.rest}
	for i, text := range p.plain {
		long, isLong := strings.CutPrefix(text, "--")
		switch {
		case i == 0, !strings.HasPrefix(text, "-"):
			plain.words, plain.plain = append(plain.words, p.words[i]), append(plain.plain, text)
		case p.stem && i == len(p.plain)-1, strings.Contains(p.words[i], "*"), strings.Contains(text, "="):
			return false
		case isLong && long != "":
			if !hasLong(args[1:], long, loose) {
				return false
			}
		case bundled().MatchString(text):
			for _, letter := range text[1:] {
				if !hasLetter(args[1:], letter, loose) {
					return false
				}
			}
		default:
			return false
		}
	}
	if len(plain.words) == len(p.words) {
		return false // it has no options
	}
	left := args
	if !p.rest {
		left = slices.DeleteFunc(slices.Clone(args), func(a word) bool { return strings.HasPrefix(a.text, "-") })
	}
	return plain.ordered(left, loose)
}

// hasLetter reports whether a short option is among some words.
func hasLetter(args []word, letter rune, loose bool) bool {
	if slices.ContainsFunc(args, func(a word) bool {
		return loose && a.glob && !strings.HasPrefix(a.text, "./") || strings.HasPrefix(a.text, "-") &&
			!strings.HasPrefix(a.text, "--") && strings.ContainsRune(a.text, letter)
	}) {
		return true
	}
	names := longNames[letter]
	for _, n := range names {
		if !hasLong(args, n, loose) {
			return false
		}
	}
	return len(names) > 0
}

// hasLong reports whether a long option is among some words, as a whole, abbreviated, or as its letter.
func hasLong(args []word, name string, loose bool) bool {
	return slices.ContainsFunc(args, func(a word) bool {
		if loose && a.glob && !strings.HasPrefix(a.text, "./") {
			return true
		}
		if long, ok := strings.CutPrefix(a.text, "--"); ok {
			long, _, _ = strings.Cut(long, "=")
			return long != "" && strings.HasPrefix(name, long)
		}
		letters, ok := strings.CutPrefix(a.text, "-")
		return ok && slices.ContainsFunc([]rune(letters),
			func(r rune) bool { return slices.Contains(longNames[r], name) })
	})
}
