package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// AskState is what became of a question for permission.
type AskState string

// The states of an ask.
const (
	AskOpen     AskState = "open"
	AskAnswered AskState = "answered"
	// AskExpired: nobody answered in time, or the run ended first.
	AskExpired AskState = "expired"
)

// Ask is a question for permission and its answer.
type Ask struct {
	ID        event.AskID
	Session   event.SessionID
	Run       event.RunID
	Call      event.CallID
	Tool      string
	Title     string
	Arguments json.RawMessage
	State     AskState
	// Decision is "allow" or "deny", empty while the ask is open. Scope is the scope of the answer.
	Decision, Scope, Reason string
	// Resolved is zero while the ask is open.
	Opened, Deadline, Resolved time.Time
}

func (a *Ask) fields() []field {
	return []field{
		{"id", &a.ID},
		{"session", &a.Session},
		{"run", &a.Run},
		{"call", optional(&a.Call)},
		{"tool", &a.Tool},
		{"title", &a.Title},
		{"arguments", jsonText{&a.Arguments}},
		{"state", &a.State},
		{"decision", &a.Decision},
		{"scope", &a.Scope},
		{"reason", &a.Reason},
		{"opened", micros{&a.Opened}},
		{"deadline", micros{&a.Deadline}},
		{"resolved", micros{&a.Resolved}},
	}
}

// Grant is a remembered answer. Which of Session, Run and Root is set follows from its scope: "run", "session" or
// "project".
type Grant struct {
	ID       event.GrantID
	Scope    string
	Session  event.SessionID
	Run      event.RunID
	Root     string // absolute
	Tool     string
	Pattern  string
	Decision string // allow, deny
	Created  time.Time
	// Expires is zero for a grant that does not expire. Revoked is zero for one that was not taken back.
	Expires, Revoked time.Time
}

func (g *Grant) fields() []field {
	return []field{
		{"id", &g.ID},
		{"scope", &g.Scope},
		{"session", optional(&g.Session)},
		{"run", optional(&g.Run)},
		{"root", optional(&g.Root)},
		{"tool", &g.Tool},
		{"pattern", &g.Pattern},
		{"decision", &g.Decision},
		{"created", creation{micros{&g.Created}}},
		{"revoked", micros{&g.Revoked}},
		{"expires", micros{&g.Expires}},
	}
}

// Trusted is one file that the user trusts in a workspace folder, as it was then. The row with an empty Path is the
// decision on the folder.
type Trusted struct {
	Root     string // absolute
	Path     string // relative to Root, with slashes
	Hash     string
	Decision string // trusted, untrusted
	Decided  time.Time
}

func (t *Trusted) fields() []field {
	return []field{
		{"root", &t.Root},
		{"path", &t.Path},
		{"hash", &t.Hash},
		{"decision", &t.Decision},
		{"decided", micros{&t.Decided}},
	}
}

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

// expireAsks denies what a run, whose process is gone, still asks, and returns what is to be told.
func (w *writer) expireAsks(run event.RunID, now time.Time) ([]event.Body, error) {
	open, err := selectRows[Ask](context.Background(), w.conn, askTable,
		"WHERE run = ? AND state = 'open' ORDER BY opened, id", run)
	if err != nil {
		return nil, fmt.Errorf("read the asks of the run %s: %w", run, err)
	}
	var bodies []event.Body
	for _, ask := range open {
		ask.State, ask.Decision, ask.Reason, ask.Resolved = AskExpired, "deny", InterruptedReason, now
		if err := w.insert(askTable, "ask", string(ask.ID), ask.fields()); err != nil {
			return nil, err
		}
		bodies = append(bodies, event.AskResolved{Ask: ask.ID, Decision: ask.Decision, Reason: ask.Reason})
	}
	return bodies, nil
}

// ProjectGrants returns what was granted for all projects, the oldest first, also what was taken back or has expired: a
// process that read it before learns so. Grants of sessions and runs are of no use to another process.
func (r *reader) ProjectGrants(ctx context.Context) ([]Grant, error) {
	return many[Grant](ctx, r, grantTable, "the grants", "WHERE scope = 'project' ORDER BY created, id")
}

// Asks returns the asks of a session, the oldest first.
func (r *runReader) Asks(ctx context.Context, session event.SessionID) ([]Ask, error) {
	return many[Ask](ctx, r.reader, askTable, "the asks of session "+string(session),
		"WHERE session = ? ORDER BY opened, id", session)
}

// Trust returns what is stored of the trust in a folder: the decision on the folder first, then its files by path.
func (r *reader) Trust(ctx context.Context, root string) ([]Trusted, error) {
	return many[Trusted](ctx, r, trustTable, "the trust in "+root, "WHERE root = ? ORDER BY path", root)
}

// TrustedRoots returns the decisions on folders, by path.
func (r *reader) TrustedRoots(ctx context.Context) ([]Trusted, error) {
	return many[Trusted](ctx, r, trustTable, "the trusted folders", "WHERE path = '' ORDER BY root")
}
