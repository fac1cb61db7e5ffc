package wire

import (
	"context"
	"errors"

	"golang.org/x/sys/windows"
)

// openParent looks for process pid, and returns a function that waits for its exit. The error is errNoParent. The
// function holds a handle of the process and checks it every few seconds. A process that may not be inspected counts as
// alive.
func openParent(pid int) (waitFunc, error) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return nil, errNoParent
	}
	if err != nil {
		return func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, nil
	}
	alive := func() bool {
		state, err := windows.WaitForSingleObject(handle, 0)
		return err != nil || state != windows.WAIT_OBJECT_0
	}
	if !alive() {
		windows.CloseHandle(handle) //nolint:errcheck // nothing is lost with it
		return nil, errNoParent
	}
	return func(ctx context.Context) error {
		defer windows.CloseHandle(handle) //nolint:errcheck // nothing is lost with it
		return pollExit(ctx, pollEvery, alive)
	}, nil
}
