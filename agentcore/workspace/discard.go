package workspace

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// When a document is closed without saving, the disk's text shows again, and everything that was done since the last
// save counts as never done. Comparing the two texts cannot tell which of several equal lines came back. So undos
// remember how they were when the text was saved.

// traces returns those lines of the text that show whether it holds hunks whose saving nobody reported.
func (p *pile) traces(next *text) map[string]bool {
	all := make(map[string]bool)
	for _, u := range p.undos {
		if u.saved == nil {
			for _, line := range slices.Concat(u.vanished, wordsOnly(u.after, u.before)) {
				all[line] = true
			}
		}
	}
	return next.standing(all)
}

// revert puts an undo back into the state that it had when the text that shows again was saved. A hunk that was
// accepted later counts as taken back, unless the text may have been saved without a report, as some editors do, and
// seems to hold the hunk. revert reports false where nothing is certain. standing are the traces of hunks in the text.
func (u *undo) revert(next *text, lost loss, standing map[string]bool) bool {
	stands := func(line string) bool { return standing[line] }
	switch {
	case u.create || u.delete || u.moveTo != "" || u.settled() && !u.pending:
		return false
	case u.saved == nil && lost == maybeLost &&
		(slices.ContainsFunc(wordsOnly(u.after, u.before), stands) || len(u.vanished) > 0 &&
			!slices.ContainsFunc(u.vanished, stands)):
		return false
	case u.saved == nil:
		u.settle(event.StateAccepted, "")
		return true
	case !next.same(u.saved.on):
		return false
	}
	id, authors, pending := u.id, u.authors, u.pending
	u.hunk, u.covers = u.saved.hunk, u.saved.covers
	u.id, u.authors, u.pending = id, authors, false
	if pending {
		u.detail = unmade
	}
	return true
}

// What an undo brings back may already be back at another place: the user has put it there, or the text that was loaded
// again is aligned in another way. A line tells this that stood nowhere else when the hunk was accepted.

// remark notes for each undo of a batch that was just accepted which lines with words it took out of the text
// altogether.
func (p *pile) remark(shown *text, batch uint64) {
	all := make(map[string]bool)
	for _, u := range p.undos {
		if u.batch == batch {
			for _, line := range wordsOnly(u.before, u.after) {
				all[line] = true
			}
		}
	}
	if len(all) == 0 {
		return
	}
	standing := shown.standing(all)
	for _, u := range p.undos {
		if u.batch == batch {
			u.vanished = slices.DeleteFunc(wordsOnly(u.before, u.after),
				func(line string) bool { return standing[line] })
		}
	}
}

// wordsOnly returns the lines with words that one text has and another lacks, closed up (see closeUp).
func wordsOnly(without, with string) []string {
	had := make(map[string]bool)
	for line := range strings.Lines(without) {
		had[closeUp(line)] = true
	}
	var lines []string
	for line := range strings.Lines(with) {
		if line = closeUp(line); !had[line] && strings.ContainsFunc(line, isWord) {
			lines = append(lines, line)
		}
	}
	return lines
}

// standing returns those of some closed-up lines that stand in a text.
func (t *text) standing(lines map[string]bool) map[string]bool {
	found := make(map[string]bool)
	if len(lines) == 0 || t == nil {
		return found
	}
	begins := make(map[string]bool)
	for line := range lines {
		begins[firstWord(line)] = true
	}
	for line := range strings.Lines(t.s) {
		if begins[firstWord(line)] && lines[closeUp(line)] {
			found[closeUp(line)] = true
		}
	}
	return found
}

// firstWord returns what stands before the first white space within a line.
func firstWord(line string) string {
	for word := range strings.FieldsSeq(line) {
		return word
	}
	return ""
}

// back takes out of a group those undos that would bring back a line that is back already, and tells them why.
func back(shown *text, group []*undo) (apart, twice []*undo) {
	all := make(map[string]bool)
	for _, u := range group {
		for _, line := range u.vanished {
			all[line] = true
		}
	}
	standing := shown.standing(all)
	for _, u := range group {
		brings := wordsOnly(u.before, u.after)
		at := slices.IndexFunc(u.vanished,
			func(line string) bool { return standing[line] && slices.Contains(brings, line) })
		if at < 0 {
			apart = append(apart, u)
			continue
		}
		u.detail = "what it would bring back is there again: " + strings.TrimSuffix(u.vanished[at], "\n")
		twice = append(twice, u)
	}
	return apart, twice
}
