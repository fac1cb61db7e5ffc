package agentcore

import (
	"context"

	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
)

// Editor is what an editor lends to the engine. Its methods may be called from any goroutine.
type Editor interface {
	provider.Editor
	// LendsSymbols and LendsDiagnostics report whether the editor answers Symbols and Diagnostics. They never wait.
	LendsSymbols() bool
	LendsDiagnostics() bool
	// Symbols asks the editor's own language servers, on the text that it shows.
	Symbols(ctx context.Context, query tool.SymbolQuery) ([]tool.Symbol, error)
	// Diagnostics returns what the editor's own language servers say of a file's text as the editor shows it.
	Diagnostics(ctx context.Context, path string) ([]tool.Diagnostic, error)
}
