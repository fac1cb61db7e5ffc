package conversation

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/lsp/outline"
)

// Suffix is how the names of conversations end.
const Suffix = ".agentls.md"

// Is reports whether a path is that of a conversation.
func Is(path string) bool { return strings.HasSuffix(path, Suffix) }

// Prompting is the heading of what a person says.
const Prompting = "## You"

// answering is the heading of what an agent says: its name, and its run.
var answering = lazyregexp.New(`^## +(.*?) *<!-- agentls:([A-Za-z0-9]+) -->\s*$`)

// heading is the line that begins an answer.
func heading(agent string, run event.RunID) string {
	return "## " + oneLine(agent) + " <!-- agentls:" + string(run) + " -->"
}

// Turn is what a person or an agent says.
type Turn struct {
	// Run is the run that answers; empty where a person speaks.
	Run event.RunID
	// Agent is the name in the heading of an answer.
	Agent string
	// Heading is the heading's line, without its end. It is empty for a prompt above the first heading.
	Heading outline.Span
	// Body is the text below, up to the next turn or the end, with blank lines.
	Body outline.Span
}

// Setting is one of the settings above a conversation.
type Setting struct {
	Key, Value string
	// Name and Text are the places of the name and the value.
	Name, Text outline.Span
}

// The keys of settings.
const (
	KeyAgent = "agent"
	KeyModel = "model"
	KeyMode  = "mode"
)

// Text is one version of a conversation. It is immutable.
type Text struct {
	text string
	// Settings are the settings at the top, in their order, with unknown ones.
	Settings []Setting
	Turns    []Turn
}

// Parse reads a text. Every text is a conversation, with at least one turn.
func Parse(text string) *Text {
	t := &Text{text: text}
	at := t.settings()
	first := at // the beginning of the text above the first heading
	t.Turns = []Turn{{}}
	var fence string // what ends the code in a person's turn at this place, "" outside of code
	for at < len(text) {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := strings.TrimRight(text[at:end], "\r\n")
		turn, ok := turnAt(line, fence != "")
		switch {
		case ok:
			turn.Heading, turn.Body.Start = outline.Span{Start: at, End: at + len(line)}, end
			t.Turns[len(t.Turns)-1].Body.End = at
			t.Turns = append(t.Turns, turn)
			fence = ""
		case len(t.Turns) == 1 && strings.HasPrefix(line, "# ") && strings.TrimSpace(text[first:at]) == "":
			first = end // the prompt begins below the title
		case t.Turns[len(t.Turns)-1].Run == "":
			fence = fenced(fence, line)
		}
		at = end
	}
	t.Turns[len(t.Turns)-1].Body.End = len(text)
	above := &t.Turns[0]
	above.Heading, above.Body.Start = outline.Span{Start: first, End: first}, first
	if len(t.Turns) > 1 && t.Body(*above) == "" {
		t.Turns = t.Turns[1:]
	}
	return t
}

// settings reads the settings at the top, and returns where the rest of the text begins.
func (t *Text) settings() (behind int) {
	o := outline.Markdown(t.text)
	if o.BodyStart < 0 {
		return 0
	}
	for _, n := range o.Nodes {
		t.Settings = append(t.Settings, Setting{
			Key: n.Name.In(t.text), Value: strings.Trim(n.Value.In(t.text), `"'`),
			Name: n.Name, Text: n.Value,
		})
	}
	return o.BodyStart
}

// turnAt reads the heading of a turn. In code of a person's turn, only the heading of an answer counts.
func turnAt(line string, inCode bool) (Turn, bool) {
	if m := answering().FindStringSubmatch(line); m != nil {
		return Turn{Agent: m[1], Run: event.RunID(m[2])}, true
	}
	return Turn{}, !inCode && strings.TrimRight(line, " \t\r") == Prompting
}

// fenced returns the fence that ends the code behind a line, "" if there is no code. open is the fence that ends the
// code around the line (CommonMark 0.31, section 4.5).
func fenced(open, line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return open
	}
	marks := rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
	info := strings.TrimSpace(rest[len(marks):])
	switch {
	case open == "" && len(marks) >= 3 && (marks[0] == '~' || !strings.Contains(info, "`")):
		return marks
	case open != "" && strings.HasPrefix(marks, open) && info == "":
		return ""
	}
	return open
}

// Setting is the value of a setting, "" where it is not set.
func (t *Text) Setting(key string) string {
	for _, s := range t.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Body is what a turn says, without blank lines around it.
func (t *Text) Body(turn Turn) string {
	return strings.TrimSpace(t.text[turn.Body.Start:turn.Body.End])
}

// Prompt is the last turn, if it is a person's.
func (t *Text) Prompt() (Turn, bool) {
	last := t.Turns[len(t.Turns)-1]
	return last, last.Run == ""
}

// After is the run that the last prompt follows, "" if there was none.
func (t *Text) After() event.RunID {
	for i := len(t.Turns) - 1; i >= 0; i-- {
		if t.Turns[i].Run != "" {
			return t.Turns[i].Run
		}
	}
	return ""
}

// At is the turn at an offset in bytes; ok is false above the first turn.
func (t *Text) At(place int) (turn Turn, ok bool) {
	for _, next := range t.Turns {
		if next.Heading.Start > place {
			break
		}
		turn, ok = next, true
	}
	return turn, ok
}

// Answers are the turns of a run, in their order. There are several if a person spoke while the run worked.
func (t *Text) Answers(run event.RunID) []Turn {
	var list []Turn
	for _, turn := range t.Turns {
		if turn.Run == run {
			list = append(list, turn)
		}
	}
	return list
}

// Edit replaces a part of a text.
type Edit struct {
	outline.Span
	New string
}

// Opened is the edit that adds the heading of an answer, and of the next prompt, behind the prompt that was sent. That
// prompt is the beginning of the last turn. What was typed behind it since then belongs to the next prompt.
func (t *Text) Opened(agent string, run event.RunID, prompt string) Edit {
	last := t.Turns[len(t.Turns)-1]
	body := t.text[last.Body.Start:last.Body.End]
	at := t.Written(last)
	if begins := strings.TrimLeft(body, " \t\r\n"); last.Run == "" && strings.HasPrefix(begins, prompt) {
		at = last.Body.End - len(begins) + len(prompt)
	}
	behind := "\n\n"
	if strings.HasPrefix(t.text[at:], "\n") || strings.HasPrefix(t.text[at:], "\r\n") {
		behind = "\n"
	}
	return Edit{
		outline.Span{Start: at, End: at},
		t.lines("\n\n" + heading(agent, run) + "\n\n" + Prompting + behind),
	}
}

// lines gives a text the line ends that the conversation has.
func (t *Text) lines(text string) string {
	if strings.Contains(t.text, "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// Grown is the edit that adds a piece to the end of an answer, behind what stands there.
func (t *Text) Grown(answer Turn, piece string) Edit {
	at := t.Written(answer)
	if at == answer.Body.Start {
		at = answer.Heading.End
		return Edit{outline.Span{Start: at, End: at}, t.lines("\n\n" + strings.TrimLeft(piece, "\n"))}
	}
	return Edit{outline.Span{Start: at, End: at}, t.lines(piece)}
}

// Without is the edit that removes the answer of a run and everything behind it, so that its prompt is the last one and
// can be sent again. What a person has written as the next prompt is kept behind that prompt. ok is false if the run is
// not in the text.
func (t *Text) Without(run event.RunID) (edit Edit, ok bool) {
	at := slices.IndexFunc(t.Turns, func(turn Turn) bool { return turn.Run == run })
	if at < 0 {
		return Edit{}, false
	}
	edit = Edit{outline.Span{Start: t.Turns[at].Heading.Start, End: len(t.text)}, "\n"}
	if at > 0 {
		edit.Start = t.Written(t.Turns[at-1])
	}
	if last, prompt := t.Prompt(); prompt && t.Body(last) != "" {
		body := t.text[last.Body.Start:last.Body.End]
		edit.End, edit.New = last.Body.End-len(strings.TrimLeft(body, "\r\n")), "\n\n"
	}
	edit.New = t.lines(edit.New)
	return edit, true
}

// Written is the offset at which a turn's text ends, without blank lines.
func (t *Text) Written(turn Turn) int {
	return turn.Body.Start + len(strings.TrimRight(t.text[turn.Body.Start:turn.Body.End], " \t\r\n"))
}

// oneLine is a text without line ends and without characters that would end a comment.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "-->", "→")
}
