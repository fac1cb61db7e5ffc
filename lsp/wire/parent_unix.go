//go:build unix && !linux

package wire

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// openParent looks for process pid, and returns a function that waits for its exit. The error is errNoParent. The
// function checks the process every few seconds.
func openParent(pid int) (waitFunc, error) {
	alive := func() bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
	if !alive() {
		return nil, errNoParent
	}
	return func(ctx context.Context) error { return pollExit(ctx, pollEvery, alive) }, nil
}
