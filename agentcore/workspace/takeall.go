package workspace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// similar is the part of the longer file, in bytes of lines, that a file must share with one that is gone to be
	// that file, moved: git's default.
	similar = 0.5
	// maxCompared bounds the pairs of files that are compared for it.
	maxCompared = 2500
)

// TakeAll makes what a program wrote edits of the layer, as [Snapshot.Take] does file by file. A file that is gone and
// a new one of the same or a similar text are one file that was moved, as long as the layer shows what the program saw.
// The order of the result is that of the paths. Only the layer's owner may call it.
func (s Snapshot) TakeAll(written []Written, author Author) []Taken {
	var taken []Taken
	for _, w := range written {
		s.layer.view.Expect(w.Path)
	}
	judge := s.layer.view.Judge(nil)
	moves := s.moves(written, judge)
	moved := map[string]bool{}
	for _, m := range moves {
		t, ok := s.takeMove(judge, m, author)
		if !ok {
			continue // it is taken for a deletion and a new file
		}
		taken = append(taken, t)
		moved[m.from.Path], moved[m.to.Path] = true, true
	}
	// Deletions come first, so that a folder can take a file's place.
	for _, deleted := range []bool{true, false} {
		for _, w := range written {
			if w.Deleted == deleted && !moved[w.Path] {
				taken = append(taken, s.take(w, author, judge))
			}
		}
	}
	slices.SortStableFunc(taken, func(a, b Taken) int { return strings.Compare(a.Path, b.Path) })
	return taken
}

// fileMove is a file that a program has moved, and perhaps changed.
type fileMove struct {
	from, to     Written
	before, made *text
	was, as      Format
	score        float64
}

// moves pairs the files that are gone with new ones.
func (s Snapshot) moves(written []Written, judge *Judge) []fileMove {
	isGone := func(w Written) bool { return w.Deleted && w.Existed }
	isMade := func(w Written) bool { return !w.Deleted && !w.Existed }
	if !slices.ContainsFunc(written, isGone) || !slices.ContainsFunc(written, isMade) {
		return nil
	}
	var gone, made []fileMove // halves of moves
	for _, w := range written {
		if !isGone(w) && !isMade(w) {
			continue
		}
		path := cleanPath(w.Path)
		c, format, err := s.now(path)
		if err != nil || writableBy(judge, s.layer, path) != nil {
			continue
		}
		switch {
		case isGone(w):
			if base, known := s.before(path, w, c, format); known && base != nil && c.text.same(base) &&
				strings.TrimSpace(base.string()) != "" {
				gone = append(gone, fileMove{from: w, before: base, was: format})
			}
		case isMade(w) && c.text == nil:
			if decoded, as, ok := Decode(w.Content); ok && strings.TrimSpace(decoded) != "" {
				made = append(made, fileMove{to: w, made: newText(decoded), as: as})
			}
		}
	}
	pairs := similarPairs(gone, made)
	// The most similar ones find each other first, and among equals those of the same name.
	renamed := func(m fileMove) int {
		if filepath.Base(m.from.Path) == filepath.Base(m.to.Path) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(pairs, func(a, b fileMove) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(renamed(a), renamed(b)),
			strings.Compare(a.from.Path, b.from.Path), strings.Compare(a.to.Path, b.to.Path))
	})
	used := map[string]bool{}
	return slices.DeleteFunc(pairs, func(m fileMove) bool {
		if used[m.from.Path] || used[m.to.Path] {
			return true
		}
		used[m.from.Path], used[m.to.Path] = true, true
		return false
	})
}

// similarPairs pairs each file that is gone with each new one that may be it. Where they are very many, only equal ones
// are.
func similarPairs(gone, made []fileMove) (pairs []fileMove) {
	compared := len(gone)*len(made) <= maxCompared
	lines := make([]map[string]int, len(gone))
	for i, g := range gone {
		if compared {
			lines[i] = lineBytes(g.before.string())
		}
		for _, m := range made {
			score := 0.0
			if g.before.same(m.made) {
				score = 1
			} else if compared {
				score = likeness(lines[i], len(g.before.string()), m.made.string())
			}
			if score >= similar {
				pairs = append(pairs, fileMove{g.from, m.to, g.before, m.made, g.was, m.as, score})
			}
		}
	}
	return pairs
}

// lineBytes counts the bytes of each line of a text, by line.
func lineBytes(text string) map[string]int {
	lines := map[string]int{}
	for line := range strings.Lines(text) {
		lines[line] += len(line)
	}
	return lines
}

// likeness is the part of the longer text that both have, from 0 to 1. lines are those of the first, which has size
// bytes.
func likeness(lines map[string]int, size int, text string) float64 {
	longer, shorter := max(size, len(text)), min(size, len(text))
	if float64(shorter) < similar*float64(longer) {
		return 0
	}
	common := 0
	for line, bytes := range lineBytes(text) {
		common += min(bytes, lines[line])
	}
	return float64(common) / float64(longer)
}

// takeMove makes a move an edit of the layer. ok is false where it does not fit there.
func (s Snapshot) takeMove(judge *Judge, m fileMove, author Author) (taken Taken, ok bool) {
	from, to := cleanPath(m.from.Path), cleanPath(m.to.Path)
	if err := s.layer.move(judge, from, to, m.before.stamp(), author); err != nil {
		return Taken{}, false
	}
	taken = Taken{Path: to, MovedFrom: from, Changed: true, Notes: formatNotes(m.was, m.as, true, m.to.Executable)}
	if !m.made.same(m.before) {
		taken.Problem = s.layer.putUnseen(judge, to, m.made, m.before.stamp(), author)
	}
	return taken, true
}
