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
	// LendsSymbols and LendsDiagnostics report whether the editor answers Symbols and Diagnostics. They return at once.
	LendsSymbols() bool
	LendsDiagnostics() bool
	// Symbols asks the editor's own language servers. The answer is about the text that the editor shows.
	Symbols(ctx context.Context, query tool.SymbolQuery) ([]tool.Symbol, error)
	// Diagnostics returns what the editor's own language servers say of a file's text as the editor shows it.
	Diagnostics(ctx context.Context, path string) ([]tool.Diagnostic, error)
}

// Reading is called before a call works on files that it names, by their absolute paths, and returns before it does:
// who shows files that the engine has not been told of tells of them then. It is called from the goroutines of calls.
type Reading func(ctx context.Context, session event.SessionID, paths []string)

// Process is what all runs of one process share. It does not change once the first run is made. What it holds may be
// used from any goroutine.
type Process struct {
	// Context ends all runs; its cause tells a shutdown ([ErrShutdown]) from a cancellation.
	Context context.Context
	// Begin registers a run that is about to start. It returns a function to be called when the run's goroutine ends,
	// or ErrShutdown where no run may begin any more.
	Begin func(*Run) (ended func(), err error)
	// Former reads what an ended run leaves to the run that goes on with it. ParentOf returns which run started a
	// stored one, "" for none.
	Former   func(ctx context.Context, id event.RunID) (*Former, error)
	ParentOf func(ctx context.Context, id event.RunID) (event.RunID, error)
	// Unsaved shows the surfaces of this process an event that could not be stored.
	Unsaved func(event.Event)

	Config       func() *config.Config
	Agents       func() *agent.Registry
	Tools        map[string]tool.Tool
	ToolOrder    []tool.Tool
	OpenModel    func(provider.Choice) (model.Model, error)
	Surroundings func() provider.Surroundings
	Editor       Editor              // nil where there is none
	Reading      Reading             // nil where nobody has to know
	Getenv       func(string) string // used only for keys
	Client       *http.Client        // used for all requests except those of tools
	Decisions    *authority.Decisions
	Machine      *slot.Machine // the slots of all processes on this state folder
	Sandboxes    Sandboxes
	Checking     chan struct{} // held by checkers that run in sandboxes
	Outputs      Outputs
	StateDir     string // absolute
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
	Keys   string // the file with keys that the environment lacks, empty for none
}

// Sandboxes are what the sandboxes of all runs share.
type Sandboxes struct {
	// Report tells what the machine offers. Its first call takes a moment.
	Report func() sandbox.Report
	// Level tells the sandbox's level where it is known before the Report is; nil otherwise.
	Level func() sandbox.Level
	// Trees are what is known of the workspace folders.
	Trees *sandbox.Trees
}

// SandboxDir is the folder in which an engine with that state folder keeps its sandboxes and tries out what the machine
// offers.
func SandboxDir(stateDir string) string { return filepath.Join(stateDir, "sandbox") }

// Session is what the runs of one session share. What it holds may be used from any goroutine.
type Session struct {
	ID      event.SessionID
	View    *workspace.View
	Board   *board.Board
	Events  feed.Writer
	Asks    authority.Asks
	Slots   *slot.Pool // the places of children that are at work
	Servers *servers.Set
	Budget  *Budget
	// Trusted reports whether the user trusts the workspace. Skills tells which skills new runs get.
	Trusted func() bool
	Skills  func() *skill.Set
	// TrustedRoots are the workspace folders that the user trusts. Vouch takes a file's path and bytes, and says why
	// the file does not count although its folder is trusted; nil where it counts.
	TrustedRoots func() []string
	Vouch        func(root, name string, content []byte) error
	// UnlessHeld calls do at a time at which the editor applies no hunks. It reports false where ctx ended before that.
	UnlessHeld func(ctx context.Context, do func()) bool
	// Delegation says, for a prompt, how well subagents have done on these folders.
	Delegation func(ctx context.Context, subagents []string) (string, error)
	// Ended is called for each run of the user at its end, before the end is stored, except where the process ends.
	Ended func(*Run)

	starts sessionStarts
	// recording is held while a run's row, or what was used, is read and handed to the store. Without it, an older row
	// could overwrite what a run below has used meanwhile.
	recording sync.Mutex
}

// ErrShutdown is the cause of runs that end because the process does. They are stored as interrupted.
var ErrShutdown = errors.New("agentls is shutting down")

// errTimeout is the cause with which a run ends that has used up its time.
var errTimeout = errors.New("the run used up its time")
