// Package delivery brings what agents propose to the user and to the editor: proposals become actions to choose from,
// diffs and WorkspaceEdits, and what the editor made of these becomes the states of hunks.
package delivery

import (
	"context"
	"log/slog"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// Means are what a Desk works with. All of it is set, and may be used by any goroutine.
type Means struct {
	Client    *client.Client
	Documents *document.Documents
	View      *workspace.View
	Form      remark.Form
	Logger    *slog.Logger
	// AnswerTime bounds the wait for what the editor owes.
	AnswerTime time.Duration
	// Crash is called at the points that tests end the process at; nil is for everybody else.
	Crash crash.Hook

	// Open returns the engine, and waits for it.
	Open func(context.Context) (*agentcore.Engine, error)
	// Kept returns the window's session with what former ones left, nil for none, and waits until that is known.
	Kept func(context.Context) (*agentcore.Session, error)
	// Inquire puts a question to the user, with choices; the answer is empty where there is none.
	Inquire func(ctx context.Context, session *agentcore.Session, text string, choices []methods.Choice) (string, error)
	// Present shows the result of a request to the user.
	Present func(ctx context.Context, result any)
	// Moved says that a file has got a name which the editor may show old diagnostics under. It never waits.
	Moved func(path string)
	// RunInfos are runs on the wire.
	RunInfos func([]history.Run) []methods.RunInfo
}

// Desk is where proposed edits are decided on. Its methods may be called from any goroutine, but the reading one of the
// connection.
type Desk struct {
	Means
	planner
	accepting chan struct{} // a token for the one edit that is on its way to the editor
}

// NewDesk makes a desk.
func NewDesk(m Means) *Desk {
	return &Desk{
		Means: m, planner: planner{client: m.Client, documents: m.Documents, view: m.View},
		accepting: make(chan struct{}, 1),
	}
}

// Hold waits until no edit is on its way to the editor, and keeps it so until release is called.
func (d *Desk) Hold(ctx context.Context) (release func(), err error) {
	select {
	case d.accepting <- struct{}{}:
		return func() { <-d.accepting }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
