package main

import (
	"cmp"
	"errors"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
)

// settings are the flags that every subcommand has.
type settings struct {
	set []string
}

// load reads the configuration without that of a workspace folder, and the folders of agentls.
func (v *environment) load(s *settings) (*config.Config, []config.Problem, config.Dirs, error) {
	dirs, err := config.FindDirs(v.getenv, v.home)
	if err != nil {
		return nil, nil, dirs, &exitError{exitUsage, err}
	}
	cfg, problems := config.Load(config.Sources{
		Getenv: v.getenv, Home: v.home, UserFile: dirs.File, Flags: s.set,
	})
	return cfg, problems, dirs, nil
}

// findAgent finds an agent by slug or alias, or says which was meant.
func findAgent(agents *agent.Registry, name string) (*agent.Definition, error) {
	found, err := agents.Find(name)
	if err == nil {
		return found, nil
	}
	if broken, ok := errors.AsType[*agent.BrokenError](err); ok {
		return nil, usage("%v; `agentls agents check %s` says all that is wrong", err, broken.Problem.File)
	}
	var known []string
	for _, d := range agents.List("") {
		known = append(append(known, d.Slug), d.Aliases...)
	}
	hint := cmp.Or(didYouMean(name, known), "; see `agentls agents list`")
	return nil, usage("there is no agent %q%s", name, hint)
}
