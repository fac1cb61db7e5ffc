package promptfile

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// Call is a prompt that begins with "/" and a name.
type Call struct {
	// Name is the word behind the "/", and Arguments is the text behind that word, without space around it.
	Name, Arguments string
}

// called matches a word by which a prompt can be called: it has no invisible characters, and the only path that begins
// like it is a name in the root folder.
var called = lazyregexp.New(`^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_:.\-]*$`)

// CallIn finds out whether a text calls a prompt by its first word. plain says that the word cannot be anything else:
// it does not begin with a digit, as "/5" does, and has no further "/" and no ".", as paths have.
func CallIn(text string) (c Call, plain, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return Call{}, false, false
	}
	c.Name = rest
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		c.Name, c.Arguments = rest[:end], strings.TrimSpace(rest[end:])
	}
	if !called().MatchString(strings.ReplaceAll(c.Name, "/", ":")) {
		return Call{}, false, false
	}
	return c, !strings.ContainsAny(c.Name, "./") && !unicode.IsDigit(rune(c.Name[0])), true
}

// Words are the words of arguments by a shell's rules, but without expansion: quotes keep a word together, and a
// backslash keeps the space, quote or backslash behind it. A quote without an end is an ordinary character.
func Words(arguments string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	within, escaped := false, false
	for _, r := range arguments {
		switch {
		case escaped:
			if !unicode.IsSpace(r) && !strings.ContainsRune(`"'\`, r) {
				word.WriteByte('\\') // for paths of files on Windows
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, within = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, within = r, true
		case unicode.IsSpace(r):
			if within {
				words = append(words, word.String())
				word.Reset()
			}
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	if quote != 0 || escaped {
		return strings.Fields(arguments)
	}
	if within {
		words = append(words, word.String())
	}
	return words
}

// Part is a part of an expanded prompt: text or, if Command is set, a command whose output is to be inserted. Text is
// then the command as the prompt writes it, with its arguments.
type Part struct{ Text, Command string }

// command matches a command in the text of a prompt: !`git status`.
var command = lazyregexp.New("(^|[\\s(\\[:])!`([^`\n]+)`")

// Commands are the commands in a text of a prompt, as they are written.
func Commands(text string) (list []string) {
	for _, m := range command().FindAllStringSubmatch(text, -1) {
		list = append(list, m[2])
	}
	return list
}

// placeholder matches a place for arguments: $ARGUMENTS, $ARGUMENTS[0], $1, ${1}, $name, ${name}, ${input:name:hint}. A
// backslash before it makes it plain text.
var placeholder = lazyregexp.New(
	`\\?\$(?:ARGUMENTS\[(\d{1,3})\]|(ARGUMENTS)\b|(\d{1,3})|\{(ARGUMENTS)\}|\{(\d{1,3})\}|` +
		`\{input:([\w-]+)(?::[^}]*)?\}|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})`)

// input matches a place that VS Code asks the user to fill.
var input = lazyregexp.New(`\$\{input:([\w-]+)(?::[^}]*)?\}`)

// inputs are the names of the places in a text that VS Code asks the user to fill, in their order.
func inputs(text string) (names []string) {
	for _, found := range input().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names
}

// Expand puts arguments into the prompt. $ARGUMENTS stands for all of them as they were written. $1, $2 … stand for
// single words; if the text has a $0, they begin with $0. The last of these, or of named ones, gets all remaining
// words. Arguments without a place follow the text. Arguments themselves are not expanded, and in a command each of
// their words is quoted.
func (p *Prompt) Expand(arguments string) []Part {
	f := newFiller(p, arguments)
	var parts []Part
	at := 0
	for _, m := range command().FindAllStringSubmatchIndex(p.Text, -1) {
		from := m[3] // behind the character before the command
		if from > at {
			parts = append(parts, Part{Text: f.fill(p.Text[at:from], false)})
		}
		line := f.fill(p.Text[m[4]:m[5]], true)
		parts = append(parts, Part{Text: "!`" + line + "`", Command: line})
		at = m[1]
	}
	if rest := f.fill(p.Text[at:], false); rest != "" {
		parts = append(parts, Part{Text: rest})
	}
	if !f.used && arguments != "" {
		parts = append(parts, Part{Text: "\n\n" + arguments})
	}
	return parts
}

// filler puts arguments into a text.
type filler struct {
	arguments string
	words     []string
	named     map[string]string
	first     int // the number of the first word
	last      int // the highest number in the text, which gets all remaining words; -1 for none
	used      bool
}

func newFiller(p *Prompt, arguments string) *filler {
	f := &filler{arguments: arguments, words: Words(arguments), first: 1, last: -1}
	for _, m := range placeholder().FindAllStringSubmatch(p.Text, -1) {
		if n, err := strconv.Atoi(m[3] + m[5]); err == nil && !strings.HasPrefix(m[0], `\`) {
			f.last = max(f.last, n)
			if n == 0 {
				f.first = 0
			}
		}
	}
	f.named = named(p.Arguments, f.words)
	return f
}

// named gives names their words: first the words that are written as name=word, then the others in order. The last name
// without a word gets all remaining words.
func named(names, words []string) map[string]string {
	values := map[string]string{}
	var rest []string
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok && slices.Contains(names, name) {
			values[name] = value
		} else {
			rest = append(rest, w)
		}
	}
	open := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, has := values[name]; return has })
	for i, name := range open {
		switch {
		case len(rest) == 0:
			values[name] = ""
		case i == len(open)-1:
			values[name] = strings.Join(rest, " ")
		default:
			values[name], rest = rest[0], rest[1:]
		}
	}
	return values
}

// fill puts the arguments into a part of the text, in one pass. shell says that a shell will read the result.
func (f *filler) fill(text string, shell bool) string {
	var b strings.Builder
	at := 0
	for _, where := range placeholder().FindAllStringSubmatchIndex(text, -1) {
		m := make([]string, len(where)/2)
		for i := range m {
			if where[2*i] >= 0 {
				m[i] = text[where[2*i]:where[2*i+1]]
			}
		}
		words, ok := f.value(m)
		if !ok {
			continue
		}
		b.WriteString(text[at:where[0]])
		at = where[1]
		if strings.HasPrefix(m[0], `\`) {
			b.WriteString(m[0][1:])
			continue
		}
		f.used = true
		switch {
		case shell:
			b.WriteString(quoted(words, openQuote(text[:where[0]])))
		case m[2]+m[4] != "":
			b.WriteString(f.arguments)
		default:
			b.WriteString(strings.Join(words, " "))
		}
	}
	return b.String() + text[at:]
}

// openQuote is the shell's quote that is open at the end of a text, 0 for none.
func openQuote(text string) (quote rune) {
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		}
	}
	return quote
}

// value are the words for a place; ok is false if the text is no place, such as $HOME.
func (f *filler) value(m []string) (words []string, ok bool) {
	from := func(i int, all bool) []string {
		switch {
		case i < 0 || i >= len(f.words):
			return nil
		case all:
			return f.words[i:]
		}
		return f.words[i : i+1]
	}
	switch {
	case m[2]+m[4] != "":
		return f.words, true
	case m[1] != "":
		n, _ := strconv.Atoi(m[1]) // three digits at most
		return from(n, false), true
	case m[3]+m[5] != "":
		n, _ := strconv.Atoi(m[3] + m[5]) // three digits at most
		return from(n-f.first, n == f.last), true
	}
	value, ok := f.named[m[6]+m[7]+m[8]]
	if value == "" {
		return nil, ok
	}
	return []string{value}, ok
}

// safe matches a word that a shell reads as it is.
var safe = lazyregexp.New(`^[\p{L}\p{N}_./:@%+,\-]+$`)

// doubled escapes what a shell expands between double quotes.
var doubled = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")

// quoted writes words for a shell in which a quote is open, 0 for none.
func quoted(words []string, open rune) string {
	list := make([]string, len(words))
	for i, w := range words {
		switch single := strings.ReplaceAll(w, "'", `'\''`); {
		case safe().MatchString(w):
			list[i] = w
		case open == '"':
			list[i] = doubled.Replace(w)
		case open == '\'':
			list[i] = single
		default:
			list[i] = "'" + single + "'"
		}
	}
	return strings.Join(list, " ")
}
