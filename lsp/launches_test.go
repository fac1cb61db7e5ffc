package lsp

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestLaunchesOutliveAnErrorOfTheStore: an error that passes is not kept, and nobody waits for the lock while the store
// is read.
func TestLaunchesOutliveAnErrorOfTheStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	s := newServer(t.Context(), io.NopCloser(nil), nil, Options{})
	defer s.stop()
	var l launches
	fails, reads := true, 0
	l.read = func(context.Context, event.RunID) (string, error) {
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
	}
	if path := l.path(s, "child"); path != "" {
		t.Errorf("while nothing can be read the path is %q", path)
	}
	fails = false
	for range 2 {
		if path := l.path(s, "child"); path != file {
			t.Errorf("the path is %q", path)
		}
	}
	if reads != 2 {
		t.Errorf("the store was read %d times", reads)
	}
}
