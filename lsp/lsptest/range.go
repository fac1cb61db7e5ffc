package lsptest

import (
	"fmt"
)

// placeText shows a range, 1-based and in characters. The editor's lock is held.
func placeText(e *Editor, content string, r Range) string {
	start, end, err := e.encoding.Span(content, r)
	if err != nil {
		return err.Error()
	}
	a, b := UTF32.Position(content, start), UTF32.Position(content, end)
	return fmt.Sprintf("%d:%d-%d:%d", a.Line+1, a.Character+1, b.Line+1, b.Character+1)
}

// place returns a place of a document as a range on the wire.
func place(e *Editor, path, where string) (Range, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	content, err := e.showing(e.URI(path))
	if err != nil {
		return Range{}, err
	}
	start, end, err := span(content, where)
	if err != nil {
		return Range{}, err
	}
	return e.encoding.Range(content, start, end), nil
}
