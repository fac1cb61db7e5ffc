package agentcore

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

// openFinding is a finding that still holds: its lines stand in the text that the editor shows.
type openFinding struct {
	finding event.Finding
	path    string
	agent   string
	run     event.RunID
	chain   event.RunID // that of the run: the same for all runs of one prompt
	mark    *workspace.Mark
	// quote is the text of the finding's lines, to find them by in another process.
	quote string
	// fix is the id that the edits of its fix were signed with, which it keeps where it took over that of a former one;
	// empty without a fix. hunks are what the fix became.
	fix   event.FindingID
	hunks []event.HunkID
	// lost says that its lines have changed.
	lost bool
	// durable is set when the finding would survive a crash. It is shown to nobody before that.
	durable atomic.Bool
}

// remark is what a finding says of a file, wherever in it.
type remark struct{ path, rule, message string }

func (f *openFinding) remark() remark { return remark{f.path, f.finding.Rule, f.finding.Message} }

// Findings returns the open findings on a file that are stored, at the lines where they are now, in order of place.
// An empty path means all files.
func (s *Session) Findings(path string) []event.Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []event.Finding
	for _, f := range s.findings {
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

// Remarked returns the files that have open findings or undecided hunks, in no order and some twice.
func (s *Session) Remarked() []string {
	var list []string
	s.mu.Lock()
	for _, f := range s.findings {
		if f.durable.Load() {
			list = append(list, f.path)
		}
	}
	s.mu.Unlock()
	for _, h := range s.Hunks() {
		if h.Waits() {
			list = append(list, h.Path)
		}
	}
	return list
}

// Outcome counts the open findings and proposed edits of a run and of the runs below it.
func (s *Session) Outcome(id event.RunID) (findings, edits int) {
	s.mu.Lock()
	for _, f := range s.findings {
		if f.durable.Load() && (f.run == id || f.chain == id) {
			findings++
		}
	}
	s.mu.Unlock()
	for _, h := range s.proposal.Hunks() {
		if h.State != event.StateOpen {
			continue
		}
		if r, err := s.engine.run(h.Author.Run); h.Author.Run == id || err == nil && r.chain() == id {
			edits++
		}
	}
	return findings, edits
}

// Finding returns an open finding by id, with the path of its file.
func (s *Session) Finding(id event.FindingID) (event.Finding, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.findings[id]
	if f == nil {
		return event.Finding{}, "", fault.Missing("open finding", string(id),
			"it may have been cleared because its lines changed; review the file again")
	}
	return f.now(), f.path, nil
}

// now returns the finding moved to where its lines are.
func (f *openFinding) now() event.Finding {
	moved := f.finding
	if start, _, ok := f.mark.Lines(); ok {
		moved.Span.EndLine += start - moved.Span.StartLine
		moved.Span.StartLine = start
	}
	return moved
}

// report stores and publishes a finding. The same remark on the same line by a later run renews the
// earlier one instead of doubling it. fix is the id that the edits of its fix were signed with, or "".
func (s *Session) report(r *run, found tool.Finding, fix event.FindingID) (event.FindingID, error) {
	for range trackAttempts {
		file, err := s.view.Read(found.Path)
		if err != nil {
			return "", err
		}
		span, quote := clamp(found.Span, workspace.NewIndex(file.Text))
		f := &openFinding{
			finding: event.Finding{
				ID: cmp.Or(fix, event.NewFindingID()), URI: event.FileURI(found.Path), Span: span,
				Severity: found.Severity,
				Rule:     found.Rule, Message: found.Message, Source: cmp.Or(found.Source, r.model.Name()),
			},
			path: found.Path, agent: r.definition.Slug, run: r.id, chain: r.chain(), quote: quote, fix: fix,
		}
		if s.track(f, file.Stamp, true) {
			return f.finding.ID, nil
		}
	}
	return "", &fault.Error{
		Kind: fault.Changing, Detail: "the text of " + found.Path + " changes all the time",
		Hint: "report it again",
	}
}

// trackAttempts is how often a finding is placed anew when the user types at that very moment.
const trackAttempts = 5

func (s *Session) findingRow(f *openFinding) store.Finding {
	now := time.Now().UTC()
	row := store.Finding{
		Finding: f.now(), Session: s.ID, Run: f.run, Quote: f.quote, State: store.FindingOpen,
		Created: now, Updated: now,
	}
	if len(f.hunks) > 1 {
		row.More = f.hunks[1:]
	}
	return row
}

// track follows the lines of a finding, which refer to the text of the stamp, and publishes it; save says that it
// is to be stored, too. It reports false, and has done nothing, where the text is another one by now.
func (s *Session) track(f *openFinding, stamp workspace.Stamp, save bool) bool {
	// The session's lock is not held: the view may run the callbacks of other changes, which take it.
	mark := s.view.Track(f.path, stamp, f.finding.Span.StartLine, f.finding.Span.EndLine+1, func() { s.lose(f) })
	if mark == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.lost {
		return false
	}
	f.mark = mark
	if former := s.sameRemark(f); former != nil {
		f.finding.ID = former.finding.ID
		if f.fix == "" {
			f.fix, f.hunks, f.finding.Hunk = former.fix, former.hunks, former.finding.Hunk
		}
		f.durable.Store(former.durable.Load())
		s.remove(former)
	}
	s.findings[f.finding.ID] = f
	s.remarks[f.remark()] = append(s.remarks[f.remark()], f)
	batch := store.Batch{Committed: func() { f.durable.Store(true) }}
	if save {
		batch.Findings = []store.Finding{s.findingRow(f)}
	} else {
		f.durable.Store(true) // it comes from the store
	}
	s.submitNow(batch, f.run, event.FindingReported{Finding: f.finding})
	return true
}

// sameRemark returns the open finding that says the same of the same line, or nil. The caller holds s.mu.
func (s *Session) sameRemark(f *openFinding) *openFinding {
	for _, old := range s.remarks[f.remark()] {
		if old.now().Span.StartLine == f.finding.Span.StartLine {
			return old
		}
	}
	return nil
}

// remove takes a finding out, without a word. The caller holds s.mu.
func (s *Session) remove(f *openFinding) {
	delete(s.findings, f.finding.ID)
	if same := slices.DeleteFunc(s.remarks[f.remark()],
		func(other *openFinding) bool { return other == f }); len(same) > 0 {
		s.remarks[f.remark()] = same
	} else {
		delete(s.remarks, f.remark())
	}
	f.mark.Release()
}

// lose closes a finding whose lines have changed. The workspace calls it, possibly before the finding is known,
// or after another one took over its id.
func (s *Session) lose(f *openFinding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.lost = true
	if s.findings[f.finding.ID] == f {
		s.drop(f, "the text changed")
	}
}

// drop closes an open finding. The caller holds s.mu, so that what is stored and told has the order of what happens.
func (s *Session) drop(f *openFinding, reason string) {
	s.remove(f)
	id := f.finding.ID
	s.submitNow(store.Batch{FindingsCleared: []store.ClearedFinding{{ID: id, Reason: reason, Time: time.Now().UTC()}}},
		f.run,
		event.FindingCleared{Finding: id, URI: f.finding.URI, Reason: reason})
}

// clearFormer closes what earlier prompts to the same agent found on what a run was about, and which the run, that
// has completed, did not find again. What has an undecided fix stays: the run saw the text as if it were fixed.
func (s *Session) clearFormer(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.findings {
		if f.agent == r.definition.Slug && f.chain != r.chain() && r.request.Context.covers(f.path, f.now().Span) &&
			!slices.ContainsFunc(f.hunks, s.undecided) {
			s.drop(f, "reviewed again")
		}
	}
}

// covers reports whether a place is part of what a prompt is about.
func (c *Context) covers(path string, span event.Span) bool {
	if !slices.Contains(c.Paths, path) {
		return false
	}
	return c.StartLine == 0 || c.StartLine <= span.StartLine+1 && span.EndLine+1 <= max(c.StartLine, c.EndLine)
}

func (s *Session) undecided(id event.HunkID) bool {
	h, ok := s.proposal.Hunk(id)
	return ok && h.Waits()
}

// Fix returns the open hunks that would resolve an open finding together; none without a fix, or where a part of it is
// not to be had any more.
func (s *Session) Fix(id event.FindingID) []event.HunkID {
	s.mu.Lock()
	var hunks []event.HunkID
	if f := s.findings[id]; f != nil {
		hunks = f.hunks // replaced as a whole
	}
	s.mu.Unlock()
	var open []event.HunkID
	for _, id := range hunks {
		switch h, _ := s.proposal.Hunk(id); h.State {
		case event.StateOpen:
			open = append(open, id)
		case event.StateAccepted:
		default:
			return nil
		}
	}
	return open
}

// linkHunks tells which proposed hunks would resolve which finding, once the hunks are there.
func (s *Session) linkHunks() {
	fixes := map[event.FindingID][]event.HunkID{}
	for _, h := range s.proposal.Hunks() {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.findings {
		if hunks := fixes[f.fix]; f.fix != "" && len(hunks) > 0 && !slices.Equal(hunks, f.hunks) {
			f.hunks, f.finding.Hunk = hunks, hunks[0]
			s.submitNow(store.Batch{Findings: []store.Finding{s.findingRow(f)}}, f.run,
				event.FindingReported{Finding: f.now()})
		}
	}
}

// adoptFindings takes over what former sessions left open on the same roots, where the lines still stand: under the
// old ids, so that two sessions never show one twice.
func (s *Session) adoptFindings(ctx context.Context) error {
	left, err := s.engine.store.OpenFindings(ctx, s.folders())
	if err != nil {
		return fmt.Errorf("read the open findings of former sessions: %w", err)
	}
	runs := map[event.RunID]store.Run{}
	var file workspace.File
	var lines *workspace.Index
	for _, row := range left { // in the order of their files
		run, known := runs[row.Run]
		if !known {
			if run, err = s.engine.store.Run(ctx, row.Run); err != nil {
				return fmt.Errorf("read the run of a finding: %w", err)
			}
			runs[row.Run] = run
		}
		if path := event.FilePath(row.URI); path != file.Path {
			if file, err = s.view.Read(path); err != nil {
				file = workspace.File{Path: path} // it is gone or no text any more, and so are the remarks
			}
			lines = workspace.NewIndex(file.Text)
		}
		if start := locate(lines, row.Quote, row.Span.StartLine); start >= 0 {
			finding, fix := row.Finding, row.Fix()
			if _, known := s.proposal.Hunk(finding.Hunk); !known {
				finding.Hunk, fix = "", nil // its proposal was not taken over
			}
			finding.Span.EndLine += start - finding.Span.StartLine
			finding.Span.StartLine = start
			s.track(&openFinding{
				finding: finding, path: file.Path, agent: run.Agent, run: row.Run, chain: run.Chain,
				quote: row.Quote, fix: row.ID, hunks: fix,
			}, file.Stamp, false)
		}
	}
	s.linkHunks() // with what interrupted runs had written
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
