package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

type skillArguments struct {
	Name string `json:"name" alias:"skill,skill_name,command"`
}

func skillTool() Tool {
	return New(Definition[skillArguments, Records]{
		Name: "skill",
		Description: "Load the instructions of one of the skills that are listed above, before you begin a task " +
			"of its kind.",
		Effect:  Reads,
		Access:  func(a skillArguments) Access { return Access{Call: a.Name} },
		Needs:   Skills,
		Subject: ByName,
		Example: skillArguments{Name: "release-notes"},
		Title:   func(a skillArguments) string { return "skill " + a.Name },
		Run: func(_ context.Context, host Records, a skillArguments) (Result, error) {
			text, files, err := host.Skill(strings.TrimSpace(a.Name))
			if err != nil {
				return Result{}, err
			}
			var b strings.Builder
			b.WriteString(text)
			if len(files) > 0 {
				b.WriteString(
					"\n\nFiles of the skill, for `read`; paths in the text above are relative to the folder " +
						"of SKILL.md:\n")
				for _, file := range files {
					b.WriteString(file + "\n")
				}
			}
			return Result{Text: b.String(), Summary: count(len(files), "file", "files")}, nil
		},
	})
}

// readAttached reads a file that lies outside the workspace but belongs to the run. It passes on the error of
// the workspace, outside, where the file does not.
func readAttached(host Workspace, name string, outside error) (workspace.File, error) {
	var problem *workspace.FileError
	if !errors.As(outside, &problem) || problem.Kind != workspace.Outside {
		return workspace.File{}, outside
	}
	text, ok, err := host.Attached(name)
	switch {
	case !ok:
		return workspace.File{}, outside
	case err != nil:
		return workspace.File{}, fmt.Errorf("read %s: %w", name, err)
	}
	return workspace.File{Path: name, Text: text, Version: -1}, nil
}
