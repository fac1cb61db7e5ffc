package agent

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// agentsHeader begins a definition in TOML.
var agentsHeader = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*agents[ \t]*\]\]`)

// parseTOML reads [[agents]] tables. Where the text is not valid, each is read alone, so that one that is broken does
// not hide the others.
func (f *File) parseTOML() {
	s := f.text.string
	root, bad := readTOML(s, 0)
	if bad == nil {
		f.tomlAgents(root)
		return
	}
	starts := agentsHeader.FindAllStringIndex(s, -1)
	if len(starts) == 0 {
		f.report(*bad)
		return
	}
	if head, bad := readTOML(s[:starts[0][0]], 0); bad != nil {
		f.report(*bad)
	} else {
		f.tomlAgents(head)
	}
	for i, at := range starts {
		end := len(s)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		one, bad := readTOML(s[at[0]:end], at[0])
		if bad == nil {
			f.tomlAgents(one)
			continue
		}
		bad.key = fmt.Sprintf("agents.%d", f.count)
		f.count++
		f.report(*bad)
	}
}

// tomlAgents reads the definitions of a document's table.
func (f *File) tomlAgents(root *node) {
	for _, pair := range root.pairs {
		switch {
		case pair.key != "agents":
			f.report(fault{start: pair.start, end: pair.end, severity: warning, key: pair.key, message: fmt.Sprintf("there is no key %q beside [[agents]]", short(pair.key)), hint: "definitions are tables [[agents]]"})
		case pair.value.kind != list:
			f.report(fault{start: pair.start, end: pair.end, severity: failure, key: "agents", message: "agents is no list of tables", hint: "begin each definition with a line of [[agents]]"})
		default:
			for _, item := range pair.value.items {
				f.definition(item, nil)
			}
		}
	}
}

// definition reads one table of TOML or JSON as a definition. The shape is nil where its own keys tell it.
func (f *File) definition(n *node, s *shape) *decoder {
	d := &Definition{}
	p := f.decoder(d, n)
	if s == nil {
		s = f.shapeOf(n)
	}
	if s != nil {
		p.shape, f.shaped[d] = s, s
	}
	if n.kind != table {
		p.expect(n, fmt.Sprintf("agents.%d", p.index), "a table of keys and values")
		return p
	}
	line := strings.IndexByte(f.text.string[n.start:], '\n')
	p.at = &node{start: n.start, end: n.end}
	if line >= 0 && n.start+line < n.end {
		p.at.end = n.start + line
	}
	f.addFields("", n, p.index)
	n = s.cased(n)
	p.root = n
	special := p.shape.keysOf()
	p.decode(special)
	if p.shape != nil {
		p.shape.complete(p)
	}
	for key, own := range special {
		if (own.native == "prompt" || own.native == "prompt_file") && n.get(key) != nil {
			f.prompts[d] = place{n.get(key).start, n.get(key).end}
		}
	}
	for _, key := range []string{"prompt_file", "prompt"} {
		if value := n.get(key); value != nil {
			f.prompts[d] = place{value.start, value.end}
		}
	}
	p.finish()
	for _, other := range f.Definitions {
		if other.Slug == d.Slug && d.Slug != "" {
			at := f.slugs[d]
			f.doubled[d] = true
			p.wrong(&node{start: at.start, end: at.end}, failure, "name", fmt.Sprintf("there is already an agent %s in this file", d.Slug), "give one of them another name")
		}
	}
	f.keep(p)
	return p
}

// tomlReader finds the keys and values of TOML (toml.io, version 1.0.0) with their places, which the TOML package does
// not tell. It is as strict as it must be to find them; the package says what is wrong.
type tomlReader struct {
	text  string
	pos   int
	base  int
	nodes int
	deep  bool
}

// readTOML reads a document. base is added to all offsets.
func readTOML(s string, base int) (*node, *fault) {
	r := &tomlReader{text: s, base: base}
	if strings.HasPrefix(s, "\uFEFF") {
		r.pos = len("\uFEFF")
	}
	root, ok := r.document()
	if r.deep {
		return nil, &fault{start: base + r.pos, end: base + r.pos, severity: failure, message: "this " + errTooLarge.Error()[3:], hint: "write it flatter"}
	}
	var values map[string]any
	if err := toml.Unmarshal([]byte(s), &values); err != nil {
		at, end, reason := 0, 0, err.Error()
		if parse, found := errors.AsType[toml.ParseError](err); found {
			at = min(max(parse.Position.Start, 0), len(s))
			end = min(at+max(parse.Position.Len, 0), len(s))
			if line := strings.IndexAny(s[at:end], "\r\n"); line >= 0 {
				end = at + line
			}
			reason = parse.Message
			if reason == "" {
				reason = strings.TrimPrefix(parse.Error(), "toml: ")
			}
		}
		return nil, &fault{start: base + at, end: base + end, severity: failure, message: "this is not valid TOML: " + reason, hint: "definitions from here to the next [[agents]] are left out"}
	}
	if !ok {
		return nil, &fault{start: base + r.pos, end: base + r.pos, severity: failure, message: "this TOML cannot be read", hint: "write it in a simpler way"}
	}
	return root, nil
}

func (r *tomlReader) document() (*node, bool) {
	root := &node{kind: table, start: r.base, end: r.base + len(r.text)}
	current := root
	for {
		r.blank()
		start := r.pos
		switch {
		case r.pos >= len(r.text):
			return root, true
		case r.take("["):
			array := r.take("[")
			keys, ok := r.key()
			if !ok || !r.take("]") || array && !r.take("]") {
				return nil, false
			}
			current = r.open(root, keys, array)
			if current == nil {
				return nil, false
			}
			if current.start < 0 {
				current.start = r.base + start
			}
			current.end = r.base + r.pos
		default:
			at := r.pos
			if !r.pair(current, 0) {
				return nil, false
			}
			if current != root {
				if current.start < 0 {
					current.start = r.base + at
				}
				current.end = max(current.end, r.base+r.pos)
			}
		}
		for r.pos < len(r.text) && r.text[r.pos] != '\n' {
			r.pos++ // a comment: the package checked
		}
	}
}

// keyPart is one part of a dotted key.
type keyPart struct {
	key        string
	start, end int // in the file
}

// open finds or makes the table of a header.
func (r *tomlReader) open(root *node, keys []keyPart, array bool) *node {
	n := root
	for i, k := range keys {
		last := i == len(keys)-1
		below := n.get(k.key)
		if below == nil {
			below = &node{kind: table, start: k.start, end: k.end}
			if last && array {
				below.kind = list
			} else if last {
				below.start = -1
			}
			n.pairs = append(n.pairs, pair{key: k.key, start: k.start, end: k.end, value: below})
		}
		if last && array {
			if below.kind != list {
				return nil
			}
			if r.nodes++; r.nodes > maxNodes {
				r.deep = true
				return nil
			}
			item := &node{kind: table, start: -1}
			below.items = append(below.items, item)
			return item
		}
		if below.kind == list && len(below.items) > 0 {
			below = below.items[len(below.items)-1]
		}
		if below.kind != table {
			return nil
		}
		n = below
	}
	return n
}

// pair reads key = value into a table.
func (r *tomlReader) pair(n *node, depth int) bool {
	keys, ok := r.key()
	if !ok || !r.take("=") {
		return false
	}
	r.space()
	value, ok := r.value(depth)
	if !ok {
		return false
	}
	for _, k := range keys[:len(keys)-1] {
		below := n.get(k.key)
		if below == nil {
			below = &node{kind: table, start: k.start, end: k.end}
			n.pairs = append(n.pairs, pair{key: k.key, start: k.start, end: k.end, value: below})
		}
		if below.kind != table {
			return false
		}
		below.end = max(below.end, value.end)
		n = below
	}
	k := keys[len(keys)-1]
	n.pairs = append(n.pairs, pair{key: k.key, start: k.start, end: k.end, value: value})
	return true
}

func (r *tomlReader) key() (keys []keyPart, ok bool) {
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
		} else {
			for r.pos < len(r.text) && !strings.ContainsRune(" \t\r\n.=[]{}\"'#,", rune(r.text[r.pos])) {
				r.pos++
			}
			if name = r.text[start:r.pos]; name == "" {
				return nil, false
			}
		}
		keys = append(keys, keyPart{name, r.base + start, r.base + r.pos})
		if len(keys) > maxNested {
			r.deep = true
			return nil, false
		}
		r.space()
		if !r.take(".") {
			return keys, true
		}
	}
}

func (r *tomlReader) value(depth int) (*node, bool) {
	if r.nodes++; depth > maxNested || r.nodes > maxNodes {
		r.deep = true
		return nil, false
	}
	n := &node{start: r.base + r.pos}
	ok := r.pos < len(r.text)
	if !ok {
		return nil, false
	}
	switch c := r.text[r.pos]; c {
	case '"', '\'':
		n.kind, n.quoted = scalar, true
		n.value, ok = r.quoted()
	case '[':
		n.kind = list
		r.pos++
		for {
			r.blank()
			if r.take("]") {
				break
			}
			item, ok := r.value(depth + 1)
			if !ok {
				return nil, false
			}
			n.items = append(n.items, item)
			r.blank()
			if r.take(",") {
				continue
			}
			if !r.take("]") {
				return nil, false
			}
			break
		}
	case '{':
		n.kind = table
		r.pos++
		for {
			r.blank()
			if r.take("}") {
				break
			}
			if !r.pair(n, depth+1) {
				return nil, false
			}
			r.blank()
			if r.take(",") {
				continue
			}
			if !r.take("}") {
				return nil, false
			}
			break
		}
	default:
		start := r.pos
		for r.pos < len(r.text) && !strings.ContainsRune(" \t\r\n,]}#", rune(r.text[r.pos])) {
			r.pos++
		}
		n.kind, n.value, n.literal = scalar, r.text[start:r.pos], true
		ok = n.value != ""
	}
	n.end = r.base + r.pos
	return n, ok
}

// quoted reads a string of any of the four kinds.
func (r *tomlReader) quoted() (string, bool) {
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
				s := strings.TrimPrefix(strings.ReplaceAll(r.text[start:i], "\r\n", "\n"), "\n")
				if quote == `"` {
					s = unescapeTOML(s)
				}
				return s, true
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
			if quote == `"` {
				return unescapeTOML(r.text[start:i]), true
			}
			return r.text[start:i], true
		}
	}
	return "", false
}

// lineEnd is a backslash at the end of a line, with what it takes away.
var lineEnd = regexp.MustCompile(`^\\[ \t]*\n\s*`)

// unescapeTOML replaces the escapes of a basic string.
func unescapeTOML(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		if skip := lineEnd.FindString(s[i:]); skip != "" {
			i += len(skip)
			continue
		}
		digits := map[byte]int{'u': 4, 'U': 8, 'x': 2}[s[i+1]]
		plain := map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`}[s[i+1]]
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

func (r *tomlReader) take(s string) bool {
	if !strings.HasPrefix(r.text[r.pos:], s) {
		return false
	}
	r.pos += len(s)
	return true
}

func (r *tomlReader) space() {
	for r.pos < len(r.text) && (r.text[r.pos] == ' ' || r.text[r.pos] == '\t') {
		r.pos++
	}
}

// blank skips space, line ends and comments.
func (r *tomlReader) blank() {
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
