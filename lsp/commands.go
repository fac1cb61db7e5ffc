package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
	"github.com/agentls/agentls/lsp/wire"
)

// The agents behind the commands.
const (
	reviewerAgent  = "reviewer"
	explainerAgent = "explore"
	fixerAgent     = "coder"
)

// executeCommand answers `workspace/executeCommand`. A client that does not know our protocol shows no
// results, so what a person has to see is shown to it by standard messages.
func (c *connected) executeCommand(ctx context.Context, p *protocol.ExecuteCommandParams) (any, error) {
	result, handled, err := methods.DispatchCommand(ctx, c.answers(), p.Command, p.Arguments)
	var bad *methods.ParamsError
	switch {
	case !handled:
		err = wire.InvalidParams(
			fmt.Errorf("there is no command %q; the server's commands are in its executeCommandProvider", p.Command))
	case errors.As(err, &bad):
		err = wire.InvalidParams(err)
	case err != nil:
		err = failed(err)
	}
	if err != nil {
		if c.client.HidesErrors() && ctx.Err() == nil {
			c.tell(ctx, protocol.MessageTypeError, "agentls: "+err.Error())
		}
		return nil, err
	}
	if !c.client.KnowsProtocol() {
		c.pages.present(ctx, result)
		if _, ok := result.(*methods.Transcript); ok {
			c.pages.presentTranscript(p.Arguments)
		}
	}
	return result, nil
}

// presentTranscript shows the conversation of the run that a command has named.
func (g *pages) presentTranscript(arguments []protocol.LSPAny) {
	var named methods.TranscriptParams
	if len(arguments) == 0 || json.Unmarshal(arguments[0], &named) != nil {
		return // it was dispatched, so that it is there
	}
	g.goes(func(ctx context.Context) {
		if err := g.showTranscript(ctx, named.Run); err != nil && ctx.Err() == nil {
			g.tell(ctx, protocol.MessageTypeWarning, "agentls could not show the transcript: "+err.Error())
		}
	})
}

// present shows the result of a command.
func (g *pages) present(ctx context.Context, result any) {
	switch r := result.(type) {
	case *methods.RunStarted:
		g.goes(func(ctx context.Context) {
			if err := g.showAnswer(ctx, g.engine, r.Run); err != nil && ctx.Err() == nil {
				g.tell(ctx, protocol.MessageTypeWarning, "agentls could not show the answer: "+err.Error())
			}
		})
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
		g.goes(func(ctx context.Context) {
			if err := g.showDiff(ctx, r); err != nil && ctx.Err() == nil {
				g.tell(ctx, protocol.MessageTypeWarning, "agentls could not show the diff: "+err.Error())
			}
		})
	}
}

func (g *pages) presentFailures(ctx context.Context, failures []methods.HunkFailure) {
	if len(failures) > 0 {
		g.tell(ctx, protocol.MessageTypeWarning,
			fmt.Sprintf("agentls: %s not done: %s", short.Count(len(failures), "edit"),
				failures[0].Reason))
	}
}

// Review carries out `agentls.review`: the document, or the one that was touched last.
func (l *launcher) Review(ctx context.Context, p *methods.ReviewParams) (*methods.RunStarted, error) {
	if len(p.URIs) > 1 {
		return l.startRun(ctx, "", agentcore.RunRequest{
			Agent: reviewerAgent, Prompt: prompted("Review this file.", p.Prompt), Title: "review",
			Each:  document.Paths(p.URIs),
			Model: p.Model,
		})
	}
	u := p.URI
	if u == "" && len(p.URIs) == 1 {
		u = p.URIs[0]
	}
	about, title, err := l.about(ctx, u, p.Range)
	if err != nil {
		return nil, err
	}
	prompt := "Review this file."
	if p.Range != nil {
		prompt = "Review these lines of the file."
	}
	return l.startRun(ctx, "", agentcore.RunRequest{
		Agent: reviewerAgent, Prompt: prompted(prompt, p.Prompt), Title: "review " + title, Context: about,
		Model: p.Model,
	})
}

// startRun starts a run in the session, the window's own for "".
func (l *launcher) startRun(ctx context.Context, id event.SessionID,
	request agentcore.RunRequest,
) (*methods.RunStarted, error) {
	engine, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.trust.need()
	var session *agentcore.Session
	if id == "" {
		session, err = l.current(ctx)
	} else {
		session, err = engine.Session(id)
		err = engine.Elsewhere(ctx, string(id), err)
	}
	if err != nil {
		return nil, err
	}
	run, err := session.Start(ctx, request)
	if err != nil {
		name := cmp.Or(request.Agent, engine.Config().DefaultAgent)
		if _, unknown := engine.Agents().Find(name); unknown != nil {
			err = l.trust.unknownAgent(ctx, name, err)
		}
		return nil, err
	}
	return &methods.RunStarted{Session: session.ID, Run: run}, nil
}

// about is a document, or a part of it, as a run's context, and its name for people. Without a URI it is the document
// that was touched last.
func (l *launcher) about(ctx context.Context, u uri.URI, part *protocol.Range) (agentcore.Context, string, error) {
	// The run begins at once then, and its lines are those of the text that it sees.
	if _, err := l.open(ctx); err != nil {
		return agentcore.Context{}, "", err
	}
	if u == "" {
		doc := l.documents.At(ctx).Last()
		if doc == nil {
			return agentcore.Context{}, "", &fault.Error{
				Kind:   fault.NotFound,
				Detail: "no document is open that an agent could work on", Hint: "open a file, or give its uri",
			}
		}
		u = doc.URI
	}
	path := document.Path(u)
	about := agentcore.Context{Paths: []string{path}}
	title := l.view.Shown(path)
	if part == nil {
		return about, title, nil
	}
	r, err := l.documents.Follow(ctx, path, *part)
	if err != nil {
		return about, title, err
	}
	first, last := position.Touched(r)
	x, _, err := l.documents.Text(path)
	if err != nil {
		return about, title, err
	}
	about.StartLine = min(first, max(x.Len()-1, 0)) + 1
	about.EndLine = min(last, max(x.Len()-1, 0)) + 1
	return about, fmt.Sprintf("%s:%d-%d", title, about.StartLine, about.EndLine), nil
}

func prompted(task, more string) string {
	if more == "" {
		return task
	}
	return task + "\n\n" + more
}
