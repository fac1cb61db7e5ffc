package config

import (
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// place is a position in a text: 1-based line and column, the column in bytes. The zero place is none.
type place struct{ line, column int }

// maxNesting bounds brackets in brackets and the parts of a dotted key. The TOML package takes time and memory by the
// square of them, so a deeper text must not reach it.
const maxNesting = 32

// scanner finds the places of keys and list elements in TOML text (TOML v1.0.0), which the TOML package does not
// tell. It checks nothing but nesting; where the text is not valid it stops, and the TOML package says what is wrong.
type scanner struct {
	text      string
	pos       int // byte offset
	line      int // 1-based
	lineStart int // byte offset of the line

	places map[string]place // by path
	tables map[string]int   // number of tables in each [[array]], by path
	deep   place            // the first place that is nested too deeply
}

// childPath is the path of a key below a path; elementPath that of a list's element.
func childPath(path, key string) string { return path + "\x00" + key }

func elementPath(path string, i int) string { return path + "\x01" + strconv.Itoa(i) }

// scan returns the places of all keys and elements, the byte offset up to which it understood the text (its length,
// where the text is valid), and the place of the first thing nested too deeply.
func scan(text string) (places map[string]place, end int, deep place) {
	body := strings.TrimPrefix(text, "\uFEFF")
	s := &scanner{text: body, line: 1, places: map[string]place{}, tables: map[string]int{}}
	s.document()
	return s.places, s.pos + len(text) - len(body), s.deep
}

// document reads the whole text and says whether it could.
func (s *scanner) document() bool {
	table := ""
	for {
		s.blank()
		if s.pos >= len(s.text) {
			return true
		}
		if s.take("[[") {
			path, ok := s.header(true)
			if !ok || !s.take("]]") {
				return false
			}
			table = path
		} else if s.take("[") {
			path, ok := s.header(false)
			if !ok || !s.take("]") {
				return false
			}
			table = path
		} else if !s.pair(table, 0) {
			return false
		}
		// Only a comment may follow, or the second half of a date and time.
		if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
			s.pos += i
		} else {
			s.pos = len(s.text)
		}
	}
}

// header reads the key of a [table] or [[table]] and returns the path of the table that it opens.
func (s *scanner) header(array bool) (string, bool) {
	keys, at, ok := s.key()
	if !ok {
		return "", false
	}
	path := ""
	for i, k := range keys {
		path = childPath(path, k)
		s.mark(path, at)
		n := s.tables[path]
		if array && i == len(keys)-1 {
			s.tables[path]++
			path = elementPath(path, n)
			s.mark(path, at)
		} else if n > 0 {
			path = elementPath(path, n-1)
		}
	}
	return path, true
}

// pair reads key = value below a table.
func (s *scanner) pair(table string, depth int) bool {
	keys, at, ok := s.key()
	if !ok || !s.take("=") {
		return false
	}
	path := table
	for _, k := range keys {
		path = childPath(path, k)
		s.mark(path, at)
	}
	s.space()
	return s.value(path, depth)
}

// key reads a dotted key with the space around it.
func (s *scanner) key() (keys []string, at place, ok bool) {
	s.space()
	at = s.here()
	for {
		s.space()
		start := s.pos
		switch {
		case s.pos >= len(s.text):
			return nil, at, false
		case s.text[s.pos] == '"' || s.text[s.pos] == '\'':
			if !s.quoted() {
				return nil, at, false
			}
			keys = append(keys, unquote(s.text[start:s.pos]))
		default:
			for s.pos < len(s.text) && !strings.ContainsRune(" \t\r\n.=[]{}\"'#,", rune(s.text[s.pos])) {
				s.pos++
			}
			if s.pos == start {
				return nil, at, false
			}
			keys = append(keys, s.text[start:s.pos])
		}
		if len(keys) > maxNesting {
			s.tooDeep(at)
			return nil, at, false
		}
		s.space()
		if !s.take(".") {
			return keys, at, true
		}
	}
}

// value reads one value, whose own place is marked already.
func (s *scanner) value(path string, depth int) bool {
	if depth > maxNesting {
		s.tooDeep(s.here())
		return false
	}
	switch {
	case s.pos >= len(s.text):
		return false
	case s.text[s.pos] == '"' || s.text[s.pos] == '\'':
		return s.quoted()
	case s.take("["):
		for i := 0; ; i++ {
			s.blank()
			if s.take("]") {
				return true
			}
			element := elementPath(path, i)
			s.mark(element, s.here())
			if !s.value(element, depth+1) {
				return false
			}
			s.rest()
			if !s.take(",") {
				return s.take("]")
			}
		}
	case s.take("{"):
		for {
			s.blank()
			if s.take("}") {
				return true
			}
			if !s.pair(path, depth+1) {
				return false
			}
			s.rest()
			if !s.take(",") {
				return s.take("}")
			}
		}
	}
	start := s.pos
	for s.pos < len(s.text) && !strings.ContainsRune(" \t\r\n,]}#", rune(s.text[s.pos])) {
		s.pos++
	}
	return s.pos > start
}

// rest skips what may stand between an element and the next comma or bracket: blanks, and the time of a date.
func (s *scanner) rest() {
	for {
		s.blank()
		if s.pos >= len(s.text) || strings.IndexByte("0123456789", s.text[s.pos]) < 0 {
			return
		}
		for s.pos < len(s.text) && !strings.ContainsRune(" \t\r\n,]}#", rune(s.text[s.pos])) {
			s.pos++
		}
	}
}

// quoted skips a string of any of the four kinds.
func (s *scanner) quoted() bool {
	quote := s.text[s.pos]
	long := strings.Repeat(string(quote), 3)
	multi := strings.HasPrefix(s.text[s.pos:], long)
	if multi {
		s.pos += 3
	} else {
		s.pos++
	}
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '\\' && quote == '"':
			s.pos++
			if s.pos < len(s.text) && s.text[s.pos] == '\n' {
				continue
			}
			s.pos++
		case c == '\n':
			if !multi {
				return false
			}
			s.newline()
		case multi && strings.HasPrefix(s.text[s.pos:], long):
			s.pos += 3
			for range 2 { // up to two quotes may stand before the closing three
				if s.pos < len(s.text) && s.text[s.pos] == quote {
					s.pos++
				}
			}
			return true
		case !multi && c == quote:
			s.pos++
			return true
		default:
			s.pos++
		}
	}
	return false
}

// unquote returns the text of a quoted key.
func unquote(raw string) string {
	inner := raw[1 : len(raw)-1]
	if raw[0] == '\'' || !strings.Contains(inner, `\`) {
		return inner
	}
	var v struct{ K string }
	if _, err := toml.Decode("K = "+raw, &v); err != nil {
		return inner // not valid: the parse of the whole text says so
	}
	return v.K
}

// blank skips spaces, newlines and comments; space skips spaces alone.
func (s *scanner) blank() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '\n':
			s.newline()
		case ' ', '\t', '\r':
			s.pos++
		case '#':
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.pos++
			}
		default:
			return
		}
	}
}

func (s *scanner) space() {
	for s.pos < len(s.text) && (s.text[s.pos] == ' ' || s.text[s.pos] == '\t') {
		s.pos++
	}
}

func (s *scanner) newline() {
	s.pos++
	s.line++
	s.lineStart = s.pos
}

func (s *scanner) take(token string) bool {
	if !strings.HasPrefix(s.text[min(s.pos, len(s.text)):], token) {
		return false
	}
	s.pos += len(token)
	return true
}

func (s *scanner) here() place {
	return place{line: s.line, column: s.pos - s.lineStart + 1}
}

// mark notes the first place of a path.
func (s *scanner) mark(path string, at place) {
	if _, ok := s.places[path]; !ok {
		s.places[path] = at
	}
}

func (s *scanner) tooDeep(at place) {
	if s.deep == (place{}) {
		s.deep = at
	}
}
