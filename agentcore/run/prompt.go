package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/prompt"
)

// factsOf are what the run is told of itself.
func factsOf(r *Run) *prompt.Facts {
	c := r.request.Context
	f := &prompt.Facts{
		Definition: r.definition, Config: r.config, Skills: r.skills, Tools: r.tools, View: r.session.View,
		Limits: r.limits, Created: r.created, Role: r.role(), Path: r.pathOfAgents(), Depth: r.depth, Task: r.task,
		Prompt: r.request.words(), Expanded: r.expanded, Inherited: r.inherited.text,
		Paths: c.Paths, StartLine: c.StartLine, EndLine: c.EndLine, Finding: c.Finding,
		Changes: c.Changes, Attachments: append(slices.Clip(r.request.Attachments), r.outputs...),
		Instructions: r.instructed.first,
	}
	if r.request.Comment != nil {
		f.Comment = r.request.Comment.StartLine
	}
	if p := r.parent; p != nil {
		f.Parent = &prompt.Parent{Agent: p.definition.Slug, Role: p.role(), Path: p.pathOfAgents()}
	}
	if r.tools.Offers("bash") {
		var b strings.Builder
		writeCommands(&b, r)
		f.Commands = b.String()
	}
	return f
}

// PromptOf is the system prompt of a run that is not launched.
func PromptOf(r *Run) string {
	defer r.budget.close()
	r.created = time.Now()
	system, _ := factsOf(r).System()
	return r.redactor.Text(system)
}

// tellSkills tells the user which of the skills that the definition names cannot be had.
func (r *spec) tellSkills(missing []error) {
	for _, err := range missing {
		r.notice(event.NoticeWarning, fmt.Sprintf("the agent %s wants a skill: %v", r.definition.Slug, err),
			"run it without, or mend `skills` in its definition")
	}
}
