package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// client is what the other side can do, and the way to speak to it. Everything that is sent to an editor goes
// through it, so that nothing is sent which the editor did not announce. It is immutable but for the connection's own state.
type client struct {
	conn       *wire.Conn
	name       string
	caps       protocol.ClientCapabilities
	answerTime time.Duration
	tokens     *progressTokens
}

// title is what the editor calls itself, for a person who looks for this window from another one.
func (c *client) title() string {
	if c.name == "" {
		return "an editor"
	}
	return permission.Visible(c.name)
}

// call asks the editor, and waits for its answer no longer than answerTime.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	bounded, cancel := context.WithTimeout(ctx, c.answerTime)
	defer cancel()
	err := c.conn.Call(bounded, method, params, result)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("the editor did not answer %s within %s", method, c.answerTime)
	}
	return err
}

func yes(b *bool) bool { return b != nil && *b }

func (c *client) applyEdit() bool {
	return c.caps.Workspace != nil && yes(c.caps.Workspace.ApplyEdit)
}

func (c *client) workspaceEdit() protocol.WorkspaceEditClientCapabilities {
	if c.caps.Workspace == nil || c.caps.Workspace.WorkspaceEdit == nil {
		return protocol.WorkspaceEditClientCapabilities{}
	}
	return *c.caps.Workspace.WorkspaceEdit
}

// documentChanges says whether edits may have the form that carries the documents' versions. A client that announces
// resource operations takes it, too, since they exist in no other form (LSP 3.18, WorkspaceEdit); Neovim is one, and it
// does refuse an edit of an older version.
func (c *client) documentChanges() bool {
	return yes(c.workspaceEdit().DocumentChanges) || len(c.workspaceEdit().ResourceOperations) > 0
}

// annotations says whether edits may carry change annotations, which say why. Neovim 0.12 takes them, too, but lists
// them in a message of several lines behind the edit, which stops the user until he presses a key.
func (c *client) annotations() bool {
	return c.documentChanges() && c.workspaceEdit().ChangeAnnotationSupport != nil && !c.printsEdits()
}

// printsEdits says whether the client prints what names an edit, as Neovim does, which has no other use for it: a line
// that is wider than the screen stops the user, too. LSP has no capability for that.
func (c *client) printsEdits() bool { return strings.EqualFold(c.name, "neovim") }

func (c *client) resource(kind protocol.ResourceOperationKind) bool {
	return slices.Contains(c.workspaceEdit().ResourceOperations, kind)
}

func (c *client) configuration() bool {
	return c.caps.Workspace != nil && yes(c.caps.Workspace.Configuration)
}

func (c *client) workDoneProgress() bool {
	return c.caps.Window != nil && yes(c.caps.Window.WorkDoneProgress)
}

func (c *client) showDocument() bool {
	return c.caps.Window != nil && c.caps.Window.ShowDocument != nil && c.caps.Window.ShowDocument.Support
}

func (c *client) textDocumentContent() bool {
	return c.caps.Workspace != nil && c.caps.Workspace.TextDocumentContent != nil
}

func (c *client) watchedFiles() bool {
	w := c.caps.Workspace
	return w != nil && w.DidChangeWatchedFiles != nil && yes(w.DidChangeWatchedFiles.DynamicRegistration)
}

func (c *client) codeAction() protocol.CodeActionClientCapabilities {
	if c.caps.TextDocument == nil || c.caps.TextDocument.CodeAction == nil {
		return protocol.CodeActionClientCapabilities{}
	}
	return *c.caps.TextDocument.CodeAction
}

// codeActionLiterals says whether the client takes code actions; one that does not gets commands.
func (c *client) codeActionLiterals() bool {
	return c.codeAction().CodeActionLiteralSupport.CodeActionKind.ValueSet != nil
}

// showsDisabled says whether the client shows actions that cannot be chosen now, with the reason.
func (c *client) showsDisabled() bool {
	return c.codeActionLiterals() && yes(c.codeAction().DisabledSupport)
}

// publishDiagnostics returns what the client can show of diagnostics that are pushed, and whether it takes any. The notification is as old as
// LSP, and its capability only says what of it a client knows: one that says nothing takes it, too, unless it pulls.
func (c *client) publishDiagnostics() (protocol.PublishDiagnosticsClientCapabilities, bool) {
	if c.caps.TextDocument == nil || c.caps.TextDocument.PublishDiagnostics == nil {
		return protocol.PublishDiagnosticsClientCapabilities{}, !c.pullDiagnostics()
	}
	return *c.caps.TextDocument.PublishDiagnostics, true
}

// knowsProtocol says whether the client speaks the custom methods, and so shows their results itself.
func (c *client) knowsProtocol() bool {
	var known experimental
	return len(c.caps.Experimental) > 0 && json.Unmarshal(c.caps.Experimental, &known) == nil && known.Agentls != nil
}

// announced is what the client says under experimental.agentls, nothing where it does not speak the custom methods.
func (c *client) announced() methods.Support {
	var known experimental
	if len(c.caps.Experimental) == 0 || json.Unmarshal(c.caps.Experimental, &known) != nil || known.Agentls == nil {
		return methods.Support{}
	}
	return *known.Agentls
}

// hidesErrors says whether the client only logs the error that answers a command, as Helix does; LSP has no
// capability for that.
func (c *client) hidesErrors() bool { return strings.EqualFold(c.name, "helix") }

// leavesOutStaleEdits says whether the client leaves out an edit of an older version, does the rest, and says that all was
// applied, as Neovim does.
func (c *client) leavesOutStaleEdits() bool { return strings.EqualFold(c.name, "neovim") }

// refreshesWorkspaceAlone says whether the client, told to pull diagnostics again, pulls those of the workspace where it can, and leaves out what
// it is answered for open documents, as Neovim 0.12 does.
func (c *client) refreshesWorkspaceAlone() bool { return strings.EqualFold(c.name, "neovim") }

// showsEmptyLine says whether the client shows an empty file as one empty line, with its end, as Neovim does: a text that is put
// before it would leave that line behind. LSP has no capability for that.
func (c *client) showsEmptyLine() bool { return strings.EqualFold(c.name, "neovim") }

// messageRequest says whether the client shows questions (LSP 3.18, ShowMessageRequestClientCapabilities).
func (c *client) messageRequest() bool {
	return c.caps.Window != nil && c.caps.Window.ShowMessage != nil
}

// choose shows a question until the user answers it, which may be never, or ctx ends. The answer is the title that was chosen, empty for none.
func (c *client) choose(ctx context.Context, kind protocol.MessageType, text string, titles ...string) (string, error) {
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

// show tells the user something in a message box; log only in the editor's log.
func (c *client) show(ctx context.Context, kind protocol.MessageType, text string) error {
	return c.conn.Notify(ctx, protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{Type: kind, Message: text})
}

func (c *client) log(ctx context.Context, kind protocol.MessageType, text string) error {
	return c.conn.Notify(ctx, protocol.MethodWindowLogMessage, &protocol.LogMessageParams{Type: kind, Message: text})
}

// settings asks for the section "agentls" of the editor's settings; nil where there are none.
func (c *client) settings(ctx context.Context) (json.RawMessage, error) {
	if !c.configuration() {
		return nil, nil
	}
	section := "agentls"
	var answer []protocol.LSPAny
	params := protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: &section}}}
	if err := c.call(ctx, protocol.MethodWorkspaceConfiguration, &params, &answer); err != nil {
		return nil, fmt.Errorf("ask the editor for its settings: %w", err)
	}
	if len(answer) == 0 || string(answer[0]) == "null" || string(answer[0]) == "[]" { // Neovim's empty table
		return nil, nil
	}
	return json.RawMessage(answer[0]), nil
}

// followSettings asks to be told when the user's settings change. A client that takes the registration, as VS Code does, may tell nobody else.
func (c *client) followSettings(ctx context.Context) error {
	w := c.caps.Workspace
	if w == nil || w.DidChangeConfiguration == nil || !yes(w.DidChangeConfiguration.DynamicRegistration) {
		return nil
	}
	// No section is named: what a client then sends along has all its defaults, as if the user had set them. They are asked for instead.
	params := protocol.RegistrationParams{Registrations: []protocol.Registration{{ID: "agentls.settings", Method: protocol.MethodWorkspaceDidChangeConfiguration}}}
	if err := c.call(ctx, protocol.MethodClientRegisterCapability, &params, nil); err != nil {
		return fmt.Errorf("register for settings: %w", err)
	}
	return nil
}

// watch asks for the events of files that change on disk.
func (c *client) watch(ctx context.Context) error {
	if !c.watchedFiles() {
		return nil
	}
	options, err := protocol.Marshal(&protocol.DidChangeWatchedFilesRegistrationOptions{
		Watchers: []protocol.FileSystemWatcher{{GlobPattern: protocol.Pattern("**/*")}},
	})
	if err != nil {
		return fmt.Errorf("encode the file watcher: %w", err)
	}
	params := protocol.RegistrationParams{Registrations: []protocol.Registration{{
		ID: "agentls.files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: protocol.LSPAny(options),
	}}}
	if err := c.call(ctx, protocol.MethodClientRegisterCapability, &params, nil); err != nil {
		return fmt.Errorf("register for file events: %w", err)
	}
	return nil
}

// applyAnswer is what the editor says about an edit.
type applyAnswer struct {
	// refusal is why the editor did not apply the edit, "" where it did.
	refusal string
	// failed is the part that failed, an index into documentChanges; -1 where the editor does not say.
	failed int
}

// apply has the editor carry out an edit.
func (c *client) apply(ctx context.Context, label string, edit protocol.WorkspaceEdit) (applyAnswer, error) {
	params := protocol.ApplyWorkspaceEditParams{Edit: edit}
	if !c.printsEdits() {
		params.Label = &label
	}
	// The library refuses the whole answer for a failedChange that is no uinteger; the edit may be applied all the
	// same.
	var result struct {
		Applied       bool            `json:"applied"`
		FailureReason *string         `json:"failureReason"`
		FailedChange  json.RawMessage `json:"failedChange"`
	}
	if err := c.call(ctx, protocol.MethodWorkspaceApplyEdit, &params, &result); err != nil {
		var refused *jsonrpc2.Error
		if errors.As(err, &refused) {
			return applyAnswer{"the editor answered: " + refused.Error(), -1}, nil
		}
		return applyAnswer{}, fmt.Errorf("send the edit to the editor: %w", err)
	}
	answer := applyAnswer{failed: -1}
	if n, err := strconv.Atoi(string(result.FailedChange)); err == nil && n >= 0 && n < len(edit.DocumentChanges) {
		answer.failed = n
	}
	switch {
	case result.Applied:
		answer.failed = -1
	case result.FailureReason != nil && *result.FailureReason != "":
		answer.refusal = *result.FailureReason
	default:
		answer.refusal = "the editor did not apply the edit"
	}
	return answer, nil
}

// allOrNothing says whether the client makes either all of such an edit or nothing of it.
func (c *client) allOrNothing(edit protocol.WorkspaceEdit) bool {
	textOnly := true
	for _, change := range edit.DocumentChanges {
		_, text := change.(*protocol.TextDocumentEdit)
		textOnly = textOnly && text
	}
	switch c.workspaceEdit().FailureHandling {
	case protocol.FailureHandlingKindTransactional:
		return true
	case protocol.FailureHandlingKindTextOnlyTransactional:
		return textOnly
	}
	return false
}

// progressTime bounds the wait for the answer to a token for `$/progress`, which no editor asks a person for.
const progressTime = 10 * time.Second

// maxTokens bounds how many tokens for `$/progress` wait for their answers at once.
const maxTokens = 8

// progressTokens are the requests for tokens for `$/progress`. Some editors announce progress and never answer one;
// those are asked no more. Its methods may be called from any goroutine.
type progressTokens struct {
	room     chan struct{} // has room for maxTokens: those that wait for their answers
	silent   chan struct{} // closed when the editor is asked no more
	mu       sync.Mutex
	answered bool // it has answered one, by yes or no
}

func newProgressTokens() *progressTokens {
	return &progressTokens{room: make(chan struct{}, maxTokens), silent: make(chan struct{})}
}

var errNoProgress = errors.New("the editor takes no progress of the server's; runs are told of in its log")

// heard takes in how a request for a token ended.
func (t *progressTokens) heard(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var refused *jsonrpc2.Error
	isRefused := errors.As(err, &refused)
	t.answered = t.answered || err == nil || isRefused
	if t.answered && !(isRefused && refused.Code == jsonrpc2.MethodNotFound) {
		return // the next one may be answered otherwise
	}
	select {
	case <-t.silent:
	default:
		close(t.silent)
	}
}

// createProgress announces a token for `$/progress`.
func (c *client) createProgress(ctx context.Context, token protocol.ProgressToken) error {
	bounded, cancel := context.WithTimeout(ctx, min(progressTime, c.answerTime))
	defer cancel()
	select {
	case <-c.tokens.silent:
		return errNoProgress
	default:
	}
	select {
	case c.tokens.room <- struct{}{}:
		defer func() { <-c.tokens.room }()
	case <-c.tokens.silent:
		return errNoProgress
	case <-bounded.Done():
		return errors.Join(ctx.Err(), errNoProgress)
	}
	params := protocol.WorkDoneProgressCreateParams{Token: token}
	err := c.call(bounded, protocol.MethodWindowWorkDoneProgressCreate, &params, nil)
	if ctx.Err() == nil {
		c.tokens.heard(err)
	}
	return err
}

// open shows a document to the user; it reports whether the editor did.
func (c *client) open(ctx context.Context, u uri.URI) (bool, error) {
	if !c.showDocument() {
		return false, nil
	}
	var result protocol.ShowDocumentResult
	if err := c.call(ctx, protocol.MethodWindowShowDocument, &protocol.ShowDocumentParams{URI: u}, &result); err != nil {
		return false, fmt.Errorf("show %s: %w", u, err)
	}
	return result.Success, nil
}
