package tooltest

import (
	"context"

	"github.com/agentls/agentls/agentcore/tool"
)

// Checks implements tool.Checks.
type Checks struct {
	// Editor is what the editor says, of all files.
	Editor []tool.Diagnostic
	// Server is what a language server answers; nil for none.
	Server func(tool.SymbolQuery) (tool.Symbols, error)
	// Checker is what checkers lead to that load the project's configuration; nil where they are withheld. Several run
	// at once.
	Checker func(tool.CheckerCommand) (tool.CheckerOutput, error)
}

var _ tool.Checks = (*Checks)(nil)

// EditorDiagnostics implements tool.Checks.
func (c *Checks) EditorDiagnostics(_ context.Context, path string) []tool.Diagnostic {
	var list []tool.Diagnostic
	for _, d := range c.Editor {
		if d.Path == path {
			list = append(list, d)
		}
	}
	return list
}

// Symbols implements tool.Checks.
func (c *Checks) Symbols(_ context.Context, query tool.SymbolQuery) (tool.Symbols, error) {
	if c.Server == nil {
		return tool.Symbols{}, &tool.WithheldError{Reason: "there is no language server here"}
	}
	return c.Server(query)
}

// RunChecker implements tool.Checks.
func (c *Checks) RunChecker(_ context.Context, command tool.CheckerCommand) (tool.CheckerOutput, error) {
	if c.Checker == nil {
		return tool.CheckerOutput{}, &tool.WithheldError{Reason: "this test has no sandbox"}
	}
	return c.Checker(command)
}
