package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/comment"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/short"
)

// Requests that are written as comments in a document. They are text of a repository, so that nothing happens unless
// the user chooses it.

// requestsIn are the requests in a document as the editor shows it, or on the disk.
func (l *launcher) requestsIn(path string) ([]comment.Request, *workspace.Index) {
	x, _, err := l.documents.Text(path)
	if err != nil {
		return nil, nil
	}
	language := ""
	if doc := l.documents.Get(path); doc != nil {
		language = doc.Language
	}
	return comment.Requests(language, path, x.Text()), x
}

// requestActions run the requests that the range touches.
func (l *launcher) requestActions(path string, r protocol.Range) []menu.Action {
	requests, _ := l.requestsIn(path)
	first, last := position.Touched(r)
	var list []menu.Action
	for _, q := range requests {
		if !position.Overlap(q.StartLine, q.EndLine, first, last) {
			continue
		}
		a := menu.Action{
			Title: "agentls: Run this request", Kind: menu.KindRequest, Command: methods.CommandRunComment,
			Argument: methods.RequestParams{URI: l.documents.URI(path), Line: q.StartLine},
		}
		who, written, err := l.requested(q)
		switch {
		case err != nil && l.client.ShowsDisabled():
			a.Disabled = err.Error()
		case written != "":
			a.Title += fmt.Sprintf(" by %s (there is no agent %q)", who, written)
		case who != "":
			a.Title += " by " + who
		}
		a.Title += ": " + short.Line(permission.Visible(q.Text))
		list = append(list, a)
	}
	return list
}

// requested is the agent that a request names, "" for the default agent. If no agent has that name but one has a
// similar name, slug is the name of that agent, and written the name in the request.
func (l *launcher) requested(q comment.Request) (slug, written string, err error) {
	if q.Agent == "" {
		return "", "", nil
	}
	if !l.ready() {
		return q.Agent, "", nil // the name is looked up when the request is run
	}
	agents := l.engine.Agents()
	if d, err := agents.Find(q.Agent); err == nil && !d.Is(agent.Hidden) {
		return d.Slug, "", nil
	}
	var known []string
	for _, d := range agents.List("") {
		known = append(append(known, d.Slug), d.Aliases...)
	}
	if near := spelling.Nearest(q.Agent, known); near != "" {
		if d, err := agents.Find(near); err == nil {
			return d.Slug, q.Agent, nil
		}
	}
	_, err = agents.Find(q.Agent)
	if err == nil {
		err = fmt.Errorf("the agent %q is for agentls itself", q.Agent)
	}
	return "", "", err
}

// RunComment carries out `agentls.request`.
func (l *launcher) RunComment(ctx context.Context, p *methods.RequestParams) (*methods.RunStarted, error) {
	if _, err := l.open(ctx); err != nil {
		return nil, err
	}
	path := document.Path(p.URI)
	at := protocol.Position{Line: uint32(max(p.Line, 0))}
	r, err := l.documents.Follow(ctx, path, protocol.Range{Start: at, End: at})
	if err != nil {
		return nil, err
	}
	line := int(r.Start.Line)
	requests, x := l.requestsIn(path)
	for _, q := range requests {
		if line < q.StartLine || line > q.EndLine {
			continue
		}
		l.trust.need() // where the name is that of a folder's own agent
		slug, _, err := l.requested(q)
		if err != nil {
			return nil, &fault.Error{Kind: fault.NotFound, Detail: err.Error(), Hint: "mend the name behind agent@"}
		}
		// Characters that an editor does not show are removed, since the user has not read them.
		prompt := permission.Seen(q.Text)
		return l.startRun(ctx, "", agentcore.RunRequest{
			Agent: slug, Prompt: prompt, Context: agentcore.Context{Paths: []string{path}},
			Comment: &agentcore.Comment{
				Path: path, Text: x.Text()[q.Start:q.End], StartLine: q.StartLine + 1, EndLine: q.EndLine + 1,
			},
		})
	}
	return nil, &fault.Error{
		Kind: fault.NotFound, Detail: fmt.Sprintf("no comment at line %d of %s asks for something", p.Line+1,
			l.view.Shown(path)),
		Hint: "write one that begins with “agent: ” or “agent@NAME: ”",
	}
}
