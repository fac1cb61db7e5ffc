// Package document owns the open documents, each with its text, version, language and URI, and keeps for each request
// the documents as they were when it was sent.
//
// The workspace's view has the buffer and the version of each document, too. It holds them under its own lock, with the
// hunks and findings that follow the lines, so that both change in one step. It has no other text, since a buffer is
// immutable and shared, and only [Documents] tells it of buffers. The two differ only while the editor renames a file:
// the view knows the new path at once, and the editor closes the old document and opens the new one a moment later.
// [Documents.Read] reads a text, its version and what follows its lines together.
package document

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/position"
)

// Document is one open document at one version. It is immutable; a change makes a new one.
type Document struct {
	// URI is canonical, whatever the client's spelling: package uri makes it so when it decodes one.
	URI uri.URI
	// Path is absolute, or the URI itself if the document is no file.
	Path     string
	Language string
	Kind     authoring.Kind
	Version  int32
	Buffer   *workspace.Buffer
	// Opened tells openings apart: a document that was closed and is open again has another text, and a larger number.
	Opened uint64
}

// Index is the whole text with its lines. The first call for a version takes time in proportion to the text, so the
// reading goroutine never calls it.
func (d *Document) Index() *workspace.Index { return d.Buffer.Index() }

// Moment is the open documents at one moment. Its holders only read it.
type Moment struct {
	byPath map[string]*Document
	// recent is the path of the document that was opened or changed last.
	recent string
}

// Get returns a document by its path, nil if it was not open.
func (m Moment) Get(path string) *Document { return m.byPath[path] }

// Last returns the document that the user touched last, nil if none is open.
func (m Moment) Last() *Document { return m.byPath[m.recent] }

// Documents are the open documents, by path. Only the reading goroutine of the connection changes them (Open, Change,
// Close and Rename), in the order of the wire; any goroutine reads.
type Documents struct {
	// Encoding is the unit of the editor's positions; it never changes.
	Encoding position.Encoding
	view     *workspace.View
	kindOf   func(path string) authoring.Kind
	// edits is odd while the reading goroutine works on a message about documents. It grows by two with each such
	// message.
	edits atomic.Uint64

	mu sync.RWMutex
	Moment
	// shared says that a request holds the Moment, so that the next change must be made to a copy.
	shared bool
	// changed is closed and replaced when a document was opened, changed, closed or renamed.
	changed chan struct{}
}

// New makes documents and reports them to a view. kindOf says which documents are ours; it is nil if none is.
func New(e position.Encoding, view *workspace.View, kindOf func(path string) authoring.Kind) *Documents {
	if kindOf == nil {
		kindOf = func(string) authoring.Kind { return authoring.None }
	}
	none := Moment{byPath: map[string]*Document{}}
	return &Documents{Encoding: e, view: view, kindOf: kindOf, Moment: none, changed: make(chan struct{})}
}

// Get returns a document as it is now, nil if it is not open.
func (d *Documents) Get(path string) *Document {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byPath[path]
}

// Last returns the document that the user touched last, nil if none is open.
func (d *Documents) Last() *Document {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.Moment.Last()
}

// Now is the open documents as they are now.
func (d *Documents) Now() Moment {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shared = true
	return d.Moment
}

// own copies the documents if a request holds them, so that they can be changed. The lock is held.
func (d *Documents) own() {
	if d.shared {
		d.byPath, d.shared = maps.Clone(d.byPath), false
	}
}

// Paths are the paths of the open documents, in no order.
func (d *Documents) Paths() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Collect(maps.Keys(d.byPath))
}

// Authored are the paths of the open documents that are ours.
func (d *Documents) Authored() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var list []string
	for path, doc := range d.byPath {
		if doc.Kind != authoring.None {
			list = append(list, path)
		}
	}
	return list
}

func (d *Documents) set(doc *Document) {
	d.mu.Lock()
	d.own()
	d.byPath[doc.Path] = doc
	d.recent = doc.Path
	d.mu.Unlock()
	d.view.SetBuffer(doc.Path, doc.Buffer, doc.Version)
}

// editing marks the time during which the documents and what follows their lines may not match. done ends that time,
// and wakes those who wait for a change.
func (d *Documents) editing() (done func()) {
	d.edits.Add(1)
	return func() {
		d.edits.Add(1)
		d.mu.Lock()
		defer d.mu.Unlock()
		close(d.changed)
		d.changed = make(chan struct{})
	}
}

// Open adds a document that the editor has opened.
func (d *Documents) Open(item protocol.TextDocumentItem) *Document {
	defer d.editing()()
	path := Path(item.URI)
	doc := &Document{
		URI: item.URI, Path: path, Language: string(item.LanguageID), Kind: d.kindOf(path), Version: item.Version,
		Buffer: workspace.NewBuffer(item.Text), Opened: d.edits.Load(),
	}
	d.set(doc)
	return doc
}

// Change applies the changes of one notification in order. Like the reference implementations, it moves positions
// outside the text into it and turns an inverted range around. So it never refuses a change, and agents read what the
// editor shows. The error says that the document is not open.
func (d *Documents) Change(id protocol.VersionedTextDocumentIdentifier,
	changes []protocol.TextDocumentContentChangeEvent,
) (*Document, error) {
	defer d.editing()()
	old := d.Get(Path(id.URI))
	if old == nil {
		return nil, notOpen(id.URI)
	}
	b := old.Buffer
	for _, change := range changes {
		switch c := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			b = workspace.NewBuffer(c.Text)
		case *protocol.TextDocumentContentChangePartial:
			start, end := d.Encoding.In(b, c.Range.Start), d.Encoding.In(b, c.Range.End)
			if start > end {
				start, end = end, start
			}
			b = b.Replace(start, end, c.Text)
		}
	}
	doc := *old
	doc.Version, doc.Buffer = id.Version, b
	d.set(&doc)
	return &doc, nil
}

// Close forgets a document and returns it. The error says that it was not open.
func (d *Documents) Close(u uri.URI) (*Document, error) {
	defer d.editing()()
	path := Path(u)
	d.mu.Lock()
	d.own()
	doc := d.byPath[path]
	delete(d.byPath, path)
	if d.recent == path {
		d.recent = ""
	}
	d.mu.Unlock()
	if doc == nil {
		return nil, notOpen(u)
	}
	d.view.CloseDocument(path)
	return doc, nil
}

func notOpen(u uri.URI) error { return fmt.Errorf("%s is not open", u) }

// Rename moves what belongs to files and folders to their new names, and returns both names of each. The editor itself
// opens the documents of the new names.
func (d *Documents) Rename(files []protocol.FileRename) []string {
	defer d.editing()()
	var paths []string
	for _, f := range files {
		from, to := Path(uri.URI(f.OldURI)), Path(uri.URI(f.NewURI))
		d.view.Rename(from, to)
		paths = append(paths, from, to)
	}
	d.view.DiskChanged(paths)
	return paths
}

// Wait returns when the condition holds, which it checks after each change of a document, or with ctx's error.
func (d *Documents) Wait(ctx context.Context, condition func() bool) error {
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

// Followed reports whether everything that follows documents has taken in the newest message about them.
func (d *Documents) Followed() bool { return d.edits.Load()%2 == 0 }

// Read calls do between two messages about documents, so that texts, their versions, and the lines of hunks and
// findings match. If a message arrives while do runs, Read calls do again. Messages never wait for Read.
func (d *Documents) Read(ctx context.Context, do func()) error {
	for {
		edits := d.edits.Load()
		do()
		if edits%2 == 0 && d.edits.Load() == edits {
			return nil
		}
		if err := d.Wait(ctx, d.Followed); err != nil {
			return err
		}
	}
}

// Text returns what the editor shows of a file: the open document, or the disk (version -1).
func (d *Documents) Text(path string) (*workspace.Index, int32, error) {
	if doc := d.Get(path); doc != nil {
		return doc.Index(), doc.Version, nil
	}
	file, err := d.view.Read(path)
	if err != nil {
		return nil, -1, err
	}
	return workspace.NewIndex(file.Text), -1, nil
}

// URI returns the URI of a file by its path, or the URI of an open document that is no file.
func (d *Documents) URI(path string) uri.URI {
	if doc := d.Get(path); doc != nil {
		return doc.URI
	}
	if strings.Contains(path, ":") && !strings.HasPrefix(path, "/") && len(path) > 2 && path[1] != ':' {
		return uri.URI(path) // the path is the URI of a document without a file, such as untitled:Untitled-1
	}
	return uri.File(path)
}

// Path returns the absolute, clean path of a file URI. It returns the URI itself for any other scheme, or if the URI
// has no absolute path.
func Path(u uri.URI) string {
	if strings.HasPrefix(string(u), "file:") {
		if path := u.FsPath(); filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
	}
	return string(u)
}

// Paths are the paths of URIs, in their order.
func Paths(uris []uri.URI) []string {
	list := make([]string, 0, len(uris))
	for _, u := range uris {
		list = append(list, Path(u))
	}
	return list
}

// Scheme is that of the documents which the server itself has the text of:
//
//	agentls:/answers/RUN.md       what a run answered
//	agentls:/transcripts/RUN.md   the conversation of a run, so far
//	agentls:/plans/NAME.md        a plan that the user was asked about
//	agentls:/proposals/ID.diff    what a proposal would change, and parts of it
const Scheme = "agentls"

// Virtual is the URI of a document whose text the server has, by its name, such as "answers/r1.md".
func Virtual(name string) uri.URI {
	return uri.URI(Scheme + ":/" + (&url.URL{Path: name}).EscapedPath())
}

// CutBoth cuts a prefix and a suffix off a name; it reports whether the name has both.
func CutBoth(name, prefix, suffix string) (string, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, suffix)
}
