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

// starter is the agent that started the former run, which was a child.
func (f *Former) starter() string { return f.Above[len(f.Above)-1].Definition.Slug }

// belowPlan reports whether a run above the former one was planning that is not above the new one.
func (f *Former) belowPlan(descends func(event.RunID) bool) bool {
	return slices.ContainsFunc(f.Above,
		func(a Ancestor) bool { return a.Powers.Planning && !descends(a.Run) })
}

// bounds are what binds the run that goes on with a child: what bound it itself and the runs above it, by the rules
// of then and by those of today. A run that is above the new one as well binds it as it is now.
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
