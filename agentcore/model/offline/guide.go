package offline

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// guideTerms is how many words of a question count.
const guideTerms = 8

var skillBlock = lazyregexp.New(`(?s)<skill name="agentls">\n(.*?)\n?</skill>`)

// documentation is that of agentls itself, where the agent brings it along; empty where it does not.
func documentation(system string) string {
	if block := skillBlock().FindStringSubmatch(system); block != nil {
		return block[1]
	}
	return ""
}

// guide answers a question about agentls by the section of its documentation that has most of the question's words. A
// word in the heading tells more than any number of words in the text.
func (w *wish) guide(text string) turn {
	const ofHeading = guideTerms + 1
	_, text, _ = strings.Cut(text, "# ") // the title, without what the engine writes above it
	sections := strings.Split(text, "\n## ")
	terms := w.terms(guideTerms)
	var headings []string
	best, most := 0, 0
	for i, section := range sections {
		heading, body, _ := strings.Cut(section, "\n")
		headings = append(headings, heading)
		score := 0
		for _, term := range terms {
			if i > 0 && term.expression.MatchString(heading) { // the title is about nothing
				score += ofHeading
			}
			if term.expression.MatchString(body) {
				score++
			}
		}
		if score > most {
			best, most = i, score
		}
	}
	if most == 0 {
		return turn{text: "agentls's documentation has none of these words. It is about: " +
			strings.Join(headings, ", ") + ".\n\n" + noModel + "\n"}
	}
	return turn{text: "From agentls's own documentation:\n\n## " + strings.TrimSpace(sections[best]) +
		"\n\nIt is also about: " + strings.Join(slices.Delete(headings, best, best+1), ", ") + ".\n" + noModel + "\n"}
}
