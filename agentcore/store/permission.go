package store

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
)

var (
	askTable   = newTable[Ask]("ask", "id")
	grantTable = newTable[Grant](`"grant"`, "id")
	trustTable = newTable[Trusted]("trust", "root, path")
)

// applyPermissions stores what users decided.
func (w *writer) applyPermissions(b *Batch) error {
	for i := range b.Asks {
		if err := w.insert(askTable, "ask", string(b.Asks[i].ID), b.Asks[i].fields()); err != nil {
			return err
		}
	}
	for i := range b.Grants {
		if err := w.insert(grantTable, "grant", string(b.Grants[i].ID), b.Grants[i].fields()); err != nil {
			return err
		}
	}
	for _, root := range b.TrustRemoved {
		if err := w.exec("DELETE FROM trust WHERE root = ?", root); err != nil {
			return fmt.Errorf("remove the trust in %s: %w", root, err)
		}
	}
	for i := range b.Trusted {
		if err := w.insert(trustTable, "trust", b.Trusted[i].Root, b.Trusted[i].fields()); err != nil {
			return err
		}
	}
	return nil
}

// ProjectGrants returns the grants for projects, the oldest first, also those that were taken back or have expired, so
// that a process that has read them before notices. Grants for sessions and runs do not concern other processes.
func (r *reader) ProjectGrants(ctx context.Context) ([]Grant, error) {
	return many[Grant](ctx, r, grantTable, "the grants", "WHERE scope = 'project' ORDER BY created, id")
}

// Asks returns the asks of a session, the oldest first.
func (r *runReader) Asks(ctx context.Context, session event.SessionID) ([]Ask, error) {
	return many[Ask](ctx, r.reader, askTable, "the asks of session "+string(session),
		"WHERE session = ? ORDER BY opened, id", session)
}

// Trust returns the stored trust in a folder: first the decision on the folder, then its files by path.
func (r *reader) Trust(ctx context.Context, root string) ([]Trusted, error) {
	return many[Trusted](ctx, r, trustTable, "the trust in "+root, "WHERE root = ? ORDER BY path", root)
}

// TrustedRoots returns the decisions on folders, by path.
func (r *reader) TrustedRoots(ctx context.Context) ([]Trusted, error) {
	return many[Trusted](ctx, r, trustTable, "the trusted folders", "WHERE path = '' ORDER BY root")
}
