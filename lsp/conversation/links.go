package conversation

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/lsp/outline"
)

// linking matches the links to lines of files that [Linked] writes.
var linking = lazyregexp.New(`\[[^\[\]\n]*\]\(<(file:[^<>\s]+)>\)`)

// Linked is a link with a name to a URI, as answers have it.
func Linked(name, target string) string {
	return "[" + strings.NewReplacer("[", "(", "]", ")").Replace(name) + "](<" + target + ">)"
}

// Link is a link in an answer.
type Link struct {
	outline.Span
	// Target is the URI of a file, with the line as its fragment.
	Target string
}

// Links are the links of an answer to lines of files, in their order.
func (t *Text) Links(answer Turn) []Link {
	var list []Link
	body := t.text[answer.Body.Start:answer.Body.End]
	for _, at := range linking().FindAllStringSubmatchIndex(body, -1) {
		list = append(list, Link{
			outline.Span{Start: answer.Body.Start + at[0], End: answer.Body.Start + at[1]}, body[at[2]:at[3]],
		})
	}
	return list
}

// Named is the part of an answer's heading that names its run.
func (t *Text) Named(answer Turn) outline.Span {
	at := strings.LastIndex(answer.Heading.In(t.text), "<!--")
	return outline.Span{Start: answer.Heading.Start + at, End: answer.Heading.End}
}
