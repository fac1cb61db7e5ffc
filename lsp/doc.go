// Package lsp is the language server: it speaks the Language Server Protocol 3.18 and the custom methods of
// schema/PROTOCOL.md to an editor on one side, and drives agentcore on the other. It and its rooms are the only place
// where both sides' types meet.
//
// A Server dispatches. What it knows of its editor is made whole by initialize (connect.go), and each feature has the
// parts that it needs: the editor, its window with engine and session, what shows runs (package surface), what delivers
// proposals (package delivery).
//
// No file uses one above it. From below: the goroutines (work.go), the editor and its settings, the window; then the
// parts, each of which has a window and the parts below that it needs; then what an editor's server is made of
// (connected.go), and what it does at the messages of LSP (lifecycle.go, sync.go, features.go); then the tables of the
// methods (dispatch.go) and the wiring (connect.go); at the top the Server.
//
// What follows are the decisions that several files share, each with its reason.
//
// # The session of a window
//
// `agent/run` without `session` uses the window's own session, which the window's first run makes. All proposals of a
// window are one layered set, so that two runs see each other's edits.
//
// Findings and events count columns in bytes of UTF-8, since they are stored, and are sent to clients of different
// encodings. Package position converts whatever meets an editor's document.
//
// # Questions and waiting
//
// Questions wait in the order in which they were asked, and the user has one prompt at a time (asks.go). A question
// that is answered elsewhere, runs out of time or loses its run is taken back by `$/cancelRequest`.
//
// An editor owes an answer within a minute. Only an ask waits longer, for a person, as long as ask_timeout. Any other
// request that is not answered is taken back by `$/cancelRequest`, and what it was for goes on without, or says so.
//
// A question about trust waits for a person without a bound, on a goroutine of the server, and nothing waits for it
// (trust.go). It comes when something needs the answer: a run begins, or a definition of the folder is opened. A save
// keeps trust only where trust was never lost: the text that the editor showed when it saved must be what changed. A
// removal always ends trust, since a file may have narrowed something.
//
// Proposals and undo do not answer before what former sessions left was brought back (window.kept). Nothing that the
// editor sends while one types waits for that.
//
// Interrupted runs are told once, by one line and without a question (recovery.go): the first server on the folders
// closes the session in a transaction and tells. Nothing goes on before somebody says so, by a code action, which asks,
// or by `agent/resume`.
//
// # What the user sees
//
// A comment that asks an agent for something is text of a repository, which may say anything (commented.go). It is
// offered as an action, found again by its line when the action is taken, and taken out by the proposed edits of the
// run when the run completes.
//
// The kinds of errors are a closed list on the wire (failure.go), so that a client can know all that may come. The
// engine tells more kinds apart, for models and the command line. Package lsptest holds each error answer against the
// table.
//
// # Settings and definitions
//
// Changed settings are asked for, not taken from the notification (followSettings): where the server names a section,
// clients send all their defaults along, as if the user had set them.
//
// A configuration that breaks while it is in use stays as it was, since the broken one would lack the user's deny
// rules. A definition that breaks is gone until it is mended: what it says now, nobody has meant.
package lsp
