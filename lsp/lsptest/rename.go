package lsptest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RenameFile renames a file or folder as the user does it in the editor: open documents go along, unsaved changes
// included.
func (b *buffers) RenameFile(from, to string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, next := pathOf(b.URI(from)), pathOf(b.URI(to))
	if err := os.MkdirAll(filepath.Dir(next), 0o755); err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	if err := os.Rename(old, next); err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	err := filepath.WalkDir(next, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		b.wrote(old+strings.TrimPrefix(path, next), nil)
		b.wrote(path, content)
		return err
	})
	if err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	var below []*document
	for _, d := range b.documents {
		if file := pathOf(d.uri); file == old || strings.HasPrefix(file, old+string(filepath.Separator)) {
			below = append(below, d)
		}
	}
	slices.SortFunc(below, func(a, b *document) int { return strings.Compare(a.uri, b.uri) })
	for _, d := range below {
		b.forget(d.uri)
		b.open(b.URI(to)+strings.TrimPrefix(d.uri, b.URI(from)), d.text, 1)
	}
	if truthy(lookup(b.capabilities, "workspace.fileOperations.didRename")) {
		type file struct {
			OldURI string `json:"oldUri"`
			NewURI string `json:"newUri"`
		}
		b.notify("workspace/didRenameFiles", struct {
			Files []file `json:"files"`
		}{[]file{{b.URI(from), b.URI(to)}}})
	}
	b.watched(b.URI(from), 3)
	b.watched(b.URI(to), 1)
	return nil
}
