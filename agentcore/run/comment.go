package run

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// takeComment removes the comment that the run was asked for by from the file, as an edit of the run. It does nothing
// where the agent or the user has removed the comment already. It is called at the end of a run that has done its task.
func (r *Run) takeComment() {
	c := r.request.Comment
	if c == nil || r.result.Reason != "" {
		return
	}
	if err := r.gate.editable(nil, c.Path, true); err != nil {
		// removed as the fix of a finding, since an agent that only reviews may propose fixes
		r.notice(event.NoticeWarning, fmt.Sprintf("the request stays in %s: %v", r.session.View.Shown(c.Path), err),
			"take the comment out yourself")
		return
	}
	for range board.Attempts {
		file, err := r.layer.Read(c.Path)
		if err != nil {
			return // there is no such file any more
		}
		at := nearest(file.Text, c.Text, c.StartLine)
		if at < 0 {
			return
		}
		author := workspace.Author{Run: r.id, Agent: r.definition.Slug, Reason: "the request is done"}
		if _, err := r.layer.Write(c.Path, file.Text[:at]+file.Text[at+len(c.Text):], file.Stamp, author); err == nil {
			return
		}
	}
	r.notice(event.NoticeWarning,
		"the request stays in "+r.session.View.Shown(c.Path)+", whose text changes all the time",
		"take the comment out yourself")
}

// nearest returns the offset of that occurrence of a part which is nearest to a line (1-based), or -1 where there is
// none.
func nearest(text, part string, line int) int {
	best, distance := -1, 0
	for at, number := 0, 1; part != ""; {
		next := strings.Index(text[at:], part)
		if next < 0 {
			break
		}
		number += strings.Count(text[at:at+next], "\n")
		at += next
		if d := max(number-line, line-number); best < 0 || d < distance {
			best, distance = at, d
		}
		number += strings.Count(text[at:at+1], "\n")
		at++
	}
	return best
}
