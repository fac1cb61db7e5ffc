package lsptest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// React says what happens at the next workspace/applyEdit.
func (x *edits) React(r Reaction) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reaction = r
	x.onEdit, x.refusal = r.Before, r.Refuse
}

// Revise makes a change of the user: revise computes it from the present text of the document. Revise does nothing
// where revise returns no replacement.
func (b *buffers) Revise(path string, revise func(text string) []Replacement) error {
	return b.with(path, func(d *document) error {
		list := replacements(revise(d.text))
		if len(list) == 0 {
			return nil
		}
		return b.typed(d, list)
	})
}

// Undo takes the last change of an open document back, whoever made it. It reports whether there was one.
func (b *buffers) Undo(path string) (there bool, err error) {
	err = b.with(path, func(d *document) (err error) {
		there, err = b.travel(d, &d.undo, &d.redo)
		return err
	})
	return there, err
}

// Redo makes what was undone last again. It reports whether there was anything.
func (b *buffers) Redo(path string) (there bool, err error) {
	err = b.with(path, func(d *document) (err error) {
		there, err = b.travel(d, &d.redo, &d.undo)
		return err
	})
	return there, err
}

// travel goes to the last text of one stack, and puts the present one on the other. The lock is held.
func (b *buffers) travel(d *document, from, to *[]string) (bool, error) {
	if len(*from) == 0 {
		return false, nil
	}
	last := len(*from) - 1
	target, rest, others := (*from)[last], (*from)[:last], append(*to, d.text)
	send, err := b.change(d, difference(d.text, target), false)
	if err != nil {
		return false, err
	}
	*from, *to = rest, others
	send()
	return true, nil
}

// difference is the one replacement that turns the text old into next. It begins and ends neither inside a character
// nor between the two bytes of a line ending.
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
func (b *buffers) RemoveDisk(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.URI(path)
	if err := os.Remove(pathOf(u)); err != nil {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	b.wrote(pathOf(u), nil)
	b.watched(u, 3)
	return nil
}

// Wrote returns what the editor, or WriteDisk, wrote last into each file that they have written, by absolute path; nil
// for one that they removed.
func (b *buffers) Wrote() map[string][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.contents)
}

// Opened lists the open documents that are files of the workspace, by path from its folder with slashes, sorted.
func (b *buffers) Opened() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for u := range b.documents {
		if rel, err := filepath.Rel(b.root, pathOf(u)); err == nil && !strings.HasPrefix(rel, "..") {
			list = append(list, filepath.ToSlash(rel))
		}
	}
	slices.Sort(list)
	return list
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

// onApply says what an extension does at the next edit: "brackets" TEXT adds a text to what the edit inserts, in the
// same change; "format" formats the document behind the edit.
func onApply(e *Editor, args []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case args[0] == "brackets" && len(args) == 2:
		e.reaction.Alter = func(text string) string { return text + args[1] }
	case args[0] == "format" && len(args) == 1:
		e.reaction.After = func(text string) []Replacement { return Format(text, true) }
	default:
		return fmt.Errorf("onapply knows brackets TEXT and format, not %q", args)
	}
	return nil
}

// format formats an open document, as an editor does on saving.
func format(e *Editor, args []string) error {
	return e.Revise(args[0], func(text string) []Replacement { return Format(text, true) })
}
