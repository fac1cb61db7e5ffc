package agent

import "strings"

// EngineACP is the engine of agents that are programs of their own, which speak the Agent Client Protocol.
const EngineACP = "acp"

// ProgramRule is the name by which rules speak of starting such programs. They match the agent's slug, behind which
// stand an @ and a digest of the program, of its part of the home folder and of its hosts.
const ProgramRule = "program"

// Program describes the program of an agent whose engine is [EngineACP]: somebody else's agent, and what it may see and
// reach beside the workspace.
type Program struct {
	// Command is the program and its arguments. A program without a slash is found on PATH.
	Command []string
	// Env are the variables that the program gets beside those that are harmless: as NAME from the environment of
	// agentls, or as NAME=value.
	Env []string
	// Mode is the id of the program's own mode in which it starts a session; empty for the one that it chooses.
	Mode string
	// Reads and Writes are files and folders below the user's home folder, relative to it with slashes, that the
	// program sees. What it changes in Writes, its own login and state, changes the real ones.
	Reads, Writes []string
	// Network are the hosts that it reaches, as in network.allow of the configuration.
	Network []string
}

// Names are the names of the variables that the program gets.
func (p Program) Names() []string {
	var names []string
	for _, one := range p.Env {
		name, _, _ := strings.Cut(one, "=")
		names = append(names, name)
	}
	return names
}

// IsProgram reports whether the agent is a program of its own.
func (d *Definition) IsProgram() bool { return d.Engine == EngineACP }
