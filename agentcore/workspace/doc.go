// Package workspace holds what agents see and change: disk roots, below the editor's open documents, below a session's
// layer of proposed edits, below the layers of its runs. Nothing in it writes into a workspace folder.
//
// What follows are the decisions that several files share, each with its reason.
//
// # What a run has seen
//
// The calls of one answer were made up together. So a file that one of them reads, or is shown a part of, counts as
// seen from the next turn on (Layer.NextTurn). A part is enough for edit, not for write. A file that a run knows and
// that was renamed counts as known at both paths, at the new one in part: so the first write to the old path is refused
// instead of making the file again.
//
// # Hunks and the editor's text
//
// An edit that an extension of the editor changed counts as made. Editors that close brackets or format lines show
// neither the text that the edit was made for nor the one that it leads to. So each hunk on its way is looked for in
// what is shown (nearly.go): a hunk that has most of what it adds, and little of what it takes away, is accepted; the
// rest is the user's. The opposite guess would make the edit twice. A deletion counts as made only where no word of it
// is left. An insertion, and an undone deletion, also count as made where their lines come with other white space
// (closeUp).
//
// Runs merge their edits into the proposal before or after the editor takes hunks, never meanwhile (agentcore's
// Session.HoldMerges): a hunk that grew meanwhile would be accepted unseen.
//
// An accepted hunk stays as its own reverse (undo.go), which follows the text as open hunks do, so that undoing needs
// no history of texts. One that later hunks lie above is kept below them as it was, and is exactly that again once they
// are undone.
//
// What was never saved goes with its document (discard.go). A document that is closed without saving shows the disk's
// text again, and no comparison tells which of several equal lines came back. So each undo is kept as it was when its
// document was opened or saved, and is exactly that where the saved text shows again; a hunk that was accepted since
// counts as undone. Where the text is another one, an undo follows it as ever, but brings no line that nothing else had
// when its hunk was accepted and that stands somewhere now.
//
// Proposals outlive the process (restore.go). In a file that has changed, a restored hunk is found by its lines and the
// three around them; where that is not certain, it is a conflict. An accepted hunk whose text was never saved is open
// again.
//
// # Moves
//
// A move is a hunk at the old path, without lines. The edits of the file stay hunks of their own, on the text that the
// editor shows, until the file is at the new path, and then follow it (relocate.go). A layer keeps its edits by the
// path below it, so that whatever changes there goes along with a move. Renames by the editor, by accepted moves and by
// layers below are one log, which each layer follows when it is used next (rename.go): so a fork costs nothing, and
// nobody keeps a list of layers. A file moved over one that goes away, or whose old path gets another file, is a copy
// and an edit, since no editor renames over a file.
//
// A new name that differs from another in letter case alone is refused where the disk says that both are one file, and
// where both are only proposed. Where the disk tells them apart, it is allowed.
//
// # What commands change
//
// A command's changes are edits of what the command saw. Layer.Snapshot says what it sees above the disk; Snapshot.Take
// merges what it left with what is there by now, line by line. Where the two collide, the text that is there stays, and
// the model is told both sides. Where a file was saved while the command ran, nobody knows what the command found, and
// its version is left out. Modes cannot be proposed; they are told. A file that is gone and a new one with half of its
// bytes in equal lines are a move, as git has it; where the layer shows something else by now, they stay a deletion and
// a new file.
//
// # Cost
//
// A change of a document costs the logarithm of the document and what it inserts (Buffer); who reads the document first
// puts its text together. Only where hunks or marks follow the file are the whole texts compared.
//
// A search opens each file once, from its folder's handle (Scan), on as many goroutines as there are processors, in the
// order of a walk; links, and what documents or layers show, take the usual way. The user's own core.excludesFile does
// not count, since it is no part of the project.
package workspace
