package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
)

// exportFormats are the values of --format of `agentls sessions export`.
var exportFormats = []string{"jsonl", "markdown"}

func sessionsExportCommand(p *process, s *settings) *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write a session out, as JSONL that can be imported or as Markdown",
		Long: `Write a session out: its runs with their conversations, and the earlier runs that these go on with. As JSONL it has
an object a line, with links to parents, and "agentls sessions import" reads it; Markdown is for reading. Known secrets
are removed. Findings and proposed edits are not part of it.`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(exportFormats, format) {
				return usage("there is no format %q%s; write --format jsonl or markdown", format,
					didYouMean(format, exportFormats))
			}
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) (err error) {
				id := event.SessionID(args[0])
				if _, _, err := engine.History().Tree(c.Context(), id); fault.Is(err, fault.NotFound) {
					// reported before a file is made
					return unknownSession(args[0])
				}
				var out io.Writer = p.stdout
				if output != "" {
					file, err := os.OpenFile(p.absolute([]string{output})[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
					if errors.Is(err, os.ErrExist) {
						return usage("%s is there already; name another file", output)
					}
					if err != nil {
						return &exitError{exitUsage, fmt.Errorf("write the session to a file: %w", err)}
					}
					defer func() { err = errors.Join(err, file.Close()) }()
					out = file
				}
				if p.stdout.terminal && output == "" {
					var text strings.Builder
					out = &text
					defer func() {
						if err == nil {
							err = p.print(visible(text.String()))
						}
					}()
				}
				if format == "markdown" {
					return engine.History().Markdown(c.Context(), id, out)
				}
				return engine.History().Export(c.Context(), id, out)
			})
		},
	}
	c.Flags().StringVar(&format, "format", "jsonl", "how to write it: jsonl or markdown")
	c.Flags().StringVarP(&output, "output", "o", "", "write to a new `file` (default: standard output)")
	return c
}

func sessionsImportCommand(p *process, s *settings) *cobra.Command {
	var root string
	var asJSON bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Take in a session that was exported as JSONL, so that its runs can be resumed",
		Long: `Take in a session that "agentls sessions export" wrote, perhaps on another machine, as a new session; - is standard
input. The session keeps its workspace folders if all of them are here; otherwise it gets the current folder. --root
names another folder. Nothing in the file gives an agent more power than it has here.`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			in := p.stdin
			if args[0] != "-" {
				file, err := os.Open(p.absolute(args)[0])
				if err != nil {
					return usage("import a session: %w", err)
				}
				defer file.Close()
				in = file
			}
			chosen, _, err := p.chooseRoot(root, nil)
			if err != nil {
				return err
			}
			place := func(folders []string) []string {
				if root == "" && len(folders) > 0 &&
					!slices.ContainsFunc(folders, func(f string) bool { return !isFolder(f) }) {
					return folders
				}
				return []string{chosen.Path}
			}
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				id, err := engine.History().Import(c.Context(), in, place)
				if fault.Is(err, fault.InvalidRequest) {
					return usage("%s: %w", filepath.Base(args[0]), err)
				}
				if err != nil {
					return err
				}
				if asJSON {
					return p.printJSON(struct {
						Session event.SessionID `json:"session"`
					}{id})
				}
				return p.print(fmt.Sprintf("%s\n", id))
			})
		},
	}
	c.Flags().StringVar(&root, "root", "", "the workspace `folder` that the session is on from now on")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// isFolder reports whether there is a folder at a path.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
