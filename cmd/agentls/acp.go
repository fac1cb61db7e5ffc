package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/editors/acp"
)

// acpHelp describes `agentls acp`.
const acpHelp = `Serve an editor that speaks the Agent Client Protocol (https://agentclientprotocol.com), version 1, over standard
input and output: Zed, the editors of JetBrains, and plugins of Neovim and Emacs start this command.

The agents are those of every other command, with the same configuration, trust in folders, permissions and sessions.
Nothing is written unless you say so, or the session's mode is accept_edits or bypass.`

func acpCommand(p *process, s *settings) *cobra.Command {
	var logFile, level string
	c := &cobra.Command{
		Use:   "acp",
		Short: "Serve an editor that speaks the Agent Client Protocol",
		Long:  acpHelp,
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			logger, done, err := p.openLog(logFile, level)
			if err != nil {
				return err
			}
			defer survivePipe()()
			err = acp.Serve(c.Context(), p.stdin, p.stdout, acp.Options{
				Version: version(), Dir: p.dir, Logger: logger, Write: writeAccepted,
				Open: func(ctx context.Context, folder string, servers map[string]config.MCPServer,
					reading func(context.Context, event.SessionID, []string),
				) (*acp.Project, error) {
					return p.openProject(ctx, s, folder, servers, reading)
				},
			})
			return errors.Join(err, done())
		},
	}
	logFlags(c, &logFile, &level)
	return c
}

// openProject opens a folder for sessions of an editor.
func (p *process) openProject(ctx context.Context, s *settings, folder string, servers map[string]config.MCPServer,
	reading func(context.Context, event.SessionID, []string),
) (*acp.Project, error) {
	at := workplace{root: workspace.Root{Path: folder, Name: filepath.Base(folder)}}
	opened, err := p.openSite(ctx, &workFlags{settings: s}, job{}, at, func(o *agentcore.Options) {
		cfg := *o.Config
		cfg.MCP = maps.Clone(cfg.MCP)
		maps.Copy(cfg.MCP, servers)
		o.Config, o.Reading, o.Name = &cfg, reading, "an editor that speaks ACP"
	})
	if err != nil {
		return nil, err
	}
	settings := p.settingsTime()
	return &acp.Project{
		Engine: opened.engine, View: opened.view, Close: opened.close, Notice: p.untrusted(opened.trust),
		Stale: func(ctx context.Context) bool {
			now, err := opened.engine.Decisions().FolderTrust(ctx, folder)
			return err != nil || now.Standing != opened.trust.Standing ||
				!reflect.DeepEqual(now.Actors, opened.trust.Actors) || !p.settingsTime().Equal(settings)
		},
		Session: func(ctx context.Context, resume event.RunID) (*agentcore.Session, error) {
			return openSession(ctx, opened.engine, opened.view, opened.trust, "", resume)
		},
	}, nil
}

// settingsTime is when the user's config.toml was changed; zero where there is none.
func (v *environment) settingsTime() (changed time.Time) {
	dirs, err := config.FindDirs(v.getenv, v.home)
	if err != nil {
		return changed
	}
	if info, err := os.Stat(dirs.File); err == nil {
		changed = info.ModTime()
	}
	return changed
}

// writeAccepted writes edits that the user accepted into the files of a view.
func writeAccepted(view *workspace.View, edits []workspace.FileEdit) (changed []string, refused map[string]error) {
	formats := map[string]workspace.Format{}
	for _, e := range edits {
		if file, err := view.Read(e.Path); err == nil { // a file that does not exist yet has none
			formats[e.Path] = file.Format
		}
	}
	return writeEdits(view.Roots()[0].Path, edits, func(path string) workspace.Format { return formats[path] })
}
