package acp

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
)

// maxPage is how many sessions a page of session/list looks at.
const maxPage = 50

// listSessions answers session/list. A session that another one goes on with is listed as that one, under its own id.
func (a *Agent) listSessions(ctx context.Context, p *listParams) (any, error) {
	project, err := a.open(ctx, cmp.Or(p.Folder, a.Dir), nil)
	if err != nil {
		return nil, err
	}
	filter := history.Filter{Before: event.SessionID(p.Cursor), Limit: maxPage}
	if p.Folder != "" {
		filter.Roots = project.View.Folders()
	}
	reader := project.Engine.History()
	sessions, more, err := reader.Sessions(ctx, filter)
	if err != nil {
		return nil, err
	}
	result := listResult{Sessions: []sessionInfo{}}
	for _, info := range sessions {
		first, err := firstOf(ctx, reader, info.ID)
		if err != nil {
			return nil, err
		}
		if len(info.Roots) == 0 || slices.ContainsFunc(result.Sessions,
			func(s sessionInfo) bool { return s.Session == string(first) }) {
			continue
		}
		result.Sessions = append(result.Sessions, sessionInfo{
			Session: string(first), Folder: info.Roots[0], Title: info.Title,
			Updated: info.Updated.Format(time.RFC3339),
		})
	}
	if more {
		result.Next = string(sessions[len(sessions)-1].ID)
	}
	return result, nil
}

// firstOf is the session in which a conversation began.
func firstOf(ctx context.Context, reader *history.Reader, id event.SessionID) (event.SessionID, error) {
	for seen := map[event.SessionID]bool{}; !seen[id]; {
		seen[id] = true
		roots, err := rootsOf(ctx, reader, id)
		if err != nil || len(roots) == 0 {
			return id, err
		}
		_, before, err := reader.Line(ctx, roots[0].ID)
		if err != nil || before == "" {
			return id, err
		}
		former, err := reader.Run(ctx, before)
		if fault.Is(err, fault.NotFound) { // it was deleted
			return id, nil
		} else if err != nil {
			return id, err
		}
		id = former.Session
	}
	return id, nil
}

// rootsOf are the runs of a session that the user started, oldest first.
func rootsOf(ctx context.Context, reader *history.Reader, id event.SessionID) ([]history.Run, error) {
	_, runs, err := reader.Tree(ctx, id)
	return slices.DeleteFunc(runs, func(r history.Run) bool { return r.Parent != "" }), err
}

// loadSession answers session/load: the conversation is told again, then the answer follows.
func (a *Agent) loadSession(ctx context.Context, p *sessionParams) (any, error) {
	s, err := a.reopen(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.replay(ctx); err != nil {
		return nil, err
	}
	return s.describe(ctx)
}

// resumeSession answers session/resume, which is session/load for a client that knows what was said.
func (a *Agent) resumeSession(ctx context.Context, p *sessionParams) (any, error) {
	s, err := a.reopen(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.describe(ctx)
}

// reopen opens a session that is stored. One that this process has open, or had, stays as it is: its engine holds what
// it proposes.
func (a *Agent) reopen(ctx context.Context, p *sessionParams) (*session, error) {
	switch {
	case p.Session == "":
		return nil, missing("sessionId")
	case len(p.More) > 0:
		return nil, errMoreFolders
	}
	path, err := folderOf(p.Folder)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	s := cmp.Or(a.sessions[p.Session], a.closed[p.Session])
	a.mu.Unlock()
	switch {
	case s == nil:
		project, err := a.open(ctx, path, p.Servers)
		if err != nil {
			return nil, err
		}
		if s, err = a.restore(ctx, project, p.Session); err != nil {
			return nil, err
		}
	case !slices.Contains(s.project.View.Folders(), path):
		return nil, elsewhere(p.Session, s.project.View.Folders())
	case s.busy():
		return nil, invalidRequest("the session %s works on a prompt; wait for its end, or cancel it", p.Session)
	}
	a.add(s)
	a.behind = append(a.behind, func() { s.tellCommands(ctx) })
	return s, nil
}

// elsewhere refuses to load a session on a folder that is not its own.
func elsewhere(id string, roots []string) error {
	return invalidParams("params.cwd: the session %s is on %s; load it there", id, strings.Join(roots, ", "))
}

func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil
}

// restore makes a session that goes on with the last run of a stored one.
func (a *Agent) restore(ctx context.Context, project *folder, id string) (*session, error) {
	reader := project.Engine.History()
	roots, err := rootsOf(ctx, reader, event.SessionID(id))
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, unknownSession(id)
	case err != nil:
		return nil, err
	case len(roots) == 0:
		return nil, &jsonrpc2.Error{
			Code: codeNotFound, Message: "nothing was said in the session " + id + "; begin a new one",
		}
	}
	info, err := reader.Session(ctx, event.SessionID(id))
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(info.Roots,
		func(r string) bool { return slices.Contains(project.View.Folders(), r) }) {
		return nil, elsewhere(id, info.Roots)
	}
	line, _, err := reader.Line(ctx, roots[len(roots)-1].ID)
	if err != nil {
		return nil, err
	}
	last := line[len(line)-1]
	row, err := reader.Run(ctx, last.ID)
	if err != nil {
		return nil, err
	}
	opened, err := project.Session(ctx, last.ID)
	if err != nil {
		return nil, err
	}
	mode := cmp.Or(authority.ReadPowers(row.Permissions).Mode, permission.Default)
	return &session{
		agent: a, id: id, project: project, engine: opened, last: last.ID, heard: map[string]bool{},
		chosen: choice{agent: last.Agent, mode: string(mode)},
	}, nil
}

// closeSession answers session/close: it ends what is under way. What was said and proposed stays.
func (a *Agent) closeSession(_ context.Context, p *onSession) (any, error) {
	s, err := a.find(p.Session)
	if err != nil {
		return nil, err
	}
	s.cancel()
	a.mu.Lock()
	delete(a.sessions, s.id)
	a.closed[s.id] = s
	a.mu.Unlock()
	return struct{}{}, nil
}

// replay tells the conversation again.
func (s *session) replay(ctx context.Context) error {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == "" {
		return nil
	}
	reader := s.project.Engine.History()
	messages, _, err := reader.Transcript(ctx, last, "", 0)
	if err != nil {
		return err
	}
	heard := map[event.RunID]bool{}
	for _, m := range messages {
		switch m.Role {
		case model.RoleUser:
			text := m.Text
			if !heard[m.Run] { // what the engine put around the user's words is no part of them
				if run, err := reader.Run(ctx, m.Run); err == nil && run.Request != "" {
					text = run.Request
				}
			}
			heard[m.Run] = true
			if !m.Summary {
				s.update(chunk{"user_message_chunk", textOf(text), string(m.ID)})
			}
		case model.RoleAssistant:
			s.replayAnswer(m)
		}
	}
	return nil
}

// replayAnswer tells one answer again, with its calls.
func (s *session) replayAnswer(m history.Message) {
	if m.Reasoning != "" {
		s.update(chunk{"agent_thought_chunk", textOf(m.Reasoning), string(m.ID)})
	}
	if m.Text != "" {
		s.update(chunk{"agent_message_chunk", textOf(m.Text), string(m.ID)})
	}
	for _, made := range m.Calls {
		if made.Tool == "todo" {
			continue
		}
		row := store.ToolCall{Tool: made.Tool, Arguments: []byte(made.Arguments)}
		c := toolCall{
			Update: "tool_call", ID: string(made.ID), Title: titleOf(row), Name: made.Tool, Kind: kindOf(made.Tool),
			Status: statusCompleted, Locations: s.locations(row), Content: shownOutput(made.Tool, made.Output),
		}
		if made.Status != event.CallOK {
			c.Status = statusFailed
		}
		s.update(c)
	}
}

// titleOf is a stored call in one line.
func titleOf(row store.ToolCall) string {
	if t := builtin()[row.Tool]; t != nil {
		return cmp.Or(t.Title(row.Arguments), row.Tool)
	}
	return row.Tool
}
