package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
)

// checkReport is one file in the output of `agentls agents check --json`.
type checkReport struct {
	// File is the file as it was named, Source its absolute path.
	File   string       `json:"file"`
	Source string       `json:"source"`
	Format agent.Format `json:"format"`
	// Name and Slug name the first definition; they are empty where there is none.
	Name string `json:"name"`
	Slug string `json:"slug"`
	// Definitions are all definitions of the file, where it has several.
	Definitions []namedReport   `json:"definitions,omitempty"`
	OK          bool            `json:"ok"`
	Problems    []problemReport `json:"problems"`
}

type namedReport struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// problemReport is a problem. Lines and columns are 1-based, columns in bytes; the end is behind the last byte.
type problemReport struct {
	Line      int            `json:"line"`
	Column    int            `json:"column"`
	EndLine   int            `json:"endLine"`
	EndColumn int            `json:"endColumn"`
	Severity  event.Severity `json:"severity"`
	Key       string         `json:"key,omitempty"`
	Message   string         `json:"message"`
	Hint      string         `json:"hint,omitempty"`
	Fix       *fixReport     `json:"fix,omitempty"`
}

// fixReport is a fix, which replaces a place by New.
type fixReport struct {
	Title     string `json:"title"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	New       string `json:"new"`
}

func agentsCheckCommand(p *process, settings *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check files of definitions; exit code 1 where one has an error",
		Long: `Check the definitions of agents in the named files and folders. Of a folder, this reads all definitions, and tells
which files lie where agentls does not read them. The exit code is 1 if a definition has an error.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name the files to check; see `%s --help`", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			reports, err := p.checkDefinitions(c.Context(), settings, args)
			if err != nil {
				return err
			}
			if asJSON {
				err = p.printJSON(reports)
			} else {
				err = p.print(checkTable(reports))
			}
			if err != nil {
				return err
			}
			for _, r := range reports {
				if !r.OK {
					return &exitError{code: exitFindings}
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checkDefinitions reads all files before it checks any, since they may name each other's agents.
func (p *process) checkDefinitions(ctx context.Context, s *settings, names []string) ([]checkReport, error) {
	names, err := p.definitionFiles(names)
	if err != nil {
		return nil, err
	}
	cfg, problems, dirs, err := p.load(s)
	if err != nil {
		return nil, err
	}
	p.tellProblems(problems, true)
	// Checking starts nothing, so that files may name what lies in the current folder without trust.
	registry, known, err := p.definitions(ctx, cfg, dirs, p.dir)
	if err != nil {
		return nil, err
	}
	files, folders := make([]*agent.File, len(names)), agent.StandardFolders(dirs.Config, p.home, p.dir)
	for i, full := range p.absolute(names) {
		files[i], _ = agent.ReadFile(full, folders)
	}
	known.Registry = registry.Including(files...)
	known.Agents = append([]string{}, known.Registry.Names()...)
	reports := make([]checkReport, len(names))
	for i, file := range files {
		file.Validate(known)
		reports[i] = reportCheck(names[i], file)
	}
	return reports, nil
}

// definitionFiles are the named files and, for named folders, the definitions in them and the files that are not read
// there.
func (v *environment) definitionFiles(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		full := v.absolute([]string{name})[0]
		info, err := os.Stat(full)
		if err != nil || !info.IsDir() {
			files = append(files, name) // an unreadable file is reported with the other problems
			continue
		}
		before := len(files)
		err = filepath.WalkDir(full, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return fmt.Errorf("look for definitions: %w", err)
			}
			_, read := agent.Detect(path)
			if _, unread := agent.Unread(path); (read || unread) && !entry.IsDir() {
				files = append(files, filepath.Join(name, strings.TrimPrefix(path, full)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, usage("there are no definitions in %s; name the files", name)
		}
	}
	return files, nil
}

func reportCheck(name string, file *agent.File) checkReport {
	r := checkReport{
		File: name, Source: file.Path, Format: file.Format, OK: !agent.Failed(file.Problems),
		Problems: []problemReport{},
	}
	for i, d := range file.Definitions {
		if i == 0 {
			r.Name, r.Slug = d.Title, d.Slug
		}
		if len(file.Definitions) > 1 {
			r.Definitions = append(r.Definitions, namedReport{d.Title, d.Slug})
		}
	}
	for _, problem := range file.Problems {
		row := problemReport{
			Line: problem.Span.StartLine + 1, Column: problem.Span.StartColumn + 1,
			EndLine: problem.Span.EndLine + 1, EndColumn: problem.Span.EndColumn + 1,
			Severity: problem.Severity, Key: problem.Key, Message: problem.Message, Hint: problem.Hint,
		}
		if f := problem.Fix; f != nil {
			row.Fix = &fixReport{
				f.Title, f.Span.StartLine + 1, f.Span.StartColumn + 1, f.Span.EndLine + 1,
				f.Span.EndColumn + 1, f.New,
			}
		}
		r.Problems = append(r.Problems, row)
	}
	return r
}

// sound says what is in a file without problems.
func (r checkReport) sound() string {
	switch n := len(r.Definitions); {
	case n > 1:
		var slugs []string
		for _, d := range r.Definitions {
			slugs = append(slugs, oneLine(d.Slug))
		}
		return strings.Join(slugs[:n-1], ", ") + " and " + slugs[n-1] + " are sound"
	case r.Slug == "":
		return "there are no agents in it"
	}
	return oneLine(r.Slug) + " is sound"
}

// checkTable is a check for people: a line for each problem, and one for each file without any.
func checkTable(reports []checkReport) string {
	var b strings.Builder
	for _, r := range reports {
		for _, problem := range r.Problems {
			fmt.Fprintf(&b, "%s:%d:%d: %s: %s", oneLine(r.File), problem.Line, problem.Column, problem.Severity,
				oneLine(problem.Message))
			if problem.Hint != "" {
				fmt.Fprintf(&b, "; %s", oneLine(problem.Hint))
			}
			b.WriteByte('\n')
		}
		if len(r.Problems) == 0 {
			fmt.Fprintf(&b, "%s: %s\n", oneLine(r.File), r.sound())
		}
	}
	return b.String()
}
