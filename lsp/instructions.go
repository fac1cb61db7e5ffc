package lsp

import (
	"context"
	"path/filepath"
	"time"

	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/workspace"
)

// matchTime bounds the search for a file that a glob matches.
const matchTime = 500 * time.Millisecond

// drafts reads files with instructions for people who write them, as agents would get them in a trusted folder.
type drafts struct{ view *workspace.View }

// Read implements [instruction.Reader].
func (d drafts) Read(root, name string) (text string, unseen int, err error) {
	file, err := run.ReadInstructions(d.view, root, name)
	return permission.Seen(file.Text), permission.CountUnseen(file.Text), err
}

// List implements [instruction.Reader]. No import needs it.
func (d drafts) List(string, string) []string { return nil }

// imports is what one import brings into a file with instructions. It reads the disk.
func (e *editor) imports(path string, i instruction.Import) instruction.Set {
	places := instruction.Places{Home: e.home(), Roots: e.folders()}
	return instruction.NewBook(places, drafts{e.view}).Import(path, i)
}

// matches reports whether a glob in a file with instructions matches any file of its workspace folder, as far as half a
// second shows. It reads the disk.
func (e *editor) matches(path string, g instruction.Glob) bool {
	ctx, cancel := context.WithTimeout(e.background, matchTime)
	defer cancel()
	proposal := e.view.NewProposal(workspace.ProposalOptions{})
	defer proposal.Close()
	for _, root := range e.folders() {
		if !within(root, path) {
			continue
		}
		want := func(name string) bool {
			rel, err := filepath.Rel(root, name)
			return err == nil && g.Matches(filepath.ToSlash(rel))
		}
		for found, err := range workspace.Scan[struct{}](ctx, proposal.Fork(), root, want, nil) {
			if err != nil || want(found.Path) {
				return true // or the search took too long
			}
		}
		return false
	}
	return true // the file is in no open folder
}
