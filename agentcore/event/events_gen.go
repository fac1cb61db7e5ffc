// Code generated from schema/agent.metamodel.json. DO NOT EDIT.

package event

import "encoding/json"

// Status is the state of a run (DESIGN: pending → running ⇄ waiting → one of the final ones).
type Status string

const (
	StatusPending     Status = "pending"
	StatusRunning     Status = "running"
	StatusWaiting     Status = "waiting"
	StatusCompleted   Status = "completed"
	StatusFailed      Status = "failed"
	StatusCancelled   Status = "cancelled"
	StatusTimeout     Status = "timeout"
	StatusInterrupted Status = "interrupted"
)

// CallStatus is how a tool call ended.
type CallStatus string

const (
	CallOK        CallStatus = "ok"
	CallError     CallStatus = "error"
	CallDenied    CallStatus = "denied"
	CallCancelled CallStatus = "cancelled"
)

// Severity of a finding.
type Severity string

const (
	SeverityError       Severity = "error"
	SeverityWarning     Severity = "warning"
	SeverityInformation Severity = "information"
	SeverityHint        Severity = "hint"
)

// ProposalState is the state of a proposal, of a file in it, or of a hunk.
type ProposalState string

const (
	StateOpen       ProposalState = "open"
	StateAccepted   ProposalState = "accepted"
	StateRejected   ProposalState = "rejected"
	StateConflict   ProposalState = "conflict"
	StateSuperseded ProposalState = "superseded"
)

// NoticeLevel says how loud a notice is.
type NoticeLevel string

const (
	NoticeInfo    NoticeLevel = "info"
	NoticeWarning NoticeLevel = "warning"
	NoticeError   NoticeLevel = "error"
)

// Span is a range of text: 0-based lines, 0-based columns in bytes of UTF-8, the end exclusive.
// It does not depend on the position encoding of a connection.
type Span struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

// Usage is what a run cost. Cost is in US dollars and absent where the price is unknown.
type Usage struct {
	InputTokens  int64    `json:"inputTokens"`
	OutputTokens int64    `json:"outputTokens"`
	CachedTokens int64    `json:"cachedTokens"`
	Cost         *float64 `json:"cost,omitempty"`
}

// Failure says what went wrong, in words for a person.
type Failure struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// CallSummary is one tool call in a RunResult.
type CallSummary struct {
	Name       string     `json:"name"`
	Status     CallStatus `json:"status"`
	DurationMs int64      `json:"durationMs"`
}

// ChildResult is B10's report of a child to its parent. Files come from what the engine saw.
type ChildResult struct {
	Summary       string   `json:"summary"`
	Details       string   `json:"details,omitempty"`
	FilesModified []string `json:"filesModified,omitempty"`
	FilesCreated  []string `json:"filesCreated,omitempty"`
	TestsRun      int      `json:"testsRun,omitempty"`
	TestsPassed   int      `json:"testsPassed,omitempty"`
	Warnings      []string `json:"warnings,omitempty"`
	Suggestions   []string `json:"suggestions,omitempty"`
}

// RunResult is the end of a run, or its state so far.
type RunResult struct {
	Status     Status        `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	Output     string        `json:"output"`
	Error      *Failure      `json:"error,omitempty"`
	Result     *ChildResult  `json:"result,omitempty"`
	Usage      Usage         `json:"usage"`
	Turns      int           `json:"turns"`
	DurationMs int64         `json:"durationMs"`
	ToolCalls  []CallSummary `json:"toolCalls"`
	Children   []RunID       `json:"children"`
	Proposal   ProposalID    `json:"proposal,omitempty"`
}

// Finding is one remark of a run on a place in a file.
type Finding struct {
	ID       FindingID `json:"id"`
	URI      string    `json:"uri"`
	Span     Span      `json:"span"`
	Severity Severity  `json:"severity"`
	// Rule is a short kebab-case name, such as "dropped-error".
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
	// Source is who found it: a model, "agentls rules", or a checker such as "go vet".
	Source string `json:"source,omitempty"`
	// Hunk is the proposed edit that would resolve it, where there is one.
	Hunk HunkID `json:"hunk,omitempty"`
}

// Todo is one item of a run's list of what is to be done.
type Todo struct {
	Text string `json:"text"`
	// State is "pending", "in_progress", "done" or "cancelled".
	State string `json:"state"`
}

// RunCreated: a run exists.
type RunCreated struct {
	Parent RunID  `json:"parent,omitempty"`
	Agent  string `json:"agent"`
	Role   string `json:"role"`
	Depth  int    `json:"depth"`
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
	Model  string `json:"model"`
	// URI is the document that the run was launched on, where there was one.
	URI string `json:"uri,omitempty"`
}

// RunStatusChanged: a run changed its status.
type RunStatusChanged struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// RunProgress: how far a run is.
type RunProgress struct {
	Turn int `json:"turn"`
	// BudgetUsed is the largest used share of any of its limits, in percent, 0 to 100.
	BudgetUsed int      `json:"budgetUsed"`
	Usage      Usage    `json:"usage"`
	ToolCalls  int      `json:"toolCalls"`
	Activities []string `json:"activities"`
	Message    string   `json:"message"`
}

// TurnStarted: a request goes to the model. Turns count from 1.
type TurnStarted struct {
	Turn int `json:"turn"`
}

// TextDelta: a piece of the answer that is being written.
type TextDelta struct {
	Text string `json:"text"`
}

// ReasoningDelta: a piece of the model's reasoning.
type ReasoningDelta struct {
	Text string `json:"text"`
}

// MessageCommitted: a message of the conversation is stored.
type MessageCommitted struct {
	Message MessageID `json:"message"`
	// Role is "user", "assistant" or "tool".
	Role string `json:"role"`
	Text string `json:"text"`
}

// ToolCallStarted: the intent of a tool call is stored.
type ToolCallStarted struct {
	Call CallID `json:"call"`
	Tool string `json:"tool"`
	// Title is the call in one line, such as "read main.go".
	Title string `json:"title"`
}

// ToolCallProgress: a long call says how it goes.
type ToolCallProgress struct {
	Call    CallID `json:"call"`
	Message string `json:"message"`
}

// ToolCallFinished: the outcome of a tool call is stored.
type ToolCallFinished struct {
	Call       CallID     `json:"call"`
	Tool       string     `json:"tool"`
	Status     CallStatus `json:"status"`
	Summary    string     `json:"summary"`
	DurationMs int64      `json:"durationMs"`
}

// AskOpened: a question waits for the user.
type AskOpened struct {
	Ask   AskID  `json:"ask"`
	Tool  string `json:"tool"`
	Title string `json:"title"`
}

// AskResolved: a question was answered or ran out of time.
type AskResolved struct {
	Ask      AskID  `json:"ask"`
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

// FindingReported: a run remarks on a place.
type FindingReported struct {
	Finding Finding `json:"finding"`
}

// FindingCleared: a finding holds no longer.
type FindingCleared struct {
	Finding FindingID `json:"finding"`
	URI     string    `json:"uri"`
	Reason  string    `json:"reason"`
}

// ProposalChanged: hunks were proposed, moved, accepted, rejected or are in conflict.
type ProposalChanged struct {
	Proposal ProposalID    `json:"proposal"`
	State    ProposalState `json:"state"`
	URIs     []string      `json:"uris"`
	Open     int           `json:"open"`
	Conflict int           `json:"conflict"`
}

// TodoChanged: the run's list, whole.
type TodoChanged struct {
	Items []Todo `json:"items"`
}

// RetryScheduled: the provider failed and will be asked again.
type RetryScheduled struct {
	Attempt int    `json:"attempt"`
	DelayMs int64  `json:"delayMs"`
	Reason  string `json:"reason"`
}

// Compacted: the conversation was shortened.
type Compacted struct {
	TokensBefore int64 `json:"tokensBefore"`
	TokensAfter  int64 `json:"tokensAfter"`
}

// Notice: something a person should know.
type Notice struct {
	Level   NoticeLevel `json:"level"`
	Message string      `json:"message"`
	Hint    string      `json:"hint,omitempty"`
}

// RunFinished: a run has ended; nothing of it follows.
type RunFinished struct {
	Status Status    `json:"status"`
	Reason string    `json:"reason,omitempty"`
	Result RunResult `json:"result"`
	Usage  Usage     `json:"usage"`
}

func (RunCreated) EventType() string       { return "RunCreated" }
func (RunStatusChanged) EventType() string { return "RunStatusChanged" }
func (RunProgress) EventType() string      { return "RunProgress" }
func (TurnStarted) EventType() string      { return "TurnStarted" }
func (TextDelta) EventType() string        { return "TextDelta" }
func (ReasoningDelta) EventType() string   { return "ReasoningDelta" }
func (MessageCommitted) EventType() string { return "MessageCommitted" }
func (ToolCallStarted) EventType() string  { return "ToolCallStarted" }
func (ToolCallProgress) EventType() string { return "ToolCallProgress" }
func (ToolCallFinished) EventType() string { return "ToolCallFinished" }
func (AskOpened) EventType() string        { return "AskOpened" }
func (AskResolved) EventType() string      { return "AskResolved" }
func (FindingReported) EventType() string  { return "FindingReported" }
func (FindingCleared) EventType() string   { return "FindingCleared" }
func (ProposalChanged) EventType() string  { return "ProposalChanged" }
func (TodoChanged) EventType() string      { return "TodoChanged" }
func (RetryScheduled) EventType() string   { return "RetryScheduled" }
func (Compacted) EventType() string        { return "Compacted" }
func (Notice) EventType() string           { return "Notice" }
func (RunFinished) EventType() string      { return "RunFinished" }

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
