package agent

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// maxText bounds a text of definitions in bytes; maxNodes and maxNested bound what is made from it, so that no text
// costs much to read.
const (
	maxText   = 1 << 20
	maxNodes  = 20_000
	maxNested = 32
)

type severity = event.Severity

// text is a text with the offsets of its lines.
type text struct {
	string
	starts []int
}

// withoutMark replaces a byte order mark at the beginning by blanks. All offsets stay the same.
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

// kind is the type of a node.
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
	// literal says that value stands in the text as it is, at start, so that places in it are known.
	literal bool
	// quoted says that a scalar is a string, even if it looks like a number.
	quoted bool
	// cut says that the text is broken inside of the value, so that what follows is unknown.
	cut   bool
	items []*node
	pairs []pair
}

// pair is a key of a table with its value.
type pair struct {
	key        string
	start, end int // the place of the key
	value      *node
}

// name is the key as a scalar with its place.
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

// like returns the value of a key in any case of letters, or nil.
func (n *node) like(key string) *node { return n.spelt([]string{key}).get(key) }

// spelt returns a table in which keys are written as in keys if they differ from them only by the case of letters.
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

// fault is a problem that the reader of a format finds at a place, before the meaning of keys is known.
type fault struct {
	start, end int
	severity   event.Severity
	key        string
	message    string
	hint       string
	fix        *edit
	beside     bool // the problem is with another definition, too
	locked     bool // the model's provider lacks its key, and the definition counts in spite of that
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
