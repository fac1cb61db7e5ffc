// Package instruction finds the standing instructions that people write for agents, in the usual formats: AGENTS.md,
// CLAUDE.md and GEMINI.md of each folder from the workspace folder down to the files at hand, with their imports;
// .github/copilot-instructions.md and .github/instructions of a workspace folder; and the user's own.
//
// If texts contradict each other, the later one counts: the user's come first, then those of the workspace folder, then
// those of the folders below it, down to the nearest. If all together are too long, the texts furthest from the files
// are cut first ([Set.Bound]).
//
// The package itself reads nothing. A [Reader] does, which knows what the editor shows, what is trusted and what may be
// read, and which gives a reason if it refuses a file. Refused files are listed ([Omitted]); the other files are given
// in spite of that.
package instruction
