package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.lsp.dev/uri"
)

// document is an open document. The editor's lock guards it.
type document struct {
	uri     string
	version int32
	text    string
	// history holds the text of each version that the server has been told.
	history map[int32]string
	// undo and redo are the texts that the user can go back to, and from there forth again, the next one last.
	undo, redo []string
}

// published are the newest diagnostics of a document.
type published struct {
	version *int32
	// text is what the ranges count in, as far as the editor can know.
	text string
	list []Diagnostic
	// times is how often diagnostics came.
	times int
}

// Diagnostic is LSP's, with the members that agentls uses.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
	Tags     []int           `json:"tags,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`

	CodeDescription    json.RawMessage `json:"codeDescription,omitempty"`
	RelatedInformation json.RawMessage `json:"relatedInformation,omitempty"`
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
func (e *Editor) URI(path string) string {
	switch {
	case strings.Contains(path, ":"):
		return path
	case !filepath.IsAbs(path):
		path = filepath.Join(e.options.Root, filepath.FromSlash(path))
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
func (e *Editor) Open(path string) error {
	u := e.URI(path)
	file := pathOf(u)
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return e.OpenText(path, string(content))
}

// OpenText opens a document with a text of its own, such as untitled:Untitled-1 or a new file.
func (e *Editor) OpenText(path, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.documents[e.URI(path)] != nil {
		return fmt.Errorf("%s is open already", path)
	}
	e.open(e.URI(path), text, 1)
	return nil
}

// open opens a document. The lock is held.
func (e *Editor) open(u, text string, version int32) *document {
	d := &document{uri: u, version: version, text: text, history: map[int32]string{version: text}}
	e.documents[u] = d
	e.known[u]++
	language := languages[filepath.Ext(u)]
	if language == "" {
		language = "plaintext"
	}
	e.notify("textDocument/didOpen", struct {
		TextDocument any `json:"textDocument"`
	}{struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int32  `json:"version"`
		Text       string `json:"text"`
	}{u, language, version, text}})
	return d
}

// Edit makes a change of the user: it replaces the bytes from start to end.
func (e *Editor) Edit(path string, start, end int, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return fmt.Errorf("%s is not open", path)
	}
	if start < 0 || start > end || end > len(d.text) {
		return fmt.Errorf("%s has no bytes %d to %d", path, start, end)
	}
	send, err := e.change(d, []replacement{{start, end, text}}, false)
	if err == nil {
		send()
	}
	return err
}

// change applies replacements to a document, the server's or those of the user, and returns what tells the server. The
// lock is held for both.
func (e *Editor) change(d *document, list []replacement, byServer bool) (send func(), err error) {
	old := d.text
	changed, sorted, err := replace(old, list)
	if err != nil {
		return nil, err
	}
	d.undo, d.redo = append(d.undo, old), nil
	d.text = changed
	d.version++
	if e.options.Changed != nil {
		e.options.Changed(d.uri, old, changed, byServer)
	}
	d.history[d.version] = changed
	version := d.version
	var changes []contentChange
	if e.syncKind() == 2 {
		// From the last to the first, so that each range counts in the text that the changes before it leave.
		for i := len(sorted) - 1; i >= 0; i-- {
			r := e.encoding.Range(old, sorted[i].start, sorted[i].end)
			changes = append(changes, contentChange{&r, sorted[i].text})
		}
	} else {
		changes = []contentChange{{nil, changed}}
	}
	return func() {
		e.notify("textDocument/didChange", struct {
			TextDocument   textDocument    `json:"textDocument"`
			ContentChanges []contentChange `json:"contentChanges"`
		}{textDocument{d.uri, &version}, changes})
		e.changed()
	}, nil
}

// syncKind is the server's TextDocumentSyncKind.
func (e *Editor) syncKind() int {
	raw := lookup(e.server, "textDocumentSync")
	var kind int
	if json.Unmarshal(raw, &kind) == nil {
		return kind
	}
	if json.Unmarshal(lookup(raw, "change"), &kind) != nil {
		return 0
	}
	return kind
}

// Save writes an open document to the disk.
func (e *Editor) Save(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return fmt.Errorf("%s is not open", path)
	}
	file := pathOf(d.uri)
	if err := os.WriteFile(file, []byte(d.text), 0o644); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	e.wrote(file, []byte(d.text))
	if truthy(lookup(e.server, "textDocumentSync.save")) {
		params := struct {
			TextDocument textDocument `json:"textDocument"`
			Text         *string      `json:"text,omitempty"`
		}{TextDocument: textDocument{URI: d.uri}}
		if truthy(lookup(e.server, "textDocumentSync.save.includeText")) {
			params.Text = &d.text
		}
		e.notify("textDocument/didSave", params)
	}
	e.watched(d.uri, 2)
	return nil
}

// CloseDocument closes an open document; unsaved changes are gone.
func (e *Editor) CloseDocument(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := e.URI(path)
	if e.documents[u] == nil {
		return fmt.Errorf("%s is not open", path)
	}
	e.forget(u)
	return nil
}

// forget closes a document. The lock is held.
func (e *Editor) forget(u string) {
	delete(e.documents, u)
	e.notify("textDocument/didClose", struct {
		TextDocument textDocument `json:"textDocument"`
	}{textDocument{URI: u}})
}

// WriteDisk writes a file as another program would, and tells the server if it watches.
func (e *Editor) WriteDisk(path, text string) error {
	e.mu.Lock() // what the server says of the new text is judged when it is known who wrote it
	defer e.mu.Unlock()
	file := pathOf(e.URI(path))
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
	e.wrote(file, []byte(text))
	e.watched(e.URI(path), kind)
	return nil
}

// watched tells the server of a file event (1 created, 2 changed, 3 deleted), if it asked for them. The lock is held.
func (e *Editor) watched(u string, kind int) {
	const method = "workspace/didChangeWatchedFiles"
	for _, r := range e.registered {
		if r.method != method {
			continue
		}
		type change struct {
			URI  string `json:"uri"`
			Type int    `json:"type"`
		}
		e.notify(method, struct {
			Changes []change `json:"changes"`
		}{[]change{{u, kind}}})
		return
	}
}

// Written reports whether the editor itself has written the file, an absolute path.
func (e *Editor) Written(file string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.written[file]
}

// Text returns the text of an open document and its version.
func (e *Editor) Text(path string) (text string, version int32, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return "", 0, fmt.Errorf("%s is not open", path)
	}
	return d.text, d.version, nil
}

// Encoding is the negotiated position encoding.
func (e *Editor) Encoding() Encoding {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.encoding
}

// showing returns what the user sees of a document: the open text, else the disk. The lock is held.
func (e *Editor) showing(u string) (string, error) {
	if d := e.documents[u]; d != nil {
		return d.text, nil
	}
	file := pathOf(u)
	if file == "" {
		return "", fmt.Errorf("%s is neither open nor a file", u)
	}
	content, err := os.ReadFile(file)
	return string(content), err
}

// Diagnostics returns the newest diagnostics of a document and the text that their ranges count in.
func (e *Editor) Diagnostics(path string) ([]Diagnostic, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.diagnostics[e.URI(path)]
	return p.list, p.text
}
