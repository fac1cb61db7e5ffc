package agent

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// maxText bounds a text of definitions in bytes, maxNodes and maxNested what is built from one, so that no text is
// dear to read.
const (
	maxText   = 1 << 20
	maxNodes  = 20_000
	maxNested = 32
)

type severity = event.Severity

// text is a text with the places of its lines.
type text struct {
	string
	starts []int
}

// withoutMark puts blanks in the place of a byte order mark at the beginning. All places stay.
func withoutMark(s string) string {
	const mark = "\uFEFF"
	if rest, marked := strings.CutPrefix(s, mark); marked {
		return strings.Repeat(" ", len(mark)) + rest
	}
	return s
}

func newText(s string) *text {
	t := &text{string: s, starts: make([]int, 1, 1+strings.Count(s, "\n"))}
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			return t
		}
		i += n + 1
		t.starts = append(t.starts, i)
	}
}

// span is the place between two byte offsets.
func (t *text) span(start, end int) event.Span {
	var s event.Span
	s.StartLine, s.StartColumn = t.position(start)
	s.EndLine, s.EndColumn = t.position(max(start, end))
	return s
}

func (t *text) position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(t.string))
	line, found := slices.BinarySearch(t.starts, offset)
	if !found {
		line--
	}
	return line, offset - t.starts[line]
}

// kind is what a node is.
type kind int

const (
	null kind = iota
	scalar
	list
	table
)

// node is a value of any of the formats with its place.
type node struct {
	kind kind
	// start and end are byte offsets in the text, quotes and brackets included.
	start, end int
	// value is the decoded text of a scalar.
	value string
	// literal tells that value is written as it is in the text, at start, so that places in it are known.
	literal bool
	// quoted scalars are strings, whatever they look like.
	quoted bool
	// cut tells that the text is broken inside of the value, so that what stands behind is unknown.
	cut   bool
	items []*node
	pairs []pair
}

// pair is a key of a table with its value.
type pair struct {
	key        string
	start, end int // of the key
	value      *node
}

// name is the key as a text with its place.
func (p pair) name() *node {
	return &node{kind: scalar, start: p.start, end: p.end, value: p.key, literal: p.end-p.start == len(p.key)}
}

// get returns the last value of a key, or nil.
func (n *node) get(key string) *node {
	for _, p := range slices.Backward(n.pairs) {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// like returns the value of a key whose case of letters does not count, or nil.
func (n *node) like(key string) *node { return n.spelt([]string{key}).get(key) }

// spelt returns a table in which a key that differs from one of keys only by the case of letters is written as in keys.
func (n *node) spelt(keys []string) *node {
	if n.kind != table {
		return n
	}
	same := *n
	same.pairs = slices.Clone(n.pairs)
	for i, p := range same.pairs {
		if at := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, p.key) }); at >= 0 &&
			n.get(keys[at]) == nil {
			same.pairs[i].key = keys[at]
		}
	}
	return &same
}

// fault is what a reader of a format finds wrong at a place, before anything is known of keys.
type fault struct {
	start, end int
	severity   event.Severity
	key        string
	message    string
	hint       string
	fix        *edit
	beside     bool // it is about another definition, too
	locked     bool // it is about a model without its key, which counts all the same
}

// edit is a Fix by byte offsets.
type edit struct {
	title      string
	start, end int
	new        string
}

const (
	failure     = event.SeverityError
	warning     = event.SeverityWarning
	information = event.SeverityInformation
)
