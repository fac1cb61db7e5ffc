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

// askLenses asks for the lenses of a document, as an editor does that shows them.
func (p *play) askLenses(path string) ([]lens, error) {
	var list []lens
	if err := p.ask("textDocument/codeLens", []string{path}, &list); err != nil {
		return nil, err
	}
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	for _, l := range list {
		if l.Range.Start.Line != l.Range.End.Line {
			p.editor.fault("textDocument/codeLens: a lens spans the lines %d to %d", l.Range.Start.Line,
				l.Range.End.Line)
		}
		if l.Command == nil {
			p.editor.fault("textDocument/codeLens: a lens without a command, though none can be resolved")
			continue
		}
		p.editor.checkCommand(*l.Command, fmt.Sprintf("textDocument/codeLens: %q", l.Command.Title))
	}
	return slices.DeleteFunc(list, func(l lens) bool { return l.Command == nil }), nil
}

// lensesAre compares the lenses of a document with a section, a line each: PATH [want/lenses].
func (p *play) lensesAre(args []string) error {
	list, err := p.askLenses(args[0])
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, l := range list {
		fmt.Fprintf(&out, "%d: %s\n", l.Range.Start.Line+1, l.Command.Title)
	}
	return p.compare(section(args, 1, "want/lenses"), p.masked(out.String()))
}

// lens clicks on a lens: PATH LINE "title".
func (p *play) lens(args []string) error {
	list, err := p.askLenses(args[0])
	if err != nil {
		return err
	}
	var titles []string
	for _, l := range list {
		at := strconv.Itoa(int(l.Range.Start.Line) + 1)
		if at == args[1] && l.Command.Title == args[2] {
			return p.took(p.editor.Execute(p.ctx, l.Command.Command, l.Command.Arguments...))
		}
		titles = append(titles, at+": "+l.Command.Title)
	}
	return fmt.Errorf("there is no such lens among %q", titles)
}

// waitLens asks for the lenses again and again until there is one of the title.
func (p *play) waitLens(path, title string) error {
	for {
		list, err := p.askLenses(path)
		if err != nil && !errors.Is(err, errUnserved) {
			return err
		}
		if slices.ContainsFunc(list, func(l lens) bool { return l.Command.Title == title }) {
			return nil
		}
		if err := p.ctx.Err(); err != nil {
			return fmt.Errorf("wait for the lens %q: %w", title, err)
		}
	}
}

// changeSettings has the editor answer workspace/configuration otherwise from now on.
func (p *play) changeSettings(args []string) error {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.settings = json.RawMessage(args[0])
	p.editor.options.Settings = p.settings
	return nil
}
