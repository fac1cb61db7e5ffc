// Package permission decides what an agent may do: rules in layers, modes, what the user granted, the gate that takes
// shell commands apart, the files that act by themselves, and whether a folder is trusted. Nothing in it acts: it reads
// values and returns values, and but for trust it never looks at the disk.
//
// What follows are the decisions that several files share, each with its reason.
//
// # Files
//
// Nobody is asked for what a file tool cannot do: a path whose link leads out of the workspace is denied, since no tool
// follows it, whatever the user points at. A document outside of the workspace that the user starts a run on is read
// without a question (Path.Pointed), also by the runs that the run starts; other open documents outside are asked for.
//
// No rule or mode allows a protected file in advance. Only a grant that names the file does.
//
// # Commands
//
// What the gate does not understand could be any command. It asks, unless every command is allowed; where a rule denies
// some commands, it asks even in a full sandbox. Only there do ask rules not bind, since nothing that runs there
// reaches the user's files.
//
// A rule on first words does not cover options that run or write more (flags.go); the very command, or `*`, does. A
// program that is not in that table is taken at its word, but for what programs agree on (unknown.go): names of options
// that run or write, and text that looks like code. For rules that deny, every word of such a program may begin a
// command (starts.go).
//
// The gate is checked against the real bash: random commands that it allows run among stubs. So it was found that the
// parser continues a comment that ends in a backslash, and that bash does not.
//
// # Texts
//
// What nobody sees is taken out, not written as escapes, of what a project's definitions and skills say to a model
// (Seen): models read escapes, and the user trusted what he could read. The files themselves stay, with a warning at
// each place; the user's own definitions are his.
package permission
