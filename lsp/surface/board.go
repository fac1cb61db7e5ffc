// Package surface is what the editor shows of runs: their progress, their lines in documents, the status line, the
// diagnostics of what they found and propose, and lenses. It is built from events and from values of the moment.
//
// Diagnostics are pushed until the first pull, from then on pulled (pull.go). A client that announces nothing of
// diagnostics is pushed them all the same: the protocol has had publishDiagnostics since before there were
// capabilities, and the client would have nothing else.
//
// New files are shown where their run was launched, as hints, since an editor has no lines of them to show.
//
// Runs are shown where they were launched and where they work (inline.go): by inlay hints, else by lenses where the
// user has them, and by hover, which is registered for all documents only while something runs. Neovim asks only for
// documents in its windows, so an answer that hides one is shown behind the last refresh.
//
// Each run has a progress of its own with its beginning and end (progress.go). The reports of all children together are
// bounded per second, and the runs that the user started have a bound of their own. A client that shows no progress, or
// leaves the first tokens without an answer for ten seconds, gets lines in its log.
//
// The status line's command runs at most once a second (status.go). Where it fails, the built-in line is back and the
// status says why.
package surface

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/short"
)

// Board shows the runs under way, as progress and in the documents. One goroutine hands it events, in order; any
// goroutine may ask it. It waits for the editor only where a method says so.
type Board struct {
	Means
	*progressBoard
	*inlineStatus
	live liveRuns
}

// NewBoard makes a board. Run makes it show runs in documents.
func NewBoard(m Means) *Board {
	b := &Board{Means: m}
	b.progressBoard, b.inlineStatus = newProgressBoard(m, &b.live), newInlineStatus(m, &b.live)
	return b
}

// Close stops following the documents.
func (b *Board) Close() { b.live.close() }

// Began shows a run from now on.
func (b *Board) Began(id event.RunID, created event.RunCreated) {
	run := b.live.begin(id, created, b.Path)
	b.place(run)
	b.begin(run)
	b.Wake()
}

// Reported notes how far a run is.
func (b *Board) Reported(id event.RunID, p event.RunProgress) {
	info, _ := b.Info(id)
	b.live.report(id, p, info.Working)
	b.changed(id)
}

// Turned notes a change of a run's status.
func (b *Board) Turned(id event.RunID, change event.RunStatusChanged, at time.Time) {
	b.live.turnTo(id, change, at)
	b.changed(id)
}

// changed shows the newest state of a run.
func (b *Board) changed(id event.RunID) {
	b.touch(id)
	b.Wake()
}

// Path names a run by its agent and the agents above it, also where their runs are no longer shown.
func (b *Board) Path(id event.RunID) string {
	if run := b.live.get(id); run != nil {
		return run.path
	}
	info, known := b.Info(id)
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
	// Reviewed says that the run was asked for findings.
	Reviewed bool
}

// Ended ends a run's progress, and returns its end in one line. out is nil where nothing is known of the outcome.
func (b *Board) Ended(id event.RunID, f event.RunFinished, out *Outcome) string {
	summary := b.summary(id, f, out)
	b.live.end(id, f)
	b.finish(id, summary)
	b.Wake()
	return summary
}

// summary is the end of a run in one line.
func (b *Board) summary(id event.RunID, f event.RunFinished, out *Outcome) string {
	info, _ := b.Info(id)
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

// maxFailed is how many children that did not do their whole task are named.
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
