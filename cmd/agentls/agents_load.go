package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/skill"
)

// definitions returns the definitions of files and the built-in ones, and the names that they may use, except for those
// of agents.
func (v *environment) definitions(ctx context.Context, cfg *config.Config, dirs config.Dirs,
	projects ...string,
) (*agent.Registry, agent.Known, error) {
	known := registry.Known(cfg, nil, provider.Surroundings{Getenv: v.keys(dirs).Get})
	skills, err := skill.Load(ctx, skill.Folders(dirs.Config, v.home, projects...))
	if err != nil {
		return nil, known, fmt.Errorf("load the skills: %w", err)
	}
	known.Skills = append([]string{}, skills.Names()...)
	loader := agent.Loader{Path: v.getenv("PATH")}
	registry, err := loader.Load(ctx, agent.StandardFolders(dirs.Config, v.home, projects...), known)
	if err != nil {
		return nil, known, fmt.Errorf("load the agents: %w", err)
	}
	return registry, known, nil
}

// knownAgents returns all definitions, also those registered at run time.
func (p *process) knownAgents(ctx context.Context, s *settings, project string) (registry *agent.Registry, err error) {
	root, _, err := p.chooseRoot(project, nil)
	if err != nil {
		return nil, err
	}
	cfg, problems, dirs, trust, err := p.loadFolder(ctx, s, root.Path)
	if err != nil {
		return nil, err
	}
	p.tellProblems(problems, true)
	projects := trustedFolders(trust, root.Path)
	if project != "" {
		projects = []string{root.Path} // listing starts nothing, so that trust is not needed
	}
	if registry, err = p.agents(ctx, cfg, dirs, projects...); err != nil {
		return nil, err
	}
	for _, problem := range registry.Problems() {
		if problem.Hides() || problem.Locked || problem.Unread() && problem.Severity != event.SeverityError {
			p.tell(visible(problem.String()))
		}
	}
	if _, err := os.Stat(filepath.Join(dirs.State, "agentls.db")); errors.Is(err, fs.ErrNotExist) {
		return registry, nil // there is no store, so that nothing is registered
	}
	engine, err := agentcore.Open(ctx, p.engineOptions(cfg, dirs, registry))
	if err != nil {
		p.tell(fmt.Sprintf("the agents that were registered at run time are not among these: %v", err))
		return registry, ctx.Err()
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()
	return engine.Agents(), nil
}
