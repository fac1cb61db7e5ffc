package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limits of the search for similar lines, so that a miss in a huge file stays cheap.
const (
	similarLines     = 50_000
	similarLineBytes = 400
	// similarEnough is the least share of common bigrams (Dice's coefficient) worth showing.
	similarEnough = 0.5
	similarShown  = 12
)

// notFound is the error for the model that shows the text most similar to old.
func (p *place) notFound() error {
	if p.text == "" {
		return &MatchError{Kind: NotFound, text: p.called() + " does not occur in the file; the file is empty, so " +
			p.called() + " must be empty too"}
	}
	e := &MatchError{Kind: NotFound, text: p.called() + " does not occur in the file" + p.nearest()}
	if start, ok := p.similar(); ok {
		e.Lines = []int{start + 1}
	}
	return e
}

// called is the model's name for old.
func (p *place) called() string { return cmp.Or(p.name, "old_string") }

// nearest is the end of a sentence that says that old was not found. It shows the most similar text and says what to
// do.
func (p *place) nearest() string {
	if twice := p.escapedTwice(); twice != "" {
		return twice
	}
	var out strings.Builder
	if !slices.ContainsFunc(p.old, func(s string) bool { return !blank(s) && !numberedLine().MatchString(s) }) &&
		!allBlank(p.old) {
		out.WriteString("; it seems to hold the line numbers that read shows: leave them out")
	}
	start, ok := p.similar()
	if !ok {
		out.WriteString(", nor anything similar; read the file again")
		return out.String()
	}
	end := min(start+min(len(p.old), similarShown), len(p.lines))
	out.WriteString(". The nearest lines are:\n")
	out.WriteString(p.excerpt(start, end))
	out.WriteString(p.difference(start))
	out.WriteString("Copy the text exactly as read shows it")
	return out.String()
}

// difference describes the first line of old that differs from the text, which is compared from a line on.
func (p *place) difference(start int) string {
	for k, wanted := range p.old {
		switch i := start + k; {
		case i >= len(p.lines):
			return fmt.Sprintf("The file ends there, but %s goes on with %q. ", p.called(), clip(wanted, 120))
		case p.content(i) != wanted:
			return fmt.Sprintf("Line %d is %q there and %q in %s. ", i+1, clip(p.content(i), 120),
				clip(wanted, 120), p.called())
		}
	}
	return "Only the line endings differ. "
}

// excerpt writes the lines [start, end), 0-based, as read shows them.
func (p *place) excerpt(start, end int) string {
	var out strings.Builder
	for i := max(start, 0); i < min(end, len(p.lines)); i++ {
		fmt.Fprintf(&out, "%d\t%s\n", i+1, clip(p.content(i), lineLimit))
	}
	return out.String()
}

// similar finds the 0-based line where a text similar to old seems to begin. It looks for the line that is most similar
// to the longest line of old. If there are several, it takes the one with the most equal lines around it.
func (p *place) similar() (int, bool) {
	longest := 0
	for k, s := range p.old {
		if len(strings.TrimSpace(s)) > len(strings.TrimSpace(p.old[longest])) {
			longest = k
		}
	}
	wanted := newBigrams(p.old[longest])
	best, at, around := similarEnough, -1, 0
	for i := range min(len(p.lines), similarLines) {
		score := wanted.dice(p.content(i))
		if score < best || score == similarEnough {
			continue
		}
		if same := p.alike(i - longest); score > best || same > around {
			best, at, around = score, i, same
		}
	}
	return max(at-longest, 0), at >= 0
}

// alike counts how many lines of old the text has at the same places, from a line on.
func (p *place) alike(start int) int {
	n := 0
	for k, wanted := range p.old[:min(len(p.old), similarShown)] {
		if i := start + k; i >= 0 && i < len(p.lines) && p.content(i) == wanted {
			n++
		}
	}
	return n
}

// bigrams counts the pairs of neighbouring bytes of a line without its indentation.
type bigrams struct {
	counts [1 << 16]uint16
	total  int
	// taken is memory that dice reuses.
	taken []int
}

func newBigrams(text string) *bigrams {
	b := &bigrams{}
	text = compared(text)
	for i := 1; i < len(text); i++ {
		b.counts[pair(text, i)]++
		b.total++
	}
	return b
}

// compared is the part of a line that is compared.
func compared(text string) string {
	text = strings.TrimSpace(text)
	return text[:min(len(text), similarLineBytes)]
}

func pair(text string, i int) int { return int(text[i-1])<<8 | int(text[i]) }

// dice returns 2|A∩B| / (|A|+|B|) for the bigrams of two lines.
func (b *bigrams) dice(text string) float64 {
	text = compared(text)
	if len(text) < 2 || b.total == 0 {
		return 0
	}
	b.taken = b.taken[:0]
	for i := 1; i < len(text); i++ {
		if p := pair(text, i); b.counts[p] > 0 {
			b.counts[p]--
			b.taken = append(b.taken, p)
		}
	}
	for _, p := range b.taken {
		b.counts[p]++
	}
	return 2 * float64(len(b.taken)) / float64(b.total+len(text)-1)
}
