package run

import (
	"slices"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// Former is what a run takes over that goes on where another one ended.
type Former struct {
	Run      event.RunID
	Agent    string
	Model    string
	Chain    event.RunID
	Roots    []string // of its session
	Messages []model.Message
	Last     event.MessageID // of these, as stored
	// Session is the one that it ran in.
	Session event.SessionID
	// Above are the runs that started the former run, the root first: it never gets more power than it had as their
	// child.
	Above []Ancestor
	// Powers are what it was allowed itself.
	Powers authority.Powers
	// Unread are the messages that it was told and has not read, and what came of its children in the background that
	// it has not heard of.
	Unread []string
	// Runs are itself and those that it went on with, itself first.
	Runs []event.RunID
	// Tasks are those that these have started, oldest first. All have ended.
	Tasks []tool.TaskState
}

// Ancestor is a run above a former one.
type Ancestor struct {
	Run        event.RunID
	Definition *agent.Definition
	Powers     authority.Powers
}

// binds reports whether the former run was a child, or went on with one.
func (f *Former) binds() bool { return f != nil && (len(f.Above) > 0 || len(f.Powers.Bound) > 0) }

func (r *Run) powers() authority.Powers {
	return authority.Powers{
		Mode: r.mode, Tools: r.tools.Names(), Planning: r.plan.readsOnly(), Bound: r.gate.rights.Bound,
		Rules: append([]permission.Layer{}, r.gate.rights.Own...), // never nil, which is what former versions stored
	}
}

// starter is the agent that started the former run, which was a child.
func (f *Former) starter() string { return f.Above[len(f.Above)-1].Definition.Slug }

// belowPlan reports whether a run above the former one was planning that is not above the new one.
func (f *Former) belowPlan(parent *Run) bool {
	return slices.ContainsFunc(f.Above,
		func(a Ancestor) bool { return a.Powers.Planning && !parent.descendsFrom(a.Run) })
}

// takeOver puts what the run inherits, and the former conversation (nil for none), in front of its own.
func (c *conversation) takeOver(inherited []model.Message, former *Former) {
	for _, m := range inherited {
		c.append(m)
	}
	if former == nil {
		return
	}
	for i, m := range former.Messages {
		if Steers(m) {
			c.memory.pinned[i] = true
		}
		c.messages = append(c.messages, withoutSecrets(m, c.out.redactor))
		c.memory.ids = append(c.memory.ids, former.Last)
	}
	c.memory.last, c.memory.pinned[0] = former.Last, true
	c.hearUnread(former.Unread)
}
