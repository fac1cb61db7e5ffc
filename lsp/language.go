package lsp

import (
	"context"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"
)

// The registrations of the language features. A client that takes registrations asks us only about our own files;
// for any other the features are announced for all documents, and answered with null at once where they are not ours.

// completionTriggers are the characters behind which a client asks for completion by itself. Only a client that knows our files
// apart gets them, since it would ask at each space of every other document.
var completionTriggers = []string{" ", ",", "[", "{", "\"", "/", "."}

func (c *client) completion() protocol.CompletionClientCapabilities {
	if c.caps.TextDocument == nil || c.caps.TextDocument.Completion == nil {
		return protocol.CompletionClientCapabilities{}
	}
	return *c.caps.TextDocument.Completion
}

func (c *client) hover() protocol.HoverClientCapabilities {
	if c.caps.TextDocument == nil || c.caps.TextDocument.Hover == nil {
		return protocol.HoverClientCapabilities{}
	}
	return *c.caps.TextDocument.Hover
}

func (c *client) symbols() protocol.DocumentSymbolClientCapabilities {
	if c.caps.TextDocument == nil || c.caps.TextDocument.DocumentSymbol == nil {
		return protocol.DocumentSymbolClientCapabilities{}
	}
	return *c.caps.TextDocument.DocumentSymbol
}

func (c *client) nestedSymbols() bool { return yes(c.symbols().HierarchicalDocumentSymbolSupport) }

// hoverText gives a text in Markdown the form that the client shows.
func (c *client) hoverText(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: markup(c.hover().ContentFormat), Value: text}
}

// completionDoc is hoverText for the documentation of a completion.
func (c *client) completionDoc(text string) *protocol.MarkupContent {
	var formats []protocol.MarkupKind
	if item := c.completion().CompletionItem; item != nil {
		formats = item.DocumentationFormat
	}
	return &protocol.MarkupContent{Kind: markup(formats), Value: text}
}

// markup is Markdown where the client takes it. Our texts are readable without being shown as Markdown, too.
func markup(formats []protocol.MarkupKind) protocol.MarkupKind {
	if slices.Contains(formats, protocol.MarkupKindMarkdown) {
		return protocol.MarkupKindMarkdown
	}
	return protocol.MarkupKindPlainText
}

// languageCapabilities announces the features to a client that has them and takes no registrations for them.
func (s *Server) languageCapabilities(c *protocol.ServerCapabilities) {
	t := s.client.caps.TextDocument
	if t == nil {
		return
	}
	if t.Completion != nil && !yes(t.Completion.DynamicRegistration) {
		c.CompletionProvider = &protocol.CompletionOptions{}
	}
	if t.Hover != nil && !yes(t.Hover.DynamicRegistration) {
		c.HoverProvider = protocol.Boolean(true)
	}
	if t.DocumentSymbol != nil && !yes(t.DocumentSymbol.DynamicRegistration) {
		c.DocumentSymbolProvider = protocol.Boolean(true)
	}
}

// announceLanguage registers the features, as far as they are not announced.
func (s *Server) announceLanguage(ctx context.Context) {
	if err := s.registerLanguage(ctx); err != nil && ctx.Err() == nil {
		s.logger.Warn("the editor takes no help for agentls's own files", "error", err)
	}
}

// registerLanguage registers the features with a client that takes registrations: all but hovers, which inlineStatus
// registers, since they are about runs, too.
func (s *Server) registerLanguage(ctx context.Context) error {
	selector := s.selector()
	where := protocol.TextDocumentRegistrationOptions{DocumentSelector: &selector}
	var list []protocol.Registration
	add := func(announced *bool, method string, options any) error {
		if !yes(announced) {
			return nil
		}
		raw, err := protocol.Marshal(options)
		if err != nil {
			return fmt.Errorf("encode the registration of %s: %w", method, err)
		}
		list = append(list, protocol.Registration{ID: "agentls." + method, Method: method, RegisterOptions: protocol.LSPAny(raw)})
		return nil
	}
	if err := add(s.client.completion().DynamicRegistration, protocol.MethodTextDocumentCompletion, &protocol.CompletionRegistrationOptions{
		TextDocumentRegistrationOptions: where, CompletionOptions: protocol.CompletionOptions{TriggerCharacters: completionTriggers},
	}); err != nil {
		return err
	}
	if err := add(s.client.symbols().DynamicRegistration, protocol.MethodTextDocumentDocumentSymbol, &protocol.DocumentSymbolRegistrationOptions{TextDocumentRegistrationOptions: where}); err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	if err := s.client.conn.Call(ctx, protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{Registrations: list}, nil); err != nil {
		return fmt.Errorf("register completion and symbols: %w", err)
	}
	return nil
}
