package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
		fixable := slices.DeleteFunc(r.findings, func(found finding) bool { return found.fix == nil || !t.isMeant(found) })
		if len(fixable) == 0 {
			text.WriteString(t.cannot(path))
			continue
		}
		slices.Reverse(fixable) // from the last line on, because each fix moves the lines behind it
		for _, found := range fixable {
			edited := call{"edit", editArguments{Path: path, fix: *found.fix}}
			if !t.wasMade(edited) && t.offers("edit") && t.turns < maxTurns {
				calls = append(calls, edited)
				continue
			}
			text.WriteString(t.outcome(path, found))
		}
	}
	if len(calls) > 0 {
		return turn{calls: calls}
	}
	return turn{text: text.String() + "\n" + noModel + "\n"}
}

// isMeant reports whether a finding is the one that the task names.
func (t *task) isMeant(found finding) bool {
	if t.finding.message == "" {
		return true
	}
	if t.finding.line > 0 && (t.finding.line < found.line || t.finding.line > found.endLine) {
		return false
	}
	return t.finding.rule == found.rule || t.finding.message == found.message
}

// cannot says why nothing is edited.
func (t *task) cannot(path string) string {
	if t.finding.message == "" {
		return fmt.Sprintf("%s: the offline rules found nothing that they can fix safely.\n", path)
	}
	return fmt.Sprintf("%s:%d: the offline rules have no safe fix for %q. It needs a person, or a language model: set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY, or default_model in config.toml.\n",
		path, t.finding.line, t.finding.message)
}

// outcome tells what became of an edit.
func (t *task) outcome(path string, found finding) string {
	for e := range t.made("edit") {
		var arguments editArguments
		if json.Unmarshal(e.arguments, &arguments) == nil && arguments.Path == path && arguments.fix == *found.fix {
			if e.failed {
				return fmt.Sprintf("%s:%d: not fixed, %s\n", path, found.line, withoutPrefix(e.text))
			}
			return fmt.Sprintf("%s:%d: fixed: %s\n", path, found.line, found.message)
		}
	}
	return fmt.Sprintf("%s:%d: not fixed, because this agent cannot edit: %s\n", path, found.line, found.message)
}
