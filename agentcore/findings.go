package agentcore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/event"
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
	// reason is that of the proposed fix, to find its hunk by; empty without a fix.
	reason string
	// durable is set when the finding would survive a crash. It is shown to nobody before that.
	durable atomic.Bool
}

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
		return strings.Compare(
			fmt.Sprintf("%s %08d %s", a.URI, a.Span.StartLine, a.ID),
			fmt.Sprintf("%s %08d %s", b.URI, b.Span.StartLine, b.ID))
	})
	return list
}

// Finding returns an open finding by id, with the path of its file.
func (s *Session) Finding(id event.FindingID) (event.Finding, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.findings[id]
	if f == nil {
		return event.Finding{}, "", notFound("open finding", string(id), "it may have been cleared because its lines changed; review the file again")
	}
	return f.now(), f.path, nil
}

// now returns the finding moved to where its lines are.
func (f *openFinding) now() event.Finding {
	moved := f.finding
	if start, end, ok := f.mark.Lines(); ok {
		if shift := start - moved.Span.StartLine; shift != 0 {
			moved.Span.StartLine += shift
			moved.Span.EndLine += shift
		}
		_ = end
	}
	return moved
}

// report stores and publishes a finding. The same remark on the same line by a later run renews the
// earlier one instead of doubling it.
func (s *Session) report(r *run, found tool.Finding, reason string) (event.FindingID, error) {
	file, err := s.view.Read(found.Path)
	if err != nil {
		return "", err
	}
	lines := workspace.Lines(file.Text)
	span, quote := clamp(found.Span, lines)
	finding := event.Finding{
		ID: event.NewFindingID(), URI: event.FileURI(found.Path), Span: span, Severity: found.Severity,
		Rule: found.Rule, Message: found.Message, Source: found.Source,
	}
	if finding.Source == "" {
		finding.Source = r.model.Name()
	}
	tracked := &openFinding{path: found.Path, agent: r.definition.Slug, run: r.id, chain: r.chain(), quote: quote}
	s.mu.Lock()
	for _, old := range s.findings {
		if now := old.now(); old.path == found.Path && now.Span.StartLine == span.StartLine && now.Rule == found.Rule && now.Message == found.Message {
			finding.ID = old.finding.ID
			finding.Hunk = old.finding.Hunk
			if reason == "" {
				reason = old.reason
			}
			old.mark.Release()
			tracked.durable.Store(old.durable.Load())
		}
	}
	tracked.finding, tracked.reason = finding, reason
	s.track(tracked)
	s.mu.Unlock()
	s.submit(store.Batch{
		Findings: []store.Finding{s.findingRow(finding, r.id, quote)}, Committed: func() { tracked.durable.Store(true) },
	}, r.id, event.FindingReported{Finding: finding})
	return finding.ID, nil
}

func (s *Session) findingRow(f event.Finding, run event.RunID, quote string) store.Finding {
	now := time.Now().UTC()
	return store.Finding{Finding: f, Session: s.ID, Run: run, Quote: quote, State: store.FindingOpen, Created: now, Updated: now}
}

// track follows the lines of a finding. The caller holds s.mu.
func (s *Session) track(f *openFinding) {
	id := f.finding.ID
	f.mark = s.view.Track(f.path, f.finding.Span.StartLine, f.finding.Span.EndLine+1, func() { s.clear(id, "the text changed") })
	s.findings[id] = f
}

// clear closes a finding. It is no error if it is closed already.
func (s *Session) clear(id event.FindingID, reason string) {
	s.mu.Lock()
	f := s.findings[id]
	delete(s.findings, id)
	s.mu.Unlock()
	if f == nil {
		return
	}
	f.mark.Release()
	s.submit(store.Batch{FindingsCleared: []store.ClearedFinding{{ID: id, Reason: reason, Time: time.Now().UTC()}}}, f.run,
		event.FindingCleared{Finding: id, URI: f.finding.URI, Reason: reason})
}

// ClearFindings closes the open findings on a file, or on all files for "".
func (s *Session) ClearFindings(path, reason string) {
	for _, f := range s.Findings(path) {
		s.clear(f.ID, reason)
	}
}

// clearFormer closes what earlier prompts to the same agent found on the files of a run that has completed
// and did not find it again. What has an undecided fix stays: the run saw the text as if it were fixed.
func (s *Session) clearFormer(r *run, paths []string) {
	s.mu.Lock()
	var old []event.FindingID
	for id, f := range s.findings {
		if f.agent == r.definition.Slug && f.chain != r.chain() && slices.Contains(paths, f.path) && !s.undecided(f.finding.Hunk) {
			old = append(old, id)
		}
	}
	s.mu.Unlock()
	for _, id := range old {
		s.clear(id, "reviewed again")
	}
}

func (s *Session) undecided(id event.HunkID) bool {
	h, ok := s.proposal.Hunk(id)
	return ok && (h.State == event.StateOpen || h.State == event.StateConflict)
}

// linkHunks tells which proposed hunk would resolve which finding, once the hunks are there.
func (s *Session) linkHunks(ids []event.HunkID) {
	for _, id := range ids {
		hunk, ok := s.proposal.Hunk(id)
		if !ok || hunk.Author.Reason == "" {
			continue
		}
		s.mu.Lock()
		var linked []*openFinding
		for _, f := range s.findings {
			if f.path == hunk.Path && f.run == hunk.Author.Run && f.reason != "" && strings.Contains(hunk.Author.Reason, f.reason) && f.finding.Hunk != id {
				f.finding.Hunk = id
				linked = append(linked, f)
			}
		}
		s.mu.Unlock()
		for _, f := range linked {
			s.submit(store.Batch{Findings: []store.Finding{s.findingRow(f.now(), f.run, f.quote)}}, f.run, event.FindingReported{Finding: f.now()})
		}
	}
}

// adoptFindings takes over what former sessions left open on the same roots, where the lines still stand.
func (s *Session) adoptFindings(ctx context.Context) error {
	left, err := s.engine.store.OpenFindings(ctx, s.roots)
	if err != nil {
		return fmt.Errorf("read the open findings of former sessions: %w", err)
	}
	for _, row := range left {
		path := event.FilePath(row.URI)
		file, err := s.view.Read(path)
		if err != nil {
			continue // the file is gone or no text any more, and so is the remark
		}
		start := locate(workspace.Lines(file.Text), row.Quote, row.Span.StartLine)
		if start < 0 {
			continue
		}
		run, err := s.engine.store.Run(ctx, row.Run)
		if err != nil {
			return fmt.Errorf("read the run of a finding: %w", err)
		}
		// It becomes this session's: under the old id, so that two sessions never show it twice.
		finding := row.Finding
		finding.Hunk = "" // its proposal ended with its session
		finding.Span.EndLine += start - finding.Span.StartLine
		finding.Span.StartLine = start
		s.mu.Lock()
		adopted := &openFinding{finding: finding, path: path, agent: run.Agent, run: row.Run, chain: run.Chain, quote: row.Quote}
		adopted.durable.Store(true)
		s.track(adopted)
		s.mu.Unlock()
		s.publish(event.FindingReported{Finding: finding})
	}
	return nil
}

// locate returns the line nearest to want where the quote stands, -1 for none.
func locate(lines []string, quote string, want int) int {
	quoted := workspace.Lines(quote)
	best := -1
	for at := 0; at+len(quoted) <= len(lines); at++ {
		if (best < 0 || abs(at-want) < abs(best-want)) && sameLines(lines[at:at+len(quoted)], quoted) {
			best = at
		}
	}
	return best
}

func sameLines(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool { return strings.TrimRight(x, "\r\n") == strings.TrimRight(y, "\r\n") })
}

func abs(n int) int { return max(n, -n) }

// clamp moves a span into the lines of a text and returns the text of its lines.
func clamp(span event.Span, lines []string) (event.Span, string) {
	if len(lines) == 0 {
		return event.Span{}, ""
	}
	width := func(line int) int { return len(strings.TrimRight(lines[line], "\r\n")) }
	span.StartLine = min(max(span.StartLine, 0), len(lines)-1)
	span.EndLine = min(max(span.EndLine, span.StartLine), len(lines)-1)
	span.StartColumn = min(max(span.StartColumn, 0), width(span.StartLine))
	span.EndColumn = min(max(span.EndColumn, 0), width(span.EndLine))
	if span.StartLine == span.EndLine && span.EndColumn < span.StartColumn {
		span.EndColumn = span.StartColumn
	}
	return span, strings.Join(lines[span.StartLine:span.EndLine+1], "")
}
