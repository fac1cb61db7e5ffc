package tool

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown converts documents; it is safe for concurrent use.
var markdown = sync.OnceValue(func() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
})

// markdownOf turns an HTML document in UTF-8 into Markdown. Links become absolute. It leaves out what is not shown,
// what is no text, and, in a page that names its main part, what surrounds that part. The error says that the document
// cannot be read.
func markdownOf(document io.Reader, address *url.URL) (title, text string, err error) {
	// The parser does not panic, but refuses a document that is nested too deeply.
	root, err := html.Parse(document)
	if err != nil {
		return "", "", fmt.Errorf("its HTML cannot be read: %w", err)
	}
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Title && title == "":
			title = strings.Join(strings.Fields(plainText(n)), " ")
		case n.DataAtom == atom.Base && attribute(n, "href") != "":
			if to, err := address.Parse(attribute(n, "href")); err == nil {
				address = to
			}
		}
	}
	prune(root, address)
	top := mainPart(root)
	raw, err := markdown().ConvertNode(top)
	if err != nil {
		return title, "", fmt.Errorf("its HTML cannot be turned into Markdown: %w", errors.Unwrap(err))
	}
	return title, string(raw), nil
}

// dropped are elements without text for readers.
var dropped = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
	atom.Head, atom.Math,
	atom.Input, atom.Select, atom.Textarea, atom.Audio, atom.Video, atom.Dialog,
}

// prune removes what is not shown from a tree, and makes its links absolute.
func prune(n *html.Node, address *url.URL) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch {
		case child.Type == html.CommentNode,
			child.Type == html.ElementNode &&
				(slices.Contains(dropped, child.DataAtom) && child.DataAtom != atom.Math || unshown(child)):
			n.RemoveChild(child)
		default:
			prune(child, address) // the parser bounds the depth
			anchor(child, address)
		}
		child = next
	}
}

// unshown reports whether an element's own attributes hide it from readers.
func unshown(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			return a.Val == "true"
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			for _, way := range []string{
				"display:none", "visibility:hidden", "font-size:0", "opacity:0;",
				"opacity:0!",
			} {
				if strings.Contains(style+";", way) {
					return true
				}
			}
		}
	}
	return false
}

// anchor makes the address of a link or an image absolute. An address that leads nowhere is removed, and an image
// without a description is left empty.
func anchor(n *html.Node, address *url.URL) {
	name := ""
	switch n.DataAtom {
	case atom.A:
		name = "href"
	case atom.Img:
		name = "src"
	default:
		return
	}
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "title" || a.Key == "srcset" })
	for i, a := range n.Attr {
		if a.Key != name {
			continue
		}
		to, err := address.Parse(strings.TrimSpace(a.Val))
		own := err == nil && strings.HasPrefix(strings.TrimSpace(a.Val), "#")
		if err != nil || own || to.Scheme != "http" && to.Scheme != "https" && to.Scheme != "mailto" ||
			len(a.Val) > lineLimit {
			n.Attr = slices.Delete(n.Attr, i, i+1)
			break
		}
		to.User = nil
		n.Attr[i].Val = to.String()
	}
	switch {
	case name == "src" && (strings.TrimSpace(attribute(n, "alt")) == "" || attribute(n, "src") == ""):
		// As a text it is what a reader hears of it.
		n.Type, n.Data, n.DataAtom, n.Attr = html.TextNode, attribute(n, "alt"), 0, nil
	case name == "href" && attribute(n, "href") == "":
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
	}
}

// mainPart is the only part of a document that is marked as its main content, if it has much of the text; otherwise it
// is the whole document.
func mainPart(root *html.Node) *html.Node {
	whole := len(plainText(root))
	for _, is := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || attribute(n, "role") == "main" },
		func(n *html.Node) bool { return n.DataAtom == atom.Article },
	} {
		var found []*html.Node
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && is(n) {
				found = append(found, n)
			}
		}
		if len(found) == 1 && len(plainText(found[0]))*4 > whole {
			return found[0]
		}
	}
	return root
}

func plainText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
