package surface

import (
	"log/slog"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
)

// Launches are the documents that runs were launched on, "" for none, also those of former processes. It has its own
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

// Path returns the document that a run, or the first one above it that has any, was launched on. It may read the store.
// What cannot be read now is asked for again the next time.
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
