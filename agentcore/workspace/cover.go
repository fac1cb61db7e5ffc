package workspace

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// maxCovers is how many covers of an undo are kept; the oldest are forgotten first.
const maxCovers = 16

// cover remembers the state of the undo if hunks that are being accepted lie over its lines or beside them. changes are
// the changes of those hunks, ids their ids.
func (u *undo) cover(from *text, changes []change, ids []event.HunkID) {
	c := cover{saved: u.hunk}
	for k, over := range changes {
		if over.start <= u.end && u.start <= over.end {
			c.over = append(c.over, covering{ids[k], u.start - over.start})
		}
	}
	if len(c.over) == 0 {
		return
	}
	// cloned, so that it does not keep the whole text in memory
	c.lines = strings.Clone(from.index().Slice(u.start, u.end))
	u.covers = append(slices.Clone(u.covers[max(0, len(u.covers)-maxCovers+1):]), c)
}

// uncover puts the undo back into its state before the hunks above it were accepted, if the last of these was just
// undone and the lines of the undo are as they were.
func (u *undo) uncover(next *text, landed map[event.HunkID]int) bool {
	if len(u.covers) == 0 || len(landed) == 0 {
		return false
	}
	start := -1
	var top *cover
	var kept []cover
	for i, c := range u.covers {
		var left []covering
		for _, o := range c.over {
			if line, undone := landed[o.id]; !undone {
				left = append(left, o)
			} else if line >= 0 && i == len(u.covers)-1 {
				start = line + o.offset
			}
		}
		switch {
		case len(left) > 0:
			c.over = left
			kept = append(kept, c)
		case i == len(u.covers)-1:
			top = &c
		}
	}
	u.covers = kept
	if top == nil || start < 0 {
		return false
	}
	end := start + top.saved.end - top.saved.start
	if end > next.index().Len() || next.index().Slice(start, end) != top.lines || top.saved.joins(next, start, end) {
		return false
	}
	id, authors := u.id, u.authors
	u.hunk = top.saved
	u.id, u.authors, u.start, u.end = id, authors, start, end
	return true
}

// joins reports whether a hunk's text, in the place of the lines [start, end), would run into the lines beside it.
func (h *hunk) joins(shown *text, start, end int) bool {
	x := shown.index()
	below := h.after != "" && !lineStart(h.after, len(h.after)) && end < x.Len()
	above := start > 0 && !lineStart(x.Text(), x.Start(start)) && h.after != ""
	return below || above
}
