package run

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Editor is what an editor lends to the runs. Its methods may be called from any goroutine.
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

// Process is what all runs of one process share. It does not change once the first run is made, and what it holds may
// be used from any goroutine.
type Process struct {
	// Context ends all runs; its cause tells a shutdown ([ErrShutdown]) from a cancel.
	Context context.Context
	// Begin makes a run known that is about to start, and returns what is called when its goroutine ends. The error is
	// ErrShutdown where nothing begins any more.
	Begin func(*Run) (ended func(), err error)
	// Former reads what a run that has ended leaves to the one which goes on with it, and ParentOf which run started a
	// stored one, "" for none.
	Former   func(ctx context.Context, id event.RunID) (*Former, error)
	ParentOf func(ctx context.Context, id event.RunID) (event.RunID, error)
	// Unsaved tells the surfaces of this process what could not be stored.
	Unsaved func(event.Event)

	Config       func() *config.Config
	Agents       func() *agent.Registry
	Tools        map[string]tool.Tool
	ToolOrder    []tool.Tool
	OpenModel    func(provider.Choice) (model.Model, error)
	Surroundings func() provider.Surroundings
	Editor       Editor              // nil where there is none
	Getenv       func(string) string // for keys alone
	Client       *http.Client        // of all requests but those of the tools
	Decisions    *authority.Decisions
	Machine      *slot.Machine // the slots of all processes on this state folder
	Sandboxes    Sandboxes
	Checking     chan struct{} // held by the checkers that run in sandboxes
	Outputs      Outputs
	StateDir     string // absolute
	KeysFile     string // empty for none
	User         User
	Redactor     *secret.Redactor
	Crash        crash.Hook
	Logger       *slog.Logger
}

// User is where the user's own files lie.
type User struct {
	Config string // the config.toml, empty for none
	Home   string // the home folder, empty for none
	Folder string // the folder of agentls's configuration, which holds prompts; empty for none
}

// Sandboxes are what the sandboxes of all runs share.
type Sandboxes struct {
	// Report is what the machine offers; its first call takes a moment.
	Report func() sandbox.Report
	// Level is that of the Report, where it is known earlier, else nil.
	Level func() sandbox.Level
	// Trees are what is known of workspace folders.
	Trees *sandbox.Trees
}

// SandboxDir is where an engine with that state folder keeps its sandboxes, and tries out what the machine offers.
func SandboxDir(stateDir string) string { return filepath.Join(stateDir, "sandbox") }

// Session is what the runs of one session share. What it holds may be used from any goroutine.
type Session struct {
	ID      event.SessionID
	View    *workspace.View
	Board   *board.Board
	Events  feed.Writer
	Asks    authority.Asks
	Slots   *slot.Pool // of the children that are at work
	Servers *servers.Set
	Budget  *Budget
	// Trusted reports whether the user trusts the workspace, and Skills which skills new runs get.
	Trusted func() bool
	Skills  func() *skill.Set
	// TrustedRoots are the workspace folders that the user trusts, and Vouch says why a file of one of them does not
	// count although the folder is trusted, by its path and its bytes; nil where it counts.
	TrustedRoots func() []string
	Vouch        func(root, name string, content []byte) error
	// UnlessHeld calls do while the editor takes no hunks. It reports false where ctx ended before that.
	UnlessHeld func(ctx context.Context, do func()) bool
	// Delegation tells how subagents have done on these folders, for a prompt.
	Delegation func(ctx context.Context, subagents []string) (string, error)
	// Ended is told of each run of the user at its end, before that is stored, but where the process ends.
	Ended func(*Run)

	starts sessionStarts
	// recording is held while a run's row, or what was used, is read and handed to the store: a row that is older than
	// what a run below it has used meanwhile would take that back.
	recording sync.Mutex
}

// ErrShutdown is the cause of runs that end because the process does; they become interrupted.
var ErrShutdown = errors.New("agentls is shutting down")

// errTimeout is the cause of a run that used up its time.
var errTimeout = errors.New("the run used up its time")
