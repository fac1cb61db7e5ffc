//go:build !unix

package beneath

// openFlags and openWaitless are none: there are no pipes among files.
const (
	openFlags    = 0
	openWaitless = 0
)
