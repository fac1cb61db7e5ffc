package agent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/spelling"
)

// expect reports a value of the wrong type.
func (p *reader) expect(n *node, key, want string) {
	got := map[kind]string{null: "nothing", list: "a list", table: "a table"}[n.kind]
	if n.kind == scalar {
		got = strconv.Quote(short(n.value))
	}
	p.wrong(n, failure, key, fmt.Sprintf("%s is %s", key, got), "write "+want)
}

// short shortens a text for a message.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// string reads a scalar. An empty value counts as absent.
func (p *reader) string(key string, n *node) (string, bool) {
	switch n.kind {
	case scalar:
		return n.value, true
	case null:
		p.wrong(n, warning, key, key+" has no value", "write one, or leave the key out")
		return "", false
	}
	p.expect(n, key, "a text")
	return "", false
}

// text1 returns a function that sets a text.
func text1(field func(*Definition) *string) func(*reader, *node) {
	return func(p *reader, n *node) {
		if s, ok := p.string(p.keyOf(n), n); ok {
			*field(p.def) = strings.TrimSpace(s)
		}
	}
}

// keyOf is the key of a value at the top level.
func (p *reader) keyOf(n *node) string {
	for _, pair := range p.root.pairs {
		if pair.value == n {
			return pair.key
		}
	}
	return ""
}

// choice returns a function that sets one of the key's permitted values.
func choice(name string, field func(*Definition) *string) func(*reader, *node) {
	return func(p *reader, n *node) {
		if s, ok := p.one(name, n); ok {
			*field(p.def) = s
		}
	}
}

// one reads one of the permitted values of a native key. Other tools write these as variants of a type, such as
// AcceptEdits.
func (p *reader) one(name string, n *node) (string, bool) {
	s, ok := p.string(name, n)
	if !ok {
		return "", false
	}
	values := keyIndex()[name].Values
	s = strings.TrimSpace(s)
	if slices.Contains(values, s) {
		return s, true
	}
	if p.file.loose(p.def) {
		same := func(v string) bool { return foldKey(v) == foldKey(s) }
		if i := slices.IndexFunc(values, same); i >= 0 {
			return values[i], true
		}
	}
	p.unknown(n, failure, name, fmt.Sprintf("%s is %q", name, short(s)), s, values)
	return "", false
}

// unknown reports a word that is not known, with the nearest known word as the fix.
func (p *reader) unknown(n *node, severity severity, key, message, word string, known []string) {
	f := fault{
		start: n.start, end: n.end, severity: severity, key: key, message: message,
		hint: "write " + alternatives(known),
	}
	if near := spelling.Nearest(word, known); near != "" {
		f.hint = "did you mean " + near + "?"
		f.fix = n.replace(word, near)
	}
	p.report(f)
}

// replace is the edit that replaces part of a scalar by another word.
func (n *node) replace(word, other string) *edit {
	e := &edit{title: fmt.Sprintf("Replace %q by %q", word, other), start: n.start, end: n.end, new: other}
	if !n.literal {
		if n.end-n.start != len(word)+2 {
			return nil // the scalar is written in a way that is not understood here
		}
		e.start, e.end = n.start+1, n.end-1
	}
	return e
}

func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// integer reads a whole number that is at least least.
func (p *reader) integer(key string, n *node, least int64) (int64, bool) {
	if n.kind == null {
		_, ok := p.string(key, n)
		return 0, ok
	}
	want := "a whole number"
	if least > math.MinInt64 {
		want = fmt.Sprintf("a whole number of %d or more", least)
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(n.value), "_", ""), 10, 64)
	if f, floatErr := strconv.ParseFloat(n.value, 64); err != nil && floatErr == nil && f == math.Trunc(f) &&
		math.Abs(f) < 1<<53 {
		i, err = int64(f), nil
	}
	if n.kind != scalar || err != nil || i < least || i > math.MaxInt32 && key != "budget.tokens" &&
		key != "as_child.budget.tokens" {
		p.expect(n, key, want)
		return 0, false
	}
	return i, true
}

func (p *reader) float(key string, n *node) (float64, bool) {
	if n.kind == null {
		_, ok := p.string(key, n)
		return 0, ok
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(n.value), 64)
	if n.kind != scalar || err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		p.expect(n, key, "a number of 0 or more")
		return 0, false
	}
	return f, true
}

func (p *reader) bool(key string, n *node) (value, ok bool) {
	if n.kind == null {
		_, ok := p.string(key, n)
		return false, ok
	}
	switch strings.ToLower(n.value) {
	case "true", "yes", "on":
		return true, n.kind == scalar
	case "false", "no", "off":
		return false, n.kind == scalar
	}
	p.expect(n, key, "true or false")
	return false, false
}

// not sets the opposite of a boolean.
func (p *reader) not(key string, n *node, to *bool) {
	if b, ok := p.bool(key, n); ok {
		*to = !b
	}
}

// duration sets a time such as "5m" (time.ParseDuration).
func (p *reader) duration(key string, n *node, to *time.Duration) {
	if n.kind == null {
		p.string(key, n)
		return
	}
	d, err := time.ParseDuration(strings.TrimSpace(n.value))
	if n.kind == scalar && err == nil && d > 0 {
		*to = d
		return
	}
	f := fault{start: n.start, end: n.end, severity: failure, key: key, hint: `write a positive duration such as "5m"`}
	f.message = key + " is no duration"
	if n.kind == scalar {
		f.message = fmt.Sprintf("%s is %q", key, short(n.value))
		if seconds, err := strconv.Atoi(n.value); err == nil && seconds > 0 {
			f.hint = fmt.Sprintf(`write the unit: "%ds" for seconds`, seconds)
			f.fix = n.replace(n.value, n.value+"s")
			if f.fix != nil && n.literal && p.file.Format != Native && !p.file.Format.Foreign() {
				f.fix.new = `"` + f.fix.new + `"`
			}
		}
	}
	p.report(f)
}

func (p *reader) maxTurns(key string, n *node, to *Limits) {
	if i, ok := p.integer(key, n, 1); ok {
		to.MaxTurns = int(i)
	}
}

// word is an element of a list with its place.
type word struct {
	text string
	node *node
}

// words reads a list of strings, or a string of them between commas. ok is false where there is none.
func (p *reader) words(key string, n *node) (words []word, ok bool) {
	switch n.kind {
	case null:
		p.string(key, n)
		return nil, false
	case scalar:
		for i, w := range splitWords(n) {
			words = append(words, w)
			if n.literal {
				at := p.file.text.span(w.node.start, w.node.end)
				start := at
				start.EndLine, start.EndColumn = at.StartLine, at.StartColumn
				p.file.Fields = append(p.file.Fields,
					Field{
						Key: fmt.Sprintf("%s.%d", key, i), KeySpan: start, ValueSpan: at, Value: w.text,
						Definition: p.index,
					})
			}
		}
		return words, true
	case list:
		for i, item := range n.items {
			if item.kind != scalar {
				p.expect(item, fmt.Sprintf("%s.%d", key, i), "a text")
				continue
			}
			if s := strings.TrimSpace(item.value); s != "" {
				words = append(words, word{s, item})
			}
		}
		return words, true
	case table:
		p.expect(n, key, "a list")
	}
	return nil, false
}

// splitWords splits at commas that are not in parentheses.
func splitWords(n *node) []word {
	var words []word
	depth, start := 0, 0
	add := func(end int) {
		part := n.value[start:end]
		s := strings.TrimSpace(part)
		if s == "" {
			return
		}
		at := *n
		if n.literal {
			at.start = n.start + start + strings.Index(part, s)
			at.end = at.start + len(s)
		}
		at.value = s
		words = append(words, word{s, &at})
	}
	for i := range len(n.value) {
		switch n.value[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',', '\n':
			if depth == 0 {
				add(i)
				start = i + 1
			}
		}
	}
	add(len(n.value))
	return words
}

// strings reads a list whose elements name things.
func (p *reader) strings(key, what string, n *node) ([]string, bool) {
	words, ok := p.words(key, n)
	if !ok {
		return nil, false
	}
	list := []string{}
	for _, w := range words {
		p.names(what, key, w.text, w.node)
		if !slices.Contains(list, w.text) {
			list = append(list, w.text)
		}
	}
	return list, true
}

// arguments reads a list of a program's arguments: each stays as it is, also where it is empty or comes again.
func (p *reader) arguments(key string, n *node) ([]string, bool) {
	if _, ok := p.words(key, n); !ok || n.kind != list {
		return nil, false
	}
	all := []string{}
	for _, item := range n.items {
		if item.kind == scalar {
			all = append(all, item.value)
		}
	}
	return all, true
}

// program reads a program and its arguments; nil where no program is named.
func (p *reader) program(key string, n *node) []string {
	list, ok := p.arguments(key, n)
	if !ok || len(list) == 0 || strings.TrimSpace(list[0]) == "" {
		return nil
	}
	return list
}
