// Package hook holds the formats of lifecycle hooks, which are commands that run at points of a run's life: the events,
// a hook's standard input, which hooks a matcher selects, and the meaning of a hook's exit code and output. It runs
// nothing, and imports no other package of agentls.
//
// The field names are those that scripts for Claude Code read and write (its "Hooks reference"), as far as they mean
// anything here.
package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Event is a point of a run's life, by its name in files and in Input.
type Event string

// The events, in the order of a run's life.
const (
	// SessionStart is before the first prompt of a session's first run, and of each run that goes on with a former one.
	SessionStart Event = "SessionStart"
	// SubagentStart is before the first prompt of a child run.
	SubagentStart Event = "SubagentStart"
	// PreToolUse is before a tool call is decided on.
	PreToolUse Event = "PreToolUse"
	// PostToolUse is after a tool call that succeeded.
	PostToolUse Event = "PostToolUse"
	// PreCompact is before a conversation is summed up to make room.
	PreCompact Event = "PreCompact"
	// SubagentStop is after the last message of a child run.
	SubagentStop Event = "SubagentStop"
	// Stop is after the last message of a run that the user started.
	Stop Event = "Stop"
)

// Events returns the names of all events, in the order of a run's life. The caller may change the slice.
func Events() []string {
	return []string{
		string(SessionStart), string(SubagentStart), string(PreToolUse), string(PostToolUse),
		string(PreCompact), string(SubagentStop), string(Stop),
	}
}

// Doc says when the event is and what its hooks can do, for people.
func (e Event) Doc() string {
	switch e {
	case SessionStart:
		return "Before the first prompt of a session. What the hook prints is put into the first prompt of each of " +
			"its runs; a block rejects the run."
	case SubagentStart:
		return "Before the first prompt of a child run; the matcher is for its agent. What the hook prints is put " +
			"into that prompt; a block rejects the child."
	case PreToolUse:
		return "Before a tool call, and before the rules decide on it. A block, or exit code 2, rejects the call; " +
			"`permission_decision` can be \"deny\" or \"ask\"."
	case PostToolUse:
		return "After a tool call that succeeded. The model gets what the hook prints, and the reason of a block."
	case PreCompact:
		return "Before a conversation is summed up. What the hook prints is for whoever does that; it " +
			"cannot be blocked."
	case SubagentStop:
		return "After the last word of a child run; the matcher is for its agent. A block, or exit code 2, makes it " +
			"go on, at most three times."
	case Stop:
		return "After the last word of a run of yours. A block, or exit code 2, makes it go on, at most three times."
	}
	return ""
}

// Known reports whether there is an event of that name.
func Known(name string) bool { return slices.Contains(Events(), name) }

// Input is what a hook gets as one JSON object on its standard input. Fields without a meaning for its event are left
// out.
type Input struct {
	Event   Event  `json:"hook_event_name"`
	Session string `json:"session_id"`
	// Cwd is the workspace folder that the hook starts in, absolute.
	Cwd            string `json:"cwd"`
	PermissionMode string `json:"permission_mode"`
	// Agent is the slug of the run's agent, and Run the run's id.
	Agent string `json:"agent_type"`
	Run   string `json:"agent_id"`
	// Parent is the id of the run that started this one; none for a user's run, whose Depth is 0.
	Parent string `json:"parent_agent_id,omitempty"`
	Depth  int    `json:"depth"`
	Model  string `json:"model"`

	// Tool is the canonical name of the tool, ToolCall the call's id and ToolInput its arguments, in PreToolUse and
	// PostToolUse.
	Tool      string          `json:"tool_name,omitempty"`
	ToolCall  string          `json:"tool_use_id,omitempty"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"`
	// ToolResponse is what the model gets of the call, in PostToolUse.
	ToolResponse *Response `json:"tool_response,omitempty"`

	// Prompt is what the run was asked, in SessionStart and SubagentStart.
	Prompt string `json:"prompt,omitempty"`
	// Source is "startup", or "resume" where a run goes on with a former one, in SessionStart.
	Source string `json:"source,omitempty"`
	// Trigger is "auto", in PreCompact.
	Trigger string `json:"trigger,omitempty"`
	// StopActive says, in Stop and SubagentStop, that the run continued only because such a hook wanted it; LastMessage
	// is its last message.
	StopActive  *bool  `json:"stop_hook_active,omitempty"`
	LastMessage string `json:"last_assistant_message,omitempty"`
	// Reason is the limit that ended the run, in Stop and SubagentStop; none where it had nothing more to do.
	Reason string `json:"reason,omitempty"`
	// Result is what the child hands to its parent, in SubagentStop.
	Result *Result `json:"result,omitempty"`
}

// Result is the outcome of a child run as it would be handed over.
type Result struct {
	// Agent is the run's id, Status how far its task is done: "completed", "partial" or "failed".
	Agent  string `json:"agent_id"`
	Status string `json:"status"`
	// Summary is the outcome in a sentence or two, Content all of it.
	Summary string `json:"summary"`
	Content string `json:"content"`
	// FilesModified and FilesCreated are paths from the workspace folder, with slashes.
	FilesModified []string `json:"files_modified"`
	FilesCreated  []string `json:"files_created"`
	TestsRun      int      `json:"tests_run"`
	TestsPassed   int      `json:"tests_passed"`
	// Warnings are what the parent should doubt, Suggestions what could be done next.
	Warnings    []string `json:"warnings"`
	Suggestions []string `json:"suggestions"`
	Iterations  int      `json:"iteration_count"`
	DurationMs  int64    `json:"duration_ms"`
	// Tokens are the tokens that were sent and received, without those that the provider's cache served; children's
	// tokens count.
	Tokens int64 `json:"tokens"`
	// Cost is in US dollars; none where it is not known.
	Cost *float64 `json:"cost,omitempty"`
}

// Response is the outcome of a tool call.
type Response struct {
	// Status is "ok".
	Status string `json:"status"`
	// Text is what the model gets, and Summary that in one line for people.
	Text    string `json:"text"`
	Summary string `json:"summary,omitempty"`
}

// Encode returns the input as a hook reads it, with a newline behind it.
func (i Input) Encode() ([]byte, error) {
	if !json.Valid(i.ToolInput) {
		i.ToolInput = nil
	}
	text, err := json.Marshal(i)
	if err != nil {
		return nil, fmt.Errorf("encode the input of a %s hook: %w", i.Event, err)
	}
	return append(text, '\n'), nil
}

// fileTools are the tools whose path scripts look for in tool_input.file_path, as an absolute path.
var fileTools = []string{"read", "write", "edit", "notebook_edit"}

// WithFilePath returns the arguments of a call with file_path added, if the tool is one for a single file: scripts that
// were written for Claude Code read the path there. path is absolute; "" adds nothing.
func WithFilePath(tool string, arguments json.RawMessage, path string) json.RawMessage {
	if path == "" || !slices.Contains(fileTools, tool) {
		return arguments
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(arguments, &fields) != nil || fields == nil {
		return arguments
	}
	name, err := json.Marshal(path)
	if err != nil {
		return arguments
	}
	fields["file_path"] = name
	added, err := json.Marshal(fields)
	if err != nil {
		return arguments
	}
	return added
}

// Title is a hook's command as people know it: without the shell that runs it.
func Title(command []string) string {
	if len(command) == 3 && command[0] == "sh" && command[1] == "-c" {
		return command[2]
	}
	return strings.Join(command, " ")
}
