// Package command holds the commands of a run and their output: the box that they share, those in the background, and
// the files that keep what was too long to be shown. Whoever has a run gives it values and two or three functions; it
// knows no run.
//
// Whether a program gets a box is decided in one place, [Sandbox.Direct]. Commands of one run share a box, so that what
// one leaves the next one finds. A program that is spoken with while it runs ([Live]) has a box of its own, since it
// outlives the run that has started it. So has one that is followed ([Follow]): what it writes is collected while it
// runs, and what others write is brought into its view.
//
// A command's changes are bound by the rules on edits ([New] gets them as a func), file by file, when the command has
// ended: its words do not tell what it writes. What an edit would have to ask for is left out, and the model is told to
// use the edit tools.
//
// What a tool says is bounded in one place ([Set.Bound]): the ends go into the conversation, and the whole, without
// secrets, goes into a file of the state folder that read takes. Tools that page (read, grep, glob, list) stay below
// the bound by themselves. An image is a file beside the database, once in a run, and its message has the file's name,
// so that rows, exports and the redactor handle no megabytes.
package command
