package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type hint struct {
	Position Position        `json:"position"`
	Label    json.RawMessage `json:"label"`
	Tooltip  struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	} `json:"tooltip"`
}

// took is a time that a run has taken, as hints show it.
var took = regexp.MustCompile(` · (\d+ h )?(\d+ min ?)?(\d+ s)?( · |$)`)

// text is the hint's label without the time that its run has taken, which no scenario can know.
func (h hint) text() string {
	return took.ReplaceAllStringFunc(text(h.Label), func(found string) string {
		if strings.HasSuffix(found, " · ") {
			return " · "
		}
		return ""
	})
}

// askHints asks for the inlay hints of a whole document.
func (p *play) askHints(path string) ([]hint, error) {
	const method = "textDocument/inlayHint"
	e := p.editor
	u := e.URI(path)
	e.mu.Lock()
	serves, d := e.serves(method, u), e.documents[u]
	e.mu.Unlock()
	switch {
	case !serves:
		return nil, errUnserved
	case d == nil:
		return nil, fmt.Errorf("%s is not open", path)
	}
	raw, err := e.Call(p.ctx, method, struct {
		TextDocument textDocument `json:"textDocument"`
		Range        Range        `json:"range"`
	}{textDocument{URI: u}, Range{End: e.encoding.Position(d.text, len(d.text))}})
	if err != nil {
		return nil, err
	}
	p.last = raw
	var list []hint
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("decode the inlay hints: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range list {
		if text(h.Label) == "" {
			e.fault("%s: a hint without a label", method)
		}
		if e.documents[u] != d {
			continue // typed meanwhile
		}
		if _, _, err := e.encoding.Span(d.text, Range{Start: h.Position, End: h.Position}); err != nil {
			e.fault("%s: %q: %v", method, text(h.Label), err)
		}
	}
	return list, nil
}

// hintsAre compares the inlay hints of a document with a section, a line each: PATH [want/hints].
func (p *play) hintsAre(args []string) error {
	list, err := p.askHints(args[0])
	if err != nil {
		return p.unserved(err, args[1:])
	}
	var out strings.Builder
	for _, h := range list {
		fmt.Fprintf(&out, "%d: %s\n", h.Position.Line+1, h.text())
	}
	return p.compare(section(args, 1, "want/hints"), p.masked(out.String()))
}

// waitHint asks for the hints whenever the server says that there are others, until one holds the text, or none does. An editor that takes no
// refreshes asks at each message instead, as if the user typed.
func (p *play) waitHint(path, want string, there bool) error {
	const refresh = "workspace/inlayHint/refresh"
	e := p.editor
	refreshes := p.profile.Announces("workspace.inlayHint.refreshSupport")
	for {
		e.mu.Lock()
		before, heard := e.refreshes[refresh], e.heard
		e.mu.Unlock()
		list, err := p.askHints(path)
		if err != nil && !errors.Is(err, errUnserved) {
			return err
		}
		if err == nil && slices.ContainsFunc(list, func(h hint) bool { return strings.Contains(text(h.Label), want) }) == there {
			return nil
		}
		what := fmt.Sprintf("the hint %q of %s to come (%t); the hints are %+v", want, path, there, list)
		err = e.wait(p.ctx, what, func() bool {
			if refreshes && err == nil {
				return e.refreshes[refresh] > before
			}
			return e.heard > heard
		})
		if err != nil {
			return err
		}
	}
}

// waitHover points at a place until what is shown there holds the text.
func (p *play) waitHover(path, where, want string) error {
	e := p.editor
	for {
		e.mu.Lock()
		heard := e.heard
		e.mu.Unlock()
		var hover struct {
			Contents struct {
				Value string `json:"value"`
			} `json:"contents"`
		}
		err := p.ask("textDocument/hover", []string{path, where}, &hover)
		if err != nil && !errors.Is(err, errUnserved) {
			return err
		}
		if err == nil && strings.Contains(hover.Contents.Value, want) {
			return nil
		}
		err = e.wait(p.ctx, fmt.Sprintf("the hover %q of %s, which is %q", want, path, hover.Contents.Value), func() bool { return e.heard > heard })
		if err != nil {
			return err
		}
	}
}

// find keeps the id of the run of a title under a name, by what a subscriber is told: NAME "title".
func (p *play) find(args []string) error {
	// All events come again, so that none is lost between the former subscription and this one.
	raw, err := p.editor.Call(p.ctx, "agent/subscribe", struct {
		Since int `json:"since"`
	}{})
	if err != nil {
		return err
	}
	var snapshot struct {
		Sessions []struct {
			Tree []struct{ ID, Title string } `json:"tree"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal(raw, &snapshot); err != nil {
		return fmt.Errorf("decode the snapshot: %w", err)
	}
	p.last = raw
	for _, s := range snapshot.Sessions {
		for _, r := range s.Tree {
			if strings.Contains(r.Title, args[1]) {
				p.vars[args[0]] = r.ID
				return nil
			}
		}
	}
	return fmt.Errorf("there is no such run: %s", shorten(string(raw)))
}
