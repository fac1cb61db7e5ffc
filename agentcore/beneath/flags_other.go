//go:build !unix

package beneath

// openFlags are none: there are no pipes among files.
const openFlags = 0
