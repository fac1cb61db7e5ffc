// Package instruction finds the standing instructions that people write down for agents, in the formats that they have
// them in: AGENTS.md, CLAUDE.md and GEMINI.md of each folder from the workspace folder down to the files at hand, with
// their imports; .github/copilot-instructions.md and .github/instructions of a workspace folder; and the user's own.
//
// Of texts that differ the later one counts: the user's come first, then those of the workspace folder, then those of
// the folders below it, down to the nearest. Where all together are too long, the furthest are cut first ([Set.Bound]).
//
// The package reads nothing itself: a [Reader] does, which knows what the editor shows, what is trusted and what may be
// read, and says why where it refuses. What it refuses is told ([Omitted]), and keeps nothing else out.
package instruction
