package workspace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Accepted returns the accepted hunks that can be undone, in the order of their paths and lines: where they stand now,
// with Before as what stands there and After as what an undo would bring back. Their state is that of the undo:
// open, or conflict where the lines were changed since, and Current then holds what stands there. An
// open one whose lines are back elsewhere is refused by [Proposal.UndoEdits] all the same. Create says that the
// undo makes the file again, Delete that it takes it away. There are at most the last 1000 of the session.
func (s *Proposal) Accepted() []Hunk {
	v := s.view
	v.mu.Lock()
	var hunks []Hunk
	var texts []*text
	for _, a := range v.anchors {
		if p := a.piles[s]; p != nil {
			for _, u := range p.undos {
				if !u.pending {
					hunks = append(hunks, a.hunk(&u.hunk))
					texts = append(texts, a.now())
				}
			}
		}
	}
	v.mu.Unlock()
	stamp(hunks, texts)
	slices.SortStableFunc(hunks, byPlace)
	return hunks
}

// UndoEdits returns what the editor has to do to undo accepted hunks: the smallest edits against the text that it
// shows now, one FileEdit a file, sorted by path. What the user has changed since stays. Hunks that touched the
// same lines are undone from the newest to the oldest. A hunk whose lines were changed since, that would bring lines
// which are back already, or that cannot be undone any more, comes back as a failure. It reads files that are not open
// from disk.
func (s *Proposal) UndoEdits(ids []event.HunkID) ([]FileEdit, []HunkFailure) {
	v := s.view
	defer v.notices.run()
	s.reread(ids)
	taken := s.takenAgain(ids)
	v.mu.Lock()
	defer v.mu.Unlock()
	var failures []HunkFailure
	wanted := make(map[*anchor][]*undo)
	all := s.findUndos(ids...)
	for id := range once(ids) {
		a, u := all[id].anchor, all[id].undo
		switch {
		case u == nil:
			failures = append(failures, HunkFailure{id, s.whyNotUndone(id)})
		case u.pending:
			failures = append(failures, HunkFailure{id, "the editor undid it already"})
		case u.moveTo != "" && u.gone:
			failures = append(failures, HunkFailure{id, "the file is gone"})
		case u.moveTo != "" && slices.Contains(taken, u.moveTo):
			failures = append(failures, HunkFailure{id, "another file is at its old path; move that one away first"})
		default:
			wanted[a] = append(wanted[a], u)
		}
	}
	var edits []FileEdit
	for a, undos := range wanted {
		edit, failed := a.undoEdit(s, undos)
		failures = append(failures, failed...)
		if edit != nil {
			edits = append(edits, *edit)
		}
	}
	slices.SortFunc(edits, func(x, y FileEdit) int { return strings.Compare(x.Path, y.Path) })
	return edits, failures
}

// whyNotUndone says why there is no undo of a hunk. The lock is held.
func (s *Proposal) whyNotUndone(id event.HunkID) string {
	if _, open := s.find(id)[id]; open {
		return "it was not accepted"
	}
	i := slices.IndexFunc(s.kept, func(h Hunk) bool { return h.ID == id })
	switch {
	case i < 0:
		return "there is no such hunk, or it was accepted too long ago"
	case s.kept[i].State == event.StateAccepted:
		return "it was accepted too long ago"
	}
	return s.whySettled(id)
}

// undoEdit tries undos of one file on a copy of them, the newest first, since what a newer one did to the lines of an
// older one has to go before it. The edit is nil where nothing can be undone. The lock is held.
func (a *anchor) undoEdit(s *Proposal, undos []*undo) (*FileEdit, []HunkFailure) {
	var left []*undo
	home, reason := "", ""
	for _, u := range undos {
		if u.moveTo != "" {
			home, reason = u.moveTo, joinAuthors(u.authors).Reason
			continue
		}
		copied := *u
		left = append(left, &copied)
	}
	slices.SortStableFunc(left, newestFirst)
	expected := expectation{session: s, undo: true}
	stack, cur, left, twice := a.takeBack(left, &expected)
	failures := notUndone(left, twice, &expected)
	if len(expected.ids) == 0 && home == "" {
		return nil, failures
	}
	edit := s.fileEdit(a)
	if edit.MoveTo = home; home != "" {
		defer func() { edit.Reasons = append(edit.Reasons, reason) }()
	}
	edit.Create, edit.Delete = a.now() == nil && cur != nil, a.now() != nil && cur == nil
	for _, h := range stack.hunks {
		reason := joinAuthors(h.authors).Reason
		edit.Reasons = append(edit.Reasons, reason)
		if !h.delete {
			x := a.now().index()
			edit.Edits = append(edit.Edits, Edit{x.Start(h.start), x.Start(h.end), h.after})
			expected.changes = append(expected.changes, h.change())
		}
	}
	if a.now() != nil && cur != nil && len(expected.ids) > 0 {
		expected.text = cur.s
		a.expect(expected)
	}
	if len(stack.hunks) == 0 && home == "" {
		return nil, failures // they cancel each other out; ConfirmUndo settles them
	}
	return &edit, failures
}

// takeBack undoes on a copy what can be undone, and returns the hunks that do it, the text that they make, and what is
// left: what has other lines now, and what would be there twice. expected gets the hunks that are undone.
func (a *anchor) takeBack(left []*undo, expected *expectation) (stack patch, cur *text, rest, twice []*undo) {
	stack, cur = patch{base: a.now()}, a.now()
	from := cur
	if from == nil {
		from = a.last
	}
	for {
		var undos, again []*undo
		if undos, left = newest(left); len(undos) == 0 {
			return stack, cur, left, twice
		}
		undos, again = back(cur, undos)
		twice = append(twice, again...)
		if len(undos) == 0 {
			continue
		}
		group := hunksOf(undos)
		next := apply(cur, group)
		stack = stack.compose(cur, next, group)
		step := expectation{session: expected.session, undo: true}
		landed := make(map[event.HunkID]int)
		for _, h := range group {
			step.ids = append(step.ids, h.id)
			step.changes = append(step.changes, h.change())
		}
		for _, h := range group {
			landed[h.id] = h.lands(step.changes)
		}
		changes := step.changes
		if cur == nil && from != nil && next != nil {
			changes = lineChanges(from.s, next.s)
		}
		left, twice = append(left, twice...), nil // which may do without the lines that are gone now
		for _, other := range left {
			other.move(from, next, changes, &step, landed)
		}
		slices.SortStableFunc(left, newestFirst)
		expected.ids = append(expected.ids, step.ids...)
		if cur = next; next != nil {
			from = next
		}
	}
}

// notUndone says why undos are left. Those that what was undone has undone, too, are expected with it.
func notUndone(left, twice []*undo, expected *expectation) []HunkFailure {
	var failures []HunkFailure
	for _, u := range twice {
		failures = append(failures, HunkFailure{u.id, u.detail})
	}
	for _, u := range left {
		reason := "its lines were changed since: " + u.detail
		switch {
		case u.gone:
			reason = "the file is gone"
		case u.settled(): // what undid the others undid it, too
			expected.ids = append(expected.ids, u.id)
			continue
		}
		failures = append(failures, HunkFailure{u.id, reason})
	}
	return failures
}

func newestFirst(x, y *undo) int { return cmp.Compare(y.batch, x.batch) }

func hunksOf(undos []*undo) []*hunk {
	hunks := make([]*hunk, len(undos))
	for i, u := range undos {
		hunks[i] = &u.hunk
	}
	return hunks
}

// newest takes those undos out of a list, sorted from the newest to the oldest, that can be made first, in one step:
// those of one batch where they lie apart.
func newest(list []*undo) (group, left []*undo) {
	first := slices.IndexFunc(list, func(u *undo) bool { return u.state == event.StateOpen && !u.gone })
	if first < 0 {
		return nil, list
	}
	whole := list[first].create || list[first].delete
	for i, u := range list {
		switch {
		case i == first, u.batch == list[first].batch && u.state == event.StateOpen && !u.gone && !whole &&
			!u.create && !u.delete:
			group = append(group, u)
		default:
			left = append(left, u)
		}
	}
	slices.SortFunc(group, func(x, y *undo) int { return inOrder(&x.hunk, &y.hunk) })
	if overlap(hunksOf(group)) {
		return []*undo{list[first]}, slices.Delete(slices.Clone(list), first, first+1)
	}
	return group, left
}

// ConfirmUndo tells the editor's answer to the edits of [Proposal.UndoEdits]. Where it applied them the hunks are
// rejected with the detail "undone", but still stand until the next text of their file, or [View.Recheck], lacks them;
// where that text has them they are accepted again. Where it did not, they stay with the reason.
func (s *Proposal) ConfirmUndo(ids []event.HunkID, applied bool, reason string) {
	v := s.view
	defer v.notices.run()
	v.mu.Lock()
	defer v.mu.Unlock()
	piles := make(map[*anchor]*pile)
	all := s.findUndos(ids...)
	for _, id := range ids {
		a, p, u := all[id].anchor, all[id].pile, all[id].undo
		if u == nil || u.pending {
			continue
		}
		same := a.now() != nil && slices.ContainsFunc(a.expected, func(e expectation) bool {
			return e.undo && e.session == s && e.text == a.now().s && slices.Contains(e.ids, id)
		})
		if u.state != event.StateOpen && !(applied && same) {
			continue
		}
		piles[a] = p
		switch {
		case !applied:
			u.detail = reason
		case same:
			// there was nothing to change, though it may lie below one that goes with it
			u.settle(event.StateAccepted, "")
		default:
			u.pending = true
			if u.moveTo != "" {
				v.await(s, a, u.moveTo)
			}
		}
	}
	s.publishAll(piles)
}
