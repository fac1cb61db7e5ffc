package lsp

import (
	"context"
	"slices"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
)

// Skills answers `agent/skills`: those that runs can use now, of projects only where the folder is trusted.
func (c *catalog) Skills(ctx context.Context, p *methods.SkillsParams) (*methods.SkillList, error) {
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	folder := ""
	if p.Folder != "" {
		folder = document.Path(p.Folder)
		if !slices.ContainsFunc(c.view.Roots(), func(r workspace.Root) bool { return r.Path == folder }) {
			return nil, &fault.Error{
				Kind: fault.NotFound, Detail: folder + " is no workspace folder",
				Hint: "name one of the workspace's folders, or leave it out for all",
			}
		}
	}
	return v.SkillList(folder)
}
