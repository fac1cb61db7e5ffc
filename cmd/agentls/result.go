package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// result is the outcome of a job, from which all formats are made.
type result struct {
	root    workspace.Root
	dir     string // the current folder, to which names for people are relative
	session event.SessionID
	run     event.RunID
	agent   string
	model   string
	outcome event.RunResult
	// partial says that some run of the tree did not complete.
	partial bool
	// unmet says that a check that decides whether the task is done never succeeded.
	unmet bool
	// leftOpen says that a run of the user completed without its task being done.
	leftOpen bool

	// held says that an output schema held the answer, so that nothing but its object is printed as text.
	held bool

	denied   []deniedReport
	findings []event.Finding  // by place
	hunks    []workspace.Hunk // open or in conflict, by place
	edits    []workspace.FileEdit
	// fixes are, for each finding, the open hunks that resolve it together, by place; none where it has no fix.
	fixes map[event.FindingID][]workspace.Hunk
	// files are the files of findings and edits, by path, as the agents saw them at the end.
	files map[string]workspace.File
	// written are the files that --write wrote, refused those that it did not.
	written map[string]bool
	refused map[string]bool
}

// newResult is what came of a run as long as nothing was collected.
func newResult(dir string, session *agentcore.Session, run event.RunID) *result {
	return &result{
		root: session.View().Roots()[0], dir: dir, session: session.ID, run: run,
		files: map[string]workspace.File{}, fixes: map[event.FindingID][]workspace.Hunk{}, written: map[string]bool{},
		refused: map[string]bool{},
	}
}

// gather collects the result of a run that has ended. dir is the current folder.
func gather(ctx context.Context, dir string, session *agentcore.Session, w *watch, run event.RunID) (*result, error) {
	r := newResult(dir, session, run)
	r.partial, r.denied = w.progress.tree.unfinished(), w.denials.list
	if n := w.progress.tree.root; n != nil {
		r.agent, r.model = n.agent, n.model
	}
	var err error
	if r.outcome, err = w.engine.Wait(context.WithoutCancel(ctx), run); err != nil {
		return nil, err
	}
	for _, f := range w.findings {
		r.findings = append(r.findings, f.Finding)
	}
	r.collect(session)
	return r, nil
}

// collect puts the findings in order, and adds what the session proposes now.
func (r *result) collect(session *agentcore.Session) {
	slices.SortFunc(r.findings, func(a, b event.Finding) int {
		return cmp.Or(
			cmp.Compare(a.URI, b.URI), cmp.Compare(a.Span.StartLine, b.Span.StartLine),
			cmp.Compare(a.Span.StartColumn, b.Span.StartColumn), cmp.Compare(a.ID, b.ID),
		)
	})
	var open []event.HunkID
	for _, h := range session.Board().Proposal().Hunks() {
		switch h.State {
		case event.StateOpen:
			open = append(open, h.ID)
			r.hunks = append(r.hunks, h)
		case event.StateConflict:
			r.hunks = append(r.hunks, h)
		}
	}
	slices.SortFunc(r.hunks, func(a, b workspace.Hunk) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.ID, b.ID))
	})
	var failures []workspace.HunkFailure
	r.edits, failures = session.Board().Proposal().Edits(open)
	for _, f := range failures {
		for i := range r.hunks {
			if r.hunks[i].ID == f.ID {
				r.hunks[i].State = event.StateConflict
			}
		}
	}
	for _, f := range r.findings {
		fix := session.Board().Fix(f.ID)
		for _, h := range r.hunks {
			if h.State == event.StateOpen && slices.Contains(fix, h.ID) {
				r.fixes[f.ID] = append(r.fixes[f.ID], h)
			}
		}
		if len(r.fixes[f.ID]) < len(fix) { // a part of the fix no longer fits
			delete(r.fixes, f.ID)
		}
	}
	slices.SortFunc(r.edits, func(a, b workspace.FileEdit) int { return cmp.Compare(a.Path, b.Path) })
	r.read(session.View())
}

// read reads the texts from which columns and formats are taken. A file that cannot be read, or does not exist yet, has
// none.
func (r *result) read(view *workspace.View) {
	keep := func(path string) {
		if file, err := view.Read(path); err == nil {
			r.files[path] = file
		}
	}
	for _, f := range r.findings {
		keep(event.FilePath(f.URI))
	}
	for _, e := range r.edits {
		keep(e.Path)
	}
}

// complete reports whether every run came to its end.
func (r *result) complete() bool { return r.outcome.Status == event.StatusCompleted && !r.partial }

// fixed reports whether the fix of a finding was written.
func (r *result) fixed(f event.Finding) bool {
	fix := r.fixes[f.ID]
	return len(fix) > 0 && !slices.ContainsFunc(fix, func(h workspace.Hunk) bool { return !r.written[h.Path] })
}

// name is a path for people: relative to the current folder if it lies there.
func (r *result) name(path string) string {
	if rel, err := filepath.Rel(r.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// below is a path relative to the workspace folder, with slashes.
func (r *result) below(path string) string {
	if rel, err := filepath.Rel(r.root.Path, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// diffBase is the folder that the names in a diff are relative to: the current one if all edits lie there, else
// the workspace folder.
func (r *result) diffBase() string {
	for _, e := range r.edits {
		if !inside(r.dir, e.Path) || e.MoveTo != "" && !inside(r.dir, e.MoveTo) {
			return r.root.Path
		}
	}
	return r.dir
}

// diff is all proposed edits as a unified diff.
func (r *result) diff() string {
	base := workspace.NewDiffBase(r.diffBase())
	ordered, cyclic := workspace.Ordered(r.edits) // git apply can handle files that exchange names
	var b strings.Builder
	for _, e := range append(ordered, cyclic...) {
		b.WriteString(e.Diff(base, r.files[e.Path].Format))
	}
	return b.String()
}

// encode renders the result in a format.
func (r *result) encode(format string, p *process) (string, error) {
	switch format {
	case "json":
		return encodeJSON(r.report())
	case "sarif":
		return encodeJSON(r.sarif())
	case "diff":
		if p.stdout.terminal {
			return paintDiff(visible(r.diff()), p.stdout.color), nil
		}
		return r.diff(), nil
	}
	if r.held {
		return r.object()
	}
	return r.text(p.stdout.color), nil
}

// object is the object of the answer on a line of its own, or nothing where there is none.
func (r *result) object() (string, error) {
	if len(r.outcome.Structured) == 0 {
		return "", nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, r.outcome.Structured); err != nil {
		return "", fmt.Errorf("write the object of the answer: %w", err)
	}
	return line.String() + "\n", nil
}

// exitCode is the code that the result itself asks for.
func (r *result) exitCode(failOn string) int {
	switch r.outcome.Status {
	case event.StatusCompleted:
	case event.StatusInterrupted:
		return exitTerminated
	default:
		return exitFailed
	}
	if r.partial || r.unmet || r.leftOpen {
		return exitFailed
	}
	if failOn == "never" {
		return exitOK
	}
	least := rank(event.Severity(failOn))
	for _, f := range r.findings {
		if rank(f.Severity) <= least && !r.fixed(f) {
			return exitFindings
		}
	}
	return exitOK
}

// rank orders severities, 0 for the gravest. An unknown one counts as an error.
func rank(s event.Severity) int { return max(0, slices.Index(severities, string(s))) }

// failure says why a run did not complete; nil for one that did.
func (r *result) failure() error {
	if r.outcome.Status == event.StatusCompleted {
		return nil // a notice told what failed
	}
	text := fmt.Sprintf("%s %s", r.agent, r.outcome.Status)
	if e := r.outcome.Error; e != nil {
		text += ": " + e.Detail
		if e.Hint != "" {
			text += "; " + e.Hint
		}
	}
	return fmt.Errorf("%s", text)
}
