package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// content is what a page says.
type content struct {
	// kind is for people, such as "text/html".
	kind string
	// title and text are what others wrote, without invisible characters.
	title, text string
	// note is agentls's own text about content without text.
	note   string
	images []Image
}

// content reads the page by its type, or by its first bytes if the type says nothing.
func (p page) content() content {
	kind := p.mediaType
	if kind == "" || kind == "application/octet-stream" || kind == "binary/octet-stream" {
		kind, _, _ = strings.Cut(http.DetectContentType(p.body), ";")
	}
	c := content{kind: kind}
	switch {
	case len(p.body) == 0:
		c.note = "The page is empty."
	case kind == "text/html" || kind == "application/xhtml+xml":
		var err error
		if c.title, c.text, err = markdownOf(p.decoded(), p.address); err != nil {
			c.note = fmt.Sprintf("The page cannot be shown: %v.", err)
		}
		c.title, c.text = disclosed(c.title), disclosed(c.text)
		if c.note == "" && strings.TrimSpace(c.text) == "" {
			c.note = "The page shows no text without running its scripts. Look for its data, its source or another " +
				"page on the same matter."
		}
	case kind == "application/pdf":
		c.note = aboutPDF(p.body, p.cut) +
			" The text of PDFs is not read here: look for the same document as a web page or in plain text, or ask " +
			"the user what it says."
	case strings.HasPrefix(kind, "image/") && kind != "image/svg+xml":
		c.picture(p)
	case isTextType(kind) || utf8.Valid(p.body) && !bytes.ContainsRune(p.body, 0):
		text, err := io.ReadAll(p.decoded())
		if err != nil {
			c.note = fmt.Sprintf("The text cannot be read: %v.", err)
		}
		if (kind == "application/json" || strings.HasSuffix(kind, "+json")) && len(text) > lineLimit &&
			bytes.Count(text, []byte("\n")) < 3 {
			// Such a long line cannot be read by people, nor by the tool read once it is kept in a file.
			var indented bytes.Buffer
			if json.Indent(&indented, text, "", " ") == nil {
				text = indented.Bytes()
			}
		}
		c.text = disclosed(string(text))
	default:
		c.note = "This is no text, so there is nothing to read. Look for a page that describes it."
	}
	return c
}

// picture takes over an image.
func (c *content) picture(p page) {
	if p.cut || p.broken != nil {
		c.note = "The image is too large to be shown."
		return
	}
	image, note, err := pictureOf(p.body)
	if err != nil {
		c.note = fmt.Sprintf("The image is not shown: %v.", err)
		return
	}
	c.note, c.images = note, []Image{image}
}

// decoded is the body in UTF-8. The encoding is known by the byte order mark, the head, the document itself, or the
// bytes.
func (p page) decoded() io.Reader {
	declared := "text/html"
	if name := p.parameters["charset"]; name != "" {
		declared += "; charset=" + strings.Trim(name, `"'`)
	} else if !strings.Contains(p.mediaType, "html") && utf8.Valid(p.body) {
		return bytes.NewReader(bytes.TrimPrefix(p.body, []byte("\ufeff")))
	}
	encoding, _, certain := charset.DetermineEncoding(p.body[:min(len(p.body), 1024)], declared)
	if !certain && utf8.Valid(p.body) {
		return bytes.NewReader(p.body) // the guess looks only at the first bytes
	}
	return encoding.NewDecoder().Reader(bytes.NewReader(p.body))
}

// textTypes are types of text in addition to text/*.
var textTypes = []string{
	"application/json", "application/xml", "application/javascript", "application/ecmascript", "application/yaml",
	"application/x-yaml",
	"application/toml", "application/x-sh", "application/sql", "application/graphql", "image/svg+xml", "message/rfc822",
	"application/x-ndjson",
}

func isTextType(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		strings.HasSuffix(kind, "+yaml") ||
		slices.Contains(textTypes, kind)
}

// pdfPage finds the pages of a PDF that are not packed (ISO 32000-1, 7.7.3.3), pdfCount the numbers of pages that its
// trees say. They take half a millisecond to make, which each start of the program, and so each sandboxed command,
// would take longer.
var (
	pdfPage  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/Type\s*/Page[^s]`) })
	pdfCount = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`/Type\s*/Pages\b[^>]{0,200}/Count\s+(\d{1,6})|/Count\s+(\d{1,6})[^>]{0,200}/Type\s*/Pages\b`)
	})
)
