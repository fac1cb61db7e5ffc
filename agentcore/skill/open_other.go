//go:build !unix

package skill

// openNonblock is not needed where opening a file never waits for another process.
const openNonblock = 0
