//go:build !linux || !(amd64 || arm64)

package sandbox

// enter is never reached here: nothing starts this program by that name.
func enter() int { return 1 }
