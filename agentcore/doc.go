// Package agentcore is the front of the engine: the [Engine] of a process and its Sessions. It knows nothing of
// editors; what happens leaves it as events, after they are durable. A run, its calls and its children are package run.
//
// What follows are the decisions that several files share, each with its reason.
//
// # Sessions and processes
//
// The newest 20,000 events of a session stay (feed/log.go), and whatever the window's own surfaces have not read, since
// a progress would never end if its run's end was lost. Numbers are not used again, so that a client which asks for
// less is told to begin with the snapshot. Trimming runs beside the work, in short transactions.
//
// Another window's session is polled (Subscription.follow): its last event number, one indexed row, every 25 to 400 ms
// and only while somebody watches. Polling needs no connection of its own, as `PRAGMA data_version` would, and no
// socket or file event, which a network home or a container lacks; and the look that finds news also finds that the
// process died (Store.Deserted), whose runs then become interrupted. What is not stored, deltas and progress, stays in
// the window that works. Every window may read; what only the owner can do is refused with the name and process of the
// owner (package elsewhere), since a command that crossed over would act on a text which this window does not show.
//
// A session that is stored as open although its process has ended says that nobody was told of its interrupted runs. So
// a window that is closed in the middle of a run leaves its session open; the command line closes its own, since who
// stops it knows.
//
// Findings outlive the process: the next session on the same folders takes over the open findings whose lines still
// stand, by their quoted text. Package store and package workspace take over proposals. The command line takes over
// only what the run that it resumes had proposed (ResumeSession), since `--write` must not apply what another run did.
//
// The folders of a session are those of the window now (Session.folders). What a run may is fixed when it starts, so an
// added folder counts from the next run on. In a folder that was taken away nothing is the workspace's any more, for
// whichever run, but hunks there stay.
//
// Retention begins half a minute after the start (package retention), so that no short command waits for it.
//
// Two small reads of the database before each call find out whether another process took back trust or a grant
// (authority). They cost less than the commit behind the call, and hold where no file event comes. A look every two
// seconds tells the server, which reads its definitions again.
//
// # The choice of a model
//
// Who chose a model is visible (package provider): the call, the definition, the parent, the run that is gone on with,
// default_model, a provider with a key, the editor, a server on the loopback that needs no key, or the offline rules.
// Ollama is asked only where it seems to be installed. A preset that the call names counts before the definition's
// settings, any other preset behind them; a child that inherits a model inherits its preset.
package agentcore
