// Package acptest has an agent of the Agent Client Protocol for tests: a process that does what a [Play] says, also
// what no agent should do. A test binary becomes one where it is started by the name [Program].
//
// The agent does the steps of a prompt in their order. A step on files that fails is told by a chunk of a message, so
// that a test sees what the agent could not do; a path is relative to the folder of the session. When the client
// cancels, the step that is under way ends, the others are left out, and the answer is "cancelled".
package acptest

import (
	"encoding/json"
	"io/fs"
)

// Object is a JSON object.
type Object = map[string]any

// Play is what an agent does. The zero value is an agent that can do nothing but answer each prompt with "end_turn".
type Play struct {
	// Version is the protocolVersion that it answers initialize with: nil for 1, and [NoVersion] for none.
	Version any `json:",omitempty"`
	// Capabilities are its agentCapabilities, and Logins its authMethods.
	Capabilities Object   `json:",omitempty"`
	Logins       []Object `json:",omitempty"`
	// Session is the result of session/new, load and resume but for the id, such as its modes.
	Session Object `json:",omitempty"`
	// Before are done before session/new is answered, and History before session/load is.
	Before  []Step `json:",omitempty"`
	History []Step `json:",omitempty"`
	// Fail has methods answered with an error.
	Fail map[string]Failure `json:",omitempty"`
	// Mute are methods that are never answered.
	Mute []string `json:",omitempty"`
	// Prompts are the steps of each prompt. Behind the last one, prompts have no steps.
	Prompts [][]Step `json:",omitempty"`
	// OnCancel are done when the client cancels, before the answer.
	OnCancel []Step `json:",omitempty"`
	// IgnoreCancel has the agent go on when the client cancels.
	IgnoreCancel bool `json:",omitempty"`
	// Log is where the log is written; "" is next to the play.
	Log string `json:",omitempty"`
	// Stays has the agent go on when its input ends.
	Stays bool `json:",omitempty"`
}

// NoVersion is a [Play].Version that is not there.
const NoVersion = "none"

// Failure is an error of JSON-RPC.
type Failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Step is one thing that an agent does. The functions of this package make steps.
type Step struct {
	Do      string
	Path    string            `json:",omitempty"`
	To      string            `json:",omitempty"`
	Text    string            `json:",omitempty"`
	Mode    fs.FileMode       `json:",omitempty"`
	Count   int               `json:",omitempty"`
	Argv    []string          `json:",omitempty"`
	Message Object            `json:",omitempty"`
	Options []Option          `json:",omitempty"`
	Then    map[string][]Step `json:",omitempty"`
	Failure *Failure          `json:",omitempty"`
	Flag    bool              `json:",omitempty"`
}

// Option is an option of a permission request.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Allow and Reject are options as many agents have them.
var (
	Allow  = Option{"allow", "Allow", "allow_once"}
	Reject = Option{"reject", "Reject", "reject_once"}
)

// Say sends a chunk of a message.
func Say(text string) Step {
	return Update(Object{"sessionUpdate": "agent_message_chunk", "content": Object{"type": "text", "text": text}})
}

// Update sends an update, whatever is in it.
func Update(update Object) Step { return Step{Do: "update", Message: update} }

// Notify sends a notification.
func Notify(method string, params Object) Step {
	return Step{Do: "notify", Text: method, Message: params}
}

// Request sends a request and waits for its answer, which is in the log. The session's id is added to the params.
func Request(method string, params Object) Step {
	return Step{Do: "request", Text: method, Message: params}
}

// Write writes a file, with the folders that it needs.
func Write(path, text string) Step { return Step{Do: "write", Path: path, Text: text} }

// Append writes behind the end of a file.
func Append(path, text string) Step { return Step{Do: "append", Path: path, Text: text} }

// Delete deletes a file or a folder with all that is in it.
func Delete(path string) Step { return Step{Do: "delete", Path: path} }

// Rename renames a file.
func Rename(path, to string) Step { return Step{Do: "rename", Path: path, To: to} }

// Chmod changes the mode of a file.
func Chmod(path string, mode fs.FileMode) Step { return Step{Do: "chmod", Path: path, Mode: mode} }

// Symlink makes a link at a path that leads to a target.
func Symlink(target, path string) Step { return Step{Do: "symlink", Path: path, To: target} }

// Files writes so many files into a folder, called 00000.txt and so on.
func Files(folder string, count int) Step { return Step{Do: "files", Path: folder, Count: count} }

// Read reads a file and sends its text as a chunk of a message.
func Read(path string) Step { return Step{Do: "read", Path: path} }

// Await waits until a file has a text.
func Await(path, text string) Step { return Step{Do: "await", Path: path, Text: text} }

// Run runs a program to its end and sends its output as a chunk of a message.
func Run(argv ...string) Step { return Step{Do: "run", Argv: argv} }

// Daemon starts a process that leaves the group and the session of the agent, and outlives it. The process writes its
// id into a file, and ends when the file is gone, or after some minutes. Its command line names the file.
func Daemon(path string) Step { return Step{Do: "daemon", Path: path} }

// Clinging is a [Daemon] that holds the agent's output open.
func Clinging(path string) Step { return Step{Do: "daemon", Path: path, Flag: true} }

// Ask asks for leave to make a call. Then go on the steps of the option that was chosen, by its id, or of "cancelled".
// Without call, a call is made up.
func Ask(call Object, then map[string][]Step, options ...Option) Step {
	return Step{Do: "ask", Message: call, Then: then, Options: options}
}

// AskAndWithdraw asks for leave, and takes the question back once a file has a text.
func AskAndWithdraw(path, text string, options ...Option) Step {
	return Step{Do: "ask", Path: path, Text: text, Options: options, Flag: true}
}

// Elicit has a form filled in. Then go on the steps of the action of the answer.
func Elicit(message string, schema Object, then map[string][]Step) Step {
	return Step{Do: "elicit", Text: message, Message: schema, Then: then}
}

// Line writes a line as it is.
func Line(line string) Step { return Step{Do: "raw", Text: line + "\n"} }

// Half writes a text without the end of a line.
func Half(text string) Step { return Step{Do: "raw", Text: text} }

// Long writes a message with so many bytes.
func Long(bytes int) Step { return Step{Do: "long", Count: bytes} }

// Flood sends so many chunks of a message, which say their numbers.
func Flood(count int) Step { return Step{Do: "flood", Count: count} }

// HangUp closes the agent's output.
func HangUp() Step { return Step{Do: "hangup"} }

// Deafen has the agent close its input when it has read the prompt, before the first step.
func Deafen() Step { return Step{Do: "deafen"} }

// Ignore has the agent read nothing more behind the prompt, from before the first step.
func Ignore() Step { return Step{Do: "ignore"} }

// Complain writes to the agent's standard error.
func Complain(text string) Step { return Step{Do: "complain", Text: text} }

// Exit ends the agent with an exit code.
func Exit(code int) Step { return Step{Do: "exit", Count: code} }

// Kill has the agent kill itself.
func Kill() Step { return Step{Do: "kill"} }

// Answer answers the prompt. Steps behind it are done after the answer. Without it, the answer is "end_turn" behind
// the last step.
func Answer(reason string) Step { return Step{Do: "answer", Message: Object{"stopReason": reason}} }

// AnswerWith answers the prompt with any result.
func AnswerWith(result Object) Step { return Step{Do: "answer", Message: result} }

// Refuse answers the prompt with an error.
func Refuse(failure Failure) Step { return Step{Do: "refuse", Failure: &failure} }

// Hold waits until the client cancels.
func Hold() Step { return Step{Do: "hold"} }

// Never does not answer the prompt, even if the client cancels.
func Never() Step { return Step{Do: "never"} }

// Entry is a line of an agent's log.
type Entry struct {
	// Got and Sent are messages that the agent got and sent. What is no JSON is a JSON string.
	Got  json.RawMessage `json:"got,omitempty"`
	Sent json.RawMessage `json:"sent,omitempty"`
	// Did is a step that was done, Path its path, and Error why it failed.
	Did   string `json:"did,omitempty"`
	Path  string `json:"path,omitempty"`
	Error string `json:"error,omitempty"`
}
