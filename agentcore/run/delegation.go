package run

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/toolset"
)

// newTools fixes whom the run may delegate to and which tools it has, so that its requests keep their prefix.
func newTools(r *Run) *toolset.Set {
	o := toolset.Options{
		Builtin: r.process.Tools, Order: r.process.ToolOrder, Agents: r.process.Agents(), Definition: r.definition,
		Config: r.config, Skills: r.skills, Rights: r.gate.rights, Trusted: r.session.Trusted, Depth: r.depth,
		Granted: r.request.granted, Background: r.background(), Reports: r.reports(), OnlyTurn: r.onlyTurn(),
		Pass: r.request.pass > 0, Bound: r.former.binds(),
	}
	if r.parent != nil {
		o.Parent = r.parent.tools
	}
	if r.former != nil {
		o.Former = r.former.Powers.Tools
	}
	return toolset.New(o)
}

// delegation is what the run's model is told of the agents that it may start. It is made at the first call and does not
// change after that.
func (r *Run) delegation() string {
	r.described.Do(func() {
		record, err := r.session.Delegation(r.ctx, r.tools.Subagents())
		if err != nil && r.ctx.Err() == nil {
			r.notice(event.NoticeWarning, "what is known of former delegations could not be read: "+err.Error(),
				"see `agentls doctor`")
			record = ""
		}
		r.description = r.tools.DescribeSubagents(record)
	})
	return r.description
}

// tellWithheld tells the user which tools the run does without, why, and what to do about it. The run's children do
// without them for the same reasons.
func (r *spec) tellWithheld() {
	var ruled []string
	for _, kept := range r.tools.Withheld() {
		if kept.Why == toolset.UntrustedCommands {
			r.notice(event.NoticeInfo,
				fmt.Sprintf("%s is not offered %s: %s", r.definition.Slug, kept.Name, kept.Why),
				"trust the folder, by `agentls trust` or in the editor; the next run has it then")
			continue
		}
		ruled = append(ruled, kept.Name)
	}
	if len(ruled) > 0 {
		r.notice(event.NoticeInfo,
			fmt.Sprintf("%s is not offered %s: %s", r.definition.Slug, strings.Join(ruled, ", "),
				toolset.DeniedByRules),
			"`agentls permissions explain` tells which")
	}
}
