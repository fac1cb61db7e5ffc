package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/permission"
)

// trustReport is the output of `agentls trust --json`.
type trustReport struct {
	// Folder is an absolute path without symbolic links.
	Folder string `json:"folder"`
	// Standing is unknown, changed or trusted.
	Standing permission.Standing `json:"standing"`
	// Never says that the user does not want to be asked.
	Never bool `json:"never,omitempty"`
	// Decided is when the user said so.
	Decided time.Time `json:"decided,omitzero"`
	// Added, Changed and Removed are the files that changed since, by their paths below the folder.
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Items are the files that act, or would act in a trusted folder.
	Items []trustItem `json:"items"`
}

type trustItem struct {
	Path string `json:"path"`
	// Kind is agent, hook, mcp, config or skill.
	Kind        string `json:"kind"`
	Description string `json:"description"`
}

// trustDecision is one folder in the output of `agentls trust list --json`.
type trustDecision struct {
	Folder  string    `json:"folder"`
	Trusted bool      `json:"trusted"`
	Decided time.Time `json:"decided"`
}

func trustCommand(p *process, s *settings) *cobra.Command {
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "trust [FOLDER]",
		Short: "Show what would act in a folder, and trust it",
		Long: `Show the agents, skills, prompts, instructions, hooks, MCP servers and the configuration in a folder (default: the
current one), and ask whether to trust them. agentls uses none of them until you trust the folder. The trust ends when
one of these files changes. Base URLs, keys, providers and wider permissions are never taken from a folder, trusted or
not.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return usage("%q takes one folder, not %d; see `%s --help`", c.CommandPath(), len(args), c.CommandPath())
		},
		RunE: func(c *cobra.Command, args []string) error {
			folder := p.dir
			if len(args) == 1 {
				folder = p.absolute(args)[0]
			}
			return p.trustFolder(c.Context(), s, folder, yes, asJSON)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "trust the folder without a question")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, and ask nothing")
	c.AddCommand(trustListCommand(p, s), trustRevokeCommand(p, s))
	return c
}

func (p *process) trustFolder(ctx context.Context, s *settings, folder string, yes, asJSON bool) error {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usage("there is no folder %s; name the workspace folder", folder)
	}
	return p.withEngine(ctx, s, "", func(engine *agentcore.Engine) error {
		t, err := engine.Decisions().WholeTrust(ctx, folder)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		trusts := t.Standing == permission.Trusted
		if !asJSON {
			if err := p.print(trustPage(t)); err != nil {
				return err
			}
		}
		agreed := yes && !trusts
		switch {
		case trusts || yes || asJSON:
		case !p.stdinTerminal:
			return usage("nothing was changed; write `agentls trust --yes` to trust the folder without a question")
		default:
			if agreed, err = p.agrees(ctx, "Trust it? [y/N] "); err != nil {
				return err
			}
		}
		if agreed {
			// The files are trusted as they were shown. If they have changed since, that is reported next time.
			if err := engine.Decisions().TrustFolder(ctx, folder, t.Actors); err != nil {
				return err
			}
			if t, err = engine.Decisions().FolderTrust(ctx, folder); err != nil {
				return err
			}
		}
		switch {
		case asJSON:
			return p.printJSON(reportTrust(t))
		case agreed:
			return p.print("It is trusted now.\n")
		case !trusts:
			return p.print("Nothing was changed.\n")
		}
		return nil
	})
}

// agrees asks a question on the terminal. Anything but y or yes is no.
func (o *console) agrees(ctx context.Context, question string) (bool, error) {
	if err := o.print(question); err != nil {
		return false, err
	}
	lines := make(chan string, 1)
	go func() { // ends with the input, at the latest with the process
		line, err := bufio.NewReader(o.stdin).ReadString('\n')
		if err != nil {
			line = "" // an unfinished line is no answer
		}
		lines <- line
	}()
	select {
	case line := <-lines:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func trustListCommand(p *process, s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the folders that you trust, and those that you are never asked about",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withEngine(c.Context(), s, "", func(engine *agentcore.Engine) error {
				folders, err := engine.Decisions().TrustedFolders(c.Context())
				if err != nil {
					return err
				}
				if asJSON {
					list := make([]trustDecision, len(folders))
					for i, f := range folders {
						list[i] = trustDecision{Folder: f.Root, Trusted: f.Trusted, Decided: f.Decided}
					}
					return p.printJSON(list)
				}
				if len(folders) == 0 {
					return p.print("No folder is trusted; `agentls trust FOLDER` shows what would act in one.\n")
				}
				var rows strings.Builder
				for _, f := range folders {
					standing := "never ask"
					if f.Trusted {
						standing = "trusted"
						if t, err := engine.Decisions().FolderTrust(c.Context(), f.Root); err != nil {
							standing = "cannot be read: " + err.Error()
						} else {
							standing = t.String()
						}
					}
					fmt.Fprintf(&rows, "%s\t%s\t%s\n", visible(f.Root), f.Decided.Local().Format(time.DateTime),
						oneLine(standing))
				}
				return p.print(inColumns(rows.String()))
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func trustRevokeCommand(p *process, s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke FOLDER",
		Short: "Trust a folder no longer, and ask again",
		Args:  exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder := p.absolute(args)[0]
			return p.withEngine(c.Context(), s, "", func(engine *agentcore.Engine) error {
				real := folder
				if resolved, err := filepath.EvalSymlinks(folder); err == nil {
					real = resolved
				}
				folders, err := engine.Decisions().TrustedFolders(c.Context())
				if err != nil {
					return err
				}
				for _, f := range folders {
					if f.Root == real {
						return engine.Decisions().RevokeTrust(c.Context(), folder)
					}
				}
				return usage("nothing is stored about %s; see `agentls trust list`", real)
			})
		},
	}
}

func reportTrust(t authority.FolderTrust) trustReport {
	r := trustReport{
		Folder: t.Root, Standing: t.Standing, Never: t.Never, Decided: t.Decided, Added: t.Added,
		Changed: t.Trust.Changed, Removed: t.Removed,
		Items: []trustItem{},
	}
	for _, item := range authority.DescribeActing(t.Root, t.Actors) {
		r.Items = append(r.Items, trustItem(item))
	}
	return r
}

// trustPage is a folder for people.
func trustPage(t authority.FolderTrust) string {
	var b bytes.Buffer
	standing := map[permission.Standing]string{
		permission.Unknown: "not trusted", permission.Changed: "not trusted any more; " + t.String(),
		permission.Trusted: "trusted",
	}[t.Standing]
	fmt.Fprintf(&b, "%s: %s\n", visible(t.Root), oneLine(standing))
	items := authority.DescribeActing(t.Root, t.Actors)
	if len(items) == 0 {
		b.WriteString(
			"It holds nothing that agentls would use. If you trust it, agents may run commands in it, and checkers " +
				"read their configuration there, some of which is code.\n")
	}
	var rows strings.Builder
	for _, item := range items {
		fmt.Fprintf(&rows, "  %s\t%s\t%s\n", item.Kind, visible(item.Path), oneLine(item.Description))
	}
	return b.String() + inColumns(rows.String())
}

// readTrust returns how far the user trusts a folder. It makes no state folder for that.
func (p *process) readTrust(ctx context.Context, dirs config.Dirs, folder string) (t authority.FolderTrust, err error) {
	t, state, err := p.openTrust(ctx, dirs, agentcore.Options{StateDir: dirs.State, Crash: p.crash}, folder)
	if state != nil {
		err = errors.Join(err, state.Close(context.WithoutCancel(ctx)))
	}
	return t, err
}

// openTrust is readTrust, but leaves the state open. The caller hands it to an engine with these options, or closes it.
// It is nil where there is no state yet, or where it cannot be opened.
func (p *process) openTrust(ctx context.Context, dirs config.Dirs, o agentcore.Options,
	folder string,
) (authority.FolderTrust, *agentcore.State, error) {
	if _, err := os.Stat(filepath.Join(dirs.State, "agentls.db")); errors.Is(err, fs.ErrNotExist) {
		t, err := authority.UnknownTrust(ctx, folder)
		return t, nil, err
	}
	state, err := agentcore.OpenState(ctx, o)
	if err != nil {
		return authority.FolderTrust{}, nil, err
	}
	if text := state.Repaired(); text != "" { // the next to open it finds a sound one
		fmt.Fprintln(p.stderr, "agentls:", text)
	}
	t, err := state.FolderTrust(ctx, folder)
	return t, state, err
}

// loadFolder reads the configuration for a workspace folder, with the folder's own if the user trusts it. If that
// cannot be found out, the folder is not trusted.
func (p *process) loadFolder(ctx context.Context, s *settings,
	root string,
) (*config.Config, []config.Problem, config.Dirs, authority.FolderTrust, error) {
	return p.loadTrusting(s, root, func(dirs config.Dirs) (authority.FolderTrust, error) {
		return p.readTrust(ctx, dirs, root)
	})
}

// loadTrusting is loadFolder with a function that finds out how far the folder is trusted.
func (p *process) loadTrusting(s *settings, root string, trust func(config.Dirs) (authority.FolderTrust, error),
) (*config.Config, []config.Problem, config.Dirs, authority.FolderTrust, error) {
	dirs, err := config.FindDirs(p.getenv, p.home)
	if err != nil {
		return nil, nil, dirs, authority.FolderTrust{}, &exitError{exitUsage, err}
	}
	t, failed := trust(dirs)
	if failed != nil {
		t.Standing = permission.Unknown
	}
	cfg, problems := config.Load(t.Sources(config.Sources{
		Getenv: p.getenv, Home: p.home, UserFile: dirs.File,
		Flags: s.set,
	}, root))
	for _, problem := range problems {
		if problem.Source == config.LayerFlag.String() && problem.Severity == config.SeverityError {
			return nil, nil, dirs, t, usage("--set: %s",
				strings.TrimPrefix(problem.String(), problem.Source+": error: "))
		}
	}
	problems = append(problems, authority.RuleProblems(cfg)...)
	if failed != nil {
		problems = append(problems, config.Problem{
			Source: "project", Message: "this folder is not trusted: " + failed.Error(), Hint: "see `agentls trust`",
			Severity: config.SeverityWarning,
		})
	}
	return cfg, problems, dirs, t, nil
}

// trustedFolders are the folders whose definitions and skills count: the folder if it is trusted, otherwise none.
func trustedFolders(t authority.FolderTrust, root string) []string {
	if t.Standing != permission.Trusted {
		return nil
	}
	return []string{root}
}

// untrustedAgent is the error where no agent has a name: err, or one that says that the folder has such an agent but is
// not trusted.
func untrustedAgent(agents *agent.Registry, t authority.FolderTrust, name string, err error) error {
	if _, unknown := agents.Find(name); unknown == nil || errors.As(unknown, new(*agent.BrokenError)) ||
		t.Standing == permission.Trusted {
		return err
	}
	file, defines := t.Defining(name)
	if !defines {
		return err
	}
	return usage(
		"there is no agent %q yet: %s has one, but the folder %s is not trusted; `agentls trust` shows what is in it "+
			"and trusts it", name, visible(file), t.Root)
}

// tellUntrusted says that something in the folder is not used because the folder is not trusted.
func (p *process) tellUntrusted(t authority.FolderTrust, quiet bool) {
	if text := p.untrusted(t); text != "" && !quiet {
		p.tell(text)
	}
}

// untrusted is what in a folder is not used because the folder is not trusted, and what to do; "" for nothing.
func (p *process) untrusted(t authority.FolderTrust) string {
	if t.Never || t.Standing == permission.Trusted || len(t.Actors) == 0 || t.Root == p.home {
		return "" // files of the home folder are the user's own
	}
	kinds := map[string]int{}
	for _, item := range authority.DescribeActing(t.Root, t.Actors) {
		kinds[item.Kind]++
	}
	var parts []string
	for _, kind := range []string{"agent", "skill", "instructions", "prompt", "hook", "mcp", "config"} {
		if n := kinds[kind]; n > 0 {
			words := map[string]string{"instructions": kind, "mcp": "MCP servers", "config": "configuration"}
			parts = append(parts, cmp.Or(words[kind], kind+"s"))
		}
	}
	why := "is not trusted"
	if t.Standing == permission.Changed {
		why = "is not trusted any more (" + t.String() + ")"
	}
	return fmt.Sprintf("the %s in %s are not used: the folder %s; `agentls trust` shows and trusts them",
		strings.Join(parts, ", "), t.Root, why)
}
