package workspace

import (
	"cmp"
	"slices"
	"strings"
)

// patch is a base text with sorted hunks that do not overlap. It is never changed.
type patch struct {
	base  *text
	hunks []*hunk
}

func (p patch) text() *text { return apply(p.base, p.hunks) }

// apply returns base with the hunks applied; without hunks, it returns base itself.
func apply(base *text, hunks []*hunk) *text {
	if len(hunks) == 0 {
		return base
	}
	if hunks[0].delete {
		return nil
	}
	x := base.index()
	var b strings.Builder
	at := 0
	for _, h := range hunks {
		b.WriteString(x.Slice(at, h.start))
		b.WriteString(h.after)
		at = h.end
	}
	b.WriteString(x.Slice(at, x.Len()))
	return newText(b.String())
}

// hunksBetween returns the hunks that turn cur into next.
func hunksBetween(cur, next *text, author Author) []*hunk {
	authors := []Author{author}
	switch {
	case cur.same(next):
		return nil
	case cur == nil:
		return []*hunk{{after: next.s, create: true, authors: authors}}
	case next == nil:
		return []*hunk{{end: cur.index().Len(), before: cur.s, delete: true, authors: authors}}
	}
	differences := diffTexts(cur.index(), next.index())
	hunks := make([]*hunk, len(differences))
	for i, d := range differences {
		hunks[i] = &hunk{start: d.Start, end: d.End, before: d.Before, after: d.After, authors: authors}
	}
	return hunks
}

// write returns the patch whose text is next.
func (p patch) write(next *text, author Author) patch {
	cur := p.text()
	return p.compose(cur, next, hunksBetween(cur, next, author))
}

func (p patch) compose(cur, next *text, over []*hunk) patch {
	result := patch{base: p.base}
	for _, c := range compose(p.base, cur, next, p.hunks, over) {
		if c.hunk != nil {
			result.hunks = append(result.hunks, c.hunk)
		}
	}
	return result
}

// composed is a hunk of a composition, with the old hunks that became part of it. A nil hunk means that these hunks
// cancelled each other out.
type composed struct {
	hunk  *hunk
	from  []*hunk
	fresh bool
}

// grouping collects the hunks that are joined to one.
type grouping struct {
	base, next  *text
	olds, overs []*hunk
	shift, lift int // how many lines olds, and how many overs, have added before the group
	lo, hi      int // the lines of the group, in the text between the two
	result      []composed
}

// flush ends a group.
func (g *grouping) flush() {
	if len(g.olds)+len(g.overs) == 0 {
		return
	}
	before, after := g.shift, g.lift
	for _, h := range g.olds {
		before += h.delta()
	}
	for _, h := range g.overs {
		after += h.delta()
	}
	switch {
	case len(g.overs) == 0:
		for _, h := range g.olds {
			g.result = append(g.result, composed{hunk: h, from: []*hunk{h}})
		}
	case len(g.olds) == 0:
		for _, h := range g.overs {
			moved := *h
			moved.start, moved.end = h.start-g.shift, h.end-g.shift
			g.result = append(g.result, composed{hunk: &moved, fresh: true})
		}
	default:
		from, to := g.lo-g.shift, g.hi-before
		joined := trimmed(&hunk{
			start: from, end: to,
			before:  g.base.index().Slice(from, to),
			after:   g.next.index().Slice(g.lo+g.lift, g.hi+after),
			authors: authorsOf(g.olds, g.overs),
		})
		g.result = append(g.result, composed{hunk: joined, from: g.olds, fresh: true})
	}
	g.shift, g.lift = before, after
	g.olds, g.overs = nil, nil
}

// compose adds the hunks over, which turn cur into next, to the hunks old, which turned base into cur. Hunks that
// overlap, or that touch where one inserts or deletes, are joined; the others stay as they are.
func compose(base, cur, next *text, old, over []*hunk) []composed {
	if len(over) == 0 {
		kept := make([]composed, len(old))
		for i, h := range old {
			kept[i] = composed{hunk: h, from: []*hunk{h}}
		}
		return kept
	}
	if base == nil || cur == nil || next == nil {
		return composeWhole(base, next, old, over)
	}
	g := grouping{base: base, next: next}
	i, j := 0, 0
	pending := 0 // how many lines old[:i] added
	for i < len(old) || j < len(over) {
		takeOld := j == len(over)
		if i < len(old) && j < len(over) {
			start, end := old[i].start+pending, old[i].end+pending+old[i].delta()
			takeOld = cmp.Or(cmp.Compare(start, over[j].start),
				cmp.Compare(min(end-start, 1), min(over[j].end-over[j].start, 1))) <= 0
		}
		if takeOld {
			h := old[i]
			start, end := h.start+pending, h.end+pending+h.delta()
			if !slices.ContainsFunc(g.overs, func(o *hunk) bool { return meets(start, end, h.start == h.end, o) }) {
				g.flush()
				g.lo, g.hi = start, end
			}
			g.olds = append(g.olds, h)
			g.hi = max(g.hi, end)
			pending += h.delta()
			i++
			continue
		}
		o := over[j]
		at := g.shift
		joins := false
		for _, h := range g.olds {
			start, end := h.start+at, h.end+at+h.delta()
			at += h.delta()
			joins = joins || meets(start, end, h.start == h.end, o)
		}
		if !joins {
			g.flush()
			g.lo, g.hi = o.start, o.end
		}
		g.overs = append(g.overs, o)
		g.hi = max(g.hi, o.end)
		j++
	}
	g.flush()
	return joinInsertions(g.result)
}

// joinInsertions joins two hunks that insert at the same place, since their order would be undefined.
func joinInsertions(list []composed) []composed {
	var result []composed
	last := -1 // the last element of result that has a hunk
	for _, c := range list {
		if c.hunk != nil && last >= 0 {
			former := result[last].hunk
			if h := c.hunk; h.start == h.end && former.start == former.end && h.start == former.start {
				joined := *former
				joined.after += h.after
				joined.authors = authorsOf([]*hunk{former, h})
				result[last] = composed{hunk: &joined, from: slices.Concat(result[last].from, c.from), fresh: true}
				continue
			}
		}
		if c.hunk != nil {
			last = len(result)
		}
		result = append(result, c)
	}
	return result
}

// meets reports whether an old hunk at [start, end) must be joined with a newer one.
func meets(start, end int, inserts bool, g *hunk) bool {
	if start < g.end && g.start < end {
		return true
	}
	return start <= g.end && g.start <= end && (inserts || start == end || g.start == g.end)
}

// composeWhole is compose for a whole file that is created or deleted.
func composeWhole(base, next *text, old, over []*hunk) []composed {
	authors := authorsOf(old, over)
	switch {
	case base.same(next):
		return []composed{{from: old}}
	case next == nil:
		h := &hunk{end: base.index().Len(), before: base.s, delete: true, authors: authorsOf(over)}
		return []composed{{hunk: h, from: old, fresh: true}}
	case base == nil:
		return []composed{{hunk: &hunk{after: next.s, create: true, authors: authors}, from: old, fresh: true}}
	}
	// The file was deleted and created again.
	result := []composed{}
	for i, h := range hunksBy(base, next, authors) {
		c := composed{hunk: h, fresh: true}
		if i == 0 {
			c.from = old
		}
		result = append(result, c)
	}
	return result
}

// authorsOf lists the authors of hunks, oldest first, each once.
func authorsOf(lists ...[]*hunk) []Author {
	var authors []Author
	for _, hunks := range lists {
		for _, h := range hunks {
			for _, a := range h.authors {
				if !slices.Contains(authors, a) {
					authors = append(authors, a)
				}
			}
		}
	}
	return authors
}

// trimmed removes equal lines from both ends of a hunk; it returns nil if nothing is left.
func trimmed(h *hunk) *hunk {
	before, after := NewIndex(h.before), NewIndex(h.after)
	a, b := before.Len(), after.Len()
	head := 0
	for head < min(a, b) && before.Line(head) == after.Line(head) {
		head++
	}
	tail := 0
	for tail < min(a, b)-head && before.Line(a-1-tail) == after.Line(b-1-tail) {
		tail++
	}
	if head == a && head == b {
		return nil
	}
	h.start, h.end = h.start+head, h.end-tail
	h.before, h.after = before.Slice(head, a-tail), after.Slice(head, b-tail)
	return h
}

// rebase moves a patch to a new base as `git merge-file` would merge them: hunks that touch a change of the base are
// dropped if both made the same change, and are conflicts otherwise. The lines of conflicts are lines of next.
func (p patch) rebase(next *text) (patch, []Conflict) {
	if p.base.same(next) || len(p.hunks) == 0 {
		return patch{next, p.hunks}, nil
	}
	own := p.text()
	if own.same(next) {
		return patch{base: next}, nil
	}
	if p.base == nil && next.s == "" {
		// The other side created the file, and has written nothing into it yet.
		h := *p.hunks[0]
		h.create = false
		return patch{next, []*hunk{&h}}, nil
	}
	if p.base == nil || own == nil || next == nil {
		return patch{base: next}, []Conflict{{
			EndLine: next.index().Len(),
			Base:    p.base.string(), Ours: own.string(), Theirs: next.string(),
		}}
	}
	x := p.base.index()
	theirs := changesBetween(x, next.index())
	pieces := make([]piece, len(p.hunks))
	lift := 0
	for i, h := range p.hunks {
		pieces[i] = piece{h.start, h.end, h.start + lift, h.end + lift + h.delta()}
		lift += h.delta()
	}
	ours := widen(x, own.index(), pieces)
	result := patch{base: next}
	var conflicts []Conflict
	hunks, shift := p.hunks, 0
	for len(ours) > 0 || len(theirs) > 0 {
		i, j, lo, hi := firstGroup(ours, theirs)
		grown := shift
		for _, c := range theirs[:j] {
			grown += c.delta()
		}
		switch {
		case j == 0:
			for _, h := range hunks[:i] {
				moved := *h
				moved.start, moved.end = h.start+shift, h.end+shift
				result.hunks = append(result.hunks, &moved)
			}
		case i > 0:
			mine, yours := replaced(x, lo, hi, ours[:i]), replaced(x, lo, hi, theirs[:j])
			if mine != yours {
				conflicts = append(conflicts, Conflict{
					StartLine: lo + shift, EndLine: hi + grown,
					Base: x.Slice(lo, hi), Ours: mine, Theirs: yours,
				})
			}
		}
		ours, theirs, hunks, shift = ours[i:], theirs[j:], hunks[i:], grown
	}
	return result, conflicts
}

// hunksBy is hunksBetween for several authors.
func hunksBy(cur, next *text, authors []Author) []*hunk {
	hunks := hunksBetween(cur, next, Author{})
	sign(hunks, authors)
	return hunks
}

// sign gives hunks several authors together, since nobody knows which of the hunks fixes which finding.
func sign(hunks []*hunk, authors []Author) {
	if len(hunks) > 1 {
		unknown := make([]Author, len(authors))
		for i, a := range authors {
			unknown[i] = Author{Run: a.Run, Agent: a.Agent, Reason: a.Reason}
		}
		authors = authorsOf([]*hunk{{authors: unknown}})
	}
	for _, h := range hunks {
		h.authors = authors
	}
}

// moved is what a layer does to a file, in the form for the layer below.
type moved struct {
	patch
	to     string
	movers []Author
}

// occupied is the conflict of a moved file at whose new path another file has appeared.
func occupied(path string, moved, other *text) Conflict {
	return Conflict{
		Path: path, EndLine: other.index().Len(), Ours: moved.string(), Theirs: other.string(),
		OursPath: path,
	}
}

// gone is the conflict of a file that was moved in this layer and deleted in the layer below.
func (m moved) gone() []Conflict {
	return []Conflict{{Base: m.base.string(), Ours: m.patch.text().string(), OursPath: m.to}}
}
