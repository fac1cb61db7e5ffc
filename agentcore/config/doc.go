// Package config holds the effective configuration of agentls, with the origin of each value.
//
// Load merges the layers; for each key, the later layer takes precedence: built-in defaults, the user's config.toml, a
// trusted project's .agentls/config.toml, the environment, the editor's settings and the command line's flags. Load
// never fails as a whole: it reports what is wrong as a Problem, and keeps the value of the layer below.
//
// The tables in fields.go are the only source of the keys: the defaults, the checks, the listing, the documentation of
// the structs (a test compares them) and schema/config.schema.json come from these tables.
//
// A project's configuration, trusted or not, cannot set the keys whose `wider` in fields.go is never: providers with
// their keys and base URLs, prices, network rules, search engines, language servers, the status line, and limits of the
// machine. Prices bound what a project may spend. The others are programs that would run, addresses that would get keys
// or text, or limits that other projects share.
package config
