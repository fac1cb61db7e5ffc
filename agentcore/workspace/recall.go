package workspace

// Recall makes the run forget, at once, the whole texts of all files for which whole reports false. Of these files, the
// run still knows a part: it may edit them, and may replace their text once it has read them again.
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
