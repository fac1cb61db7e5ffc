package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// Try locks a file against other open files, in this process too (LockFileEx), and reports whether
// it could. The lock ends with the handle, and so with the process.
func Try(f *os.File, exclusive bool) (bool, error) {
	const (
		failImmediately            = 1
		exclusiveLock              = 2
		errorLockViolation         = syscall.Errno(33)
		everything                 = 0xffffffff
		reserved           uintptr = 0
	)
	flags := uintptr(failImmediately)
	if exclusive {
		flags |= exclusiveLock
	}
	var at syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), flags, reserved, everything, everything, uintptr(unsafe.Pointer(&at)))
	if ok != 0 {
		return true, nil
	}
	if errors.Is(err, errorLockViolation) {
		return false, nil
	}
	return false, err
}
