package tooltest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
)

// Records implements tool.Records.
type Records struct {
	// Findings are those reported so far, in order.
	Findings []tool.Finding
	// Todos is the list as it was set last.
	Todos []event.Todo
	// Skills are those that there are, by name.
	Skills map[string]Skill

	files tool.Workspace
}

// Skill is what a Host answers to the skill tool.
type Skill struct {
	Text string
	// Files are the others of its folder, by absolute path; Workspace.Attachments has their texts.
	Files []string
}

var _ tool.Records = (*Records)(nil)

// Report implements tool.Records. The fix, if any, is written into the layer.
func (r *Records) Report(_ context.Context, finding tool.Finding) (event.FindingID, error) {
	if fix := finding.Fix; fix != nil {
		layer := r.files.Files()
		file, err := layer.Read(finding.Path)
		if err != nil {
			return "", err
		}
		if n := strings.Count(file.Text, fix.OldString); n != 1 || fix.OldString == "" {
			return "", fmt.Errorf("the fix does not fit: old_string occurs %d times", n)
		}
		text := strings.Replace(file.Text, fix.OldString, fix.NewString, 1)
		if _, err := layer.Write(finding.Path, text, file.Stamp, r.files.Author(finding.Message)); err != nil {
			return "", err
		}
	}
	r.Findings = append(r.Findings, finding)
	return event.FindingID(fmt.Sprintf("finding-%d", len(r.Findings))), nil
}

// SetTodos implements tool.Records.
func (r *Records) SetTodos(_ context.Context, items []event.Todo) error {
	r.Todos = slices.Clone(items)
	return nil
}

// Skill implements tool.Records.
func (r *Records) Skill(name string) (string, []string, error) {
	skill, ok := r.Skills[name]
	if !ok {
		return "", nil, fmt.Errorf("there is no skill %q", name)
	}
	return skill.Text, skill.Files, nil
}
