package tool

import (
	"github.com/agentls/agentls/agentcore/event"
)

// SymbolKind is what the symbols tool can be asked for.
type SymbolKind string

// The kinds of questions.
const (
	FindDefinition SymbolKind = "definition"
	FindReferences SymbolKind = "references"
	ListDocument   SymbolKind = "document"
	ListWorkspace  SymbolKind = "workspace"
)

// Symbol is a symbol or a place. What it is called is empty where it is only a place.
type Symbol struct {
	Path                  string
	Span                  event.Span
	Name, Kind, Container string
}

// SymbolQuery asks a language server something. Line and Column count from 0, Column in bytes.
type SymbolQuery struct {
	Kind SymbolKind
	// Path is the document, absolute; for ListWorkspace it may be empty, or tells which language is meant.
	Path         string
	Line, Column int // for FindDefinition and FindReferences
	// Name is what the names have to match, for ListWorkspace.
	Name string
}

// Symbols are what a language server answers.
type Symbols struct {
	List []Symbol
	// Source is who answered, such as "gopls" or "the editor".
	Source string
}
