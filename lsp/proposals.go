package lsp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
)

const (
	// acceptAttempts is how often an edit is computed anew when the user typed while it was on its way.
	acceptAttempts = 3
	// echoTime is how long the change that an edit makes is waited for after the editor has said that it made it.
	// Neovim sends its changes 150 ms late.
	echoTime = 2 * time.Second
)

// accept has the editor apply hunks. One edit at a time is on its way, since the next one has to be
// computed against what the former left.
func (s *Server) accept(ctx context.Context, session *agentcore.Session, ids []event.HunkID) (*methods.AcceptResult, error) {
	if !s.client.applyEdit() {
		hint := "accept the edit by the code action on its line, which carries it"
		if !s.client.codeActionLiterals() {
			hint = "show the proposed diff and make the change by hand, or use `agentls review --write`"
		}
		return nil, &agentcore.Error{
			Kind: string(methods.KindUnsupported), Detail: "this editor does not let a server apply edits (workspace/applyEdit)", Hint: hint,
		}
	}
	select {
	case s.accepting <- struct{}{}:
		defer func() { <-s.accepting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer session.HoldMerges()()
	a := &acceptance{session: session, left: uniqueHunks(ids)}
	for range acceptAttempts {
		again, err := s.attempt(ctx, a)
		if err != nil {
			return nil, err
		}
		if !again {
			break
		}
	}
	session.Proposal().Confirm(a.left, false, a.refusal)
	for _, id := range slices.Clone(a.left) {
		a.fail(id, a.refusal)
	}
	return &a.result, s.settle(ctx, session)
}

// acceptance is one accept on its way. It belongs to the goroutine of its request.
type acceptance struct {
	session *agentcore.Session
	left    []event.HunkID // those that nothing was decided about
	refusal string         // why the last attempt left some
	result  methods.AcceptResult
}

func (a *acceptance) fail(id event.HunkID, reason string) {
	a.left = slices.DeleteFunc(a.left, func(other event.HunkID) bool { return other == id })
	a.result.Failed = append(a.result.Failed, methods.HunkFailure{Hunk: id, Reason: reason})
}

func uniqueHunks(ids []event.HunkID) []event.HunkID {
	var list []event.HunkID
	for _, id := range ids {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// attempt sends the editor the edit of the hunks that are left. It reports whether another attempt may get on, since
// the text changed meanwhile.
func (s *Server) attempt(ctx context.Context, a *acceptance) (again bool, err error) {
	edits, failed := a.session.Proposal().Edits(a.left)
	for _, f := range failed {
		a.fail(f.ID, f.Reason)
	}
	edit, refused := s.workspaceEdit(edits)
	edits = slices.DeleteFunc(edits, func(e workspace.FileEdit) bool { return refused[e.Path] != "" })
	for _, id := range slices.Clone(a.left) {
		if h, ok := a.session.Proposal().Hunk(id); ok && refused[h.Path] != "" {
			a.fail(id, refused[h.Path])
		}
	}
	if len(a.left) == 0 {
		return false, nil
	}
	if a.refusal, err = s.client.apply(ctx, "agentls: "+label(edits), edit); err != nil {
		return false, err
	}
	if a.refusal != "" {
		return s.moved(edits), nil
	}
	a.session.Proposal().Confirm(a.left, true, "")
	told, err := s.echoed(ctx, edits)
	if err != nil {
		return false, err
	}
	if told && s.client.documentChanges() {
		// Neovim leaves out an edit of an older version, and says that it was applied. What it shows now
		// tells. (An edit without a version is never left out, and its change may still be on its way.)
		for _, e := range edits {
			if doc := s.documents.get(e.Path); doc != nil && doc.version != e.Version {
				s.view.Recheck(e.Path)
			}
		}
	}
	a.divide()
	a.refusal = "the text changed while the edit was on its way; accept it again"
	return len(a.left) > 0, nil
}

// divide tells the hunks that the editor took from those that were opened again, which are left, and from those that
// came to nothing, since the user typed on their lines while the edit was on its way.
func (a *acceptance) divide() {
	var open []event.HunkID
	for _, id := range slices.Clone(a.left) {
		h, known := a.session.Proposal().Hunk(id)
		switch {
		case !known || h.State == event.StateAccepted: // what is not known was settled long ago
			a.result.Applied = append(a.result.Applied, id)
		case h.State == event.StateOpen:
			open = append(open, id)
		default:
			a.fail(id, fmt.Sprintf("it is in the state %s: %s", h.State, h.Detail))
		}
	}
	a.left = open
}

// settle waits until what the editor answered is durable, also when nobody waits for the result any more.
func (s *Server) settle(ctx context.Context, session *agentcore.Session) error {
	return session.Flush(context.WithoutCancel(ctx))
}

// echoed waits until the editor has told of a change in each open document of the edits, for echoTime at most. Of an
// editor that tells nothing it reports false: it has said itself that it applied the edit, and that has to do.
func (s *Server) echoed(ctx context.Context, edits []workspace.FileEdit) (told bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, echoTime)
	defer cancel()
	err = s.documents.wait(bounded, func() bool {
		// The hunks follow a document a little after its version is known.
		return s.edits.Load()%2 == 0 && !slices.ContainsFunc(edits, func(e workspace.FileEdit) bool {
			doc := s.documents.get(e.Path)
			return e.Version >= 0 && doc != nil && doc.version == e.Version
		})
	})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		s.logger.Info("the editor told of no change after it applied an edit", "error", err)
	}
	return err == nil, nil
}

// moved reports whether a document has another version now than its edit was computed for.
func (s *Server) moved(edits []workspace.FileEdit) bool {
	return slices.ContainsFunc(edits, func(e workspace.FileEdit) bool {
		doc := s.documents.get(e.Path)
		return doc != nil && doc.version != e.Version || doc == nil && e.Version >= 0
	})
}

// label names an edit in the editor's undo list.
func label(edits []workspace.FileEdit) string {
	count := 0
	for _, e := range edits {
		count += max(1, len(e.Edits))
	}
	if count == 1 && len(edits[0].Reasons) == 1 && edits[0].Reasons[0] != "" {
		return shortened(edits[0].Reasons[0])
	}
	return plural(count, "accepted edit")
}

// annotation is the id of the one annotation that our edits have.
const annotation protocol.ChangeAnnotationIdentifier = "agentls"

// workspaceEdit gives edits the richest form that the client takes. Files that the client cannot create or
// delete are left out; refused says why, by path.
func (s *Server) workspaceEdit(edits []workspace.FileEdit) (edit protocol.WorkspaceEdit, refused map[string]string) {
	refused = map[string]string{}
	annotated := s.client.annotations()
	for _, e := range edits {
		u := s.documents.uriOf(e.Path)
		texts := s.textEdits(e)
		if !s.client.documentChanges() {
			if e.Create || e.Delete {
				refused[e.Path] = "this editor lets no server create or delete files (workspaceEdit.resourceOperations); use `agentls review --write` or make the change by hand"
				continue
			}
			if edit.Changes == nil {
				edit.Changes = map[uri.URI][]protocol.TextEdit{}
			}
			edit.Changes[u] = append(edit.Changes[u], texts...)
			continue
		}
		operation, why := s.resourceOperation(e, u)
		if why != "" {
			refused[e.Path] = why
			continue
		}
		if operation != nil {
			edit.DocumentChanges = append(edit.DocumentChanges, operation)
		}
		if e.Delete {
			continue
		}
		change := &protocol.TextDocumentEdit{}
		change.TextDocument.URI = u
		if e.Version >= 0 && !e.Create {
			change.TextDocument.Version = &e.Version
		}
		for i, text := range texts {
			if annotated {
				change.Edits = append(change.Edits, &protocol.AnnotatedTextEdit{TextEdit: text, AnnotationID: annotation})
			} else {
				change.Edits = append(change.Edits, &texts[i])
			}
		}
		edit.DocumentChanges = append(edit.DocumentChanges, change)
	}
	if annotated && len(edit.DocumentChanges) > 0 {
		edit.ChangeAnnotations = map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation{
			annotation: {Label: "agentls", NeedsConfirmation: pointer(false), Description: pointer("edits that you accepted")},
		}
	}
	return edit, refused
}

func (s *Server) textEdits(e workspace.FileEdit) []protocol.TextEdit {
	x := workspace.NewIndex(e.Before)
	list := make([]protocol.TextEdit, 0, len(e.Edits))
	for _, one := range e.Edits {
		list = append(list, protocol.TextEdit{
			Range: protocol.Range{
				Start: s.documents.encoding.position(x, one.Start),
				End:   s.documents.encoding.position(x, one.End),
			},
			NewText: one.New,
		})
	}
	return list
}

// resourceOperation makes or deletes the file of an edit, nil where it only changes; why says that the
// client has no such operation.
func (s *Server) resourceOperation(e workspace.FileEdit, u uri.URI) (operation protocol.DocumentChange, why string) {
	switch {
	case e.Create && s.client.resource(protocol.ResourceOperationKindCreate):
		return &protocol.CreateFile{Kind: "create", URI: u, Options: &protocol.CreateFileOptions{IgnoreIfExists: pointer(true)}}, ""
	case e.Delete && s.client.resource(protocol.ResourceOperationKindDelete):
		return &protocol.DeleteFile{Kind: "delete", URI: u}, ""
	case e.Create || e.Delete:
		return nil, "this editor lets no server create or delete files (workspaceEdit.resourceOperations); use `agentls review --write` or make the change by hand"
	}
	return nil, ""
}

// chosenHunks are the open hunks that the params mean: those named, those of the named files, or all.
func (s *Server) chosenHunks(ctx context.Context, p *methods.ProposalParams) (*agentcore.Session, []event.HunkID, error) {
	if _, err := s.open(ctx); err != nil {
		return nil, nil, err
	}
	session := s.opened()
	if session == nil || session.ProposalID() != p.Proposal {
		return nil, nil, &agentcore.Error{
			Kind: string(methods.KindNotFound), Detail: fmt.Sprintf("there is no proposal %q here", p.Proposal),
			Hint: "list the proposals with agent/proposals",
		}
	}
	ids := slices.Clone(p.Hunks)
	if len(p.Hunks) > 0 && len(p.Files) == 0 {
		return session, ids, nil
	}
	ids = ids[:0]
	for _, h := range session.Hunks() {
		named := len(p.Hunks) == 0 && h.State == event.StateOpen || slices.Contains(p.Hunks, h.ID)
		inFile := len(p.Files) == 0 || slices.ContainsFunc(p.Files, func(u uri.URI) bool { return pathOf(u) == h.Path })
		if named && inFile {
			ids = append(ids, h.ID)
		}
	}
	return session, ids, nil
}

// proposalOf is the session's proposal on the wire.
func (s *Server) proposalOf(session *agentcore.Session) methods.Proposal {
	run, agent := session.Proposing()
	p := methods.Proposal{
		ID: session.ProposalID(), Session: session.ID, Run: run, Agent: agent, Title: session.Title(),
	}
	byPath := map[string]int{}
	for _, h := range session.Hunks() {
		at, ok := byPath[h.Path]
		if !ok {
			at = len(p.Files)
			byPath[h.Path] = at
			file := methods.ProposalFile{URI: s.documents.uriOf(h.Path), Change: methods.FileModified}
			if doc := s.documents.get(h.Path); doc != nil {
				file.Version = pointer(int(doc.version))
			}
			p.Files = append(p.Files, file)
		}
		file := &p.Files[at]
		switch {
		case h.Create:
			file.Change = methods.FileCreated
		case h.Delete:
			file.Change = methods.FileDeleted
		}
		file.State = worse(file.State, h.State)
		p.State = worse(p.State, h.State)
		file.Hunks = append(file.Hunks, s.hunkOf(h))
	}
	if p.State == "" {
		p.State = event.StateOpen
	}
	return p
}

// worse joins the states of parts into that of the whole: what still wants a decision counts most.
func worse(a, b event.ProposalState) event.ProposalState {
	for _, state := range []event.ProposalState{event.StateConflict, event.StateOpen, event.StateAccepted, event.StateRejected} {
		if a == state || b == state {
			return state
		}
	}
	return b
}

func (s *Server) hunkOf(h workspace.Hunk) methods.Hunk {
	hunk := methods.Hunk{ID: h.ID, State: h.State, Before: h.Before, After: h.After, Reason: h.Author.Reason}
	if x, _, err := s.textOf(h.Path); err == nil {
		start, end := min(h.StartLine, x.Len()), min(h.EndLine, x.Len())
		hunk.Range = protocol.Range{
			Start: s.documents.encoding.position(x, x.Start(start)), End: s.documents.encoding.position(x, x.Start(end)),
		}
	}
	return hunk
}
