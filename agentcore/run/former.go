package run

import (
	"reflect"
	"slices"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
)

// Former is what a run takes over from the ended run that it goes on with.
type Former struct {
	Run      event.RunID
	Agent    string
	Model    string
	Chain    event.RunID
	Roots    []string // of its session
	Messages []model.Message
	Last     event.MessageID // of these, as stored
	// Session is the session that the former run belonged to.
	Session event.SessionID
	// Above are the runs that started the former run, the root first. The run that goes on never has more power than
	// the former run had as their child.
	Above []Ancestor
	// Powers are what the former run itself was allowed.
	Powers authority.Powers
	// Unread are the messages that the former run was told and has not read, and the results of its children in the
	// background that it has not heard of.
	Unread []string
	// ProgramSession is the session of the program that was the former run's agent; empty for others.
	ProgramSession string
	// Runs are the former run and those that it went on with, the former run first.
	Runs []event.RunID
	// Tasks are the tasks that these runs have started, oldest first. All have ended.
	Tasks []tool.TaskState
}

// Ancestor is a run above a former one.
type Ancestor struct {
	Run        event.RunID
	Definition *agent.Definition
	Powers     authority.Powers
}

// binds reports whether the former run was a child, or went on with a child.
func (f *Former) binds() bool { return f != nil && (len(f.Above) > 0 || len(f.Powers.Bound) > 0) }

// starter is the agent that started the former run, which was a child.
func (f *Former) starter() string { return f.Above[len(f.Above)-1].Definition.Slug }

// belowPlan reports whether some run was planning that is above the former run and not above the new one.
func (f *Former) belowPlan(descends func(event.RunID) bool) bool {
	return slices.ContainsFunc(f.Above,
		func(a Ancestor) bool { return a.Powers.Planning && !descends(a.Run) })
}

// bounds are what binds a run that goes on with a child: what bound the child and the runs above it, by the rules of
// that time and by today's. A run that is above the new run as well binds it as it is now.
func (f *Former) bounds(descends func(event.RunID) bool, cfg *config.Config) []authority.Boundary {
	var list []authority.Boundary
	add := func(more ...authority.Boundary) {
		for _, b := range more {
			if !slices.ContainsFunc(list, func(o authority.Boundary) bool { return reflect.DeepEqual(o, b) }) {
				list = append(list, b)
			}
		}
	}
	for _, a := range f.Above {
		if !descends(a.Run) {
			add(authority.Boundary{Mode: a.Powers.Mode, Rules: authority.Layers(a.Definition, cfg)})
			add(a.Powers.Bounds()...)
		}
	}
	add(f.Powers.Bounds()...)
	return list
}
