package wire

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openParent looks for process pid, and returns a function that waits for its exit. The error is errNoParent. It waits
// on a pidfd (pidfd_open(2), Linux 5.3), which cannot mistake a new process with the same pid for it, and polls on
// systems without pidfds.
func openParent(pid int) (waitFunc, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.EINVAL) {
		// Linux before 5.10 has no flags for pidfd_open.
		if fd, err = unix.PidfdOpen(pid, 0); err == nil {
			err = unix.SetNonblock(fd, true)
		}
	}
	if errors.Is(err, unix.ESRCH) {
		return nil, errNoParent
	}
	alive := func() bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
	if err != nil {
		if !alive() {
			return nil, errNoParent
		}
		return func(ctx context.Context) error { return pollExit(ctx, pollEvery, alive) }, nil
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	return func(ctx context.Context) error {
		defer file.Close()
		if exited, ok := waitReadable(ctx, file); exited {
			return nil
		} else if ok {
			return ctx.Err()
		}
		return pollExit(ctx, pollEvery, alive)
	}, nil
}

// waitReadable waits until file, a pidfd, is readable, which means that its process has exited. ok is false if it
// cannot be waited for. The runtime's poller needs no thread for it, and a deadline ends the wait.
func waitReadable(ctx context.Context, file *os.File) (exited, ok bool) {
	if err := file.SetReadDeadline(time.Time{}); err != nil {
		return false, false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false, false
	}
	defer context.AfterFunc(ctx, func() {
		// This cannot fail: setting a deadline worked before, and a closed file needs none.
		_ = file.SetReadDeadline(time.Unix(1, 0))
	})()
	err = conn.Read(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		exited = err == nil && n > 0
		return exited
	})
	return exited, exited || ctx.Err() != nil || err == nil
}
