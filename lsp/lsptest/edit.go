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

// edits are the edits that the server requests, and what else happens in the editor while it makes them.
type edits struct {
	*judge
	*link
	*buffers
	applied  []EditAnswer
	refusal  string   // for the next one
	onEdit   func()   // runs at the next one, before it is looked at; without mu
	reaction Reaction // to the next one
}

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

// partError is the failure of one part of an edit whose earlier parts were made.
type partError struct {
	index int
	err   error
}

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

// errStale is wrapped by the refusal of an edit for a version that the editor does not show, or no longer shows.
var errStale = errors.New("the document has changed")

// applyEdit does what an editor does with a WorkspaceEdit: it makes all of its text edits, or none. It returns the
// function that tells the server of the changes. The lock is held for both. The error is the reason why the editor
// refuses the edit.
func (x *edits) applyEdit(raw json.RawMessage, what string) (send func(), err error) {
	var edit workspaceEdit
	if err := json.Unmarshal(raw, &edit); err != nil {
		x.fault("%s: the edit cannot be decoded: %v", what, err)
		return nil, err
	}
	x.checkForms(edit, what)
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
		step, err := x.plan(c, created, fmt.Sprintf("%s: documentChanges[%d]", what, i))
		if errors.Is(err, errStale) && x.profile.SkipsStaleEdits {
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
			// The parts that were made stay: no profile takes back anything but changes of texts.
			return inTurn(sends), &partError{step.index, err}
		}
		sends = append(sends, send)
	}
	return inTurn(sends), nil
}

// inTurn returns a function that calls all functions in order.
func inTurn(all []func()) func() {
	return func() {
		for _, do := range all {
			do()
		}
	}
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
func (x *edits) checkForms(edit workspaceEdit, what string) {
	const base = "workspace.workspaceEdit."
	if edit.DocumentChanges == nil && edit.Changes == nil {
		x.fault("%s: the edit has neither changes nor documentChanges", what)
	}
	if edit.DocumentChanges != nil && edit.Changes != nil {
		x.fault("%s: the edit has both changes and documentChanges", what)
	}
	operations := x.profile.strings(base + "resourceOperations")
	annotation := func(id string) {
		if id == "" {
			return
		}
		x.needs(base+"changeAnnotationSupport", what)
		if edit.ChangeAnnotations[id] == nil {
			x.fault("%s: there is no change annotation %q", what, id)
		}
	}
	for _, c := range edit.DocumentChanges {
		annotation(c.AnnotationID)
		if c.Kind != "" {
			if !slices.Contains(operations, c.Kind) {
				x.fault("%s: the client did not announce the resource operation %q", what, c.Kind)
			}
		}
		for _, t := range c.Edits {
			annotation(t.AnnotationID)
			if t.Snippet != nil {
				x.needs(base+"snippetEditSupport", what)
			}
		}
	}
	// Resource operations exist only in documentChanges. A client that announces them therefore takes that form, even
	// where it does not announce documentChanges, as Neovim.
	if edit.DocumentChanges != nil && len(operations) == 0 {
		x.needs(base+"documentChanges", what)
	}
	if edit.ChangeAnnotations != nil {
		x.needs(base+"changeAnnotationSupport", what)
		if x.profile.PrintsEdits {
			x.fault("%s: the client prints change annotations, for which the user has to press a key", what)
		}
	}
	for _, list := range edit.Changes {
		for _, t := range list {
			annotation(t.AnnotationID)
		}
	}
}

// plan checks one change and returns what carries it out. The lock is held.
func (x *edits) plan(c documentChange, created map[string]bool, what string) (func() (func(), error), error) {
	switch c.Kind {
	case "":
		return x.planText(c, created, what)
	case "create":
		created[c.URI] = true
		return func() (func(), error) { return x.createFile(c) }, nil
	case "rename", "delete":
		return func() (func(), error) { return x.moveFile(c) }, nil
	}
	x.fault("%s: there is no resource operation %q", what, c.Kind)
	return nil, fmt.Errorf("%q is no resource operation", c.Kind)
}

func (x *edits) planText(c documentChange, created map[string]bool, what string) (func() (func(), error), error) {
	if c.TextDocument == nil {
		x.fault("%s: neither a kind nor a textDocument", what)
		return nil, errors.New("it names no document")
	}
	u := c.TextDocument.URI
	before := ""
	if x.documents[u] != nil || !created[u] {
		var err error
		if before, err = x.showing(u); err != nil {
			x.fault("%s: an edit of %s, which is not there", what, u)
			return nil, err
		}
	} else if x.profile.EmptyIsALine {
		before = "\n"
	}
	if v := c.TextDocument.Version; v != nil {
		if err := x.isFor(u, *v, what); err != nil {
			return nil, err
		}
	}
	list, err := x.replacing(u, before, c.Edits, what)
	if err != nil {
		return nil, err
	}
	if _, _, err := replace(before, list); err != nil {
		x.fault("%s: in %s, %v", what, u, err)
		return nil, err
	}
	if len(list) == 0 {
		return func() (func(), error) { return func() {}, nil }, nil
	}
	return func() (func(), error) {
		if d := x.documents[u]; d == nil { // the editor opens what it edits, unsaved
			x.open(u, before, 1)
		}
		return x.change(x.documents[u], list, true)
	}, nil
}

// isFor checks that an edit is for the version that a document has.
func (x *edits) isFor(u string, version int32, what string) error {
	d := x.documents[u]
	if d == nil {
		if x.known[u] == 0 { // the user may just have closed it
			x.fault("%s: version %d of %s, which is not open", what, version, u)
		}
		return fmt.Errorf("%s is not open: %w", u, errStale)
	}
	if version > d.version && x.known[u] == 1 { // versions begin anew when it is opened again
		x.fault("%s: version %d of %s, which is at version %d", what, version, u, d.version)
	}
	if version != d.version {
		return fmt.Errorf("%s is at version %d, the edit is for %d: %w", u, d.version, version, errStale)
	}
	return nil
}

// replacing is what the edits of a document replace in its text.
func (x *edits) replacing(u, before string, edits []textEdit, what string) ([]replacement, error) {
	var list []replacement
	for _, t := range edits {
		if t.Range == nil || t.NewText == nil && t.Snippet == nil {
			x.fault("%s: a text edit of %s without range or newText", what, u)
			return nil, errors.New("a text edit lacks a member")
		}
		start, end, err := x.encoding.Span(before, *t.Range)
		if err != nil {
			x.fault("%s: in %s, %v", what, u, err)
			return nil, err
		}
		replaced := replacement{start: start, end: end}
		if t.NewText != nil {
			replaced.text = *t.NewText
		}
		if x.reaction.Alter != nil {
			replaced.text = x.reaction.Alter(replaced.text)
		}
		list = append(list, replaced)
	}
	return list, nil
}

func (x *edits) createFile(c documentChange) (func(), error) {
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
	x.wrote(file, []byte{})
	return func() { x.watched(c.URI, 1) }, nil
}

// moveFile renames or deletes a file, and closes or renames its document.
func (x *edits) moveFile(c documentChange) (func(), error) {
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
	x.wrote(file, nil)
	if c.Kind == "delete" {
		if err := os.Remove(file); err != nil {
			return nil, err
		}
		if x.onChange != nil {
			shown := string(content)
			if d := x.documents[from]; d != nil {
				shown = d.text
			}
			x.onChange(from, shown, "", true)
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
		x.wrote(to, content)
	}
	return func() {
		if d := x.documents[from]; d != nil {
			x.forget(from)
			if c.Kind == "rename" {
				x.open(c.NewURI, d.text, 1)
			}
		}
		x.watched(from, 3)
		if c.Kind == "rename" {
			x.watched(c.NewURI, 1)
		}
	}, nil
}

// EditAnswer is an edit that the server asked for, and what the editor said.
type EditAnswer struct {
	Label   string
	Edit    json.RawMessage
	Applied bool
	Reason  string
}

func (x *edits) applyEditRequest(params json.RawMessage) (any, error) {
	result := struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason,omitempty"`
		FailedChange  *int   `json:"failedChange,omitempty"`
	}{Applied: true}
	record := EditAnswer{Label: text(lookup(params, "label")), Edit: lookup(params, "edit")}
	if lookup(params, "metadata") != nil {
		x.needs("workspace.workspaceEdit.metadataSupport", "workspace/applyEdit")
	}
	if x.profile.PrintsEdits && record.Label != "" {
		x.fault("workspace/applyEdit: the client prints the label %q, for which the user may have to press a key",
			record.Label)
	}
	if do := x.onEdit; do != nil {
		x.onEdit = nil
		x.mu.Unlock()
		do()
		x.mu.Lock()
	}
	send := func() {}
	var err error
	r := x.reaction
	if x.refusal != "" {
		err = errors.New(x.refusal)
		x.refusal = ""
	} else {
		send, err = x.applyEdit(record.Edit, "workspace/applyEdit")
		if err == nil {
			send, err = x.react(r, editedIn(record.Edit), send)
		}
	}
	x.reaction = Reaction{}
	if err != nil {
		result.Applied, result.FailureReason = false, err.Error()
	}
	var failed *partError
	if errors.As(err, &failed) && x.profile.Announces("workspace.workspaceEdit.failureHandling") {
		result.FailedChange = &failed.index
	}
	record.Applied, record.Reason = result.Applied, result.FailureReason
	x.applied = append(x.applied, record)
	switch {
	case err != nil && failed == nil:
	case r.Hold:
		x.held = append(x.held, send)
	case x.profile.ChangeAfterAnswer:
		x.behindReply = append(x.behindReply, send)
	default:
		send()
	}
	return result, nil
}

// Reaction is what happens in the editor at the next workspace/applyEdit, besides the edit itself.
type Reaction struct {
	// Before runs before the editor looks at the edit, without a lock: the user types while it is on its way.
	Before func()
	// Refuse is the reason for which the editor refuses the edit, empty where it does not.
	Refuse string
	// Alter changes the text that a replacement of the edit inserts, as an extension does that completes brackets. The
	// server hears of the changed text in the same didChange as of the edit.
	Alter func(text string) string
	// After returns what an extension changes in each document of the edit, given its text, right behind the edit and
	// in a didChange of its own. It runs under the editor's lock.
	After func(text string) []Replacement
	// Hold keeps the didChange of the edit back until after the answer: until Release is called, or the editor sends
	// something else about documents.
	Hold bool
}

// react adds, to the function that tells the server of an edit, what the reaction does behind the edit. The lock is
// held.
func (x *edits) react(r Reaction, edited []string, send func()) (func(), error) {
	if r.After == nil {
		return send, nil
	}
	sends := []func(){send}
	for _, u := range edited {
		d := x.documents[u]
		if d == nil {
			continue
		}
		list := replacements(r.After(d.text))
		if len(list) == 0 {
			continue
		}
		more, err := x.change(d, list, false)
		if err != nil {
			return nil, err
		}
		sends = append(sends, more)
	}
	return inTurn(sends), nil
}
