// Package config holds the effective configuration of agentls, with the origin of each value.
//
// Load merges, later ones winning per key: built-in defaults, the user's config.toml, a trusted project's
// .agentls/config.toml, the environment, the editor's settings and the command line's flags. Nothing makes Load fail as
// a whole: what is wrong is told as a Problem, and the value of the layer below stays.
//
// The tables in fields.go are the one source of the keys: the defaults, the checks, the listing, the documentation of
// the structs (a test compares them) and schema/config.schema.json come from them.
//
// A project's own configuration, trusted or not, sets none of the keys whose `wider` in fields.go is never: providers
// with their keys and base URLs, prices, network rules, search engines, language servers, the status line, and limits
// of the machine. Prices bound what a project may spend; the others are programs that would run, addresses that would
// get keys or text, or limits that other projects share.
package config
