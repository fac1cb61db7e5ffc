//go:build unix && !linux

package beneath

import "syscall"

const (
	// openFlags keep an open from waiting for the other end of a pipe and from following a link.
	openFlags = openWaitless | syscall.O_NOFOLLOW
	// openWaitless keeps an open from waiting.
	openWaitless = syscall.O_NONBLOCK
)
