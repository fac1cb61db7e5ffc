package conversation

import (
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Answer is what an agent says and does, as Markdown below the heading of its turn. It grows at its end alone, so that
// an editor can be sent each piece. The zero value is empty. It belongs to one goroutine.
type Answer struct {
	text strings.Builder
	// held is the beginning of a line that may be a heading.
	held string
	// inLine says that the text ends within a line.
	inLine bool
	// fence ends the code that the text ends in, "" outside of code.
	fence string
	// line is the line of code that the text ends in, which may end the code.
	line string
	// listed says that the last thing was a line of its own.
	listed bool
	// apart says that the next text is a new message.
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

// Line adds a line of its own, an item of a list, between what the agent says.
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

// settle ends the line and the code that the text ends in.
func (a *Answer) settle() {
	a.flush()
	if a.fence == "" {
		return
	}
	if a.inLine {
		a.endLine()
	}
	if a.fence != "" { // the line that has just ended did not end it
		a.text.WriteString(a.fence)
		a.fence, a.inLine, a.line = "", true, ""
	}
}

// separate puts what comes next apart from what there is.
func (a *Answer) separate(by string) {
	a.flush()
	if a.text.Len() > 0 {
		kept := strings.TrimRight(a.text.String(), "\n")
		missing := len(by) - (a.text.Len() - len(kept))
		a.text.WriteString(strings.Repeat("\n", max(missing, 0)))
	}
	a.inLine, a.listed, a.apart = false, false, false
}

// add adds a piece of one line. The beginning of a line that may be a heading is held back until that is known.
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

// flush writes what was held back, since its line has come to its end.
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

// endLine ends the line.
func (a *Answer) endLine() {
	a.flush()
	a.fence = fenced(a.fence, a.line)
	a.text.WriteString("\n")
	a.inLine, a.line = false, ""
}

// levels is by how many levels the headings of an agent become smaller.
const levels = 2

// shownBeginning is what is shown for the beginning of a line, as far as that is known. Of code, a line that may be the
// heading of a turn is known only at its end.
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

// String is the answer so far, without what may still become something else.
func (a *Answer) String() string { return strings.TrimRight(a.text.String(), " \t\n") }

// Recorded is a whole conversation that was held, ready for the next prompt.
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

// Said is a turn of a conversation that was held.
type Said struct {
	// Run is the run that answered; empty for a prompt.
	Run   event.RunID
	Agent string
	// Text is a prompt as it was written, or an answer as [Answer] made it.
	Text string
}

// Escaped is a prompt in which no line is the heading of a turn.
func Escaped(prompt string) string {
	lines := strings.Split(prompt, "\n")
	for i, line := range lines {
		if _, turn := turnAt(strings.TrimRight(line, "\r"), false); turn {
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n")
}
