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

// Host is what tools may use, for one call of one run. The engine implements it. A tool sees only the face that its
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
	// Files is the run's layer: what the editor shows, with the proposed edits above it.
	Files() *workspace.Layer
	// Author is the author of the run's edits; reason is why this edit is made.
	Author(reason string) workspace.Author
	// MayRead reports whether a file that a search comes across, by its absolute path, may be shown at all.
	MayRead(path string) bool
	// MayReadPlain is MayRead for a file that is known to be no symbolic link. It does not look at the disk.
	MayReadPlain(path string) bool
	// Attached reads a file outside of the workspace that the run may know, such as one in a skill's folder. ok is
	// false for any other path.
	Attached(path string) (text string, ok bool, err error)
}

// Commands is the command lines of the run.
type Commands interface {
	// RunCommand runs a command to its end. Its changes of text files are then part of Files. The error says why there
	// is no result.
	RunCommand(ctx context.Context, command Command) (CommandResult, error)
	// StartCommand starts a command in the background, which ends with the run at the latest. Its changes are lost. The
	// id names the command in the run.
	StartCommand(ctx context.Context, command Command) (id string, err error)
	// CommandOutput waits until a command in the background has ended or the time is over, and returns how far it is.
	// The error names the commands that there are.
	CommandOutput(ctx context.Context, id string, wait time.Duration) (BackgroundCommand, error)
	// KillCommand ends a command in the background, and returns when none of its processes is left.
	KillCommand(ctx context.Context, id string) (BackgroundCommand, error)
}

// Checks is what the editor, language servers and checkers know of the run's files.
type Checks interface {
	// EditorDiagnostics returns the editor's own diagnostics of a file. It waits for the editor, a few seconds at most.
	EditorDiagnostics(ctx context.Context, path string) []Diagnostic
	// Symbols asks a language server, which sees what the run sees. The error is a *WithheldError where there is no
	// server, and another one where the server fails.
	Symbols(ctx context.Context, query SymbolQuery) (Symbols, error)
	// RunChecker runs a program that loads code or configuration of the project, on the files as the run sees them, in
	// a full sandbox without network. What it writes is dropped. The error is a *WithheldError where it may not run.
	RunChecker(ctx context.Context, command CheckerCommand) (CheckerOutput, error)
}

// Delegation is how a run works with other runs: the tasks that it gives, and the result of its own.
type Delegation interface {
	// Delegate starts another agent, and returns at the end of that run, or at once where it is in the background. The
	// error says what in the task is not possible, and what is; a run that ended badly is no error.
	Delegate(ctx context.Context, task Task) (TaskState, error)
	// DescribeAgent says what an agent is for that the run can start. The error names the agents that it can start.
	DescribeAgent(name string) (string, error)
	// Tasks returns how far tasks of the run are: those with these ids or, without ids, all. The error names the tasks
	// that there are.
	Tasks(ctx context.Context, ids []event.RunID) ([]TaskState, error)
	// WaitTasks waits until one or all of the tasks have ended, or the time is over. Without ids, it waits for the
	// tasks in the background. The run is not told again of the tasks that it has seen end here.
	WaitTasks(ctx context.Context, ids []event.RunID, one bool, limit time.Duration) ([]TaskState, error)
	// SendTask tells a running task something.
	SendTask(ctx context.Context, id event.RunID, message string) error
	// CancelTask ends a task, and returns when nothing of it runs any more.
	CancelTask(ctx context.Context, id event.RunID) (TaskState, error)
	// SubmitResult ends the run after this turn, with a result for the run that started it. The engine adds what it has
	// seen itself.
	SubmitResult(ctx context.Context, result event.ChildResult) error
}

// Web is the network as far as the run may reach it.
type Web interface {
	// MayFetch reports whether webfetch may reach host:port without a question.
	MayFetch(address string) bool
	// Connect opens a connection to host:port. The address must be public or named by the user; otherwise the error is
	// a *network.Refusal.
	Connect(ctx context.Context, address string) (net.Conn, error)
	// HoldsSecret reports whether a text contains a secret, or the placeholder of one.
	HoldsSecret(text string) bool
	// SearchEngine is what the user has configured for websearch; ok is false where nothing is.
	SearchEngine() (engine SearchEngine, ok bool)
}

// User is the person whom the run works for.
type User interface {
	// Ask puts questions to the user. It returns when each was answered, its time is over, or nobody can be asked. The
	// replies are in the order of the questions.
	Ask(ctx context.Context, questions []Question) ([]Reply, error)
	// EnterPlan lets the run only read from then on, if the user agrees. The text tells the model the outcome.
	EnterPlan(ctx context.Context, reason string) (string, error)
	// ExitPlan stores a plan and puts it to the user, or ends a child with it. The text tells the model the outcome.
	ExitPlan(ctx context.Context, plan string) (string, error)
	// Statusline says what the status line is set to, where it was set, and which names a line may use.
	Statusline() (string, error)
	// SetStatusline writes a line into the user's configuration, if the line is valid and the user agrees to exactly
	// this line. The text tells the model the outcome.
	SetStatusline(ctx context.Context, line string) (string, error)
}

// Records is what the run writes down for others, and what others have written down for it.
type Records interface {
	// Report publishes a finding. If the finding has a Fix, Report also proposes that edit in the run's layer. A Fix
	// that does not fit exactly once is an error, and then nothing is reported.
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
	// Why is the reason of the edits that come of the command.
	Why string
	// Timeout ends the command; 0 is none, which only a command in the background may have.
	Timeout time.Duration
}

// CommandResult is the outcome of a command.
type CommandResult struct {
	// Output is standard output and standard error in the order in which they came, cut in the middle if they were too
	// long. Whole is then the file with all of it, which Workspace.Attached reads, and Size its length in bytes.
	Output string
	Whole  string
	Size   int64
	// Exit is the exit code; Signal names the signal that ended the command, if one did.
	Exit   int
	Signal string
	// TimedOut says that Command.Timeout ended the command.
	TimedOut bool
	// Files are the command's changes in the workspace, by path.
	Files []workspace.Taken
	// Notes say what else the reader should know.
	Notes []string
}

// BackgroundCommand is how far a command in the background is.
type BackgroundCommand struct {
	Command Command
	// Output is the output since the last question.
	Output string
	// Ended is set once none of its processes is left. Then Result is set, without its Output.
	Ended  bool
	Result CommandResult
}

// Question is what an agent wants to know of the user.
type Question struct {
	Text string
	// Header says in a word or two what the question is about; it may be empty.
	Header string
	// Options are the answers to choose from, the recommended one first. Without options, the user answers in his own
	// words.
	Options []Option
	// Multiple says that the user may choose several options.
	Multiple bool
	// Closed says that one of the options declines, so that the user gets no further option to leave the decision to
	// the agent.
	Closed bool
}

// Reply is the outcome of a question.
type Reply struct {
	// Answers are the chosen labels, or the user's own words.
	Answers []string
	// Why says why there are no answers.
	Why string
}

// Task is a job that a run gives to another agent.
type Task struct {
	// Agent is a slug or alias.
	Agent  string
	Prompt string
	// Title is for people, in a few words; empty for the prompt's first line.
	Title string
	// Background says that the run does not wait for the task's end.
	Background bool
	// MaxTurns and Model, if set, replace those of the definition. MaxTurns never exceeds the definition's limit.
	MaxTurns int
	Model    string
	// Resume is the id of an ended run that goes on with Prompt; empty for a new one.
	Resume event.RunID
	// AllowedTools are tools, in any spelling, that the task gets in addition to its own if the user agrees. Naming its
	// own tools changes nothing.
	AllowedTools []string
	// ContextFiles are the files that the task is about, as the model names them.
	ContextFiles []string
	// Criteria say when the task has succeeded.
	Criteria string
	// Thoroughness is "quick", "medium", "very thorough" or empty.
	Thoroughness string
}

// TaskState is how far a delegated run is.
type TaskState struct {
	ID    event.RunID
	Agent string
	Title string
	// Message is what the run does now, or waits for.
	Message string
	// Result is the result so far; Result.Status tells whether the run has ended.
	Result event.RunResult
	// Conflicts are the run's edits that collided with others when they were merged, with both sides, in words for the
	// model.
	Conflicts []string
	// Output is the file for the result of a run in the background.
	Output string
	// Bounded names the limit that was asked for and not given, in words for the model; empty for none.
	Bounded string
}

// CheckerCommand is a program for [Checks.RunChecker].
type CheckerCommand struct {
	// Argv are the program, absolute or on PATH, and its arguments; no shell reads them.
	Argv []string
	// Dir is the folder to run in, absolute and in the workspace.
	Dir string
	// Timeout ends the program.
	Timeout time.Duration
}

// CheckerOutput is the outcome of a CheckerCommand.
type CheckerOutput struct {
	// Stdout and Stderr may be cut where they are very long.
	Stdout, Stderr string
	// Exit is the exit code; 128 and the signal's number where a signal ended the program.
	Exit int
}

// Option is one answer to choose.
type Option struct {
	// Label is what the user sees and what is answered. It is unique in the question.
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
