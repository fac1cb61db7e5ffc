package delivery

import (
	"cmp"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/short"
)

// label names an edit in the editor's undo list.
func label(edits []workspace.FileEdit) string {
	count := 0
	for _, e := range edits {
		count += max(1, len(e.Edits))
	}
	if count == 1 && len(edits[0].Reasons) == 1 && edits[0].Reasons[0] != "" {
		return short.Line(edits[0].Reasons[0])
	}
	return short.Count(count, "accepted edit")
}

// fileOperation is what an edit does to a file as a whole, "" for one that only changes its text.
func fileOperation(e workspace.FileEdit) protocol.ResourceOperationKind {
	switch {
	case e.Create:
		return protocol.ResourceOperationKindCreate
	case e.Delete:
		return protocol.ResourceOperationKindDelete
	case e.MoveTo != "":
		return protocol.ResourceOperationKindRename
	}
	return ""
}

// planner makes WorkspaceEdits in the form that the client supports.
type planner struct {
	client    *client.Client
	documents *document.Documents
	view      *workspace.View
}

// plannedEdit is a WorkspaceEdit, with what each part of it means to us.
type plannedEdit struct {
	edit protocol.WorkspaceEdit
	// paths has the file of each of the documentChanges, and what says in words what the change does.
	paths, what []string
	// refused says why files are left out, by path.
	refused map[string]string
	notes   *annotations
}

// plan gives edits the richest form that the client supports. A file for which something is not supported is left out
// with all of its edits, since nobody proposed only a part of them.
//
// The text edits come first, because their ranges and versions are those of the present. Then deletions make names
// free, renames take them (the last of a chain first), and new files are made.
func (l planner) plan(edits []workspace.FileEdit) plannedEdit {
	p := plannedEdit{refused: map[string]string{}, notes: newAnnotations(l.client)}
	ordered, cyclic := workspace.Ordered(edits)
	for _, e := range cyclic {
		p.refused[e.Path] = "it trades names with another file, which no editor can do in one step; accept one of " +
			"them, save, and then the other"
	}
	for _, e := range ordered {
		if why := l.cannot(e); why != "" {
			p.refused[e.Path] = why
		} else if texts := l.textEdits(e); !e.Create && !e.Delete && len(texts) > 0 {
			p.text(l, e, texts)
		}
	}
	for _, e := range ordered {
		if p.refused[e.Path] == "" {
			p.file(l, e)
		}
	}
	if len(p.edit.DocumentChanges) > 0 {
		p.edit.ChangeAnnotations = p.notes.list
	}
	return p
}

// cannot says why an edit cannot be sent to the client, "" if it can.
func (l planner) cannot(e workspace.FileEdit) string {
	kind := fileOperation(e)
	if kind == "" || l.client.TakesDocumentChanges() && l.client.TakesResource(kind) {
		return ""
	}
	return fmt.Sprintf(
		"this editor lets no server %s files (workspaceEdit.resourceOperations); use `agentls review --write` or make "+
			"the change by hand", kind)
}

// text adds the text edits of an existing file.
func (p *plannedEdit) text(l planner, e workspace.FileEdit, texts []protocol.TextEdit) {
	u := l.documents.URI(e.Path)
	if !l.client.TakesDocumentChanges() {
		if p.edit.Changes == nil {
			p.edit.Changes = map[uri.URI][]protocol.TextEdit{}
		}
		p.edit.Changes[u] = append(p.edit.Changes[u], texts...)
		return
	}
	change := &protocol.TextDocumentEdit{}
	change.TextDocument.URI = u
	if e.Version >= 0 && !e.Create {
		change.TextDocument.Version = &e.Version
	}
	for i, text := range texts {
		reason := ""
		if i < len(e.Reasons) {
			reason = e.Reasons[i]
		}
		if id := p.notes.of(reason); id != "" {
			change.Edits = append(change.Edits, &protocol.AnnotatedTextEdit{TextEdit: text, AnnotationID: id})
		} else {
			change.Edits = append(change.Edits, &texts[i])
		}
	}
	p.add(change, e.Path, "edit "+l.view.Shown(e.Path))
}

// file adds what happens to a file as a whole.
func (p *plannedEdit) file(l planner, e workspace.FileEdit) {
	u, name := l.documents.URI(e.Path), l.view.Shown(e.Path)
	operation := protocol.ResourceOperation{}
	reason := ""
	if len(e.Reasons) > 0 {
		reason = e.Reasons[len(e.Reasons)-1] // behind those of the text edits
	}
	if id := p.notes.of(reason); id != "" {
		operation.AnnotationID = id
	}
	switch fileOperation(e) {
	case protocol.ResourceOperationKindDelete:
		if e.Version >= 0 {
			// A deletion has no version. An edit that changes nothing has one, and is refused if the user has typed
			// meanwhile.
			unchanged := &protocol.TextDocumentEdit{Edits: make([]protocol.TextDocumentEditElement, 0)}
			unchanged.TextDocument.URI, unchanged.TextDocument.Version = u, &e.Version
			p.add(unchanged, e.Path, "delete "+name)
		}
		p.add(&protocol.DeleteFile{ResourceOperation: operation, Kind: "delete", URI: u}, e.Path, "delete "+name)
	case protocol.ResourceOperationKindRename:
		to := l.documents.URI(e.MoveTo)
		p.add(&protocol.RenameFile{ResourceOperation: operation, Kind: "rename", OldURI: u, NewURI: to}, e.Path,
			"rename "+name+" to "+l.view.Shown(e.MoveTo))
	case protocol.ResourceOperationKindCreate:
		p.add(&protocol.CreateFile{
			ResourceOperation: operation, Kind: "create", URI: u,
			Options: &protocol.CreateFileOptions{IgnoreIfExists: new(true)},
		}, e.Path, "create "+name)
		if texts := l.textEdits(e); len(texts) > 0 {
			p.text(l, e, texts)
		}
	}
}

func (p *plannedEdit) add(change protocol.DocumentChange, path, what string) {
	p.edit.DocumentChanges = append(p.edit.DocumentChanges, change)
	p.paths, p.what = append(p.paths, path), append(p.what, what)
}

// unexplained is the description of edits for which their agent gave no reason.
const unexplained = "edits that you accepted"

// annotations are the change annotations of one WorkspaceEdit: one for each reason, so that an editor that shows them
// says why. None needs a confirmation: the user has just asked for the edit, and no request of ours waits for a person.
type annotations struct {
	wanted, grouped bool
	list            map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation
}

func newAnnotations(c *client.Client) *annotations {
	if !c.TakesAnnotations() {
		return &annotations{}
	}
	support := c.WorkspaceEdit().ChangeAnnotationSupport
	return &annotations{
		wanted: true, grouped: client.Yes(support.GroupsOnLabel),
		list: map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation{},
	}
}

// of returns the annotation for a reason, "" where the client supports none. A client that groups by label gets one
// group.
func (a *annotations) of(reason string) protocol.ChangeAnnotationIdentifier {
	if !a.wanted {
		return ""
	}
	for id, known := range a.list {
		if *known.Description == cmp.Or(reason, unexplained) {
			return id
		}
	}
	id := protocol.ChangeAnnotationIdentifier(fmt.Sprintf("agentls.%d", len(a.list)+1))
	title := "agentls"
	if !a.grouped && reason != "" {
		title += ": " + short.Line(reason)
	}
	a.list[id] = protocol.ChangeAnnotation{
		Label: title, NeedsConfirmation: new(false), Description: new(cmp.Or(reason, unexplained)),
	}
	return id
}

func (l planner) textEdits(e workspace.FileEdit) []protocol.TextEdit {
	x := workspace.NewIndex(e.Before)
	if last, ends := strings.CutSuffix(e.After(), "\n"); ends && e.Create && l.client.ShowsEmptyLine() {
		// The present line's ending becomes that of the last line.
		return []protocol.TextEdit{{NewText: strings.TrimSuffix(last, "\r")}}
	}
	list := make([]protocol.TextEdit, 0, len(e.Edits))
	for _, one := range e.Edits {
		list = append(list, protocol.TextEdit{
			Range: protocol.Range{
				Start: l.documents.Encoding.At(x, one.Start),
				End:   l.documents.Encoding.At(x, one.End),
			},
			NewText: one.New,
		})
	}
	return list
}

// EditOf is an edit of one document, with its version where the client takes that.
func EditOf(c *client.Client, doc *document.Document, edit protocol.TextEdit) protocol.WorkspaceEdit {
	if !c.TakesDocumentChanges() {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{doc.URI: {edit}}}
	}
	change := &protocol.TextDocumentEdit{}
	change.TextDocument.URI, change.TextDocument.Version = doc.URI, &doc.Version
	change.Edits = append(change.Edits, &edit)
	return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{change}}
}
