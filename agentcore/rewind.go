package agentcore

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
)

// RewindSession makes a session on a view in which runs of ended sessions can be gone back behind: it takes over what
// they and the runs below them left, the edits that wait for the user and the accepted ones that can be undone. It
// refuses with an Error of the kind in_use where another process has these, or the runs, open. It reads the disk.
func RewindSession(ctx context.Context, e *Engine, view *workspace.View, runs ...event.RunID) (*Session, error) {
	sessions, err := e.store.Waiting(ctx, runs, true)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		row, err := e.history.Run(ctx, run)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, row.Session)
	}
	for _, session := range sessions {
		if err := e.others.InUse(ctx, session, fmt.Sprintf("the session %s", session),
			"go back there, or close that editor or command, and go back here then"); err != nil {
			return nil, err
		}
	}
	return adopting(ctx, e, view, "", board.AdoptedUndos, runs...)
}

// SetRewound notes that the user went back to before the prompts of these runs, or that what they did was brought back:
// a conversation that goes on does so from the last run that stands. It waits until that is durable; the error says
// that it is not. Any goroutine may call it.
func SetRewound(ctx context.Context, e *Engine, rewound bool, runs ...event.RunID) error {
	if err := e.store.SetRewound(ctx, rewound, runs...); err != nil {
		return fault.Unstored(err)
	}
	return nil
}
