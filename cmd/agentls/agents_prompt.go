package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/workspace"
)

// withoutState lets an engine work in a temporary folder where there is no state folder yet, since showing something
// should not make one. done deletes the folder.
func withoutState(options *agentcore.Options) (done func() error, err error) {
	if _, err := os.Stat(filepath.Join(options.StateDir, "agentls.db")); !errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "agentls-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a moment: %w", err)
	}
	options.StateDir = dir
	return func() error { return os.RemoveAll(dir) }, nil
}

// showPrompt prints the system prompt that an agent would get, for work on a file if one is named, and the files that
// instruct it. Without a name, it takes the default agent. project is the workspace folder, "" for the current one, and
// counts as far as it is trusted. It starts nothing.
func (p *process) showPrompt(ctx context.Context, s *settings, project string, args []string, asJSON bool,
) (err error) {
	name := ""
	if len(args) == 2 || len(args) == 1 && !isFile(p.absolute(args)[0]) {
		name, args = args[0], args[1:]
	}
	root, paths, err := p.chooseRoot(project, p.absolute(args))
	if err != nil {
		return err
	}
	cfg, problems, dirs, trust, err := p.loadFolder(ctx, s, root.Path)
	if err != nil {
		return err
	}
	p.tellProblems(problems, true)
	projects := trustedFolders(trust, root.Path)
	agents, err := p.agents(ctx, cfg, dirs, projects...)
	if err != nil {
		return err
	}
	skills, err := skill.Load(ctx, skill.Folders(dirs.Config, p.home, projects...))
	if err != nil {
		return fmt.Errorf("load the skills: %w", err)
	}
	options := p.engineOptions(cfg, dirs, agents)
	done, err := withoutState(&options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	options.Skills, options.UserConfig, options.Home = skills, dirs.File, p.home
	engine, err := agentcore.Open(ctx, options)
	if err != nil {
		return fmt.Errorf("%w; make the state folder %s usable, or name another in AGENTLS_STATE", err, dirs.State)
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()
	d, err := findAgent(engine.Agents(), cmp.Or(name, cfg.DefaultAgent))
	if err != nil {
		return err
	}
	view, paths, err := openView(ctx, root, paths, nil, job{})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer view.Close()
	request := agentcore.RunRequest{Agent: d.Slug}
	request.Context.Paths = paths
	system, set, err := agentcore.Prompt(engine, view, map[string]authority.FolderTrust{root.Path: trust}, request)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	p.tellUninstructed(trust)
	if asJSON {
		report := reportAgent(engine.Agents(), d)
		report.Prompt, report.Definition, report.System = d.Prompt, d, system
		report.Instructions = reportInstructions(set)
		return p.printJSON(report)
	}
	return p.print(promptPage(view, system, set))
}

// isFile reports whether a file has this name, which then is not the name of an agent.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// tellUninstructed tells that a folder would instruct agents if it were trusted.
func (p *process) tellUninstructed(trust authority.FolderTrust) {
	instructs := func(a authority.ActingItem) bool { return a.Kind == "instructions" }
	if trust.Standing != permission.Trusted &&
		slices.ContainsFunc(authority.DescribeActing(trust.Root, trust.Actors), instructs) {
		p.tell("the folder's own instructions are not given, since it is not trusted; look at it with `agentls trust`")
	}
}

// promptPage is a system prompt for people, below a list of the files that instruct the agent.
func promptPage(view *workspace.View, system string, set instruction.Set) string {
	lines := set.Lines(view.Shown)
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	var rows strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&rows, "%s\t%s\n", when(i == 0, "instructions"), oneLine(line))
	}
	fmt.Fprintf(&rows, "prompt\t%d bytes\n", len(system))
	return inColumns(rows.String()) + "\n" + visible(system) + "\n"
}

// reportInstructions are files with instructions for programs.
func reportInstructions(set instruction.Set) []instructionReport {
	list := []instructionReport{}
	for _, t := range set.Texts {
		list = append(list, instructionReport{File: t.Path, ImportedBy: t.By, Size: t.Size, Cut: t.Cut()})
	}
	for _, o := range set.Omitted {
		list = append(list, instructionReport{File: o.Path, ImportedBy: o.By, Omitted: o.Why})
	}
	return list
}
