//go:build unix && !linux

package wire

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// waitExit waits until process pid has exited, and returns true; a pid of no process counts as exited (LSP 3.18,
// InitializeParams.processId). It returns false when ctx ended first. It looks every few seconds.
func waitExit(ctx context.Context, pid int) bool {
	return pollExit(ctx, pollEvery, func() bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
}
