package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lsp/client"
)

// The registrations of the language features. A client that takes registrations asks us only about our own files;
// for any other the features are announced for all documents, and answered with null at once where they are not ours.

// completionTriggers are the characters behind which a client asks for completion by itself. Only a client that knows our files
// apart gets them, since it would ask at each space of every other document.
var completionTriggers = []string{" ", ",", "[", "{", "\"", "/", "."}

// languageCapabilities announces the features to a client that has them and takes no registrations for them.
func (s *Server) languageCapabilities(c *protocol.ServerCapabilities) {
	t := s.client.TextDocument()
	if t.Completion != nil && !client.Yes(t.Completion.DynamicRegistration) {
		c.CompletionProvider = &protocol.CompletionOptions{}
	}
	if t.Hover != nil && !client.Yes(t.Hover.DynamicRegistration) {
		c.HoverProvider = protocol.Boolean(true)
	}
	if t.DocumentSymbol != nil && !client.Yes(t.DocumentSymbol.DynamicRegistration) {
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
		if !client.Yes(announced) {
			return nil
		}
		one, err := client.Registration(method, method, options)
		list = append(list, one)
		return err
	}
	if err := add(s.client.Completion().DynamicRegistration, protocol.MethodTextDocumentCompletion, &protocol.CompletionRegistrationOptions{
		TextDocumentRegistrationOptions: where, CompletionOptions: protocol.CompletionOptions{TriggerCharacters: completionTriggers},
	}); err != nil {
		return err
	}
	if err := add(s.client.Symbols().DynamicRegistration, protocol.MethodTextDocumentDocumentSymbol, &protocol.DocumentSymbolRegistrationOptions{TextDocumentRegistrationOptions: where}); err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	return s.client.RegisterAll(ctx, list...)
}
