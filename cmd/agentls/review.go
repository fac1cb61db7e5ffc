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

func reviewCommand(p *process, s *settings) *cobra.Command {
	f := &workFlags{settings: s}
	c := &cobra.Command{
		Use:   "review FILE...",
		Short: "Review files: report defects and propose fixes",
		Long: `Review files with the agent "reviewer", several in parallel. Findings and proposed fixes go to standard output,
progress to standard error. Nothing is written unless --write is given.

A file named - is a text from standard input; --stdin-filename says which file it stands for.

` + formatHelp + `

Exit codes: 0 no finding at or above --fail-on, 1 findings, 2 a file or option that cannot be used, 3 a run
(of any file) that failed, or that a limit ended before it was done, or an edit that could not be written, 130
interrupted.`,
		Example: `  agentls review main.go
  agentls review --format sarif $(git ls-files '*.go') > review.sarif
  agentls review --format diff main.go | git apply`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("no file is named; write `agentls review FILE...`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			title := "review " + filepath.Base(args[0])
			if len(args) > 1 {
				title = "review" // each run below it names its file
			}
			return p.work(c.Context(), f,
				job{agent: reviewer, prompt: reviewPrompt, title: title, files: args, each: true})
		},
	}
	f.add(c, "warning")
	return c
}
