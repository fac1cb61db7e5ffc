package lsp

import (
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/document"
)

// Everything in this file runs on the reading goroutine, in the order of the wire.

func (c *connected) didOpen(p *protocol.DidOpenTextDocumentParams) error {
	doc := c.documents.Open(p.TextDocument)
	c.diagnostics.Touch(doc.Path)
	c.asks.wake()
	if doc.Kind != authoring.None {
		c.answers.trust.ask() // about the folder that it is in
	}
	return nil
}

func (c *connected) didChange(p *protocol.DidChangeTextDocumentParams) error {
	doc, err := c.documents.Change(p.TextDocument, p.ContentChanges)
	if err != nil {
		return err
	}
	if doc.Kind != authoring.None {
		c.diagnostics.TouchSoon(doc.Path)
	}
	return nil
}

func (c *connected) didClose(p *protocol.DidCloseTextDocumentParams) error {
	doc, err := c.documents.Close(p.TextDocument.URI)
	if err != nil {
		return err
	}
	c.diagnostics.Touch(doc.Path)
	c.asks.wake()
	return nil
}

func (c *connected) didSave(p *protocol.DidSaveTextDocumentParams) error {
	path := document.Path(p.TextDocument.URI)
	c.view.SaveDocument(path)
	c.view.DiskChanged([]string{path})
	c.answers.trust.didSave(path)
	c.reloader.changed([]string{path})
	return nil
}

func (c *connected) didChangeWatchedFiles(p *protocol.DidChangeWatchedFilesParams) error {
	var paths []string
	for _, change := range p.Changes {
		paths = append(paths, document.Path(change.URI))
	}
	c.view.DiskChanged(paths)
	c.reloader.changed(paths)
	return nil
}

func (c *connected) didChangeWorkspaceFolders(p *protocol.DidChangeWorkspaceFoldersParams) error {
	gone := map[string]bool{}
	for _, f := range p.Event.Removed {
		for _, r := range appendRoot(nil, f.URI, f.Name) {
			gone[r.Path] = true
		}
	}
	var roots []workspace.Root
	for _, r := range c.view.Roots() {
		if !gone[r.Path] {
			roots = append(roots, r)
		}
	}
	for _, f := range p.Event.Added {
		roots = appendRoot(roots, f.URI, f.Name)
	}
	if err := c.view.SetRoots(roots); err != nil {
		return fmt.Errorf("change the workspace folders: %w", err)
	}
	c.settings.renew(nil) // the first folder's own count, too; they have the definitions read again
	return nil
}

// What the user does to files and folders in the editor, as the editor tells it.

// didRenameFiles moves hunks and findings along with files and folders to their new names.
func (c *connected) didRenameFiles(p *protocol.RenameFilesParams) error {
	paths := c.documents.Rename(p.Files)
	for _, f := range p.Files {
		c.diagnostics.TouchBelow(document.Path(uri.URI(f.OldURI)))
	}
	c.reloader.changed(paths)
	c.diagnostics.Touch(paths...)
	return nil
}

// didChangeFiles takes in that files and folders were created or deleted: the params of both have the same form.
func (c *connected) didChangeFiles(p *protocol.CreateFilesParams) error {
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, document.Path(uri.URI(f.URI)))
	}
	c.view.DiskChanged(paths)
	c.reloader.changed(paths)
	c.diagnostics.Touch(paths...)
	return nil
}
