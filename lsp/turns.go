package lsp

import (
	"encoding/json"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// offer is something that can be done with a turn of a conversation.
type offer struct {
	// line is that of the turn's heading; first and last are those of all of it. They are 0-based, both inclusive.
	line, first, last int
	title             string
	command           string
	argument          any
}

// offers are what can be done with the turns of an open conversation, in their order.
func (c *conversations) offers(path string) []offer {
	doc := c.documents.Get(path)
	if doc == nil {
		return nil
	}
	x := doc.Index()
	text := conversation.Parse(x.Text())
	working := c.at(path)
	var list []offer
	for _, turn := range text.Turns {
		o := offer{line: x.LineAt(turn.Heading.Start), last: x.LineAt(turn.Body.End)}
		o.first = o.line
		add := func(title, command string, argument any) {
			o.title, o.command, o.argument = title, command, argument
			list = append(list, o)
		}
		switch {
		case turn.Run != "" && working != nil && working.run == turn.Run && !working.over():
			add("Stop", methods.CommandCancel, methods.CancelParams{Run: turn.Run})
		case turn.Run != "" && text.Answers(turn.Run)[0] == turn:
			c.answerOffers(doc.URI, turn, add)
		}
	}
	if turn, prompts := text.Prompt(); prompts && text.Body(turn) != "" {
		o := offer{
			line: x.LineAt(turn.Heading.Start), last: x.LineAt(turn.Body.End), title: "Send",
			command: methods.CommandSendPrompt, argument: methods.SendPromptParams{URI: doc.URI},
		}
		o.first = o.line
		list = append(list, o)
	}
	return list
}

// answerOffers are what can be done with an answer.
func (c *conversations) answerOffers(u uri.URI, turn conversation.Turn, add func(title, command string, argument any)) {
	if session := c.opened(); session != nil {
		var open []event.HunkID
		for _, h := range session.Board().Hunks() {
			if h.Author.Run == turn.Run && h.State == event.StateOpen {
				open = append(open, h.ID)
			}
		}
		if len(open) > 0 {
			those := methods.ProposalParams{Proposal: session.Board().ProposalID(), Hunks: open}
			add("Accept "+short.Count(len(open), "edit"), methods.CommandAcceptProposal, those)
			add("Diff", methods.CommandDiffProposal, those)
		}
	}
	add("Transcript", methods.CommandTranscript, methods.TranscriptParams{Run: turn.Run})
	add("Go back to before this", methods.CommandRewindConversation,
		methods.RewindConversationParams{URI: u, Run: turn.Run})
}

// lenses are the offers above the headings.
func (c *conversations) lenses(u uri.URI) ([]protocol.CodeLens, error) {
	lenses := []protocol.CodeLens{}
	for _, o := range c.offers(document.Path(u)) {
		raw, err := json.Marshal(o.argument)
		if err != nil {
			return nil, fmt.Errorf("encode the argument of %s: %w", o.command, err)
		}
		at := protocol.Position{Line: uint32(o.line)}
		lenses = append(lenses, protocol.CodeLens{
			Range:   protocol.Range{Start: at, End: at},
			Command: protocol.Command{Title: o.title, Command: o.command, Arguments: []protocol.LSPAny{raw}},
		})
	}
	return lenses, nil
}

// turnActions are the offers of the turns that a range touches.
func (c *conversations) turnActions(path string, r protocol.Range) []menu.Action {
	first, last := position.Touched(r)
	var list []menu.Action
	for _, o := range c.offers(path) {
		if position.Overlap(o.first, o.last, first, last) {
			list = append(list, menu.Action{
				Title: "agentls: " + o.title, Kind: menu.KindConversation, Command: o.command, Argument: o.argument,
			})
		}
	}
	return list
}
