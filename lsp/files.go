package lsp

import (
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/lsp/document"
)

// What the user does to files and folders in the editor, as the editor tells it. Everything in this file runs on the
// reading goroutine, in the order of the wire.

// didRenameFiles has hunks and findings follow files and folders to their new names.
func (s *Server) didRenameFiles(p *protocol.RenameFilesParams) error {
	s.documents.Rename(p.Files)
	var paths []string
	for _, f := range p.Files {
		from, to := document.Path(uri.URI(f.OldURI)), document.Path(uri.URI(f.NewURI))
		s.diagnostics.TouchBelow(from)
		paths = append(paths, from, to)
	}
	s.filesChanged(paths)
	return nil
}

func (s *Server) didCreateFiles(p *protocol.CreateFilesParams) error {
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, document.Path(uri.URI(f.URI)))
	}
	s.filesChanged(paths)
	return nil
}

func (s *Server) didDeleteFiles(p *protocol.DeleteFilesParams) error {
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, document.Path(uri.URI(f.URI)))
	}
	s.filesChanged(paths)
	return nil
}

// filesChanged tells everybody that files on disk are other than they were.
func (s *Server) filesChanged(paths []string) {
	s.view.DiskChanged(paths)
	s.reloader.changed(paths)
	s.diagnostics.Touch(paths...)
}
