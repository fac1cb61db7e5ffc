package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/document"
)

// maxLinks bounds the links of a conversation: for each mention, the disk is looked at.
const maxLinks = 500

// transcriptLink is the data of a link to a transcript, which is written once somebody follows it.
type transcriptLink struct {
	Run event.RunID `json:"run"`
}

// links answers `textDocument/documentLink` in conversations, and null in any other document: files that the user
// mentions, places of findings and edits, and the transcripts of answers.
func (c *conversations) links(ctx context.Context, p *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	doc := c.documents.At(ctx).Get(document.Path(p.TextDocument.URI))
	if doc == nil || doc.Kind != authoring.Conversation {
		return nil, nil
	}
	x := doc.Index()
	text := conversation.Parse(x.Text())
	links := []protocol.DocumentLink{}
	add := func(start, end int, target uri.URI) {
		links = append(links, protocol.DocumentLink{
			Range: c.documents.Encoding.Between(x, start, end), Target: &target,
		})
	}
	for _, turn := range text.Turns {
		if len(links) >= maxLinks {
			break
		}
		if turn.Run == "" {
			for _, m := range mention.Find(x.Text()[turn.Body.Start:turn.Body.End]) {
				if target, ok := c.mentioned(m); ok && len(links) < maxLinks {
					add(turn.Body.Start+m.Start, turn.Body.Start+m.End, target)
				}
			}
			continue
		}
		data, err := json.Marshal(transcriptLink{turn.Run})
		if err != nil {
			return nil, fmt.Errorf("encode the link to the transcript of %s: %w", turn.Run, err)
		}
		at := text.Named(turn)
		links = append(links, protocol.DocumentLink{
			Range: c.documents.Encoding.Between(x, at.Start, at.End), Data: data,
		})
		for _, l := range text.Links(turn) {
			file, _, _ := strings.Cut(l.Target, "#")
			if c.inWorkspace(document.Path(uri.URI(file))) { // an answer may say anything
				add(l.Start, l.End, uri.URI(l.Target))
			}
		}
	}
	return links, nil
}

// mentioned is the file that a mention names, with its line; ok is false where it names no file that is there.
func (c *conversations) mentioned(m mention.Mention) (target uri.URI, ok bool) {
	path, err := c.view.Resolve(m.Name)
	if err != nil {
		return "", false
	}
	if c.documents.Get(path) == nil {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return "", false
		}
	}
	target = c.documents.URI(path)
	if m.First > 0 {
		target += uri.URI(fmt.Sprintf("#L%d", m.First))
	}
	return target, true
}

// linked answers `documentLink/resolve`: it writes the transcript to which a link leads.
func (c *conversations) linked(ctx context.Context, link *protocol.DocumentLink) (*protocol.DocumentLink, error) {
	var to transcriptLink
	if err := json.Unmarshal(link.Data, &to); err != nil || to.Run == "" {
		return link, nil // it has its target
	}
	if _, err := c.open(ctx); err != nil {
		return nil, err
	}
	target, err := c.pages.transcript(ctx, to.Run)
	if err != nil {
		return nil, err
	}
	link.Target = &target
	return link, nil
}
