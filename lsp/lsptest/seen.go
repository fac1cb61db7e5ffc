package lsptest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// looking is a verb that compares what is seen with a section. Its first arguments, "of" in number, say what to look
// at; up to "more" further ones name the section, which is otherwise a standard one. The section "unserved" expects
// that the server does not have the feature for the document.
func looking(of, more int, standard string, text func(*requests, []string) (string, error)) verb {
	return verb{of, of + more, 0, func(p *play, args []string) error {
		shown, err := text(&p.requests, args)
		if err != nil {
			return unserved(err, args[of:])
		}
		return p.compare(section(args, of, standard), p.masked(shown))
	}}
}

// messageIs expects a message that has come or will come.
func messageIs(method string) func(*play, []string) error {
	return func(p *play, args []string) error { return p.waitMessage(method, args[0]) }
}

// messageMethods are the ways in which a server says something.
var messageMethods = map[string]string{
	"message": "window/showMessage", "log": "window/logMessage", "question": "window/showMessageRequest",
}

// no expects that something has not come up to now: no message|log|question "text", no diagnostics PATH, no lenses
// PATH. A text must not come until the end either, unless a later line expects it.
func (p *play) no(args []string) error {
	e := p.editor
	if args[0] == "lenses" {
		list, err := p.askLenses(args[1])
		if err == nil && len(list) > 0 {
			err = fmt.Errorf("there are %d, the first is %q", len(list), list[0].Command.Title)
		}
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch args[0] {
	case "message", "log", "question":
		silence := &unsaid{editor: e, method: messageMethods[args[0]], text: args[1], expected: len(p.matched)}
		p.unsaid = append(p.unsaid, silence)
		return silence.check(nil)
	case "diagnostics":
		if list := e.diagnostics[e.URI(args[1])].list; len(list) > 0 {
			return fmt.Errorf("there are %d, the first is %q", len(list), list[0].Message)
		}
		return nil
	}
	return fmt.Errorf("it cannot be said that there is no %q", args[0])
}

var severityNames = []string{"none", "error", "warning", "information", "hint"}

// diagnosticText shows the diagnostics of a document, a line each: place (1-based, in characters), severity, code,
// message.
func diagnosticText(e *Editor, path string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.diagnostics[e.URI(path)]
	list := slices.Clone(d.list)
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character), cmp.Compare(a.Message, b.Message))
	})
	var out strings.Builder
	for _, one := range list {
		code := strings.Trim(string(one.Code), `"`)
		fmt.Fprintf(&out, "%s %s %s: %s\n", placeText(e, d.text, one.Range),
			severityNames[min(max(one.Severity, 0), 4)],
			code, strings.ReplaceAll(one.Message, "\n", "\n\t"))
	}
	return out.String()
}

func section(args []string, i int, otherwise string) string {
	if i < len(args) {
		return args[i]
	}
	return otherwise
}

// triggeredText shows the code actions at a place, a line each: PATH PLACE [SECTION [KIND]]. They are the actions of
// the menu, or those behind the light bulb, for which an editor asks by itself.
func triggeredText(trigger int) func(*requests, []string) (string, error) {
	return func(q *requests, args []string) (string, error) {
		r, err := place(q.editor, args[0], args[1])
		if err != nil {
			return "", err
		}
		var only []string
		if len(args) > 3 {
			only = args[3:]
		}
		list, err := q.editor.triggered(q.ctx, trigger, args[0], r, only)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		for _, a := range list {
			fmt.Fprintf(&out, "%s: %s", cmp.Or(a.Kind, "command"), a.Title)
			if a.IsPreferred != nil && *a.IsPreferred {
				out.WriteString(" (preferred)")
			}
			if a.Disabled != nil {
				fmt.Fprintf(&out, " (disabled: %s)", text(lookup(a.Disabled, "reason")))
			}
			out.WriteString("\n")
		}
		return out.String(), nil
	}
}

// hunksAre asks for the proposals and compares the hunks with a section, if one is named. The hunks become the
// variables hunk1, hunk2 and so on; their proposal becomes the variable proposal.
func (p *play) hunksAre(args []string) error {
	result, err := p.editor.Execute(p.ctx, "agentls.proposals", json.RawMessage("{}"))
	if err != nil {
		return err
	}
	var list struct {
		Proposals []struct {
			ID    string `json:"id"`
			State string `json:"state"`
			Files []struct {
				URI    string `json:"uri"`
				State  string `json:"state"`
				Change string `json:"change"`
				Hunks  []struct {
					ID     string `json:"id"`
					State  string `json:"state"`
					Range  Range  `json:"range"`
					Before string `json:"before"`
					After  string `json:"after"`
					Reason string `json:"reason"`
				} `json:"hunks"`
			} `json:"files"`
		} `json:"proposals"`
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return err
	}
	var out strings.Builder
	n := 0
	for _, proposal := range list.Proposals {
		p.vars["proposal"] = proposal.ID
		for _, f := range proposal.Files {
			fmt.Fprintf(&out, "%s %s %s\n", f.URI, f.Change, f.State)
			p.editor.mu.Lock()
			content, err := p.editor.showing(f.URI)
			for _, h := range f.Hunks {
				n++
				p.vars["hunk"+strconv.Itoa(n)] = h.ID
				where := "new"
				if err == nil {
					where = placeText(p.editor, content, h.Range)
				}
				fmt.Fprintf(&out, "%d: %s %s: %s\n%s%s", n, where, h.State, h.Reason, prefixed("-", h.Before),
					prefixed("+", h.After))
			}
			p.editor.mu.Unlock()
		}
	}
	if len(args) == 0 {
		return nil
	}
	return p.compare(args[0], p.masked(out.String()))
}

func prefixed(prefix, text string) string {
	var out strings.Builder
	for l := range strings.Lines(text) {
		out.WriteString(prefix + strings.TrimRight(l, "\r\n") + "\n")
	}
	return out.String()
}

// textIs compares an open document with a section, or with a text: PATH is "text".
func (p *play) textIs(args []string) error {
	content, _, err := p.editor.Text(args[0])
	if err != nil {
		return err
	}
	if len(args) == 3 {
		if args[1] == "contains" && strings.Contains(content, args[2]) {
			return nil
		}
		if args[1] != "is" || content != args[2] {
			return fmt.Errorf("%s is %q", args[0], content)
		}
		return nil
	}
	return p.compare(args[1], content)
}

// diskIs compares a file with what it was at the start ("unchanged"), or with a section.
func (p *play) diskIs(args []string) error {
	file := pathOf(p.editor.URI(args[0]))
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if args[1] != "unchanged" {
		return p.compare(args[1], string(content))
	}
	if string(content) != string(p.disk[file]) {
		return fmt.Errorf("%s has changed on disk", args[0])
	}
	return nil
}

// editsAre expects that the server has asked for so many edits up to now, and for no more until the end where nothing
// more is done.
func (p *play) editsAre(args []string) error {
	e := p.editor
	check := func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if got := strconv.Itoa(len(e.applied)); got != args[0] {
			return fmt.Errorf("there were %s edits, not %s", got, args[0])
		}
		return nil
	}
	p.edits = check
	return check()
}

// progressText shows all progress, a line each: the titles with their ends.
func progressText(q *requests, _ []string) (string, error) {
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	var out strings.Builder
	for _, g := range q.editor.progress.order {
		state := "under way"
		if g.Ended {
			state = "ended: " + g.Message
		}
		fmt.Fprintf(&out, "%s (%s)\n", g.Title, state)
	}
	return out.String(), nil
}

// resultIs looks at the result of the last request: contains "text", PATH "value", or PATH count N. The path is dotted.
func (q *requests) resultIs(args []string) error {
	if args[0] == "contains" && len(args) == 2 {
		if !strings.Contains(string(q.last), args[1]) {
			return fmt.Errorf("it has no %q: %s", args[1], shorten(string(q.last)))
		}
		return nil
	}
	value := lookup(q.last, args[0])
	switch {
	case len(args) == 3 && args[1] == "count":
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil && value != nil {
			return fmt.Errorf("%s is no list: %w", args[0], err)
		}
		if strconv.Itoa(len(list)) != args[2] {
			return fmt.Errorf("%s has %d elements, not %s: %s", args[0], len(list), args[2], shorten(string(q.last)))
		}
		return nil
	case len(args) == 3 && args[1] == "contains":
		if !strings.Contains(string(value), args[2]) {
			return fmt.Errorf("%s has no %q: %s", args[0], args[2], shorten(string(q.last)))
		}
		return nil
	case len(args) == 2:
		if got := strings.Trim(string(value), `"`); got != args[1] {
			return fmt.Errorf("%s is %q, not %q: %s", args[0], got, args[1], shorten(string(q.last)))
		}
		return nil
	}
	return errors.New("it is PATH \"value\", PATH count N, PATH contains \"text\" or contains \"text\"")
}

// capture keeps a value of the last result under a name: NAME PATH.
func (q *requests) capture(args []string) error {
	value := lookup(q.last, args[1])
	if value == nil {
		return fmt.Errorf("there is no %s in %s", args[1], shorten(string(q.last)))
	}
	q.vars[args[0]] = strings.Trim(string(value), `"`)
	return nil
}
