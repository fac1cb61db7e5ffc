package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/remark"
)

// publisher sends diagnostics: the open findings and hunks of a file, and what is wrong with a file of ours, whole.
// Whoever changes something touches the file; one goroutine publishes, so that a burst of changes costs few messages.
type publisher struct {
	server *Server
	news   chan struct{} // has room for one: there are dirty files

	mu    sync.Mutex
	dirty map[string]bool
	typed map[string]bool // will be dirty when typingTime is over
	gone  map[string]bool // folders below which whatever is shown is dirty
	wiped map[string]bool // files of which the client has to be told even that nothing is to be shown
	hosts map[string]bool // documents that show the hunks of new files
	all   bool            // whatever is shown is dirty
	pulls pulls

	shown map[string]bool // files with diagnostics at the client; owned by run
}

func newPublisher(s *Server) *publisher {
	return &publisher{
		server: s, news: make(chan struct{}, 1), dirty: map[string]bool{}, typed: map[string]bool{},
		hosts: map[string]bool{}, gone: map[string]bool{}, wiped: map[string]bool{},
		shown: map[string]bool{},
	}
}

// touch says that the diagnostics of files may have changed. It never waits.
func (p *publisher) touch(paths ...string) {
	p.mu.Lock()
	for _, path := range paths {
		if path != "" {
			p.dirty[path] = true
		}
	}
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// touchBelow touches every file in a folder that has diagnostics. It never waits.
func (p *publisher) touchBelow(folder string) {
	p.mu.Lock()
	p.gone[folder] = true
	p.mu.Unlock()
	p.touch()
}

// touchShown touches every file that has diagnostics. It never waits.
func (p *publisher) touchShown() {
	p.mu.Lock()
	p.all = true
	p.mu.Unlock()
	p.touch()
}

// clear has the diagnostics of a file sent even if there are none and were none: Neovim takes those of a file along to
// its new name. It never waits.
func (p *publisher) clear(path string) {
	p.mu.Lock()
	p.wiped[path] = true
	p.mu.Unlock()
	p.touch(path)
}

// typingTime is how long the diagnostics of a text that is being typed wait for more of it, so that they are not about
// every half of a word.
const typingTime = 150 * time.Millisecond

// touchSoon is touch for a document that is being typed in. It never waits.
func (p *publisher) touchSoon(path string) {
	p.mu.Lock()
	p.typed[path] = true
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// hosted are the documents that show hunks of new files now, or did so when it was last asked.
func (p *publisher) hosted(session *agentcore.Session) []string {
	now := map[string]bool{}
	for _, h := range session.Hunks() {
		if h.Create && h.Waits() {
			if path := p.server.host(h); path != "" {
				now[path] = true
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	former := p.hosts
	p.hosts = now
	return slices.Concat(slices.Collect(maps.Keys(former)), slices.Collect(maps.Keys(now)))
}

// run publishes until ctx ends.
func (p *publisher) run(ctx context.Context) {
	typing := time.NewTimer(0) // ends at once, with nothing typed
	defer typing.Stop()
	waiting := true
	for {
		due := false
		select {
		case <-p.news:
		case <-typing.C:
			due, waiting = true, false
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		dirty, gone, all := p.dirty, p.gone, p.all
		p.dirty, p.gone, p.all = map[string]bool{}, map[string]bool{}, false
		if due {
			maps.Copy(dirty, p.typed)
			clear(p.typed)
		} else if len(p.typed) > 0 && !waiting {
			typing.Reset(typingTime)
			waiting = true
		}
		p.mu.Unlock()
		if all {
			for path := range p.shown {
				dirty[path] = true
			}
		}
		for folder := range gone {
			for path := range p.shown {
				if strings.HasPrefix(path, folder+string(filepath.Separator)) {
					dirty[path] = true
				}
			}
		}
		session := p.server.opened() // nil where nothing was ever found
		for path := range dirty {
			p.server.guarded(func() {
				if err := p.publish(ctx, session, path); err != nil && ctx.Err() == nil {
					p.server.logger.Warn("diagnostics could not be published", "path", path, "error", err)
				}
			})
		}
	}
}

func (p *publisher) publish(ctx context.Context, session *agentcore.Session, path string) error {
	s := p.server
	caps, announced := s.client.PublishDiagnostics()
	if !announced && !s.client.PullsDiagnostics() {
		return nil // the end of a run tells what was found, in words
	}
	list, version, err := s.fileDiagnostics(ctx, session, path)
	if err != nil {
		return err
	}
	id, err := remark.ResultID(list)
	if err != nil {
		return err
	}
	p.mu.Lock()
	wiped := p.wiped[path]
	delete(p.wiped, path)
	pulled := p.pulled(path)
	if told, was := p.pulls.told[path]; pulled && told != id && (was || len(list) > 0) {
		p.pulls.told[path] = id // it is told once
		s.refresher.diagnosticsChanged()
	}
	p.mu.Unlock()
	if pulled {
		list = []protocol.Diagnostic{}
	}
	switch {
	case !announced:
		return nil
	case len(list) > 0:
		p.shown[path] = true
	case !p.shown[path] && !wiped:
		return nil
	default:
		delete(p.shown, path)
	}
	params := protocol.PublishDiagnosticsParams{URI: s.documents.URI(path), Diagnostics: list}
	if version >= 0 && client.Yes(caps.VersionSupport) {
		params.Version = protocol.NewOptional(version)
	}
	return s.conn.Notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, &params)
}

// host is the document that a hunk is shown in: its own or, for a new file, the one that its run was launched on; "" if
// there is none.
func (s *Server) host(h workspace.Hunk) string {
	if !h.Create || s.documents.Get(h.Path) != nil {
		return h.Path
	}
	return s.launches.path(s, h.Author.Run)
}

// launches are the documents that runs were launched on, "" for none, also those of former processes. It has its own
// lock, which is not held while the store is read.
type launches struct {
	// read finds the document of a run; nil is the engine's history.
	read func(context.Context, event.RunID) (string, error)

	mu    sync.Mutex
	paths map[event.RunID]string
}

// path returns the document that a run, or the first one above it that has any, was launched on. It may read the store.
// What cannot be read now is asked for again the next time.
func (l *launches) path(s *Server, run event.RunID) string {
	l.mu.Lock()
	path, known := l.paths[run]
	l.mu.Unlock()
	if known {
		return path
	}
	read := l.read
	if read == nil {
		read = s.engine.History().LaunchedOn
	}
	path, err := read(s.background, run)
	if err != nil {
		s.logger.Warn("a run cannot be read, so nothing tells where its new files are to be shown", "run",
			run, "error", err)
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil {
		l.paths = map[event.RunID]string{}
	}
	l.paths[run] = path
	return path
}

func (s *Server) diagnosticsOf(session *agentcore.Session, path string, x *workspace.Index) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	if session == nil {
		return list
	}
	fixes := map[event.HunkID]bool{}
	for _, f := range session.Findings(path) {
		for _, id := range session.Fix(f.ID) {
			fixes[id] = true
		}
		list = append(list, s.form.Finding(f, x))
	}
	for _, h := range session.Hunks() {
		if h.Waits() && (h.Path == path || h.Create && s.host(h) == path) {
			d := s.form.Hunk(h, x)
			if fixes[h.ID] && h.State == event.StateOpen {
				d.Message = protocol.String("proposed edit: the fix of a finding") // which says the rest
			}
			list = append(list, d)
		}
	}
	return list
}
