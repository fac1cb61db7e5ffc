package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
)

// text is an immutable text whose stamp and line index are computed once, when first asked for. A nil
// *text stands for "no such file". It may be used from any goroutine.
type text struct {
	s         string
	stampOnce sync.Once
	hash      Stamp
	indexOnce sync.Once
	lines     *Index
}

func newText(s string) *text { return &text{s: s} }

func (t *text) stamp() Stamp {
	if t == nil {
		return ""
	}
	t.stampOnce.Do(func() { t.hash = StampOf(t.s) })
	return t.hash
}

func (t *text) index() *Index {
	if t == nil {
		return &Index{}
	}
	t.indexOnce.Do(func() { t.lines = NewIndex(t.s) })
	return t.lines
}

func (t *text) string() string {
	if t == nil {
		return ""
	}
	return t.s
}

// same reports whether both are the same text, or both no file.
func (t *text) same(u *text) bool {
	if t == nil || u == nil {
		return t == u
	}
	return t.s == u.s
}

// StampOf returns the stamp of a text: 128 bits of its SHA-256, as 32 hexadecimal digits.
func StampOf(text string) Stamp {
	hash := sha256.New()
	part := make([]byte, min(len(text), 4<<10)) // a copy of the whole text would be garbage at once
	for len(text) > 0 {
		n := copy(part, text)
		_, _ = hash.Write(part[:n]) // a hash takes everything
		text = text[n:]
	}
	return Stamp(hex.EncodeToString(hash.Sum(nil)[:16]))
}

// Lines splits a text into lines that keep their endings: "\n", "\r\n" or "\r", as LSP 3.17 (Text
// Documents) has them. Only the last line may lack one; a text that ends with a line ending has no empty
// line behind it, and the empty text has no lines.
func Lines(text string) []string {
	x := NewIndex(text)
	lines := make([]string, x.Len())
	for i := range lines {
		lines[i] = x.Line(i)
	}
	return lines
}

// Index finds lines in a text. It is immutable. Lines are 0-based and counted as [Lines] does; offsets
// are in bytes.
type Index struct {
	text   string
	starts []int
	// feeds says that "\n" alone ends lines.
	feeds bool
}

// NewIndex scans a text once for its lines.
func NewIndex(text string) *Index {
	x := &Index{text: text, feeds: !strings.Contains(text, "\r")}
	if text == "" {
		return x
	}
	if x.feeds {
		x.starts = make([]int, 0, strings.Count(text, "\n")+1)
		for at := 0; at < len(text); {
			x.starts = append(x.starts, at)
			next := strings.IndexByte(text[at:], '\n')
			if next < 0 {
				break
			}
			at += next + 1
		}
		return x
	}
	for at := 0; at < len(text); at = nextLine(text, at) {
		x.starts = append(x.starts, at)
	}
	return x
}

// Replace returns the index of the text in which the bytes from start to end are replaced. Of a text whose lines end
// with "\n" only what is inserted is scanned.
func (x *Index) Replace(start, end int, insert string) *Index {
	text := x.text[:start] + insert + x.text[end:]
	if !x.feeds || strings.Contains(insert, "\r") {
		return NewIndex(text)
	}
	kept, moved := sort.SearchInts(x.starts, start+1), sort.SearchInts(x.starts, end+1)
	shift := len(insert) - (end - start)
	starts := make([]int, 0, kept+1+strings.Count(insert, "\n")+len(x.starts)-moved)
	starts = append(starts, x.starts[:kept]...)
	if start == len(x.text) && (start == 0 || x.text[start-1] == '\n') {
		starts = append(starts, start) // behind the last line ending there was no line
	}
	for at := range len(insert) {
		if insert[at] == '\n' {
			starts = append(starts, start+at+1)
		}
	}
	for _, at := range x.starts[moved:] {
		starts = append(starts, at+shift)
	}
	for len(starts) > 0 && starts[len(starts)-1] >= len(text) {
		starts = starts[:len(starts)-1]
	}
	return &Index{text, starts, true}
}

// Text returns the whole text.
func (x *Index) Text() string { return x.text }

// Len is the number of lines.
func (x *Index) Len() int { return len(x.starts) }

// Start is the offset where line i begins; for i at or beyond Len it is the length of the text.
func (x *Index) Start(i int) int {
	if i >= len(x.starts) {
		return len(x.text)
	}
	return x.starts[max(i, 0)]
}

// Line returns line i with its ending, "" beyond the last line.
func (x *Index) Line(i int) string { return x.Slice(i, i+1) }

// Slice returns the lines [i, j) with their endings.
func (x *Index) Slice(i, j int) string {
	from, to := x.Start(i), x.Start(j)
	if to <= from {
		return ""
	}
	return x.text[from:to]
}

// LineAt returns the line that holds the byte at offset. The end of a text that ends with a line ending
// (or is empty) counts as the line behind the last, as LSP has it.
func (x *Index) LineAt(offset int) int {
	if offset >= len(x.text) {
		if n := len(x.text); n == 0 || x.text[n-1] == '\n' || x.text[n-1] == '\r' {
			return len(x.starts)
		}
		return len(x.starts) - 1
	}
	return sort.SearchInts(x.starts, max(offset, 0)+1) - 1
}

// nextLine returns the offset of the line after the one that at lies in.
func nextLine(text string, at int) int {
	i := strings.IndexAny(text[at:], "\r\n")
	if i < 0 {
		return len(text)
	}
	at += i + 1
	if text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
		at++
	}
	return at
}

// lineStart reports whether a line begins at an offset; the end of a text counts only if the last line is
// complete.
func lineStart(text string, at int) bool {
	if at == 0 {
		return true
	}
	switch text[at-1] {
	case '\n':
		return true
	case '\r':
		return at == len(text) || text[at] != '\n'
	}
	return false
}

// countLines is len(Lines(text)) without the slice.
func countLines(text string) int {
	if text == "" {
		return 0
	}
	n := strings.Count(text, "\n")
	if strings.Contains(text, "\r") {
		n += strings.Count(text, "\r") - strings.Count(text, "\r\n")
	}
	if !lineStart(text, len(text)) {
		n++
	}
	return n
}

// Normalize returns text with the line endings that like uses most ("\n" where it has none), and leaves
// the final line's ending, or the lack of one, as it is in text.
func Normalize(text, like string) string {
	crlf := strings.Count(like, "\r\n")
	lf := strings.Count(like, "\n") - crlf
	cr := strings.Count(like, "\r") - crlf
	ending := "\n"
	switch {
	case crlf > lf && crlf >= cr:
		ending = "\r\n"
	case cr > lf && cr > crlf:
		ending = "\r"
	}
	if ending == "\n" && !strings.Contains(text, "\r") {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if ending == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", ending)
}

// LineHunk is one difference between two texts: the lines [Start, End) of the first, 0-based, stand
// where the second has [NewStart, NewEnd). Before and After are those lines with their endings.
type LineHunk struct {
	Start, End       int
	NewStart, NewEnd int
	Before, After    string
}

// Diff compares two texts line by line. The hunks are sorted, at least one equal line apart, and as late
// in the text as they can stand.
func Diff(a, b string) []LineHunk {
	return diffTexts(NewIndex(a), NewIndex(b))
}

func diffTexts(a, b *Index) []LineHunk {
	pieces := diffLines(a, b)
	hunks := make([]LineHunk, len(pieces))
	for i, p := range pieces {
		hunks[i] = LineHunk{p.a0, p.a1, p.b0, p.b1, a.Slice(p.a0, p.a1), b.Slice(p.b0, p.b1)}
	}
	return hunks
}

// uniqueStrings appends to list those of more that it lacks.
func uniqueStrings(list []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
