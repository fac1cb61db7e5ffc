package surface

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/short"
)

const (
	// maxTask bounds how much of a run's task a story shows, in characters.
	maxTask = 300
	// maxChildren is how many children a story has; those that still run come first.
	maxChildren = 10
	// maxInstructions is how many files with instructions a story has.
	maxInstructions = 10
)

// story describes a run for a person who points at it: agent, model, task, status, turns, tokens, what it did last,
// what instructs it, and its children. The board's lock is held.
func (r *liveRun) story(markdown bool, instructions []string) string {
	shown := func(text string) string {
		text = permission.Visible(text)
		if markdown {
			text = escaped(text)
		}
		return text
	}
	title := r.path
	if markdown {
		title = "**" + title + "**"
	}
	var b strings.Builder
	fact := func(name, value string) { fmt.Fprintf(&b, "\n- %s: %s", name, value) }
	b.WriteString(title + " · " + shown(r.title) + "\n")
	state := string(r.status)
	if doing := r.doing(); doing != "" {
		state += ", " + shown(doing)
	}
	fact("Status", state)
	fact("Model", shown(r.model))
	used := fmt.Sprintf("turn %d, %d %% of its limits", r.turn, r.percent)
	if !r.begun.IsZero() {
		used += ", " + short.Elapsed(time.Since(r.begun))
	}
	if n := r.usage.InputTokens + r.usage.OutputTokens; n > 0 {
		used += ", " + short.Tokens(n) + " tokens"
	}
	fact("Used", used)
	fact("Task", shown(short.Beginning(strings.Join(strings.Fields(r.prompt), " "), maxTask)))
	if len(r.activities) > 0 {
		var did []string
		for _, a := range r.activities {
			did = append(did, shown(a))
		}
		fact("Last", strings.Join(did, "; "))
	}
	if len(instructions) > 0 {
		fact("Instructions", firstOf(instructions, shown))
	}
	if len(r.children) > 0 {
		fact("Children", fmt.Sprint(len(r.children)))
		children := slices.Clone(r.children)
		slices.SortStableFunc(children, func(a, b *liveRun) int { return rank(a) - rank(b) })
		for _, child := range children[:min(len(children), maxChildren)] {
			what := string(child.status) + ", " + shown(child.facts(true))
			if child.status.Final() {
				if what = shown(child.ended()); said(child.result) != "" {
					what += ": " + shown(said(child.result))
				}
			}
			fmt.Fprintf(&b, "\n  - %s: %s (%s)", child.agent, shown(child.title), what)
		}
		if more := len(children) - maxChildren; more > 0 {
			fmt.Fprintf(&b, "\n  - … %d more", more)
		}
	}
	return b.String()
}

// rank orders children: first those at work, then those that wait, then those that did not do their whole task, then
// the others.
func rank(r *liveRun) int {
	switch {
	case r.status == event.StatusWaiting, r.status == event.StatusPending:
		return 1
	case !r.status.Final():
		return 0
	case r.result.Outcome == event.ChildStatusCompleted:
		return 3
	}
	return 2
}

// escaped is a text of a model without the characters that have a meaning in Markdown and HTML.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>#|~&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// firstOf are the first lines of those that say what instructs a run.
func firstOf(lines []string, shown func(string) string) string {
	list := make([]string, 0, maxInstructions+1)
	for _, line := range lines[:min(len(lines), maxInstructions)] {
		list = append(list, shown(line))
	}
	if more := len(lines) - maxInstructions; more > 0 {
		list = append(list, fmt.Sprintf("… %d more", more))
	}
	return strings.Join(list, "; ")
}
