package surface

import (
	"context"
	"log/slog"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/remark"
)

// Means are what the surfaces work with. All of it is set, and any goroutine may use it.
type Means struct {
	Client    *client.Client
	Documents *document.Documents
	View      *workspace.View
	Form      remark.Form
	Logger    *slog.Logger
	// ConfigFile is the user's own configuration.
	ConfigFile string

	// Goes starts a goroutine whose context ends with the server; a panic in it is reported.
	Goes func(do func(context.Context))
	// Guarded runs do, and reports a panic in it.
	Guarded func(do func())
	// Settings returns the present settings, nil before they were read.
	Settings func() *config.Config
	// Info finds a run of this process.
	Info func(event.RunID) (history.Run, bool)
}

func lensesOn(c *config.Config) bool { return c != nil && c.CodeLens }

// wake puts a token into a channel that has room for one. It never waits.
func wake(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default: // the reader has not seen the last token yet, and will see this change with it
	}
}
