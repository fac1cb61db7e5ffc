// Package surface is what the editor shows of runs: their progress, their lines in documents, the status line, the
// diagnostics of what they found and propose, and lenses. It is built from events and from values of the moment.
package surface

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/short"
)

// Board shows the runs under way: as progress, and in the documents. Its events come in their order, from one
// goroutine; any goroutine may ask it. It never waits for the editor, but where a method says so.
type Board struct {
	means    Means
	live     liveRuns
	progress *progressBoard
	inline   *inlineStatus
}

// NewBoard makes a board; Run has it show runs in documents.
func NewBoard(m Means) *Board {
	b := &Board{means: m}
	b.progress = newProgressBoard(m, &b.live)
	b.inline = newInlineStatus(m, &b.live)
	return b
}

// Run keeps what is shown in documents up to date until ctx ends.
func (b *Board) Run(ctx context.Context) { b.inline.run(ctx) }

// Wake says that the settings, or what is open, may be others.
func (b *Board) Wake() { b.inline.wake() }

// Settle waits until the editor shows in its documents what there is, no longer than a second.
func (b *Board) Settle(ctx context.Context) { b.inline.settle(ctx) }

// Drain waits until the editor was told of the end of every run of which it was told the beginning, or ctx ends.
func (b *Board) Drain(ctx context.Context) error { return b.progress.drain(ctx) }

// End ends Run, and waits until it sends nothing any more, or ctx ends.
func (b *Board) End(ctx context.Context) error { return b.inline.end(ctx) }

// Close ends what follows the documents.
func (b *Board) Close() { b.live.close() }

// Shows reports whether a run has a progress, which the user can cancel.
func (b *Board) Shows(run event.RunID) bool { return b.progress.get(run) != nil }

// Wait tells of a run on a token of the editor's until stop is called, which must be, and which waits until the editor
// was told.
func (b *Board) Wait(run event.RunID, token protocol.ProgressToken) (stop func(context.Context, string)) {
	return b.progress.wait(run, token)
}

// Hints answers `textDocument/inlayHint`: the runs under way that are shown in the document, at the ends of their
// lines.
func (b *Board) Hints(p *protocol.InlayHintParams) []protocol.InlayHint { return b.inline.inlayHint(p) }

// Hover is what the runs that are shown at a line are doing, "" for none.
func (b *Board) Hover(path string, line int) string { return b.inline.hoverStatus(path, line) }

// Stops are actions that end the runs under way that have to do with a document.
func (b *Board) Stops(path string) []menu.Action { return b.inline.stopActions(path) }

// Began has a run shown from now on.
func (b *Board) Began(id event.RunID, created event.RunCreated) {
	run := b.live.begin(id, created, b.Path)
	b.inline.place(run)
	b.progress.begin(run)
	b.inline.wake()
}

// Reported takes in how far a run is.
func (b *Board) Reported(id event.RunID, p event.RunProgress) {
	info, _ := b.means.Info(id)
	b.live.report(id, p, info.Working)
	b.changed(id)
}

// Turned takes in a change of a run's status at a time.
func (b *Board) Turned(id event.RunID, change event.RunStatusChanged, at time.Time) {
	b.live.turnTo(id, change, at)
	b.changed(id)
}

// changed has the newest state of a run shown.
func (b *Board) changed(id event.RunID) {
	b.progress.touch(id)
	b.inline.wake()
}

// Path names a run by its agent and those above it, also where their runs are shown no more.
func (b *Board) Path(id event.RunID) string {
	if run := b.live.get(id); run != nil {
		return run.path
	}
	info, known := b.means.Info(id)
	switch {
	case !known:
		return "…"
	case info.Parent != "":
		return b.Path(info.Parent) + " ▸ " + info.Agent
	}
	return info.Agent
}

// Outcome is what a run has left for the user.
type Outcome struct {
	Findings, Edits int
	// Reviewed says that the run was to find something.
	Reviewed bool
}

// Ended ends a run's progress, and returns its end in one line; out is nil where nothing is known of it.
func (b *Board) Ended(id event.RunID, f event.RunFinished, out *Outcome) string {
	summary := b.summary(id, f, out)
	b.live.end(id, f)
	b.progress.finish(id, summary)
	b.inline.wake()
	return summary
}

// summary is the end of a run in one line.
func (b *Board) summary(id event.RunID, f event.RunFinished, out *Outcome) string {
	info, _ := b.means.Info(id)
	outcome := f.Result.Outcome
	parts := []string{fmt.Sprintf("%s %s", info.Agent, outcome)}
	switch {
	case f.Result.Error != nil:
		parts[0] += ": " + f.Result.Error.Detail
	case f.Reason != "" && f.Reason != string(outcome):
		parts[0] += ": " + f.Reason
	}
	if children := b.live.childrenOf(id); children != "" {
		parts = append(parts, children)
	}
	if info.Parent != "" {
		parts = append(parts, madeOf(f.Result)...)
	}
	if out != nil {
		switch {
		case out.Findings > 0:
			parts = append(parts, short.Count(out.Findings, "finding"))
		case out.Reviewed && f.Status == event.StatusCompleted:
			parts = append(parts, "no findings")
		}
		// The edits of a child go to its parent when it ends, so that they are proposed at some moment around this one;
		// its files are named above.
		if out.Edits > 0 && info.Parent == "" {
			parts = append(parts, short.Count(out.Edits, "proposed edit"))
		}
	}
	if strings.HasPrefix(info.Model, provider.Offline+"/") {
		parts = append(parts, "no language model was used")
	}
	if f.Result.Usage.InputTokens+f.Result.Usage.OutputTokens > 0 {
		parts = append(parts, short.Count(int(f.Result.Usage.InputTokens+f.Result.Usage.OutputTokens), "token"))
	}
	if cost := f.Result.Usage.Cost; cost != nil && *cost > 0 {
		parts = append(parts, price.Dollars(*cost))
	}
	text := strings.Join(parts, ", ")
	if answer := said(f.Result); info.Parent != "" && answer != "" {
		text += ": " + answer
	}
	return text
}

// maxFailed is how many children are named that did not do their whole task.
const maxFailed = 2

// childrenOf says how many children a run had and which of them did not complete, "" for none.
func (b *liveRuns) childrenOf(id event.RunID) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	run := b.runs[id]
	if run == nil {
		return ""
	}
	n, failed := run.counted()
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d children", n)
	if n == 1 {
		text = "1 child"
	}
	var named []string
	for _, child := range failed[:min(len(failed), maxFailed)] {
		named = append(named, fmt.Sprintf("%s %s: %s", child.agent, child.result.Outcome, child.title))
	}
	if more := len(failed) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more did not complete", more))
	}
	if len(named) > 0 {
		text += " (" + strings.Join(named, "; ") + ")"
	}
	return text
}
