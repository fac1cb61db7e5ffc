package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lint"
)

// repair makes the safe fixes of the rules: that of the finding which the context names, or all of the file.
func (t *task) repair() turn {
	files, next := t.targets()
	if next != nil {
		return *next
	}
	if len(files) > maxFiles {
		files = files[:maxFiles]
	}
	if calls := t.reading(files, false); len(calls) > 0 && t.turns < maxTurns {
		return turn{calls: calls}
	}
	var text strings.Builder
	var calls []call
	for _, path := range files {
		r := t.judge(path)
		if !r.source.read {
			fmt.Fprintf(&text, "%s could not be read: %s\n", path, withoutPrefix(r.source.problem))
			continue
		}
		fixable := slices.DeleteFunc(r.findings,
			func(found lint.Diagnostic) bool { return found.Fix == nil || !t.isMeant(found) })
		if len(fixable) == 0 {
			text.WriteString(t.cannot(path))
			continue
		}
		slices.Reverse(fixable) // from the last line on, because each fix moves the lines behind it
		for _, found := range fixable {
			edit := call{"edit", editArguments{Path: path, Fix: *found.Fix}}
			made, ok := t.answered(edit)
			switch {
			case !ok && t.offers("edit") && t.turns < maxTurns:
				calls = append(calls, edit)
			case !ok:
				fmt.Fprintf(&text, "%s:%d: this agent cannot edit, so it stays: %s\n", path, found.Line, found.Message)
			case made.failed:
				fmt.Fprintf(&text, "%s:%d: not fixed, %s\n", path, found.Line, withoutPrefix(made.text))
			default:
				fmt.Fprintf(&text, "%s:%d: fixed: %s\n", path, found.Line, found.Message)
			}
		}
	}
	if len(calls) > 0 {
		return turn{calls: calls}
	}
	return turn{text: text.String() + "\n" + noModel + "\n"}
}

// isMeant reports whether a finding is the one that the task names.
func (w *wish) isMeant(found lint.Diagnostic) bool {
	if w.finding.message == "" {
		return true
	}
	if w.finding.line > 0 && (w.finding.line < found.Line || w.finding.line > found.EndLine) {
		return false
	}
	return w.finding.rule == found.Rule || w.finding.message == found.Message
}

// cannot says why nothing is edited.
func (w *wish) cannot(path string) string {
	if w.finding.message == "" {
		return fmt.Sprintf("%s: the offline rules found nothing that they can fix safely.\n", path)
	}
	return fmt.Sprintf(
		"%s:%d: the offline rules have no safe fix for %q. It needs a person, or a language model: set "+
			"ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY, or default_model in config.toml.\n",
		path, w.finding.line, w.finding.message)
}
