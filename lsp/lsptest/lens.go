package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type lens struct {
	Range   Range    `json:"range"`
	Command *Command `json:"command"`
}

// askLenses asks for the lenses of a document, as an editor that shows lenses does.
func (q *requests) askLenses(path string) ([]lens, error) {
	var list []lens
	if err := q.ask("textDocument/codeLens", []string{path}, &list); err != nil {
		return nil, err
	}
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	for _, l := range list {
		if l.Range.Start.Line != l.Range.End.Line {
			q.editor.fault("textDocument/codeLens: a lens spans the lines %d to %d", l.Range.Start.Line,
				l.Range.End.Line)
		}
		if l.Command == nil {
			q.editor.fault("textDocument/codeLens: a lens without a command, though none can be resolved")
			continue
		}
		q.editor.checkCommand(*l.Command, fmt.Sprintf("textDocument/codeLens: %q", l.Command.Title))
	}
	return slices.DeleteFunc(list, func(l lens) bool { return l.Command == nil }), nil
}

// lensText shows the lenses of a document, a line each.
func lensText(q *requests, args []string) (string, error) {
	list, err := q.askLenses(args[0])
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, l := range list {
		fmt.Fprintf(&out, "%d: %s\n", l.Range.Start.Line+1, l.Command.Title)
	}
	return out.String(), nil
}

// lens clicks on a lens: PATH LINE "title".
func (q *requests) lens(args []string) error {
	list, err := q.askLenses(args[0])
	if err != nil {
		return err
	}
	var titles []string
	for _, l := range list {
		at := strconv.Itoa(int(l.Range.Start.Line) + 1)
		if at == args[1] && l.Command.Title == args[2] {
			return q.took(q.editor.Execute(q.ctx, l.Command.Command, l.Command.Arguments...))
		}
		titles = append(titles, at+": "+l.Command.Title)
	}
	return fmt.Errorf("there is no such lens among %q", titles)
}

// waitLens asks for the lenses again and again until there is one of the title.
func (q *requests) waitLens(path, title string) error {
	for {
		list, err := q.askLenses(path)
		if err != nil && !errors.Is(err, errUnserved) {
			return err
		}
		if slices.ContainsFunc(list, func(l lens) bool { return l.Command.Title == title }) {
			return nil
		}
		if err := q.ctx.Err(); err != nil {
			return fmt.Errorf("wait for the lens %q: %w", title, err)
		}
	}
}

// changeSettings changes what the editor answers to workspace/configuration from now on.
func (p *play) changeSettings(args []string) error {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.settings = json.RawMessage(args[0])
	p.editor.options.Settings = p.settings
	return nil
}
