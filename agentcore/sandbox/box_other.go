//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

// machine is empty on this system.
type machine struct{}

func newMachine(string, bool) machine { return machine{} }

func (*machine) close() error { return nil }

// probe reports that this system has only the copy.
func probe(_ context.Context, _ string, tell func(Level)) Report {
	r := Report{Level: Copy}
	tell(r.Level)
	r.note("namespaces", errors.New(runtime.GOOS+" has none"), "")
	return r
}

func (b *Box) newView(root, dir string, _ bool) (shown, error) { return b.newCopyView(root, dir, true) }

func (b *Box) start(_ context.Context, c Command, roots []folder, output *spool) (child, error) {
	return b.startBare(c, roots, output)
}

func (b *Box) startBackground(_ context.Context, c Command, _ string, roots []folder, output *spool) (child, error) {
	return b.startBare(c, roots, output)
}

const (
	stepOverlay = "overlay"
	stepCommand = "command"
)
