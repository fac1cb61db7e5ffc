package lsp

import (
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/lending"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/surface"
)

// connected is the server of an editor that has introduced itself. `initialize` makes all of it, and no part is
// replaced afterwards. Each part says in its own file who may call it.
type connected struct {
	*window
	trace   trace
	answers answers

	// what the editor shows
	board       *surface.Board
	status      *surface.Status
	diagnostics *surface.Diagnostics
	refresher   *surface.Refresher
	remarks     *remarks
	pages       *pages
	asks        *asker
	unreviewed  *delivery.Unreviewed

	// what files say
	authored *authored
	reloader *reloader
}

// answers are the parts that answer the requests of schema/agent.metamodel.json, which says what each does.
type answers struct {
	*launcher
	*delivery.Desk
	*records
	*subscriptions
	*catalog
	*permits
	*trust
	*recovery
	*lending.Lender
	*conversations
}

var _ methods.CommandServer = answers{}
