package main

import (
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// report is the result as `--format json` prints it, one object. Paths are relative to root, with slashes. Spans
// are 0-based lines and columns in bytes of UTF-8, the end exclusive, as in the events of schema/PROTOCOL.md.
type report struct {
	// Version is the version of agentls.
	Version string `json:"version"`
	// Root is the workspace folder, an absolute path.
	Root    string          `json:"root"`
	Session event.SessionID `json:"session"`
	Run     event.RunID     `json:"run"`
	Agent   string          `json:"agent"`
	// Model is "provider/model".
	Model string `json:"model"`
	// Result is the RunResult of schema/PROTOCOL.md.
	Result event.RunResult `json:"result"`
	// Findings are sorted by place.
	Findings []findingReport `json:"findings"`
	// Edits are the proposed edits, one entry for each file, sorted by path.
	Edits []fileReport `json:"edits"`
	// Denied are the calls that were denied, of children too, in their order.
	Denied []deniedReport `json:"denied"`
}

// findingReport is a Finding of schema/PROTOCOL.md with its path.
type findingReport struct {
	Path string `json:"path"`
	event.Finding
	// Fixed says that --write wrote its fix.
	Fixed bool `json:"fixed,omitempty"`
}

// fileReport is what is proposed for one file.
type fileReport struct {
	Path string `json:"path"`
	URI  string `json:"uri"`
	// Change is "create", "modify", "delete" or "rename".
	Change string `json:"change"`
	// MoveTo is where a renamed file goes; its text may change, too.
	MoveTo string `json:"moveTo,omitempty"`
	// Written says that --write wrote it.
	Written bool         `json:"written"`
	Hunks   []hunkReport `json:"hunks"`
	// Diff is the open hunks in the unified format, with the path as the name.
	Diff string `json:"diff"`
}

// hunkReport is one piece of it. StartLine and EndLine are 0-based lines of the file, the end exclusive;
// Before and After are whole lines with their line endings.
type hunkReport struct {
	ID        event.HunkID        `json:"id"`
	State     event.ProposalState `json:"state"`
	StartLine int                 `json:"startLine"`
	EndLine   int                 `json:"endLine"`
	Before    string              `json:"before"`
	After     string              `json:"after"`
	Run       event.RunID         `json:"run"`
	Agent     string              `json:"agent"`
	Reason    string              `json:"reason,omitempty"`
}

func (r *result) report() report {
	out := report{
		Version: version(), Root: r.root.Path, Session: r.session, Run: r.run, Agent: r.agent, Model: r.model,
		Result: r.outcome, Findings: []findingReport{}, Edits: []fileReport{},
		Denied: append([]deniedReport{}, r.denied...),
	}
	for _, f := range r.findings {
		out.Findings = append(out.Findings, findingReport{
			Finding: f, Path: r.below(event.FilePath(f.URI)),
			Fixed: r.fixed(f),
		})
	}
	diffs, base := map[string]string{}, workspace.NewDiffBase(r.root.Path)
	for _, e := range r.edits {
		diffs[e.Path] = e.Diff(base, r.files[e.Path].Format)
	}
	for _, h := range r.hunks { // they are sorted by path
		name := r.below(h.Path)
		if n := len(out.Edits); n == 0 || out.Edits[n-1].Path != name {
			out.Edits = append(out.Edits, fileReport{
				Path: name, URI: event.FileURI(h.Path), Change: changeOf(h), Written: r.written[h.Path],
				Diff: diffs[h.Path],
			})
		}
		last := &out.Edits[len(out.Edits)-1]
		if h.MoveTo != "" {
			last.Change, last.MoveTo = "rename", r.below(h.MoveTo)
		}
		last.Hunks = append(last.Hunks, hunkReport{
			ID: h.ID, State: h.State, StartLine: h.StartLine, EndLine: h.EndLine, Before: h.Before, After: h.After,
			Run: h.Author.Run, Agent: h.Author.Agent, Reason: h.Author.Reason,
		})
	}
	return out
}

func changeOf(h workspace.Hunk) string {
	switch {
	case h.Create:
		return "create"
	case h.Delete:
		return "delete"
	}
	return "modify"
}
