package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/short"
	"github.com/agentls/agentls/lsp/surface"
	"github.com/agentls/agentls/lsp/wire"
)

// transcriptsFolder is where the virtual documents with conversations are.
const transcriptsFolder = "transcripts/"

// pages are the texts that the server itself shows, and the ways to show them. Its methods may be called from any
// goroutine.
type pages struct {
	*window
	desk      *delivery.Desk
	board     *surface.Board
	refresher *surface.Refresher
}

// showTranscript shows the conversation of a run.
func (g *pages) showTranscript(ctx context.Context, run event.RunID) error {
	var text strings.Builder
	if err := g.engine.History().TranscriptMarkdown(ctx, run, &text); err != nil {
		return err
	}
	return g.showText(ctx, transcriptsFolder+string(run)+".md", text.String(), true)
}

// transcript is where the client can open the conversation of a run: a virtual document, or a file that is written for
// it.
func (g *pages) transcript(ctx context.Context, run event.RunID) (uri.URI, error) {
	name := transcriptsFolder + string(run) + ".md"
	var text strings.Builder
	if err := g.engine.History().TranscriptMarkdown(ctx, run, &text); err != nil {
		return "", err
	}
	if g.client.TakesContent() {
		return document.Virtual(name), nil
	}
	return g.written(name, text.String())
}

// transcriptChanged says that a run's conversation has grown, if it is shown.
func (g *pages) transcriptChanged(run event.RunID) {
	g.refresher.TextChanged(document.Virtual(transcriptsFolder + string(run) + ".md"))
}

// textDocumentContent answers `workspace/textDocumentContent` (LSP 3.18).
func (g *pages) textDocumentContent(ctx context.Context,
	p *protocol.TextDocumentContentParams,
) (*protocol.TextDocumentContentResult, error) {
	text, err := g.virtualText(ctx, string(p.URI))
	if err != nil {
		return nil, failed(err)
	}
	return &protocol.TextDocumentContentResult{Text: text}, nil
}

func (g *pages) virtualText(ctx context.Context, u string) (string, error) {
	engine, err := g.open(ctx)
	if err != nil {
		return "", err
	}
	// Editors escape more characters than they have to.
	name, err := url.PathUnescape(strings.TrimPrefix(u, document.Scheme+":"))
	if err != nil {
		return "", wire.InvalidParams(fmt.Errorf("read the name of the document %s: %w", u, err))
	}
	name = strings.TrimPrefix(name, "/")
	if run, ok := document.CutBoth(name, "answers/", ".md"); ok {
		row, err := engine.History().Run(ctx, event.RunID(run))
		if err != nil {
			return "", err
		}
		return row.Response, nil
	}
	if run, ok := document.CutBoth(name, transcriptsFolder, ".md"); ok {
		var text strings.Builder
		g.refresher.Watch(uri.URI(u), "") // watched before it is read, so that no message is missed
		err := engine.History().TranscriptMarkdown(ctx, event.RunID(run), &text)
		return text.String(), err
	}
	if plan, ok := strings.CutPrefix(name, plansFolder); ok {
		g.refresher.Watch(uri.URI(u), "")
		return g.planText(plan)
	}
	session, err := g.kept(ctx)
	if err != nil {
		return "", err
	}
	if p, ok := g.desk.DiffParams(session, name); ok {
		diff, err := g.desk.DiffProposal(ctx, p)
		if err != nil {
			return "", err
		}
		g.refresher.Watch(uri.URI(u), p.Proposal)
		return delivery.DiffText(diff), nil
	}
	return "", wire.InvalidParams(fmt.Errorf("there is no document %s", u))
}

// showDiff shows a diff to the user.
func (g *pages) showDiff(ctx context.Context, d *methods.ProposalDiff) error {
	name, err := url.PathUnescape(strings.TrimPrefix(string(d.URI), document.Scheme+":/"))
	if err != nil {
		return fmt.Errorf("read the name of the document %s: %w", d.URI, err)
	}
	return g.showText(ctx, cmp.Or(name, delivery.ChosenDiff), delivery.DiffText(d), d.URI != "")
}

// showText shows a text of the server in the richest way that the client has: as a virtual document, as a file in the
// state folder, or as a message. name is the path of the virtual document, such as "answers/x.md", and of the file.
// virtual is false where there is no virtual document with that name.
func (g *pages) showText(ctx context.Context, name, text string, virtual bool) error {
	if virtual && g.client.ShowsDocuments() && g.client.TakesContent() {
		if shown, err := g.client.Open(ctx, document.Virtual(name)); err != nil || shown {
			return err
		}
	}
	if g.client.ShowsDocuments() {
		u, err := g.written(name, text)
		if err != nil {
			return err
		}
		if shown, err := g.client.Open(ctx, u); err != nil || shown {
			return err
		}
	}
	if runes := []rune(text); len(runes) > messageLength {
		if err := g.client.Log(ctx, protocol.MessageTypeInfo, text); err != nil {
			return err
		}
		text = string(runes[:messageLength]) + "…\n(the whole text is in the log of the language server)"
	}
	return g.client.Show(ctx, protocol.MessageTypeInfo, text)
}

// messageLength is how long a text in a message box may be, in characters.
const messageLength = 2000

// written is the file with a text of the server, by the path of its virtual document.
func (g *pages) written(name, text string) (uri.URI, error) {
	path := filepath.Join(g.options.Dirs.State, "documents", filepath.FromSlash(name))
	return uri.File(path), keep(path, text)
}

// keep writes a text into the state folder, where only the user can read it and nobody can write it, so that an editor
// opens it as read-only.
func keep(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder for shown documents: %w", err)
	}
	if err := replace(path, text); err != nil {
		return fmt.Errorf("write a document to show: %w", err)
	}
	return nil
}

// replace puts a file of mode 0400 in the place of another, whole.
func replace(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*") // two calls may do so at the same time
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	err = errors.Join(err, file.Chmod(0o400), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// showAnswer waits for the end of a run, and shows its answer. The answer of a review is not shown: its findings and
// edits are shown at their places, and the end of the run says if there are none.
func (g *pages) showAnswer(ctx context.Context, engine *agentcore.Engine, id event.RunID) error {
	result, err := engine.Wait(ctx, id)
	if err != nil || result.Status != event.StatusCompleted || strings.TrimSpace(result.Output) == "" {
		return err // the event reports a failure
	}
	if info, err := engine.RunInfo(id); err == nil && info.Agent == reviewerAgent {
		return nil
	}
	// Neovim asks again only for documents in its windows. So it is told first what vanishes from a document that the
	// answer may hide.
	g.board.Settle(ctx)
	return g.showText(ctx, "answers/"+string(id)+".md", result.Output, true)
}

// presentTranscript shows the conversation of the run that a command names.
func (g *pages) presentTranscript(arguments []protocol.LSPAny) {
	var named methods.TranscriptParams
	if len(arguments) == 0 || json.Unmarshal(arguments[0], &named) != nil {
		return // the command was dispatched, so that its argument is valid
	}
	g.shows("the transcript", func(ctx context.Context) error { return g.showTranscript(ctx, named.Run) })
}

// present shows the result of a command.
func (g *pages) present(ctx context.Context, result any) {
	switch r := result.(type) {
	case *methods.RunStarted:
		g.shows("the answer", func(ctx context.Context) error { return g.showAnswer(ctx, g.engine, r.Run) })
	case *methods.AcceptResult:
		g.presentFailures(ctx, r.Failed)
	case *methods.RejectResult:
		g.presentFailures(ctx, r.Failed)
	case *methods.TrustResult:
		text := document.Path(r.Folder) + " is not trusted"
		if r.Trusted {
			text = document.Path(r.Folder) + " is trusted"
		}
		for _, item := range r.Items {
			text += "; " + item.Kind + " " + item.Description
		}
		g.tell(ctx, protocol.MessageTypeInfo, "agentls: "+text)
	case *methods.ProposalDiff:
		g.shows("the diff", func(ctx context.Context) error { return g.showDiff(ctx, r) })
	}
}

// shows runs show on a goroutine of its own, and reports its failure.
func (g *pages) shows(what string, show func(context.Context) error) {
	g.goes(func(ctx context.Context) {
		if err := show(ctx); err != nil && ctx.Err() == nil {
			g.tell(ctx, protocol.MessageTypeWarning, "agentls could not show "+what+": "+err.Error())
		}
	})
}

func (g *pages) presentFailures(ctx context.Context, failures []methods.HunkFailure) {
	if len(failures) > 0 {
		g.tell(ctx, protocol.MessageTypeWarning,
			fmt.Sprintf("agentls: %s not done: %s", short.Count(len(failures), "edit"), failures[0].Reason))
	}
}

// plansFolder is where the virtual documents of plans are.
const plansFolder = "plans/"

// showPlan opens a plan that the user is asked about; where the editor opens nothing, a message says where it is.
func (g *pages) showPlan(ctx context.Context, path string) error {
	name := filepath.Base(path)
	if g.client.ShowsDocuments() {
		u := uri.File(path)
		if g.client.TakesContent() {
			u = document.Virtual(plansFolder + name)
			g.refresher.TextChanged(u) // the plan may have been shown with another text before
		}
		if shown, err := g.client.Open(ctx, u); err != nil || shown {
			return err
		}
	}
	return g.client.Show(ctx, protocol.MessageTypeInfo, "agentls: the plan is in "+path)
}

// openPlan opens the plan that was a run's last word.
func (g *pages) openPlan(run event.RunID) {
	path := g.engine.SaidPlan(run)
	if path == "" {
		return
	}
	g.goes(func(ctx context.Context) {
		if err := g.showPlan(ctx, path); err != nil {
			g.logger.Warn("the editor does not show the plan", "plan", path, "error", err)
		}
	})
}

// planText is the text of a plan by the name of its file.
func (g *pages) planText(name string) (string, error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("there is no plan %q", name)
	}
	text, err := os.ReadFile(filepath.Join(run.Plans(g.options.Dirs.State), name))
	if err != nil {
		return "", fmt.Errorf("read the plan: %w", err)
	}
	return string(text), nil
}
