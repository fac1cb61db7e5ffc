package langserver

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"
)

// The messages of LSP 3.17, with the members that are used here.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type document struct {
	URI string `json:"uri"`
}

type versioned struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type item struct {
	URI      string `json:"uri"`
	Language string `json:"languageId"`
	Version  int    `json:"version"`
	Text     string `json:"text"`
}

type opened struct {
	Document item `json:"textDocument"`
}

type change struct {
	Text string `json:"text"`
}

type changed struct {
	Document versioned `json:"textDocument"`
	Changes  []change  `json:"contentChanges"`
}

type closed struct {
	Document document `json:"textDocument"`
}

type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

type watched struct {
	Changes []fileEvent `json:"changes"`
}

type at struct {
	Document document `json:"textDocument"`
	Position position `json:"position"`
	Context  *struct {
		Declaration bool `json:"includeDeclaration"`
	} `json:"context,omitempty"`
}

type matching struct {
	Query string `json:"query"`
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type initialize struct {
	// ProcessID is null: the server may run where our process is invisible, and a server that looks for it would end.
	ProcessID    *int            `json:"processId"`
	RootURI      string          `json:"rootUri,omitempty"`
	Folders      []folder        `json:"workspaceFolders"`
	Capabilities json.RawMessage `json:"capabilities"`
	Options      json.RawMessage `json:"initializationOptions,omitempty"`
}

// capabilities are the capabilities of a client that only asks for places.
const capabilities = `{
	"general": {"positionEncodings": ["utf-8", "utf-16"]},
	"textDocument": {
		"synchronization": {}, "definition": {"linkSupport": true}, "references": {}, "documentSymbol": {"hierarchicalDocumentSymbolSupport": true}
	},
	"workspace": {"symbol": {}, "configuration": true, "workspaceFolders": true, "didChangeWatchedFiles": {"dynamicRegistration": true}},
	"window": {"workDoneProgress": true}
}`

type initialized struct {
	Capabilities struct {
		Encoding string `json:"positionEncoding"`
	} `json:"capabilities"`
}

// location is a Location or a LocationLink.
type location struct {
	URI         string     `json:"uri"`
	Range       *textRange `json:"range"`
	TargetURI   string     `json:"targetUri"`
	TargetRange *textRange `json:"targetSelectionRange"`
}

// symbol is a DocumentSymbol, a SymbolInformation or a WorkspaceSymbol.
type symbol struct {
	Name      string     `json:"name"`
	Kind      int        `json:"kind"`
	Container string     `json:"containerName"`
	Selection *textRange `json:"selectionRange"`
	Children  []symbol   `json:"children"`
	Location  *location  `json:"location"`
}

// kinds are the names of LSP's SymbolKind, which counts from 1.
var kinds = strings.Fields(
	"file module namespace package class method property field constructor enum interface function variable constant " +
		"string number boolean array object key null enummember struct event operator typeparameter")

func kindOf(n int) string {
	if n < 1 || n > len(kinds) {
		return ""
	}
	return kinds[n-1]
}

// several reads a list, a single element, or null.
func several[T any](raw json.RawMessage) ([]T, error) {
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" {
		return nil, nil
	}
	if text[0] == '[' {
		var list []T
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("decode the server's answer: %w", err)
		}
		return list, nil
	}
	var single T
	if err := json.Unmarshal(raw, &single); err != nil {
		return nil, fmt.Errorf("decode the server's answer: %w", err)
	}
	return []T{single}, nil
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // the path begins with a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf is the path of a file URI; "" for anything else.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	if !filepath.IsAbs(filepath.FromSlash(path)) {
		return ""
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// lineOf is a line of a text, without its end.
func lineOf(text string, line int) string {
	for ; line > 0; line-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, "\r")
}

// utf16 is the number of UTF-16 units in the first bytes of a line.
func utf16(line string, column int) int {
	n := 0
	for _, r := range line[:min(column, len(line))] {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// bytesOf is the number of bytes in the first UTF-16 units of a line.
func bytesOf(line string, units int) int {
	at := 0
	for at < len(line) && units > 0 {
		r, size := utf8.DecodeRuneInString(line[at:])
		if units--; r >= 0x10000 {
			units--
		}
		at += size
	}
	return at
}
