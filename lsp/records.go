package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/surface"
	"github.com/agentls/agentls/lsp/wire"
)

const (
	// listedSessions and listedMessages are how many sessions or messages a page has where the client does not say.
	listedSessions, listedMessages = 100, 200
)

// records reads what is stored of sessions. Its methods may be called from any goroutine.
type records struct {
	*window
	desk        *delivery.Desk
	diagnostics *surface.Diagnostics
	refresher   *surface.Refresher
	// hosts are the documents that show hunks of new files.
	hosts         func(*agentcore.Session) []string
	subscriptions *subscriptions
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
		return list, nil // no folder is open, and every session belongs to folders
	}
	sessions, more, err := engine.History().Sessions(ctx, filter)
	if err != nil {
		return nil, err
	}
	list.More = more
	for _, info := range sessions {
		list.Sessions = append(list.Sessions, listing.Session(info))
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
	info := listing.Session(stored)
	return &methods.SessionDetail{
		ID: info.ID, Title: info.Title, Summary: info.Summary, Folders: info.Folders, Created: info.Created,
		Updated: info.Updated, Status: info.Status, Runs: info.Runs,
		OpenHunks: info.OpenHunks, Usage: info.Usage, Tree: listing.Runs(tree),
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
	if err != nil { // the session is not open in this process
		return engine.Retention().Delete(ctx, p.Session)
	}
	// Meanwhile no edit of the session goes to the editor, and the next session is opened only once this one is
	// deleted.
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
	return &methods.Transcript{More: more, Messages: listing.Messages(messages)}, nil
}

// Usage answers `agent/usage`.
func (r *records) Usage(ctx context.Context, p *methods.UsageParams) (*methods.UsageReport, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	by := store.UsageKey(cmp.Or(p.By, methods.UsageGroupSession))
	if !slices.Contains(store.UsageKeys(), by) {
		return nil, wire.InvalidParams(fmt.Errorf(
			"usage cannot be summed up by %q; write by as run, agent, model, session, project or day", by))
	}
	sums, err := engine.History().Usage(ctx, store.UsageFilter{By: by, Session: p.Session, Run: p.Run, Since: p.Since})
	if err != nil {
		return nil, err
	}
	report := &methods.UsageReport{Total: listing.Usage(sums.Total)}
	for _, row := range sums.Rows {
		report.Rows = append(report.Rows, listing.Usage(row))
	}
	return report, nil
}
