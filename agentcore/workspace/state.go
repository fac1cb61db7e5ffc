package workspace

import (
	"sync"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/event"
)

// This file has all that the lock of a view guards, and whose it is. The functions on it lie above it, in this order:
// hunks and undos that follow a text (hunk.go, pile.go), what is told of them (publish.go), the files that they are
// tied to (anchor.go, relocate.go), what users decide about them (proposal.go, undo.go), what the editor tells
// (view.go).

// View is what the editor shows: disk roots, below the open documents. It owns its state, that of its
// sessions and that of its marks, under one lock, which is never held over a disk read or a callback. Its
// methods may be called from any goroutine.
//
// The view has one goroutine, which rereads changed files that somebody watches through hunks or marks;
// Close ends it.
type View struct {
	folders
	// clock orders what was seen of a file, so that a slow disk read never replaces newer text.
	clock   atomic.Uint64
	notices notices
	// layers counts the layers, each of which has a number.
	layers  atomic.Uint64
	renames renames
	ended   chan struct{}
	// expected is what there would be with all that was proposed.
	expected expected

	mu      sync.Mutex
	docs    map[string]*document
	anchors map[string]*anchor
	// stale holds the paths which the goroutine has to reread, wake tells it, and settled is closed when
	// it has finished.
	stale   map[string]struct{}
	wake    chan struct{}
	settled chan struct{}
	closed  bool
	// held are the files of which the disk does not count for now, see Hold.
	held map[string]*hold
	// onDisk are the last changes of the disk that somebody told of, of which changes counts all.
	onDisk  []string
	changes uint64
}

type document struct {
	buffer  *Buffer
	version int32
	saved   *Buffer // as it was opened or saved last
}

// hold is a file that is held.
type hold struct {
	by     int  // so many callers of Hold
	missed bool // the disk was read meanwhile
}

// anchor holds what is tied to lines of one file as the editor shows it. It belongs to the view's lock.
type anchor struct {
	path string
	// text is what the lines refer to, but for what was typed since, nil where there is no such file; last is then the
	// text that was.
	text, last *text
	typed      typed
	// saved is the text that the open document had on disk, nil where it is not known; closing says that the document
	// was closed, and what the disk has is still to be read.
	saved   *text
	closing bool
	seq     uint64
	marks   map[*Mark]struct{}
	piles   map[*Proposal]*pile
	// incoming are the files that sessions want to move here.
	incoming map[*Proposal]*anchor
	// expected are texts that the editor would show if it took the edits that were computed last.
	expected []expectation
}

// pile holds the hunks of one session in one file that are not settled: those that count, sorted and
// apart from each other, and those in conflict. It belongs to the view's lock.
type pile struct {
	hunks []*hunk
	// undos are accepted hunks, in the order in which they were accepted.
	undos []*undo
	// The text that the hunks make of base, once somebody asked for it.
	base, made *text
	valid      bool
}

// expectation is a text that the editor would show if it took hunks, and the changes that lead there.
type expectation struct {
	session *Proposal
	// undo says that the hunks are accepted ones which the text would lack.
	undo    bool
	ids     []event.HunkID
	text    string
	changes []change
}

// undo is an accepted hunk as its own reverse: before is what the hunk brought and stands there now, after what it
// replaced. It follows the text as an open hunk does, so that undoing is a three-way merge backwards. It belongs
// to the view's lock.
type undo struct {
	hunk
	// accepted is the hunk as it was when it was settled.
	accepted Hunk
	// batch is shared by hunks that one change of the text took; later ones have higher numbers.
	batch uint64
	// moved says that it is in another file than people know of.
	moved bool
	// covers are what later hunks of the session did to it, the latest last. They are never changed in place.
	covers []cover
	// saved is the undo as it was when its document was opened or saved, nil where that was before it was accepted.
	saved *savedUndo
	// vanished are lines that nothing else had when the hunk was accepted, closed up.
	vanished []string
}

// cover remembers an undo as it was before other hunks of its session were accepted over its lines, so that it is
// exactly that again when they are undone.
type cover struct {
	saved hunk
	// lines are those that it covered then.
	lines string
	// over are the hunks above it that are not undone yet, and how far below their first lines it began.
	over []covering
}

type covering struct {
	id     event.HunkID
	offset int
}

// savedUndo is an undo as it was when its document was opened or saved.
type savedUndo struct {
	hunk   hunk
	covers []cover
	// on is the text that was saved, nil where it is not known.
	on *text
}

// loss says whether what was done to a document since it was opened or saved is gone.
type loss int

const (
	nothingLost loss = iota
	maybeLost        // it was closed and shows another text than was saved, or shows that text again and is still open
	allLost          // it was closed, and shows what was saved
)

// typed is the open document that the lines of a file with marks alone refer to, while nobody has asked for its text:
// marks move by the lines that changed, which two buffers tell by the pieces that they do not share. So typing in a
// long document costs its logarithm, whatever the findings in it. It belongs to the view's lock.
type typed struct {
	// buffer is that of the text of the anchor, nil where that is not known to be an open document's.
	buffer *Buffer
	// behind says that the anchor's text is an older one.
	behind bool
	// looks counts the nodes that were compared. Tests look at it, since counts tell how work grows.
	looks int
}

// Mark is a range of lines that follows the user's typing. Its methods may be called from any goroutine.
type Mark struct {
	view       *View
	anchor     *anchor
	start, end int
	gone       func()
	dead       bool
}

// ProposalOptions say whom a proposal is for.
type ProposalOptions struct {
	// ID names it.
	ID event.ProposalID
	// Changed gets every hunk that is new or whose state or text changed, sorted by path and line; a hunk
	// that only moved is left out. What changes at once, in however many files, comes in one call, each hunk
	// as it is then. It is called without locks held, one call at a time and in order, on the goroutine of
	// whoever changed something; it must not block, and may call the proposal.
	Changed func([]Hunk)
}

// Proposal is what one session proposes: the layer above what the editor shows that the runs of one conversation merge
// their edits into. Its hunks have stable ids. Its state belongs to its view's lock; its methods may be
// called from any goroutine.
type Proposal struct {
	view    *View
	options ProposalOptions
	closed  atomic.Bool
	// kept are hunks that are settled, oldest first.
	kept []Hunk
	// undoable are the accepted hunks that can be undone, oldest first.
	undoable []event.HunkID
	// visited counts the hunks that were looked at for their ids. Tests look at it, since counts tell how work grows.
	visited int
	untold  untold
}

// untold are changed hunks of which a notice is pending that hands them to Changed.
type untold struct {
	hunks []Hunk
	texts []*text // of their files
}

// rename is a path that has changed for layers: for those above a layer, those of a session or, where neither is set,
// all.
type rename struct {
	from, to string
	layer    uint64 // the number of the layer, 0 for none
	session  *Proposal
	// editor says that the editor renamed a file or a folder with all that is in it, and not an agent a file.
	editor bool
}

// renames are all of a view, in their order. They have their own lock, under which nothing else is taken.
type renames struct {
	mu   sync.RWMutex
	list []rename
}
