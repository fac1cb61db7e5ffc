package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
)

// acceptor has the editor apply the edits of runs whose permission mode spares the review. What the editor does not
// take, or the user has to look at, stays proposed. Its goroutine is run; wake may be called from any goroutine and
// never waits.
type acceptor struct {
	server *Server
	news   chan struct{} // has room for one: the proposal has changed

	// the text that was tried last, so that what is refused is not tried for ever; owned by run
	tried map[event.HunkID]string
}

func newAcceptor(s *Server) *acceptor {
	return &acceptor{server: s, news: make(chan struct{}, 1), tried: map[event.HunkID]string{}}
}

func (a *acceptor) wake() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// run works until ctx ends.
func (a *acceptor) run(ctx context.Context) {
	for {
		select {
		case <-a.news:
			a.server.guarded(func() { a.accept(ctx) })
		case <-ctx.Done():
			return
		}
	}
}

func (a *acceptor) accept(ctx context.Context) {
	session := a.server.opened()
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
	result, err := a.server.accept(ctx, session, ids)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.server.tell(ctx, protocol.MessageTypeWarning,
			"agentls: edits that need no review could not be applied, and wait as proposals: "+err.Error())
	default:
		a.server.presentFailures(ctx, result.Failed)
	}
}
