package tool

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/workspace"
)

type rememberArguments struct {
	Text   string `json:"text" jsonschema:"one rule or fact, in a sentence" alias:"fact,memory,note"`
	Folder string `json:"folder,omitempty" jsonschema:"whose work it is for; default: the workspace" alias:"path,directory"`
}

// file is what the call edits.
func (a rememberArguments) file() string { return path.Join(a.Folder, instruction.Remembering) }

// remembering is what the tool needs of a host: nothing with a secret is remembered.
type remembering interface {
	Workspace
	HoldsSecret(text string) bool
}

func rememberTool() Tool {
	return New(Definition[rememberArguments, remembering]{
		Name: "remember",
		Description: "Propose to remember something for later conversations, in the AGENTS.md of a folder. The user " +
			"decides on it. Only what was asked to be remembered, or what will surely hold.",
		Effect:  Proposes,
		Access:  func(a rememberArguments) Access { return onPath(a.file()) },
		Subject: ByPath,
		Needs:   Naming,
		Example: rememberArguments{Text: "Tests are run by `make check`."},
		Title:   func(a rememberArguments) string { return clip("remember in "+a.file()+": "+a.Text, titleLimit) },
		Run:     remember,
	})
}

func remember(_ context.Context, host remembering, a rememberArguments) (Result, error) {
	if host.HoldsSecret(a.Text) {
		return Result{}, errors.New("what is to be remembered looks like a secret, and agents would be told it each " +
			"time; say where it is kept instead")
	}
	layer := host.Files()
	file, err := layer.View().Resolve(a.file())
	if err != nil {
		return Result{}, err
	}
	before, err := peek(layer, file)
	var problem *workspace.FileError
	switch {
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound:
		before = workspace.File{Path: file}
	case err != nil:
		return Result{}, explain(host, file, err)
	}
	shown := layer.View().Shown(file)
	text, err := instruction.Remember(before.Text, a.Text)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", shown, err)
	}
	if _, err := layer.Write(file, text, before.Stamp, host.Author("remember")); err != nil {
		return Result{}, explain(host, file, err)
	}
	return Result{
		Text:    fmt.Sprintf("Proposed for %s; it counts once the user accepts it.", shown),
		Summary: changeSummary(before.Text, text), Paths: []string{file},
	}, nil
}
