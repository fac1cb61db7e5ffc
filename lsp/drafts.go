package lsp

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/short"
)

// draft is a turn of the user in an open conversation, and a place in it.
type draft struct {
	doc  *document.Document
	text *conversation.Text
	turn conversation.Turn
	at   int // in the turn's body, in bytes
}

// drafted finds the turn of the user at a position of the document as it was when the request was read; nil in an
// answer, in the settings, and in any other document.
func (c *conversations) drafted(ctx context.Context, u uri.URI, p protocol.Position) *draft {
	path := document.Path(u)
	doc := c.documents.At(ctx).Get(path)
	if doc == nil || doc.Kind != authoring.Conversation {
		return nil
	}
	text := conversation.Parse(doc.Index().Text())
	offset := c.documents.Encoding.Offset(doc.Index(), p)
	turn, ok := text.At(offset)
	if !ok || turn.Run != "" || offset < turn.Body.Start {
		return nil
	}
	return &draft{doc: doc, text: text, turn: turn, at: offset - turn.Body.Start}
}

// said is the text of the turn, with the blank lines around it.
func (d *draft) said() string { return d.doc.Index().Text()[d.turn.Body.Start:d.turn.Body.End] }

// between is the range of a part of the turn, in bytes.
func (c *conversations) between(d *draft, start, end int) protocol.Range {
	return c.documents.Encoding.Between(d.doc.Index(), d.turn.Body.Start+start, d.turn.Body.Start+end)
}

// partner is the agent that a conversation is with; "" means the default one. The engine must be open.
func (w *window) partner(ctx context.Context, text *conversation.Text) string {
	if after := text.After(); after != "" {
		if former, err := w.engine.History().Run(ctx, after); err == nil {
			return former.Agent
		}
	}
	return text.Setting(conversation.KeyAgent)
}

// complete completes what the user writes; ok is false where the place is not in a turn of the user.
func (c *conversations) complete(ctx context.Context, p *protocol.CompletionParams,
) (list *protocol.CompletionList, ok bool, err error) {
	d := c.drafted(ctx, p.TextDocument.URI, p.Position)
	if d == nil {
		return nil, false, nil
	}
	session, err := c.launcher.sessionOf(ctx, "")
	if err != nil {
		return nil, true, err
	}
	found, err := agentcore.CompletePrompt(ctx, session, c.partner(ctx, d.text), d.said(), d.at)
	if err != nil {
		return nil, true, err
	}
	list = &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	for i, f := range found {
		item := protocol.CompletionItem{
			Label: f.Label, Kind: itemKind(f.Kind), SortText: protocol.NewOptional(fmt.Sprintf("%04d", i)),
			FilterText: protocol.NewOptional(f.Text),
			TextEdit:   &protocol.TextEdit{Range: c.between(d, f.Start, f.End), NewText: f.Text},
		}
		if f.Detail != "" {
			item.Detail = protocol.NewOptional(f.Detail)
		}
		list.Items = append(list.Items, item)
		// Which files and symbols there are depends on what is written, so that the client has to ask again.
		list.IsIncomplete = f.Kind != prompt.Call
	}
	return list, true, nil
}

// itemKind is how editors show what can be completed.
func itemKind(k prompt.Kind) protocol.CompletionItemKind {
	switch k {
	case prompt.File, prompt.Image:
		return protocol.CompletionItemKindFile
	case prompt.Folder:
		return protocol.CompletionItemKindFolder
	case prompt.Symbol:
		return protocol.CompletionItemKindReference
	case prompt.Call:
		return protocol.CompletionItemKindFunction
	}
	return protocol.CompletionItemKindKeyword
}

// explain says in Markdown what would be sent of the mention, or the prompt that is called, at a place; "" for nothing.
func (c *conversations) explain(ctx context.Context, u uri.URI, p protocol.Position) (string, protocol.Range, error) {
	d := c.drafted(ctx, u, p)
	if d == nil {
		return "", protocol.Range{}, nil
	}
	said := d.said()
	start, end := agentcore.NamedAt(said, d.at)
	if start == end {
		return "", protocol.Range{}, nil
	}
	session, err := c.launcher.sessionOf(ctx, "")
	if err != nil {
		return "", protocol.Range{}, err
	}
	request := agentcore.RunRequest{
		Agent: c.partner(ctx, d.text), Model: d.text.Setting(conversation.KeyModel), Prompt: said[start:end],
	}
	if calls := said[start] == '/'; calls {
		request.Prompt = strings.TrimSpace(said) // with its arguments
	}
	x, err := agentcore.Expand(ctx, session, request)
	if err != nil {
		return "", protocol.Range{}, err
	}
	return expanded(x, said[start:end]), c.between(d, start, end), nil
}

// expanded says what a mention or a call would become.
func expanded(x agentcore.Expansion, named string) string {
	var head string
	var facts []string
	if p := x.Prompt; p != nil {
		head = "`/" + p.Name + "` · prompt"
		if hint := permission.Visible(p.Hint); hint != "" {
			head += " · arguments: " + hint
		}
		head += "\n\n" + permission.Visible(p.Description)
		facts = append(facts, "- its text · "+short.Count(len(x.Parts[0].Text), "byte"))
	}
	for _, part := range x.Parts {
		fact := "- `" + strings.Trim(part.Name, "`!") + "` · "
		switch {
		case part.Kind == prompt.Words:
			continue
		case part.Kind == prompt.Command:
			fact += "the output of this command"
		case part.About != "":
			fact += string(part.Kind) + " · " + part.About + " · " + short.Count(len(part.Text), "byte")
		default:
			fact += string(part.Kind) + " · " + short.Count(len(part.Text), "byte")
		}
		facts = append(facts, fact)
	}
	for _, r := range x.Refused {
		facts = append(facts, fmt.Sprintf("- **refused**: %s: %v", r.Mention, r.Err))
	}
	if len(facts) == 0 && strings.HasPrefix(named, "@") {
		return "It names nothing that is here, and is sent as it stands."
	}
	return strings.TrimSpace(strings.TrimSpace(head) + "\n\n" + strings.Join(facts, "\n"))
}

// refusals are the diagnostics of what keeps the last prompt of an open conversation from being sent, once there is a
// session that it would be sent in.
func (r *remarks) refusals(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	session := r.opened()
	if session == nil || !open || r.authoredKind(path) != authoring.Conversation {
		return nil
	}
	text := conversation.Parse(x.Text())
	turn, prompts := text.Prompt()
	if !prompts {
		return nil
	}
	refused, err := agentcore.Refusals(r.background, session, r.partner(r.background, text),
		x.Text()[turn.Body.Start:turn.Body.End])
	if err != nil {
		return nil // who sends it is told
	}
	var list []protocol.Diagnostic
	for _, one := range refused {
		list = append(list, r.form.Problem(authoring.Conversation, agent.Problem{
			Span:     authoring.Place(x, turn.Body.Start+one.Start, turn.Body.Start+one.End),
			Severity: event.SeverityWarning,
			Message:  "it cannot be sent: " + one.Err.Error(),
		}, x))
	}
	return list
}
