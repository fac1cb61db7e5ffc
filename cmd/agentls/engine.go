package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
)

// closeTime is how long the engine may take to end.
const closeTime = 2 * time.Second

// withEngine opens the engine with the configuration of a folder, as far as the user trusts the folder ("" for none),
// and closes it afterwards.
func (p *process) withEngine(ctx context.Context, s *settings, dir string, do func(*agentcore.Engine) error) error {
	cfg, problems, dirs, err := p.load(s)
	if dir != "" {
		cfg, problems, dirs, _, err = p.loadFolder(ctx, s, dir)
	}
	if err != nil {
		return err
	}
	p.tellProblems(problems, true)
	agents, err := p.agents(ctx, cfg, dirs)
	if err != nil {
		return err
	}
	engine, err := agentcore.Open(ctx, p.engineOptions(cfg, dirs, agents))
	if err != nil {
		return fmt.Errorf("%w; make the state folder %s usable, or name another in AGENTLS_STATE", err, dirs.State)
	}
	err = do(engine)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return errors.Join(err, engine.Close(closing))
}

// engineOptions are the options of every engine that this process opens.
func (p *process) engineOptions(cfg *config.Config, dirs config.Dirs, agents *agent.Registry) agentcore.Options {
	return agentcore.Options{
		StateDir: dirs.State, Config: cfg, Agents: agents, OpenModel: p.openModel, Getenv: p.getenv,
		KeysFile: dirs.Keys(), Redactor: p.redactor(), Crash: p.crash,
	}
}

// agents returns the definitions, except for those registered at run time, and reports the files that cannot be used.
// Those of projects are included only for the named folders.
func (p *process) agents(ctx context.Context, cfg *config.Config, dirs config.Dirs,
	projects ...string,
) (*agent.Registry, error) {
	registry, _, err := p.definitions(ctx, cfg, dirs, projects...)
	if err != nil {
		return nil, err
	}
	for _, problem := range registry.Problems() {
		if problem.Severity == event.SeverityError {
			p.tell(visible(problem.String()))
		}
	}
	return registry, nil
}
