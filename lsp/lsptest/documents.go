package lsptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.lsp.dev/uri"
)

// buffers are the open documents, and what the editor itself has written to the disk.
type buffers struct {
	*judge
	*link
	*announced
	root      string                                         // the workspace folder
	onChange  func(uri, before, after string, byServer bool) // of the options
	documents map[string]*document
	known     map[string]int // how often each document was opened
	written   map[string]bool
	contents  map[string][]byte // of what is written
}

// document is an open document. The editor's lock guards it.
type document struct {
	uri     string
	version int32
	text    string
	// history holds the text of each version that the server has been told.
	history map[int32]string
	// undo and redo are the texts to which the user can go back, and from there forward again. The last of each is the
	// next one.
	undo, redo []string
}

type textDocument struct {
	URI     string `json:"uri"`
	Version *int32 `json:"version,omitempty"`
}

type contentChange struct {
	Range *Range `json:"range,omitempty"`
	Text  string `json:"text"`
}

var languages = map[string]string{
	".go": "go", ".py": "python", ".js": "javascript", ".ts": "typescript", ".sh": "shellscript", ".md": "markdown",
	".json": "json",
}

// URI returns the URI of a file, by its path from the workspace folder or absolute. A URI stays as it is.
func (b *buffers) URI(path string) string {
	switch {
	case strings.Contains(path, ":"):
		return path
	case !filepath.IsAbs(path):
		path = filepath.Join(b.root, filepath.FromSlash(path))
	}
	return string(uri.File(path))
}

// pathOf returns the path of a file URI, "" for any other.
func pathOf(u string) string {
	if !strings.HasPrefix(u, "file:") {
		return ""
	}
	return uri.URI(u).FsPath()
}

// Open opens a file of the disk.
func (b *buffers) Open(path string) error {
	u := b.URI(path)
	file := pathOf(u)
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return b.OpenText(path, string(content))
}

// OpenText opens a document with a text of its own, such as untitled:Untitled-1 or a new file.
func (b *buffers) OpenText(path, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.documents[b.URI(path)] != nil {
		return fmt.Errorf("%s is open already", path)
	}
	b.open(b.URI(path), text, 1)
	return nil
}

// open opens a document. The lock is held.
func (b *buffers) open(u, text string, version int32) *document {
	d := &document{uri: u, version: version, text: text, history: map[int32]string{version: text}}
	b.documents[u] = d
	b.known[u]++
	language := languages[filepath.Ext(u)]
	if language == "" {
		language = "plaintext"
	}
	b.notify("textDocument/didOpen", struct {
		TextDocument any `json:"textDocument"`
	}{struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int32  `json:"version"`
		Text       string `json:"text"`
	}{u, language, version, text}})
	return d
}

// with does something with an open document, under the lock.
func (b *buffers) with(path string, do func(*document) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.documents[b.URI(path)]
	if d == nil {
		return fmt.Errorf("%s is not open", path)
	}
	return do(d)
}

// Edit makes a change of the user: it replaces the bytes from start to end.
func (b *buffers) Edit(path string, start, end int, text string) error {
	return b.EditAll(path, Replacement{Start: start, End: end, Text: text})
}

// typed makes a change of the user and reports it to the server.
func (b *buffers) typed(d *document, list []replacement) error {
	send, err := b.change(d, list, false)
	if err == nil {
		send()
	}
	return err
}

// change applies replacements, of the server or of the user, to a document. It returns the function that tells the
// server. The lock is held for both.
func (b *buffers) change(d *document, list []replacement, byServer bool) (send func(), err error) {
	old := d.text
	changed, sorted, err := replace(old, list)
	if err != nil {
		return nil, err
	}
	d.undo, d.redo = append(d.undo, old), nil
	d.text = changed
	d.version++
	if b.onChange != nil {
		b.onChange(d.uri, old, changed, byServer)
	}
	d.history[d.version] = changed
	version := d.version
	var changes []contentChange
	if b.syncKind() == 2 {
		// Go from the last to the first, since each range refers to the text after the changes before it in the list.
		for i := len(sorted) - 1; i >= 0; i-- {
			r := b.encoding.Range(old, sorted[i].start, sorted[i].end)
			changes = append(changes, contentChange{&r, sorted[i].text})
		}
	} else {
		changes = []contentChange{{nil, changed}}
	}
	return func() {
		b.notify("textDocument/didChange", struct {
			TextDocument   textDocument    `json:"textDocument"`
			ContentChanges []contentChange `json:"contentChanges"`
		}{textDocument{d.uri, &version}, changes})
		b.changed()
	}, nil
}

// Save writes an open document to the disk.
func (b *buffers) Save(path string) error {
	return b.with(path, func(d *document) error {
		file := pathOf(d.uri)
		if err := os.WriteFile(file, []byte(d.text), 0o644); err != nil {
			return fmt.Errorf("save %s: %w", path, err)
		}
		b.wrote(file, []byte(d.text))
		if truthy(lookup(b.capabilities, "textDocumentSync.save")) {
			params := struct {
				TextDocument textDocument `json:"textDocument"`
				Text         *string      `json:"text,omitempty"`
			}{TextDocument: textDocument{URI: d.uri}}
			if truthy(lookup(b.capabilities, "textDocumentSync.save.includeText")) {
				params.Text = &d.text
			}
			b.notify("textDocument/didSave", params)
		}
		b.watched(d.uri, 2)
		return nil
	})
}

// CloseDocument closes an open document; unsaved changes are gone.
func (b *buffers) CloseDocument(path string) error {
	return b.with(path, func(d *document) error {
		b.forget(d.uri)
		return nil
	})
}

// forget closes a document. The lock is held.
func (b *buffers) forget(u string) {
	delete(b.documents, u)
	b.notify("textDocument/didClose", struct {
		TextDocument textDocument `json:"textDocument"`
	}{textDocument{URI: u}})
}

// WriteDisk writes a file as another program would, and tells the server if it watches.
func (b *buffers) WriteDisk(path, text string) error {
	b.mu.Lock() // what the server says of the new text is judged when it is known who wrote it
	defer b.mu.Unlock()
	file := pathOf(b.URI(path))
	kind := 2
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		kind = 1
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	b.wrote(file, []byte(text))
	b.watched(b.URI(path), kind)
	return nil
}

// watched tells the server of a file event (1 created, 2 changed, 3 deleted), if it asked for them. The lock is held.
func (b *buffers) watched(u string, kind int) {
	const method = "workspace/didChangeWatchedFiles"
	for _, r := range b.registered {
		if r.method != method {
			continue
		}
		type change struct {
			URI  string `json:"uri"`
			Type int    `json:"type"`
		}
		b.notify(method, struct {
			Changes []change `json:"changes"`
		}{[]change{{u, kind}}})
		return
	}
}

// Written reports whether the editor itself has written the file, an absolute path.
func (b *buffers) Written(file string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written[file]
}

// Text returns the text of an open document and its version.
func (b *buffers) Text(path string) (text string, version int32, err error) {
	err = b.with(path, func(d *document) error {
		text, version = d.text, d.version
		return nil
	})
	return text, version, err
}

// showing returns what the user sees of a document: the open text, else the disk. The lock is held.
func (b *buffers) showing(u string) (string, error) {
	if d := b.documents[u]; d != nil {
		return d.text, nil
	}
	file := pathOf(u)
	if file == "" {
		return "", fmt.Errorf("%s is neither open nor a file", u)
	}
	content, err := os.ReadFile(file)
	return string(content), err
}

// Replacement replaces the bytes from Start to End of a document's text, 0-based, the end exclusive.
type Replacement struct {
	Start, End int
	Text       string
}

// wrote notes what the editor has written to the disk, nil for a file that it removed. The lock is held.
func (b *buffers) wrote(file string, content []byte) {
	b.written[file] = true
	if b.contents == nil {
		b.contents = map[string][]byte{}
	}
	b.contents[file] = content
}

// EditAll makes changes of the user at several places at once, which all count in the text before.
func (b *buffers) EditAll(path string, list ...Replacement) error {
	return b.with(path, func(d *document) error {
		for _, r := range list {
			if r.Start < 0 || r.Start > r.End || r.End > len(d.text) {
				return fmt.Errorf("%s has no bytes %d to %d", path, r.Start, r.End)
			}
		}
		return b.typed(d, replacements(list))
	})
}

func replacements(list []Replacement) []replacement {
	result := make([]replacement, len(list))
	for i, r := range list {
		result[i] = replacement{r.Start, r.End, r.Text}
	}
	return result
}
