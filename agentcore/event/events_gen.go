// Code generated from schema/agent.metamodel.json. DO NOT EDIT.

package event

import "encoding/json"

// Status is the state of a run: pending, then running and waiting in turn, then one of the five final
// ones.
type Status string

// The values of [Status]. Others may come from a newer peer; they are kept as they are.
const (
	// StatusPending: it was created and has not begun.
	StatusPending Status = "pending"
	// StatusRunning: a request to the model or a tool call is under way.
	StatusRunning Status = "running"
	// StatusWaiting: it waits for a slot, an ask, its children or a provider; the reason says which.
	StatusWaiting Status = "waiting"
	// StatusCompleted: final: it came to its end.
	StatusCompleted Status = "completed"
	// StatusFailed: final: an error ended it.
	StatusFailed Status = "failed"
	// StatusCancelled: final: somebody cancelled it, or a run above it.
	StatusCancelled Status = "cancelled"
	// StatusTimeout: final: its time was used up.
	StatusTimeout Status = "timeout"
	// StatusInterrupted: final: the server ended before it did. It can be resumed.
	StatusInterrupted Status = "interrupted"
)

// CallStatus is how a tool call ended.
type CallStatus string

// The values of [CallStatus]. Others may come from a newer peer; they are kept as they are.
const (
	// CallOK: it did what was asked.
	CallOK CallStatus = "ok"
	// CallError: it failed; the model was told why.
	CallError CallStatus = "error"
	// CallDenied: a rule or the user did not allow it.
	CallDenied CallStatus = "denied"
	// CallCancelled: the run was cancelled before the call ended.
	CallCancelled CallStatus = "cancelled"
)

// Severity is how grave a finding is, in the words of LSP's DiagnosticSeverity.
type Severity string

// The values of [Severity]. Others may come from a newer peer; they are kept as they are.
const (
	// SeverityError: the code is wrong.
	SeverityError Severity = "error"
	// SeverityWarning: the code is likely wrong, or will be.
	SeverityWarning Severity = "warning"
	// SeverityInformation: worth knowing.
	SeverityInformation Severity = "information"
	// SeverityHint: a suggestion.
	SeverityHint Severity = "hint"
)

// ProposalState is the state of a proposal, of a file in it, or of a hunk.
type ProposalState string

// The values of [ProposalState]. Others may come from a newer peer; they are kept as they are.
const (
	// StateOpen: it waits for the user.
	StateOpen ProposalState = "open"
	// StateAccepted: the editor applied it.
	StateAccepted ProposalState = "accepted"
	// StateRejected: the user does not want it.
	StateRejected ProposalState = "rejected"
	// StateConflict: the text below has changed so that it no longer fits.
	StateConflict ProposalState = "conflict"
	// StateSuperseded: a later edit took its place.
	StateSuperseded ProposalState = "superseded"
)

// NoticeLevel is how loud a notice is.
type NoticeLevel string

// The values of [NoticeLevel]. Others may come from a newer peer; they are kept as they are.
const (
	// NoticeInfo: for the log.
	NoticeInfo NoticeLevel = "info"
	// NoticeWarning: something may not be as expected.
	NoticeWarning NoticeLevel = "warning"
	// NoticeError: something went wrong.
	NoticeError NoticeLevel = "error"
)

// Span is a range of text in bytes of UTF-8. It does not depend on the position encoding of a
// connection, and so is not LSP's `Range`.
type Span struct {
	// StartLine: the first line, 0-based.
	StartLine int `json:"startLine"`
	// StartColumn: the column in the first line, 0-based, in bytes of UTF-8.
	StartColumn int `json:"startColumn"`
	// EndLine: the last line, 0-based.
	EndLine int `json:"endLine"`
	// EndColumn: the column behind the last byte, 0-based, in bytes of UTF-8: the end is exclusive.
	EndColumn int `json:"endColumn"`
}

// Usage is what a run cost, its children included.
type Usage struct {
	// InputTokens: tokens sent, without those that the provider's cache served.
	InputTokens int64 `json:"inputTokens"`
	// OutputTokens: tokens received, reasoning included.
	OutputTokens int64 `json:"outputTokens"`
	// CachedTokens: tokens sent that the provider's cache served.
	CachedTokens int64 `json:"cachedTokens"`
	// Cost: the price in US dollars; absent where it is not known.
	Cost *float64 `json:"cost,omitempty"`
}

// Failure is what went wrong, in words for a person. It is also the `data` of every error answer.
type Failure struct {
	// Kind: a word for programs: an ErrorKind, or what a model's provider failed with, such as
	// `rate_limit`, `network` or `auth`.
	Kind string `json:"kind"`
	// Detail: what happened, and where.
	Detail string `json:"detail"`
	// Hint: what the user can do about it.
	Hint string `json:"hint,omitempty"`
}

// CallSummary is one tool call in a RunResult.
type CallSummary struct {
	// Name: the tool's canonical name.
	Name string `json:"name"`
	// Status: how the call ended.
	Status CallStatus `json:"status"`
	// DurationMs: how long it took.
	DurationMs int64 `json:"durationMs"`
}

// ChildResult is the report of a child to its parent. Files and counts come from what the engine saw,
// not from what the model claims.
type ChildResult struct {
	// Summary: the outcome in a sentence or two.
	Summary string `json:"summary"`
	// Details: all that the parent needs to go on, in Markdown.
	Details string `json:"details,omitempty"`
	// FilesModified: paths of changed files, from the workspace root, with forward slashes.
	FilesModified []string `json:"filesModified,omitempty"`
	// FilesCreated: paths of new files, from the workspace root, with forward slashes.
	FilesCreated []string `json:"filesCreated,omitempty"`
	// TestsRun: how many tests ran.
	TestsRun int `json:"testsRun,omitempty"`
	// TestsPassed: how many of them passed.
	TestsPassed int `json:"testsPassed,omitempty"`
	// Warnings: what the parent should doubt, such as a claim that the engine did not see happen.
	Warnings []string `json:"warnings,omitempty"`
	// Suggestions: what could be done next.
	Suggestions []string `json:"suggestions,omitempty"`
}

// RunResult is the end of a run, or its state so far where the status is not final.
type RunResult struct {
	// Status: the status of the run at this moment.
	Status Status `json:"status"`
	// Reason: why it ended so, such as the limit that it reached.
	Reason string `json:"reason,omitempty"`
	// Output: the final text of the agent, in Markdown; what there is of it where the run was cut short.
	Output string `json:"output"`
	// Error: what ended the run, where its status is `failed`.
	Error *Failure `json:"error,omitempty"`
	// Result: the structured report, where the run is a child.
	Result *ChildResult `json:"result,omitempty"`
	// Usage: what it cost.
	Usage Usage `json:"usage"`
	// Turns: how many requests went to the model.
	Turns int `json:"turns"`
	// DurationMs: from its creation to its end, waiting included.
	DurationMs int64 `json:"durationMs"`
	// ToolCalls: every tool call of the run itself, in order.
	ToolCalls []CallSummary `json:"toolCalls"`
	// Children: the runs that it started, in order.
	Children []RunID `json:"children"`
	// Proposal: the proposal that holds its edits, where there are any.
	Proposal ProposalID `json:"proposal,omitempty"`
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
	// ID: the finding's own id.
	ID FindingID `json:"id"`
	// URI: the document.
	URI string `json:"uri"`
	// Span: the place in the text that the agent saw.
	Span Span `json:"span"`
	// Severity: how grave it is.
	Severity Severity `json:"severity"`
	// Rule: a short kebab-case name, such as `dropped-error`.
	Rule string `json:"rule,omitempty"`
	// Message: what is wrong, and what to do about it.
	Message string `json:"message"`
	// Source: who found it: a model, `agentls rules`, or a checker such as `go vet`.
	Source string `json:"source,omitempty"`
	// Hunk: the proposed edit that would resolve it, where there is one.
	Hunk HunkID `json:"hunk,omitempty"`
}

// Todo is one item of a run's list of what is to be done.
type Todo struct {
	// Text: what is to be done.
	Text string `json:"text"`
	// State: how far it is.
	State string `json:"state"`
}

// RunCreated: a run exists.
type RunCreated struct {
	// Parent: the run that started it; absent for a root.
	Parent RunID `json:"parent,omitempty"`
	// Agent: the slug of the agent.
	Agent string `json:"agent"`
	// Role: what the agent works as: `primary` for a root, `subagent` for a child, `hidden` for the
	// engine's own agents.
	Role string `json:"role"`
	// Depth: 0 for a root, one more for each parent.
	Depth int `json:"depth"`
	// Title: a name of the run for people, in one line.
	Title string `json:"title"`
	// Prompt: what it was asked, as it was given.
	Prompt string `json:"prompt"`
	// Model: the model, as `provider/model`.
	Model string `json:"model"`
	// URI: the document that the run was launched on, where there was one.
	URI string `json:"uri,omitempty"`
}

// RunStatusChanged: a run changed its status.
type RunStatusChanged struct {
	// Status: the new status.
	Status Status `json:"status"`
	// Reason: why, such as what it waits for.
	Reason string `json:"reason,omitempty"`
}

// RunProgress: how far a run is. Transient; the next one replaces it.
type RunProgress struct {
	// Turn: the turn under way; 0 before the first.
	Turn int `json:"turn"`
	// BudgetUsed: the largest used share of any of its limits, in percent, 0 to 100. It never goes down.
	BudgetUsed int `json:"budgetUsed"`
	// Usage: what it has cost so far.
	Usage Usage `json:"usage"`
	// ToolCalls: how many tool calls it has made.
	ToolCalls int `json:"toolCalls"`
	// Activities: the last five things that it did, the latest last, each in one line.
	Activities []string `json:"activities"`
	// Message: what it is doing, in one line.
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

// TurnStarted: a request goes to the model.
type TurnStarted struct {
	// Turn: the number of the turn, counted from 1.
	Turn int `json:"turn"`
}

// TextDelta: a piece of the answer that is being written. Transient; MessageCommitted brings the whole.
type TextDelta struct {
	// Text: the next piece.
	Text string `json:"text"`
}

// ReasoningDelta: a piece of the model's reasoning. Transient.
type ReasoningDelta struct {
	// Text: the next piece.
	Text string `json:"text"`
}

// MessageCommitted: a message of the conversation is stored.
type MessageCommitted struct {
	// Message: the message's id.
	Message MessageID `json:"message"`
	// Role: who speaks.
	Role string `json:"role"`
	// Text: the text of the message, without reasoning and tool calls.
	Text string `json:"text"`
}

// ToolCallStarted: the intent of a tool call is stored.
type ToolCallStarted struct {
	// Call: the call's id.
	Call CallID `json:"call"`
	// Tool: the tool's canonical name.
	Tool string `json:"tool"`
	// Title: the call in one line, such as `read main.go`.
	Title string `json:"title"`
}

// ToolCallProgress: a long call says how it goes. Transient.
type ToolCallProgress struct {
	// Call: the call's id.
	Call CallID `json:"call"`
	// Message: how it goes, in one line.
	Message string `json:"message"`
}

// ToolCallFinished: the outcome of a tool call is stored.
type ToolCallFinished struct {
	// Call: the call's id.
	Call CallID `json:"call"`
	// Tool: the tool's canonical name.
	Tool string `json:"tool"`
	// Status: how it ended.
	Status CallStatus `json:"status"`
	// Summary: the outcome in one line, such as `120 lines`.
	Summary string `json:"summary"`
	// DurationMs: how long it took.
	DurationMs int64 `json:"durationMs"`
}

// AskOpened: a question waits for the user.
type AskOpened struct {
	// Ask: the ask's id.
	Ask AskID `json:"ask"`
	// Tool: the tool that needs the permission.
	Tool string `json:"tool"`
	// Title: what is asked for, in one line.
	Title string `json:"title"`
}

// AskResolved: a question was answered or ran out of time.
type AskResolved struct {
	// Ask: the ask's id.
	Ask AskID `json:"ask"`
	// Decision: `allow` or `deny`.
	Decision string `json:"decision"`
	// Reason: why, where it was not the user who decided.
	Reason string `json:"reason,omitempty"`
}

// FindingReported: a run remarks on a place.
type FindingReported struct {
	// Finding: the finding, whole.
	Finding Finding `json:"finding"`
}

// FindingCleared: a finding holds no longer.
type FindingCleared struct {
	// Finding: the finding's id.
	Finding FindingID `json:"finding"`
	// URI: the document that it was on.
	URI string `json:"uri"`
	// Reason: why, such as `fixed` or `the text has changed`.
	Reason string `json:"reason"`
}

// ProposalChanged: hunks were proposed, moved, accepted, rejected or are in conflict.
type ProposalChanged struct {
	// Proposal: the proposal's id.
	Proposal ProposalID `json:"proposal"`
	// State: its state as a whole.
	State ProposalState `json:"state"`
	// URIs: the documents whose hunks changed.
	URIs []string `json:"uris"`
	// Open: how many hunks of the whole proposal are open.
	Open int `json:"open"`
	// Conflict: how many are in conflict.
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
	// Items: the items in order.
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

// RetryScheduled: the provider failed and will be asked again.
type RetryScheduled struct {
	// Attempt: the number of the coming attempt; the first request was number 1.
	Attempt int `json:"attempt"`
	// DelayMs: how long until then.
	DelayMs int64 `json:"delayMs"`
	// Reason: what the provider failed with, in one line.
	Reason string `json:"reason"`
}

// Compacted: the conversation was shortened, so that it fits the model.
type Compacted struct {
	// TokensBefore: the size of the conversation before.
	TokensBefore int64 `json:"tokensBefore"`
	// TokensAfter: its size now.
	TokensAfter int64 `json:"tokensAfter"`
}

// Notice: something a person should know.
type Notice struct {
	// Level: how loud it is.
	Level NoticeLevel `json:"level"`
	// Message: what happened.
	Message string `json:"message"`
	// Hint: what the user can do.
	Hint string `json:"hint,omitempty"`
}

// RunFinished: a run has ended; nothing of it follows.
type RunFinished struct {
	// Status: the final status.
	Status Status `json:"status"`
	// Reason: why it ended so.
	Reason string `json:"reason,omitempty"`
	// Result: the whole result.
	Result RunResult `json:"result"`
	// Usage: what it cost, as in the result.
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
	case "RunFinished":
		return decodeAs[RunFinished](raw)
	}
	return nil, nil
}
