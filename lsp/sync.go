package lsp

import (
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
)

// Everything in this file runs on the reading goroutine, in the order of the wire.

// editing marks the time in which the documents and what follows their lines do not fit together.
func (s *Server) editing() (done func()) {
	s.edits.Add(1)
	return func() {
		s.edits.Add(1)
		s.documents.announce()
		s.diagnostics.settled()
	}
}

func (s *Server) didOpen(p *protocol.DidOpenTextDocumentParams) error {
	defer s.editing()()
	doc := s.documents.open(p.TextDocument)
	s.view.SetBuffer(doc.path, doc.buffer, doc.version)
	s.diagnostics.touch(doc.path)
	s.asks.wake()
	if doc.kind != authoring.None {
		s.trust.ask() // about the folder that it is in
	}
	return nil
}

func (s *Server) didChange(p *protocol.DidChangeTextDocumentParams) error {
	defer s.editing()()
	doc := s.documents.change(p.TextDocument, p.ContentChanges)
	if doc == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	s.view.SetBuffer(doc.path, doc.buffer, doc.version)
	if doc.kind != authoring.None {
		s.diagnostics.touchSoon(doc.path)
	}
	return nil
}

func (s *Server) didClose(p *protocol.DidCloseTextDocumentParams) error {
	defer s.editing()()
	doc := s.documents.close(p.TextDocument.URI)
	if doc == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	s.view.CloseDocument(doc.path)
	s.diagnostics.touch(doc.path)
	s.asks.wake()
	return nil
}

func (s *Server) didSave(p *protocol.DidSaveTextDocumentParams) error {
	path := pathOf(p.TextDocument.URI)
	s.view.SaveDocument(path)
	s.view.DiskChanged([]string{path})
	s.trust.didSave(path)
	s.reloader.changed([]string{path})
	return nil
}

func (s *Server) didChangeWatchedFiles(p *protocol.DidChangeWatchedFilesParams) error {
	var paths []string
	for _, change := range p.Changes {
		paths = append(paths, pathOf(change.URI))
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
