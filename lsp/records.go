package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/surface"
	"github.com/agentls/agentls/lsp/wire"
)

const (
	// listedSessions and listedMessages are how many a page has where the client does not say.
	listedSessions, listedMessages = 100, 200
)

// records tells what is stored of sessions, and what happens in them. Its methods may be called from any goroutine.
type records struct {
	*window
	desk        *delivery.Desk
	diagnostics *surface.Diagnostics
	refresher   *surface.Refresher
	// hosts are the documents that show hunks of new files.
	hosts         func(*agentcore.Session) []string
	subscriptions subscriptions
}

// Sessions answers `agent/sessions`.
func (r *records) Sessions(ctx context.Context, p *methods.SessionsParams) (*methods.SessionList, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	filter := history.Filter{Before: p.Before, Limit: cmp.Or(p.Limit, listedSessions)}
	if p.Folder != "" {
		filter.Roots = []string{document.Path(p.Folder)}
	} else {
		filter.Roots = r.folders()
	}
	list := &methods.SessionList{}
	if len(filter.Roots) == 0 {
		return list, nil // no folder is open, and no session is on none
	}
	sessions, more, err := engine.History().Sessions(ctx, filter)
	if err != nil {
		return nil, err
	}
	list.More = more
	for _, info := range sessions {
		list.Sessions = append(list.Sessions, sessionInfo(info))
	}
	return list, nil
}

// Session answers `agent/session`.
func (r *records) Session(ctx context.Context, p *methods.SessionParams) (*methods.SessionDetail, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	stored, tree, err := engine.History().Tree(ctx, p.Session)
	if err != nil {
		return nil, err
	}
	info := sessionInfo(stored)
	return &methods.SessionDetail{
		ID: info.ID, Title: info.Title, Summary: info.Summary, Folders: info.Folders, Created: info.Created,
		Updated: info.Updated, Status: info.Status, Runs: info.Runs,
		OpenHunks: info.OpenHunks, Usage: info.Usage, Tree: runInfos(tree),
	}, nil
}

// DeleteSession answers `agent/session/delete`. The window's own session ends with it, and nothing that it showed is
// shown any more.
func (r *records) DeleteSession(ctx context.Context, p *methods.SessionParams) error {
	engine, err := r.open(ctx)
	if err != nil {
		return err
	}
	session, err := engine.Session(p.Session)
	if err != nil { // it is not open here
		return engine.Retention().Delete(ctx, p.Session)
	}
	// No edit of it is on its way to the editor meanwhile, and nobody opens the next session before this one has gone.
	release, err := r.desk.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	r.joining.Lock()
	defer r.joining.Unlock()
	var shown []string
	for _, f := range session.Board().Findings("") {
		shown = append(shown, event.FilePath(f.URI))
	}
	for _, h := range session.Board().Hunks() {
		shown = append(shown, h.Path, h.MoveTo)
	}
	shown = append(shown, r.diagnostics.Hosted(r.hosts(session))...)
	if err := engine.Retention().Delete(ctx, p.Session); err != nil {
		return err
	}
	r.session.CompareAndSwap(session, nil)
	if former := r.subscriptions.of(p.Session); former != nil {
		former.stop()
	}
	r.diagnostics.Touch(shown...)
	r.refresher.ProposalChanged(session.Board().ProposalID())
	return nil
}

// ExportSession answers `agent/session/export`.
func (r *records) ExportSession(ctx context.Context, p *methods.ExportSessionParams) (*methods.SessionExport, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	format := cmp.Or(p.Format, methods.ExportJSONL)
	switch format {
	case methods.ExportJSONL:
		err = engine.History().Export(ctx, p.Session, &text)
	case methods.ExportMarkdown:
		err = engine.History().Markdown(ctx, p.Session, &text)
	default:
		err = wire.InvalidParams(fmt.Errorf("there is no format %q; write format as jsonl or markdown", p.Format))
	}
	if err != nil {
		return nil, err
	}
	return &methods.SessionExport{Format: format, Text: text.String()}, nil
}

// ForkSession answers `agent/session/fork`.
func (r *records) ForkSession(ctx context.Context, p *methods.ForkSessionParams) (*methods.SessionForked, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	id, err := engine.History().Fork(ctx, p.Session, p.Message)
	if err != nil {
		return nil, err
	}
	return &methods.SessionForked{Session: id}, nil
}

// Transcript answers `agent/transcript`.
func (r *records) Transcript(ctx context.Context, p *methods.TranscriptParams) (*methods.Transcript, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	messages, more, err := engine.History().Transcript(ctx, p.Run, p.After, cmp.Or(p.Limit, listedMessages))
	if err != nil {
		return nil, err
	}
	result := &methods.Transcript{More: more}
	for _, m := range messages {
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
		result.Messages = append(result.Messages, shown)
	}
	return result, nil
}

// sessionInfo is a session as the protocol lists it.
func sessionInfo(i history.Session) methods.SessionInfo {
	info := methods.SessionInfo{
		ID: i.ID, Title: i.Title, Summary: i.Summary, Created: i.Created, Updated: i.Updated, Status: i.Status,
		Runs: i.Runs, OpenHunks: i.OpenHunks, Usage: i.Usage,
	}
	for _, root := range i.Roots {
		info.Folders = append(info.Folders, uri.File(root))
	}
	return info
}

// runInfos are runs as the protocol lists them.
func runInfos(runs []history.Run) []methods.RunInfo {
	tree := slices.Grow([]methods.RunInfo{}, len(runs))
	for _, r := range runs {
		info := methods.RunInfo{
			ID: r.ID, Session: r.Session, Parent: r.Parent, Agent: r.Agent, Role: r.Role, Depth: r.Depth,
			Title: r.Title, Model: r.Model,
			Status: r.Status, Reason: r.Reason, Created: r.Created, Finished: r.Finished, Turns: r.Turns,
			BudgetUsed: r.BudgetUsed, Message: r.Message,
			Usage: r.Usage, Resumes: r.Resumes, Outcome: r.Outcome, Files: r.Files, Background: r.Background,
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

// Usage answers `agent/usage`.
func (r *records) Usage(ctx context.Context, p *methods.UsageParams) (*methods.UsageReport, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	by := store.UsageKey(cmp.Or(p.By, methods.UsageGroupSession))
	if !slices.Contains(store.UsageKeys(), by) {
		return nil,
			wire.InvalidParams(
				fmt.Errorf("usage cannot be summed up by %q; write by as run, agent, model, session, project or day",
					by))
	}
	sums, err := engine.History().Usage(ctx, store.UsageFilter{By: by, Session: p.Session, Run: p.Run, Since: p.Since})
	if err != nil {
		return nil, err
	}
	report := &methods.UsageReport{Total: usageRow(sums.Total)}
	for _, row := range sums.Rows {
		report.Rows = append(report.Rows, usageRow(row))
	}
	return report, nil
}

func usageRow(r store.UsageRow) methods.UsageRow {
	return methods.UsageRow{
		Key: r.Key, Runs: r.Runs, Ended: r.Ended, Completed: r.Completed, Turns: r.Turns,
		DurationMs: r.Duration.Milliseconds(),
		Usage:      r.Usage, KnownCost: r.KnownCost,
	}
}
