package workspace

import (
	"sync"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/event"
)

// This file declares everything that the lock of a view guards. The functions on it are, from the bottom up: hunks and
// undos that follow a text (hunk.go, pile.go), reporting their changes (publish.go), the files that they are tied to
// (anchor.go, relocate.go), the decisions of users (proposal.go, undo.go), and the editor's reports (view.go).

// View is what the editor shows: disk roots, below the open documents. It owns its state, that of its
// sessions and that of its marks, under one lock, which is never held over a disk read or a callback. Its
// methods may be called from any goroutine.
//
// The view has one goroutine, which rereads changed files that somebody watches through hunks or marks;
// Close ends it.
type View struct {
	folders
	// clock orders what was seen of a file, so that a slow read of the disk never replaces newer text.
	clock   atomic.Uint64
	notices notices
	// layers counts the layers, each of which has a number.
	layers  atomic.Uint64
	renames renames
	ended   chan struct{}
	// expected holds all paths that may exist once all proposals are accepted.
	expected expected

	mu      sync.Mutex
	docs    map[string]*document
	anchors map[string]*anchor
	// stale holds the paths that the goroutine has to read again. wake tells it so, and settled is closed when it has
	// finished.
	stale   map[string]struct{}
	wake    chan struct{}
	settled chan struct{}
	closed  bool
	// held are the files whose text on the disk does not count for now, see Hold.
	held map[string]*hold
	// onDisk are the last reported changes of the disk; changes counts all of them.
	onDisk  []string
	changes uint64
}

type document struct {
	buffer  *Buffer
	version int32
	saved   *Buffer // the text when the document was opened or last saved
}

// hold is a file that is held.
type hold struct {
	by     int  // how many callers of Hold there are
	missed bool // whether the disk was read meanwhile
}

// anchor holds what is tied to lines of one file as the editor shows it. It belongs to the view's lock.
type anchor struct {
	path string
	// text is the text that the lines refer to, without what was typed since; nil where there is no such file, and then
	// last is the file's last text.
	text, last *text
	typed      typed
	// saved is the text of the open document on the disk, nil where it is not known. closing is true from the closing
	// of the document until the disk was read.
	saved   *text
	closing bool
	seq     uint64
	marks   map[*Mark]struct{}
	piles   map[*Proposal]*pile
	// incoming are the files that sessions want to move to this path.
	incoming map[*Proposal]*anchor
	// expected are the texts that the editor would show if it applied the last computed edits.
	expected []expectation
}

// pile holds the hunks of one session in one file that are not settled: those that count, which are sorted and do not
// touch, and those in conflict. The view's lock guards it.
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
	// undo is true where the hunks are accepted ones that the text would lack.
	undo    bool
	ids     []event.HunkID
	text    string
	changes []change
}

// undo is an accepted hunk, turned around: before is the text that the hunk brought and that stands there now, after
// the text that it replaced. It follows the text as an open hunk does, so that undoing is a three-way merge backwards.
// The view's lock guards it.
type undo struct {
	hunk
	// accepted is the hunk as it was when it was settled.
	accepted Hunk
	// batch is the same for hunks that one change of the text took. Later batches have higher numbers.
	batch uint64
	// moved is true where the undo is in another file than people were told.
	moved bool
	// covers are the states of the undo before later hunks of the session were accepted over it, the latest last. They
	// are never changed in place.
	covers []cover
	// saved is the undo as it was when its document was opened or saved, nil where the hunk was accepted after that.
	saved *savedUndo
	// rewound is true once the hunk was undone because the user goes back to before its prompt. It stays where a text
	// has the hunk again, since the one that lacks it may come late.
	rewound bool
	// vanished are lines, closed up, that the text lacked altogether once the hunk was accepted.
	vanished []string
}

// cover keeps an undo as it was before other hunks of its session were accepted over its lines, so that it can be put
// back into that state when these are undone.
type cover struct {
	saved hunk
	// lines are the lines that the undo covered then.
	lines string
	// over are the hunks above the undo that are not undone yet, and how far below their first lines the undo began.
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

// loss says whether what was done to a document since it was opened or saved is lost.
type loss int

const (
	nothingLost loss = iota
	// it was closed and shows another text than the saved one, or it is open and shows the saved text again
	maybeLost
	allLost // it was closed, and shows the saved text
)

// typed is the open document that the lines of a file refer to, where only marks are tied to the file and nobody has
// asked for the whole text. Marks move with the lines that changed, which two buffers tell by the pieces that they do
// not share. So the cost of typing in a long document is its logarithm, however many findings it has. The view's lock
// guards it.
type typed struct {
	// buffer is the buffer of the anchor's text, nil where the text is not known to be that of an open document.
	buffer *Buffer
	// behind is true where the anchor's text is older than the document.
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
	// Changed gets every hunk that is new, or whose state or text has changed, sorted by path and line, but not those
	// that only moved. Changes that happen together, in however many files, come in one call, with each hunk as it is
	// then. Calls are made without locks held, one at a time and in order, on the goroutine that made the change.
	// Changed must not block, and may call the proposal.
	Changed func([]Hunk)
}

// Proposal is what one session proposes. It is the layer above the editor's text into which the runs of one
// conversation merge their edits. Its hunks have stable ids. The lock of its view guards its state; its methods may be
// called from any goroutine.
type Proposal struct {
	view    *View
	options ProposalOptions
	closed  atomic.Bool
	// kept are hunks that are settled, oldest first.
	kept []Hunk
	// undoable are the accepted hunks that can be undone, oldest first.
	undoable []event.HunkID
	// rewinding are the hunks that are taken back now because the user goes back to before their prompt.
	rewinding map[event.HunkID]bool
	// visited counts the hunks that were looked at for their ids. Tests read it to see how the work grows.
	visited int
	untold  untold
}

// untold are changed hunks that a pending notice will hand to Changed.
type untold struct {
	hunks []Hunk
	texts []*text // of their files
}

// rename is a path that has changed, for the layers above one layer, for those of one session or, where neither is set,
// for all.
type rename struct {
	from, to string
	layer    uint64 // the number of the layer, 0 for none
	session  *Proposal
	// editor is true where the editor renamed a file or a folder with its entries; otherwise an agent renamed a file.
	editor bool
}

// renames are all renames of a view, in order. They have their own lock; no other lock is taken while it is held.
type renames struct {
	mu   sync.RWMutex
	list []rename
}
