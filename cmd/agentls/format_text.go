package main

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// text is the result for people: each finding as `path:line:col: severity: message [source rule]` with its fix,
// the agent's answer, the proposed edits as a diff, and a summary. Lines and columns are 1-based, columns count bytes
// of UTF-8, as compilers do.
func (r *result) text(color bool) string {
	paint := painter(color)
	var parts []string
	if len(r.findings) > 0 {
		var b strings.Builder
		for _, f := range r.findings {
			r.writeFinding(&b, f, color)
		}
		parts = append(parts, b.String())
	}
	if output := strings.TrimSpace(r.outcome.Output); output != "" {
		parts = append(parts, visible(output)+"\n")
	}
	if diff := r.diff(); diff != "" {
		title := "Proposed edits:"
		if len(r.written) > 0 && len(r.refused) == 0 {
			title = "Written edits:"
		}
		parts = append(parts, paint(bold, title)+"\n\n"+paintDiff(visible(diff), color))
	}
	if summary := r.summary(); summary != "" {
		parts = append(parts, paint(bold, summary)+"\n")
	}
	return strings.Join(parts, "\n")
}

func (r *result) writeFinding(b *strings.Builder, f event.Finding, color bool) {
	paint := painter(color)
	path := event.FilePath(f.URI)
	fmt.Fprintf(b, "%s: %s: %s", place(r.name(path), f), paint(severityColor(f.Severity), string(f.Severity)),
		oneLine(f.Message))
	if origin := oneLine(f.Source + " " + f.Rule); origin != "" {
		b.WriteString(paint(dim, " ["+origin+"]"))
	}
	if r.fixed(f) {
		b.WriteString(paint(green, " fixed"))
	}
	b.WriteByte('\n')
	for _, h := range r.fixes[f.ID] {
		writeFix(b, h, color)
	}
}

// place is where a finding is, as compilers write it.
func place(name string, f event.Finding) string {
	return fmt.Sprintf("%s:%d:%d", visible(name), f.Span.StartLine+1, f.Span.StartColumn+1)
}

func severityColor(s event.Severity) string {
	switch s {
	case event.SeverityWarning:
		return yellow
	case event.SeverityInformation:
		return blue
	case event.SeverityHint:
		return cyan
	}
	return red
}

// writeFix shows the lines that a hunk removes and those that it adds.
func writeFix(b *strings.Builder, h workspace.Hunk, color bool) {
	paint := painter(color)
	write := func(sgr, mark, text string) {
		for _, line := range workspace.Lines(text) {
			b.WriteString("    " + paint(sgr, mark+visible(strings.TrimRight(line, "\r\n"))) + "\n")
		}
	}
	write(red, "-", h.Before)
	write(green, "+", h.After)
}

// paintDiff colours a unified diff as git does.
func paintDiff(diff string, color bool) string {
	if !color {
		return diff
	}
	paint := painter(true)
	var b strings.Builder
	for line := range strings.Lines(diff) {
		text, _ := strings.CutSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "diff "):
			text = paint(bold, text)
		case strings.HasPrefix(text, "@@"):
			text = paint(cyan, text)
		case strings.HasPrefix(text, "-"):
			text = paint(red, text)
		case strings.HasPrefix(text, "+"):
			text = paint(green, text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// summary is the result in one line. It is empty for an agent that was not asked for findings or edits and made none,
// since its answer says everything.
func (r *result) summary() string {
	if r.agent != reviewer && len(r.findings)+len(r.hunks) == 0 && r.complete() {
		return ""
	}
	facts := []string{r.findingCounts()}
	if n := r.openHunks(); n > 0 {
		facts = append(facts, fmt.Sprintf("%s in %s", count(n, "proposed edit"), count(len(r.edits), "file")))
	}
	if n := len(r.hunks) - r.openHunks(); n > 0 {
		facts = append(facts, fmt.Sprintf("%s in conflict", count(n, "edit")))
	}
	if n := len(r.written); n > 0 {
		facts = append(facts, count(n, "file")+" written")
	}
	text := strings.Join(facts, ", ")
	if !r.complete() {
		why := string(r.outcome.Status)
		if r.outcome.Status == event.StatusCompleted {
			why = "some runs failed"
		}
		text += " (" + why + ": the result is not complete)"
	}
	if len(r.edits) > 0 && len(r.written)+len(r.refused) == 0 && r.complete() {
		text += "; --write writes the edits to the files"
	}
	return text
}

func (r *result) openHunks() int {
	n := 0
	for _, h := range r.hunks {
		if h.State == event.StateOpen {
			n++
		}
	}
	return n
}

// findingCounts is the number of findings, by severity.
func (r *result) findingCounts() string {
	if len(r.findings) == 0 {
		return "no findings"
	}
	counts := map[event.Severity]int{}
	for _, f := range r.findings {
		counts[event.Severity(severities[rank(f.Severity)])]++
	}
	var words []string
	for _, s := range severities {
		switch n := counts[event.Severity(s)]; {
		case n == 0:
		case s == string(event.SeverityInformation):
			words = append(words, fmt.Sprintf("%d information", n))
		default:
			words = append(words, count(n, s))
		}
	}
	return fmt.Sprintf("%s (%s)", count(len(r.findings), "finding"), strings.Join(words, ", "))
}
