// Package agent holds what an agent is: its definition, the formats that definitions are written in, what can be wrong
// with them, the registry that finds them, and the built-in agents.
//
// # Mistakes
//
// A definition with an error is left out, alone. What an agent names that is not there is an error in our formats; in
// those of other tools it is a warning, after which the name is left out. An agent whose file is broken still counts as
// there for those that delegate to it, so that one mistake does not spread. An agent in a cycle of delegations is left
// out, the strongest layer first; agents that may delegate to all are in no cycle, since the depth bounds them.
//
// # Prompts
//
// Names that no variable has stay in a prompt as they are written, so that examples with braces survive; in our own
// formats the check says so while one writes. Prompts of other tools' files are no templates: their braces are kept as
// they are.
package agent
