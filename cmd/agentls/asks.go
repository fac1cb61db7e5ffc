package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
)

// terminalAsks puts the questions of a run to the user on the terminal, one at a time and the oldest first. Without a
// terminal it denies them. It belongs to the goroutine that reads the events.
type terminalAsks struct {
	engine *agentcore.Engine
	in     io.Reader // nil where nobody can be asked
	lines  chan typed
	open   []authority.Ask // the first question is on the screen
}

// typed is a line from the terminal.
type typed struct {
	text string
	err  error
}

// opened adds a question, or denies it. It returns what the user is to see, "" where another question is on the screen.
func (t *terminalAsks) opened(session event.SessionID, id event.AskID) string {
	s, err := t.engine.Session(session)
	if err != nil {
		return ""
	}
	asks := s.Asks()
	at := slices.IndexFunc(asks, func(a authority.Ask) bool { return a.ID == id })
	if at < 0 {
		return "" // it is over
	}
	ask := asks[at]
	if t.in == nil {
		const why = "nobody can be asked here"
		hint := "run the agent in an editor or on a terminal, which can ask you"
		if ask.Question != nil {
			if t.answer(ask, authority.Answer{Reason: why}) != nil {
				return "" // it is over
			}
			return fmt.Sprintf(
				"agentls: %s: not answered, since %s; say it in the prompt, or run the agent on a terminal or in "+
					"an editor", oneLine(ask.Title), why)
		}
		if ask.Longer != "" {
			hint = fmt.Sprintf(
				"run it on a terminal or in an editor and allow %s for good there; unless a protected file is "+
					"meant, a rule [[permission]] with action = \"allow\" in config.toml does the same", ask.Longer)
		}
		if t.answer(ask, authority.Answer{Reason: why}) != nil {
			return "" // it is over
		}
		return fmt.Sprintf("agentls: %s: denied, since %s; %s", oneLine(ask.Title), why, oneLine(hint))
	}
	t.open = append(t.open, ask)
	if len(t.open) > 1 {
		return ""
	}
	return t.question()
}

// resolved drops a question. It returns the next one, unless that is on the screen already.
func (t *terminalAsks) resolved(id event.AskID) string {
	at := slices.IndexFunc(t.open, func(a authority.Ask) bool { return a.ID == id })
	if at < 0 {
		return ""
	}
	t.open = slices.Delete(t.open, at, at+1)
	if at > 0 || len(t.open) == 0 {
		return ""
	}
	return t.question()
}

// asking reports whether a question is on the screen.
func (t *terminalAsks) asking() bool { return len(t.open) > 0 }

// question is the first question with its answers.
func (t *terminalAsks) question() string {
	if t.lines == nil {
		t.lines = make(chan typed)
		// A read of standard input cannot be interrupted: the goroutine ends with the input, or with the process.
		go readLines(t.in, t.lines)
	}
	ask := t.open[0]
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", oneLine(ask.Title))
	for line := range strings.Lines(ask.Detail) {
		fmt.Fprintf(&b, "  %s\n", oneLine(strings.TrimSuffix(line, "\n")))
	}
	if ask.Longer != "" {
		fmt.Fprintf(&b, "“Always allow” would allow %s\n", oneLine(ask.Longer))
	}
	for i, c := range ask.Choices() {
		fmt.Fprintf(&b, "  %d) %s\n", i+1, c.Title)
	}
	switch q := ask.Question; {
	case q == nil:
		b.WriteString("Answer with a number:")
	case q.Multiple:
		b.WriteString("Answer with numbers, such as 1,3, or in your own words:")
	default:
		b.WriteString("Answer with a number, or in your own words:")
	}
	return b.String()
}

// answerOf is the answer that a line gives. Where the line gives none, hint says what is wrong with it.
func answerOf(ask authority.Ask, line string) (answer authority.Answer, hint string) {
	choices := ask.Choices()
	line = strings.TrimSpace(line)
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1].Answer, ""
	}
	switch {
	case ask.Question == nil:
		return answer, fmt.Sprintf("Answer with a number from 1 to %d:", len(choices))
	case line == "":
		return answer, fmt.Sprintf("Answer with a number from 1 to %d, or in your own words:", len(choices))
	}
	chosen := []string{line}
	if numbers := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }); ask.Question.Multiple {
		var labels []string
		for _, number := range numbers {
			if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(ask.Question.Options) {
				labels = append(labels, ask.Question.Options[n-1].Label)
			}
		}
		if len(labels) == len(numbers) {
			chosen = labels
		}
	}
	return authority.Answer{Allow: true, Chosen: chosen}, ""
}

// typed takes a line that the user typed, and returns what to show for it.
func (t *terminalAsks) typed(line typed) string {
	if line.err != nil {
		t.in, t.lines = nil, nil // the terminal is gone
		for _, ask := range t.open {
			// an error says that it is over
			_ = t.answer(ask, authority.Answer{Reason: "nobody can be asked here any more"})
		}
		t.open = nil
		return ""
	}
	if len(t.open) == 0 {
		return "" // there is no question
	}
	ask := t.open[0]
	answer, hint := answerOf(ask, line.text)
	if hint != "" {
		return hint
	}
	t.open = t.open[1:]
	_ = t.answer(ask, answer) // an error says that it is over
	if len(t.open) == 0 {
		return ""
	}
	return t.question()
}

func (t *terminalAsks) answer(ask authority.Ask, answer authority.Answer) error {
	return t.engine.Answer(ask.ID, answer)
}

// readLines sends the lines of a reader, and how it ended.
func readLines(in io.Reader, lines chan<- typed) {
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		lines <- typed{text: scanner.Text()}
	}
	err := scanner.Err()
	if err == nil {
		err = errors.New("standard input has ended")
	}
	lines <- typed{err: err}
}
