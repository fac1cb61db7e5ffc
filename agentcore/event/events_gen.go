// Code generated from schema/agent.metamodel.json. DO NOT EDIT.

package event

import "encoding/json"

// ChildStatus is how far a child says that its task is done.
type ChildStatus string

// The values of [ChildStatus]. Others may come from a newer peer; they are kept as they are.
const (
	// All of it is done.
	ChildStatusCompleted ChildStatus = "completed"
	// Something is left, which its report says.
	ChildStatusPartial ChildStatus = "partial"
	// It could not be done.
	ChildStatusFailed ChildStatus = "failed"
	// Somebody cancelled it, or a run above it.
	ChildStatusCancelled ChildStatus = "cancelled"
	// Its time was used up.
	ChildStatusTimeout ChildStatus = "timeout"
	// The server ended before it did.
	ChildStatusInterrupted ChildStatus = "interrupted"
)

// Status is the state of a run: pending, then running and waiting in turn, then one of the five final
// ones.
type Status string

// The values of [Status]. Others may come from a newer peer; they are kept as they are.
const (
	// It was created and has not begun.
	StatusPending Status = "pending"
	// A request to the model or a tool call is under way.
	StatusRunning Status = "running"
	// It waits for a slot, an ask, its children or a provider; the reason says which.
	StatusWaiting Status = "waiting"
	// Final: it came to its end.
	StatusCompleted Status = "completed"
	// Final: an error ended it.
	StatusFailed Status = "failed"
	// Final: somebody cancelled it, or a run above it.
	StatusCancelled Status = "cancelled"
	// Final: its time was used up.
	StatusTimeout Status = "timeout"
	// Final: the server ended before it did. It can be resumed.
	StatusInterrupted Status = "interrupted"
)

// CallStatus is how a tool call ended.
type CallStatus string

// The values of [CallStatus]. Others may come from a newer peer; they are kept as they are.
const (
	// It did what was asked.
	CallOK CallStatus = "ok"
	// It failed; the model was told why.
	CallError CallStatus = "error"
	// A rule or the user did not allow it.
	CallDenied CallStatus = "denied"
	// The run was cancelled before the call ended.
	CallCancelled CallStatus = "cancelled"
)

// Severity is how grave a finding is, in the words of LSP's DiagnosticSeverity.
type Severity string

// The values of [Severity]. Others may come from a newer peer; they are kept as they are.
const (
	// The code is wrong.
	SeverityError Severity = "error"
	// The code is likely wrong, or will be.
	SeverityWarning Severity = "warning"
	// Worth knowing.
	SeverityInformation Severity = "information"
	// A suggestion.
	SeverityHint Severity = "hint"
)

// ProposalState is the state of a proposal, of a file in it, or of a hunk.
type ProposalState string

// The values of [ProposalState]. Others may come from a newer peer; they are kept as they are.
const (
	// It waits for the user.
	StateOpen ProposalState = "open"
	// The editor applied it.
	StateAccepted ProposalState = "accepted"
	// The user does not want it.
	StateRejected ProposalState = "rejected"
	// The text below has changed so that it no longer fits.
	StateConflict ProposalState = "conflict"
	// A later edit took its place.
	StateSuperseded ProposalState = "superseded"
)

// NoticeLevel is how loud a notice is.
type NoticeLevel string

// The values of [NoticeLevel]. Others may come from a newer peer; they are kept as they are.
const (
	// For the log.
	NoticeInfo NoticeLevel = "info"
	// Something may not be as expected.
	NoticeWarning NoticeLevel = "warning"
	// Something went wrong.
	NoticeError NoticeLevel = "error"
)

// Span is a range of text in bytes of UTF-8. It does not depend on the position encoding of a
// connection, and so is not LSP's `Range`.
type Span struct {
	// The first line, 0-based.
	StartLine int `json:"startLine"`
	// The column in the first line, 0-based, in bytes of UTF-8.
	StartColumn int `json:"startColumn"`
	// The last line, 0-based.
	EndLine int `json:"endLine"`
	// The column behind the last byte, 0-based, in bytes of UTF-8: the end is exclusive.
	EndColumn int `json:"endColumn"`
}

// Usage is what a run cost, its children included.
type Usage struct {
	// Tokens sent, without those that the provider's cache served.
	InputTokens int64 `json:"inputTokens"`
	// Tokens received, reasoning included.
	OutputTokens int64 `json:"outputTokens"`
	// Tokens sent that the provider's cache served.
	CachedTokens int64 `json:"cachedTokens"`
	// The price in US dollars; absent where it is not known.
	Cost *float64 `json:"cost,omitempty"`
}

// Failure is what went wrong, in words for a person. It is also the `data` of every error answer.
type Failure struct {
	// A word for programs: an ErrorKind, or what a model's provider failed with, such as `rate_limit`,
	// `network` or `auth`.
	Kind string `json:"kind"`
	// What happened, and where.
	Detail string `json:"detail"`
	// What the user can do about it.
	Hint string `json:"hint,omitempty"`
}

// CallSummary is one tool call in a RunResult.
type CallSummary struct {
	// The tool's canonical name.
	Name string `json:"name"`
	// How the call ended.
	Status CallStatus `json:"status"`
	// How long it took.
	DurationMs int64 `json:"durationMs"`
}

// ChildResult is the report of a child to its parent. Files and counts come from what the engine saw,
// not from what the model claims.
type ChildResult struct {
	// How far its task is done: what it says where it came to its end, else what its end says. Absent in
	// what was stored by former versions.
	Status ChildStatus `json:"status,omitempty"`
	// The outcome in a sentence or two.
	Summary string `json:"summary"`
	// All that the parent needs to go on, in Markdown.
	Details string `json:"details,omitempty"`
	// Paths of changed files, from the workspace root, with forward slashes.
	FilesModified []string `json:"filesModified,omitempty"`
	// Paths of new files, from the workspace root, with forward slashes.
	FilesCreated []string `json:"filesCreated,omitempty"`
	// How many tests ran.
	TestsRun int `json:"testsRun,omitempty"`
	// How many of them passed.
	TestsPassed int `json:"testsPassed,omitempty"`
	// What the parent should doubt, such as a claim that the engine did not see happen.
	Warnings []string `json:"warnings,omitempty"`
	// What could be done next.
	Suggestions []string `json:"suggestions,omitempty"`
	// How many requests went to the model.
	Iterations int `json:"iterations,omitempty"`
	// From its creation to its end, waiting included.
	DurationMs int64 `json:"durationMs,omitempty"`
	// Tokens sent and received, without those that the provider's cache served; its children included.
	Tokens int64 `json:"tokens,omitempty"`
	// The price in US dollars, its children included; absent where it is not known.
	Cost *float64 `json:"cost,omitempty"`
}

// RunResult is the end of a run, or its state so far where the status is not final.
type RunResult struct {
	// The status of the run at this moment.
	Status Status `json:"status"`
	// Why it ended so, such as the limit that it reached.
	Reason string `json:"reason,omitempty"`
	// The final text of the agent, in Markdown; what there is of it where the run was cut short.
	Output string `json:"output"`
	// What ended the run, where its status is `failed`.
	Error *Failure `json:"error,omitempty"`
	// The structured report, where the run is a child.
	Result *ChildResult `json:"result,omitempty"`
	// The object of the final answer, where the run was started with an `outputSchema`. It fits that.
	Structured json.RawMessage `json:"structured,omitempty"`
	// What it cost.
	Usage Usage `json:"usage"`
	// How many requests went to the model.
	Turns int `json:"turns"`
	// From its creation to its end, waiting included.
	DurationMs int64 `json:"durationMs"`
	// Every tool call of the run itself, in order.
	ToolCalls []CallSummary `json:"toolCalls"`
	// The runs that it started, in order.
	Children []RunID `json:"children"`
	// The proposal that holds its edits, where there are any.
	Proposal ProposalID `json:"proposal,omitempty"`
	// How far its task is done, by its end and by what it handed over; `partial` where a limit cut it off.
	// Absent while it has not ended.
	Outcome ChildStatus `json:"outcome,omitempty"`
	// Once it has ended, the files that its edits changed or made: paths from the workspace root, with
	// forward slashes.
	Files []string `json:"files,omitempty"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v RunResult) MarshalJSON() ([]byte, error) {
	type plain RunResult
	if v.ToolCalls == nil {
		v.ToolCalls = []CallSummary{}
	}
	if v.Children == nil {
		v.Children = []RunID{}
	}
	return json.Marshal(plain(v))
}

// Finding is one remark of a run on a place in a file.
type Finding struct {
	// The finding's own id.
	ID FindingID `json:"id"`
	// The document.
	URI string `json:"uri"`
	// The place in the text that the agent saw.
	Span Span `json:"span"`
	// How grave it is.
	Severity Severity `json:"severity"`
	// A short kebab-case name, such as `dropped-error`.
	Rule string `json:"rule,omitempty"`
	// What is wrong, and what to do about it.
	Message string `json:"message"`
	// Who found it: a model, `agentls rules`, or a checker such as `go vet`.
	Source string `json:"source,omitempty"`
	// The proposed edit that would resolve it, where there is one.
	Hunk HunkID `json:"hunk,omitempty"`
}

// Todo is one item of a run's list of what is to be done.
type Todo struct {
	// What is to be done.
	Text string `json:"text"`
	// How far it is.
	State string `json:"state"`
}

// RunCreated: a run exists.
type RunCreated struct {
	// The run that started it; absent for a root.
	Parent RunID `json:"parent,omitempty"`
	// The slug of the agent.
	Agent string `json:"agent"`
	// What the agent works as: `primary` for a root, `subagent` for a child, `hidden` for the engine's own
	// agents.
	Role string `json:"role"`
	// 0 for a root, one more for each parent.
	Depth int `json:"depth"`
	// A name of the run for people, in one line.
	Title string `json:"title"`
	// What it was asked, as it was given.
	Prompt string `json:"prompt"`
	// The model, as `provider/model`.
	Model string `json:"model"`
	// The run that it goes on with; absent for one that begins anew.
	Resumes RunID `json:"resumes,omitempty"`
	// How the agent works, an ExecutionMode: `agentic`, `single_shot`, `streaming` or `planning`. Absent
	// for runs that former versions stored.
	Mode string `json:"mode,omitempty"`
	// Whether the run that started it does not wait for it.
	Background bool `json:"background,omitempty"`
	// The file that tells how far a run in the background is, and then what came of it; absent for others.
	OutputURI string `json:"outputUri,omitempty"`
	// The document that the run was launched on, where there was one.
	URI string `json:"uri,omitempty"`
}

// RunStatusChanged: a run changed its status.
type RunStatusChanged struct {
	// The new status.
	Status Status `json:"status"`
	// Why, such as what it waits for.
	Reason string `json:"reason,omitempty"`
}

// RunProgress: how far a run is. Transient; the next one replaces it.
type RunProgress struct {
	// The turn under way; 0 before the first.
	Turn int `json:"turn"`
	// The largest used share of any of its limits, in percent, 0 to 100. It never goes down.
	BudgetUsed int `json:"budgetUsed"`
	// What it has cost so far.
	Usage Usage `json:"usage"`
	// How many tool calls it has made.
	ToolCalls int `json:"toolCalls"`
	// The last five things that it did, the latest last, each in one line.
	Activities []string `json:"activities"`
	// What it is doing, in one line; once it has ended, the first line of its result.
	Message string `json:"message"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v RunProgress) MarshalJSON() ([]byte, error) {
	type plain RunProgress
	if v.Activities == nil {
		v.Activities = []string{}
	}
	return json.Marshal(plain(v))
}

// TurnStarted: a request goes to the model. What was streamed of the run's former answer and did not
// become a MessageCommitted is void: no call of it was made.
type TurnStarted struct {
	// The number of the turn, counted from 1.
	Turn int `json:"turn"`
	// Where the turn begins anew, the number of this request of the turn: 2 or more. Absent for the first.
	Attempt int `json:"attempt,omitempty"`
}

// TextDelta: a piece of the answer that is being written. Transient; MessageCommitted brings the whole.
// Where RetryScheduled or the next TurnStarted of the run comes instead, the pieces so far are void.
type TextDelta struct {
	// The next piece.
	Text string `json:"text"`
}

// ReasoningDelta: a piece of the model's reasoning. Transient, and void when the pieces of the answer
// are.
type ReasoningDelta struct {
	// The next piece.
	Text string `json:"text"`
}

// MessageCommitted: a message of the conversation is stored.
type MessageCommitted struct {
	// The message's id.
	Message MessageID `json:"message"`
	// Who speaks.
	Role string `json:"role"`
	// The text of the message, without reasoning and tool calls.
	Text string `json:"text"`
}

// ToolCallStarted: the intent of a tool call is stored.
type ToolCallStarted struct {
	// The call's id.
	Call CallID `json:"call"`
	// The tool's canonical name.
	Tool string `json:"tool"`
	// The call in one line, such as `read main.go`.
	Title string `json:"title"`
}

// ToolCallProgress: a long call says how it goes. Transient.
type ToolCallProgress struct {
	// The call's id.
	Call CallID `json:"call"`
	// How it goes, in one line.
	Message string `json:"message"`
}

// ToolCallFinished: the outcome of a tool call is stored.
type ToolCallFinished struct {
	// The call's id.
	Call CallID `json:"call"`
	// The tool's canonical name.
	Tool string `json:"tool"`
	// How it ended.
	Status CallStatus `json:"status"`
	// The exit code of the command that it ran to its end, or saw the end of. The status is `ok` whatever
	// the code: the call did what it was asked for.
	ExitCode *int `json:"exitCode,omitempty"`
	// Which files its command changed that a rule or the mode forbids to change, and why: these changes
	// are not proposed. Absent where there are none.
	LeftOut string `json:"leftOut,omitempty"`
	// The outcome in one line, such as `120 lines`.
	Summary string `json:"summary"`
	// How long it took.
	DurationMs int64 `json:"durationMs"`
}

// AskOpened: a question waits for the user.
type AskOpened struct {
	// The ask's id.
	Ask AskID `json:"ask"`
	// The tool that needs the permission.
	Tool string `json:"tool"`
	// What is asked for, in one line.
	Title string `json:"title"`
}

// AskResolved: a question was answered or ran out of time.
type AskResolved struct {
	// The ask's id.
	Ask AskID `json:"ask"`
	// `allow` or `deny`.
	Decision string `json:"decision"`
	// Why, where it was not the user who decided.
	Reason string `json:"reason,omitempty"`
}

// FindingReported: a run remarks on a place.
type FindingReported struct {
	// The finding, whole.
	Finding Finding `json:"finding"`
}

// FindingCleared: a finding holds no longer.
type FindingCleared struct {
	// The finding's id.
	Finding FindingID `json:"finding"`
	// The document that it was on.
	URI string `json:"uri"`
	// Why, such as `fixed` or `the text has changed`.
	Reason string `json:"reason"`
}

// ProposalChanged: hunks were proposed, moved, accepted, rejected or are in conflict.
type ProposalChanged struct {
	// The proposal's id.
	Proposal ProposalID `json:"proposal"`
	// Its state as a whole.
	State ProposalState `json:"state"`
	// The documents whose hunks changed.
	URIs []string `json:"uris"`
	// How many hunks of the whole proposal are open.
	Open int `json:"open"`
	// How many are in conflict.
	Conflict int `json:"conflict"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ProposalChanged) MarshalJSON() ([]byte, error) {
	type plain ProposalChanged
	if v.URIs == nil {
		v.URIs = []string{}
	}
	return json.Marshal(plain(v))
}

// TodoChanged: the run's list of what is to be done, whole.
type TodoChanged struct {
	// The items in order.
	Items []Todo `json:"items"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v TodoChanged) MarshalJSON() ([]byte, error) {
	type plain TodoChanged
	if v.Items == nil {
		v.Items = []Todo{}
	}
	return json.Marshal(plain(v))
}

// RetryScheduled: the provider failed and will be asked again. What was streamed of its answer is void:
// nothing of it is stored, no call of it was made. The run waits until the next TurnStarted.
type RetryScheduled struct {
	// The number of the coming attempt; the first request was number 1.
	Attempt int `json:"attempt"`
	// How long until then.
	DelayMs int64 `json:"delayMs"`
	// What the provider failed with, in one line.
	Reason string `json:"reason"`
}

// Compacted: the conversation was shortened, so that it fits the model: from here on a summary stands
// for its earlier messages, which stay in the transcript.
type Compacted struct {
	// The size of the conversation before.
	TokensBefore int64 `json:"tokensBefore"`
	// Its size now.
	TokensAfter int64 `json:"tokensAfter"`
}

// Notice: something a person should know.
type Notice struct {
	// How loud it is.
	Level NoticeLevel `json:"level"`
	// What happened.
	Message string `json:"message"`
	// What the user can do.
	Hint string `json:"hint,omitempty"`
}

// SessionChanged: the session has a better title, or another summary.
type SessionChanged struct {
	// What it is about, in one line.
	Title string `json:"title"`
	// What was done in it, in a few lines; absent before a run of it has ended.
	Summary string `json:"summary,omitempty"`
}

// EventsTrimmed: this client was so slow that events which it has not been sent are kept no longer: up
// to this event's `seq` they are gone. Drop what you have of the session and subscribe again. It is
// sent in the place of what is missing, and never stored.
type EventsTrimmed struct {
	// How many events are missing.
	Missing int `json:"missing"`
}

// RunFinished: a run has ended; nothing of it follows.
type RunFinished struct {
	// The final status.
	Status Status `json:"status"`
	// Why it ended so.
	Reason string `json:"reason,omitempty"`
	// The whole result.
	Result RunResult `json:"result"`
	// What it cost, as in the result.
	Usage Usage `json:"usage"`
}

// EventType returns "RunCreated".
func (RunCreated) EventType() string { return "RunCreated" }

// EventType returns "RunStatusChanged".
func (RunStatusChanged) EventType() string { return "RunStatusChanged" }

// EventType returns "RunProgress".
func (RunProgress) EventType() string { return "RunProgress" }

// EventType returns "TurnStarted".
func (TurnStarted) EventType() string { return "TurnStarted" }

// EventType returns "TextDelta".
func (TextDelta) EventType() string { return "TextDelta" }

// EventType returns "ReasoningDelta".
func (ReasoningDelta) EventType() string { return "ReasoningDelta" }

// EventType returns "MessageCommitted".
func (MessageCommitted) EventType() string { return "MessageCommitted" }

// EventType returns "ToolCallStarted".
func (ToolCallStarted) EventType() string { return "ToolCallStarted" }

// EventType returns "ToolCallProgress".
func (ToolCallProgress) EventType() string { return "ToolCallProgress" }

// EventType returns "ToolCallFinished".
func (ToolCallFinished) EventType() string { return "ToolCallFinished" }

// EventType returns "AskOpened".
func (AskOpened) EventType() string { return "AskOpened" }

// EventType returns "AskResolved".
func (AskResolved) EventType() string { return "AskResolved" }

// EventType returns "FindingReported".
func (FindingReported) EventType() string { return "FindingReported" }

// EventType returns "FindingCleared".
func (FindingCleared) EventType() string { return "FindingCleared" }

// EventType returns "ProposalChanged".
func (ProposalChanged) EventType() string { return "ProposalChanged" }

// EventType returns "TodoChanged".
func (TodoChanged) EventType() string { return "TodoChanged" }

// EventType returns "RetryScheduled".
func (RetryScheduled) EventType() string { return "RetryScheduled" }

// EventType returns "Compacted".
func (Compacted) EventType() string { return "Compacted" }

// EventType returns "Notice".
func (Notice) EventType() string { return "Notice" }

// EventType returns "SessionChanged".
func (SessionChanged) EventType() string { return "SessionChanged" }

// EventType returns "EventsTrimmed".
func (EventsTrimmed) EventType() string { return "EventsTrimmed" }

// EventType returns "RunFinished".
func (RunFinished) EventType() string { return "RunFinished" }

// decodeBody returns nil for a type that it does not know.
func decodeBody(eventType string, raw json.RawMessage) (Body, error) {
	switch eventType {
	case "RunCreated":
		return decodeAs[RunCreated](raw)
	case "RunStatusChanged":
		return decodeAs[RunStatusChanged](raw)
	case "RunProgress":
		return decodeAs[RunProgress](raw)
	case "TurnStarted":
		return decodeAs[TurnStarted](raw)
	case "TextDelta":
		return decodeAs[TextDelta](raw)
	case "ReasoningDelta":
		return decodeAs[ReasoningDelta](raw)
	case "MessageCommitted":
		return decodeAs[MessageCommitted](raw)
	case "ToolCallStarted":
		return decodeAs[ToolCallStarted](raw)
	case "ToolCallProgress":
		return decodeAs[ToolCallProgress](raw)
	case "ToolCallFinished":
		return decodeAs[ToolCallFinished](raw)
	case "AskOpened":
		return decodeAs[AskOpened](raw)
	case "AskResolved":
		return decodeAs[AskResolved](raw)
	case "FindingReported":
		return decodeAs[FindingReported](raw)
	case "FindingCleared":
		return decodeAs[FindingCleared](raw)
	case "ProposalChanged":
		return decodeAs[ProposalChanged](raw)
	case "TodoChanged":
		return decodeAs[TodoChanged](raw)
	case "RetryScheduled":
		return decodeAs[RetryScheduled](raw)
	case "Compacted":
		return decodeAs[Compacted](raw)
	case "Notice":
		return decodeAs[Notice](raw)
	case "SessionChanged":
		return decodeAs[SessionChanged](raw)
	case "EventsTrimmed":
		return decodeAs[EventsTrimmed](raw)
	case "RunFinished":
		return decodeAs[RunFinished](raw)
	}
	return nil, nil
}
