package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The language features: what an editor asks for while a user writes. Each is asked for only where the server announced
// it for the document, at the start or by a registration that selects the document.

// errUnserved is the error of a feature that the server does not have for the document.
var errUnserved = errors.New("the server does not serve it for this document")

// ask asks for a feature at a place of a document.
func (q *requests) ask(method string, args []string, result any) error {
	e := q.editor
	u := e.URI(args[0])
	params := struct {
		TextDocument textDocument `json:"textDocument"`
		Position     *Position    `json:"position,omitempty"`
	}{TextDocument: textDocument{URI: u}}
	if len(args) > 1 {
		r, err := place(q.editor, args[0], args[1])
		if err != nil {
			return err
		}
		params.Position = &r.End
	}
	// While the server starts, a registration may be on its way. Where none comes, the scenario has to expect that.
	e.mu.Lock()
	serves := e.serves(method, u)
	if n := e.selecting(method, u); n > 1 {
		e.fault("%s: %d registrations select %s, so that a user would see each answer more than once", method, n, u)
	}
	e.mu.Unlock()
	if !serves {
		return errUnserved
	}
	raw, err := e.Call(q.ctx, method, params)
	if err != nil {
		return err
	}
	q.last = raw
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

func (q *requests) completions(path, where string) ([]completionItem, error) {
	var list struct {
		Items []completionItem `json:"items"`
	}
	if err := q.ask("textDocument/completion", []string{path, where}, &list); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Items, func(a, b completionItem) int { return strings.Compare(a.SortText, b.SortText) })
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	for _, i := range list.Items {
		if kind := text(lookup(i.Document, "kind")); kind == "markdown" &&
			!slices.Contains(q.editor.profile.strings("textDocument.completion.completionItem.documentationFormat"),
				kind) {
			q.editor.fault(
				"textDocument/completion: %q has documentation in Markdown, which the client did not announce", i.Label)
		}
	}
	return list.Items, nil
}

// completionText shows what is offered behind a place, a line each.
func completionText(q *requests, args []string) (string, error) {
	list, err := q.completions(args[0], args[1])
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, i := range list {
		out.WriteString(strings.TrimSuffix(i.Label+": "+i.Detail, ": ") + "\n")
	}
	return out.String(), nil
}

// triggerText shows the characters behind which an editor asks for completion in a document, by itself.
func triggerText(q *requests, args []string) (string, error) {
	const method = "textDocument/completion"
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	said := []json.RawMessage{lookup(q.editor.capabilities, languageProviders[method])}
	for _, r := range q.editor.registered {
		if r.method == method && r.selects(q.editor.URI(args[0])) {
			said = append(said, r.options)
		}
	}
	var all []string
	for _, options := range said {
		var list []string
		if raw := lookup(options, "triggerCharacters"); raw != nil && json.Unmarshal(raw, &list) != nil {
			return "", fmt.Errorf("the trigger characters are %s", raw)
		}
		all = append(all, list...)
	}
	slices.Sort(all)
	return strings.Join(all, "") + "\n", nil
}

// unserved accepts that the server does not have a feature for a document, where the scenario expects this by the
// section "unserved".
func unserved(err error, sections []string) error {
	if errors.Is(err, errUnserved) && len(sections) > 0 && sections[0] == "unserved" {
		return nil
	}
	return err
}

// complete chooses a completion: PATH PLACE "label".
func (q *requests) complete(args []string) error {
	list, err := q.completions(args[0], args[1])
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
		content, _, err := q.editor.Text(args[0])
		if err != nil {
			return err
		}
		start, end, err := q.editor.Encoding().Span(content, i.TextEdit.Range)
		if err != nil {
			return err
		}
		return q.editor.Edit(args[0], start, end, i.TextEdit.NewText)
	}
	return fmt.Errorf("there is no such completion among %q", labels)
}

// hoverText shows the hover at a place: the range that the hover is about, then its text.
func hoverText(q *requests, args []string) (string, error) {
	var hover struct {
		Contents struct {
			Kind  string `json:"kind"`
			Value string `json:"value"`
		} `json:"contents"`
		Range *Range `json:"range"`
	}
	if err := q.ask("textDocument/hover", args[:2], &hover); err != nil {
		return "", err
	}
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	if hover.Contents.Kind == "markdown" &&
		!slices.Contains(q.editor.profile.strings("textDocument.hover.contentFormat"), "markdown") {
		q.editor.fault("textDocument/hover: the text is in Markdown, which the client did not announce")
	}
	var where string
	if d := q.editor.documents[q.editor.URI(args[0])]; d != nil && hover.Range != nil {
		where = placeText(q.editor, d.text, *hover.Range) + "\n"
	}
	return where + hover.Contents.Value, nil
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

// symbolText shows the outline of a document.
func symbolText(q *requests, args []string) (string, error) {
	var list []symbol
	if err := q.ask("textDocument/documentSymbol", args[:1], &list); err != nil {
		return "", err
	}
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	var out strings.Builder
	content := ""
	if d := q.editor.documents[q.editor.URI(args[0])]; d != nil {
		content = d.text
	}
	writeSymbols(q.editor, &out, content, list, "")
	return out.String(), nil
}

// foldText shows which lines of a document can be folded, counted from 1.
func foldText(q *requests, args []string) (string, error) {
	var list []struct {
		Start int `json:"startLine"`
		End   int `json:"endLine"`
	}
	if err := q.ask("textDocument/foldingRange", args[:1], &list); err != nil {
		return "", err
	}
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	var out strings.Builder
	for _, f := range list {
		if d := q.editor.documents[q.editor.URI(args[0])]; d == nil || f.End <= f.Start ||
			f.End > strings.Count(d.text, "\n") {
			q.editor.fault("textDocument/foldingRange: %d-%d is no part of the document", f.Start, f.End)
		}
		fmt.Fprintf(&out, "%d-%d\n", f.Start+1, f.End+1)
	}
	return out.String(), nil
}

// linkText shows the links of a document and where they lead; of a page that the server makes, only its folder.
func linkText(q *requests, args []string) (string, error) {
	var list []json.RawMessage
	if err := q.ask("textDocument/documentLink", args[:1], &list); err != nil {
		return "", err
	}
	var out strings.Builder
	for _, raw := range list {
		link := documentLink{}
		if err := json.Unmarshal(raw, &link); err != nil {
			return "", err
		}
		if link.Target == "" { // the editor asks for it when the user follows the link
			resolved, err := q.editor.Call(q.ctx, "documentLink/resolve", raw)
			if err != nil {
				return "", err
			}
			if err := json.Unmarshal(resolved, &link); err != nil {
				return "", err
			}
			if strings.HasPrefix(link.Target, "file:") {
				if _, err := os.Stat(pathOf(link.Target)); err != nil {
					return "", fmt.Errorf("a link leads nowhere: %w", err)
				}
			}
			link.Target = link.Target[:strings.LastIndexByte(link.Target, '/')+1]
		}
		q.editor.mu.Lock()
		if d := q.editor.documents[q.editor.URI(args[0])]; d != nil {
			start := link.Range.Start // its end depends on how the workspace is called
			fmt.Fprintf(&out, "%s %s\n", placeText(q.editor, d.text, Range{start, start}), link.Target)
		}
		q.editor.mu.Unlock()
	}
	return out.String(), nil
}

// documentLink is the part of LSP's DocumentLink that is looked at.
type documentLink struct {
	Range  Range  `json:"range"`
	Target string `json:"target"`
}

// writeSymbols checks symbols and writes a line for each. The lock is held.
func writeSymbols(e *Editor, out *strings.Builder, content string, list []symbol, indent string) {
	for _, s := range list {
		if s.Name == "" || s.Kind < 1 || s.Kind > 26 {
			e.fault("textDocument/documentSymbol: bad name %q or kind %d", s.Name, s.Kind)
		}
		switch {
		case s.Location != nil:
			fmt.Fprintf(out, "%s%s %s\n", indent, placeText(e, content, s.Location.Range),
				strings.TrimSuffix(s.Name+" in "+s.ContainerName, " in "))
		case s.Range == nil || s.Selection == nil:
			e.fault("textDocument/documentSymbol: %q has no range", s.Name)
		default:
			e.needs("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport",
				"textDocument/documentSymbol: a tree")
			if before(s.Selection.Start, s.Range.Start) || before(s.Range.End, s.Selection.End) {
				e.fault("textDocument/documentSymbol: the selectionRange of %q is not in its range", s.Name)
			}
			fmt.Fprintf(out, "%s%s %s\n", indent, placeText(e, content, *s.Range),
				strings.TrimSuffix(s.Name+": "+s.Detail, ": "))
			writeSymbols(e, out, content, s.Children, indent+"  ")
		}
	}
}

// waitRegistered waits until the server has registered a feature for a document: wait serves METHOD PATH.
func waitRegistered(ctx context.Context, e *Editor, method, path string) error {
	return e.wait(ctx, "the server serves "+method,
		func() bool { return e.serves("textDocument/"+method, e.URI(path)) })
}

// waitAgents asks for the agents again and again, as a palette does each time the user opens it, until the answer fits.
func (q *requests) waitAgents(what string, fit func(agents []string, standard string) bool) error {
	for {
		raw, err := q.editor.Execute(q.ctx, "agentls.list", json.RawMessage("{}"))
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
			q.last = raw
			return nil
		}
		if err := q.ctx.Err(); err != nil {
			return fmt.Errorf("wait for %s: %w; the default is %s, the agents are %q", what, err, list.Default, slugs)
		}
	}
}
