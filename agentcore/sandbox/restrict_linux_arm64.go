package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// foreignCalls is above all numbers: there is no second ABI on this architecture.
	foreignCalls = 0xffffffff
)

// deniedHere are further calls to deny that only this architecture has.
var deniedHere []uint32
