package surface

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/remark"
)

// Diagnostics sends the diagnostics of whole files: open findings and hunks, and what is wrong with a file of ours.
// Code that changes something touches the file; one goroutine publishes, so that a burst of changes costs few messages.
type Diagnostics struct {
	Means
	// remarks returns the diagnostics of a file for this text; open says that it is an open document.
	remarks func(path string, x *workspace.Index, open bool) []protocol.Diagnostic
	// stale reports that the diagnostics that the editor has pulled are outdated. It never waits.
	stale func()
	news  chan struct{} // has room for one value, which says that there are dirty files

	mu    sync.Mutex
	dirty map[string]bool
	typed map[string]bool // files that will be dirty when typingTime is over
	gone  map[string]bool // folders below which all shown files are dirty
	wiped map[string]bool // files of which the client must be told even that there are no diagnostics
	hosts map[string]bool // documents that show the hunks of new files
	all   bool            // whether all shown files are dirty
	pulls pulls

	shown map[string]bool // files with diagnostics at the client; owned by Run
}

// NewDiagnostics makes diagnostics that Run publishes. remarks are those of a file for the text that is given; open
// says that it is an open document. stale is called, and must not wait, when the editor has pulled others than there
// are now.
func NewDiagnostics(m Means, remarks func(path string, x *workspace.Index, open bool) []protocol.Diagnostic,
	stale func(),
) *Diagnostics {
	return &Diagnostics{
		Means: m, remarks: remarks, stale: stale, news: make(chan struct{}, 1),
		dirty: map[string]bool{}, typed: map[string]bool{}, hosts: map[string]bool{}, gone: map[string]bool{},
		wiped: map[string]bool{}, shown: map[string]bool{}, pulls: pulls{told: map[string]string{}},
	}
}

// Touch says that the diagnostics of files may have changed. It never waits.
func (p *Diagnostics) Touch(paths ...string) {
	p.mu.Lock()
	for _, path := range paths {
		if path != "" {
			p.dirty[path] = true
		}
	}
	p.mu.Unlock()
	wake(p.news)
}

// TouchBelow touches every file in a folder that has diagnostics. It never waits.
func (p *Diagnostics) TouchBelow(folder string) {
	p.mu.Lock()
	p.gone[folder] = true
	p.mu.Unlock()
	p.Touch()
}

// TouchShown touches every file that has diagnostics. It never waits.
func (p *Diagnostics) TouchShown() {
	p.mu.Lock()
	p.all = true
	p.mu.Unlock()
	p.Touch()
}

// Clear sends the diagnostics of a file even if there are none and were none: Neovim takes the diagnostics of a file
// along to its new name. It never waits.
func (p *Diagnostics) Clear(path string) {
	p.mu.Lock()
	p.wiped[path] = true
	p.mu.Unlock()
	p.Touch(path)
}

// typingTime is how long the diagnostics of a text wait while the user types, so that they are not about half a word.
const typingTime = 150 * time.Millisecond

// TouchSoon is Touch for a document in which the user types. It never waits.
func (p *Diagnostics) TouchSoon(path string) {
	p.mu.Lock()
	p.typed[path] = true
	p.mu.Unlock()
	wake(p.news)
}

// Hosted notes the documents that show hunks of new files now. It returns them together with those of the former call.
func (p *Diagnostics) Hosted(now []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	former := p.hosts
	p.hosts = map[string]bool{}
	for _, path := range now {
		p.hosts[path] = true
	}
	return slices.Concat(slices.Collect(maps.Keys(former)), now)
}

// Run publishes until ctx ends.
func (p *Diagnostics) Run(ctx context.Context) {
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
		for path := range dirty {
			p.Guarded(func() {
				if err := p.publish(ctx, path); err != nil && ctx.Err() == nil {
					p.Logger.Warn("diagnostics could not be published", "path", path, "error", err)
				}
			})
		}
	}
}

func (p *Diagnostics) publish(ctx context.Context, path string) error {
	caps, announced := p.Client.PublishDiagnostics()
	if !announced && !p.Client.PullsDiagnostics() {
		return nil // the end of a run says in words what was found
	}
	list, version, err := p.Of(ctx, path)
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
		p.pulls.told[path] = id // it is reported once
		p.stale()
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
	params := protocol.PublishDiagnosticsParams{URI: p.Documents.URI(path), Diagnostics: list}
	if version >= 0 && client.Yes(caps.VersionSupport) {
		params.Version = protocol.NewOptional(version)
	}
	return p.Client.Notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, &params)
}

// Launches are the documents on which runs were launched, "" for none, also runs of former processes. It has its own
// lock, which is not held while the store is read.
type Launches struct {
	// read finds the document of a run.
	read   func(event.RunID) (string, error)
	logger *slog.Logger

	mu    sync.Mutex
	paths map[event.RunID]string
}

// NewLaunches makes launches; read finds the document of a run, and may read the store.
func NewLaunches(read func(event.RunID) (string, error), logger *slog.Logger) *Launches {
	return &Launches{read: read, logger: logger, paths: map[event.RunID]string{}}
}

// Path returns the document on which a run, or the first run above it that has one, was launched. It may read the
// store. What cannot be read now is asked for again next time.
func (l *Launches) Path(run event.RunID) string {
	l.mu.Lock()
	path, known := l.paths[run]
	l.mu.Unlock()
	if known {
		return path
	}
	path, err := l.read(run)
	if err != nil {
		l.logger.Warn("a run cannot be read, so nothing tells where its new files are to be shown", "run",
			run, "error", err)
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths[run] = path
	return path
}
