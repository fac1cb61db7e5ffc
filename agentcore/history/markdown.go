package history

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/price"
)

// Markdown writes a session of any process for reading: the user's runs in the order of their creation, each with its
// conversation, and below it, one heading deeper, its children. Secrets that are known by now are taken out. It reads
// the store.
func (h *Reader) Markdown(ctx context.Context, id event.SessionID, w io.Writer) error {
	rec, err := h.record(ctx, id)
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
		fmt.Fprintf(&b, "\n%s\n", below(1, s.Summary))
	}
	there := map[event.RunID]bool{}
	children := map[event.RunID][]recordedRun{}
	for _, part := range rec.runs {
		there[part.run.ID] = true
		children[part.run.Parent] = append(children[part.run.Parent], part)
	}
	for _, part := range rec.runs {
		if !there[part.run.Parent] {
			if err := writeRun(&b, part, children, 2); err != nil {
				return err
			}
		}
	}
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(h.redact(b.String())); err != nil {
		return err
	}
	return out.Flush()
}

// TranscriptMarkdown writes the conversation of a run, as Transcript returns it, for reading. Secrets that are known by
// now are taken out.
func (h *Reader) TranscriptMarkdown(ctx context.Context, run event.RunID, w io.Writer) error {
	messages, _, err := h.Transcript(ctx, run, "", 0)
	if err != nil {
		return err
	}
	var b strings.Builder
	writeMessages(&b, messages, 3)
	_, err = io.WriteString(w, h.redact(strings.TrimLeft(b.String(), "\n")))
	return err
}

// writeRun writes a run with a heading of a level, and its children, which are by the run that started them, below it.
func writeRun(b *strings.Builder, part recordedRun, children map[event.RunID][]recordedRun, level int) error {
	r := part.run
	fmt.Fprintf(b, "\n%s %s: %s\n\n", hashes(level), r.Agent, headline(r.Title, string(r.ID)))
	fmt.Fprintf(b, "Run `%s`, %s, %s", r.ID, codeSpan(r.Model), r.Status)
	if r.Reason != "" {
		fmt.Fprintf(b, " (%s)", oneLine(r.Reason))
	}
	if r.Parent != "" {
		fmt.Fprintf(b, ", started by `%s`", r.Parent)
	}
	b.WriteString("\n")
	started := map[event.CallID]event.RunID{}
	for _, child := range children[r.ID] {
		started[child.run.ParentCall] = child.run.ID
	}
	messages, err := part.transcript(len(part.messages), started)
	if err != nil {
		return err
	}
	writeMessages(b, messages, level+1)
	for _, child := range children[r.ID] {
		if err := writeRun(b, child, children, level+1); err != nil {
			return err
		}
	}
	return nil
}

// hashes begin a heading of a level, of which there are six (CommonMark, 4.2).
func hashes(level int) string { return strings.Repeat("#", min(level, 6)) }

// speakers are the headings of messages.
var speakers = map[model.Role]string{model.RoleUser: "User", model.RoleAssistant: "Assistant"}

func writeMessages(b *strings.Builder, messages []Message, level int) {
	for _, m := range messages {
		who, shown := speakers[m.Role]
		if m.Summary {
			who = "Summary"
		}
		if !shown { // the results stand below their calls
			continue
		}
		fmt.Fprintf(b, "\n%s %s\n", hashes(level), who)
		writeUsage(b, m)
		if text := strings.TrimSpace(m.Reasoning); text != "" {
			fmt.Fprintf(b, "\n> %s\n", strings.ReplaceAll(text, "\n", "\n> "))
		}
		if text := strings.TrimSpace(m.Text); text != "" {
			fmt.Fprintf(b, "\n%s\n", below(level, text))
		}
		for _, c := range m.Calls {
			writeCall(b, c)
		}
	}
}

// writeUsage says who answered and what that request used, where a model counted it.
func writeUsage(b *strings.Builder, m Message) {
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

func writeCall(b *strings.Builder, c Call) {
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

var (
	fenceLine     = lazyregexp.New("^ {0,3}(`{3,}|~{3,})(.*)$")
	headingLine   = lazyregexp.New(`^ {0,3}(#{1,6})(?:[ \t]|$)`)
	underlineLine = lazyregexp.New(`^ {0,3}(?:=+|-+)[ \t]*$`)
)

// below is a text that somebody wrote in Markdown, as it can stand below a heading of a level: its headings are deeper,
// and a block of code that it leaves open is closed (CommonMark, 4.2, 4.3 and 4.5).
func below(level int, text string) string {
	var b strings.Builder
	open, paragraph := "", false
	for line := range strings.SplitSeq(text, "\n") {
		fence := fenceLine().FindStringSubmatch(line)
		switch heading := headingLine().FindStringSubmatchIndex(line); {
		case open != "":
			if fence != nil && strings.HasPrefix(fence[1], open) && strings.TrimSpace(fence[2]) == "" {
				open = ""
			}
			paragraph = false
		case fence != nil && (fence[1][0] != '`' || !strings.Contains(fence[2], "`")):
			open, paragraph = fence[1], false
		case heading != nil:
			line = line[:heading[2]] + hashes(level+heading[3]-heading[2]) + line[heading[3]:]
			paragraph = false
		case paragraph && underlineLine().MatchString(line):
			line = strings.TrimLeft(line, " ")
			if line[0] == '=' {
				line = "\\" + line // which would make a heading of what stands above it
			} else {
				line = "\n" + line
			}
			paragraph = false
		default:
			paragraph = strings.TrimSpace(line) != ""
		}
		b.WriteString(line + "\n")
	}
	if open != "" {
		b.WriteString(open)
	}
	return strings.TrimSuffix(b.String(), "\n")
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
