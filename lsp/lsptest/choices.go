package lsptest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// holdPrompts leaves prompts open: "expression".
func (p *play) holdPrompts(args []string) error {
	expression, err := regexp.Compile(args[0])
	if err != nil {
		return fmt.Errorf("the expression of the message: %w", err)
	}
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.answers = append(p.answers, answer{message: expression, hold: true})
	p.editor.answers = p.answers
	return nil
}

// choose answers a prompt that is held, or will be held: "text" "title", "" to dismiss it.
func (p *play) choose(args []string) error {
	e := p.editor
	p.matched = append(p.matched, args[0])
	at := -1
	err := e.wait(p.ctx, fmt.Sprintf("a prompt with %q", args[0]), func() bool {
		at = slices.IndexFunc(e.prompts, func(one prompt) bool { return strings.Contains(one.message.Text, args[0]) })
		return at >= 0
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at = slices.IndexFunc(e.prompts, func(one prompt) bool { return strings.Contains(one.message.Text, args[0]) })
	if at < 0 {
		return errors.New("the prompt was taken back")
	}
	one := e.prompts[at]
	e.prompts = slices.Delete(e.prompts, at, at+1)
	e.reply(one.request, e.chosen(one.message, args[1]), nil)
	return nil
}

// unable makes the editor not implement window/showMessageRequest.
func unable(e *Editor, _ []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noPrompts = true
	return nil
}
