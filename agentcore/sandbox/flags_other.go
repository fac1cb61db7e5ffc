//go:build !unix

package sandbox

// openFlags are none: there are no named pipes among the files here.
const openFlags = 0
