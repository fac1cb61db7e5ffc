package agentcore

import (
	"context"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
)

// EditorProvider is the name of the provider that stands for the models which the editor lends.
const EditorProvider = "editor"

// Editor is what an editor lends to the engine. Its methods may be called from any goroutine.
type Editor interface {
	// Lends reports whether the editor lends a model, and which: the one to take where none is named first. No list, though
	// it lends, leaves the choice to the editor. It never waits.
	Lends() (models []LentModel, lends bool)
	// LentModel returns one of them by its id; "" leaves the choice to the editor. Its name is "editor/ID", and
	// "editor/default" for "".
	LentModel(id string) model.Model
	// LendsSymbols and LendsDiagnostics report whether the editor answers Symbols and Diagnostics. They never wait.
	LendsSymbols() bool
	LendsDiagnostics() bool
	// Symbols asks the editor's own language servers, on the text that it shows.
	Symbols(ctx context.Context, query tool.SymbolQuery) ([]tool.Symbol, error)
	// Diagnostics returns what the editor's own language servers say of a file's text as the editor shows it.
	Diagnostics(ctx context.Context, path string) ([]tool.Diagnostic, error)
}

// LentModel is a model that the editor lends.
type LentModel struct {
	// ID is the editor's own name of it.
	ID string
	// Title is a name for people, empty where there is none.
	Title string
	// ContextTokens is how many tokens a request and its answer may have together; 0 where that is not known.
	ContextTokens int64
	// NoCalls says that it cannot call tools, and is offered none.
	NoCalls bool
}
