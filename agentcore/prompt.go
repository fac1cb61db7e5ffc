package agentcore

import (
	"fmt"
	"runtime"
	"strings"
)

// systemPrompt is the stable head of every request of the run: the definition's prompt, and what is
// true for the whole run. What varies, the date too, is fixed here, once.
func (r *run) systemPrompt() string {
	var b strings.Builder
	b.WriteString(r.definition.Prompt)
	b.WriteString("\n\n<environment>\n")
	for _, root := range r.session.view.Roots() {
		fmt.Fprintf(&b, "workspace folder: %s (%s)\n", root.Name, root.Path)
	}
	fmt.Fprintf(&b, "platform: %s\n", runtime.GOOS)
	fmt.Fprintf(&b, "date: %s\n", r.created.Format("2006-01-02"))
	fmt.Fprintf(&b, "role: %s, depth %d of %d\n", r.role(), r.depth, r.config.MaxDepth)
	fmt.Fprintf(&b, "limits: %d turns, %s\n", r.limits.MaxTurns, r.limits.Timeout)
	b.WriteString("</environment>\n")
	return b.String()
}

// userPrompt is the first message: the user's words, then what they are about in a block of its own.
func (r *run) userPrompt() string {
	var b strings.Builder
	b.WriteString(r.request.Prompt)
	c := r.request.Context
	if len(c.Paths) == 0 && c.Finding == nil {
		return b.String()
	}
	b.WriteString("\n\n<context>\n")
	for _, path := range c.Paths {
		fmt.Fprintf(&b, "file: %s\n", r.session.view.Relative(path))
	}
	if c.StartLine > 0 {
		fmt.Fprintf(&b, "lines: %d-%d\n", c.StartLine, max(c.StartLine, c.EndLine))
	}
	if f := c.Finding; f != nil {
		fmt.Fprintf(&b, "line: %d\n", f.Span.StartLine+1)
		if f.Rule != "" {
			fmt.Fprintf(&b, "rule: %s\n", f.Rule)
		}
		fmt.Fprintf(&b, "finding: %s\n", strings.Join(strings.Fields(f.Message), " "))
	}
	b.WriteString("</context>\n")
	return b.String()
}

// firstLine shortens a text to one line of at most 80 characters.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > 80 {
		line = string(runes[:79]) + "…"
	}
	return line
}
