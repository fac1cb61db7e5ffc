// Package tomltree finds the keys and values of a TOML document (toml.io, version 1.0.0) with their places, which the
// TOML library does not tell. It is as strict as it must be to find them; what is wrong with a text is for the library
// to say. Texts that are still being typed are another matter: lsp/outline guesses at those.
package tomltree

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// Kind is that of a value.
type Kind int

// The kinds of values.
const (
	Scalar Kind = iota
	List
	Table
)

// Node is a value.
type Node struct {
	Kind Kind
	// Start and End are bytes of the text, quotes and brackets included. Those of a table that a header opens go from
	// the header to its last pair.
	Start, End int
	// At is where a reader looks for it: at its name in the header of a list of tables, else at Start.
	At int
	// Value is the text of a string, and what is written of any other scalar; Quoted tells that it is a string.
	Value  string
	Quoted bool
	// Items are those of a list, Pairs those of a table, in the order of the text.
	Items []*Node
	Pairs []Pair

	last map[string]int // the last pair of each key, where there are many
}

// Pair is a key of a table with its value.
type Pair struct {
	Key string
	// Start and End are bytes of the text, quotes included. At is where the dotted key begins that the key is a part
	// of.
	Start, End, At int
	Value          *Node
}

// Get returns the last pair with a key; false if there is none.
func (n *Node) Get(key string) (Pair, bool) {
	if n.last != nil {
		at, ok := n.last[key]
		if !ok {
			return Pair{}, false
		}
		return n.Pairs[at], true
	}
	for _, p := range slices.Backward(n.Pairs) {
		if p.Key == key {
			return p, true
		}
	}
	return Pair{}, false
}

func (n *Node) add(p Pair) {
	const few = 8
	n.Pairs = append(n.Pairs, p)
	if n.last == nil && len(n.Pairs) > few {
		n.last = map[string]int{}
		for i, known := range n.Pairs {
			n.last[known.Key] = i
		}
	}
	if n.last != nil {
		n.last[p.Key] = len(n.Pairs) - 1
	}
}

// Limits bound what is read. The TOML library takes time and memory by the square of the depth, so a deeper text must
// not reach it.
type Limits struct {
	// Depth is how many brackets may be in brackets, and how many parts a dotted key may have. Nodes is how many values
	// there may be; 0 is any number.
	Depth, Nodes int
}

// What is wrong with a text. At the returned offset it is too deep or has too many values, or is not valid.
var (
	ErrLimit  = errors.New("it is nested too deeply or has too many values")
	ErrSyntax = errors.New("this is not valid TOML")
)

// Parse reads a document. Where there is an error, at is the offset of what is wrong, and the tree holds what stands
// before it; else at is the length of the text.
func Parse(text string, limits Limits) (root *Node, at int, err error) {
	r := &reader{text: text, limits: limits, wrong: -1}
	if strings.HasPrefix(text, "\uFEFF") {
		r.pos = len("\uFEFF")
	}
	root = &Node{Kind: Table, End: len(text)}
	ok := r.document(root)
	switch {
	case r.wrong >= 0:
		return root, r.wrong, ErrLimit
	case !ok:
		return root, min(r.pos, len(text)), ErrSyntax
	}
	return root, len(text), nil
}

// Keys splits a dotted key, such as presets."gpt-4.1".model, of at most depth parts; false if it is none.
func Keys(dotted string, depth int) ([]string, bool) {
	r := &reader{text: dotted, limits: Limits{Depth: depth}}
	pairs, ok := r.key()
	var keys []string
	for _, p := range pairs {
		keys = append(keys, p.Key)
	}
	return keys, ok && r.pos == len(dotted)
}

// reader is at work on one text.
type reader struct {
	text   string
	pos    int
	limits Limits
	nodes  int
	wrong  int // the offset of what is over a limit, or -1
}

func (r *reader) document(root *Node) bool {
	current := root
	for {
		r.blank()
		start := r.pos
		if r.pos >= len(r.text) {
			return true
		}
		if r.take("[") {
			array := r.take("[")
			keys, ok := r.key()
			if !ok || !r.take("]") || array && !r.take("]") {
				return false
			}
			if current = r.open(root, keys, array); current == nil {
				return false
			}
		} else if !r.pair(current, 0) {
			return false
		}
		if current != root {
			if current.Start < 0 {
				current.Start = start
			}
			current.End = max(current.End, r.pos)
		}
		for r.pos < len(r.text) && r.text[r.pos] != '\n' {
			r.pos++ // a comment: the library checks
		}
	}
}

// open finds or makes the table of a header.
func (r *reader) open(root *Node, keys []Pair, array bool) *Node {
	n := root
	for i, k := range keys {
		last := i == len(keys)-1
		p, known := n.Get(k.Key)
		below := p.Value
		if !known {
			below = &Node{Kind: Table, Start: k.Start, End: k.End, At: k.At}
			if last && array {
				below.Kind = List
			} else if last {
				below.Start = -1
			}
			k.Value = below
			n.add(k)
		}
		if last && array {
			if below.Kind != List || !r.count(k.At) {
				return nil
			}
			item := &Node{Kind: Table, Start: -1, At: k.At}
			below.Items = append(below.Items, item)
			return item
		}
		if below.Kind == List && len(below.Items) > 0 {
			below = below.Items[len(below.Items)-1]
		}
		if below.Kind != Table {
			return nil
		}
		n = below
	}
	return n
}

// count reports whether there may be one more value.
func (r *reader) count(at int) bool {
	if r.nodes++; r.limits.Nodes > 0 && r.nodes > r.limits.Nodes {
		r.wrong = at
		return false
	}
	return true
}

// pair reads key = value into a table.
func (r *reader) pair(n *Node, depth int) bool {
	keys, ok := r.key()
	if !ok || !r.take("=") {
		return false
	}
	r.space()
	value, ok := r.value(depth)
	if !ok {
		return false
	}
	last := len(keys) - 1
	for _, k := range keys[:last] {
		p, known := n.Get(k.Key)
		if !known {
			p = k
			p.Value = &Node{Kind: Table, Start: k.Start, End: k.End, At: k.At}
			n.add(p)
		}
		if n = p.Value; n.Kind != Table {
			return false
		}
		n.End = max(n.End, value.End)
	}
	keys[last].Value = value
	n.add(keys[last])
	return true
}

// key reads a dotted key with the space around it, as pairs without values.
func (r *reader) key() (keys []Pair, ok bool) {
	r.space()
	at := r.pos
	for {
		r.space()
		start := r.pos
		if r.pos >= len(r.text) {
			return nil, false
		}
		var name string
		if c := r.text[r.pos]; c == '"' || c == '\'' {
			if name, ok = r.quoted(); !ok {
				return nil, false
			}
		} else if name = r.until(" \t\r\n.=[]{}\"'#,"); name == "" {
			return nil, false
		}
		keys = append(keys, Pair{Key: name, Start: start, End: r.pos, At: at})
		if len(keys) > r.limits.Depth {
			r.wrong = at
			return nil, false
		}
		r.space()
		if !r.take(".") {
			return keys, true
		}
	}
}

// date is the first half of a date and time, which a space may follow.
var date = lazyregexp.New(`^\d{4}-\d\d-\d\d$`)

func (r *reader) value(depth int) (*Node, bool) {
	if depth > r.limits.Depth {
		r.wrong = r.pos
		return nil, false
	}
	if !r.count(r.pos) || r.pos >= len(r.text) {
		return nil, false
	}
	n := &Node{Start: r.pos, At: r.pos}
	ok := true
	switch c := r.text[r.pos]; c {
	case '"', '\'':
		n.Quoted = true
		n.Value, ok = r.quoted()
	case '[':
		n.Kind = List
		ok = r.list("]", func() bool {
			item, ok := r.value(depth + 1)
			if ok {
				n.Items = append(n.Items, item)
			}
			return ok
		})
	case '{':
		n.Kind = Table
		ok = r.list("}", func() bool { return r.pair(n, depth+1) })
	default:
		const ends = " \t\r\n,]}#"
		n.Value = r.until(ends)
		if rest := r.text[r.pos:]; date().MatchString(n.Value) && len(rest) > 1 && rest[0] == ' ' && rest[1] >= '0' &&
			rest[1] <= '9' {
			r.pos++
			n.Value += " " + r.until(ends)
		}
		ok = n.Value != ""
	}
	n.End = r.pos
	return n, ok
}

// list reads what stands between brackets, with commas between, the last one too.
func (r *reader) list(end string, one func() bool) bool {
	r.pos++
	for {
		r.blank()
		if r.take(end) {
			return true
		}
		if !one() {
			return false
		}
		r.blank()
		if !r.take(",") {
			return r.take(end)
		}
	}
}

// quoted reads a string of any of the four kinds.
func (r *reader) quoted() (string, bool) {
	quote := r.text[r.pos : r.pos+1]
	long := strings.Repeat(quote, 3)
	if strings.HasPrefix(r.text[r.pos:], long) {
		start := r.pos + 3
		for i := start; i < len(r.text); i++ {
			switch {
			case quote == `"` && r.text[i] == '\\':
				i++
			case strings.HasPrefix(r.text[i:], long):
				for strings.HasPrefix(r.text[i+1:], long) {
					i++ // up to two quotes belong to the text
				}
				r.pos = i + 3
				return unescape(strings.TrimPrefix(strings.ReplaceAll(r.text[start:i], "\r\n", "\n"), "\n"),
					quote), true
			}
		}
		return "", false
	}
	start := r.pos + 1
	for i := start; i < len(r.text) && r.text[i] != '\n'; i++ {
		switch {
		case quote == `"` && r.text[i] == '\\':
			i++
		case r.text[i] == quote[0]:
			r.pos = i + 1
			return unescape(r.text[start:i], quote), true
		}
	}
	return "", false
}

// lineEnd is a backslash at the end of a line, with what it takes away.
var lineEnd = lazyregexp.New(`^\\[ \t]*\n\s*`)

// unescape replaces the escapes of a string, if it is one that has any.
func unescape(s, quote string) string {
	if quote != `"` || !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		if skip := lineEnd().FindString(s[i:]); skip != "" {
			i += len(skip)
			continue
		}
		digits := map[byte]int{'u': 4, 'U': 8, 'x': 2}[s[i+1]]
		plain := map[byte]string{
			'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`,
			'\\': `\`,
		}[s[i+1]]
		i += 2
		if digits > 0 && i+digits <= len(s) {
			if code, err := strconv.ParseUint(s[i:i+digits], 16, 32); err == nil && utf8.ValidRune(rune(code)) {
				plain = string(rune(code))
			}
			i += digits
		}
		b.WriteString(plain)
	}
	return b.String()
}

// until reads up to one of some bytes.
func (r *reader) until(ends string) string {
	start := r.pos
	for r.pos < len(r.text) && strings.IndexByte(ends, r.text[r.pos]) < 0 {
		r.pos++
	}
	return r.text[start:r.pos]
}

func (r *reader) take(s string) bool {
	if !strings.HasPrefix(r.text[r.pos:], s) {
		return false
	}
	r.pos += len(s)
	return true
}

func (r *reader) space() {
	for r.pos < len(r.text) && (r.text[r.pos] == ' ' || r.text[r.pos] == '\t') {
		r.pos++
	}
}

// blank skips space, line ends and comments.
func (r *reader) blank() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		case '#':
			for r.pos < len(r.text) && r.text[r.pos] != '\n' {
				r.pos++
			}
		default:
			return
		}
	}
}
