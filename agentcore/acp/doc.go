// Package acp is the client's side of the Agent Client Protocol, version 1: it drives a coding agent of somebody else,
// which runs as a program of its own, over lines of JSON on its standard input and output.
//
// An agent works on files and starts programs by itself, in a box that whoever starts it has made. So no methods on
// files and terminals are announced to it, and a request of one is refused.
//
// What an agent sends is not trusted: it may be wrong, come at the wrong time, or never end. One update that cannot be
// used is left out and told ([Options].Odd). A line that is no message ends the connection, since nobody knows what the
// lines behind it belong to. Each request has a time in which it must be answered, but a prompt, which ends with its
// context. Updates are handed over by the goroutine that reads them, so an agent that sends more than is taken waits.
//
// What can be shown to a person as it is are errors and what is odd. All other texts are handed over as the agent wrote
// them, with what nobody sees in them.
package acp
