// Package remark says what there is to see at the lines of a document, in words and as diagnostics: findings, proposed
// hunks, questions that wait, and what is wrong with a file of ours.
package remark

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// Source names us in the editor's list of problems.
const Source = "agentls"

// Severities are those of LSP for ours.
var Severities = map[event.Severity]protocol.DiagnosticSeverity{
	event.SeverityError:       protocol.DiagnosticSeverityError,
	event.SeverityWarning:     protocol.DiagnosticSeverityWarning,
	event.SeverityInformation: protocol.DiagnosticSeverityInformation,
	event.SeverityHint:        protocol.DiagnosticSeverityHint,
}

// data lets a code action find the finding, hunk or question behind a diagnostic.
type data struct {
	Finding event.FindingID `json:"finding,omitempty"`
	Hunk    event.HunkID    `json:"hunk,omitempty"`
	Ask     event.AskID     `json:"ask,omitempty"`
}

// Form is how one editor takes remarks. It never changes.
type Form struct {
	encoding position.Encoding
	data     bool // the editor keeps what lies behind a diagnostic
	name     func(path string) string
}

// NewForm makes the form for a client; name is how files are named to a person.
func NewForm(c *client.Client, e position.Encoding, name func(path string) string) Form {
	caps, announced := c.PublishDiagnostics()
	return Form{encoding: e, data: announced && client.Yes(caps.DataSupport), name: name}
}

func (f Form) diagnostic(r protocol.Range, severity protocol.DiagnosticSeverity, code, message string,
	behind data,
) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Range: r, Severity: severity, Source: protocol.NewOptional(Source), Message: protocol.String(message),
	}
	if code != "" {
		d.Code = protocol.String(code)
	}
	if f.data {
		if raw, err := json.Marshal(behind); err == nil {
			d.Data = raw
		}
	}
	return d
}

// Finding shows a finding at its place in a text.
func (f Form) Finding(found event.Finding, x *workspace.Index) protocol.Diagnostic {
	return f.diagnostic(f.encoding.Span(x, found.Span), Severities[found.Severity], found.Rule, found.Message,
		data{Finding: found.ID})
}

// Hunk shows a hunk at its lines, or at the top of the file where it is about the file as a whole.
func (f Form) Hunk(h workspace.Hunk, x *workspace.Index) protocol.Diagnostic {
	message := "proposed edit"
	switch {
	case h.Create:
		message = "proposed new file " + f.name(h.Path)
	case h.Delete:
		message = "proposed deletion of this file"
	case h.MoveTo != "":
		message = "proposed rename of this file to " + f.name(h.MoveTo)
	}
	switch {
	case h.State == event.StateConflict:
		message = "conflict with the " + message + " of " + Agent(h.Author) + Because(h.Author.Reason) + ": " +
			cmp.Or(h.Detail, "its lines have changed")
	case h.Author.Reason != "":
		message += ": " + h.Author.Reason
	default:
		message += " by " + Agent(h.Author) + glimpse(h)
	}
	start, end := h.StartLine, h.EndLine
	if whole(h) {
		start, end = 0, 0
	}
	return f.diagnostic(f.encoding.Lines(x, start, end), protocol.DiagnosticSeverityHint, "proposal", message,
		data{Hunk: h.ID})
}

// Ask shows a question that waits for an answer at the top of a file.
func (f Form) Ask(id event.AskID, text string, x *workspace.Index) protocol.Diagnostic {
	return f.diagnostic(f.encoding.Lines(x, 0, 0), protocol.DiagnosticSeverityInformation, "ask", text, data{Ask: id})
}

// Problem shows what is wrong with a file of ours.
func (f Form) Problem(kind authoring.Kind, p agent.Problem, x *workspace.Index) protocol.Diagnostic {
	message := p.Message
	if p.Hint != "" {
		message += "; " + p.Hint
	}
	return f.diagnostic(f.encoding.Span(x, p.Span), Severities[p.Severity], kind.Code(), message, data{})
}

// What says in a few words what a hunk does.
func (f Form) What(h workspace.Hunk) string {
	switch {
	case h.Create:
		return "the new file " + f.name(h.Path)
	case h.Delete:
		return "the deletion of this file"
	case h.MoveTo != "":
		return "the rename of this file to " + f.name(h.MoveTo)
	}
	return "this edit"
}

// whole reports whether a hunk is about the file as a whole.
func whole(h workspace.Hunk) bool { return h.Create || h.Delete || h.MoveTo != "" }

// Lines are the lines at which a hunk is shown, 0-based, both inclusive: its own, the first of the file for what
// happens to the file as a whole, and the last for what is added behind it, where no cursor gets.
func Lines(h workspace.Hunk, x *workspace.Index) (first, last int) {
	if whole(h) {
		return 0, 0
	}
	end := max(x.Len()-1, 0)
	first = min(h.StartLine, end)
	return first, min(max(first, h.EndLine-1), end)
}

// glimpse shows the first line that an edit would change, for an edit without a reason.
func glimpse(h workspace.Hunk) string {
	if whole(h) {
		return ""
	}
	if h.After == "" {
		return ": takes the lines away"
	}
	before := strings.Split(h.Before, "\n")
	for i, line := range strings.Split(h.After, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && (i >= len(before) || strings.TrimSpace(before[i]) != line) {
			return ": " + short.Line(line)
		}
	}
	return ""
}

// Agent names the agent behind an edit.
func Agent(a workspace.Author) string { return cmp.Or(a.Agent, "an agent") }

// Because adds the reason of an edit to a title; nothing for none.
func Because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + short.Line(reason)
}

// ResultID names a list of diagnostics: two lists of one name are the same.
func ResultID(list []protocol.Diagnostic) (string, error) {
	raw, err := protocol.Marshal(&protocol.PublishDiagnosticsParams{Diagnostics: list})
	if err != nil {
		return "", fmt.Errorf("encode diagnostics: %w", err)
	}
	hash := fnv.New64a()
	hash.Write(raw)
	return fmt.Sprintf("%x", hash.Sum64()), nil
}
