// Package lazyregexp has regular expressions that are compiled when they are first used: there are many of them, and
// most runs of the program need few.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression in its first call and returns it in each. It may be called from
// any goroutine; it panics where the expression is not valid.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
