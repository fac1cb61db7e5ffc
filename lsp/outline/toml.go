package outline

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// TOML outlines a text in TOML v1.0.0.
func TOML(text string) *Outline {
	o := &Outline{Text: text, BodyStart: -1}
	t := toml{Outline: o, arrays: map[string]bool{}}
	pos := len(text) - len(strings.TrimPrefix(text, "\uFEFF"))
	for pos < len(text) {
		pos = t.line(pos)
	}
	if text == "" || strings.HasSuffix(text, "\n") {
		o.region(Key, len(text), len(text), t.path, t.number)
	}
	t.endTable(len(text))
	return o
}

// toml reads a text from its beginning.
type toml struct {
	*Outline
	path   []string // the table to which the next key belongs
	number int
	open   int             // the index of the table's head in Nodes, plus one
	arrays map[string]bool // the paths that are lists of tables
	depth  int             // how many brackets are open around the value
}

// line reads what begins on a line, and returns the start of the next line.
func (t *toml) line(start int) int {
	end, next := t.Outline.line(start)
	content := t.trim(Span{start, end})
	switch {
	case content.Start >= content.End:
		t.region(Key, start, end, t.path, t.number)
		return next
	case t.Text[content.Start] == '#':
		return next
	case t.Text[content.Start] == '[':
		t.header(content)
		return next
	}
	pos, ok := t.pair(content.Start, end, t.path, t.number)
	if !ok {
		return next
	}
	_, next = t.Outline.line(pos)
	return next
}

// header opens a table.
func (t *toml) header(content Span) {
	t.endTable(content.Start)
	inner := Span{content.Start + 1, content.End}
	list := inner.Start < inner.End && t.Text[inner.Start] == '['
	if list {
		inner.Start++
	}
	if i := strings.IndexAny(inner.In(t.Text), "]#"); i >= 0 {
		inner.End = inner.Start + i
	}
	inner = t.trim(inner)
	keys := t.keys(inner)
	t.path, t.number = nil, t.table()
	for i, k := range keys {
		t.path = below(t.path, k)
		if name := strings.Join(t.path, "\x00"); list && i == len(keys)-1 {
			t.arrays[name+"[]"] = true
			t.path = element(t.path)
		} else if t.arrays[name+"[]"] {
			t.path = element(t.path)
		}
	}
	t.Nodes = append(t.Nodes, Node{Path: t.path, Name: inner, Value: Span{inner.End, inner.End}, Header: true})
	t.open = len(t.Nodes)
	t.region(Header, inner.Start, inner.End, t.path[:max(0, len(t.path)-1)], 0)
}

// endTable ends the open table before the offset.
func (t *toml) endTable(offset int) {
	if t.open > 0 {
		head := &t.Nodes[t.open-1]
		head.Value = t.trim(Span{head.Value.Start, offset})
		t.open = 0
	}
}

// keys splits a dotted key.
func (t *toml) keys(s Span) []string {
	var keys []string
	start := s.Start
	quote := byte(0)
	for i := s.Start; i <= s.End; i++ {
		switch {
		case i == s.End || quote == 0 && t.Text[i] == '.':
			keys = append(keys, t.unquoted(t.trim(Span{start, i})).In(t.Text))
			start = i + 1
		case quote != 0:
			if t.Text[i] == quote {
				quote = 0
			}
		case t.Text[i] == '"' || t.Text[i] == '\'':
			quote = t.Text[i]
		}
	}
	return keys
}

// pair reads key = value, where the key's line ends at end. A line without "=" is read as a key.
func (t *toml) pair(start, end int, table []string, number int) (pos int, ok bool) {
	equals := strings.IndexAny(t.Text[start:end], "=,}")
	if equals < 0 || t.Text[start+equals] != '=' {
		if equals >= 0 {
			end = start + equals
		}
		t.region(Key, start, end, table, number)
		return end, false
	}
	name := t.unquoted(t.trim(Span{start, start + equals}))
	path := below(table, t.keys(t.trim(Span{start, start + equals}))...)
	node := len(t.Nodes)
	t.Nodes = append(t.Nodes, Node{Path: path, Name: name, Table: number})
	t.region(Key, start, start+equals, path[:len(path)-1], number)
	at := len(t.regions)
	t.region(Value, start+equals+1, start+equals+1, path, 0)
	pos = t.value(start+equals+1, path)
	lineEnd, _ := t.Outline.line(pos)
	t.regions[at].End = pos
	if strings.TrimSpace(t.Text[pos:lineEnd]) == "" {
		t.regions[at].End = lineEnd
	}
	t.Nodes[node].Value = t.trim(Span{start + equals + 1, pos})
	return pos, true
}

// begins matches a line that cannot continue a list: then the list is not closed yet.
var begins = lazyregexp.New(`^[ \t]*([\w.-]+[ \t]*=|\[\[?[ \t]*[A-Za-z_][\w. -]*\][ \t\]]*\r?(\n|$))`)

// value reads a value and returns where it ends.
func (t *toml) value(pos int, path []string) int {
	for pos < len(t.Text) && strings.IndexByte(" \t", t.Text[pos]) >= 0 {
		pos++
	}
	if pos >= len(t.Text) {
		return pos
	}
	t.depth++
	defer func() { t.depth-- }()
	switch c := t.Text[pos]; {
	case c == '"', c == '\'':
		return t.quoted(pos, path)
	case c == '[' && t.depth < deepest:
		return t.list(pos+1, path)
	case c == '{' && t.depth < deepest:
		return t.inline(pos+1, path)
	}
	for pos < len(t.Text) && strings.IndexByte(" \t\r\n,]}#", t.Text[pos]) < 0 {
		pos++
	}
	return pos
}

// quoted returns the end of a string; a string of one line ends with its line even without a quote.
func (t *toml) quoted(pos int, path []string) int {
	quote := t.Text[pos]
	if long := strings.Repeat(string(quote), 3); strings.HasPrefix(t.Text[pos:], long) {
		end := len(t.Text)
		if i := strings.Index(t.Text[pos+3:], long); i >= 0 {
			end = pos + 3 + i + 3
		}
		t.region(Text, pos, end, path, 0)
		return end
	}
	for pos++; pos < len(t.Text) && t.Text[pos] != '\n'; pos++ {
		if t.Text[pos] == '\\' && quote == '"' {
			pos++
		} else if t.Text[pos] == quote {
			return pos + 1
		}
	}
	return min(pos, len(t.Text))
}

// list reads the elements of a list.
func (t *toml) list(pos int, path []string) int {
	for pos < len(t.Text) {
		switch c := t.Text[pos]; {
		case c == ']':
			return pos + 1
		case c == '\n':
			if begins().MatchString(t.Text[pos+1:]) {
				return pos
			}
			pos++
		case c == '#':
			end, _ := t.Outline.line(pos)
			t.region(Nothing, pos, end, nil, 0)
			pos = end
		case strings.IndexByte(" \t\r,}", c) >= 0:
			pos++
		default:
			inner := path
			if c == '{' {
				inner = element(path)
			}
			pos = max(pos+1, t.value(pos, inner))
		}
	}
	return pos
}

// inline reads the pairs of an inline table.
func (t *toml) inline(pos int, path []string) int {
	number := t.table()
	from := pos
	at := len(t.regions)
	t.region(Key, pos, pos, path, number)
	for pos < len(t.Text) && t.Text[pos] != '}' {
		switch c := t.Text[pos]; {
		case c == '\n' && begins().MatchString(t.Text[pos+1:]):
			t.regions[at].End = pos
			return pos
		case strings.IndexByte(" \t\r\n,", c) >= 0:
			pos++
		default:
			end, _ := t.Outline.line(pos)
			next, _ := t.pair(pos, end, path, number)
			pos = max(pos+1, next)
		}
	}
	t.regions[at].End = max(from, min(pos, len(t.Text)))
	return min(pos+1, len(t.Text))
}
