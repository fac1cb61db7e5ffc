//go:build !unix

package workspace

// openNonblock is not needed where opening a file never waits for another process.
const openNonblock = 0
