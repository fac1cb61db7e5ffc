package lsptest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Replacement replaces the bytes from Start to End of a document's text, 0-based, the end exclusive.
type Replacement struct {
	Start, End int
	Text       string
}

// Reaction is what happens in the editor at the next workspace/applyEdit, beside doing it.
type Reaction struct {
	// Before runs before the editor looks at the edit, without a lock: the user types while it is on its way.
	Before func()
	// Refuse is the reason for which the editor does not apply it.
	Refuse string
	// Alter changes the text that a replacement of the edit inserts, as an extension does that completes brackets. What
	// it made goes to the server in the same didChange as the edit.
	Alter func(text string) string
	// After returns what an extension changes in each document of the edit, given its text, right behind the edit and
	// in a didChange of its own. It runs under the editor's lock.
	After func(text string) []Replacement
	// Hold keeps the didChange of the edit back, behind the answer, until the editor tells the server of something else
	// about documents, or until Release.
	Hold bool
}

// React says what happens at the next workspace/applyEdit.
func (e *Editor) React(r Reaction) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reaction = r
	e.onEdit, e.refusal = r.Before, r.Refuse
}

// Release sends what a Reaction held back. It reports whether there was anything.
func (e *Editor) Release() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.release()
}

// Holds reports whether a Reaction keeps something back.
func (e *Editor) Holds() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.held) > 0
}

func (e *Editor) release() bool {
	held := e.held
	e.held = nil
	for _, send := range held {
		send()
	}
	return len(held) > 0
}

// react completes what tells the server of an edit by what the reaction does behind it. The lock is held.
func (e *Editor) react(r Reaction, edited []string, send func()) (func(), error) {
	if r.After == nil {
		return send, nil
	}
	sends := []func(){send}
	for _, u := range edited {
		d := e.documents[u]
		if d == nil {
			continue
		}
		list := replacements(r.After(d.text))
		if len(list) == 0 {
			continue
		}
		more, err := e.change(d, list, false)
		if err != nil {
			return nil, err
		}
		sends = append(sends, more)
	}
	return func() {
		for _, send := range sends {
			send()
		}
	}, nil
}

func replacements(list []Replacement) []replacement {
	result := make([]replacement, len(list))
	for i, r := range list {
		result[i] = replacement{r.Start, r.End, r.Text}
	}
	return result
}

// EditAll makes changes of the user at several places at once, which all count in the text before.
func (e *Editor) EditAll(path string, list ...Replacement) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return fmt.Errorf("%s is not open", path)
	}
	for _, r := range list {
		if r.Start < 0 || r.Start > r.End || r.End > len(d.text) {
			return fmt.Errorf("%s has no bytes %d to %d", path, r.Start, r.End)
		}
	}
	send, err := e.change(d, replacements(list), false)
	if err == nil {
		send()
	}
	return err
}

// Revise makes a change of the user that is computed from the document's text of that moment. It does nothing where
// revise returns none.
func (e *Editor) Revise(path string, revise func(text string) []Replacement) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return fmt.Errorf("%s is not open", path)
	}
	list := replacements(revise(d.text))
	if len(list) == 0 {
		return nil
	}
	send, err := e.change(d, list, false)
	if err == nil {
		send()
	}
	return err
}

// Undo takes the last change of an open document back, whoever made it. It reports whether there was one.
func (e *Editor) Undo(path string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return false, fmt.Errorf("%s is not open", path)
	}
	return e.travel(d, &d.undo, &d.redo)
}

// Redo makes what was undone last again. It reports whether there was anything.
func (e *Editor) Redo(path string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.documents[e.URI(path)]
	if d == nil {
		return false, fmt.Errorf("%s is not open", path)
	}
	return e.travel(d, &d.redo, &d.undo)
}

// travel goes to the last text of one stack, and puts the present one on the other. The lock is held.
func (e *Editor) travel(d *document, from, to *[]string) (bool, error) {
	if len(*from) == 0 {
		return false, nil
	}
	last := len(*from) - 1
	target, rest, others := (*from)[last], (*from)[:last], append(*to, d.text)
	send, err := e.change(d, difference(d.text, target), false)
	if err != nil {
		return false, err
	}
	*from, *to = rest, others
	send()
	return true, nil
}

// difference is the one replacement that makes a text of another. It begins and ends neither inside a character nor
// between the two bytes of a line ending.
func difference(old, next string) []replacement {
	splits := func(s string, i int) bool {
		return i > 0 && i < len(s) && (s[i]&0xC0 == 0x80 || s[i-1] == '\r' && s[i] == '\n')
	}
	shared := min(len(old), len(next))
	head := 0
	for head < shared && old[head] == next[head] {
		head++
	}
	for splits(old, head) || splits(next, head) {
		head--
	}
	tail := 0
	for tail < shared-head && old[len(old)-1-tail] == next[len(next)-1-tail] {
		tail++
	}
	for splits(old, len(old)-tail) || splits(next, len(next)-tail) {
		tail--
	}
	return []replacement{{head, len(old) - tail, next[head : len(next)-tail]}}
}

// RemoveDisk deletes a file as another program would, and tells the server if it watches.
func (e *Editor) RemoveDisk(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := e.URI(path)
	if err := os.Remove(pathOf(u)); err != nil {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	e.wrote(pathOf(u), nil)
	e.watched(u, 3)
	return nil
}

// wrote notes what the editor has written to the disk, nil for a file that it removed. The lock is held.
func (e *Editor) wrote(file string, content []byte) {
	e.written[file] = true
	if e.contents == nil {
		e.contents = map[string][]byte{}
	}
	e.contents[file] = content
}

// Wrote returns what the editor, or WriteDisk, wrote last into each file that they have written, by absolute path; nil
// for one that they removed.
func (e *Editor) Wrote() map[string][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.contents)
}

// Opened lists the open documents that are files of the workspace, by path from its folder with slashes, sorted.
func (e *Editor) Opened() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []string
	for u := range e.documents {
		if rel, err := filepath.Rel(e.options.Root, pathOf(u)); err == nil && !strings.HasPrefix(rel, "..") {
			list = append(list, filepath.ToSlash(rel))
		}
	}
	slices.Sort(list)
	return list
}

// Watches reports whether the server has asked for file events.
func (e *Editor) Watches() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.registered {
		if r.method == "workspace/didChangeWatchedFiles" {
			return true
		}
	}
	return false
}

// Format is what a formatter does to a text: it takes spaces off the ends of lines and, perhaps, indents with spaces.
func Format(text string, indents bool) []Replacement {
	var list []Replacement
	at := 0
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimRight(body, " \t")
		if indents && strings.HasPrefix(trimmed, "\t") {
			list = append(list, Replacement{Start: at, End: at + 1, Text: "    "})
		}
		if len(trimmed) < len(body) {
			list = append(list, Replacement{Start: at + len(trimmed), End: at + len(body)})
		}
		at += len(line)
	}
	return list
}

// onApply says what an extension does to the next edit: "brackets" TEXT adds a text to what is inserted, in the same
// change; "format" formats the document behind the edit.
func (p *play) onApply(args []string) error {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	switch {
	case args[0] == "brackets" && len(args) == 2:
		p.editor.reaction.Alter = func(text string) string { return text + args[1] }
	case args[0] == "format" && len(args) == 1:
		p.editor.reaction.After = func(text string) []Replacement { return Format(text, true) }
	default:
		return fmt.Errorf("onapply knows brackets TEXT and format, not %q", args)
	}
	return nil
}

// format formats an open document, as the user has it done on saving.
func (p *play) format(args []string) error {
	return p.editor.Revise(args[0], func(text string) []Replacement { return Format(text, true) })
}
