package lsptest

import (
	"fmt"
	"slices"
	"strings"
)

// unsaid is a text that the server must not say.
type unsaid struct {
	editor       *Editor
	method, text string
	expected     int // how many texts the scenario had expected before
}

// check looks for the text in what the server has said, except what later lines expect. The editor's lock is held.
func (u *unsaid) check(later []string) error {
	for _, m := range u.editor.messages {
		if m.Method != u.method || !strings.Contains(m.Text, u.text) {
			continue
		}
		if !slices.ContainsFunc(later, func(text string) bool { return strings.Contains(m.Text, text) }) {
			return fmt.Errorf("there is one: %q", m.Text)
		}
	}
	return nil
}

// stillUnsaid checks, at the end, the texts that the server must not have said, and the number of edits.
func (c *claims) stillUnsaid() []string {
	var wrong []string
	for _, u := range c.unsaid {
		u.editor.mu.Lock()
		if err := u.check(c.matched[u.expected:]); err != nil {
			wrong = append(wrong, fmt.Sprintf("what was not to be said was said later: %v", err))
		}
		u.editor.mu.Unlock()
	}
	if c.edits != nil {
		if err := c.edits(); err != nil {
			wrong = append(wrong, fmt.Sprintf("more edits came later: %v", err))
		}
	}
	return wrong
}

// claims are what the script says about the whole conversation.
type claims struct {
	matched []string // messages that the script expects
	unsaid  []*unsaid
	edits   func() error // checks the number of edits after the last line about it; nil once something was done since
}
