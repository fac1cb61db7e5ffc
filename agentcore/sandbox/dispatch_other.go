//go:build !linux

package sandbox

// enter is never reached here: nothing starts this program by that name.
func enter() int { return 1 }
