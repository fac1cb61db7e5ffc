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

// text is the label of the hint without the time that its run has taken, since no scenario can know that time.
func (h hint) text() string {
	return took.ReplaceAllStringFunc(text(h.Label), func(found string) string {
		if strings.HasSuffix(found, " · ") {
			return " · "
		}
		return ""
	})
}

// askHints asks for the inlay hints of a whole document.
func (q *requests) askHints(path string) ([]hint, error) {
	const method = "textDocument/inlayHint"
	e := q.editor
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
	raw, err := e.Call(q.ctx, method, struct {
		TextDocument textDocument `json:"textDocument"`
		Range        Range        `json:"range"`
	}{textDocument{URI: u}, Range{End: e.encoding.Position(d.text, len(d.text))}})
	if err != nil {
		return nil, err
	}
	q.last = raw
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

// hintsAre waits until the inlay hints of a document are those of a section, a line each: PATH [want/hints].
func (p *play) hintsAre(args []string) error {
	name, shown := section(args, 1, "want/hints"), ""
	show := func(list []hint) {
		var out strings.Builder
		for _, h := range list {
			fmt.Fprintf(&out, "%d: %s\n", h.Position.Line+1, h.text())
		}
		shown = p.masked(out.String())
	}
	list, err := p.askHints(args[0])
	if err != nil {
		return unserved(err, args[1:])
	}
	if *update {
		show(list)
		return p.compare(name, shown)
	}
	err = p.hintsUntil(args[0], func(list []hint) bool {
		show(list)
		return p.compare(name, shown) == nil
	})
	return errors.Join(err, p.compare(name, shown))
}

// waitHint waits until a hint of a document holds the text, or none does.
func (q *requests) waitHint(path, want string, there bool) error {
	return q.hintsUntil(path, func(list []hint) bool {
		return slices.ContainsFunc(list, func(h hint) bool { return strings.Contains(text(h.Label), want) }) == there
	})
}

// hintsUntil asks for the hints each time the server says that they have changed, until they fit. An editor that takes
// no refreshes asks at each message instead, as if the user typed.
func (q *requests) hintsUntil(path string, fit func([]hint) bool) error {
	const refresh = "workspace/inlayHint/refresh"
	e := q.editor
	refreshes := e.profile.Announces("workspace.inlayHint.refreshSupport")
	for {
		e.mu.Lock()
		before, heard := e.refreshes[refresh], e.heard
		e.mu.Unlock()
		list, err := q.askHints(path)
		if err != nil && !errors.Is(err, errUnserved) {
			return err
		}
		if err == nil && fit(list) {
			return nil
		}
		err = e.wait(q.ctx, fmt.Sprintf("other hints of %s than %+v", path, list), func() bool {
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

// waitHover asks for the hover at a place until it holds the text.
func (q *requests) waitHover(path, where, want string) error {
	e := q.editor
	for {
		e.mu.Lock()
		heard := e.heard
		e.mu.Unlock()
		var hover struct {
			Contents struct {
				Value string `json:"value"`
			} `json:"contents"`
		}
		err := q.ask("textDocument/hover", []string{path, where}, &hover)
		if err != nil && !errors.Is(err, errUnserved) {
			return err
		}
		if err == nil && strings.Contains(hover.Contents.Value, want) {
			return nil
		}
		err = e.wait(q.ctx, fmt.Sprintf("the hover %q of %s, which is %q", want, path, hover.Contents.Value),
			func() bool { return e.heard > heard })
		if err != nil {
			return err
		}
	}
}

// find keeps the id of a run under a name. It knows the run by its title, from the events that a subscriber gets: NAME
// "title".
func (q *requests) find(args []string) error {
	// All events come again, so that none is lost between the former subscription and this one.
	raw, err := q.editor.Call(q.ctx, "agent/subscribe", struct {
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
	q.last = raw
	for _, s := range snapshot.Sessions {
		for _, r := range s.Tree {
			if strings.Contains(r.Title, args[1]) {
				q.vars[args[0]] = r.ID
				return nil
			}
		}
	}
	return fmt.Errorf("there is no such run: %s", shorten(string(raw)))
}
