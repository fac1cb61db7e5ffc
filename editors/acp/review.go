package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// The options of the question what is to become of an edit, by their ids.
const (
	writeOne    = "write"
	writeAll    = "write_all"
	writeAlways = "write_always"
	dropOne     = "drop"
	leaveOne    = "leave"
)

// review asks what is to become of the open edits, file by file, and does that. What the session's mode allows is
// written without a question. Whatever the user does not answer stays proposed.
func (t *turn) review() {
	all := false
	list := t.open()
	for i, p := range list {
		if t.ctx.Err() != nil {
			return
		}
		t.show(p)
		answer := writeOne
		if !all && slices.ContainsFunc(p.hunks, func(h workspace.Hunk) bool { return !t.engine.Unreviewed(h) }) {
			answer = t.verdict(p, len(list)-i)
		}
		switch answer {
		case writeAlways:
			t.acceptsEdits()
			all = true
			t.accept(p)
		case writeAll:
			all = true
			t.accept(p)
		case writeOne:
			t.accept(p)
		case dropOne:
			t.drop(p)
		default:
			t.amend(toolCall{
				ID: t.callOf(p), Status: statusCompleted, Title: t.about("Proposed, not written: ", p),
			})
		}
	}
}

// callOf is the id of the call that shows a proposal.
func (t *turn) callOf(p proposal) string { return t.calls.edits[p.edit.Path] }

// about is a title on a proposal.
func (t *turn) about(what string, p proposal) string {
	view := t.project.View
	name := view.Shown(p.edit.Path)
	switch e := p.edit; {
	case e.Create:
		name += " (new)"
	case e.Delete:
		name += " (delete)"
	case e.MoveTo != "":
		name += " → " + view.Shown(e.MoveTo)
	}
	return what + name
}

// verdict asks the user about one file; left is how many files there are, this one included.
func (t *turn) verdict(p proposal, left int) string {
	var options []protocol.PermissionOption
	offer := func(id, name, kind string) {
		options = append(options, protocol.PermissionOption{ID: id, Name: name, Kind: kind})
	}
	offer(writeOne, "Write it", protocol.AllowOnce)
	if left > 1 {
		offer(writeAll, fmt.Sprintf("Write all %d files", left), protocol.AllowOnce)
	}
	offer(writeAlways, "Write it, and accept edits from now on", protocol.AllowAlways)
	offer(dropOne, "Drop it", protocol.RejectOnce)
	offer(leaveOne, "Leave it proposed", protocol.RejectOnce)
	kind := kindEdit
	if p.edit.MoveTo != "" {
		kind = kindMove
	}
	answer, err := t.permission(t.ctx, toolCall{
		ID: t.callOf(p), Title: t.about("Write ", p), Kind: kind, Status: statusPending, Content: p.diff(),
		Locations: []location{{Path: p.edit.Path}},
	}, options)
	if err != nil && t.ctx.Err() == nil {
		t.tell(fmt.Sprintf("\n\n*Nobody could be asked whether %s is to be written: %v*\n\n",
			t.project.View.Shown(p.edit.Path), err))
	}
	return answer
}

// acceptsEdits changes the mode of the coming turns, as the user wants it.
func (t *turn) acceptsEdits() {
	t.mu.Lock()
	t.chosen.mode = string(permission.AcceptEdits)
	t.mu.Unlock()
	t.update(modeUpdate{"current_mode_update", string(permission.AcceptEdits)})
	if options, err := t.options(t.ctx); err == nil {
		t.update(configUpdate{"config_option_update", options})
	}
}

// drop rejects what is proposed for a file.
func (t *turn) drop(p proposal) {
	failures, err := t.engine.Board().Reject(t.reading(), workspace.IDs(p.hunks))
	if err == nil && len(failures) > 0 {
		err = errors.New(failures[0].Reason)
	}
	c := toolCall{ID: t.callOf(p), Status: statusCompleted, Title: t.about("Dropped: ", p)}
	if err != nil {
		c.Status, c.Title = statusFailed, t.about("Not dropped: ", p)
		c.Content = words(err.Error())
	}
	t.amend(c)
}

// accept makes the edit of a file, and tells what came of that.
func (t *turn) accept(p proposal) {
	c := toolCall{ID: t.callOf(p), Status: statusCompleted, Title: t.about("Wrote ", p)}
	if err := t.write(p); err != nil {
		c.Status, c.Title = statusFailed, t.about("Not written: ", p)
		c.Content = append(p.diff(), words(err.Error())...)
	}
	t.amend(c)
}

// write makes the edit of a file: through the client where it writes files, since its user then sees it in the
// document, else on the disk. Deletions and moves are made on the disk, since the protocol has no method for them.
func (t *turn) write(p proposal) error {
	ctx := t.reading()
	through := t.agent.client.FS.Write && !p.edit.Delete && p.edit.MoveTo == ""
	changed := []string{p.edit.Path}
	if t.agent.client.FS.Read {
		t.ask(ctx, p.edit.Path) // the user may have typed since
		if err := t.project.View.Settle(ctx); err != nil {
			return err
		}
	}
	ids := workspace.IDs(p.hunks)
	edits, failures := t.engine.Board().Proposal().Edits(ids)
	if len(failures) > 0 || len(edits) != 1 {
		return errors.New("the file has changed meanwhile; what no longer fits stays proposed")
	}
	e := edits[0]
	if through {
		writing, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		err := t.agent.call(writing, "fs/write_text_file", writeParams{t.id, e.Path, e.After()}, nil)
		if err != nil {
			return fmt.Errorf("the editor did not write it: %w", err)
		}
	} else {
		var refused map[string]error
		if changed, refused = t.agent.Write(t.project.View, edits); refused[e.Path] != nil {
			return refused[e.Path]
		}
	}
	t.engine.Board().Proposal().Confirm(ids, true, "")
	return t.settle(ctx, changed)
}

// settle has the engine look at files that were written, and waits until what came of it is stored.
func (t *turn) settle(ctx context.Context, changed []string) error {
	t.project.View.DiskChanged(changed)
	if t.agent.client.FS.Read {
		for _, path := range changed {
			t.ask(ctx, path)
		}
	}
	settling, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := errors.Join(t.project.View.Settle(settling), t.engine.Flush(settling))
	if err != nil {
		return fmt.Errorf("it was written, but not stored as accepted: %w", err)
	}
	return nil
}

// conclude ends a turn whose run has ended: the user decides on the edits, and is told what was found.
func (t *turn) conclude(result event.RunResult) {
	if result.Status == event.StatusCompleted {
		t.review()
	}
	if n := len(t.open()); n > 0 && t.ctx.Err() == nil {
		t.tell(fmt.Sprintf("\n\n*The edits of %s are proposed, and not written.*\n\n", count(n, "file")))
	}
	if len(t.found) > 0 {
		t.tell(t.findings())
	}
	t.tellUsage()
}

// findings are what the runs of the turn found, as a list.
func (t *turn) findings() string {
	var b strings.Builder
	b.WriteString("\n\n")
	for _, f := range t.found {
		fmt.Fprintf(&b, "- %s:%d: %s: %s\n", t.project.View.Shown(event.FilePath(f.URI)), f.Span.StartLine+1,
			f.Severity, strings.Join(strings.Fields(f.Message), " "))
	}
	return b.String()
}

// tellUsage tells how full the context is, where that is known, and what the session has cost.
func (t *turn) tellUsage() {
	ctx, engine := t.reading(), t.project.Engine
	t.mu.Lock()
	chosen := t.chosen
	t.mu.Unlock()
	models, resolved, err := engine.Models(ctx, chosen.agent, chosen.model)
	if err != nil {
		return
	}
	u := usageUpdate{Update: "usage_update"}
	for _, m := range models {
		if m.Name == resolved.Name {
			u.Size = m.ContextTokens
		}
	}
	messages, _, err := engine.History().Transcript(ctx, t.run, "", 0)
	if err != nil || u.Size == 0 {
		return
	}
	for _, m := range messages {
		if n := m.Usage.InputTokens + m.Usage.CachedTokens + m.Usage.OutputTokens; n > 0 {
			u.Used = n
		}
	}
	u.Cost = t.cost(ctx)
	t.update(u)
}

// cost is what the session has cost, nil where that is not known.
func (t *turn) cost(ctx context.Context) *protocol.Cost {
	filter := store.UsageFilter{By: store.UsageBySession, Session: t.engine.ID}
	sums, err := t.project.Engine.History().Usage(ctx, filter)
	if err != nil || sums.Total.Usage.Cost == nil {
		return nil
	}
	return &protocol.Cost{Amount: *sums.Total.Usage.Cost, Currency: "USD"}
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
