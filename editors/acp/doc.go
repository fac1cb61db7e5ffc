// Package acp is agentls as an agent of the Agent Client Protocol, version 1 (https://agentclientprotocol.com): an
// editor that speaks it starts `agentls acp`, and drives sessions of the engine by JSON-RPC, a message a line.
//
//   - The types of the protocol are our own, and hold what we read and send of it. The Go library that there is follows
//     the schema some months behind, and brings a connection of its own. Tests hold each message to the published
//     schema, which is fetched for them.
//   - Requests are worked on one after the other, in the order of the wire, but for prompts, each of which has a
//     goroutine (turn). So nothing is sent for a session before the answer that names it, and all updates of a turn are
//     sent before the answer to its prompt.
//   - A session keeps the id that it was made with. A process that loads it goes on with its last run in a session of
//     the engine's own, as every resumption does; History.Line finds that run.
//   - Each folder has an engine of its own, since configuration, definitions and MCP servers are an engine's. An editor
//     that gives other MCP servers for the same folder gets another engine.
//   - The editor does not say which files are open. So a run's first look at a file in each turn asks the editor for
//     its text (unsaved.go).
//   - A turn ends with the question which of its edits are to be made (review.go). What the user leaves open stays
//     proposed, and the next turn sees it.
package acp
