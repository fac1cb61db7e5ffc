package surface

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
)

const (
	// progressInterval is the least time between two reports of one run; faster reports are joined.
	progressInterval = 100 * time.Millisecond
	// clockInterval is how often a run reports how long it has been at work when nothing else has changed.
	clockInterval = time.Second
	// logInterval is progressInterval for a client that shows no progress and gets lines in its log.
	logInterval = 5 * time.Second
	// reportsPerSecond bounds the reports of all children together. Runs of the user have a bound of their own, so that
	// hundreds of children do not delay them.
	reportsPerSecond = 40
)

// pace bounds how often something happens. Its methods may be called from any goroutine.
type pace struct {
	interval time.Duration
	burst    int // how many times it may happen at once after a rest

	mu   sync.Mutex
	next time.Time // when the last reserved one may happen
}

// reserve reserves the next free moment, and returns how long it is until then.
func (p *pace) reserve() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if rested := now.Add(-time.Duration(p.burst) * p.interval); p.next.Before(rested) {
		p.next = rested
	}
	p.next = p.next.Add(p.interval)
	return max(0, p.next.Sub(now))
}

// progressBoard shows each run as `$/progress` with a token of the server, or in the log of a client that shows no
// progress. Each run has a goroutine that reports on it, so that a client that is slow to answer delays nothing else.
// The goroutine ends with the run.
type progressBoard struct {
	// speaker makes the way to report a run to the client. It may wait for the client, and fails where the client takes
	// no progress.
	speaker func(context.Context, *runProgress) (speaker, error)
	Means
	live *liveRuns
	// mains bounds the reports of the users' own runs, children those of all other runs.
	mains, children pace

	mu   sync.Mutex
	runs map[event.RunID]*runProgress // until the run has ended and the client was told so
	// waited are the progresses on tokens that came with a client's requests to wait for runs.
	waited map[event.RunID][]*runProgress
}

// runProgress is the reporting on one run to the client.
type runProgress struct {
	run   *liveRun               // set before the reporting begins
	token protocol.ProgressToken // the client's own, nil for one of the server's
	pace  *pace
	news  chan struct{} // has room for one value, which says that the run has changed
	over  chan struct{} // closed when the run has ended
	told  chan struct{} // closed when the client was told of the end

	mu    sync.Mutex
	end   string
	ended bool
	begun bool // whether the client takes the progress, and was told that it began
	muted bool // whether the client must not be told of a begin any more
}

func newRunProgress(p *pace) *runProgress {
	return &runProgress{pace: p, news: make(chan struct{}, 1), over: make(chan struct{}), told: make(chan struct{})}
}

func newProgressBoard(m Means, live *liveRuns) *progressBoard {
	interval := time.Second / reportsPerSecond
	b := &progressBoard{
		Means: m, live: live, runs: map[event.RunID]*runProgress{},
		mains: pace{interval: interval, burst: 8}, children: pace{interval: interval, burst: 8},
	}
	b.speaker = b.speakerOf
	return b
}

// begin starts the progress of a run; a child is titled by its path from the root.
func (b *progressBoard) begin(run *liveRun) {
	p := newRunProgress(&b.mains)
	if run.depth > 0 {
		p.pace = &b.children
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs[run.id] = p
	b.start(p, run)
	for _, waited := range b.waited[run.id] {
		b.start(waited, run)
	}
}

// start starts the goroutine that reports on a run. The lock is held.
func (b *progressBoard) start(p *runProgress, run *liveRun) {
	p.run = run
	b.Goes(func(ctx context.Context) {
		defer func() {
			close(p.told)
			b.forget(p)
		}()
		b.speak(ctx, p)
	})
}

// Wait reports on a run by a token that came with the client's request to wait for it, from now or from the run's begin
// on. It does not report on a run that is no longer shown. stop ends the reporting, and returns once the client was
// told, since the token ends with the answer; it must be called.
func (b *progressBoard) Wait(run event.RunID, token protocol.ProgressToken) (stop func(context.Context, string)) {
	p := newRunProgress(&b.mains)
	p.token = token
	b.mu.Lock()
	if b.waited == nil {
		b.waited = map[event.RunID][]*runProgress{}
	}
	b.waited[run] = append(b.waited[run], p)
	if shown := b.runs[run]; shown != nil {
		b.start(p, shown.run)
	}
	b.mu.Unlock()
	return func(ctx context.Context, message string) {
		b.mu.Lock()
		b.waited[run] = slices.DeleteFunc(b.waited[run], func(other *runProgress) bool { return other == p })
		if len(b.waited[run]) == 0 {
			delete(b.waited, run)
		}
		begun := p.run != nil
		b.mu.Unlock()
		p.finish(message)
		if !begun {
			return
		}
		select {
		case <-p.told:
		case <-ctx.Done():
		}
	}
}

// forget drops a run that has ended, once the client was told.
func (b *progressBoard) forget(p *runProgress) {
	select {
	case <-p.told:
	default:
		return
	}
	if _, ended := p.ending(); ended && p.token == nil {
		b.mu.Lock()
		delete(b.runs, p.run.id)
		b.mu.Unlock()
	}
}

// Drain waits until the client was told the end of every run of whose begin it was told. It mutes the runs that the
// client has not heard of yet.
func (b *progressBoard) Drain(ctx context.Context) error {
	b.mu.Lock()
	runs := slices.Collect(maps.Values(b.runs))
	for _, waited := range b.waited {
		runs = append(runs, waited...)
	}
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

// Shows reports whether a run has a progress, which the user can cancel.
func (b *progressBoard) Shows(run event.RunID) bool { return b.get(run) != nil }

func (b *progressBoard) get(run event.RunID) *runProgress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[run]
}

// touch says that a run has changed.
func (b *progressBoard) touch(run event.RunID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.waited[run]
	if p := b.runs[run]; p != nil {
		all = append(slices.Clip(all), p)
	}
	for _, p := range all {
		wake(p.news)
	}
}

// finish ends the progress of a run, whose children have ended before.
func (b *progressBoard) finish(run event.RunID, message string) {
	p := b.get(run)
	if p == nil {
		return
	}
	p.finish(message)
	b.forget(p)
}

func (p *runProgress) finish(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		close(p.over)
	}
	p.end, p.ended = message, true
}

func (p *runProgress) ending() (message string, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end, p.ended
}

// start reports whether the client is to be told of the begin.
func (p *runProgress) start() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = !p.muted
	return p.begun
}

// speaker is the way in which a run's progress reaches the client. Each function reports whether it did.
type speaker struct {
	begin, report func(message string, percent uint32) bool
	end           func(message string) bool
	interval      time.Duration
	// state is what is reported of the run.
	state func() (message string, percent uint32)
}

// speak reports on the run to the client until the run's end.
func (b *progressBoard) speak(ctx context.Context, p *runProgress) {
	to, err := b.speaker(ctx, p)
	if err != nil {
		b.Logger.Warn("the editor shows no progress", "run", p.run.id, "error", err)
		return
	}
	if !p.start() {
		return
	}
	said, percent := to.state()
	if !to.begin(said, percent) {
		return
	}
	shown := percent
	pause := time.NewTimer(0)
	defer pause.Stop()
	rest := func(d time.Duration, news <-chan struct{}) bool {
		pause.Reset(d)
		select {
		case <-pause.C:
		case <-news:
		case <-p.over: // the end is reported without delay
		case <-ctx.Done():
			return false
		}
		return true
	}
	for {
		if !rest(clockInterval, p.news) {
			return
		}
		if _, ended := p.ending(); ended {
			break
		}
		message, percent := to.state()
		if message == said && percent == shown {
			continue
		}
		if !rest(p.pace.reserve(), nil) {
			return
		}
		if _, ended := p.ending(); ended {
			break
		}
		said, shown = to.state() // the newest state
		if !to.report(said, shown) || !rest(to.interval, nil) {
			return
		}
	}
	end, _ := p.ending()
	to.end(end)
}

// speakerOf is the way in which the client is told of a run: by `$/progress` or, where the client takes none, by lines
// in its log.
func (b *progressBoard) speakerOf(ctx context.Context, p *runProgress) (speaker, error) {
	if p.token != nil { // a token of the client means that it takes the progress
		return b.progressOf(ctx, p, p.token), nil
	}
	if !b.Client.TakesProgress() {
		return b.linesOf(ctx, p), nil
	}
	token := protocol.String(p.run.id)
	switch err := b.Client.CreateProgress(ctx, token); {
	case err == nil:
		return b.progressOf(ctx, p, token), nil
	case ctx.Err() != nil:
		return speaker{}, err
	default:
		b.Logger.Info("a run is told of in the editor's log, which takes no progress for it", "run",
			p.run.id, "error", err)
		return b.linesOf(ctx, p), nil
	}
}

// progressOf reports by `$/progress`.
func (b *progressBoard) progressOf(ctx context.Context, p *runProgress, token protocol.ProgressToken) speaker {
	send := func(value any) bool {
		raw, err := protocol.Marshal(value)
		if err == nil {
			err = b.Client.Notify(ctx, protocol.MethodProgress, &protocol.ProgressParams{Token: token, Value: raw})
		}
		if err != nil {
			b.Logger.Warn("progress could not be sent", "run", p.run.id, "error", err)
		}
		return err == nil
	}
	return speaker{
		interval: progressInterval,
		state:    func() (string, uint32) { return b.live.shown(p.run) },
		begin: func(message string, percent uint32) bool {
			return send(&protocol.WorkDoneProgressBegin{
				Kind: "begin", Title: p.run.titled(), Cancellable: new(p.token == nil), Message: &message,
				Percentage: &percent,
			})
		},
		report: func(message string, percent uint32) bool {
			return send(&protocol.WorkDoneProgressReport{Kind: "report", Message: &message, Percentage: &percent})
		},
		end: func(message string) bool {
			return send(&protocol.WorkDoneProgressEnd{Kind: "end", Message: &message})
		},
	}
}

// linesOf reports by lines in the client's log: the begin, what the run waits for, and the end.
func (b *progressBoard) linesOf(ctx context.Context, p *runProgress) speaker {
	line := func(text string) bool {
		err := b.Client.Log(ctx, protocol.MessageTypeInfo, "agentls: "+text)
		if err != nil {
			b.Logger.Warn("the state of a run could not be logged", "run", p.run.id, "error", err)
		}
		return err == nil
	}
	waits := func(why string) bool { return why == "" || line(p.run.path+": "+why) }
	return speaker{
		interval: logInterval,
		state:    func() (string, uint32) { return b.live.waiting(p.run), 0 },
		begin:    func(message string, _ uint32) bool { return line(p.run.titled()) && waits(message) },
		report:   func(message string, _ uint32) bool { return waits(message) },
		end: func(message string) bool {
			return line(strings.TrimSuffix(p.run.path, p.run.agent) + message) // the message begins with the agent
		},
	}
}
