package authority

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
)

// grants are the permissions that users granted and have not taken back: for projects by any process, and for this
// process's sessions and runs. It has its own lock.
type grants struct {
	mu   sync.Mutex
	list []permission.Grant // the oldest first
	// ended are the grants that were taken back or seen to have expired. They never hold again, whatever the clock or
	// the store says later.
	ended map[event.GrantID]bool
}

func (g *grants) add(more []permission.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(slices.Clip(g.list), more...)
}

// holding returns the grants that hold at a time, the oldest first. The list must not be changed.
func (g *grants) holding(now time.Time) []permission.Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	active := func(one permission.Grant) bool { return one.Active(now) }
	if slices.IndexFunc(g.list, func(one permission.Grant) bool { return !active(one) }) >= 0 {
		g.keep(active)
	}
	return g.list
}

// keep ends all grants except some. The lock is held.
func (g *grants) keep(some func(permission.Grant) bool) {
	var list []permission.Grant // a new list, since others may read the former one
	for _, one := range g.list {
		if some(one) {
			list = append(list, one)
			continue
		}
		if g.ended == nil {
			g.ended = map[event.GrantID]bool{}
		}
		g.ended[one.ID] = true
	}
	g.list = list
}

func (g *grants) remove(id event.GrantID) (permission.Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.list, func(one permission.Grant) bool { return one.ID == id })
	if i < 0 {
		return permission.Grant{}, false
	}
	found := g.list[i]
	g.keep(func(one permission.Grant) bool { return one.ID != id })
	return found, true
}

// meet takes in the stored grants for projects: what other processes granted, and what they took back. A grant of this
// process may not be stored yet.
func (g *grants) meet(stored []store.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[event.GrantID]bool{}
	for _, one := range g.list {
		known[one.ID] = true
	}
	revoked := map[event.GrantID]bool{}
	list := slices.Clip(g.list)
	for _, row := range stored {
		switch {
		case !row.Revoked.IsZero():
			revoked[row.ID] = known[row.ID]
		case !known[row.ID] && !g.ended[row.ID]:
			list = append(list, grantOf(row))
		}
	}
	if len(list) > len(g.list) {
		slices.SortStableFunc(list, func(a, b permission.Grant) int { return a.Created.Compare(b.Created) })
		g.list = list
	}
	if len(revoked) > 0 {
		g.keep(func(one permission.Grant) bool { return !revoked[one.ID] })
	}
}

func grantRow(g permission.Grant) store.Grant {
	return store.Grant{
		ID: g.ID, Scope: string(g.Scope), Session: g.Session, Run: g.Run, Root: g.Root,
		Tool: g.Tool, Pattern: g.Pattern, Decision: string(g.Decision), Created: g.Created, Expires: g.Expires,
		Revoked: g.Revoked,
	}
}

func grantOf(row store.Grant) permission.Grant {
	return permission.Grant{
		ID: row.ID, Scope: permission.Scope(row.Scope), Session: row.Session, Run: row.Run, Root: row.Root,
		Tool: row.Tool, Pattern: row.Pattern, Decision: permission.Action(row.Decision), Created: row.Created,
		Expires: row.Expires, Revoked: row.Revoked,
	}
}

// Hold are the grants that hold, the oldest first. The list must not be changed.
func (d *Decisions) Hold() []permission.Grant { return d.grants.holding(time.Now()) }

// Add adds permissions that were just granted. It returns their rows, which the caller must store.
func (d *Decisions) Add(granted []permission.Grant) []store.Grant {
	d.grants.add(granted)
	rows := make([]store.Grant, len(granted))
	for i, g := range granted {
		rows[i] = grantRow(g)
	}
	return rows
}

// Grants returns the granted permissions that hold, the latest first: all where the session is empty, or those that
// bind a session on some folders.
func (d *Decisions) Grants(session event.SessionID, folders []string) []permission.Grant {
	var list []permission.Grant
	for _, g := range slices.Backward(d.Hold()) {
		if session == "" || g.Session == session ||
			g.Scope == permission.Project && slices.Contains(folders, g.Root) {
			list = append(list, g)
		}
	}
	return list
}

// Revoke takes a granted permission back. It returns when that is durable.
func (d *Decisions) Revoke(ctx context.Context, id event.GrantID) error {
	g, ok := d.grants.remove(id)
	if !ok {
		return fault.Missing("granted permission", string(id), "list those that hold with agent/grants")
	}
	g.Revoked = time.Now().UTC()
	return d.submit(ctx, store.Batch{Grants: []store.Grant{grantRow(g)}})
}

// submit waits until a decision is durable.
func (d *Decisions) submit(ctx context.Context, batch store.Batch) error {
	if err := d.store.Submit(batch).Wait(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return fault.Unstored(err)
	}
	return nil
}
