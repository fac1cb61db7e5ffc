package feed

import (
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// Writer gives rows and events of one session to the store, which commits them together. After that, the events are
// published in the form in which they may be shown. A Writer is never changed; any goroutine may use it.
type Writer struct {
	Session event.SessionID
	Store   *store.Store
}

// Submit waits while the store has too much to do. A failed commit ends the run, and is reported by whoever opened the
// store.
func (w Writer) Submit(batch store.Batch, run event.RunID, bodies ...event.Body) *store.Commit {
	return w.Store.Submit(w.with(batch, run, bodies))
}

// SubmitNow is Submit for callers that must not wait, since they hold a lock or follow the editor's messages.
func (w Writer) SubmitNow(batch store.Batch, run event.RunID, bodies ...event.Body) {
	w.Store.SubmitNow(w.with(batch, run, bodies))
}

func (w Writer) with(batch store.Batch, run event.RunID, bodies []event.Body) store.Batch {
	now := time.Now().UTC()
	for _, body := range bodies {
		batch.Events = append(batch.Events,
			store.NewEvent{Session: w.Session, Run: run, Time: now, Body: legible(body)})
	}
	return batch
}
