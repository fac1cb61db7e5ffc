package agent

import (
	"fmt"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
)

// maxUnseenProblems bounds the warnings of one text.
const maxUnseenProblems = 50

// UnseenProblems warns of characters in a text that a model gets but a reader does not see ([permission.Unseen]), in
// order, with fixes that remove them. path is only used in the problems.
func UnseenProblems(path, content string) []Problem {
	t := newText(content)
	var list []Problem
	for start, end := range permission.Unseen(content) {
		if len(list) == maxUnseenProblems {
			break
		}
		span := t.span(start, end)
		what, them := "characters", "them"
		if utf8.RuneCountInString(content[start:end]) == 1 {
			what, them = "character", "it"
		}
		r, _ := utf8.DecodeRuneInString(content[start:])
		list = append(list, Problem{
			File: path, Span: span, Severity: event.SeverityWarning,
			Message: fmt.Sprintf("%d %s that cannot be seen (%U)", utf8.RuneCountInString(content[start:end]), what, r),
			Hint:    "take " + them + " out: a model would read what you do not",
			Fix:     &Fix{Title: "Take out what cannot be seen", Span: span},
		})
	}
	return list
}

// unseen warns of invisible characters in the text. If the text has none, it warns of those that prompts and
// descriptions have by escapes or from another file.
func (v *validator) unseen() {
	found := UnseenProblems(v.Path, v.text.string)
	v.Problems = append(v.Problems, found...)
	if len(found) > 0 {
		return
	}
	for _, d := range v.Definitions {
		at := v.prompts[d]
		for key, text := range map[string]string{"prompt": d.Prompt, "description": d.Description} {
			for start := range permission.Unseen(text) {
				r, _ := utf8.DecodeRuneInString(text[start:])
				f := fault{
					severity: warning, key: key,
					message: fmt.Sprintf("the %s holds characters that cannot be seen, such as %U", key, r),
					hint:    "take them out: a model would read what you do not",
				}
				if key == "prompt" {
					f.start, f.end = at.start, at.end
				}
				v.reportOf(d, f)
				break
			}
		}
	}
}

// readable removes invisible characters from a definition's texts.
func (d *Definition) readable() {
	for _, text := range []*string{&d.Title, &d.Description, &d.Reminder, &d.Prompt} {
		*text = permission.Seen(*text)
	}
	for name, value := range d.Variables {
		d.Variables[name] = permission.Seen(value)
	}
}
