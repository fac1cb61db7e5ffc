package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lsp/methods"
)

// Experimental is what both sides say under capabilities.experimental (schema/PROTOCOL.md, "Capabilities").
type Experimental struct {
	Agentls *methods.Support `json:"agentls,omitempty"`
}

// Yes reads a member that may be absent, which means no.
func Yes(b *bool) bool { return b != nil && *b }

// said is a part of the capabilities, or the zero value if the client did not send it.
func said[T any](part *T) (capabilities T) {
	if part != nil {
		capabilities = *part
	}
	return capabilities
}

// capabilities are what an editor announced, and what it is known to do. They are immutable.
type capabilities struct {
	habits
	caps protocol.ClientCapabilities
}

func (c *capabilities) workspace() protocol.WorkspaceClientCapabilities {
	return said(c.caps.Workspace)
}

func (c *capabilities) window() protocol.WindowClientCapabilities { return said(c.caps.Window) }

// TextDocument is what the client supports of the features of documents. It is the zero value if the client said
// nothing about them; this holds for all parts below, too.
func (c *capabilities) TextDocument() protocol.TextDocumentClientCapabilities {
	return said(c.caps.TextDocument)
}

// KnowsProtocol reports whether the client speaks the custom methods, so that it shows their results itself.
func (c *capabilities) KnowsProtocol() bool { return experimental(c.caps).Agentls != nil }

// Announced is what the client says under experimental.agentls, the zero value if it does not speak the custom methods.
func (c *capabilities) Announced() methods.Support { return said(experimental(c.caps).Agentls) }

// Misannounced says what is wrong with the client's experimental.agentls, which is ignored as a whole then. It is nil
// if the client has no such member, or a right one.
func (c *capabilities) Misannounced() error {
	var other struct {
		Agentls json.RawMessage `json:"agentls"`
	}
	if len(c.caps.Experimental) == 0 || json.Unmarshal(c.caps.Experimental, &other) != nil || len(other.Agentls) == 0 {
		return nil
	}
	err := json.Unmarshal(other.Agentls, new(methods.Support))
	if err == nil {
		return nil
	}
	is := "it is not an object"
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		is = fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value)
	}
	return fmt.Errorf(
		"agentls ignores capabilities.experimental.agentls of the editor, since %s; the editor must send an object "+
			"with version, a string such as %q, and with true or false for each request that it answers",
		is, methods.Version)
}

func experimental(caps protocol.ClientCapabilities) Experimental {
	var known Experimental
	if len(caps.Experimental) == 0 || json.Unmarshal(caps.Experimental, &known) != nil {
		return Experimental{} // a member in another form belongs to another protocol
	}
	return known
}

// AppliesEdits reports whether the client carries out edits (workspace/applyEdit).
func (c *capabilities) AppliesEdits() bool { return Yes(c.workspace().ApplyEdit) }

// WorkspaceEdit is what the client supports of edits.
func (c *capabilities) WorkspaceEdit() protocol.WorkspaceEditClientCapabilities {
	return said(c.workspace().WorkspaceEdit)
}

// TakesDocumentChanges reports whether edits may have the form with documentChanges, which has the documents' versions.
// A client that announces resource operations takes that form, too, since only that form can have them (LSP 3.18,
// WorkspaceEdit). Neovim is such a client, and it refuses an edit of an older version.
func (c *capabilities) TakesDocumentChanges() bool {
	return Yes(c.WorkspaceEdit().DocumentChanges) || len(c.WorkspaceEdit().ResourceOperations) > 0
}

// TakesAnnotations reports whether edits may have change annotations, which give reasons. Neovim 0.12 would take them,
// but it prints them after the edit in a message of several lines, for which the user must press a key.
func (c *capabilities) TakesAnnotations() bool {
	return c.TakesDocumentChanges() && c.WorkspaceEdit().ChangeAnnotationSupport != nil && !c.PrintsEdits()
}

// TakesResource reports whether edits may make, move or delete files.
func (c *capabilities) TakesResource(kind protocol.ResourceOperationKind) bool {
	return slices.Contains(c.WorkspaceEdit().ResourceOperations, kind)
}

// AllOrNothing reports whether the client applies such an edit either as a whole or not at all.
func (c *capabilities) AllOrNothing(edit protocol.WorkspaceEdit) bool {
	textOnly := true
	for _, change := range edit.DocumentChanges {
		_, text := change.(*protocol.TextDocumentEdit)
		textOnly = textOnly && text
	}
	switch c.WorkspaceEdit().FailureHandling {
	case protocol.FailureHandlingKindTransactional:
		return true
	case protocol.FailureHandlingKindTextOnlyTransactional:
		return textOnly
	}
	return false
}

// AnswersConfiguration reports whether the client can be asked for settings.
func (c *capabilities) AnswersConfiguration() bool { return Yes(c.workspace().Configuration) }

// TakesProgress reports whether the client shows progress that the server starts.
func (c *capabilities) TakesProgress() bool { return Yes(c.window().WorkDoneProgress) }

// ShowsDocuments reports whether the client can be asked to show a document.
func (c *capabilities) ShowsDocuments() bool { return said(c.window().ShowDocument).Support }

// ShowsQuestions reports whether the client shows questions (LSP 3.18, ShowMessageRequestClientCapabilities).
func (c *capabilities) ShowsQuestions() bool { return c.window().ShowMessage != nil }

// TakesContent reports whether the client asks the server for the texts of documents that have no file.
func (c *capabilities) TakesContent() bool { return c.workspace().TextDocumentContent != nil }

// WatchesFiles reports whether the client watches files for the server.
func (c *capabilities) WatchesFiles() bool {
	return Yes(said(c.workspace().DidChangeWatchedFiles).DynamicRegistration)
}

// CodeAction is what the client supports of code actions.
func (c *capabilities) CodeAction() protocol.CodeActionClientCapabilities {
	return said(c.TextDocument().CodeAction)
}

// TakesCodeActions reports whether the client takes code actions; otherwise it gets commands.
func (c *capabilities) TakesCodeActions() bool {
	return c.CodeAction().CodeActionLiteralSupport.CodeActionKind.ValueSet != nil
}

// ShowsDisabled reports whether the client shows disabled actions with their reasons.
func (c *capabilities) ShowsDisabled() bool {
	return c.TakesCodeActions() && Yes(c.CodeAction().DisabledSupport)
}

// PublishDiagnostics returns what the client can show of pushed diagnostics, and whether it takes pushed diagnostics at
// all. The notification is as old as LSP, and its capability only describes details. Therefore a client without the
// capability takes pushed diagnostics, too, unless it pulls.
func (c *capabilities) PublishDiagnostics() (protocol.PublishDiagnosticsClientCapabilities, bool) {
	part := c.TextDocument().PublishDiagnostics
	return said(part), part != nil || !c.PullsDiagnostics()
}

// PullsDiagnostics reports whether the client can pull diagnostics (LSP 3.17).
func (c *capabilities) PullsDiagnostics() bool { return c.TextDocument().Diagnostic != nil }

// RefreshesDiagnostics reports whether the client pulls diagnostics again when the server asks it to.
func (c *capabilities) RefreshesDiagnostics() bool {
	return Yes(said(c.workspace().Diagnostics).RefreshSupport)
}

// OffersPull reports whether the server announces that it can be pulled. It does so to a client that pulls again when
// it is asked to, since agents may find something at any time, and to a client that only pulls.
func (c *capabilities) OffersPull() bool {
	_, pushed := c.PublishDiagnostics()
	return c.PullsDiagnostics() && (c.RefreshesDiagnostics() || !pushed)
}

// Completion is what the client supports of completion.
func (c *capabilities) Completion() protocol.CompletionClientCapabilities {
	return said(c.TextDocument().Completion)
}

// Hover is what the client supports of hovers.
func (c *capabilities) Hover() protocol.HoverClientCapabilities { return said(c.TextDocument().Hover) }

// Symbols is what the client supports of document symbols.
func (c *capabilities) Symbols() protocol.DocumentSymbolClientCapabilities {
	return said(c.TextDocument().DocumentSymbol)
}

// Folds is how the client folds documents.
func (c *capabilities) Folds() protocol.FoldingRangeClientCapabilities {
	return said(c.TextDocument().FoldingRange)
}

// HoverText gives a text in Markdown the format that the client shows in hovers.
func (c *capabilities) HoverText(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: markup(c.Hover().ContentFormat), Value: text}
}

// HoversMarkdown reports whether the client takes Markdown in hovers.
func (c *capabilities) HoversMarkdown() bool {
	return markup(c.Hover().ContentFormat) == protocol.MarkupKindMarkdown
}

// CompletionDoc is [Client.HoverText] for the documentation of a completion.
func (c *capabilities) CompletionDoc(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: markup(said(c.Completion().CompletionItem).DocumentationFormat), Value: text}
}

// markup is Markdown if the client takes it, else plain text. Our Markdown is readable as plain text, too.
func markup(formats []protocol.MarkupKind) protocol.MarkupKind {
	if slices.Contains(formats, protocol.MarkupKindMarkdown) {
		return protocol.MarkupKindMarkdown
	}
	return protocol.MarkupKindPlainText
}

// InlayHint is what the client supports of inlay hints.
func (c *capabilities) InlayHint() protocol.InlayHintClientCapabilities {
	return said(c.TextDocument().InlayHint)
}

// ShowsHints reports whether the client shows inlay hints.
func (c *capabilities) ShowsHints() bool { return c.TextDocument().InlayHint != nil }

// HintsAnnounced reports whether inlay hints must be announced in the answer to initialize, since the client takes no
// registration for them.
func (c *capabilities) HintsAnnounced() bool {
	return c.ShowsHints() && !Yes(c.InlayHint().DynamicRegistration)
}

// RefreshesHints reports whether the client asks for inlay hints again when the server asks it to.
func (c *capabilities) RefreshesHints() bool {
	return Yes(said(c.workspace().InlayHint).RefreshSupport)
}

// CodeLens is what the client supports of lenses.
func (c *capabilities) CodeLens() protocol.CodeLensClientCapabilities {
	return said(c.TextDocument().CodeLens)
}

// ShowsLenses reports whether the client shows lenses.
func (c *capabilities) ShowsLenses() bool { return c.TextDocument().CodeLens != nil }

// LensesAnnounced reports whether lenses must be announced in the answer to initialize. A client that takes
// registrations gets one when the user turns lenses on. Otherwise it would ask in vain at each change.
func (c *capabilities) LensesAnnounced() bool {
	return c.ShowsLenses() && !Yes(c.CodeLens().DynamicRegistration)
}

// RefreshesLenses reports whether the client asks for lenses again when the server asks it to.
func (c *capabilities) RefreshesLenses() bool {
	return Yes(said(c.workspace().CodeLens).RefreshSupport)
}
