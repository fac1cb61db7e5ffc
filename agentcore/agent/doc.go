// Package agent defines what an agent is: its definition, the formats in which definitions are written, the problems
// that they can have, the registry that finds agents, and the built-in agents.
//
// # Mistakes
//
// A definition with an error is left out; the others of its file are not. If a definition names something that does not
// exist, this is an error in our formats; in the formats of other tools it is a warning, and the name is left out. An
// agent whose definition is broken still counts as existing for agents that delegate to it, so that one mistake does
// not spread. An agent in a cycle of delegations is left out, beginning with the strongest layer; agents that may
// delegate to all are in no cycle, since the depth bounds them.
//
// # Prompts
//
// A name in a prompt that is no variable stays as it is written, so that examples with braces survive. In our own
// formats, the check warns of such names while the author writes. Prompts of other tools' files are no templates: their
// braces are kept.
package agent
