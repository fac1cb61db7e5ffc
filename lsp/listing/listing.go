// Package listing converts values of the engine into the form in which the custom protocol lists them.
package listing

import (
	"slices"
	"strings"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/methods"
)

// Session is a session.
func Session(i history.Session) methods.SessionInfo {
	info := methods.SessionInfo{
		ID: i.ID, Title: i.Title, Summary: i.Summary, Created: i.Created, Updated: i.Updated, Status: i.Status,
		Runs: i.Runs, OpenHunks: i.OpenHunks, Usage: i.Usage,
	}
	for _, root := range i.Roots {
		info.Folders = append(info.Folders, uri.File(root))
	}
	return info
}

// Runs are runs, in their order; the list is never nil.
func Runs(runs []history.Run) []methods.RunInfo {
	tree := slices.Grow([]methods.RunInfo{}, len(runs))
	for _, r := range runs {
		info := methods.RunInfo{
			ID: r.ID, Session: r.Session, Parent: r.Parent, Agent: r.Agent, Role: r.Role, Depth: r.Depth,
			Title: r.Title, Model: r.Model, Status: r.Status, Reason: r.Reason, Created: r.Created,
			Finished: r.Finished, Turns: r.Turns, BudgetUsed: r.BudgetUsed, Message: r.Message, Usage: r.Usage,
			Resumes: r.Resumes, Outcome: r.Outcome, Files: r.Files, Background: r.Background,
		}
		if r.Output != "" {
			info.OutputURI = uri.URI(event.FileURI(r.Output))
		}
		if r.Path != "" {
			info.URI = uri.URI(event.FileURI(r.Path))
		}
		tree = append(tree, info)
	}
	return tree
}

// Usage is what runs have used, for one key or in total.
func Usage(r store.UsageRow) methods.UsageRow {
	return methods.UsageRow{
		Key: r.Key, Runs: r.Runs, Ended: r.Ended, Completed: r.Completed, Turns: r.Turns,
		DurationMs: r.Duration.Milliseconds(), Usage: r.Usage, KnownCost: r.KnownCost,
	}
}

// Grant is an answer that holds for more than one call.
func Grant(g permission.Grant) methods.Grant {
	return methods.Grant{
		ID: methods.GrantID(g.ID), Tool: g.Tool, Pattern: g.Pattern, Decision: methods.Decision(g.Decision),
		Scope: methods.Scope(g.Scope), Session: g.Session, Run: g.Run, Created: g.Created, Expires: g.Expires,
	}
}

// Explanation is the rule that decides on a call, with the reason.
func Explanation(e permission.Explanation) *methods.Explanation {
	result := &methods.Explanation{Action: methods.RuleAction(e.Action), Reason: e.Reason}
	if e.Rule != nil {
		result.Rule = &methods.PermissionRule{
			Tool: e.Rule.Tool, Pattern: e.Rule.Pattern, Action: methods.RuleAction(e.Rule.Action), Layer: e.Layer,
		}
	}
	var always []string
	for _, rule := range e.Always {
		always = append(always, rule.Calls())
	}
	result.Always = strings.Join(always, ", ")
	return result
}

// Instructions are the files that instruct an agent, followed by those that do not.
func Instructions(set instruction.Set) []methods.InstructionFile {
	list := []methods.InstructionFile{}
	file := func(name, by string) methods.InstructionFile {
		f := methods.InstructionFile{URI: uri.File(name)}
		if by != "" {
			f.ImportedBy = uri.File(by)
		}
		return f
	}
	for _, t := range set.Texts {
		f := file(t.Path, t.By)
		f.Size, f.Cut, f.Unseen = t.Size, t.Cut(), t.Unseen
		list = append(list, f)
	}
	for _, o := range set.Omitted {
		f := file(o.Path, o.By)
		f.Omitted = o.Why
		list = append(list, f)
	}
	return list
}

// MCPServer is an MCP server with its state, and with what it offers once that is known.
func MCPServer(status servers.Status) methods.MCPServer {
	server := methods.MCPServer{Name: status.Name, Layer: methods.LayerUser, Address: status.Address}
	if status.Layer == config.LayerProject {
		server.Layer = methods.LayerProject
	}
	switch {
	case status.Untrusted:
		server.State = methods.MCPStateUntrusted
	case status.State == mcp.Starting:
		server.State = methods.MCPStateStarting
	case status.State == mcp.Ready:
		server.State = methods.MCPStateReady
	case status.State == mcp.Failed:
		server.State = methods.MCPStateFailed
		server.Error = &event.Failure{
			Kind: "not_connected", Detail: status.Problem, Hint: "mend it; the next run tries again",
		}
	default:
		server.State = methods.MCPStateStopped
	}
	if status.Catalog == nil {
		return server
	}
	for _, tool := range status.Catalog.Tools {
		server.Tools = append(server.Tools, tool.Name)
	}
	for _, p := range status.Catalog.Prompts {
		prompt := methods.MCPPrompt{Name: p.Name, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments,
				methods.MCPArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		server.Prompts = append(server.Prompts, prompt)
	}
	return server
}

// Messages are the messages of a run, in their order.
func Messages(stored []history.Message) []methods.TranscriptMessage {
	var list []methods.TranscriptMessage
	for _, m := range stored {
		shown := methods.TranscriptMessage{
			ID: m.ID, Parent: m.Parent, Run: m.Run, Role: string(m.Role), Time: m.Time, Text: m.Text,
			Reasoning: m.Reasoning, Compacted: m.Summary, Model: m.Model,
		}
		if m.Model != "" {
			shown.Usage = &m.Usage
		}
		for _, c := range m.Calls {
			shown.Calls = append(shown.Calls, methods.TranscriptCall{
				Call: c.ID, Tool: c.Tool, Arguments: c.Arguments, Status: c.Status, ExitCode: c.ExitCode,
				Output: c.Output, DurationMs: c.Duration.Milliseconds(), Child: c.Child,
			})
		}
		list = append(list, shown)
	}
	return list
}

// Models are all models, with the one that a run would get, and why.
func Models(models []provider.Info, resolved provider.Resolved) *methods.ModelList {
	list := &methods.ModelList{Default: resolved.Name, Reason: resolved.Because}
	for _, m := range models {
		list.Models = append(list.Models, methods.ModelInfo{
			Name: m.Name, Title: m.Title, ContextTokens: m.ContextTokens, Available: m.Available, Reason: m.Reason,
		})
	}
	for _, c := range resolved.Order {
		list.Order = append(list.Order,
			methods.ModelCandidate{Source: c.Source, Name: c.Name, Reason: c.Reason, Chosen: c.Chosen})
	}
	return list
}
