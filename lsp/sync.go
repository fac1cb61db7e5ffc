package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/document"
)

// Everything in this file runs on the reading goroutine, in the order of the wire.

// before keeps the open documents for a request.
func (s *Server) before(ctx context.Context, _ string) context.Context {
	return s.documents.Keep(ctx)
}

func (s *Server) didOpen(p *protocol.DidOpenTextDocumentParams) error {
	doc := s.documents.Open(p.TextDocument)
	s.diagnostics.Touch(doc.Path)
	s.asks.wake()
	if doc.Kind != authoring.None {
		s.trust.ask() // about the folder that it is in
	}
	return nil
}

func (s *Server) didChange(p *protocol.DidChangeTextDocumentParams) error {
	doc, err := s.documents.Change(p.TextDocument, p.ContentChanges)
	if err != nil {
		return err
	}
	if doc.Kind != authoring.None {
		s.diagnostics.TouchSoon(doc.Path)
	}
	return nil
}

func (s *Server) didClose(p *protocol.DidCloseTextDocumentParams) error {
	doc, err := s.documents.Close(p.TextDocument.URI)
	if err != nil {
		return err
	}
	s.diagnostics.Touch(doc.Path)
	s.asks.wake()
	return nil
}

func (s *Server) didSave(p *protocol.DidSaveTextDocumentParams) error {
	path := document.Path(p.TextDocument.URI)
	s.view.SaveDocument(path)
	s.view.DiskChanged([]string{path})
	s.trust.didSave(path)
	s.reloader.changed([]string{path})
	return nil
}

func (s *Server) didChangeWatchedFiles(p *protocol.DidChangeWatchedFilesParams) error {
	var paths []string
	for _, change := range p.Changes {
		paths = append(paths, document.Path(change.URI))
	}
	s.view.DiskChanged(paths)
	s.reloader.changed(paths)
	return nil
}

func (s *Server) didChangeWorkspaceFolders(p *protocol.DidChangeWorkspaceFoldersParams) error {
	gone := map[string]bool{}
	for _, f := range p.Event.Removed {
		for _, r := range appendRoot(nil, f.URI, f.Name) {
			gone[r.Path] = true
		}
	}
	var roots []workspace.Root
	for _, r := range s.view.Roots() {
		if !gone[r.Path] {
			roots = append(roots, r)
		}
	}
	for _, f := range p.Event.Added {
		roots = appendRoot(roots, f.URI, f.Name)
	}
	if err := s.view.SetRoots(roots); err != nil {
		return fmt.Errorf("change the workspace folders: %w", err)
	}
	s.settings.renew(nil) // the first folder's own count, too; they have the definitions read again
	return nil
}
