package agentcore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxDiff bounds the difference of one file in a prompt, in bytes; the run reads the rest in the file.
	maxDiff = 24 << 10
	// maxDiffs is how much of several files one run looks at, in bytes; above that, each file has a run of its own.
	maxDiffs = 40 << 10
)

// ReadChanges reads the changes in the repositories of a view's folders. The error is a *fault.Error: Unchanged where
// nothing has changed, NotFound where there is no repository, InvalidRequest for a revision that does not exist. It
// starts git, and reads files.
func ReadChanges(ctx context.Context, view *workspace.View, scope git.Scope) (*prompt.Changes, error) {
	found := &prompt.Changes{Of: scope.String()}
	var tops []string
	var refusal error
	for _, folder := range view.Folders() {
		repository, err := git.Find(ctx, folder)
		if err == nil && slices.Contains(tops, repository.Top) {
			continue
		}
		var changes []git.Change
		if err == nil {
			tops = append(tops, repository.Top)
			changes, err = repository.Changes(ctx, view, scope)
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			refusal = err // another folder may have the revision
			continue
		}
		for _, c := range changes {
			found.Files = append(found.Files, changed(view, c))
		}
	}
	if len(found.Files) > 0 {
		return found, nil
	}
	if refusal != nil {
		return nil, refusal
	}
	return nil, &fault.Error{
		Kind:   fault.Unchanged,
		Detail: fmt.Sprintf("%s in %s", scope.Nothing(), strings.Join(tops, ", ")),
		Hint:   "choose other changes, or name files",
	}
}

// changed is a change as a run sees it. Its line numbers are those of the text that the editor shows now.
func changed(view *workspace.View, c git.Change) prompt.Changed {
	f := prompt.Changed{Path: c.Path, From: c.From, Status: c.Status, Why: c.Why}
	if c.Why != "" {
		return f
	}
	if f.Diff = c.Diff(view.Relative(c.Path)); len(f.Diff) > maxDiff {
		cut := strings.LastIndexByte(f.Diff[:maxDiff], '\n') + 1
		f.Diff = f.Diff[:cut] + fmt.Sprintf(" … and %d more lines of this difference: read the file\n",
			strings.Count(f.Diff[cut:], "\n"))
	}
	if c.Status == git.Deleted {
		return f
	}
	file, err := view.Read(c.Path)
	if err != nil {
		f.Why = "it is not there any more"
		return f
	}
	f.Lines = git.On(c.Lines(), c.New, file.Text)
	return f
}

// readChanges adds the changes that a request names to it: all to one run or, where they are too many, one file to each
// of several runs.
func readChanges(ctx context.Context, s *Session, request *RunRequest) error {
	if request.Changes.Kind == "" {
		return nil
	}
	found, err := ReadChanges(ctx, s.shared.View, request.Changes)
	if err != nil {
		return err
	}
	rights, err := rightsOf(s, request.Agent)
	if err != nil {
		return err
	}
	hide(found, rights)
	var paths []string
	size := 0
	for _, f := range found.Files {
		if size += len(f.Diff); f.Why == "" && f.Status != git.Deleted {
			paths = append(paths, f.Path)
		}
	}
	request.Context.Changes = found
	if size > maxDiffs && len(paths) > 1 {
		request.Each = paths
	} else {
		request.Context.Paths = append(request.Context.Paths, paths...)
	}
	return nil
}

// hide leaves out the text of files that an agent's search would leave out.
func hide(changes *prompt.Changes, rights authority.Rights) {
	for i := range changes.Files {
		f := &changes.Files[i]
		for _, path := range []string{f.Path, f.From} {
			if path == "" || f.Why != "" {
				continue
			}
			if why := rights.WhyUnread(path, "read"); why != "" {
				f.Why, f.Lines, f.Diff = "it may not be read: "+why, nil, ""
			}
		}
	}
}
