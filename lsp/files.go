package lsp

import (
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/lsp/document"
)

// What the user does to files and folders in the editor, as the editor tells it. Everything in this file runs on the
// reading goroutine, in the order of the wire.

// didRenameFiles has hunks and findings follow files and folders to their new names.
func (c *connected) didRenameFiles(p *protocol.RenameFilesParams) error {
	c.documents.Rename(p.Files)
	var paths []string
	for _, f := range p.Files {
		from, to := document.Path(uri.URI(f.OldURI)), document.Path(uri.URI(f.NewURI))
		c.diagnostics.TouchBelow(from)
		paths = append(paths, from, to)
	}
	c.filesChanged(paths)
	return nil
}

func (c *connected) didCreateFiles(p *protocol.CreateFilesParams) error {
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, document.Path(uri.URI(f.URI)))
	}
	c.filesChanged(paths)
	return nil
}

func (c *connected) didDeleteFiles(p *protocol.DeleteFilesParams) error {
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, document.Path(uri.URI(f.URI)))
	}
	c.filesChanged(paths)
	return nil
}

// filesChanged tells everybody that files on disk are other than they were.
func (c *connected) filesChanged(paths []string) {
	c.view.DiskChanged(paths)
	c.reloader.changed(paths)
	c.diagnostics.Touch(paths...)
}
