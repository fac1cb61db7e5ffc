package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

const (
	// guideTerms is how many words of a question count, guideParts how many parts of the documentation the answer has.
	guideTerms = 8
	guideParts = 4
	// ofSection is more than the words of a part count together.
	ofSection = 1 << 20
)

var (
	skillBlock = lazyregexp.New(`(?s)<skill name="agentls">\n(.*?)\n?</skill>`)
	guideFence = lazyregexp.New("(?ms)^```.*?^```\n?")
)

// documentation is that of agentls itself, where the agent brings it along; empty where it does not.
func documentation(system string) string {
	if block := skillBlock().FindStringSubmatch(system); block != nil {
		return block[1]
	}
	return ""
}

// title is the documentation's own heading, which is about nothing.
const title = "agentls"

// part is a paragraph of the documentation, a list or an example, with the heading above it.
type part struct {
	heading, text string
	score         int
}

// guide answers a question about agentls by the parts of its documentation that have most of the question's words, rare
// words first.
func (w *wish) guide(text string) turn {
	parts := documented(text)
	var found []string
	for _, word := range w.terms(guideTerms) {
		var in []int
		for i, p := range parts {
			if word.expression.MatchString(p.text) {
				in = append(in, i)
			}
			if p.heading != title && word.expression.MatchString(p.heading) {
				parts[i].score += ofSection // all of the section, from its beginning
				in = append(in, i)
			}
		}
		in = slices.Compact(in)
		for _, i := range in {
			parts[i].score += 1 + len(parts)/(len(in)+1)
		}
		if len(in) > 0 {
			found = append(found, word.word)
		}
	}
	var headings []string
	for _, p := range parts {
		if p.heading != "" && !slices.Contains(headings, p.heading) {
			headings = append(headings, p.heading)
		}
	}
	if len(found) == 0 {
		return turn{text: "agentls's documentation has none of these words. It is about: " + strings.Join(headings,
			", ") + ".\n\n" + noModel + "\n"}
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(parts[b].score, parts[a].score) })
	least := 1
	if parts[order[0]].score >= ofSection {
		least = ofSection
	}
	order = slices.DeleteFunc(order, func(i int) bool { return parts[i].score < least })
	order = order[:min(len(order), guideParts)]
	slices.Sort(order) // as one reads them
	var b strings.Builder
	b.WriteString("From agentls's own documentation, by the words " + strings.Join(found, ", ") + ":\n\n")
	heading := ""
	for _, i := range order {
		if p := parts[i]; p.heading != heading {
			heading = p.heading
			b.WriteString("## " + heading + "\n\n")
		}
		b.WriteString(parts[i].text + "\n\n")
	}
	b.WriteString("It is also about: " + strings.Join(slices.DeleteFunc(headings, func(h string) bool {
		return slices.ContainsFunc(order, func(i int) bool { return parts[i].heading == h })
	}), ", ") + ".\n" + noModel + "\n")
	return turn{text: b.String()}
}

// documented splits the documentation. An example stays with the paragraph in front of it.
func documented(text string) []part {
	fences := guideFence().FindAllString(text, -1)
	text = guideFence().ReplaceAllString(text, "\x00\n")
	var parts []part
	heading := ""
	for block := range strings.SplitSeq(text, "\n\n") {
		block = strings.TrimSpace(block)
		for strings.HasPrefix(block, "#") {
			line, rest, _ := strings.Cut(block, "\n")
			heading, block = strings.TrimSpace(strings.TrimLeft(line, "#")), strings.TrimSpace(rest)
		}
		if block == "" {
			continue
		}
		example := block == "\x00"
		for strings.Contains(block, "\x00") && len(fences) > 0 {
			block = strings.Replace(block, "\x00", strings.TrimRight(fences[0], "\n"), 1)
			fences = fences[1:]
		}
		if last := len(parts) - 1; example && last >= 0 && parts[last].heading == heading {
			parts[last].text += "\n\n" + block
			continue
		}
		parts = append(parts, part{heading: heading, text: block})
	}
	return parts
}
