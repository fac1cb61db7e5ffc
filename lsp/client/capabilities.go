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

// said is a part of the capabilities; where the client does not have it, nothing is said in it.
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

// TextDocument is what the client takes of the features of documents; nothing where it says nothing, as in all of the
// parts below.
func (c *capabilities) TextDocument() protocol.TextDocumentClientCapabilities {
	return said(c.caps.TextDocument)
}

// KnowsProtocol reports whether the client speaks the custom methods, and so shows their results itself.
func (c *capabilities) KnowsProtocol() bool { return experimental(c.caps).Agentls != nil }

// Announced is what the client says under experimental.agentls, nothing where it does not speak the custom methods.
func (c *capabilities) Announced() methods.Support { return said(experimental(c.caps).Agentls) }

// Misannounced says what is wrong with what the client says under experimental.agentls, so that nothing of it counts;
// nil where it says nothing there, or what it says is right.
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
	is := "it is no object"
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		is = fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value)
	}
	return fmt.Errorf(
		"nothing that the editor announces in capabilities.experimental.agentls counts: %s; expected an object with "+
			"version, a string such as %q, "+
			"and beside it true or false for what the editor answers", is, methods.Version)
}

func experimental(caps protocol.ClientCapabilities) Experimental {
	var known Experimental
	if len(caps.Experimental) == 0 || json.Unmarshal(caps.Experimental, &known) != nil {
		return Experimental{} // what is not as the protocol says is another one's
	}
	return known
}

// AppliesEdits reports whether the client carries out edits (workspace/applyEdit).
func (c *capabilities) AppliesEdits() bool { return Yes(c.workspace().ApplyEdit) }

// WorkspaceEdit is what the client takes of edits.
func (c *capabilities) WorkspaceEdit() protocol.WorkspaceEditClientCapabilities {
	return said(c.workspace().WorkspaceEdit)
}

// TakesDocumentChanges reports whether edits may have the form that carries the documents' versions. A client that
// announces resource operations takes that form, too, since they exist in no other (LSP 3.18, WorkspaceEdit). Neovim is
// one, and it does refuse an edit of an older version.
func (c *capabilities) TakesDocumentChanges() bool {
	return Yes(c.WorkspaceEdit().DocumentChanges) || len(c.WorkspaceEdit().ResourceOperations) > 0
}

// TakesAnnotations reports whether edits may carry change annotations, which say why. Neovim 0.12 takes them, too, but
// lists them in a message of several lines behind the edit, which stops the user until he presses a key.
func (c *capabilities) TakesAnnotations() bool {
	return c.TakesDocumentChanges() && c.WorkspaceEdit().ChangeAnnotationSupport != nil && !c.PrintsEdits()
}

// TakesResource reports whether edits may make, move or delete files.
func (c *capabilities) TakesResource(kind protocol.ResourceOperationKind) bool {
	return slices.Contains(c.WorkspaceEdit().ResourceOperations, kind)
}

// AllOrNothing reports whether the client makes either all of such an edit or nothing of it.
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

// TakesProgress reports whether the client shows progress that the server begins.
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

// CodeAction is what the client takes of code actions.
func (c *capabilities) CodeAction() protocol.CodeActionClientCapabilities {
	return said(c.TextDocument().CodeAction)
}

// TakesCodeActions reports whether the client takes code actions; one that does not gets commands.
func (c *capabilities) TakesCodeActions() bool {
	return c.CodeAction().CodeActionLiteralSupport.CodeActionKind.ValueSet != nil
}

// ShowsDisabled reports whether the client shows actions that cannot be chosen now, with the reason.
func (c *capabilities) ShowsDisabled() bool {
	return c.TakesCodeActions() && Yes(c.CodeAction().DisabledSupport)
}

// PublishDiagnostics returns what the client can show of diagnostics that are pushed, and whether it takes any. The
// notification is as old as LSP, and its capability only says what of it a client knows: one that says nothing takes
// it, too, unless it pulls.
func (c *capabilities) PublishDiagnostics() (protocol.PublishDiagnosticsClientCapabilities, bool) {
	part := c.TextDocument().PublishDiagnostics
	return said(part), part != nil || !c.PullsDiagnostics()
}

// PullsDiagnostics reports whether the client can pull diagnostics (LSP 3.17).
func (c *capabilities) PullsDiagnostics() bool { return c.TextDocument().Diagnostic != nil }

// RefreshesDiagnostics reports whether the client pulls diagnostics again when it is told to.
func (c *capabilities) RefreshesDiagnostics() bool {
	return Yes(said(c.workspace().Diagnostics).RefreshSupport)
}

// OffersPull reports whether pulling is announced: to a client that can be told to pull again, since agents find
// something at any time, or that takes diagnostics in no other way.
func (c *capabilities) OffersPull() bool {
	_, pushed := c.PublishDiagnostics()
	return c.PullsDiagnostics() && (c.RefreshesDiagnostics() || !pushed)
}

// Completion is what the client takes of completion.
func (c *capabilities) Completion() protocol.CompletionClientCapabilities {
	return said(c.TextDocument().Completion)
}

// Hover is what the client takes of hovers.
func (c *capabilities) Hover() protocol.HoverClientCapabilities { return said(c.TextDocument().Hover) }

// Symbols is what the client takes of document symbols.
func (c *capabilities) Symbols() protocol.DocumentSymbolClientCapabilities {
	return said(c.TextDocument().DocumentSymbol)
}

// Folds is how the client folds documents.
func (c *capabilities) Folds() protocol.FoldingRangeClientCapabilities {
	return said(c.TextDocument().FoldingRange)
}

// NestsSymbols reports whether document symbols may have children.
func (c *capabilities) NestsSymbols() bool { return Yes(c.Symbols().HierarchicalDocumentSymbolSupport) }

// HoverText gives a text in Markdown the form that the client shows.
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

// markup is Markdown where the client takes it. Our texts are readable without being shown as Markdown, too.
func markup(formats []protocol.MarkupKind) protocol.MarkupKind {
	if slices.Contains(formats, protocol.MarkupKindMarkdown) {
		return protocol.MarkupKindMarkdown
	}
	return protocol.MarkupKindPlainText
}

// InlayHint is what the client takes of inlay hints.
func (c *capabilities) InlayHint() protocol.InlayHintClientCapabilities {
	return said(c.TextDocument().InlayHint)
}

// ShowsHints reports whether the client shows inlay hints.
func (c *capabilities) ShowsHints() bool { return c.TextDocument().InlayHint != nil }

// HintsAnnounced reports whether inlay hints have to be announced at once: a client that takes registrations gets one.
func (c *capabilities) HintsAnnounced() bool {
	return c.ShowsHints() && !Yes(c.InlayHint().DynamicRegistration)
}

// RefreshesHints reports whether the client asks for inlay hints again when it is told to.
func (c *capabilities) RefreshesHints() bool {
	return Yes(said(c.workspace().InlayHint).RefreshSupport)
}

// CodeLens is what the client takes of lenses.
func (c *capabilities) CodeLens() protocol.CodeLensClientCapabilities {
	return said(c.TextDocument().CodeLens)
}

// ShowsLenses reports whether the client shows lenses.
func (c *capabilities) ShowsLenses() bool { return c.TextDocument().CodeLens != nil }

// LensesAnnounced reports whether lenses have to be announced at once: a client that takes registrations gets one when
// the user turns them on, so that no other asks in vain at each change.
func (c *capabilities) LensesAnnounced() bool {
	return c.ShowsLenses() && !Yes(c.CodeLens().DynamicRegistration)
}

// RefreshesLenses reports whether the client asks for lenses again when it is told to.
func (c *capabilities) RefreshesLenses() bool {
	return Yes(said(c.workspace().CodeLens).RefreshSupport)
}
