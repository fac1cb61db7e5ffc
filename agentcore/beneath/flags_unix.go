//go:build unix && !linux

package beneath

import "syscall"

// openFlags keep an open from waiting for the other end of a pipe and from following a link.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
