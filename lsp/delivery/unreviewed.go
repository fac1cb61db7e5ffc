package delivery

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
)

// Unreviewed has the editor apply the edits of runs whose permission mode needs no review. Edits that the editor
// refuses, or that the user has to see, stay proposed. Its goroutine is Run; Wake may be called from any goroutine and
// never waits.
type Unreviewed struct {
	desk    *Desk
	session func() *agentcore.Session // the window's session, nil for none
	guarded func(do func())           // runs do, and reports a panic
	tell    func(ctx context.Context, warning string)
	news    chan struct{} // has room for one value, which says that the proposal has changed

	// tried is the text of each hunk that the editor was last asked to take, so that a refused hunk is not sent again
	// for ever. Run owns it.
	tried map[event.HunkID]string
}

// NewUnreviewed makes what Run works on: the hunks of the present session, nil for none. guarded reports a panic, and
// tell warns the user.
func NewUnreviewed(desk *Desk, session func() *agentcore.Session, guarded func(do func()),
	tell func(ctx context.Context, warning string),
) *Unreviewed {
	return &Unreviewed{
		desk: desk, session: session, guarded: guarded, tell: tell, news: make(chan struct{}, 1),
		tried: map[event.HunkID]string{},
	}
}

// Wake says that the proposal has changed.
func (a *Unreviewed) Wake() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// Run works until ctx ends.
func (a *Unreviewed) Run(ctx context.Context) {
	for {
		select {
		case <-a.news:
			a.guarded(func() { a.accept(ctx) })
		case <-ctx.Done():
			return
		}
	}
}

func (a *Unreviewed) accept(ctx context.Context) {
	session := a.session()
	if session == nil {
		return
	}
	var ids []event.HunkID
	known := map[event.HunkID]string{}
	for _, h := range session.Board().Hunks() {
		text := fmt.Sprint(h.Path, "\x00", h.MoveTo, "\x00", h.Before, "\x00", h.After)
		if former, tried := a.tried[h.ID]; tried {
			known[h.ID] = former
			if former == text {
				continue
			}
		}
		if session.Unreviewed(h) {
			ids = append(ids, h.ID)
			known[h.ID] = text
		}
	}
	a.tried = known
	if len(ids) == 0 {
		return
	}
	result, err := a.desk.accept(ctx, session, ids)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.tell(ctx, "agentls: edits that need no review could not be applied, and wait as proposals: "+err.Error())
	default:
		a.desk.Present(ctx, result)
	}
}
