package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// textEdit is any of LSP's TextEdit, AnnotatedTextEdit and SnippetTextEdit.
type textEdit struct {
	Range        *Range          `json:"range"`
	NewText      *string         `json:"newText"`
	AnnotationID string          `json:"annotationId"`
	Snippet      json.RawMessage `json:"snippet"`
}

// documentChange is any of LSP's TextDocumentEdit, CreateFile, RenameFile and DeleteFile.
type documentChange struct {
	Kind         string        `json:"kind"`
	TextDocument *textDocument `json:"textDocument"`
	Edits        []textEdit    `json:"edits"`
	URI          string        `json:"uri"`
	OldURI       string        `json:"oldUri"`
	NewURI       string        `json:"newUri"`
	AnnotationID string        `json:"annotationId"`
	Options      struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
		Recursive         bool `json:"recursive"`
	} `json:"options"`
}

type workspaceEdit struct {
	Changes           map[string][]textEdit      `json:"changes"`
	DocumentChanges   []documentChange           `json:"documentChanges"`
	ChangeAnnotations map[string]json.RawMessage `json:"changeAnnotations"`
}

// needs notes a fault unless the client announced what the server uses. The lock is held.
func (e *Editor) needs(capability, what string) {
	if !e.profile.Announces(capability) {
		e.fault("%s: the client did not announce %s", what, capability)
	}
}

// partError is the failure of one part of an edit, after those before it were made.
type partError struct {
	index int
	err   error
}

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

// errStale is wrapped by the refusal of an edit for a version that the editor does not show (any more).
var errStale = errors.New("the document has changed")

// applyEdit does what an editor does with a WorkspaceEdit: all of it or nothing of its text edits. It returns what
// tells the server of the changes. The lock is held for both. The error is the reason why the edit is refused.
func (e *Editor) applyEdit(raw json.RawMessage, what string) (send func(), err error) {
	var edit workspaceEdit
	if err := json.Unmarshal(raw, &edit); err != nil {
		e.fault("%s: the edit cannot be decoded: %v", what, err)
		return nil, err
	}
	e.checkForms(edit, what)
	changes := edit.DocumentChanges
	if changes == nil { // documentChanges go before changes where both are there
		var uris []string
		for u := range edit.Changes {
			uris = append(uris, u)
		}
		slices.Sort(uris)
		for _, u := range uris {
			changes = append(changes, documentChange{TextDocument: &textDocument{URI: u}, Edits: edit.Changes[u]})
		}
	}
	type part struct {
		index int
		do    func() (func(), error)
	}
	var steps []part
	created := map[string]bool{}
	for i, c := range changes {
		step, err := e.plan(c, created, fmt.Sprintf("%s: documentChanges[%d]", what, i))
		if errors.Is(err, errStale) && e.profile.SkipsStaleEdits {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
		steps = append(steps, part{i, step})
	}
	var sends []func()
	for _, step := range steps {
		send, err := step.do()
		if err != nil {
			// What was made before stays: no profile is transactional beyond texts.
			return func() {
				for _, send := range sends {
					send()
				}
			}, &partError{step.index, err}
		}
		sends = append(sends, send)
	}
	return func() {
		for _, send := range sends {
			send()
		}
	}, nil
}

// editedIn lists the documents whose text an edit changes, each once.
func editedIn(raw json.RawMessage) []string {
	var edit workspaceEdit
	if json.Unmarshal(raw, &edit) != nil {
		return nil // applyEdit has said so
	}
	list := slices.Sorted(maps.Keys(edit.Changes))
	for _, c := range edit.DocumentChanges {
		if c.TextDocument != nil && !slices.Contains(list, c.TextDocument.URI) {
			list = append(list, c.TextDocument.URI)
		}
	}
	return list
}

// checkForms checks that an edit uses only what the client announced. The lock is held.
func (e *Editor) checkForms(edit workspaceEdit, what string) {
	const base = "workspace.workspaceEdit."
	if edit.DocumentChanges == nil && edit.Changes == nil {
		e.fault("%s: the edit has neither changes nor documentChanges", what)
	}
	if edit.DocumentChanges != nil && edit.Changes != nil {
		e.fault("%s: the edit has both changes and documentChanges", what)
	}
	operations := e.profile.strings(base + "resourceOperations")
	annotation := func(id string) {
		if id == "" {
			return
		}
		e.needs(base+"changeAnnotationSupport", what)
		if edit.ChangeAnnotations[id] == nil {
			e.fault("%s: there is no change annotation %q", what, id)
		}
	}
	for _, c := range edit.DocumentChanges {
		annotation(c.AnnotationID)
		if c.Kind != "" {
			if !slices.Contains(operations, c.Kind) {
				e.fault("%s: the client did not announce the resource operation %q", what, c.Kind)
			}
		}
		for _, t := range c.Edits {
			annotation(t.AnnotationID)
			if t.Snippet != nil {
				e.needs(base+"snippetEditSupport", what)
			}
		}
	}
	// Resource operations exist in documentChanges only, so who announces them takes the form (Neovim does not say
	// documentChanges).
	if edit.DocumentChanges != nil && len(operations) == 0 {
		e.needs(base+"documentChanges", what)
	}
	if edit.ChangeAnnotations != nil {
		e.needs(base+"changeAnnotationSupport", what)
		if e.profile.PrintsEdits {
			e.fault("%s: the client prints change annotations, for which the user has to press a key", what)
		}
	}
	for _, list := range edit.Changes {
		for _, t := range list {
			annotation(t.AnnotationID)
		}
	}
}

// plan checks one change and returns what carries it out. The lock is held.
func (e *Editor) plan(c documentChange, created map[string]bool, what string) (func() (func(), error), error) {
	switch c.Kind {
	case "":
		return e.planText(c, created, what)
	case "create":
		created[c.URI] = true
		return func() (func(), error) { return e.createFile(c) }, nil
	case "rename", "delete":
		return func() (func(), error) { return e.moveFile(c) }, nil
	}
	e.fault("%s: there is no resource operation %q", what, c.Kind)
	return nil, fmt.Errorf("%q is no resource operation", c.Kind)
}

func (e *Editor) planText(c documentChange, created map[string]bool, what string) (func() (func(), error), error) {
	if c.TextDocument == nil {
		e.fault("%s: neither a kind nor a textDocument", what)
		return nil, errors.New("it names no document")
	}
	u := c.TextDocument.URI
	d := e.documents[u]
	before := ""
	switch {
	case d != nil:
		before = d.text
	case !created[u]:
		disk, err := e.showing(u)
		if err != nil {
			e.fault("%s: an edit of %s, which is not there", what, u)
			return nil, err
		}
		before = disk
	case e.profile.EmptyIsALine:
		before = "\n"
	}
	if v := c.TextDocument.Version; v != nil {
		if d == nil {
			if e.known[u] == 0 { // the user may just have closed it
				e.fault("%s: version %d of %s, which is not open", what, *v, u)
			}
			return nil, fmt.Errorf("%s is not open: %w", u, errStale)
		}
		if *v > d.version && e.known[u] == 1 { // versions begin anew when it is opened again
			e.fault("%s: version %d of %s, which is at version %d", what, *v, u, d.version)
		}
		if *v != d.version {
			return nil, fmt.Errorf("%s is at version %d, the edit is for %d: %w", u, d.version, *v, errStale)
		}
	}
	var list []replacement
	for _, t := range c.Edits {
		if t.Range == nil || t.NewText == nil && t.Snippet == nil {
			e.fault("%s: a text edit of %s without range or newText", what, u)
			return nil, errors.New("a text edit lacks a member")
		}
		start, end, err := e.encoding.Span(before, *t.Range)
		if err != nil {
			e.fault("%s: in %s, %v", what, u, err)
			return nil, err
		}
		replaced := replacement{start: start, end: end}
		if t.NewText != nil {
			replaced.text = *t.NewText
		}
		if e.reaction.Alter != nil {
			replaced.text = e.reaction.Alter(replaced.text)
		}
		list = append(list, replaced)
	}
	if _, _, err := replace(before, list); err != nil {
		e.fault("%s: in %s, %v", what, u, err)
		return nil, err
	}
	if len(list) == 0 {
		return func() (func(), error) { return func() {}, nil }, nil
	}
	return func() (func(), error) {
		if d := e.documents[u]; d == nil { // the editor opens what it edits, unsaved
			e.open(u, before, 1)
		}
		return e.change(e.documents[u], list, true)
	}, nil
}

func (e *Editor) createFile(c documentChange) (func(), error) {
	file := pathOf(c.URI)
	_, err := os.Stat(file)
	if err == nil && c.Options.IgnoreIfExists {
		return func() {}, nil
	}
	if err == nil && !c.Options.Overwrite {
		return nil, fmt.Errorf("%s is there already", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return nil, err
	}
	e.wrote(file, []byte{})
	return func() { e.watched(c.URI, 1) }, nil
}

// moveFile renames or deletes a file, and closes or renames its document.
func (e *Editor) moveFile(c documentChange) (func(), error) {
	from := c.URI
	if c.Kind == "rename" {
		from = c.OldURI
	}
	file := pathOf(from)
	if _, err := os.Stat(file); err != nil {
		if c.Options.IgnoreIfNotExists {
			return func() {}, nil
		}
		return nil, err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	e.wrote(file, nil)
	if c.Kind == "delete" {
		if err := os.Remove(file); err != nil {
			return nil, err
		}
		if e.options.Changed != nil {
			shown := string(content)
			if d := e.documents[from]; d != nil {
				shown = d.text
			}
			e.options.Changed(from, shown, "", true)
		}
	} else {
		to := pathOf(c.NewURI)
		if _, err := os.Stat(to); err == nil && !c.Options.Overwrite {
			return nil, fmt.Errorf("%s is there already", to)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.Rename(file, to); err != nil {
			return nil, err
		}
		e.wrote(to, content)
	}
	return func() {
		if d := e.documents[from]; d != nil {
			e.forget(from)
			if c.Kind == "rename" {
				e.open(c.NewURI, d.text, 1)
			}
		}
		e.watched(from, 3)
		if c.Kind == "rename" {
			e.watched(c.NewURI, 1)
		}
	}, nil
}
