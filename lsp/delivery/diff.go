package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// DiffProposal answers `agent/proposal/diff`.
func (d *Desk) DiffProposal(ctx context.Context, p *methods.ProposalParams) (*methods.ProposalDiff, error) {
	session, ids, err := d.chosenHunks(ctx, p)
	if err != nil {
		return nil, err
	}
	diff, err := session.Board().Diff(ids)
	if err != nil {
		return nil, err
	}
	result := &methods.ProposalDiff{Diff: diff, Conflicts: d.conflictText(session, ids, p.Files)}
	if name := d.diffName(p); name != "" {
		result.URI = document.Virtual(name)
	}
	return result, nil
}

// conflictText shows both sides of the hunks in conflict, of the named hunks and files, as git shows them in a file:
// the present text, what the agent had seen, and what it proposes.
func (d *Desk) conflictText(session *agentcore.Session, ids []event.HunkID, files []uri.URI) string {
	var b strings.Builder
	for _, h := range session.Board().Hunks() {
		inFile := slices.ContainsFunc(files, func(u uri.URI) bool { return document.Path(u) == h.Path })
		if h.State != event.StateConflict || !inFile && !slices.Contains(ids, h.ID) {
			continue
		}
		who := remark.Agent(h.Author)
		fmt.Fprintf(&b, "%s:%d: conflict with the edit of %s%s", d.View.Shown(h.Path), h.StartLine+1, who,
			remark.Because(h.Author.Reason))
		if h.Detail != "" {
			b.WriteString(" (" + h.Detail + ")")
		}
		b.WriteString("\n")
		sides, ok := session.Board().Proposal().Sides(h.ID)
		if !ok {
			sides = workspace.Conflict{Base: h.Before, Ours: h.After}
		}
		fmt.Fprintf(&b,
			"<<<<<<< what stands there now\n%s||||||| what %s had seen\n%s=======\n%s>>>>>>> what %s proposes\n\n",
			wholeLines(sides.Theirs), who, wholeLines(sides.Base), wholeLines(sides.Ours), who)
	}
	return b.String()
}

func wholeLines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// The names of diff documents: the whole proposal, one file of it, or one hunk.
//
//	proposals/PROPOSAL.diff
//	proposals/PROPOSAL/files/PATH.diff      the path as View.Relative has it
//	proposals/PROPOSAL/hunks/HUNK.diff
const (
	diffFolder = "proposals/"
	diffEnding = ".diff"
	// ChosenDiff is the name of a diff for which there is no document.
	ChosenDiff = diffFolder + "chosen" + diffEnding
)

// diffName is the name of the document that shows the chosen hunks, "" where there is none.
func (d *Desk) diffName(p *methods.ProposalParams) string {
	name := diffFolder + string(p.Proposal)
	switch {
	case len(p.Files) == 0 && len(p.Hunks) == 0:
		return name + diffEnding
	case len(p.Files) == 1 && len(p.Hunks) == 0:
		return name + "/files/" + strings.TrimPrefix(d.View.Relative(document.Path(p.Files[0])), "/") + diffEnding
	case len(p.Files) == 0 && len(p.Hunks) == 1:
		return name + "/hunks/" + string(p.Hunks[0]) + diffEnding
	}
	return ""
}

// DiffParams is the inverse of diffName; ok is false for a name of no diff document.
func (d *Desk) DiffParams(session *agentcore.Session, name string) (p *methods.ProposalParams, ok bool) {
	rest, ok := document.CutBoth(name, diffFolder, diffEnding)
	if !ok {
		return nil, false
	}
	proposal, part, _ := strings.Cut(rest, "/")
	p = &methods.ProposalParams{Proposal: event.ProposalID(proposal)}
	if hunk, ok := strings.CutPrefix(part, "hunks/"); ok {
		p.Hunks = []event.HunkID{event.HunkID(hunk)}
		return p, true
	}
	file, ok := strings.CutPrefix(part, "files/")
	if !ok {
		return p, part == ""
	}
	// Only the hunks' own paths are possible, and a path outside of the folders cannot be found in another way.
	if session != nil {
		for _, h := range session.Board().Hunks() {
			if strings.TrimPrefix(d.View.Relative(h.Path), "/") == file {
				p.Files = []uri.URI{d.Documents.URI(h.Path)}
				return p, true
			}
		}
	}
	return nil, false
}

// DiffText is a diff, followed by the conflicts, for people.
func DiffText(d *methods.ProposalDiff) string {
	switch {
	case d.Diff != "" && d.Conflicts != "":
		return d.Diff + "\n" + d.Conflicts
	case d.Diff == "" && d.Conflicts == "":
		return "Nothing of it is open any more.\n"
	}
	return d.Diff + d.Conflicts
}
