package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// reviewer is the agent of `agentls review`.
const reviewer = "reviewer"

// formatHelp describes --format.
const formatHelp = `Formats:
  text   path:line:col: severity: message [source rule], each with its fix; the agent's answer; the proposed edits as
         a diff; a summary. Lines and columns count from 1, columns in bytes.
  json   one object: version, root, session, run, agent, model, result (the RunResult of "agentls schema document"),
         findings (path, uri, span, severity, rule, message, source, hunk, fixed) and edits (path, uri, change, written,
         hunks, diff). Lines and columns count from 0, columns in bytes; paths are relative to root.
  sarif  SARIF 2.1.0, with fixes.
  diff   the proposed edits alone, for git apply or patch -p1.`

// reviewPrompt is what the reviewer is asked for each file.
const reviewPrompt = "Review this file."

// changesPrompt is what the reviewer is asked for changes.
const changesPrompt = "Review these changes."

func reviewCommand(p *process, s *settings) *cobra.Command {
	f := &workFlags{settings: s}
	var changes changeFlags
	c := &cobra.Command{
		Use:   "review [--uncommitted | --staged | --base REF | --commit REF] [FILE or FOLDER...]",
		Short: "Review changes, files or folders: report defects and propose fixes",
		Long: `Review with the agent "reviewer", several files in parallel. Findings and proposed fixes go to standard
output, progress to standard error. Nothing is written unless --write is given.

These options review what has changed, in the named files and folders or everywhere:
  --uncommitted  all changes since the last commit, new files included
  --staged       what the next commit would contain
  --base REF     what this branch has and REF has not, committed or not
  --commit REF   what that commit changed
Findings are then on changed lines, and on other lines only if a change causes the defect. Without these options, the
named files are reviewed as they are, and of a named folder all text files that .gitignore does not exclude.

A file named - is a text from standard input; --stdin-filename says which file it stands for.

` + formatHelp + `

Exit codes:
  0    no finding at or above --fail-on, or nothing has changed
  1    there is a finding at or above --fail-on
  2    a file or an option cannot be used
  3    the run of a file failed or reached a limit before it was done, or an edit could not be written
` + exitsOfEach,
		Example: `  agentls review --uncommitted
  agentls review --base main src
  agentls review main.go
  agentls review --format sarif $(git ls-files '*.go') > review.sarif
  agentls review --format diff main.go | git apply`,
		Args: func(_ *cobra.Command, args []string) error { return changes.fit(args) },
		RunE: func(c *cobra.Command, args []string) error {
			scope, err := changes.scope()
			if err != nil {
				return err
			}
			if scope.Kind != "" {
				return p.work(c.Context(), f, job{
					agent: reviewer, prompt: changesPrompt, title: "review " + scope.String(),
					files: args, changes: scope,
				})
			}
			title := "review " + filepath.Base(args[0])
			if len(args) > 1 {
				title = "review" // each run below it names its file
			}
			return p.work(c.Context(), f,
				job{agent: reviewer, prompt: reviewPrompt, title: title, files: args, each: true, folders: true})
		},
	}
	changes.add(c.Flags())
	f.add(c, "warning")
	return c
}
