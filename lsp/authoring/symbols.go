package authoring

import (
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/lsp/outline"
	"github.com/agentls/agentls/lsp/short"
)

// Symbols is the tree of symbols in the text: definitions with their keys, tables with theirs.
func (t *Sheet) Symbols() []protocol.DocumentSymbol {
	return t.tree().symbols(t)
}

// Flattened lists a tree of symbols of a document, for a client that cannot show trees.
func Flattened(tree []protocol.DocumentSymbol, u uri.URI) []protocol.SymbolInformation {
	return flattened(nil, tree, "", u)
}

// flattened adds a tree of symbols to a list.
func flattened(list []protocol.SymbolInformation, tree []protocol.DocumentSymbol, container string,
	u uri.URI,
) []protocol.SymbolInformation {
	for _, symbol := range tree {
		info := protocol.SymbolInformation{Location: protocol.Location{URI: u, Range: symbol.Range}}
		info.Name, info.Kind = symbol.Name, symbol.Kind
		if container != "" {
			info.ContainerName = &container
		}
		list = flattened(append(list, info), symbol.Children, symbol.Name, u)
	}
	return list
}

// branch is a symbol of the tree while the tree is built.
type branch struct {
	span, name   outline.Span
	title, shown string
	path         []string
	kind         protocol.SymbolKind
	children     []*branch
}

// tree puts each key below its table. In Markdown the whole text is one definition.
func (t *Sheet) tree() *branch {
	root := &branch{}
	if t.kind == Instructions {
		return root // in Markdown, other servers show the headings
	}
	if t.kind == Conversation {
		return t.turns()
	}
	o := t.outline
	top := root
	if o.BodyStart >= 0 && len(o.Nodes) > 0 {
		top = &branch{span: outline.Span{End: len(o.Text)}, title: t.titled(nil), kind: protocol.SymbolKindClass}
		root.children = append(root.children, top)
	}
	open := []*branch{top} // the branches around the place that was read last, from the outermost
	table := -1            // the table of the definition in JSON that was read last
	for i, n := range o.Nodes {
		b := &branch{
			span: outline.Span{Start: n.Name.Start, End: max(n.Name.End, n.Value.End)}, name: n.Name,
			path: n.Path, title: n.Name.In(o.Text),
		}
		b.kind, b.shown = protocol.SymbolKindProperty, short.Line(n.Value.In(o.Text))
		if n.Header {
			b.kind, b.shown = protocol.SymbolKindNamespace, ""
			open = open[:1]
			if _, inside := t.inDefinition(n.Path); t.kind == Definition && inside &&
				strings.HasSuffix(n.Path[len(n.Path)-1], "[]") {
				b.kind, b.title = protocol.SymbolKindClass, t.titled(o.Nodes[i+1:])
			}
		} else {
			// A key belongs to the innermost branch that contains it, or whose path is the beginning of the key's path.
			for len(open) > 1 {
				last := open[len(open)-1]
				if last.span.End >= b.span.End || o.BodyStart >= 0 && continues(n.Path, last.path) {
					break
				}
				open = open[:len(open)-1]
			}
		}
		if t.begins(n) && n.Table != table {
			table = n.Table
			for len(open) > 1 && !continues(n.Path, open[len(open)-1].path) {
				open = open[:len(open)-1]
			}
			keys := sameTable(o.Nodes, table)
			d := &branch{
				span: b.span, name: b.name, path: n.Path[:len(n.Path)-1], title: t.titled(keys),
				kind: protocol.SymbolKindClass,
			}
			d.span.End = max(d.span.End, keys[len(keys)-1].Value.End)
			open = grow(open, d)
		}
		open = grow(open, b)
	}
	if o.BodyStart >= 0 && o.BodyStart < len(o.Text) {
		top.children = append(top.children, t.body())
	}
	return root
}

// body is the symbol of the text below the frontmatter.
func (t *Sheet) body() *branch {
	at := t.outline.BodyStart
	body := &branch{
		span: outline.Span{Start: at, End: len(t.outline.Text)}, name: outline.Span{Start: at, End: at},
		title: "prompt", kind: protocol.SymbolKindString,
	}
	if t.kind == Skill {
		body.title = "instructions"
	}
	return body
}

// begins reports whether a definition in JSON may begin with a key, since such a definition has no head of its own.
func (t *Sheet) begins(n outline.Node) bool {
	if t.format != agent.JSON {
		return false
	}
	inner, inside := t.inDefinition(n.Path)
	shell := len(n.Path) == 1 &&
		slices.ContainsFunc(shells, func(s []string) bool { return strings.TrimSuffix(s[0], "[]") == n.Path[0] })
	return inside && len(inner) == 1 && !shell
}

func sameTable(nodes []outline.Node, table int) []outline.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n outline.Node) bool { return n.Table != table })
}

// grow adds a branch below the last open one, and opens it.
func grow(open []*branch, b *branch) []*branch {
	for _, above := range open {
		above.span.End = max(above.span.End, b.span.End)
	}
	parent := open[len(open)-1]
	parent.children = append(parent.children, b)
	return append(open, b)
}

// continues reports whether a path leads to something below another path.
func continues(path, above []string) bool {
	if len(path) <= len(above) {
		return false
	}
	for i, k := range above {
		if strings.TrimSuffix(path[i], "[]") != strings.TrimSuffix(k, "[]") {
			return false
		}
	}
	return true
}

// titled is the name of a definition by its nodes, or, without nodes, the name of the whole text.
func (t *Sheet) titled(nodes []outline.Node) string {
	if nodes == nil {
		nodes = t.outline.Nodes
	}
	for i, n := range nodes {
		if i > 0 && n.Header {
			break
		}
		switch n.Path[len(n.Path)-1] {
		case "name", "slug":
			if name := strings.Trim(n.Value.In(t.outline.Text), `"'`); name != "" {
				return name
			}
		}
	}
	if t.kind == Skill {
		return "skill"
	}
	return "agent"
}

func (b *branch) symbols(t *Sheet) []protocol.DocumentSymbol {
	var list []protocol.DocumentSymbol
	for _, c := range b.children {
		symbol := protocol.DocumentSymbol{
			Name: c.title, Kind: c.kind, Children: c.symbols(t), Range: t.between(c.span),
			SelectionRange: t.between(c.name),
		}
		if strings.TrimSpace(symbol.Name) == "" {
			symbol.Name = "?" // LSP 3.18, DocumentSymbol: must not be empty
		}
		if c.shown != "" && len(c.children) == 0 {
			symbol.Detail = &c.shown
		}
		list = append(list, symbol)
	}
	return list
}
