package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/promptfile"
	"github.com/agentls/agentls/agentcore/skill"
)

// promptReport is one prompt in the output of `agentls prompts --json`.
type promptReport struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Arguments   string            `json:"arguments,omitempty"`
	Source      promptfile.Source `json:"source"`
	Layer       agent.Layer       `json:"layer"`
	File        string            `json:"file,omitempty"`
}

func promptsCommand(p *process, s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "prompts",
		Short: "List the prompts that `agentls run` knows by /NAME: in files, of trusted folders, and skills",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			root, _, err := p.chooseRoot("", nil)
			if err != nil {
				return err
			}
			_, problems, dirs, trust, err := p.loadFolder(c.Context(), s, root.Path)
			if err != nil {
				return err
			}
			p.tellProblems(problems, true)
			projects := trustedFolders(trust, root.Path)
			skills, err := skill.Load(c.Context(), skill.Folders(dirs.Config, p.home, projects...))
			if err != nil {
				return fmt.Errorf("load the skills: %w", err)
			}
			set, err := promptfile.Load(c.Context(), promptfile.Folders(dirs.Config, p.home, projects...), trust.Vouch,
				promptfile.OfSkills(skills)...)
			if err != nil {
				return err
			}
			unread := set.Unread()
			for _, name := range slices.Sorted(maps.Keys(unread)) {
				p.tell(visible(fmt.Sprintf("/%s: %v", name, unread[name])))
			}
			if asJSON {
				reports := []promptReport{}
				for _, one := range set.List() {
					reports = append(reports, promptReport{
						one.Name, one.Description, one.Hint, one.Source, one.Layer, one.Path,
					})
				}
				return p.printJSON(reports)
			}
			p.tellUntrusted(trust, len(projects) > 0)
			return p.print(promptTable(set))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// promptTable is the listing for people.
func promptTable(set *promptfile.Set) string {
	var rows strings.Builder
	for _, one := range set.List() {
		call := strings.TrimSpace(one.Name + " " + one.Hint)
		fmt.Fprintf(&rows, "/%s\t%s\t%s\t%s\n", oneLine(call), one.Source, one.Layer, oneLine(one.Description))
	}
	if rows.Len() == 0 {
		return "There are no prompts. A file .agentls/prompts/NAME.md is one, once its folder is trusted.\n"
	}
	return inColumns(rows.String())
}
