// Package store keeps sessions, runs and all that they leave behind in one SQLite file. It is the only place with SQL.
//
// One goroutine writes. Batches that queue up while the disk is busy share a transaction, so that many runs together
// cost few waits for the disk; a batch is acknowledged, and its events are published, after the COMMIT that it was part
// of. What comes in each turn of a run lingers for a moment, so that it has company (queue.go), and a row that several
// batches of a transaction write is written once (latest.go). Readers have connections of their own and see what is
// committed. Several processes may share a file.
//
// What follows are the decisions that several files share, each with its reason.
//
// # Other processes
//
// A server that finds proposals left behind makes its session at once and takes over, in one commit and under the old
// ids, the hunks that wait or can be undone, and the layers of runs that were cut off (adopt.go). Sessions of living
// processes keep what is theirs: each session row names its process.
//
// A killed process may leave a copy of itself between fork and exec, which holds its locks for a moment. Who opens the
// store waits for the lock of a process that is not there, half a second at most (owner.go).
//
// A final status is told once it is durable, also where nobody waits for the commit.
//
// # Damage
//
// Up to 48 MB a database is checked before it is used, since quick_check takes a millisecond for each megabyte. A
// larger one is checked beside the work (checkLater): the next start repairs what is found, and the trace of the
// process that did not close the file stays until the check is through.
//
// Pages of tables and indexes are salvaged. Where the definitions of the tables are unreadable nothing can be read, and
// the backup and the damaged file are what is left. The end of a log that was cut off cannot be told from one that was
// never written.
//
// A database without a name takes no rows. SQLite would write on into a deleted file; so each transaction looks whether
// the path still leads to the file that was opened.
//
// # What is deleted, and when
//
// A migration leaves a backup, a repair the damaged file; both go after two weeks (copies.go). What the user deletes
// goes from backups at once, row by row, and a damaged file that has its id in it is removed, since no part of it can
// be. What goes by age stays in the copies for their two weeks.
//
// A clock that jumped is not believed for a day (clock.go): nothing is deleted by its age meanwhile. Numbers of events
// and the order of rows never come from a clock, and limits run by the monotonic one.
//
// A session is deleted in one transaction; the file then gives its pages back a megabyte at a time. Files from before
// that could not shrink use their free pages again. The last 1000 accepted hunks of a session can be undone; of settled
// hunks the store keeps 2000 a session.
package store
