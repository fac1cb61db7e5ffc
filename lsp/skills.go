package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
)

// Skills answers `agent/skills`: those that runs can use now, of projects only where the folder is trusted.
func (s *Server) Skills(ctx context.Context, p *methods.SkillsParams) (*methods.SkillList, error) {
	v, err := s.offered(ctx)
	if err != nil {
		return nil, err
	}
	folder := ""
	if p.Folder != "" {
		folder = pathOf(p.Folder)
		if !slices.ContainsFunc(s.view.Roots(), func(r workspace.Root) bool { return r.Path == folder }) {
			return nil, &fault.Error{Kind: fault.NotFound, Detail: folder + " is no workspace folder", Hint: "name one of the workspace's folders, or leave it out for all"}
		}
	}
	list := &methods.SkillList{}
	for _, name := range v.Skills.Names() {
		found, err := v.Skills.Find(name)
		if err != nil {
			return nil, fmt.Errorf("read the skill %s: %w", name, err)
		}
		if folder != "" && found.Layer == agent.LayerProject {
			if rel, err := filepath.Rel(folder, found.Path); err != nil || !filepath.IsLocal(rel) {
				continue
			}
		}
		info := methods.SkillInfo{Name: found.Name, Description: found.Description, Layer: methods.Layer(found.Layer.String())}
		if found.Path != "" {
			info.URI = uri.File(found.Path)
		}
		list.Skills = append(list.Skills, info)
	}
	return list, nil
}
