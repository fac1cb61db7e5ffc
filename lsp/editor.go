package lsp

import (
	"context"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// editor is the editor as `initialize` has described it: the ways to reach it, and what it shows. No part of it is
// replaced. Its methods may be called from any goroutine.
type editor struct {
	*work
	options   *Options
	client    *client.Client
	documents *document.Documents
	view      *workspace.View
	form      remark.Form
	settings  *settings
}

// tell shows a message to the user. If that fails, the connection is gone, and only the log has the message.
func (e *editor) tell(ctx context.Context, kind protocol.MessageType, text string) {
	if err := e.client.Show(ctx, kind, text); err != nil {
		e.logger.Warn("a message could not be shown", "text", text, "error", err)
	}
}

// log puts a line into the editor's log.
func (e *editor) log(ctx context.Context, kind protocol.MessageType, text string) {
	e.warn(ctx, "the editor takes no line for its log", e.client.Log(ctx, kind, text), "text", text)
}

// readSettings asks the editor for its settings, and loads the configuration with them.
func (e *editor) readSettings(ctx context.Context) {
	answer, err := e.client.Settings(ctx)
	if err != nil {
		e.warn(ctx, "the editor's settings are not used", err)
		return
	}
	e.settings.answered(answer)
	e.settings.load()
}

// tellSettings shows the user each problem of the settings once: errors in a message, warnings in the log. A problem of
// a file that is open is shown there.
func (e *editor) tellSettings(ctx context.Context) {
	open := func(file string) bool { return e.showsDiagnostics() && e.documents.Get(file) != nil }
	for _, p := range e.settings.untold(open) {
		kind := protocol.MessageTypeWarning
		if p.Severity == config.SeverityError {
			kind = protocol.MessageTypeError
		}
		e.tell(ctx, kind, "agentls configuration: "+p.String())
	}
}

// inquire puts a question of the server itself to the user, with choices or for free text. It waits as long as for the
// answer to an agent's question, and returns "" where there is no answer.
func (e *editor) inquire(ctx context.Context, session *agentcore.Session, text string,
	choices []methods.Choice,
) (string, error) {
	ctx, cancel := e.patiently(ctx)
	defer cancel()
	if e.client.Announced().Questions {
		q := methods.Question{
			ID: event.NewAskID(), Session: session.ID, Agent: ourselves, Question: text,
			Choices: choices, FreeText: len(choices) == 0,
		}
		answer, err := e.client.Custom.Question(ctx, &q)
		if err == nil && answer != nil && len(answer.Answers) > 0 {
			return answer.Answers[0], nil
		}
		if err == nil || ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
	if len(choices) == 0 {
		return "", nil // a prompt has no room for the user's own words
	}
	var titles []string
	for _, c := range choices {
		titles = append(titles, c.Label)
	}
	return e.choice(ctx, protocol.MessageTypeInfo, text, titles...)
}

// choice puts a question of the server itself to the user in a prompt, as inquire does.
func (e *editor) choice(ctx context.Context, kind protocol.MessageType, text string, titles ...string) (string, error) {
	ctx, cancel := e.patiently(ctx)
	defer cancel()
	title, err := e.client.Choose(ctx, kind, "agentls: "+text, titles...)
	if err != nil {
		e.logger.Warn("the editor shows no prompt", "question", text, "error", err)
		return "", nil
	}
	return title, nil
}

// patiently returns a context that bounds the wait for a person's answer.
func (e *editor) patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	if c := e.settings.current(); c != nil && c.AskTimeout > 0 {
		return context.WithTimeout(ctx, c.AskTimeout)
	}
	return ctx, func() {}
}

func (e *editor) showsDiagnostics() bool {
	_, announced := e.client.PublishDiagnostics()
	return announced
}

// authoredKind says what kind of file for agentls a document is.
func (e *editor) authoredKind(path string) authoring.Kind {
	return authoring.KindOf(path, e.options.Dirs.File)
}

// folders are the workspace folders, trusted or not, by absolute path.
func (e *editor) folders() []string {
	var list []string
	for _, root := range e.view.Roots() {
		list = append(list, root.Path)
	}
	return list
}

// inWorkspace reports whether a file is in one of the workspace folders.
func (e *editor) inWorkspace(path string) bool {
	return slices.ContainsFunc(e.folders(), func(folder string) bool { return within(folder, path) })
}

// home is the user's home folder, "" for none.
func (e *editor) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := e.options.Getenv(name); filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
	}
	return ""
}

// rootsOf returns the workspace folders. The older members rootUri and rootPath count only where workspaceFolders is
// absent.
func rootsOf(p *protocol.InitializeParams) []workspace.Root {
	var roots []workspace.Root
	if folders, ok := p.WorkspaceFolders.Get(); ok && len(folders) > 0 {
		for _, f := range folders {
			roots = appendRoot(roots, f.URI, f.Name)
		}
		return roots
	}
	//lint:ignore SA1019 older clients know no folders
	if p.RootURI != nil {
		//lint:ignore SA1019 older clients know no folders
		return appendRoot(nil, *p.RootURI, "")
	}
	//lint:ignore SA1019 the oldest clients know only a path
	if path, ok := p.RootPath.Get(); ok && path != "" {
		return appendRoot(nil, uri.File(path), "")
	}
	return nil
}

func appendRoot(roots []workspace.Root, u uri.URI, name string) []workspace.Root {
	path := document.Path(u)
	if path == string(u) {
		return roots // the folder is not in a file system that we can read
	}
	if name == "" {
		name = filepath.Base(path)
	}
	return append(roots, workspace.Root{Path: path, Name: name})
}

// within reports whether a file is below a folder.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
