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
)

// agents returns the definitions that there are, but for those registered at run time, and tells of the files that cannot
// be used. Those of projects are only among them for the folders named.
func (p *process) agents(ctx context.Context, cfg *config.Config, dirs config.Dirs, projects ...string) (*agent.Registry, error) {
	var loader agent.Loader
	registry, err := loader.Load(ctx, agent.StandardFolders(dirs.Config, p.home, projects...), agentcore.Known(cfg, nil))
	if err != nil {
		return nil, fmt.Errorf("load the agents: %w", err)
	}
	for _, problem := range registry.Problems() {
		if problem.Severity == event.SeverityError {
			p.tell(visible(problem.String()))
		}
	}
	return registry, nil
}

// knownAgents returns all definitions, also those registered at run time.
func (p *process) knownAgents(ctx context.Context, s *settings, project string) (registry *agent.Registry, err error) {
	var projects []string
	if project != "" {
		root, _, err := p.chooseRoot(project, nil)
		if err != nil {
			return nil, err
		}
		projects = append(projects, root.Path)
	}
	cfg, problems, dirs, err := p.load(s, "")
	if err != nil {
		return nil, err
	}
	p.tellProblems(problems, true)
	if registry, err = p.agents(ctx, cfg, dirs, projects...); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dirs.State, "agentls.db")); errors.Is(err, fs.ErrNotExist) {
		return registry, nil // nothing was ever registered
	}
	engine, err := agentcore.Open(ctx, agentcore.Options{StateDir: dirs.State, Config: cfg, Agents: registry, OpenModel: p.openModel, Getenv: p.getenv})
	if err != nil {
		return nil, fmt.Errorf("read the registered agents: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()
	return engine.Agents(), nil
}
