package lsptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// bars are the work-done progress of the server.
type bars struct {
	*judge
	byToken map[string]*Progress
	order   []*Progress // in the order of their creation
}

// Progress is a work-done progress as the user sees it.
type Progress struct {
	// Token is the token as JSON.
	Token   string
	Title   string
	Begun   bool
	Ended   bool
	Message string // the newest
	Percent int    // the newest, -1 for none
	// Cancellable is what the begin or the newest report says.
	Cancellable bool

	request     *call // the request that brought the token; nil for one that the server created
	withPercent bool
}

func (b *bars) create(token json.RawMessage) error {
	key := string(token)
	if key == "" || key[0] != '"' && (key[0] < '0' || key[0] > '9') && key[0] != '-' {
		b.fault("window/workDoneProgress/create: %q is no token", key)
		return fmt.Errorf("%q is no token", key)
	}
	if b.byToken[key] != nil {
		b.fault("window/workDoneProgress/create: token %s was used before", key)
	}
	b.add(&Progress{Token: key, Percent: -1})
	return nil
}

func (b *bars) add(p *Progress) {
	b.byToken[p.Token] = p
	b.order = append(b.order, p)
}

// give notes the work-done token that a request of ours brings.
func (b *bars) give(c *call) {
	if token := lookup(c.params, "workDoneToken"); truthy(token) {
		b.add(&Progress{Token: string(token), Percent: -1, request: c})
	}
}

// answered notes a fault where a request is answered before its progress has ended.
func (b *bars) answered(c *call) {
	for _, p := range b.order {
		if p.request == c && p.Begun && !p.Ended {
			b.fault("%s was answered before its progress %s ended", c.method, p.Token)
		}
	}
}

// progressValue is any of LSP's WorkDoneProgressBegin, WorkDoneProgressReport and WorkDoneProgressEnd.
type progressValue struct {
	Kind        string  `json:"kind"`
	Title       string  `json:"title"`
	Message     *string `json:"message"`
	Percentage  *int    `json:"percentage"`
	Cancellable *bool   `json:"cancellable"`
}

func (b *bars) progressed(params json.RawMessage) {
	key, value := string(lookup(params, "token")), lookup(params, "value")
	p := b.byToken[key]
	if p == nil {
		b.fault("$/progress: token %s was neither created nor given by the client", key)
		return
	}
	if p.request != nil && p.request.ended {
		b.fault("$/progress: token %s came with %s, which is answered already", key, p.request.method)
	}
	var v progressValue
	if err := json.Unmarshal(value, &v); err != nil {
		b.fault("$/progress: token %s: bad value %s", key, shorten(string(value)))
		return
	}
	b.inOrder(p, v)
	if v.Kind == "begin" {
		p.Begun, p.Title, p.withPercent = true, v.Title, v.Percentage != nil
	}
	p.Ended = p.Ended || v.Kind == "end"
	if v.Percentage != nil {
		p.Percent = *v.Percentage
	}
	if v.Message != nil {
		p.Message = *v.Message
	}
	if v.Cancellable != nil {
		p.Cancellable = *v.Cancellable
	}
}

// inOrder checks that a report of a progress may follow the reports before it.
func (b *bars) inOrder(p *Progress, v progressValue) {
	fault := func(format string, args ...any) {
		b.fault("$/progress: token %s"+format, append([]any{p.Token}, args...)...)
	}
	title := p.Title
	switch v.Kind {
	case "begin":
		if p.Begun {
			fault(" begins twice")
		}
		if v.Title == "" {
			fault(" begins without a title")
		}
		title = v.Title
	case "report":
		if !p.Begun {
			fault(" reports before it begins")
		}
		if p.withPercent != (v.Percentage != nil) {
			fault(" (%q): a percentage has to be in the begin and in every report, or nowhere", title)
		}
	case "end":
		if !p.Begun {
			fault(" ends before it begins")
		}
	default:
		fault(": there is no kind %q", v.Kind)
	}
	if p.Ended {
		fault(" (%q) goes on after its end", title)
	}
	if v.Percentage != nil && (*v.Percentage < max(p.Percent, 0) || *v.Percentage > 100) {
		fault(" (%q): percentage %d after %d", title, *v.Percentage, p.Percent)
	}
}

// says reports whether a progress of this title has the text in its newest message. ended asks for one that has ended,
// otherwise for one under way.
func (b *bars) says(title, message string, ended bool) bool {
	return slices.ContainsFunc(b.order, func(g *Progress) bool {
		return g.Begun && g.Ended == ended && strings.Contains(g.Title, title) && strings.Contains(g.Message, message)
	})
}
