package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
)

// progressInterval is the least time between two reports of one run; what comes faster is joined.
const progressInterval = 100 * time.Millisecond

// progressBoard shows each run as `$/progress` with a token of the server's own. Every run has a
// goroutine that speaks for it, so that a client which is slow to answer holds up nothing else; the
// goroutine ends with the run.
type progressBoard struct {
	server *Server

	mu   sync.Mutex
	runs map[event.RunID]*runProgress // until they have ended and the client was told
}

// runProgress is the newest state of one run on its way to the client.
type runProgress struct {
	run   event.RunID
	title string
	news  chan struct{} // has room for one: something below has changed
	over  chan struct{} // closed when the run has ended
	told  chan struct{} // closed when the client was told of the end

	mu      sync.Mutex
	message string
	former  string // the message before the run began to wait
	waiting bool   // the message says what the run waits for
	percent uint32
	end     string
	ended   bool
	begun   bool // the client takes the progress, and hears of its beginning
	muted   bool // it shall hear of no beginning any more
}

func newProgressBoard(s *Server) *progressBoard {
	return &progressBoard{server: s, runs: map[event.RunID]*runProgress{}}
}

// begin starts the progress of a run; a child is titled by its path from the root.
func (b *progressBoard) begin(run event.RunID, created event.RunCreated) {
	p := &runProgress{run: run, news: make(chan struct{}, 1), over: make(chan struct{}), told: make(chan struct{}), message: "starts"}
	b.mu.Lock()
	p.title = created.Agent + ": " + created.Title
	if parent := b.runs[created.Parent]; parent != nil {
		head, _, _ := strings.Cut(parent.title, ": ")
		p.title = head + " ▸ " + p.title
	}
	b.runs[run] = p
	b.mu.Unlock()
	if !b.server.client.workDoneProgress() {
		close(p.told)
		return
	}
	b.server.goes(func(ctx context.Context) {
		defer func() {
			close(p.told)
			b.forget(p)
		}()
		p.speak(ctx, b.server)
	})
}

// forget drops a run that has ended, once the client was told.
func (b *progressBoard) forget(p *runProgress) {
	select {
	case <-p.told:
	default:
		return
	}
	if _, _, _, ended := p.now(); ended {
		b.mu.Lock()
		delete(b.runs, p.run)
		b.mu.Unlock()
	}
}

// drain waits until the client was told of the end of every run of which it was told the beginning; of no other it
// will be told.
func (b *progressBoard) drain(ctx context.Context) error {
	b.mu.Lock()
	runs := slices.Collect(maps.Values(b.runs))
	b.mu.Unlock()
	for _, p := range runs {
		p.mu.Lock()
		p.muted = !p.begun
		muted := p.muted
		p.mu.Unlock()
		if muted {
			continue
		}
		select {
		case <-p.told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (b *progressBoard) get(run event.RunID) *runProgress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[run]
}

func (b *progressBoard) report(run event.RunID, r event.RunProgress) {
	if p := b.get(run); p != nil {
		p.set(func() {
			p.message, p.waiting = r.Message, false
			p.percent = max(p.percent, uint32(min(max(r.BudgetUsed, 0), 100)))
		})
	}
}

// waits shows what a run waits for, until it goes on.
func (b *progressBoard) waits(run event.RunID, change event.RunStatusChanged) {
	if change.Status != event.StatusWaiting && change.Status != event.StatusRunning {
		return
	}
	if p := b.get(run); p != nil {
		p.set(func() {
			if p.waiting {
				p.message = p.former
			}
			if p.waiting = change.Status == event.StatusWaiting && change.Reason != ""; p.waiting {
				p.former, p.message = p.message, change.Reason
			}
		})
	}
}

// finish ends the progress of a run, whose children have ended before.
func (b *progressBoard) finish(run event.RunID, message string) {
	if p := b.get(run); p != nil {
		p.set(func() {
			if !p.ended {
				close(p.over)
			}
			p.end, p.ended = message, true
		})
		b.forget(p)
	}
}

func (p *runProgress) set(change func()) {
	p.mu.Lock()
	change()
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default: // the goroutine has not seen the last news yet and will see this with it
	}
}

// speak tells the client about the run until its end.
func (p *runProgress) speak(ctx context.Context, s *Server) {
	token := protocol.String(p.run)
	if err := s.client.createProgress(ctx, token); err != nil {
		s.logger.Warn("the editor shows no progress", "run", p.run, "error", err)
		return
	}
	p.mu.Lock()
	p.begun = !p.muted
	begun := p.begun
	p.mu.Unlock()
	if !begun {
		return
	}
	send := func(value any) bool {
		raw, err := protocol.Marshal(value)
		if err == nil {
			err = s.conn.Notify(ctx, protocol.MethodProgress, &protocol.ProgressParams{Token: token, Value: raw})
		}
		if err != nil {
			s.logger.Warn("progress could not be sent", "run", p.run, "error", err)
		}
		return err == nil
	}
	message, percent, end, ended := p.now()
	if !send(&protocol.WorkDoneProgressBegin{Kind: "begin", Title: p.title, Cancellable: pointer(true), Message: &message, Percentage: &percent}) {
		return
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for !ended {
		select {
		case <-p.news:
		case <-ctx.Done():
			return
		}
		if message, percent, end, ended = p.now(); ended {
			break
		}
		if !send(&protocol.WorkDoneProgressReport{Kind: "report", Message: &message, Percentage: &percent}) {
			return
		}
		pause.Reset(progressInterval)
		select {
		case <-pause.C:
		case <-p.over: // the end does not wait
		case <-ctx.Done():
			return
		}
	}
	send(&protocol.WorkDoneProgressEnd{Kind: "end", Message: &end})
}

func (p *runProgress) now() (message string, percent uint32, end string, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.message, p.percent, p.end, p.ended
}

// cancelProgress is the user's click on a progress.
func (s *Server) cancelProgress(p *protocol.WorkDoneProgressCancelParams) error {
	token, ok := p.Token.(protocol.String)
	if !ok || s.progress.get(event.RunID(token)) == nil {
		return fmt.Errorf("there is no progress %v", p.Token)
	}
	select {
	case <-s.ready:
		return s.engine.Cancel(event.RunID(token))
	default:
		return nil // no run can exist before the engine
	}
}
