// Package schema holds the descriptions of the custom protocol as they are handed out. The sources
// are agent.metamodel.json and agent.table.json; the rest is generated from them.
package schema

import _ "embed"

//go:generate go run ./generate -root ..

// Agent is agent.schema.json: the JSON Schemas (draft 2020-12) of params and results under
// `methods` and `commands`, and of all types under `$defs`.
//
//go:embed agent.schema.json
var Agent []byte

// Protocol is PROTOCOL.md, the description of the protocol for people.
//
//go:embed PROTOCOL.md
var Protocol string

// Definition is definition.schema.json: the JSON Schema of the frontmatter of an agent's definition.
//
//go:embed definition.schema.json
var Definition []byte

// Agents is agents.schema.json: the JSON Schema of files with several definitions, such as agents.toml.
//
//go:embed agents.schema.json
var Agents []byte
