package tool

import (
	"context"
	"fmt"
	"net"
	"reflect"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Host is what tools may touch, for one call of one run. The engine implements it. A tool sees only the face that its
// [Definition] names.
type Host interface {
	Workspace
	Commands
	Checks
	Delegation
	Web
	User
	Records
}

// Workspace is the files of the run.
type Workspace interface {
	// Files is the run's layer: what the editor shows, with the proposed edits on top.
	Files() *workspace.Layer
	// Author signs the run's edits; reason is the why of this one.
	Author(reason string) workspace.Author
	// MayRead reports whether a file that a search comes across, by its absolute path, may be shown at all.
	MayRead(path string) bool
	// MayReadPlain is MayRead for a file that was seen to be no symbolic link. It does not look at the disk.
	MayReadPlain(path string) bool
	// Attached reads a file that lies outside the workspace but belongs to what the run may know, such as one
	// in a skill's folder. ok is false for any other path.
	Attached(path string) (text string, ok bool, err error)
}

// Commands is the command lines of the run.
type Commands interface {
	// RunCommand runs a command to its end. What it changed in text files is then part of Files. The error says why
	// there is no result.
	RunCommand(ctx context.Context, command Command) (CommandResult, error)
	// StartCommand starts a command in the background, which ends with the run at the latest. What it changes is
	// lost. The id names it in the run.
	StartCommand(ctx context.Context, command Command) (id string, err error)
	// CommandOutput returns how far a command in the background is, once it has ended or the time is over. The error
	// names those that there are.
	CommandOutput(ctx context.Context, id string, wait time.Duration) (BackgroundCommand, error)
	// KillCommand ends a command in the background and returns when nothing of it is left.
	KillCommand(ctx context.Context, id string) (BackgroundCommand, error)
}

// Checks is what the editor, language servers and checkers know of the run's files.
type Checks interface {
	// EditorDiagnostics returns what the editor has about a file, from its own servers. It waits for the editor, a few
	// seconds at most.
	EditorDiagnostics(ctx context.Context, path string) []Diagnostic
	// Symbols asks a language server, which sees what the run sees. The error is a *WithheldError where there is none,
	// and may be another where one fails.
	Symbols(ctx context.Context, query SymbolQuery) (Symbols, error)
	// RunChecker runs a program that loads code or configuration of the project: on what the run sees, in a full
	// sandbox without network, and what it writes is dropped. The error is a *WithheldError where it may not run.
	RunChecker(ctx context.Context, command CheckerCommand) (CheckerOutput, error)
}

// Delegation is the run's place among others: the tasks that it gives, and the result of its own.
type Delegation interface {
	// Delegate starts another agent and returns at its end, or at once where it is in the background. The error says
	// what of the task cannot be, and what can; how a run ended is no error.
	Delegate(ctx context.Context, task Task) (TaskState, error)
	// DescribeAgent tells what an agent is for that the run can start. The error names those that it can.
	DescribeAgent(name string) (string, error)
	// Tasks returns how far tasks of the run are, all of them where no id is given. The error names those that there
	// are.
	Tasks(ctx context.Context, ids []event.RunID) ([]TaskState, error)
	// WaitTasks waits until any or all of the tasks have ended, or the time is over; without ids those that run in the
	// background. Of those that have ended the run hears no more otherwise.
	WaitTasks(ctx context.Context, ids []event.RunID, one bool, limit time.Duration) ([]TaskState, error)
	// SendTask tells a running task something.
	SendTask(ctx context.Context, id event.RunID, message string) error
	// CancelTask ends a task and returns when nothing of it runs.
	CancelTask(ctx context.Context, id event.RunID) (TaskState, error)
	// SubmitResult ends the run after this turn with a result for the run that started it. The engine puts in what it
	// saw itself.
	SubmitResult(ctx context.Context, result event.ChildResult) error
}

// Web is the network as far as the run may reach it.
type Web interface {
	// MayFetch reports whether webfetch may reach host:port without a question.
	MayFetch(address string) bool
	// Connect opens a connection to host:port, whose address must be public or named by the user. The error is a
	// *network.Refusal where it is neither.
	Connect(ctx context.Context, address string) (net.Conn, error)
	// HoldsSecret reports whether a text has a secret in it, or the placeholder of one.
	HoldsSecret(text string) bool
	// SearchEngine is what the user has configured for websearch; ok is false for nothing.
	SearchEngine() (engine SearchEngine, ok bool)
}

// User is the person whom the run works for.
type User interface {
	// Ask puts questions to the user, and returns when each was answered, its time is over, or nobody can be asked. The
	// replies are in the order of the questions.
	Ask(ctx context.Context, questions []Question) ([]Reply, error)
	// EnterPlan lets the run only read from then on, where the user agrees. The text tells the model how things are.
	EnterPlan(ctx context.Context, reason string) (string, error)
	// ExitPlan keeps a plan and puts it to the user, or ends a child with it. The text tells the model what came of
	// that.
	ExitPlan(ctx context.Context, plan string) (string, error)
	// Statusline says what the status line of the user's editor is set to, where that was set, and what a line may
	// name.
	Statusline() (string, error)
	// SetStatusline puts a line into the user's configuration, if it is a sound one and the user agrees to this very
	// line. The text tells the model what came of that.
	SetStatusline(ctx context.Context, line string) (string, error)
}

// Records is what the run writes down for others, and what is written down for it.
type Records interface {
	// Report publishes a finding. With a Fix it also proposes the edit in the run's layer; a Fix that
	// does not fit exactly once is an error and nothing is reported.
	Report(ctx context.Context, finding Finding) (event.FindingID, error)
	// SetTodos replaces the run's list of work.
	SetTodos(ctx context.Context, items []event.Todo) error
	// Skill returns the instructions of a skill, and the other files of its folder by absolute path. The error
	// names the skills that there are.
	Skill(name string) (text string, files []string, err error)
}

// faceOf is the part of a host that a tool needs. The error is for the model.
func faceOf[F any](tool string, host Host) (F, error) {
	face, ok := any(host).(F)
	if !ok {
		return face, fmt.Errorf("%s cannot run here, since it needs %v, which its host does not have; "+
			"do without the tool, and tell the user", tool, reflect.TypeFor[F]())
	}
	return face, nil
}

// Command is a command line for [Commands].
type Command struct {
	// Script is for bash, or sh where there is no bash.
	Script string
	// Why is the reason of the edits that it leads to.
	Why string
	// Timeout ends it; 0 is none, which only a command in the background may have.
	Timeout time.Duration
}

// CommandResult is what came of a command.
type CommandResult struct {
	// Output is standard output and standard error as they came, cut in the middle where they were too long. Whole is
	// then the file that has all of it, which Workspace.Attached reads, and Size its length in bytes.
	Output string
	Whole  string
	Size   int64
	// Exit is the exit code; Signal names the signal that ended the command, if one did.
	Exit   int
	Signal string
	// TimedOut tells that Command.Timeout ended it.
	TimedOut bool
	// Files are what it changed in the workspace, by path.
	Files []workspace.Taken
	// Notes say what else the reader should know.
	Notes []string
}

// BackgroundCommand is how far a command in the background is.
type BackgroundCommand struct {
	Command Command
	// Output is what came since it was last asked for.
	Output string
	// Ended is set once nothing of the command is left; then Result is set, but for its Output.
	Ended  bool
	Result CommandResult
}

// Question is what an agent wants to know of the user.
type Question struct {
	Text string
	// Header is what it is about, in a word or two; it may be empty.
	Header string
	// Options are the answers to choose from, the recommended one first; none means free text only.
	Options []Option
	// Multiple says that several may be chosen.
	Multiple bool
	// Closed says that one of the options declines, so that the user is not offered to leave it to the agent besides.
	Closed bool
}

// Reply is what came of a question.
type Reply struct {
	// Answers are the labels that were chosen, or the user's own words.
	Answers []string
	// Why says why there are none.
	Why string
}

// Task is a job that a run gives to another agent.
type Task struct {
	// Agent is a slug or alias.
	Agent  string
	Prompt string
	// Title is for people, in a few words; empty for the prompt's first line.
	Title string
	// Background does not wait for its end.
	Background bool
	// MaxTurns and Model override the definition's where they are set; the limit is never above the definition's.
	MaxTurns int
	Model    string
	// Resume is the id of a run that has ended and shall go on with Prompt; empty for a new one.
	Resume event.RunID
	// AllowedTools, by any spelling, are what it gets beside its own tools, if the user agrees. Its own may be among
	// them, which changes nothing.
	AllowedTools []string
	// ContextFiles are what it is about, as the model names files.
	ContextFiles []string
	// Criteria say when it has succeeded.
	Criteria string
	// Thoroughness is "quick", "medium", "very thorough" or empty.
	Thoroughness string
}

// TaskState is how far a delegated run is.
type TaskState struct {
	ID    event.RunID
	Agent string
	Title string
	// Message is what it does now, or waits for.
	Message string
	// Result is that of the moment; Result.Status tells whether it has ended.
	Result event.RunResult
	// Conflicts are its edits that collided with others while they were merged, in words for the model with both sides.
	Conflicts []string
	// Output is the file that its result goes to, where it is in the background.
	Output string
	// Bounded says which limit was asked for and not given, in words for the model; empty for none.
	Bounded string
}

// CheckerCommand is a program for [Checks.RunChecker].
type CheckerCommand struct {
	// Argv are the program, absolute or on PATH, and its arguments; no shell reads them.
	Argv []string
	// Dir is the folder to run in, absolute and in the workspace.
	Dir string
	// Timeout ends it.
	Timeout time.Duration
}

// CheckerOutput is what came of a CheckerCommand.
type CheckerOutput struct {
	// Stdout and Stderr may be cut where they are very long.
	Stdout, Stderr string
	// Exit is the exit code; 128 and the signal's number where a signal ended the program.
	Exit int
}

// Option is one answer to choose.
type Option struct {
	// Label is what is shown and answered. No other option of the question has it.
	Label string
	// Description says what it means; it may be empty.
	Description string
}

// CheckedWorkspace is the run's files, and what is known of them.
type CheckedWorkspace interface {
	Workspace
	Checks
}

// WithheldError says why a checker that runs code of the project was not run.
type WithheldError struct {
	// Reason is a clause, such as "the user does not trust this workspace yet".
	Reason string
}

func (e *WithheldError) Error() string { return "not run, since " + e.Reason }
