//go:build unix

package skill

import "syscall"

// openNonblock keeps an open from waiting if a pipe took the place of a regular file.
const openNonblock = syscall.O_NONBLOCK
