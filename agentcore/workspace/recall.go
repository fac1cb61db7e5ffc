package workspace

// Recall makes the run one that knows whole only those files for which whole says so, at once. Of the others that it
// knew whole it knows a part from now on: it may edit them, and replace their text once it has read them again.
func (l *Layer) Recall(whole func(path string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	for path, s := range l.seen {
		if s.whole && !whole(path) {
			l.seen[path] = sight{stamp: s.stamp}
		}
	}
}
