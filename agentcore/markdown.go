package agentcore

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/store"
)

// ExportMarkdown writes a session of any process for reading: its runs in the order of their creation, each with its conversation. Secrets that are
// known by now are taken out. It reads the store.
func (e *Engine) ExportMarkdown(ctx context.Context, id event.SessionID, w io.Writer) error {
	rec, err := e.record(ctx, id)
	if err != nil {
		return err
	}
	var b strings.Builder
	s := rec.session
	fmt.Fprintf(&b, "# %s\n\n", headline(s.Title, "Session "+string(s.ID)))
	fmt.Fprintf(&b, "Session `%s`, %s\n", s.ID, s.Created.Format(time.RFC3339))
	for _, root := range s.Roots {
		fmt.Fprintf(&b, "\n* %s\n", codeSpan(root))
	}
	if s.Summary != "" {
		fmt.Fprintf(&b, "\n%s\n", s.Summary)
	}
	var runs []store.Run
	for _, part := range rec.runs {
		runs = append(runs, part.run)
	}
	for _, part := range rec.runs {
		children := slices.DeleteFunc(slices.Clone(runs), func(r store.Run) bool { return r.Parent != part.run.ID })
		if err := writeRun(&b, part, children); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(e.redactor.Text(b.String())); err != nil {
		return err
	}
	return out.Flush()
}

// TranscriptMarkdown writes the conversation of a run, as Transcript returns it, for reading. Secrets that are known by now are taken out.
func (e *Engine) TranscriptMarkdown(ctx context.Context, run event.RunID, w io.Writer) error {
	messages, _, err := e.Transcript(ctx, run, "", 0)
	if err != nil {
		return err
	}
	var b strings.Builder
	writeMessages(&b, messages)
	_, err = io.WriteString(w, e.redactor.Text(strings.TrimLeft(b.String(), "\n")))
	return err
}

func writeRun(b *strings.Builder, part recordedRun, children []store.Run) error {
	r := part.run
	fmt.Fprintf(b, "\n## %s: %s\n\n", r.Agent, headline(r.Title, string(r.ID)))
	fmt.Fprintf(b, "Run `%s`, %s, %s", r.ID, codeSpan(r.Model), r.Status)
	if r.Reason != "" {
		fmt.Fprintf(b, " (%s)", oneLine(r.Reason))
	}
	if r.Parent != "" {
		fmt.Fprintf(b, ", started by `%s`", r.Parent)
	}
	b.WriteString("\n")
	started := map[event.CallID]event.RunID{}
	for _, child := range children {
		started[child.ParentCall] = child.ID
	}
	messages, err := part.transcript(len(part.messages), started)
	if err != nil {
		return err
	}
	writeMessages(b, messages)
	return nil
}

// speakers are the headings of messages.
var speakers = map[model.Role]string{model.RoleUser: "User", model.RoleAssistant: "Assistant"}

func writeMessages(b *strings.Builder, messages []TranscriptMessage) {
	for _, m := range messages {
		who, shown := speakers[m.Role]
		if m.Summary {
			who = "Summary"
		}
		if !shown { // the results stand below their calls
			continue
		}
		fmt.Fprintf(b, "\n### %s\n", who)
		writeUsage(b, m)
		if text := strings.TrimSpace(m.Reasoning); text != "" {
			fmt.Fprintf(b, "\n> %s\n", strings.ReplaceAll(text, "\n", "\n> "))
		}
		if text := strings.TrimSpace(m.Text); text != "" {
			fmt.Fprintf(b, "\n%s\n", text)
		}
		for _, c := range m.Calls {
			writeCall(b, c)
		}
	}
}

// writeUsage says who answered and what that request used, where a model counted it.
func writeUsage(b *strings.Builder, m TranscriptMessage) {
	u := m.Usage
	if u.InputTokens+u.CachedTokens+u.OutputTokens == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s, %d tokens in", codeSpan(oneLine(m.Model)), u.InputTokens+u.CachedTokens)
	if u.CachedTokens > 0 {
		fmt.Fprintf(b, " (%d cached)", u.CachedTokens)
	}
	fmt.Fprintf(b, ", %d out", u.OutputTokens)
	if u.Cost != nil {
		b.WriteString(", " + price.Dollars(*u.Cost))
	}
	b.WriteString("\n")
}

func writeCall(b *strings.Builder, c TranscriptCall) {
	outcome := string(c.Status)
	switch {
	case outcome == "":
		outcome = "not ended"
	case c.Status == event.CallOK && c.ExitCode != nil && *c.ExitCode != 0:
		outcome = fmt.Sprintf("exit code %d", *c.ExitCode)
	}
	fmt.Fprintf(b, "\n**%s** %s, %s", c.Tool, codeSpan(oneLine(plainArguments(c.Arguments))), outcome)
	if c.Child != "" {
		fmt.Fprintf(b, ", run `%s`", c.Child)
	}
	b.WriteString("\n")
	if text := strings.TrimRight(c.Output, "\n"); text != "" {
		fence := strings.Repeat("`", max(3, longestTicks(text)+1))
		fmt.Fprintf(b, "\n%s\n%s\n%s\n", fence, text, fence)
	}
}

// plainArguments undoes the quoting of arguments that were no JSON.
func plainArguments(arguments string) string {
	var text string
	if json.Unmarshal([]byte(arguments), &text) == nil {
		return text
	}
	return arguments
}

// headline is a text as a heading, or another one where there is none.
func headline(text, otherwise string) string {
	if text = oneLine(text); text == "" {
		return otherwise
	}
	return text
}

// codeSpan is a text of one line as code, whatever backticks are in it (CommonMark, 6.1).
func codeSpan(text string) string {
	if text == "" {
		return "` `"
	}
	ticks := strings.Repeat("`", longestTicks(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// longestTicks is the length of the longest row of backticks in a text.
func longestTicks(text string) int {
	longest, row := 0, 0
	for _, c := range []byte(text) {
		if row++; c != '`' {
			row = 0
		}
		longest = max(longest, row)
	}
	return longest
}
