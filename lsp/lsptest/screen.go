package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// screen is what the user sees of the server besides texts: problems, and documents that the server has shown.
type screen struct {
	*judge
	*link
	*buffers
	folder      string // where files are that may be shown beside those of the workspace
	diagnostics map[string]published
	foreign     map[string][]Diagnostic // of other language servers
	shown       map[string]string       // URI → text
	fetches     sync.WaitGroup
}

// published are the newest diagnostics of a document.
type published struct {
	version *int32
	// text is the text that the ranges refer to, as far as the editor can know it.
	text string
	list []Diagnostic
	// times is how often diagnostics came.
	times int
}

// Diagnostic is LSP's, with the members that agentls uses.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
	Tags     []int           `json:"tags,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`

	CodeDescription    json.RawMessage `json:"codeDescription,omitempty"`
	RelatedInformation json.RawMessage `json:"relatedInformation,omitempty"`
}

// publish takes diagnostics.
func (s *screen) publish(params json.RawMessage) {
	const method, base = "textDocument/publishDiagnostics", "textDocument.publishDiagnostics"
	if s.profile.Announces("textDocument.diagnostic") { // one that says nothing of either takes the older one
		s.needs(base, method)
	}
	var p struct {
		URI         string        `json:"uri"`
		Version     *int32        `json:"version"`
		Diagnostics *[]Diagnostic `json:"diagnostics"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.URI == "" || p.Diagnostics == nil {
		s.fault("%s: bad params %s (%v)", method, shorten(string(params)), err)
		return
	}
	if p.Version != nil {
		s.needs(base+".versionSupport", method)
	}
	shown, counts := s.countedIn(p.URI, p.Version, *p.Diagnostics)
	if !counts {
		s.fault("%s: %s", method, shown)
	}
	for _, d := range *p.Diagnostics {
		if d.Message == "" {
			s.fault("%s: a diagnostic without a message", method)
		}
		for member, there := range map[string]bool{
			"tagSupport": d.Tags != nil, "dataSupport": d.Data != nil,
			"codeDescriptionSupport": d.CodeDescription != nil, "relatedInformation": d.RelatedInformation != nil,
		} {
			if there {
				s.needs(base+"."+member, method)
			}
		}
	}
	s.diagnostics[p.URI] = published{
		version: p.Version, text: shown, list: *p.Diagnostics, times: s.diagnostics[p.URI].times + 1,
	}
}

// countedIn finds the text that the ranges of diagnostics refer to: that of the version or, without a version, the
// newest text that they fit, because the server may not have seen the last changes. Where there is no such text, it
// returns what is wrong, and false.
func (s *screen) countedIn(u string, version *int32, list []Diagnostic) (string, bool) {
	d := s.documents[u]
	if d == nil {
		disk, err := s.showing(u)
		if s.known[u] > 0 || s.written[pathOf(u)] {
			return disk, true // the server hears later that it is closed or changed, if at all
		}
		if version != nil && len(list) > 0 {
			return fmt.Sprintf("version %d of %s, which is not open", *version, u), false
		}
		if err != nil && len(list) > 0 {
			return fmt.Sprintf("diagnostics for %s: %v", u, err), false
		}
		return disk, s.fit(disk, list) == nil
	}
	if version != nil {
		text, known := d.history[*version]
		if !known && s.known[u] > 1 {
			return d.text, true // of the time before it was opened again
		}
		if !known {
			return fmt.Sprintf("%s never had version %d", u, *version), false
		}
		if err := s.fit(text, list); err != nil && s.known[u] == 1 {
			return fmt.Sprintf("in version %d of %s, %v", *version, u, err), false
		}
		return text, true
	}
	var first error
	for v := d.version; v > 0; v-- {
		text, known := d.history[v]
		if !known {
			continue
		}
		err := s.fit(text, list)
		if err == nil {
			return text, true
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Sprintf("in %s, %v", u, first), s.known[u] > 1
}

// Diagnostics returns the newest diagnostics of a document and the text that their ranges count in.
func (s *screen) Diagnostics(path string) ([]Diagnostic, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.diagnostics[s.URI(path)]
	return p.list, p.text
}

// show opens a document for the user.
func (s *screen) show(params json.RawMessage) (any, error) {
	var p struct {
		URI       string `json:"uri"`
		External  bool   `json:"external"`
		Selection *Range `json:"selection"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.URI == "" {
		s.fault("window/showDocument: bad params %s", shorten(string(params)))
	}
	success := struct {
		Success bool `json:"success"`
	}{true}
	file := pathOf(p.URI)
	switch {
	case p.External:
	case file != "":
		content, err := s.textOf(file)
		if err != nil {
			s.fault("window/showDocument: %v", err)
			success.Success = false
			break
		}
		if !within(file, s.root) && !within(file, s.folder) {
			s.fault("window/showDocument: %s is neither in the workspace nor in the state folder", file)
		}
		s.shown[p.URI] = content
		if p.Selection != nil {
			s.checkCursor(file, content, p.Selection.Start)
		}
	case s.scheme(p.URI):
		s.fetch(p.URI)
	default:
		s.fault(
			"window/showDocument: nobody can read %s: its scheme is not among workspace.textDocumentContent.schemes",
			p.URI)
		success.Success = false
	}
	return success, nil
}

// textOf is the text of an open document, else of a file.
func (s *screen) textOf(file string) (string, error) {
	if d := s.documents[s.URI(file)]; d != nil {
		return d.text, nil
	}
	content, err := os.ReadFile(file)
	return string(content), err
}

// checkCursor finds fault with a cursor that is to be outside of a document.
func (s *screen) checkCursor(file, content string, at Position) {
	if s.profile.EmptyIsALine {
		content = strings.TrimSuffix(content, "\n")
	}
	if last := strings.Count(content, "\n"); int(at.Line) > last {
		s.fault("window/showDocument: line %d (0-based) is outside of %s, whose last line is %d", at.Line, file, last)
	}
}

// fetch asks the server for the text of a document of its own.
func (s *screen) fetch(u string) {
	p := s.begin("workspace/textDocumentContent", textDocument{URI: u})
	s.fetches.Go(func() {
		raw, err := p.Wait(context.Background()) // ends with the connection at the latest
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil && !errors.Is(err, ErrDisconnected) {
			s.fault("workspace/textDocumentContent of %s: %v", u, err)
		}
		s.shown[u] = text(lookup(raw, "text"))
		s.changed()
	})
}

// Shown returns the texts of the documents that the server has shown to the user, each under its URI as a headline.
func (s *screen) Shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shownText()
}

func (s *screen) shownText() string {
	var b strings.Builder
	for u, content := range s.shown {
		fmt.Fprintf(&b, "%s\n%s\n", u, content)
	}
	return b.String()
}

func within(file, folder string) bool {
	rest, err := filepath.Rel(folder, file)
	return folder != "" && err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}
