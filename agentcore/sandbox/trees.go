package sandbox

// Trees are what is known of the workspace folders on the disk: which of their files may hold secrets. Boxes that share
// them read a folder once for all of them, and again once it has changed. All of these boxes have the same
// [Options].Secret. The zero value is ready; its methods may be called from any goroutine, Close last of all.
type Trees struct{ known trees }

// Close forgets all of it.
func (t *Trees) Close() error { return t.known.close() }
