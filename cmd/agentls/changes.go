package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/spf13/pflag"
)

// maxInFolders is how many files in folders may be worked on at once.
const maxInFolders = 200

// changeFlags choose changes instead of files.
type changeFlags struct {
	uncommitted, staged bool
	base, commit        string
}

// scope is what was chosen, the zero value for nothing.
func (f *changeFlags) scope() (git.Scope, error) {
	var chosen []git.Scope
	for _, c := range []struct {
		set   bool
		scope git.Scope
	}{
		{f.uncommitted, git.Scope{Kind: git.Uncommitted}},
		{f.staged, git.Scope{Kind: git.Staged}},
		{f.base != "", git.Scope{Kind: git.Base, Revision: f.base}},
		{f.commit != "", git.Scope{Kind: git.Commit, Revision: f.commit}},
	} {
		if c.set {
			chosen = append(chosen, c.scope)
		}
	}
	switch len(chosen) {
	case 0:
		return git.Scope{}, nil
	case 1:
		return chosen[0], nil
	}
	return git.Scope{}, usage("one review takes either %s or %s; leave one of them out", chosen[0], chosen[1])
}

func (f *changeFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.uncommitted, "uncommitted", false, "review what is not committed, new files included")
	flags.BoolVar(&f.staged, "staged", false, "review what is staged")
	flags.StringVar(&f.base, "base", "", "review what this branch has and the `revision` has not")
	flags.StringVar(&f.commit, "commit", "", "review what one `commit` brings")
}

// fit refuses a review of nothing, and a review of changes for a text that has none.
func (f *changeFlags) fit(args []string) error {
	scope, err := f.scope()
	switch {
	case err != nil:
		return err
	case scope.Kind != "" && slices.Contains(args, "-"):
		return usage("- is a text from standard input, of which git knows no changes; leave it out, or the option that " +
			"reviews changes")
	case scope.Kind == "" && len(args) == 0:
		return usage("no file is named; write `agentls review FILE...`, or `agentls review --uncommitted`")
	}
	return nil
}

// rootOf is the workspace folder of a job, and its files as absolute paths. A job on changes works on the whole work
// tree; the named files and folders narrow it.
func (p *process) rootOf(f *workFlags, j *job, files []string) (workspace.Root, []string, error) {
	if j.changes.Kind == "" {
		return p.chooseRoot(f.root, p.absolute(files))
	}
	folder := f.root
	if folder == "" {
		folder = git.Top(p.dir)
	}
	root, _, err := p.chooseRoot(folder, nil)
	if err != nil {
		return root, nil, err
	}
	below, all := rebase(root.Path, p.absolute(files))
	if !all {
		return root, nil, usage("not all of these files lie in %s, whose changes are reviewed; leave out those "+
			"outside of it", root.Path)
	}
	j.changes.Below = below
	return root, nil, nil
}

// unchanged tells the user that there is nothing to do, which is no failure.
func (p *process) unchanged(f *workFlags, why error) error {
	if !f.quiet {
		if _, err := fmt.Fprintln(p.stderr, "agentls:", why); err != nil {
			return err
		}
	}
	return nil
}

// inFolders replaces folders by the text files in them, without those that .gitignore leaves out.
func inFolders(ctx context.Context, view *workspace.View, paths []string) ([]string, error) {
	var list []string
	var faults []error
	for _, path := range paths {
		var problem *workspace.FileError
		if _, err := view.Read(path); !errors.As(err, &problem) || problem.Kind != workspace.Directory {
			list = append(list, path)
			continue
		}
		files, err := filesIn(ctx, view, path)
		if err != nil {
			faults = append(faults, toPerson(err))
		}
		if list = append(list, files...); len(list) > maxInFolders {
			return nil, usage("there are more than %d files in %s; name smaller folders, or review what has changed "+
				"by --uncommitted or --base", maxInFolders, path)
		}
	}
	return list, errors.Join(faults...)
}

// filesIn lists the text files in a folder and below it, up to one more than may be worked on at once.
func filesIn(ctx context.Context, view *workspace.View, folder string) ([]string, error) {
	proposal := view.NewProposal(workspace.ProposalOptions{})
	defer proposal.Close()
	var files []string
	text := func(_ string, data []byte) bool { return len(data) > 0 && workspace.IsText(data) }
	for found, err := range workspace.Scan(ctx, proposal.Fork(), folder, func(string) bool { return true }, text) {
		if err != nil {
			return nil, err
		}
		if found.Err == nil && found.Result {
			if files = append(files, found.Path); len(files) > maxInFolders {
				break
			}
		}
	}
	if len(files) == 0 {
		return nil, &workspace.FileError{
			Kind: workspace.Directory, Path: folder, Detail: "is a folder without text files",
			Hint: "name the files in it that are to be worked on",
		}
	}
	slices.Sort(files)
	return files, nil
}
