package surface

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
)

const (
	// inlineInterval is the least time between two requests to the client to ask again for what its documents show.
	inlineInterval = 250 * time.Millisecond
	// maxInline is how many runs are shown at one line; further ones are counted.
	maxInline = 3
)

// inlineStatus shows the runs under way in the documents: as inlay hints, or else as lenses, and by hover. Its
// goroutine is Run; the other methods may be called from any goroutine.
type inlineStatus struct {
	Means
	live    *liveRuns
	news    chan struct{}      // has room for one value, which says that a run, or the settings, have changed
	settles chan chan struct{} // each is closed by Run when the client shows the present state

	mu    sync.Mutex
	stop  context.CancelFunc // ends Run; nil before it begins
	ended bool
	over  chan struct{} // closed when Run has ended

	// The fields below are owned by Run.
	hints  bool   // are registered
	hovers string // the registration of hovers, "" for none
	shown  string // what the client was last told to ask for
	failed bool   // whether the client fails to answer; the user is told once
}

func newInlineStatus(m Means, live *liveRuns) *inlineStatus {
	return &inlineStatus{
		Means: m, live: live, news: make(chan struct{}, 1), settles: make(chan chan struct{}),
		over: make(chan struct{}),
	}
}

// Wake says that there may be news. It never waits.
func (i *inlineStatus) Wake() { wake(i.news) }

// settleTime bounds the wait for a client that is slow to ask again.
const settleTime = time.Second

// Settle waits until the client was told to ask again for all changes so far, and has answered, but no longer than
// settleTime.
func (i *inlineStatus) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	done := make(chan struct{})
	select {
	case i.settles <- done:
	case <-i.over:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// End ends Run, and waits until Run sends nothing more, or ctx ends.
func (i *inlineStatus) End(ctx context.Context) error {
	i.mu.Lock()
	i.ended = true
	stop := i.stop
	i.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-i.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run keeps the documents of the client up to date until ctx ends.
func (i *inlineStatus) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	i.mu.Lock()
	i.stop = stop
	ended := i.ended
	i.mu.Unlock()
	defer close(i.over)
	if ended {
		return
	}
	refresh := func() {
		if err := i.refresh(ctx); err != nil && ctx.Err() == nil && !i.failed {
			i.failed = true
			i.Logger.Warn("the editor does not show how far runs are", "error", err)
		}
	}
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	news := i.news // nil until the least time between two refreshes has passed
	for {
		select {
		case <-news:
		case done := <-i.settles:
			refresh()
			close(done)
			continue
		case <-clock.C:
			if news == nil {
				news = i.news
				next := time.Hour
				if i.live.any() {
					next = clockInterval
				}
				clock.Reset(next)
				continue
			}
		case <-ctx.Done():
			return
		}
		refresh()
		news = nil
		clock.Reset(inlineInterval)
	}
}

// refresh makes the registrations that are needed now, and has the client ask again where it shows an outdated state.
func (i *inlineStatus) refresh(ctx context.Context) error {
	if err := i.register(ctx); err != nil {
		return err
	}
	way, method := i.inlineWay(), ""
	switch {
	case way == inlineHints && i.Client.RefreshesHints():
		method = protocol.MethodWorkspaceInlayHintRefresh
	case way == inlineLenses && i.Client.RefreshesLenses():
		method = protocol.MethodWorkspaceCodeLensRefresh
	default:
		return nil
	}
	var now strings.Builder
	now.WriteString(method)
	statuses := i.statuses()
	for _, path := range slices.Sorted(maps.Keys(statuses)) {
		for _, status := range statuses[path] {
			fmt.Fprintf(&now, "\n%s:%d: %s", path, status.line, strings.Join(status.labels(), "  "))
		}
	}
	shown := now.String()
	if shown == i.shown || i.shown == "" && len(statuses) == 0 {
		return nil
	}
	i.shown = shown
	return i.Client.Call(ctx, method, nil, nil)
}

// register registers hovers, and inlay hints while the user wants them, with a client that takes registrations.
func (i *inlineStatus) register(ctx context.Context) error {
	if err := i.registerHovers(ctx); err != nil {
		return err
	}
	want := i.hintsOn()
	if want == i.hints || !client.Yes(i.Client.InlayHint().DynamicRegistration) {
		return nil
	}
	err := registerAnywhere(ctx, i.Client, "hints", protocol.MethodTextDocumentInlayHint, want)
	if err == nil {
		i.hints = want
	}
	return err
}

// registerHovers has the client ask for hovers in agentls's own files and, while a run is under way, in all documents.
// The former registration is taken back before the new one is made: with both, a client would ask for each and show the
// answer twice.
func (i *inlineStatus) registerHovers(ctx context.Context) error {
	want, where := "own", authoring.Selector(i.ConfigFile)
	if i.live.any() {
		want, where = "runs", allDocuments
	}
	if want == i.hovers || !client.Yes(i.Client.Hover().DynamicRegistration) {
		return nil
	}
	if i.hovers != "" {
		if err := i.Client.Unregister(ctx, i.hovers, protocol.MethodTextDocumentHover); err != nil {
			return err
		}
		i.hovers = ""
	}
	if err := i.Client.Register(ctx, want, protocol.MethodTextDocumentHover,
		&protocol.TextDocumentRegistrationOptions{DocumentSelector: &where}); err != nil {
		return err
	}
	i.hovers = want
	return nil
}

// allDocuments selects the documents that are in a file system, or will be.
var allDocuments = protocol.DocumentSelector{
	&protocol.TextDocumentFilterScheme{Scheme: "file"}, &protocol.TextDocumentFilterScheme{Scheme: "untitled"},
}

// registerAnywhere registers a feature for all documents or, without on, takes the registration back.
func registerAnywhere(ctx context.Context, c *client.Client, id, method string, on bool) error {
	if !on {
		return c.Unregister(ctx, id, method)
	}
	return c.Register(ctx, id, method, &protocol.TextDocumentRegistrationOptions{DocumentSelector: &allDocuments})
}

// inlineWay is how documents show the runs under way, besides hover.
type inlineWay int

const (
	inlineNowhere inlineWay = iota
	inlineHints
	inlineLenses
)

func (i *inlineStatus) hintsOn() bool {
	c := i.Settings()
	return c != nil && c.InlayStatus && i.Client.ShowsHints()
}

func (i *inlineStatus) lensesOn() bool { return lensesOn(i.Settings()) }

func (i *inlineStatus) inlineWay() inlineWay {
	switch {
	case i.hintsOn():
		return inlineHints
	case i.lensesOn() && i.Client.ShowsLenses():
		return inlineLenses
	}
	return inlineNowhere
}

// place finds where a run is shown. It is the document on which the run was launched or, for a root without one, the
// document that the user touched last. The line in it follows the user's typing from now on.
func (i *inlineStatus) place(run *liveRun) {
	if run.launched == "" && run.depth == 0 {
		if doc := i.Documents.Last(); doc != nil {
			i.live.change(run.id, func(r *liveRun) { r.launched = doc.Path })
		}
		return
	}
	info, known := i.Info(run.id)
	if !known || info.StartLine == 0 || i.Documents.Get(run.launched) == nil {
		return
	}
	line := info.StartLine - 1
	var mark *workspace.Mark
	if file, err := i.View.Read(run.launched); err == nil { // otherwise it is shown at the top
		mark = i.View.Track(run.launched, file.Stamp, line, line+1, i.Wake)
	}
	i.live.change(run.id, func(r *liveRun) { r.line, r.mark = line, mark })
}

// statusLine is what one line of a document shows: some runs, and how many further ones there are.
type statusLine struct {
	line  int
	runs  []runStatus
	waits int // how many of the further runs wait
	more  int
}

// runStatus is a run at one moment.
type runStatus struct {
	id           event.RunID
	label, story string
}

// labels are the texts of the runs at a line.
func (l statusLine) labels() []string {
	var list []string
	for _, r := range l.runs {
		list = append(list, r.label)
	}
	switch {
	case l.waits > 0:
		list = append(list, fmt.Sprintf("… %d more, of which %d wait", l.more, l.waits))
	case l.more > 0:
		list = append(list, fmt.Sprintf("… %d more", l.more))
	}
	return list
}

// statuses are the runs under way, by the open documents that show them, with the lines in order.
func (i *inlineStatus) statuses() map[string][]statusLine {
	if !i.live.any() {
		return nil
	}
	open := map[string]bool{}
	for _, path := range i.Documents.Paths() {
		open[path] = true
	}
	lines := map[place]*statusLine{}
	all := map[string][]statusLine{}
	i.live.each(func(r *liveRun) {
		// The event of the run's end may still be on its way.
		info, known := i.Info(r.id)
		if known && info.Status.Final() {
			return
		}
		for _, at := range r.places(open) {
			l := lines[at]
			if l == nil {
				l = &statusLine{line: at.line}
				lines[at] = l
			}
			if len(l.runs) < maxInline {
				l.runs = append(l.runs,
					runStatus{
						r.id, "⟳ " + r.path + " · " + r.facts(false),
						r.story(i.Client.HoversMarkdown(), info.Instructions),
					})
				continue
			}
			l.more++
			if r.status == event.StatusWaiting || r.status == event.StatusPending {
				l.waits++
			}
		}
	})
	for at, l := range lines {
		all[at.path] = append(all[at.path], *l)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b statusLine) int { return cmp.Compare(a.line, b.line) })
	}
	return all
}

// place is a line of a document, 0-based.
type place struct {
	path string
	line int
}

// places are the places at which a run is shown: where it was launched, and at the top of the file that it works on. A
// child that has no place in an open document is shown with the run that started it. The board's lock is held.
func (r *liveRun) places(open map[string]bool) []place {
	var list []place
	if open[r.launched] {
		at := place{r.launched, r.line}
		if r.mark != nil {
			if start, _, ok := r.mark.Lines(); ok {
				at.line = start
			}
		}
		list = append(list, at)
	}
	if r.working != r.launched && open[r.working] {
		list = append(list, place{path: r.working})
	}
	if len(list) == 0 && r.parent != nil {
		for above := r.parent; above != nil && len(list) == 0; above = above.parent {
			if open[above.launched] {
				return above.places(open)[:1]
			}
		}
	}
	return list
}

// Hints answers `textDocument/inlayHint` with the runs under way that the document shows, at the ends of their lines.
func (i *inlineStatus) Hints(_ context.Context, p *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	doc := i.Documents.Get(document.Path(p.TextDocument.URI))
	if doc == nil || !i.hintsOn() {
		return nil, nil
	}
	var hints []protocol.InlayHint
	for _, l := range i.statuses()[doc.Path] {
		x := doc.Index()
		line := min(l.line, max(x.Len()-1, 0))
		if line < int(p.Range.Start.Line) || line > int(p.Range.End.Line) {
			continue
		}
		at := i.Documents.Encoding.Lines(x, line, line+1).End
		for n, label := range l.labels() {
			hint := protocol.InlayHint{Position: at, Label: protocol.String(label), PaddingLeft: new(true)}
			if n < len(l.runs) {
				hint.Tooltip = i.Client.HoverText(l.runs[n].story)
			}
			hints = append(hints, hint)
		}
	}
	return hints, nil
}

// statusLenses are the runs under way as lenses, for a client that shows no inlay hints. A click ends the run.
func (i *inlineStatus) statusLenses(path string, add addLens) {
	if i.inlineWay() != inlineLenses {
		return
	}
	for _, l := range i.statuses()[path] {
		for _, r := range l.runs {
			add(l.line, r.label+" (click to stop)", methods.CommandCancel, methods.CancelParams{Run: r.id})
		}
	}
}

// maxStops is how many runs a menu offers to end.
const maxStops = 10

// Stops are actions that end, one by one, the runs under way that concern a document, since not every editor lets its
// user cancel a progress.
func (i *inlineStatus) Stops(path string) []menu.Action {
	if !i.live.any() {
		return nil
	}
	open := map[string]bool{path: true}
	var list []menu.Action
	i.live.each(func(r *liveRun) {
		// The event of the run's end may still be on its way.
		if info, known := i.Info(r.id); !known || info.Status.Final() {
			return
		}
		if len(list) < maxStops && len(r.places(open)) > 0 {
			list = append(list, menu.Action{
				Title: "agentls: Stop " + r.titled(), Kind: menu.KindStop, Command: methods.CommandCancel,
				Argument: methods.CancelParams{Run: r.id},
			})
		}
	})
	return list
}

// Hover says what the runs at a line are doing, "" for none.
func (i *inlineStatus) Hover(path string, line int) string {
	for _, l := range i.statuses()[path] {
		if l.line == line {
			var stories []string
			for _, r := range l.runs {
				stories = append(stories, r.story)
			}
			return strings.Join(append(stories, l.labels()[len(l.runs):]...), "\n\n")
		}
	}
	return ""
}

// addLens adds a lens above a line, 0-based.
type addLens func(line int, title, command string, argument any)
