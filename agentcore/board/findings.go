package board

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// openFinding is a finding that still holds: its lines are unchanged in the text that the editor shows.
type openFinding struct {
	finding event.Finding
	path    string
	agent   string
	run     event.RunID
	chain   event.RunID // the chain of its run: the same for all runs of one prompt
	mark    *workspace.Mark
	// quote is the text of the finding's lines, by which another process finds them.
	quote string
	// fix is the id with which the edits of its fix were signed; empty without a fix. A finding keeps it where it takes
	// over the id of a former one. hunks are the hunks of the fix.
	fix   event.FindingID
	hunks []event.HunkID
	// lost says that the finding's lines have changed.
	lost bool
	// durable is set when the finding would survive a crash. Before that, it is shown to nobody.
	durable atomic.Bool
}

// remark is what a finding says about a file, without the place.
type remark struct{ path, rule, message string }

func (f *openFinding) remark() remark { return remark{f.path, f.finding.Rule, f.finding.Message} }

// Findings returns the stored open findings on a file, at the lines where they are now, in order of place. An empty
// path means all files.
func (b *Board) Findings(path string) []event.Finding {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []event.Finding
	for _, f := range b.findings {
		if f.durable.Load() && (path == "" || f.path == path) {
			list = append(list, f.now())
		}
	}
	slices.SortFunc(list, func(a, b event.Finding) int {
		return cmp.Or(strings.Compare(a.URI, b.URI), cmp.Compare(a.Span.StartLine, b.Span.StartLine),
			cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Remarked returns the files that have open findings or undecided hunks, unsorted and with repetitions.
func (b *Board) Remarked() []string {
	var list []string
	b.mu.Lock()
	for _, f := range b.findings {
		if f.durable.Load() {
			list = append(list, f.path)
		}
	}
	b.mu.Unlock()
	for _, h := range b.Hunks() {
		if h.Waits() {
			list = append(list, h.Path)
		}
	}
	return list
}

// Outcome counts the open findings and proposed edits of a run and of the runs below it.
func (b *Board) Outcome(id event.RunID) (findings, edits int) {
	b.mu.Lock()
	for _, f := range b.findings {
		if f.durable.Load() && (f.run == id || f.chain == id) {
			findings++
		}
	}
	b.mu.Unlock()
	for _, h := range b.proposal.Hunks() {
		if h.State != event.StateOpen {
			continue
		}
		if h.Author.Run == id || b.chain(h.Author.Run) == id {
			edits++
		}
	}
	return findings, edits
}

// FoundBy counts the open findings of some runs, also those that are not stored yet.
func (b *Board) FoundBy(runs map[event.RunID]bool) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.findings {
		if runs[f.run] {
			n++
		}
	}
	return n
}

// Finding returns an open finding by id, with the path of its file.
func (b *Board) Finding(id event.FindingID) (event.Finding, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.findings[id]
	if f == nil {
		return event.Finding{}, "", fault.Missing("open finding", string(id),
			"it may have been cleared because its lines changed; review the file again")
	}
	return f.now(), f.path, nil
}

// now returns the finding at the present place of its lines.
func (f *openFinding) now() event.Finding {
	moved := f.finding
	if start, _, ok := f.mark.Lines(); ok {
		moved.Span.EndLine += start - moved.Span.StartLine
		moved.Span.StartLine = start
	}
	return moved
}

// Finder is the run that found something.
type Finder struct {
	Agent, Model string
	Run          event.RunID
	// Chain is the first run of the same prompt.
	Chain event.RunID
}

// Report stores and publishes a finding. Where a later run makes the same remark on the same line, the earlier finding
// is renewed. fix is the id with which the edits of its fix were signed, or "".
func (b *Board) Report(by Finder, found tool.Finding, fix event.FindingID) (event.FindingID, error) {
	for range Attempts {
		file, err := b.view.Read(found.Path)
		if err != nil {
			return "", err
		}
		span, quote := clamp(found.Span, workspace.NewIndex(file.Text))
		f := &openFinding{
			finding: event.Finding{
				ID: cmp.Or(fix, event.NewFindingID()), URI: event.FileURI(found.Path), Span: span,
				Severity: found.Severity,
				Rule:     found.Rule, Message: found.Message, Source: cmp.Or(found.Source, by.Model),
			},
			path: found.Path, agent: by.Agent, run: by.Run, chain: by.Chain, quote: quote, fix: fix,
		}
		if b.track(f, file.Stamp, true) {
			return f.finding.ID, nil
		}
	}
	return "", &fault.Error{
		Kind: fault.Changing, Detail: "the text of " + found.Path + " changes all the time",
		Hint: "report it again",
	}
}

// Attempts is how often something is placed again in a text that the user changes at that very moment.
const Attempts = 5

func (b *Board) findingRow(f *openFinding) store.Finding {
	now := time.Now().UTC()
	row := store.Finding{
		Finding: f.now(), Session: b.events.Session, Run: f.run, Quote: f.quote, State: store.FindingOpen,
		Created: now, Updated: now,
	}
	if len(f.hunks) > 1 {
		row.More = f.hunks[1:]
	}
	return row
}

// track follows the lines of a finding in the text with this stamp, and publishes the finding; with save, it also
// stores it. Where the text is another one by now, it does nothing and reports false.
func (b *Board) track(f *openFinding, stamp workspace.Stamp, save bool) bool {
	// The board's lock must not be held: the view may run callbacks of other changes, which take it.
	mark := b.view.Track(f.path, stamp, f.finding.Span.StartLine, f.finding.Span.EndLine+1, func() { b.lose(f) })
	if mark == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.lost {
		return false
	}
	f.mark = mark
	if former := b.sameRemark(f); former != nil {
		f.finding.ID = former.finding.ID
		if f.fix == "" {
			f.fix, f.hunks, f.finding.Hunk = former.fix, former.hunks, former.finding.Hunk
		}
		f.durable.Store(former.durable.Load())
		b.remove(former)
	}
	b.findings[f.finding.ID] = f
	b.remarks[f.remark()] = append(b.remarks[f.remark()], f)
	batch := store.Batch{Committed: func() { f.durable.Store(true) }}
	if save {
		batch.Findings = []store.Finding{b.findingRow(f)}
	} else {
		f.durable.Store(true) // the finding comes from the store
	}
	b.events.SubmitNow(batch, f.run, event.FindingReported{Finding: f.finding})
	return true
}

// sameRemark returns the open finding that makes the same remark on the same line, or nil. The caller holds b.mu.
func (b *Board) sameRemark(f *openFinding) *openFinding {
	for _, old := range b.remarks[f.remark()] {
		if old.now().Span.StartLine == f.finding.Span.StartLine {
			return old
		}
	}
	return nil
}

// remove removes a finding without telling anybody. The caller holds b.mu.
func (b *Board) remove(f *openFinding) {
	delete(b.findings, f.finding.ID)
	if same := slices.DeleteFunc(b.remarks[f.remark()],
		func(other *openFinding) bool { return other == f }); len(same) > 0 {
		b.remarks[f.remark()] = same
	} else {
		delete(b.remarks, f.remark())
	}
	f.mark.Release()
}

// lose closes a finding whose lines have changed. The workspace calls it, possibly before the finding is known,
// or after another one took over its id.
func (b *Board) lose(f *openFinding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f.lost = true
	if b.findings[f.finding.ID] == f {
		b.drop(f, "the text changed")
	}
}

// drop closes an open finding. The caller holds b.mu, so that storing and publishing keep the order of events.
func (b *Board) drop(f *openFinding, reason string) {
	b.remove(f)
	id := f.finding.ID
	b.events.SubmitNow(store.Batch{
		FindingsCleared: []store.ClearedFinding{{ID: id, Reason: reason, Time: time.Now().UTC()}},
	},
		f.run,
		event.FindingCleared{Finding: id, URI: f.finding.URI, Reason: reason})
}

// ClearFormer closes findings of earlier prompts to the same agent, in the places that covers reports, that the
// completed run has not found again. Findings with an undecided fix stay, since the run saw the text as if it were
// fixed.
func (b *Board) ClearFormer(by Finder, covers func(path string, span event.Span) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.findings {
		if f.agent == by.Agent && f.chain != by.Chain && covers(f.path, f.now().Span) &&
			!slices.ContainsFunc(f.hunks, b.undecided) {
			b.drop(f, "reviewed again")
		}
	}
}

func (b *Board) undecided(id event.HunkID) bool {
	h, ok := b.proposal.Hunk(id)
	return ok && h.Waits()
}

// Fix returns the open hunks that together resolve an open finding. It returns none where there is no fix, or where a
// part of it is no longer available.
func (b *Board) Fix(id event.FindingID) []event.HunkID {
	b.mu.Lock()
	var hunks []event.HunkID
	if f := b.findings[id]; f != nil {
		hunks = f.hunks // replaced as a whole
	}
	b.mu.Unlock()
	var open []event.HunkID
	for _, id := range hunks {
		switch h, _ := b.proposal.Hunk(id); h.State {
		case event.StateOpen:
			open = append(open, id)
		case event.StateAccepted:
		default:
			return nil
		}
	}
	return open
}

// LinkHunks records which proposed hunks resolve which finding, once the hunks exist.
func (b *Board) LinkHunks() {
	fixes := map[event.FindingID][]event.HunkID{}
	for _, h := range b.proposal.Hunks() {
		if !h.Waits() {
			continue
		}
		for _, finding := range h.Fixes {
			fixes[finding] = append(fixes[finding], h.ID)
		}
	}
	if len(fixes) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.findings {
		if hunks := fixes[f.fix]; f.fix != "" && len(hunks) > 0 && !slices.Equal(hunks, f.hunks) {
			f.hunks, f.finding.Hunk = hunks, hunks[0]
			b.events.SubmitNow(store.Batch{Findings: []store.Finding{b.findingRow(f)}}, f.run,
				event.FindingReported{Finding: f.now()})
		}
	}
}

// AdoptFindings takes over the open findings of former sessions on the same roots whose lines are unchanged. They keep
// their ids, so that two sessions never show one twice.
func (b *Board) AdoptFindings(ctx context.Context) error {
	left, err := b.events.Store.OpenFindings(ctx, b.view.Folders())
	if err != nil {
		return fmt.Errorf("read the open findings of former sessions: %w", err)
	}
	runs := map[event.RunID]store.Run{}
	var file workspace.File
	var lines *workspace.Index
	for _, row := range left { // in the order of their files
		run, known := runs[row.Run]
		if !known {
			if run, err = b.events.Store.Run(ctx, row.Run); err != nil {
				return fmt.Errorf("read the run of a finding: %w", err)
			}
			runs[row.Run] = run
		}
		if path := event.FilePath(row.URI); path != file.Path {
			if file, err = b.view.Read(path); err != nil {
				file = workspace.File{Path: path} // the file is gone or no text any more, and so are its findings
			}
			lines = workspace.NewIndex(file.Text)
		}
		if start := locate(lines, row.Quote, row.Span.StartLine); start >= 0 {
			finding, fix := row.Finding, row.Fix()
			if _, known := b.proposal.Hunk(finding.Hunk); !known {
				finding.Hunk, fix = "", nil // its proposal was not taken over
			}
			finding.Span.EndLine += start - finding.Span.StartLine
			finding.Span.StartLine = start
			b.track(&openFinding{
				finding: finding, path: file.Path, agent: run.Agent, run: row.Run, chain: run.Chain,
				quote: row.Quote, fix: row.ID, hunks: fix,
			}, file.Stamp, false)
		}
	}
	b.LinkHunks() // including hunks that interrupted runs had written
	return nil
}

// locate returns the line nearest to want where the quote stands, -1 for none.
func locate(x *workspace.Index, quote string, want int) int {
	quoted := workspace.NewIndex(quote)
	stands := func(at int) bool {
		for i := range quoted.Len() {
			if bare(x, at+i) != bare(quoted, i) {
				return false
			}
		}
		return at >= 0 && at+quoted.Len() <= x.Len()
	}
	for away := 0; away <= max(want, x.Len()); away++ {
		if stands(want - away) {
			return want - away
		}
		if stands(want + away) {
			return want + away
		}
	}
	return -1
}

// bare is a line without its ending.
func bare(x *workspace.Index, line int) string { return strings.TrimRight(x.Line(line), "\r\n") }

// clamp moves a span into the lines of a text and returns the text of its lines.
func clamp(span event.Span, x *workspace.Index) (event.Span, string) {
	if x.Len() == 0 {
		return event.Span{}, ""
	}
	span.StartLine = min(max(span.StartLine, 0), x.Len()-1)
	span.EndLine = min(max(span.EndLine, span.StartLine), x.Len()-1)
	span.StartColumn = min(max(span.StartColumn, 0), len(bare(x, span.StartLine)))
	span.EndColumn = min(max(span.EndColumn, 0), len(bare(x, span.EndLine)))
	if span.StartLine == span.EndLine && span.EndColumn < span.StartColumn {
		span.EndColumn = span.StartColumn
	}
	return span, x.Slice(span.StartLine, span.EndLine+1)
}
