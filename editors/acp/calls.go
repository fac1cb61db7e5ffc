package acp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// The states of a call, and the kinds that we name in more than one place.
const (
	statusPending   = "pending"
	statusRunning   = "in_progress"
	statusCompleted = "completed"
	statusFailed    = "failed"

	kindEdit  = "edit"
	kindMove  = "move"
	kindThink = "think"
	kindOther = "other"
)

// kinds are the kinds of our tools, by their canonical names.
var kinds = map[string]string{
	"read": "read", "list": "read", "skill": "read", "bash_output": "read", "task_output": "read",
	"edit": kindEdit, "write": kindEdit, "patch": kindEdit, "notebook_edit": kindEdit, "remember": kindEdit,
	"grep": "search", "glob": "search", "symbols": "search", "diagnostics": "search",
	"bash": "execute", "bash_kill": "execute",
	"webfetch": "fetch", "websearch": "fetch",
	"task": kindThink, "question": kindThink, "report_finding": kindThink,
	"plan_enter": "switch_mode", "plan_exit": "switch_mode",
}

func kindOf(tool string) string { return cmp.Or(kinds[tool], kindOther) }

// calls are the calls of a turn that the client was told of.
type calls struct {
	shown map[string]bool   // by their ids
	edits map[string]string // the last call on each path that it changed
	// tasks are the calls by which the runs below the user's own are shown, and told what was said of them last.
	tasks map[event.RunID]*task
}

// task is a run below the user's own.
type task struct {
	call   string
	own    bool // whether nothing but the run stands for the call
	direct bool // whether the user's own run started it
	agent  string
	told   time.Time
	text   string
}

// progressInterval is how often the progress of a run below the user's own is told at most.
const progressInterval = 250 * time.Millisecond

// maxOutput bounds what is shown of what a call put out, in bytes.
const maxOutput = 16 << 10

// called tells of a call of a run.
func (t *turn) called(e event.Event) {
	switch body := e.Body.(type) {
	case event.ToolCallStarted:
		if e.Run != t.run || body.Tool == "todo" { // which is shown as the plan
			return
		}
		row, err := history.CallOf(t.reading(), t.project.Engine.History(), body.Call)
		if err != nil {
			row = store.ToolCall{Tool: body.Tool}
		}
		t.begin(toolCall{
			ID: string(body.Call), Title: cmp.Or(body.Title, body.Tool), Name: body.Tool, Kind: kindOf(body.Tool),
			Status: statusRunning, Locations: t.locations(row), Input: row.Arguments,
		})
	case event.ToolCallProgress:
		if t.calls.shown[string(body.Call)] {
			t.amend(toolCall{ID: string(body.Call), Content: words(body.Message)})
		}
	case event.ToolCallFinished:
		if t.calls.shown[string(body.Call)] {
			t.ended(body)
		}
	}
}

// begin tells of a new call.
func (t *turn) begin(c toolCall) {
	if t.calls.shown == nil {
		t.calls.shown, t.calls.edits = map[string]bool{}, map[string]string{}
	}
	c.Update = "tool_call"
	t.calls.shown[c.ID] = true
	if c.Kind == kindEdit {
		for _, at := range c.Locations {
			t.calls.edits[at.Path] = c.ID
		}
	}
	t.update(c)
}

// amend tells what is new of a call.
func (t *turn) amend(c toolCall) {
	c.Update = "tool_call_update"
	t.update(c)
}

// ended tells how a call ended.
func (t *turn) ended(body event.ToolCallFinished) {
	c := toolCall{ID: string(body.Call), Status: statusCompleted}
	if body.Status != event.CallOK || body.ExitCode != nil && *body.ExitCode != 0 {
		c.Status = statusFailed
	}
	row, err := history.CallOf(t.reading(), t.project.Engine.History(), body.Call)
	output := row.Output
	if err != nil {
		output = body.Summary
	}
	// What an edit did is shown by its hunks.
	if kindOf(body.Tool) != kindEdit || c.Status == statusFailed {
		c.Content = shownOutput(body.Tool, output)
	}
	t.amend(c)
}

// shownOutput is what a tool put out, for a person: reports in their own words, everything else as it is.
func shownOutput(tool, output string) []toolContent {
	if output = strings.TrimRight(output, "\n"); output == "" {
		return nil
	}
	if len(output) > maxOutput {
		output = strings.ToValidUTF8(output[:maxOutput], "") + "\n…"
	}
	if tool == "task" || tool == "question" {
		return words(output)
	}
	fence := "```"
	for strings.Contains(output, fence) {
		fence += "`"
	}
	return words(fence + "\n" + output + "\n" + fence)
}

// words are a text as the content of a call.
func words(text string) []toolContent {
	content := textOf(text)
	return []toolContent{{Type: "content", Content: &content}}
}

// builtin are the built-in tools by their names.
var builtin = sync.OnceValue(func() map[string]tool.Tool {
	tools := map[string]tool.Tool{}
	for _, t := range tool.Builtin() {
		tools[tool.Brief(t).Name] = t
	}
	return tools
})

// locations are the files that a call names.
func (s *session) locations(row store.ToolCall) (list []location) {
	t := builtin()[row.Tool]
	if t == nil {
		return nil
	}
	parsed, err := tool.Parse(t, row.Arguments, nil)
	if err != nil || parsed.Access == nil || parsed.Access.Search {
		return nil
	}
	for _, name := range parsed.Access.Paths {
		if path, err := s.project.View.Resolve(name); err == nil {
			list = append(list, location{Path: path})
		}
	}
	return list
}

// below tells of a run below the user's own: by the call that started it, or by one of its own where no call did.
func (t *turn) below(e event.Event) {
	one := t.calls.tasks[e.Run]
	switch body := e.Body.(type) {
	case event.RunCreated:
		t.delegated(e.Run, body)
	case event.RunProgress:
		if one == nil || !one.direct {
			return
		}
		lines := []string{fmt.Sprintf("**%s**: %s", one.agent, body.Message)}
		for _, activity := range body.Activities {
			lines = append(lines, "- "+activity)
		}
		if text := strings.Join(lines, "\n"); text != one.text && time.Since(one.told) >= progressInterval {
			one.text, one.told = text, time.Now()
			t.amend(toolCall{ID: one.call, Content: words(text)})
		}
	case event.RunFinished:
		if one == nil || !one.own {
			return
		}
		c := toolCall{ID: one.call, Status: statusCompleted, Content: shownOutput("task", body.Result.Output)}
		if body.Status != event.StatusCompleted {
			c.Status = statusFailed
		}
		t.amend(c)
	}
}

// delegated notes a run below the user's own.
func (t *turn) delegated(id event.RunID, body event.RunCreated) {
	above := t.calls.tasks[body.Parent]
	if body.Role == history.RoleHidden || body.Parent != t.run && above == nil {
		return
	}
	if t.calls.tasks == nil {
		t.calls.tasks = map[event.RunID]*task{}
	}
	one := &task{agent: body.Agent, direct: body.Parent == t.run}
	t.calls.tasks[id] = one
	if !one.direct {
		one.call = above.call
		return
	}
	if row, err := t.project.Engine.History().Run(t.reading(), id); err == nil {
		one.call = string(row.ParentCall)
	}
	if one.call == "" {
		one.call, one.own = string(id), true
		t.begin(toolCall{
			ID: one.call, Title: body.Agent + ": " + body.Title, Kind: kindThink, Status: statusRunning,
		})
		return
	}
	t.amend(toolCall{ID: one.call, Title: body.Agent + ": " + body.Title})
}

// in reports whether a run is of this turn.
func (t *turn) in(id event.RunID) bool { return id == t.run || t.calls.tasks[id] != nil }

// reading is the context of what is read for the client, which a cancelled turn needs, too.
func (t *turn) reading() context.Context { return context.WithoutCancel(t.ctx) }

// maxDiff is the size in bytes up to which a diff shows files as a whole, and not only what changes.
const maxDiff = 64 << 10

// proposed shows the open edits of files at the calls that made them, or at calls of their own.
func (t *turn) proposed(paths []string) {
	for _, p := range t.open() {
		if !slices.Contains(paths, p.edit.Path) {
			continue
		}
		if id := t.calls.edits[p.edit.Path]; id != "" {
			t.amend(toolCall{ID: id, Content: p.diff()})
		} else {
			t.show(p)
		}
	}
}

// show shows a proposal by a call of its own, unless a call shows it.
func (t *turn) show(p proposal) {
	if t.calls.edits[p.edit.Path] != "" {
		return
	}
	t.begin(toolCall{
		ID: p.call(), Title: t.about("Edit ", p), Kind: kindEdit, Status: statusCompleted, Content: p.diff(),
		Locations: []location{{Path: p.edit.Path}},
	})
}

// proposal is what is proposed for a file.
type proposal struct {
	edit  workspace.FileEdit
	hunks []workspace.Hunk // those that make up the edit
}

// call is the id of a call that stands for the proposal.
func (p proposal) call() string { return "edit-" + string(p.hunks[0].ID) }

// open are the open edits of the session, in an order in which they can be made.
func (s *session) open() (list []proposal) {
	board := s.engine.Board().Proposal()
	byPath := map[string][]workspace.Hunk{}
	var ids []event.HunkID
	for _, h := range board.Hunks() {
		if h.State == event.StateOpen {
			byPath[h.Path] = append(byPath[h.Path], h)
			ids = append(ids, h.ID)
		}
	}
	edits, _ := board.Edits(ids)
	ordered, cyclic := workspace.Ordered(edits)
	for _, e := range append(ordered, cyclic...) {
		if hunks := byPath[e.Path]; len(hunks) > 0 {
			list = append(list, proposal{e, hunks})
		}
	}
	return list
}

// diff shows the proposal.
func (p proposal) diff() (list []toolContent) {
	e := p.edit
	path := cmp.Or(e.MoveTo, e.Path)
	after := e.After()
	if e.Delete {
		after = ""
	}
	if e.Create {
		return []toolContent{{Type: "diff", Path: path, New: &after}}
	}
	if len(e.Before)+len(after) <= maxDiff || len(p.hunks) == 0 {
		return []toolContent{{Type: "diff", Path: path, Old: &e.Before, New: &after}}
	}
	for _, h := range p.hunks {
		if h.MoveTo == "" {
			list = append(list, toolContent{Type: "diff", Path: path, Old: &h.Before, New: &h.After})
		}
	}
	return list
}
