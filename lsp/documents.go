package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/position"
)

// document is one open document at one version. It is immutable; a change makes another one.
type document struct {
	// uri is canonical, whatever the client's spelling: package uri sees to that when it decodes one. path is
	// absolute, or the URI itself where it is no file.
	uri      uri.URI
	path     string
	language string
	kind     authoring.Kind
	version  int32
	buffer   *workspace.Buffer
}

// index is the whole text with its lines. The first call for a version costs its length, so nobody asks on the reading
// goroutine.
func (d *document) index() *workspace.Index { return d.buffer.Index() }

// openDocuments are the open documents at one moment. Whoever is given them changes nothing of them.
type openDocuments struct {
	byPath map[string]*document
	// recent is the path of the document that was opened or changed last.
	recent string
}

// last returns the document that the user touched last, nil if none is open.
func (o openDocuments) last() *document { return o.byPath[o.recent] }

// documents are the open documents, by path. Only the reading goroutine of the connection changes
// them; any goroutine reads.
type documents struct {
	encoding position.Encoding
	kindOf   func(path string) authoring.Kind // nil: none is ours

	mu sync.RWMutex
	openDocuments
	// shared says that somebody holds openDocuments: who changes them next changes a copy.
	shared bool
	// changed is closed and replaced when a document was opened, changed or closed.
	changed chan struct{}
}

func newDocuments(e position.Encoding) *documents {
	none := openDocuments{byPath: map[string]*document{}}
	return &documents{encoding: e, openDocuments: none, changed: make(chan struct{})}
}

func (d *documents) get(path string) *document {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byPath[path]
}

func (d *documents) last() *document {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.openDocuments.last()
}

// snapshot is the open documents as they are now.
func (d *documents) snapshot() openDocuments {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shared = true
	return d.openDocuments
}

// own makes the documents nobody else's, so that they can be changed. The lock is held.
func (d *documents) own() {
	if d.shared {
		d.byPath, d.shared = maps.Clone(d.byPath), false
	}
}

func (d *documents) paths() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]string, 0, len(d.byPath))
	for path := range d.byPath {
		list = append(list, path)
	}
	return list
}

func (d *documents) set(doc *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own()
	d.byPath[doc.path] = doc
	d.recent = doc.path
}

// announce wakes who waits for a change, when everything has followed it.
func (d *documents) announce() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.changed)
	d.changed = make(chan struct{})
}

// wait returns when the condition, which is asked after each change of a document, holds, or with ctx's error.
func (d *documents) wait(ctx context.Context, condition func() bool) error {
	for {
		d.mu.RLock()
		changed := d.changed
		d.mu.RUnlock()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *documents) open(item protocol.TextDocumentItem) *document {
	doc := &document{
		uri: item.URI, path: pathOf(item.URI), language: string(item.LanguageID), version: item.Version,
		buffer: workspace.NewBuffer(item.Text),
	}
	if d.kindOf != nil {
		doc.kind = d.kindOf(doc.path)
	}
	d.set(doc)
	return doc
}

// change applies the changes of one notification in order. Positions outside the text are moved into it and an
// inverted range is turned, as the reference implementations do, so that no change can be refused
// and what agents read stays what the editor shows. It returns nil for a document that is not open.
func (d *documents) change(id protocol.VersionedTextDocumentIdentifier,
	changes []protocol.TextDocumentContentChangeEvent,
) *document {
	old := d.get(pathOf(id.URI))
	if old == nil {
		return nil
	}
	b := old.buffer
	for _, change := range changes {
		switch c := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			b = workspace.NewBuffer(c.Text)
		case *protocol.TextDocumentContentChangePartial:
			start, end := d.encoding.In(b, c.Range.Start), d.encoding.In(b, c.Range.End)
			if start > end {
				start, end = end, start
			}
			b = b.Replace(start, end, c.Text)
		}
	}
	doc := *old
	doc.version, doc.buffer = id.Version, b
	d.set(&doc)
	return &doc
}

// close forgets a document and returns it, nil if it was not open.
func (d *documents) close(u uri.URI) *document {
	path := pathOf(u)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own()
	doc := d.byPath[path]
	delete(d.byPath, path)
	if d.recent == path {
		d.recent = ""
	}
	return doc
}

// authored lists the open documents that are ours.
func (d *documents) authored() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var list []string
	for path, doc := range d.byPath {
		if doc.kind != authoring.None {
			list = append(list, path)
		}
	}
	return list
}

// uriOf returns a file's URI, or that of an open document which is no file.
func (d *documents) uriOf(path string) uri.URI {
	if doc := d.get(path); doc != nil {
		return doc.uri
	}
	if strings.Contains(path, ":") && !strings.HasPrefix(path, "/") && len(path) > 2 && path[1] != ':' {
		return uri.URI(path) // a document that is no file, such as untitled:Untitled-1
	}
	return uri.File(path)
}

// pathOf returns the absolute, clean path of a file URI, and the URI itself for any other scheme, or where it names no
// absolute path.
func pathOf(u uri.URI) string {
	if strings.HasPrefix(string(u), "file:") {
		if path := u.FsPath(); filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
	}
	return string(u)
}
