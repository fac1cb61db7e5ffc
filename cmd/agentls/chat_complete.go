package main

import (
	"context"
	"strings"

	"github.com/agentls/agentls/agentcore"
)

// complete finds what the user could mean at a place of what was typed: a command of the chat, a prompt, or what an @
// names. It may be called from any goroutine.
func (c *chat) complete(ctx context.Context, text string, at int) []completion {
	var list []completion
	if before := text[:at]; strings.HasPrefix(before, "/") {
		for _, s := range append(slashes(), slash{name: exitCommand, about: "end the chat"}) {
			if strings.HasPrefix(s.name, before) {
				list = append(list, completion{0, at, s.name + " ", s.about})
			}
		}
	}
	found, err := agentcore.CompletePrompt(ctx, c.session.Load(), c.partner(), text, at)
	if err != nil {
		return list // the chat ends
	}
	for _, f := range found {
		end := " "
		if f.More && strings.HasSuffix(f.Text, "/") {
			end = "" // a folder, in which one goes on
		}
		list = append(list, completion{f.Start, f.End, f.Text + end, f.Detail})
	}
	return list
}
