// Package client is the editor at the other end of the connection: its capabilities, its registrations, and the
// requests to it. Everything that the server asks of an editor goes through a [Client], so that the server sends
// nothing which the editor did not announce. It is the only package that knows editors by name.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// Client is an editor. It is immutable except for the state of its connection; any goroutine may use it.
type Client struct {
	capabilities
	// Custom are the custom methods that an editor answers.
	Custom     methods.Client
	conn       *wire.Conn
	answerTime time.Duration
	tokens     *progressTokens
}

// New is the client that sent initialize. The server waits answerTime for its answers, except for those that a person
// gives.
func New(conn *wire.Conn, p *protocol.InitializeParams, answerTime time.Duration) *Client {
	return &Client{
		capabilities: capabilities{habits{p.ClientInfo.Name}, p.Capabilities}, Custom: methods.Client{Conn: conn},
		conn: conn, answerTime: answerTime, tokens: newProgressTokens(),
	}
}

// AnswerTime is how long the server waits for an answer of the editor, except for answers that a person gives.
func (c *Client) AnswerTime() time.Duration { return c.answerTime }

// Title is the editor's name for its window, by which a person finds the window.
func (c *Client) Title() string {
	if c.name == "" {
		return "an editor"
	}
	return permission.Visible(c.name)
}

// Call sends a request to the editor, and waits for its answer at most answerTime.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	bounded, cancel := context.WithTimeout(ctx, c.answerTime)
	defer cancel()
	err := c.conn.Call(bounded, method, params, result)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("the editor did not answer %s within %s", method, c.answerTime)
	}
	return err
}

// Choose shows a question until the user answers it, which may never happen, or ctx ends. It returns the chosen title,
// empty for none.
func (c *Client) Choose(ctx context.Context, kind protocol.MessageType, text string, titles ...string) (string, error) {
	params := protocol.ShowMessageRequestParams{Type: kind, Message: text}
	for _, title := range titles {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: title})
	}
	var answer *protocol.MessageActionItem
	if err := c.conn.Call(ctx, protocol.MethodWindowShowMessageRequest, &params, &answer); err != nil {
		return "", fmt.Errorf("ask the user: %w", err)
	}
	if answer == nil {
		return "", nil
	}
	return answer.Title, nil
}

// Notify sends a notification; the error says that it could not be sent.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// Show tells the user something in a message box.
func (c *Client) Show(ctx context.Context, kind protocol.MessageType, text string) error {
	return c.conn.Notify(ctx, protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{Type: kind, Message: text})
}

// Log tells the user something in the editor's log.
func (c *Client) Log(ctx context.Context, kind protocol.MessageType, text string) error {
	return c.conn.Notify(ctx, protocol.MethodWindowLogMessage, &protocol.LogMessageParams{Type: kind, Message: text})
}

// Open shows a document to the user; it reports whether the editor did.
func (c *Client) Open(ctx context.Context, u uri.URI) (bool, error) {
	return c.show(ctx, &protocol.ShowDocumentParams{URI: u})
}

// OpenAtEnd shows a document, which has this text, to the user with the cursor at the beginning of its last line; it
// reports whether the editor did.
func (c *Client) OpenAtEnd(ctx context.Context, u uri.URI, text string) (bool, error) {
	if c.HidesLastLineEnd() {
		text = strings.TrimSuffix(text, "\n")
	}
	end := protocol.Position{Line: uint32(strings.Count(text, "\n"))}
	return c.show(ctx, &protocol.ShowDocumentParams{
		URI: u, TakeFocus: new(true), Selection: &protocol.Range{Start: end, End: end},
	})
}

func (c *Client) show(ctx context.Context, p *protocol.ShowDocumentParams) (bool, error) {
	if !c.ShowsDocuments() {
		return false, nil
	}
	var result protocol.ShowDocumentResult
	if err := c.Call(ctx, protocol.MethodWindowShowDocument, p, &result); err != nil {
		return false, fmt.Errorf("show %s: %w", p.URI, err)
	}
	return result.Success, nil
}

// Settings asks for the section "agentls" of the editor's settings; nil where there are none.
func (c *Client) Settings(ctx context.Context) (json.RawMessage, error) {
	if !c.AnswersConfiguration() {
		return nil, nil
	}
	section := "agentls"
	var answer []protocol.LSPAny
	params := protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: &section}}}
	if err := c.Call(ctx, protocol.MethodWorkspaceConfiguration, &params, &answer); err != nil {
		return nil, fmt.Errorf("ask the editor for its settings: %w", err)
	}
	if len(answer) == 0 || string(answer[0]) == "null" || string(answer[0]) == "[]" { // Neovim's empty table
		return nil, nil
	}
	return json.RawMessage(answer[0]), nil
}
