package workspace

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// NewProposal makes an empty proposal. It is ended by [Proposal.Close].
func (v *View) NewProposal(options ProposalOptions) *Proposal {
	return &Proposal{view: v, options: options}
}

// ID is that of its options.
func (s *Proposal) ID() event.ProposalID { return s.options.ID }

// Close forgets the hunks. Changed is not called any more, but a call that has begun may still be under way.
func (s *Proposal) Close() {
	s.closed.Store(true)
	v := s.view
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.anchors {
		delete(a.piles, s)
		delete(a.incoming, s)
		v.release(a)
	}
	s.kept, s.undoable = nil, nil
}

// Hunks returns the hunks in the order of their paths and lines: all open hunks and conflicts, and the newest settled
// hunks with the last lines that they had.
func (s *Proposal) Hunks() []Hunk {
	v := s.view
	v.mu.Lock()
	hunks := slices.Clone(s.kept)
	var texts []*text
	for _, a := range v.anchors {
		if p := a.piles[s]; p != nil {
			for _, h := range p.hunks {
				hunks = append(hunks, a.hunk(h))
				texts = append(texts, a.now())
			}
		}
	}
	v.mu.Unlock()
	stamp(hunks[len(hunks)-len(texts):], texts)
	slices.SortStableFunc(hunks, byPlace)
	return hunks
}

// Tally counts the hunks of a proposal by their state, as [Proposal.Hunks] lists them. It copies and hashes nothing, so
// that it may be called at every change of a large proposal.
func Tally(s *Proposal) map[event.ProposalState]int {
	v := s.view
	v.mu.Lock()
	defer v.mu.Unlock()
	states := map[event.ProposalState]int{}
	for i := range s.kept {
		states[s.kept[i].State]++
	}
	for _, a := range v.anchors {
		if p := a.piles[s]; p != nil {
			for _, h := range p.hunks {
				states[h.shownState()]++
			}
		}
	}
	return states
}

// Hunk returns one hunk.
func (s *Proposal) Hunk(id event.HunkID) (Hunk, bool) {
	s.view.mu.Lock()
	if at, ok := s.find(id)[id]; ok {
		found, shown := at.anchor.hunk(at.hunk), at.anchor.now()
		s.view.mu.Unlock()
		found.Stamp = shown.stamp()
		return found, true
	}
	defer s.view.mu.Unlock()
	if i := slices.IndexFunc(s.kept, func(h Hunk) bool { return h.ID == id }); i >= 0 {
		return s.kept[i], true
	}
	if at, ok := s.findUndos(id)[id]; ok {
		return at.undo.accepted, true // accepted in a former process
	}
	return Hunk{}, false
}

// content returns a file as the proposal shows it.
func (s *Proposal) content(path string) (content, error) {
	v := s.view
	defer v.notices.run()
	f := s.look(path)[0]
	defer v.mu.Unlock()
	c := f.content
	a := v.anchors[f.origin]
	if f.err != nil || a == nil || a.piles[s] == nil {
		return c, f.err
	}
	if doc := v.docs[a.path]; doc != nil {
		c.version, c.open = doc.version, true
	}
	if f.origin != path {
		c.version, c.open = -1, false
	}
	p := a.piles[s]
	c.text = p.text(a.now())
	if f.origin == path && p.moving() != nil {
		c.text = nil
	}
	return c, nil
}

// merge adds a layer's edits of a file to the proposal. On an error, a *FileError, the file cannot be read and nothing
// is merged. The caller runs the notices, once for all files.
func (s *Proposal) merge(path string, edits moved) ([]Conflict, []event.HunkID, error) {
	v := s.view
	paths := []string{path}
	if edits.to != "" {
		paths = append(paths, edits.to)
	}
	files := s.look(paths...)
	defer v.mu.Unlock()
	if files[0].err != nil || s.closed.Load() {
		return nil, nil, files[0].err
	}
	a := v.anchor(files[0].origin, files[0].content)
	p := s.pile(a)
	shown := p.text(a.now())
	away := a.path == path && p.moving() != nil
	if away {
		shown = nil
	}
	over, conflicts := edits.rebase(shown)
	var ids []event.HunkID
	if next := over.text(); len(over.hunks) > 0 {
		hunks := over.hunks
		if away {
			ids = s.unmove(a, p)
			shown = p.text(a.now())
			hunks = hunksBy(shown, next, authorsOf(hunks))
		}
		if h := p.mover(); h != nil && next == nil {
			h.settle(event.StateSuperseded, "a later edit deletes the file")
		}
		ids = append(ids, s.stack(a, p, shown, next, hunks)...)
	}
	switch {
	case edits.to == "":
	case shown == nil || away:
		conflicts = edits.gone()
	default:
		conflict, more := s.place(a, files[0], files[1], edits.movers)
		if conflict != nil {
			conflicts = append(conflicts, *conflict)
		}
		ids = uniqueIDs(append(ids, more...))
	}
	a.expected = nil
	p.arrange()
	s.publish(a, p)
	return conflicts, ids, nil
}

func uniqueIDs(ids []event.HunkID) []event.HunkID {
	return slices.Collect(once(ids))
}

// stack puts the hunks over, which turn the proposal's text into next, on top of the hunks of a file. It returns which
// hunks are new or changed. The lock is held, and the caller publishes.
func (s *Proposal) stack(a *anchor, p *pile, shown, next *text, over []*hunk) []event.HunkID {
	var ids []event.HunkID
	var hunks []*hunk
	for _, c := range compose(a.now(), shown, next, p.patch(a.now()).hunks, over) {
		switch {
		case c.hunk == nil:
			for _, h := range c.from {
				h.settle(event.StateSuperseded, "a later edit took it back")
			}
			continue
		case !c.fresh:
			hunks = append(hunks, c.hunk)
			continue
		}
		h := c.hunk
		h.id, h.state, h.notify = event.NewHunkID(), event.StateOpen, true
		if len(c.from) > 0 {
			h.id = c.from[0].id
			for _, former := range c.from[1:] {
				former.settle(event.StateSuperseded, "it became part of hunk "+string(h.id))
				hunks = append(hunks, former)
			}
		}
		ids = append(ids, h.id)
		hunks = append(hunks, h)
		for _, former := range p.hunks {
			if former.state == event.StateConflict && former.moveTo == "" &&
				(former.create || former.delete || h.create || h.delete || h.start <= former.end &&
					former.start <= h.end) {
				former.settle(event.StateSuperseded, "a later edit takes its place")
			}
		}
	}
	for _, h := range p.hunks {
		if !h.edits() && !slices.Contains(hunks, h) {
			hunks = append(hunks, h)
		}
	}
	p.hunks, p.valid = hunks, false
	a.expected = nil
	p.arrange()
	return ids
}

// once yields each id once.
func once(ids []event.HunkID) iter.Seq[event.HunkID] {
	return func(yield func(event.HunkID) bool) {
		seen := make(map[event.HunkID]bool, len(ids))
		for _, id := range ids {
			if seen[id] {
				continue
			}
			if seen[id] = true; !yield(id) {
				return
			}
		}
	}
}

// Edits returns what the editor has to do to take hunks: the smallest edits of the text that it shows now, one FileEdit
// for each file, sorted by path. A hunk that is in conflict, settled or unknown is returned as a failure. Files that
// are not open are read from the disk.
func (s *Proposal) Edits(ids []event.HunkID) ([]FileEdit, []HunkFailure) {
	v := s.view
	defer v.notices.run()
	s.reread(ids)
	v.mu.Lock()
	defer v.mu.Unlock()
	var failures []HunkFailure
	wanted := make(map[*anchor][]*hunk)
	all := s.find(ids...)
	for id := range once(ids) {
		a, h := all[id].anchor, all[id].hunk
		switch {
		case h == nil:
			failures = append(failures, HunkFailure{id, s.whySettled(id)})
		case h.gone:
			failures = append(failures, HunkFailure{id, "the file is gone"})
		case h.pending:
			failures = append(failures, HunkFailure{id, "the editor took it already"})
		case h.state == event.StateConflict:
			failures = append(failures, HunkFailure{id, "it is in conflict: " + h.detail})
		case !h.delete && a.now().index().Slice(h.start, h.end) != h.before:
			failures = append(failures, HunkFailure{id, "its lines are not as they were"})
		default:
			wanted[a] = append(wanted[a], h)
		}
	}
	var edits []FileEdit
	for a, hunks := range wanted {
		slices.SortFunc(hunks,
			func(x, y *hunk) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end)) })
		edits = append(edits, a.edit(s, hunks))
	}
	slices.SortFunc(edits, func(x, y FileEdit) int { return strings.Compare(x.Path, y.Path) })
	return edits, failures
}

// whySettled says why a hunk is not open. The lock is held.
func (s *Proposal) whySettled(id event.HunkID) string {
	i := slices.IndexFunc(s.kept, func(h Hunk) bool { return h.ID == id })
	if i < 0 {
		return "there is no such hunk"
	}
	reason := "it was " + string(s.kept[i].State) + " before"
	if detail := s.kept[i].Detail; detail != "" {
		reason += ": " + detail
	}
	return reason
}

// reread brings the files of hunks up to date.
func (s *Proposal) reread(ids []event.HunkID) {
	v := s.view
	paths := make(map[string]bool)
	v.mu.Lock()
	for _, at := range s.find(ids...) {
		if v.docs[at.anchor.path] == nil {
			paths[at.anchor.path] = true
		}
		if at.hunk.moveTo != "" {
			paths[at.hunk.moveTo] = true
		}
	}
	for _, at := range s.findUndos(ids...) {
		if v.docs[at.anchor.path] == nil {
			paths[at.anchor.path] = true
		}
	}
	v.mu.Unlock()
	for path := range paths {
		v.recheck(path, false)
	}
}

// edit makes the edits for hunks of one file, and remembers the text that they lead to. The lock is held.
func (a *anchor) edit(s *Proposal, hunks []*hunk) (e FileEdit) {
	e = s.fileEdit(a)
	expected := expectation{session: s}
	lines := slices.DeleteFunc(slices.Clone(hunks), func(h *hunk) bool { return h.moveTo != "" })
	if i := slices.IndexFunc(hunks, func(h *hunk) bool { return h.moveTo != "" }); i >= 0 {
		e.MoveTo = hunks[i].moveTo
		defer func() { e.Reasons = append(e.Reasons, joinAuthors(hunks[i].authors).Reason) }()
	}
	for _, h := range lines {
		e.Create = e.Create || h.create && a.now() == nil
		e.Delete = e.Delete || h.delete
		expected.ids = append(expected.ids, h.id)
		expected.changes = append(expected.changes, h.change())
		reason := joinAuthors(h.authors).Reason
		e.Reasons = append(e.Reasons, reason)
		if !h.delete {
			x := a.now().index()
			e.Edits = append(e.Edits, Edit{x.Start(h.start), x.Start(h.end), h.after})
		}
	}
	if a.now() != nil && !e.Delete && len(lines) > 0 {
		expected.text = apply(a.now(), lines).s
		a.expect(expected)
	}
	return e
}

// fileEdit makes an edit of a file, as the file is now, that changes nothing yet. The lock is held.
func (s *Proposal) fileEdit(a *anchor) FileEdit {
	e := FileEdit{Path: a.path, Version: -1, Before: a.now().string()}
	if doc := s.view.docs[a.path]; doc != nil {
		e.Version = doc.version
	}
	return e
}

// expect adds the text that edits lead to to the last ones that are expected. The lock is held.
func (a *anchor) expect(e expectation) {
	a.expected = append(a.expected, e)
	if len(a.expected) > 4 {
		a.expected = slices.Delete(a.expected, 0, 1)
	}
}

// Confirm reports the editor's answer to the edits of hunks. If the editor applied them, the hunks are accepted, but
// count as proposed until the next text of their file, or [View.Recheck], shows them; if that text lacks them, they are
// open again. If the editor did not apply them, they stay open with the reason.
func (s *Proposal) Confirm(ids []event.HunkID, applied bool, reason string) {
	v := s.view
	defer v.notices.run()
	v.mu.Lock()
	defer v.mu.Unlock()
	piles := make(map[*anchor]*pile)
	for _, at := range s.find(ids...) {
		h := at.hunk
		if !h.live() || h.pending {
			continue
		}
		h.notify = true
		if applied {
			h.state, h.detail, h.pending = event.StateAccepted, "", true
		} else {
			h.detail = reason
		}
		piles[at.anchor] = at.pile
	}
	s.publishAll(piles)
}

// Reject settles hunks, open ones and conflicts, without applying them.
func (s *Proposal) Reject(ids []event.HunkID) []HunkFailure {
	v := s.view
	defer v.notices.run()
	v.mu.Lock()
	defer v.mu.Unlock()
	var failures []HunkFailure
	piles := make(map[*anchor]*pile)
	all := s.find(ids...)
	for id := range once(ids) {
		a, p, h := all[id].anchor, all[id].pile, all[id].hunk
		switch {
		case h == nil:
			failures = append(failures, HunkFailure{id, s.whySettled(id)})
		case h.pending:
			failures = append(failures, HunkFailure{id, "the editor took it already"})
		default:
			if h.moveTo != "" && h.live() {
				v.renamed(rename{from: h.moveTo, to: a.path, session: s})
			}
			h.gone = false
			detail := ""
			if s.rewinding[id] {
				detail = Rewound
			}
			h.settle(event.StateRejected, detail)
			piles[a] = p
		}
	}
	s.publishAll(piles)
	return failures
}

// publishAll publishes what changed in several files. The lock is held.
func (s *Proposal) publishAll(piles map[*anchor]*pile) {
	for a, p := range piles {
		s.publish(a, p)
	}
}

// Remark sets the detail of open hunks and conflicts. Hunks that are settled meanwhile stay as they are.
func (s *Proposal) Remark(ids []event.HunkID, detail string) {
	v := s.view
	defer v.notices.run()
	v.mu.Lock()
	defer v.mu.Unlock()
	piles := make(map[*anchor]*pile)
	for _, at := range s.find(ids...) {
		if h := at.hunk; !h.pending && h.detail != detail {
			h.detail, h.notify = detail, true
			piles[at.anchor] = at.pile
		}
	}
	s.publishAll(piles)
}
