package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The language features: what an editor asks for while a user writes. Each is asked for only where the server announced
// it for the document, at the start or by a registration that selects the document.

// languageProviders are the members of the server's capabilities that announce the features.
var languageProviders = map[string]string{
	"textDocument/completion": "completionProvider", "textDocument/hover": "hoverProvider",
	"textDocument/documentSymbol": "documentSymbolProvider",
	"textDocument/codeLens":       "codeLensProvider", "textDocument/inlayHint": "inlayHintProvider",
}

// errUnserved is the error of a feature that the server does not have for the document.
var errUnserved = errors.New("the server does not serve it for this document")

// ask asks for a feature at a place of a document.
func (p *play) ask(method string, args []string, result any) error {
	e := p.editor
	u := e.URI(args[0])
	params := struct {
		TextDocument textDocument `json:"textDocument"`
		Position     *Position    `json:"position,omitempty"`
	}{TextDocument: textDocument{URI: u}}
	if len(args) > 1 {
		r, err := p.place(args[0], args[1])
		if err != nil {
			return err
		}
		params.Position = &r.End
	}
	// A registration is on its way while the server starts; one that never comes is for the scenario to expect.
	e.mu.Lock()
	serves := e.serves(method, u)
	if n := e.selecting(method, u); n > 1 {
		e.fault("%s: %d registrations select %s, so that a user would see each answer more than once", method, n, u)
	}
	e.mu.Unlock()
	if !serves {
		return errUnserved
	}
	raw, err := e.Call(p.ctx, method, params)
	if err != nil {
		return err
	}
	p.last = raw
	return json.Unmarshal(raw, result)
}

// completionItem is the part of LSP's CompletionItem that is looked at.
type completionItem struct {
	Label    string          `json:"label"`
	Detail   string          `json:"detail"`
	SortText string          `json:"sortText"`
	Document json.RawMessage `json:"documentation"`
	TextEdit *struct {
		Range   Range  `json:"range"`
		NewText string `json:"newText"`
	} `json:"textEdit"`
}

func (p *play) completions(path, where string) ([]completionItem, error) {
	var list struct {
		Items []completionItem `json:"items"`
	}
	if err := p.ask("textDocument/completion", []string{path, where}, &list); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Items, func(a, b completionItem) int { return strings.Compare(a.SortText, b.SortText) })
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	for _, i := range list.Items {
		if kind := text(lookup(i.Document, "kind")); kind == "markdown" &&
			!slices.Contains(p.editor.profile.strings("textDocument.completion.completionItem.documentationFormat"),
				kind) {
			p.editor.fault(
				"textDocument/completion: %q has documentation in Markdown, which the client did not announce", i.Label)
		}
	}
	return list.Items, nil
}

// completionsAre compares what is offered behind a place with a section: PATH PLACE [want/completions]. "none" for
// nothing.
func (p *play) completionsAre(args []string) error {
	list, err := p.completions(args[0], args[1])
	if err != nil {
		return p.unserved(err, args[2:])
	}
	var out strings.Builder
	for _, i := range list {
		out.WriteString(strings.TrimSuffix(i.Label+": "+i.Detail, ": ") + "\n")
	}
	return p.compare(section(args, 2, "want/completions"), out.String())
}

// unserved makes a feature that is not served for a document what the scenario expects by the section "unserved".
func (p *play) unserved(err error, sections []string) error {
	if errors.Is(err, errUnserved) && len(sections) > 0 && sections[0] == "unserved" {
		return nil
	}
	return err
}

// complete chooses a completion: PATH PLACE "label".
func (p *play) complete(args []string) error {
	list, err := p.completions(args[0], args[1])
	if err != nil {
		return err
	}
	var labels []string
	for _, i := range list {
		if labels = append(labels, i.Label); i.Label != args[2] {
			continue
		}
		if i.TextEdit == nil {
			return fmt.Errorf("the completion %q has no textEdit", i.Label)
		}
		content, _, err := p.editor.Text(args[0])
		if err != nil {
			return err
		}
		start, end, err := p.editor.Encoding().Span(content, i.TextEdit.Range)
		if err != nil {
			return err
		}
		return p.editor.Edit(args[0], start, end, i.TextEdit.NewText)
	}
	return fmt.Errorf("there is no such completion among %q", labels)
}

// hoverIs compares what is said at a place with a section: PATH PLACE [want/hover].
func (p *play) hoverIs(args []string) error {
	var hover struct {
		Contents struct {
			Kind  string `json:"kind"`
			Value string `json:"value"`
		} `json:"contents"`
		Range *Range `json:"range"`
	}
	if err := p.ask("textDocument/hover", args[:2], &hover); err != nil {
		return p.unserved(err, args[2:])
	}
	p.editor.mu.Lock()
	if hover.Contents.Kind == "markdown" &&
		!slices.Contains(p.editor.profile.strings("textDocument.hover.contentFormat"), "markdown") {
		p.editor.fault("textDocument/hover: the text is in Markdown, which the client did not announce")
	}
	var where string
	if d := p.editor.documents[p.editor.URI(args[0])]; d != nil && hover.Range != nil {
		where = p.placeText(d.text, *hover.Range) + "\n"
	}
	p.editor.mu.Unlock()
	return p.compare(section(args, 2, "want/hover"), p.masked(where+hover.Contents.Value))
}

// symbol is any of LSP's DocumentSymbol and SymbolInformation.
type symbol struct {
	Name          string   `json:"name"`
	Detail        string   `json:"detail"`
	Kind          int      `json:"kind"`
	Range         *Range   `json:"range"`
	Selection     *Range   `json:"selectionRange"`
	Children      []symbol `json:"children"`
	ContainerName string   `json:"containerName"`
	Location      *struct {
		Range Range `json:"range"`
	} `json:"location"`
}

// symbolsAre compares the outline of a document with a section: PATH [want/symbols].
func (p *play) symbolsAre(args []string) error {
	var list []symbol
	if err := p.ask("textDocument/documentSymbol", args[:1], &list); err != nil {
		return p.unserved(err, args[1:])
	}
	p.editor.mu.Lock()
	var out strings.Builder
	content := ""
	if d := p.editor.documents[p.editor.URI(args[0])]; d != nil {
		content = d.text
	}
	p.writeSymbols(&out, content, list, "")
	p.editor.mu.Unlock()
	return p.compare(section(args, 1, "want/symbols"), out.String())
}

// writeSymbols writes a line for each symbol, and checks them. The lock is held.
func (p *play) writeSymbols(out *strings.Builder, content string, list []symbol, indent string) {
	e := p.editor
	for _, s := range list {
		if s.Name == "" || s.Kind < 1 || s.Kind > 26 {
			e.fault("textDocument/documentSymbol: bad name %q or kind %d", s.Name, s.Kind)
		}
		switch {
		case s.Location != nil:
			fmt.Fprintf(out, "%s%s %s\n", indent, p.placeText(content, s.Location.Range),
				strings.TrimSuffix(s.Name+" in "+s.ContainerName, " in "))
		case s.Range == nil || s.Selection == nil:
			e.fault("textDocument/documentSymbol: %q has no range", s.Name)
		default:
			e.needs("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport",
				"textDocument/documentSymbol: a tree")
			if before(s.Selection.Start, s.Range.Start) || before(s.Range.End, s.Selection.End) {
				e.fault("textDocument/documentSymbol: the selectionRange of %q is not in its range", s.Name)
			}
			fmt.Fprintf(out, "%s%s %s\n", indent, p.placeText(content, *s.Range),
				strings.TrimSuffix(s.Name+": "+s.Detail, ": "))
			p.writeSymbols(out, content, s.Children, indent+"  ")
		}
	}
}

// waitRegistered waits until the server has registered a feature for a document: wait serves METHOD PATH.
func (p *play) waitRegistered(method, path string) error {
	e := p.editor
	return e.wait(p.ctx, "the server serves "+method,
		func() bool { return e.serves("textDocument/"+method, e.URI(path)) })
}

// waitAgents asks for the agents again and again, as a palette does each time that it is opened, until they are as they
// should.
func (p *play) waitAgents(what string, fit func(agents []string, standard string) bool) error {
	for {
		raw, err := p.editor.Execute(p.ctx, "agentls.list", json.RawMessage("{}"))
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		var list struct {
			Default string `json:"default"`
			Agents  []struct {
				Slug string `json:"slug"`
			} `json:"agents"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		var slugs []string
		for _, a := range list.Agents {
			slugs = append(slugs, a.Slug)
		}
		if fit(slugs, list.Default) {
			p.last = raw
			return nil
		}
		if err := p.ctx.Err(); err != nil {
			return fmt.Errorf("wait for %s: %w; the default is %s, the agents are %q", what, err, list.Default, slugs)
		}
	}
}
