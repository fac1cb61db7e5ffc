package surface

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestLaunchesOutliveAnErrorOfTheStore: an error that passes is not kept, and nobody waits for the lock while the store
// is read.
func TestLaunchesOutliveAnErrorOfTheStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	var l *Launches
	fails, reads := true, 0
	l = NewLaunches(func(event.RunID) (string, error) {
		reads++
		if !l.mu.TryLock() {
			t.Error("the lock is held while the store is read")
		} else {
			l.mu.Unlock()
		}
		if fails {
			return "", errors.New("locked")
		}
		return file, nil
	}, slog.New(slog.DiscardHandler))
	if path := l.Path("child"); path != "" {
		t.Errorf("while nothing can be read the path is %q", path)
	}
	fails = false
	for range 2 {
		if path := l.Path("child"); path != file {
			t.Errorf("the path is %q", path)
		}
	}
	if reads != 2 {
		t.Errorf("the store was read %d times", reads)
	}
}
