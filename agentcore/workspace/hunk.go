package workspace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Hunk is one piece of a proposal: some lines of the text that the editor shows, and the lines that would replace them.
type Hunk struct {
	ID    event.HunkID
	Path  string
	State event.ProposalState
	// StartLine and EndLine are lines of the shown text, 0-based, the end exclusive; they follow
	// the user's typing. Before and After are whole lines with their line endings.
	StartLine, EndLine int
	Before, After      string
	// Create says that the hunk makes the file, Delete that it deletes the file.
	Create, Delete bool
	// MoveTo is set for a hunk that moves the file from Path to MoveTo. Such a hunk has no lines. Edits of the file are
	// hunks of their own at Path, on the text there; once the file is at MoveTo, they are, too. An accepted hunk of a
	// move keeps the old path.
	MoveTo string
	// Author is who wrote the hunk last; its Reason holds the reasons of all writes that went into it.
	Author Author
	// Fixes are the findings whose fixes went into the hunk, sorted. Code that stores hunks must store the findings
	// with them.
	Fixes []event.FindingID
	// Runs are the runs that wrote into the hunk, the author's last. A hunk of a former process names only that one.
	Runs []event.RunID
	// Detail says in a sentence for people why the hunk is in its state. It may be empty.
	Detail string
	// Current is the text that stands at the lines now. It is set for a conflict.
	Current string
	// Stamp is the stamp of the shown text that the lines refer to. It is empty where there is no such file, and for
	// hunks that were settled before.
	Stamp Stamp
	// Place is how [Proposal.Restore] finds the hunk in another process.
	Place Place
}

// Waits reports whether the hunk waits for the user's decision.
func (h Hunk) Waits() bool { return h.State == event.StateOpen || h.State == event.StateConflict }

// IDs are the ids of hunks, in their order.
func IDs(hunks []Hunk) []event.HunkID {
	ids := make([]event.HunkID, len(hunks))
	for i := range hunks {
		ids[i] = hunks[i].ID
	}
	return ids
}

// Place tells where a hunk stands in the text of its Stamp: Before, or After once it is accepted.
type Place struct {
	// StartLine and EndLine are 0-based, the end exclusive.
	StartLine, EndLine int
	// Above and Below are the few whole lines around it.
	Above, Below string
}

// placeLines is how many lines a Place has above and below the hunk.
const placeLines = 3

// These are the details of a hunk that the editor reports as taken, or as taken back, while its text says otherwise.
const (
	untaken = "the editor said that it made the edit, but its text does not have it"
	unmade  = "the editor said that it undid the edit, but its text still has it"
)

// hunk replaces the lines [start, end) of a base text. The hunks of a layer are immutable and have no id; those of a
// session are guarded by the lock of its view.
type hunk struct {
	start, end     int
	before, after  string
	create, delete bool
	// moveTo is set for a session's hunk that moves the file. Such a hunk has no lines.
	moveTo  string
	authors []Author

	id     event.HunkID
	state  event.ProposalState
	detail string
	// pending is true for an accepted hunk whose text the editor has not shown yet. The hunk still counts as proposed.
	pending bool
	// A conflict covers the lines [start, end). When the hunk still fitted, these lines had the text home, and before
	// stood at its line homeAt.
	home   string
	homeAt int
	// gone is set while the file does not exist; the lines are then those of its last text.
	gone bool
	// notify is set where people should be told of the hunk.
	notify bool
	// reverse is the undo of an accepted hunk.
	reverse *hunk
}

func (h *hunk) delta() int { return countLines(h.after) - (h.end - h.start) }

// live reports whether the hunk is a part of the session layer's text.
func (h *hunk) live() bool { return (h.state == event.StateOpen || h.pending) && !h.gone }

// edits reports whether the hunk counts and changes the text.
func (h *hunk) edits() bool { return h.live() && h.moveTo == "" }

// settled reports whether the hunk's state is final.
func (h *hunk) settled() bool {
	return h.state != event.StateOpen && h.state != event.StateConflict && !h.pending
}

// settle gives the hunk a state that people should be told of.
func (h *hunk) settle(state event.ProposalState, detail string) {
	if h.state == state && h.detail == detail && !h.pending {
		return
	}
	h.state, h.detail, h.pending, h.notify = state, detail, false, true
}

// is reports whether the text is from with a hunk applied to it.
func (t *text) is(from *text, h *hunk) bool {
	if len(t.s)-len(from.s) != len(h.after)-len(h.before) {
		return false
	}
	start, end := from.index().Start(h.start), from.index().Start(h.end)
	return t.s[start:start+len(h.after)] == h.after && t.s[:start] == from.s[:start] &&
		t.s[start+len(h.after):] == from.s[end:]
}

// change is the change of the shown text when the hunk is accepted.
func (h *hunk) change() change {
	return change{start: h.start, end: h.end, old: h.before, text: h.after, lines: countLines(h.after)}
}

func (h *hunk) vanish() {
	if !h.gone {
		h.gone, h.notify, h.pending = true, true, false
		if h.state == event.StateAccepted {
			h.state = event.StateOpen
		}
	}
}

// blank reports whether a text is empty or only a line ending: some editors show an empty file so.
func blank(t *text) bool { return t.s == "" || t.s == "\n" || t.s == "\r\n" }

// followCreate updates a hunk that makes a file, for the file's next text.
func (h *hunk) followCreate(next *text) {
	switch {
	case next != nil && next.s == h.after && h.after != "":
		h.reverse = &hunk{end: countLines(h.after), before: h.after, delete: true, state: event.StateOpen}
		h.settle(event.StateAccepted, "")
	case next != nil && h.after == "":
		h.reverse = &hunk{delete: true, state: event.StateOpen}
		h.reverse.followDelete(next)
		h.settle(event.StateAccepted, "the file is there")
	case next == nil || blank(next):
		was := h.before
		h.start, h.end, h.before = 0, 0, ""
		if next != nil {
			h.end, h.before = countLines(next.s), next.s
		}
		h.notify = h.notify || h.before != was
		if h.state == event.StateConflict {
			h.settle(event.StateOpen, "")
		}
	default:
		h.start, h.end, h.before = 0, countLines(next.s), ""
		h.settle(event.StateConflict, "a file of this name appeared with another text")
	}
}

// followDelete updates a hunk that deletes a file, for the file's next text.
func (h *hunk) followDelete(next *text) {
	switch {
	case next == nil:
		h.reverse = &hunk{after: h.before, create: true, state: event.StateOpen}
		h.settle(event.StateAccepted, "")
	case next.s == h.before:
		h.start, h.end = 0, countLines(next.s)
		if h.state == event.StateConflict {
			h.settle(event.StateOpen, "")
		}
	default:
		h.start, h.end = 0, countLines(next.s)
		h.settle(event.StateConflict, "the file was changed")
	}
}

// shift moves a hunk by the changes above it, and returns those that touch it: changes[i:j].
func (h *hunk) shift(changes []change) (i, j int) {
	i, j = spanOf(changes, h.start, h.end)
	by := shiftOf(changes, i)
	h.start, h.end = h.start+by, h.end+by
	return i, j
}

// follow moves a hunk of a file that still exists. exact says that the changes are other hunks of the same session.
func (h *hunk) follow(from, next *text, changes []change, exact bool) {
	i, j := spanOf(changes, h.start, h.end)
	if !exact {
		i, j = h.reach(changes, i, j, h.state == event.StateConflict)
	}
	h.followSpan(from, next, changes, i, j, !exact)
}

// followSpan moves a hunk that changes[i:j] touch. guess says that the changes beside it may have done what the hunk
// proposes.
func (h *hunk) followSpan(from, next *text, changes []change, i, j int, guess bool) {
	by := shiftOf(changes, i)
	if i >= j {
		there := guess && h.live() && h.there(changes, i)
		h.start, h.end = h.start+by, h.end+by
		if there {
			above, below := h.beside(changes, i, by)
			h.reverse = h.merged(next, h.start-above.lines, h.end+below.lines, above.old+h.before+below.old,
				countLines(above.old))
			h.settle(event.StateAccepted, "the text is already there")
		}
		return
	}
	if h.state != event.StateConflict {
		h.home, h.homeAt = h.before, 0
	}
	lo, hi := min(h.start, changes[i].start), max(h.end, changes[j-1].end)
	above, below := from.index().Slice(lo, h.start), from.index().Slice(h.end, hi)
	h.home = above + h.home + below
	h.homeAt += h.start - lo
	h.start, h.end = lo+by, hi+shiftOf(changes, j)
	h.fit(next)
}

// reach widens changes[i:j], which overlap the hunk, by changes beside it that matter to it: an unfinished line would
// run into the next one, text at the border of a conflict may be what the conflict waits for, and a part of what the
// hunk inserts may have come already.
func (h *hunk) reach(changes []change, i, j int, conflict bool) (int, int) {
	partly := !h.there(changes, i)
	for i > 0 && changes[i-1].end == h.start {
		c := changes[i-1]
		if !(c.text != "" && !lineStart(c.text, len(c.text))) &&
			!(conflict && (c.start == c.end || h.start == h.end)) && !(partly && h.shares(c)) {
			break
		}
		i--
	}
	for j = max(i, j); j < len(changes) && changes[j].start == h.end; j++ {
		c := changes[j]
		if !(h.after != "" && !lineStart(h.after, len(h.after))) &&
			!(conflict && (c.start == c.end || h.start == h.end)) && !(partly && h.shares(c)) {
			break
		}
	}
	return i, j
}

// beside returns the changes at the hunk's ends, changes[i-1] above and changes[i] below. by is how many lines the hunk
// has moved meanwhile.
func (h *hunk) beside(changes []change, i, by int) (above, below change) {
	if i > 0 && changes[i-1].end == h.start-by {
		above = changes[i-1]
	}
	if i < len(changes) && changes[i].start == h.end-by {
		below = changes[i]
	}
	return above, below
}

// shares reports whether a change beside an insertion brings one of the insertion's lines, other than a line that says
// nothing.
func (h *hunk) shares(c change) bool {
	if h.before != "" {
		return false
	}
	lines := make(map[string]bool)
	for line := range strings.Lines(h.after) {
		lines[closeUp(line)] = strings.ContainsFunc(line, isWord)
	}
	for line := range strings.Lines(c.old) {
		delete(lines, closeUp(line))
	}
	for line := range strings.Lines(c.text) {
		if lines[closeUp(line)] {
			return true
		}
	}
	return false
}

// begins reports whether a text begins with these lines, and ends whether it ends with them. Both allow for the layout
// of a formatter.
func begins(text, lines string) bool {
	return closeUp(NewIndex(text).Slice(0, countLines(lines))) == closeUp(lines)
}

func ends(text, lines string) bool {
	x := NewIndex(text)
	return closeUp(x.Slice(max(x.Len()-countLines(lines), 0), x.Len())) == closeUp(lines)
}

// closeUp returns text without the white space that formatters change: that at the ends of lines goes, and that within
// lines counts as one.
func closeUp(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Join(strings.Fields(line), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// there reports whether the changes beside the hunk, changes[i-1] above and changes[i] below, did what the hunk
// proposes.
func (h *hunk) there(changes []change, i int) bool {
	above, below := h.beside(changes, i, 0)
	if above.text == "" && below.text == "" && above.old == "" && below.old == "" {
		return false
	}
	if h.before == "" && strings.ContainsFunc(h.after, isWord) &&
		(begins(below.text, h.after) && !begins(below.old, h.after) || ends(above.text, h.after) &&
			!ends(above.old, h.after)) {
		return true // its lines came together with a change of the lines beside them
	}
	return above.text+h.before+below.text == above.old+h.after+below.old
}

// fit merges a hunk into its lines, which have changed. The hunk is accepted where the lines have its text already,
// carried over where the lines have changed elsewhere, and otherwise in conflict.
func (h *hunk) fit(next *text) {
	home := NewIndex(h.home)
	ours := home.Slice(0, h.homeAt) + h.after + home.Slice(h.homeAt+countLines(h.before), home.Len())
	now := next.index().Slice(h.start, h.end)
	if now == h.home {
		h.start += h.homeAt
		h.end = h.start + countLines(h.before)
		h.settle(event.StateOpen, "")
		return
	}
	merged, conflicts := Merge3(h.home, ours, now)
	if len(conflicts) > 0 {
		h.settle(event.StateConflict, "the lines were changed in another way")
		return
	}
	pieces := Diff(now, merged)
	if len(pieces) == 0 {
		h.settle(event.StateAccepted, "the text is already there")
		return
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	before, after := NewIndex(now).Slice(first.Start, last.End), NewIndex(merged).Slice(first.NewStart, last.NewEnd)
	h.start, h.end = h.start+first.Start, h.start+last.End
	if before != h.before || after != h.after {
		h.before, h.after, h.notify = before, after, true
	}
	h.settle(event.StateOpen, "")
}

func inOrder(a, b *hunk) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) }

// followMove updates a hunk that moves the file.
func (h *hunk) followMove(next *text) {
	h.start, h.end = 0, 0
	switch {
	case h.pending: // only the new path can tell whether the move was made
	case next == nil:
		h.vanish()
	case h.gone:
		h.gone, h.notify = false, true
	}
}

// shownState is the hunk's state as others see it: a hunk of a file that is gone is in conflict.
func (h *hunk) shownState() event.ProposalState {
	if h.gone {
		return event.StateConflict
	}
	return h.state
}

// fixesOf are the findings that authors fix.
func fixesOf(authors []Author) []event.FindingID {
	var list []event.FindingID
	for _, a := range authors {
		if a.Finding != "" {
			list = append(list, a.Finding)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// runsOf are the runs of authors, each once, with that of the last author last.
func runsOf(authors []Author) []event.RunID {
	list := make([]event.RunID, 0, 1)
	for _, a := range slices.Backward(authors) {
		if !slices.Contains(list, a.Run) {
			list = append(list, a.Run)
		}
	}
	slices.Reverse(list)
	return list
}

// joinAuthors is the last author, with the reasons of all.
func joinAuthors(authors []Author) Author {
	if len(authors) == 0 {
		return Author{}
	}
	last := authors[len(authors)-1]
	var reasons []string
	for _, a := range authors {
		reasons = uniqueStrings(reasons, a.Reason)
	}
	last.Reason, last.Finding = strings.Join(reasons, "; "), ""
	return last
}

// lands returns the line at which the text of a hunk begins in the next text, or -1 where the changes that lead to that
// text do not contain the hunk as one change.
func (h *hunk) lands(changes []change) int {
	own := slices.IndexFunc(changes,
		func(c change) bool { return c.start == h.start && c.end == h.end && c.text == h.after })
	if own < 0 {
		return -1
	}
	return h.start + shiftOf(changes, own)
}

// taken makes the reverse of a hunk that stands exactly at its place in the next text, to which changes lead.
func (h *hunk) taken(changes []change) *hunk {
	start := h.lands(changes)
	if start < 0 {
		return nil
	}
	return &hunk{
		start: start, end: start + countLines(h.after), before: h.after, after: h.before,
		state: event.StateOpen,
	}
}

// merged makes the reverse of a hunk that is part of the lines [start, end) of the next text. These lines have come of
// home with the hunk in it.
func (h *hunk) merged(next *text, start, end int, home string, homeAt int) *hunk {
	x := NewIndex(home)
	r := &hunk{
		start: start, end: end, before: h.after, after: h.before, state: event.StateOpen, homeAt: homeAt,
		home: x.Slice(0, homeAt) + h.after + x.Slice(homeAt+countLines(h.before), x.Len()),
	}
	r.fit(next)
	return r
}
