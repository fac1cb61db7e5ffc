package config

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ProjectFile is the path of a project's configuration below its workspace folder, with slashes.
const ProjectFile = ".agentls/config.toml"

// ProjectServers is the path of a project's MCP servers below its workspace folder, in the form that other tools share:
// an object "mcpServers" that maps names to the keys of [mcp.NAME].
const ProjectServers = ".mcp.json"

// Dirs are the folders of agentls, as absolute paths. This package creates none of them: the first writer creates a
// folder, with mode 0700.
type Dirs struct {
	// Config holds config.toml, agents/, agents.toml, skills/ and plugins/.
	Config string
	// State holds the database, plans and outputs.
	State string
	// File is the user's config.toml: in Config, unless AGENTLS_CONFIG names another.
	File string
}

// Keys is the file with the user's keys: keys.env in the folder of the configuration. It is empty if there are no
// folders.
func (d Dirs) Keys() string {
	if d.Config == "" {
		return ""
	}
	return filepath.Join(d.Config, "keys.env")
}

// FindDirs finds the folders by the rules of the XDG Base Directory Specification 0.8: $XDG_CONFIG_HOME/agentls and
// $XDG_STATE_HOME/agentls, which are ~/.config and ~/.local/state if the variables are unset or not absolute.
// AGENTLS_CONFIG names another config.toml, AGENTLS_STATE another state folder. getenv is os.Getenv, home the user's
// home folder (os.UserHomeDir), or "" if there is none. FindDirs fails if a folder cannot be found by any of these.
func FindDirs(getenv func(string) string, home string) (Dirs, error) {
	base := func(variable, below string) (string, error) {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "agentls"), nil
		}
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("no home folder is known and %s is not set: set HOME, or %s, to an absolute path",
				variable, variable)
		}
		return filepath.Join(home, below, "agentls"), nil
	}
	var (
		dirs Dirs
		errs [2]error
	)
	dirs.Config, errs[0] = base("XDG_CONFIG_HOME", ".config")
	if dirs.Config != "" {
		dirs.File = filepath.Join(dirs.Config, "config.toml")
	}
	if file := getenv("AGENTLS_CONFIG"); file != "" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return Dirs{}, fmt.Errorf("make AGENTLS_CONFIG absolute: %w", err)
		}
		dirs.File = abs
	}
	if state := getenv("AGENTLS_STATE"); state != "" {
		abs, err := filepath.Abs(state)
		if err != nil {
			return Dirs{}, fmt.Errorf("make AGENTLS_STATE absolute: %w", err)
		}
		dirs.State = abs
	} else {
		dirs.State, errs[1] = base("XDG_STATE_HOME", filepath.Join(".local", "state"))
	}
	if err := errors.Join(errs[0], errs[1]); err != nil {
		return Dirs{}, err
	}
	return dirs, nil
}
