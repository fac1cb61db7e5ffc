package tool

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Effect says what a call may change, and so whether it may run beside others, and whether its intent
// must be durable before it starts.
type Effect int

// The effects, from none to most.
const (
	// Reads changes nothing, here or elsewhere; several run in parallel.
	Reads Effect = iota
	// Fetches changes nothing either, but reaches the network; several run in parallel.
	Fetches
	// Delegates starts or follows other runs, which have rules of their own; several run in parallel.
	Delegates
	// Notes changes only the run's own records: findings, todos.
	Notes
	// Proposes changes the run's layer of proposed edits.
	Proposes
	// Asks changes a setting of the user's, and asks the user itself for the very change, whatever was granted.
	Asks
	// Acts changes something outside.
	Acts
	// Executes changes what a command line changes.
	Executes
)

var effectNames = [...]string{"reads", "fetches", "delegates", "notes", "proposes", "asks", "acts", "executes"}

// String is the effect's name in the store.
func (e Effect) String() string {
	return effectNames[e]
}

// Parallel reports whether such calls run beside others of one turn.
func (e Effect) Parallel() bool { return e <= Delegates }

// Outside reports whether such a call changes something that neither the store nor the workspace's layers hold, so that its intent
// must be durable before it starts.
func (e Effect) Outside() bool { return e >= Asks }

// LeavesDoubt reports whether nothing but looking tells what came of a call that was cut off, by the effect's name in the store.
func LeavesDoubt(effect string) bool {
	e := Effect(slices.Index(effectNames[:], effect))
	return e == Delegates || e.Outside()
}

// Spec describes a tool.
type Spec struct {
	// Name is canonical, lower-case with underscores.
	Name string
	// Description is for the model: when to use it and what it answers, in a few short sentences.
	Description string
	// Schema is the JSON Schema of the arguments.
	Schema json.RawMessage
	Effect Effect
	// With is the tool that this one belongs to, and comes and goes with; empty for none.
	With string
	// Needs is what there must be for a run to have a use for the tool.
	Needs Need
	// Subject is what rules speak of where they speak of its calls.
	Subject Subject
}

// Need is what there must be for a run to have a use for a tool.
type Need int

// The needs.
const (
	Nothing Need = iota
	// Subagents that the run may start; the engine tells the model in the tool's description which.
	Subagents
	// Engine is one that searches the web.
	Engine
	// Skills that the run may load.
	Skills
	// Naming in the definition of the agent: nobody else's requests carry the tool.
	Naming
)

// Tool is one capability. Implementations are stateless and safe for concurrent use; what belongs to
// a run comes in through the Host.
type Tool interface {
	Spec() Spec
	// Title is the call in one line for people, such as "read main.go". Arguments may be broken.
	Title(arguments json.RawMessage) string
	// Decode makes a call of arguments that fit the schema; members that are missing all the same are zero. Those who have
	// a model's arguments use [Parse].
	Decode(arguments json.RawMessage) (Call, error)
}

// Call is one call of a tool, decoded once: what people, permissions, hooks and the tool itself see of it is the same value.
type Call struct {
	// Title is that of the tool for these arguments.
	Title string
	// Arguments are in the tool's own words.
	Arguments json.RawMessage
	// Access is what the call reaches for. Nil means that the tool does not declare it: such a call is denied.
	Access *Access
	// Run carries out the call. An error is the answer to the model, which sees "error: " and the text: say what happened
	// and what to do instead. It stops soon after ctx ends and then returns ctx's error.
	Run func(ctx context.Context, host Host) (Result, error)
}

// Parse judges a model's arguments as [Check] does and decodes them. A call gets those members of defaults, a JSON object or nothing,
// which it does not set itself under any of their names, or sets to null; the defaults are judged as if the call had them.
func Parse(t Tool, raw, defaults json.RawMessage) (Call, error) {
	arguments, err := check(t, raw, defaults)
	if err != nil {
		return Call{}, err
	}
	return t.Decode(arguments)
}

// Result is a call's answer.
type Result struct {
	// Text goes to the model.
	Text string
	// Summary is one short line for people, such as "212 lines".
	Summary string
	// Paths are the files that the call was about, absolute, for inline status.
	Paths []string
	// Images go to the model beside the text, where it sees; the text says what they are.
	Images []Image
	// ExitCode is that of the command that the call ran to its end, or saw the end of; nil for none.
	ExitCode *int
	// Failed says that what the call had done by others failed, although the call itself came to its end: its status is
	// that of an error. The text then begins with "error: ".
	Failed bool
}

// Diagnostic is what the editor or a checker says about a place.
type Diagnostic struct {
	Path     string
	Span     event.Span
	Severity event.Severity
	// Source is the checker, such as "go vet"; Code is its rule, where it has one.
	Source  string
	Code    string
	Message string
	// Fix is what the checker would do, where it says so.
	Fix *Fix
}

// Fix replaces a text that occurs once in the file.
type Fix struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// Finding is a remark that a run wants to make.
type Finding struct {
	Path     string
	Span     event.Span
	Severity event.Severity
	Rule     string
	Message  string
	// Source is who found it; empty means the run's model.
	Source string
	Fix    *Fix
}

// Host is what a tool may touch, for one call of one run. The engine implements it.
type Host interface {
	// Files is the run's layer: what the editor shows, with the proposed edits on top.
	Files() *workspace.Layer
	// Author signs the run's edits; reason is the why of this one.
	Author(reason string) workspace.Author
	// Report publishes a finding. With a Fix it also proposes the edit in the run's layer; a Fix that
	// does not fit exactly once is an error and nothing is reported.
	Report(ctx context.Context, finding Finding) (event.FindingID, error)
	// Todos returns the run's list, SetTodos replaces it.
	Todos() []event.Todo
	SetTodos(ctx context.Context, items []event.Todo) error
	// EditorDiagnostics returns what the editor has about a file, from its own servers. It waits for the editor, a few seconds at most.
	EditorDiagnostics(ctx context.Context, path string) []Diagnostic
	// Symbols asks a language server, which sees what the run sees. The error is a *WithheldError where there is none, and may be
	// another where one fails.
	Symbols(ctx context.Context, query SymbolQuery) (Symbols, error)
	// Trusted reports whether checkers may load the configuration that lies in the workspace.
	Trusted() bool
	// MayRead reports whether a file that a search comes across, by its absolute path, may be shown at all.
	MayRead(path string) bool
	// MayFetch reports whether webfetch may reach host:port without a question.
	MayFetch(address string) bool
	// Connect opens a connection to host:port, whose address must be public or named by the user. The error is a *network.Refusal where
	// it is neither.
	Connect(ctx context.Context, address string) (net.Conn, error)
	// HoldsSecret reports whether a text has a secret in it, or the placeholder of one.
	HoldsSecret(text string) bool
	// SearchEngine is what the user has configured for websearch; ok is false for nothing.
	SearchEngine() (engine SearchEngine, ok bool)
	// Skill returns the instructions of a skill, and the other files of its folder by absolute path. The error
	// names the skills that there are.
	Skill(name string) (text string, files []string, err error)
	// Attached reads a file that lies outside the workspace but belongs to what the run may know, such as one
	// in a skill's folder. ok is false for any other path.
	Attached(path string) (text string, ok bool, err error)
	// RunCommand runs a command to its end. What it changed in text files is then part of Files. The error says why there is no
	// result.
	RunCommand(ctx context.Context, command Command) (CommandResult, error)
	// StartCommand starts a command in the background, which ends with the run at the latest. What it changes is
	// lost. The id names it in the run.
	StartCommand(ctx context.Context, command Command) (id string, err error)
	// CommandOutput returns how far a command in the background is, once it has ended or the time is over. The error
	// names those that there are.
	CommandOutput(ctx context.Context, id string, wait time.Duration) (BackgroundCommand, error)
	// KillCommand ends a command in the background and returns when nothing of it is left.
	KillCommand(ctx context.Context, id string) (BackgroundCommand, error)
	// RunChecker runs a program that loads code or configuration of the project: on what the run sees, in a full sandbox without
	// network, and what it writes is dropped. The error is a *WithheldError where it may not run.
	RunChecker(ctx context.Context, command CheckerCommand) (CheckerOutput, error)
	// Delegate starts another agent and returns at its end, or at once where it is in the background. The error says what of the task
	// cannot be, and what can; how a run ended is no error.
	Delegate(ctx context.Context, task Task) (TaskState, error)
	// DescribeAgent tells what an agent is for that the run can start. The error names those that it can.
	DescribeAgent(name string) (string, error)
	// Tasks returns how far tasks of the run are, all of them where no id is given. The error names those that there are.
	Tasks(ctx context.Context, ids []event.RunID) ([]TaskState, error)
	// WaitTasks waits until any or all of the tasks have ended, or the time is over; without ids those that run in the background. Of
	// those that have ended the run hears no more otherwise.
	WaitTasks(ctx context.Context, ids []event.RunID, one bool, limit time.Duration) ([]TaskState, error)
	// SendTask tells a running task something.
	SendTask(ctx context.Context, id event.RunID, message string) error
	// CancelTask ends a task and returns when nothing of it runs.
	CancelTask(ctx context.Context, id event.RunID) (TaskState, error)
	// SubmitResult ends the run after this turn with a result for the run that started it. The engine puts in what it saw itself.
	SubmitResult(ctx context.Context, result event.ChildResult) error
	// Ask puts questions to the user, and returns when each was answered, its time is over, or nobody can be asked. The replies
	// are in the order of the questions.
	Ask(ctx context.Context, questions []Question) ([]Reply, error)
	// EnterPlan lets the run only read from then on, where the user agrees. The text tells the model how things are.
	EnterPlan(ctx context.Context, reason string) (string, error)
	// ExitPlan keeps a plan and puts it to the user, or ends a child with it. The text tells the model what came of that.
	ExitPlan(ctx context.Context, plan string) (string, error)
	// Statusline says what the status line of the user's editor is set to, where that was set, and what a line may name.
	Statusline() (string, error)
	// SetStatusline puts a line into the user's configuration, if it is a sound one and the user agrees to this very line. The text tells the
	// model what came of that.
	SetStatusline(ctx context.Context, line string) (string, error)
	// Progress tells people how a long call goes.
	Progress(message string)
}
