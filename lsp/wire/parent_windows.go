package wire

import (
	"context"
	"errors"

	"golang.org/x/sys/windows"
)

// waitExit waits until process pid has exited, and returns true; a pid of no process counts as exited (LSP 3.18,
// InitializeParams.processId). It returns false when ctx ended first. It holds a handle of the process and looks at it
// every few seconds. A process that may not be looked at is taken for alive.
func waitExit(ctx context.Context, pid int) bool {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return true
	}
	if err != nil {
		<-ctx.Done()
		return false
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // nothing is lost with it
	return pollExit(ctx, pollEvery, func() bool {
		state, err := windows.WaitForSingleObject(handle, 0)
		return err != nil || state != windows.WAIT_OBJECT_0
	})
}
