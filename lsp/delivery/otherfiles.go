package delivery

import (
	"context"
	"fmt"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/short"
)

// otherFile is a file, other than the user's document, with proposed edits that wait for the user.
type otherFile struct {
	uri   uri.URI
	label string // its name and what is proposed for it
}

// The answers to the question what to do with edits in other files.
const (
	answerShowEdits   = "Show"
	answerAcceptEdits = "Accept"
	answerRejectEdits = "Reject"
)

// askedFiles is how many files a question names; the others are only among all files.
const askedFiles = 9

// asksAboutFiles reports whether the client can be asked about edits in other files, and be sent those that the user
// accepts.
func (d *Desk) asksAboutFiles() bool {
	return d.Client.AppliesEdits() && (d.Client.ShowsQuestions() || d.Client.Announced().Questions)
}

// OtherFiles carries out `agentls.proposal.others`.
func (d *Desk) OtherFiles(ctx context.Context, p *methods.OtherFilesParams) (*methods.OtherFilesResult, error) {
	session, err := d.Kept(ctx)
	if err != nil {
		return nil, err
	}
	var files []otherFile
	if session != nil {
		files = d.otherFiles(session, document.Path(p.URI))
	}
	if len(files) == 0 {
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: "no edit is proposed for another file",
			Hint: "list what is proposed with agent/proposals",
		}
	}
	result := &methods.OtherFilesResult{}
	chosen, about, err := d.chooseFiles(ctx, session, files)
	if err != nil || len(chosen.Files) == 0 {
		return result, err
	}
	answer, err := d.Inquire(ctx, session, "What do you want to do with "+about+"?",
		[]methods.Choice{{Label: answerShowEdits}, {Label: answerAcceptEdits}, {Label: answerRejectEdits}})
	if err != nil {
		return nil, err
	}
	switch answer {
	case answerShowEdits:
		diff, err := d.DiffProposal(ctx, &chosen)
		if err != nil {
			return nil, err
		}
		d.Present(ctx, diff)
	case answerAcceptEdits:
		accepted, err := d.AcceptProposal(ctx, &methods.AcceptParams{Proposal: chosen.Proposal, Files: chosen.Files})
		if err != nil {
			return nil, err
		}
		result.Applied, result.Failed = accepted.Applied, accepted.Failed
	case answerRejectEdits:
		rejected, err := d.RejectProposal(ctx, &chosen)
		if err != nil {
			return nil, err
		}
		result.Rejected, result.Failed = rejected.Rejected, rejected.Failed
	}
	d.Present(ctx, &methods.RejectResult{Failed: result.Failed})
	return result, nil
}

// otherFiles are the files other than one for which edits are proposed, in the proposal's order.
func (d *Desk) otherFiles(session *agentcore.Session, except string) []otherFile {
	var list []otherFile
	for _, f := range d.Of(session).Files {
		path, open := document.Path(f.URI), 0
		for _, h := range f.Hunks {
			if h.State == event.StateOpen {
				open++
			}
		}
		if path == except || open == 0 {
			continue
		}
		change := short.Count(open, "edit")
		if f.Change != methods.FileModified {
			change = string(f.Change)
		}
		list = append(list, otherFile{f.URI, fmt.Sprintf("%s (%s)", d.View.Relative(path), change)})
	}
	return list
}

// chooseFiles has the user choose one of several files, or all. It returns their edits and a name for them; none where
// the user chooses nothing.
func (d *Desk) chooseFiles(
	ctx context.Context, session *agentcore.Session, files []otherFile,
) (methods.ProposalParams, string, error) {
	chosen := methods.ProposalParams{Proposal: session.Board().ProposalID()}
	if len(files) == 1 {
		chosen.Files = []uri.URI{files[0].uri}
		return chosen, files[0].label, nil
	}
	all := fmt.Sprintf("All %d files", len(files))
	choices := []methods.Choice{{Label: all}}
	for _, f := range files[:min(len(files), askedFiles)] {
		choices = append(choices, methods.Choice{Label: f.label})
	}
	label, err := d.Inquire(ctx, session, "Which of the proposed edits in other files?", choices)
	if err != nil {
		return chosen, "", err
	}
	for _, f := range files {
		if label == all || label == f.label {
			chosen.Files = append(chosen.Files, f.uri)
		}
	}
	if label == all {
		label = fmt.Sprintf("the edits in %d files", len(files))
	}
	return chosen, label, nil
}
