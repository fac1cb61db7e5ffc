// Package outline guesses what lines of code define, by their looks, in the languages that most code is written in. It
// knows no scopes and no comments; who needs to know asks a language server.
package outline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// Definers is how the definition of a name begins in the languages that are known, in RE2 syntax.
const Definers = `(?:export\s+|default\s+|pub(?:lic|\([a-z]+\))?\s+|private\s+|protected\s+|static\s+|async\s+|abstract\s+|final\s+)*` +
	`(?:func(?:\s*\([^)]*\))?|def|class|type|interface|struct|enum|function\*?|const|var|let|trait|impl|module|package|fn)`

var (
	definition = lazyregexp.New(`^\s*` + Definers + `\s+([\w$]+)`)
	localName  = lazyregexp.New(`^(?:\s+(?:const|var|let)\s|\s*(?:package|module)\s)`)
	topName    = lazyregexp.New(`^(?:\t|  )?([A-Za-z_]\w*)\s*(?:=|:=|\(\)\s*\{|[A-Z*\[]\w*)`)
	methodHead = lazyregexp.New(`^\s*(?:[\w<>\[\],.*&:]+\s+){0,4}([\w$]+)\s*\([^;=]*\)\s*(?:throws\s[\w., ]+)?\{\s*$`)
	word       = lazyregexp.New(
		`\b(func|def|class|type|interface|struct|enum|function|const|var|let|trait|impl|module|package|fn)\b`)
	ruling = strings.Fields("if for while switch catch return else elif with match select function")
)

// Definition is the expression that a line which defines a name with one of the usual words fits; its only group is the
// name.
func Definition() *regexp.Regexp { return definition() }

// Defines returns the name that a line defines, and whether it is a minor one: a local variable, a package or a guess;
// empty if it defines none.
func Defines(line string) (name string, minor bool) {
	if match := definition().FindStringSubmatch(line); match != nil {
		return match[1], localName().MatchString(line)
	}
	if match := methodHead().FindStringSubmatch(line); match != nil && !slices.Contains(ruling, match[1]) {
		return match[1], strings.Contains(line, ":=") || strings.Contains(line, "return ")
	}
	if match := topName().FindStringSubmatch(line); match != nil {
		return match[1], true // it may be an assignment as well
	}
	return "", false
}

// Symbol is a name that a text seems to define. Lines and columns count from 0, columns in bytes.
type Symbol struct {
	Name, Kind   string
	Line, Column int
}

// Symbols returns what a text seems to define, in order, but for the minor ones.
func Symbols(text string) []Symbol {
	var list []Symbol
	number := 0
	for line := range strings.Lines(text) {
		if name, minor := Defines(strings.TrimRight(line, "\r\n")); name != "" && !minor {
			list = append(list, Symbol{name, KindOf(line), number, max(indexOfWord(line, name), 0)})
		}
		number++
	}
	return list
}

// KindOf is what a line that defines a name seems to define, in the words of LSP's SymbolKind.
func KindOf(line string) string {
	switch match := word().FindString(line); match {
	case "def", "func", "function", "fn":
		return "function"
	case "const":
		return "constant"
	case "var", "let":
		return "variable"
	case "trait":
		return "interface"
	case "impl", "type":
		return "class"
	case "":
		return "method"
	default:
		return match
	}
}

// indexOfWord is where a word stands in a line, by itself; -1 where it does not.
func indexOfWord(line, name string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		if end := i + len(name); (i == 0 || !isWord(line[i-1])) && (end == len(line) || !isWord(line[end])) {
			return i
		}
		from = i + 1
	}
}

func isWord(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// Words yields where a word stands in a text by itself, each as line and column.
func Words(text, name string) func(yield func(line, column int) bool) {
	return func(yield func(int, int) bool) {
		number := 0
		for line := range strings.Lines(text) {
			for from := 0; name != ""; {
				i := indexOfWord(line[from:], name)
				// What stands before the rest of the line belongs to it.
				if i < 0 {
					break
				}
				if at := from + i; at == 0 || !isWord(line[at-1]) {
					if !yield(number, at) {
						return
					}
				}
				from += i + len(name)
			}
			number++
		}
	}
}
