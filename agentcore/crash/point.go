// Package crash names the moments at which tests end the process, to see that the next one finds what it needs. The
// program itself reaches them without anything happening. A leaf.
package crash

// Point is a moment between two steps of the journal, or of what must agree with it.
type Point string

// The points while a store is opened.
const (
	// Registered: the process is known to others as one that has the store open; nothing was looked at.
	Registered Point = "open/registered"
	// Copied: the copy of the file is there that a migration needs.
	Copied Point = "migrate/copied"
	// Stepped: the steps of a migration are taken, and not committed.
	Stepped Point = "migrate/stepped"
	// Migrated: they are committed.
	Migrated Point = "migrate/committed"
	// Salvaged: what can be read of a damaged file is in a new one, beside it.
	Salvaged Point = "salvage/filled"
	// MovedAside: the damaged file has another name, and its log is still there.
	MovedAside Point = "salvage/moved"
	// Replaced: the new file is in its place.
	Replaced Point = "salvage/replaced"
	// Marked: the runs of dead processes are interrupted; what they left running is not ended.
	Marked Point = "start/marked"
	// Adopted: what ended sessions proposed belongs to a new one; the layers of their runs are not merged.
	Adopted Point = "start/adopted"
	// Remerged: those are merged, and their rows still there.
	Remerged Point = "start/merged"
)

// The points of a commit are made of what is committed and how far it is.
const (
	// Intent: a call that has not been made.
	Intent = "intent"
	// Outcome: what came of a call.
	Outcome = "outcome"
	// Edits: files of a layer, or hunks.
	Edits = "edits"
	// End: a run that has ended.
	End = "end"
	// Rows: anything else.
	Rows = "rows"

	// Applied: the rows are written, and not committed.
	Applied = "applied"
	// Durable: they are committed; nobody knows it.
	Durable = "durable"
	// Published: their events are published; who waits for the commit does not know it.
	Published = "published"
)

// Commit is the point of a commit of one kind of rows, so far.
func Commit(kind, far string) Point { return Point(kind + "/" + far) }

// The points of a run, and of what the editor does for it.
const (
	// Permitted: the intent of a call that acts is durable, and the call not made.
	Permitted Point = "call/permitted"
	// Made: a call was made; nobody knows its outcome.
	Made Point = "call/made"
	// Merging: the edits of a run are in the layer above, and no row says so.
	Merging Point = "merge/made"
	// Accepting: hunks are about to be sent to the editor.
	Accepting Point = "accept/sent"
	// Answered: the editor has made the edit, and no row says so.
	Answered Point = "accept/answered"
	// Confirmed: the hunks count as accepted, which may not be durable.
	Confirmed Point = "accept/confirmed"
	// Deleted: the rows of a session are gone, its files are not.
	Deleted Point = "delete/committed"
)

// Points returns all of them, in the order of a life.
func Points() []Point {
	points := []Point{
		Registered, Copied, Stepped, Migrated, Salvaged, MovedAside, Replaced, Marked, Adopted, Remerged,
		Permitted, Made, Merging, Accepting, Answered, Confirmed, Deleted,
	}
	for _, kind := range []string{Intent, Outcome, Edits, End, Rows} {
		for _, far := range []string{Applied, Durable, Published} {
			points = append(points, Commit(kind, far))
		}
	}
	return points
}

// Hook is called where a point is reached; nil does nothing. It may end the process, on whatever goroutine.
type Hook func(Point)

// Reach calls the hook, if there is one.
func (h Hook) Reach(p Point) {
	if h != nil {
		h(p)
	}
}
