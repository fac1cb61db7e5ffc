package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// deniedReport is a call that was denied, or an edit by a command that was left out, in the output of `--format json`.
type deniedReport struct {
	Run   event.RunID `json:"run"`
	Agent string      `json:"agent"`
	Tool  string      `json:"tool"`
	// Call is the call in one line, Reason why it was denied.
	Call   string `json:"call"`
	Reason string `json:"reason"`
	// Later says that the same run later made a call of the same tool that succeeded.
	Later bool `json:"later"`
}

// denials are the denied calls of a tree of runs, in order.
type denials struct {
	titles map[event.CallID]string // the titles of the calls that are under way
	list   []deniedReport
}

// take notes what an event says about a call.
func (d *denials) take(e event.Event, agent string) {
	switch body := e.Body.(type) {
	case event.ToolCallStarted:
		if d.titles == nil {
			d.titles = map[event.CallID]string{}
		}
		d.titles[body.Call] = body.Title
	case event.ToolCallFinished:
		switch body.Status {
		case event.CallDenied:
			d.list = append(d.list, deniedReport{e.Run, agent, body.Tool, d.titles[body.Call], body.Summary, false})
		case event.CallOK:
			for i := range d.list {
				d.list[i].Later = d.list[i].Later || d.list[i].Run == e.Run && d.list[i].Tool == body.Tool
			}
		}
		if body.LeftOut != "" { // an edit of a command was denied
			d.list = append(d.list,
				deniedReport{e.Run, agent, "edit", d.titles[body.Call], "left out " + body.LeftOut, false})
		}
		delete(d.titles, body.Call)
	}
}

// undone are the denied calls after which no call of the same tool succeeded: the run could not do what it tried.
func (r *result) undone() []deniedReport {
	return slices.DeleteFunc(slices.Clone(r.denied), func(d deniedReport) bool { return d.Later })
}

// refusal says, for people, what a run could not do, and how it could be allowed; nil where it could do everything.
func (r *result) refusal(folder string, trusted bool) error {
	undone := r.undone()
	if len(undone) == 0 {
		return nil
	}
	text := count(len(undone), "call") + " denied: "
	for i, d := range undone {
		if i == maxDenied {
			text += fmt.Sprintf("; and %d more", len(undone)-maxDenied)
			break
		}
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("%s (%s)", d.Call, d.Reason)
	}
	hint := hintOf(undone)
	if !trusted {
		hint = "`agentls trust " + folder + "` lets commands run in this folder; else " + hint
	}
	return fmt.Errorf("%s; %s, or write --ignore-denied", visible(text), hint)
}

// byDefinition matches the reason of a denial by a rule of a definition: its own rule, or one of its named set.
var byDefinition = lazyregexp.New(`deny .+? \((?:agent ([a-z0-9-]+)|built-in [a-z]+)\)`)

// hintOf says where the rules are that denied the calls. No rule of a configuration can lift a deny of a definition.
func hintOf(calls []deniedReport) string {
	var definitions []string
	others := false
	for _, d := range calls {
		found := byDefinition().FindStringSubmatch(d.Reason)
		if found == nil {
			others = true
			continue
		}
		if name := cmp.Or(found[1], d.Agent); !slices.Contains(definitions, name) {
			definitions = append(definitions, name)
		}
	}
	var hints []string
	for _, name := range definitions {
		hints = append(hints, fmt.Sprintf("the definition of %s denies it: change its `permissions`, "+
			"in the file that `agentls agents show %s` names, or take another agent", name, name))
	}
	if others {
		hints = append(hints, "allow them by rules in config.toml (see `agentls permissions --help`)")
	}
	return strings.Join(hints, "; ")
}

// maxDenied is how many denied calls are listed.
const maxDenied = 3
