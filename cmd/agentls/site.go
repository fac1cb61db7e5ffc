package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/workspace"
)

// site is a workspace folder with the engine that works on it.
type site struct {
	engine *agentcore.Engine
	view   *workspace.View
	trust  authority.FolderTrust
	paths  []string // the files that are meant, absolute
	tried  *trial
}

// close interrupts the runs and closes the engine. The error is nil where ctx ended the command.
func (s *site) close(ctx context.Context) error {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	err := s.engine.Close(closing)
	s.view.Close()
	s.tried.end()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// openSite opens the engine and the workspace for a job. The caller closes it. adapt changes the options of the engine
// before it is opened, and may be nil.
func (p *process) openSite(ctx context.Context, f *workFlags, j job, at workplace, adapt func(*agentcore.Options),
) (s *site, err error) {
	var o opening
	defer func() {
		if s == nil {
			o.tried.end()
		}
		err = errors.Join(err, o.closeState(ctx))
	}()
	if err := o.load(ctx, p, f, j, at.root.Path); err != nil {
		return nil, err
	}
	view, paths, err := openView(ctx, at.root, at.paths, at.text, j)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	o.adapt = adapt
	engine, err := o.engine(ctx, p)
	if err != nil {
		view.Close()
		return nil, err
	}
	return &site{engine, view, o.trust, paths, &o.tried}, nil
}

// opened opens the engine and the workspace for a job, whose agent can be started, and closes them behind do.
func (p *process) opened(ctx context.Context, f *workFlags, j job, at workplace,
	do func(*agentcore.Engine, *workspace.View, authority.FolderTrust, []string) error,
) error {
	s, err := p.openSite(ctx, f, j, at, nil)
	if err != nil {
		return err
	}
	byDefault := s.engine.Config().DefaultAgent
	if err = startable(s.engine.Agents(), j.agent, byDefault); err != nil {
		err = untrustedAgent(s.engine.Agents(), s.trust, cmp.Or(j.agent, byDefault), err)
	} else {
		err = do(s.engine, s.view, s.trust, s.paths)
	}
	return errors.Join(err, s.close(ctx))
}
