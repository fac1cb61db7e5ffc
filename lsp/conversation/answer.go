package conversation

import (
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Answer is what an agent says and does, as Markdown below the heading of its turn. Text is only added at its end, so
// that each piece can be sent to an editor. The zero value is empty. It belongs to one goroutine.
type Answer struct {
	text strings.Builder
	// held is the beginning of a line that may turn out to be a heading.
	held string
	// inLine says that the text does not end with a whole line.
	inLine bool
	// fence is the fence that ends the code in which the text ends, "" outside of code.
	fence string
	// line is the unfinished line of code at the end of the text, which may be the fence.
	line string
	// listed says that the last addition was a line by [Answer.Line].
	listed bool
	// apart says that the next piece of text begins a new message.
	apart bool
}

// Text adds a piece of what the agent says.
func (a *Answer) Text(piece string) {
	if piece = strings.ReplaceAll(piece, "\r", ""); piece == "" {
		return
	}
	if a.text.Len() == 0 && a.held == "" {
		if piece = strings.TrimLeft(piece, "\n"); piece == "" {
			return
		}
	}
	if a.apart || a.listed {
		if piece = strings.TrimLeft(piece, "\n"); piece == "" {
			return
		}
		a.separate("\n\n")
	}
	for len(piece) > 0 {
		line, rest, whole := strings.Cut(piece, "\n")
		a.add(line)
		if whole {
			a.endLine()
		}
		piece = rest
	}
}

// Break ends a message of the agent: the next piece of text begins a paragraph.
func (a *Answer) Break() {
	a.settle()
	a.apart = true
}

// Line adds a line of its own between the agent's messages: an item of a list.
func (a *Answer) Line(text string) {
	a.settle()
	before := "\n\n"
	if a.listed {
		before = "\n"
	}
	a.separate(before)
	a.text.WriteString("- " + oneLine(text))
	a.listed, a.inLine = true, true
}

// settle ends the line and the code in which the text ends.
func (a *Answer) settle() {
	a.flush()
	if a.fence == "" {
		return
	}
	if a.inLine {
		a.endLine()
	}
	if a.fence != "" { // the line that has just ended was not the fence
		a.text.WriteString(a.fence)
		a.fence, a.inLine, a.line = "", true, ""
	}
}

// separate puts these line ends between the text and the next addition.
func (a *Answer) separate(by string) {
	a.flush()
	if a.text.Len() > 0 {
		kept := strings.TrimRight(a.text.String(), "\n")
		missing := len(by) - (a.text.Len() - len(kept))
		a.text.WriteString(strings.Repeat("\n", max(missing, 0)))
	}
	a.inLine, a.listed, a.apart = false, false, false
}

// add adds a piece of one line. It holds the beginning of a line back until it is known whether the line is a heading.
func (a *Answer) add(piece string) {
	if piece == "" {
		return
	}
	if a.inLine {
		a.text.WriteString(piece)
		a.line += piece
		return
	}
	a.held += piece
	if shown, known := shownBeginning(a.held, a.fence != ""); known {
		a.text.WriteString(shown)
		a.line, a.held, a.inLine = shown, "", true
	}
}

// flush writes what was held back, since its line is complete now.
func (a *Answer) flush() {
	if a.held == "" {
		return
	}
	line := a.held
	if _, turn := turnAt(line, false); turn {
		line = " " + line
	}
	a.text.WriteString(line)
	a.line, a.held, a.inLine = line, "", true
}

// endLine ends the current line.
func (a *Answer) endLine() {
	a.flush()
	a.fence = fenced(a.fence, a.line)
	a.text.WriteString("\n")
	a.inLine, a.line = false, ""
}

// levels is the number of levels by which an agent's headings are lowered.
const levels = 2

// shownBeginning is the text to show for the beginning of a line, once that is known. In code, only the whole line
// shows whether it is the heading of a turn.
func shownBeginning(line string, inCode bool) (shown string, known bool) {
	if inCode {
		const marks = "## "
		return line, !strings.HasPrefix(line, marks) && !strings.HasPrefix(marks, line)
	}
	indented := strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(indented, "#")
	level := len(indented) - len(rest)
	switch {
	case rest == "" && len(line)-len(indented) < 4 && level <= 6:
		return "", false
	case rest == "" || level == 0 || level > 6 || rest[0] != ' ' && rest[0] != '\t' || len(line)-len(indented) > 3:
		return line, true
	}
	return strings.Repeat("#", min(level+levels, 6)) + rest, true
}

// End ends the answer. Nothing may be added behind it.
func (a *Answer) End() { a.settle() }

// String is the answer so far, without line ends at its end and without what is held back.
func (a *Answer) String() string { return strings.TrimRight(a.text.String(), " \t\n") }

// Recorded is the document for a conversation that was held elsewhere, ready for the next prompt.
func Recorded(title string, turns []Said) string {
	var b strings.Builder
	b.WriteString("# " + oneLine(title) + "\n\n")
	for _, turn := range turns {
		if turn.Run == "" {
			b.WriteString(Prompting + "\n\n" + Escaped(strings.TrimSpace(turn.Text)) + "\n\n")
			continue
		}
		b.WriteString(heading(turn.Agent, turn.Run) + "\n\n")
		if turn.Text != "" {
			b.WriteString(turn.Text + "\n\n")
		}
	}
	return b.String() + Prompting + "\n\n"
}

// Said is a turn of such a conversation.
type Said struct {
	// Run is the run that answered; empty for a prompt.
	Run   event.RunID
	Agent string
	// Text is a prompt as it was written, or an answer as [Answer] made it.
	Text string
}

// Escaped is a prompt whose lines cannot be read as headings of turns.
func Escaped(prompt string) string {
	lines := strings.Split(prompt, "\n")
	for i, line := range lines {
		if _, turn := turnAt(strings.TrimRight(line, "\r"), false); turn {
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n")
}
