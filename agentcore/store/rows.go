package store

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// The types below are the rows, one type for each table. They are values. In all of them a zero
// time.Time, an empty id and a nil json.RawMessage mean "none"; times are kept to the microsecond and
// come back in UTC; JSON is kept as it came. A time Created is that of the first batch that had one: it
// does not change after that.

// Session is a conversation on a workspace.
type Session struct {
	ID    event.SessionID
	Title string
	// Summary says what was done in it, in a few lines; empty where nobody has summed it up.
	Summary string
	// Roots are the absolute paths of the workspace folders.
	Roots []string
	State SessionState
	// ForkedFrom is the session that this one continues, where it was forked. It may be gone.
	ForkedFrom event.SessionID
	// Agent, Model and PermissionMode are what the session prefers; empty means "as configured".
	Agent, Model, PermissionMode string
	Created, Updated             time.Time
}

// SessionState says whether a conversation goes on.
type SessionState string

// The states of a session.
const (
	SessionOpen   SessionState = "open"
	SessionClosed SessionState = "closed"
)

// Run is one agent at work: the root of a prompt, or a child.
type Run struct {
	ID      event.RunID
	Session event.SessionID
	Origin
	Agent string
	Role  string
	Title string
	// URI is the document that the run was launched on, empty where there was none.
	URI   string
	Model string
	// Prompt is the system prompt that the run was started with; empty where no model was asked. Of runs that former
	// versions stored it is the agent's name, and no text is known.
	Prompt  PromptID
	Request string
	Ending
	Bounds
	Spent
	// Permissions are the effective rules and mode, fixed at the run's start.
	Permissions json.RawMessage
	// Proposal is the proposal that holds the run's edits, where there are any.
	Proposal                    event.ProposalID
	Created, Started, Completed time.Time
	// Rewound says that the user went back to before the run's prompt. For a stored run, [Store.SetRewound] changes it.
	Rewound bool
	// ProgramSession is the session of the program that was the run's agent, by the program's own id; empty for others.
	ProgramSession string
	// Unread is a JSON array of what the run was told and has not read. For a stored run, [Batch.Unreads] changes it.
	Unread json.RawMessage
}

// Origin says where a run comes from, and with what it began.
type Origin struct {
	// Parent, ParentMessage and ParentCall say where a child was started: the run, its message and the call of `task`
	// in it. Only Parent must be stored before the child.
	Parent        event.RunID
	ParentMessage event.MessageID
	ParentCall    event.CallID
	// Chain is shared by the runs of one prompt and the runs that went on with them. It is the root's id.
	Chain event.RunID
	// Depth is 0 for the root.
	Depth int
	// RequestType is "prompt", "delegation" or "continuation".
	RequestType string
	// ContextMode is how much of its parent's conversation a child got. ContextTokens is about the size of that, or of
	// the conversation that the run goes on with.
	ContextMode   string
	ContextTokens int64
	// Background says that the run which started it does not wait for it.
	Background bool
	// Copied says that the run is a copy that a fork or an import has made. Sums of usage leave it out.
	Copied bool
}

// Ending is what a run came to. While it works, Status alone is set, and what its model has said last.
type Ending struct {
	// Response is the final text. Summary is what a parent or a list shows of it.
	Response, Summary string
	// Result is a child's report to its parent, as event.ChildResult.
	Result json.RawMessage
	Status event.Status
	// Reason says why the run ended if it did not simply complete: a limit, or the error.
	Reason string
	// Failure is an event.Failure where the run failed.
	Failure json.RawMessage
	// FilesModified is a JSON array of what the run changed.
	FilesModified json.RawMessage
}

// Bounds are a run's limits, 0 for none.
type Bounds struct {
	// MaxTurns, MaxDuration, MaxTokens and MaxCost are the run's limits, 0 for none. MaxCost is in US
	// dollars; MaxDuration is kept in milliseconds.
	MaxTurns    int
	MaxDuration time.Duration
	MaxTokens   int64
	MaxCost     float64
}

// Spent is what a run has used so far.
type Spent struct {
	// Turns is the number of requests to the model so far; 0 for a copy, which has made none (see Store.CopiedTurns).
	Turns int
	// Usage includes the run's children, Own does not.
	Usage, Own event.Usage
	// Duration is the time at work, kept in milliseconds.
	Duration time.Duration
	// BudgetUsed is the largest used share of any of its limits, in percent.
	BudgetUsed int
}

// Unread is what a stored run was told and has not read.
type Unread struct {
	Run event.RunID
	// Texts is a JSON array, nil for nothing.
	Texts json.RawMessage
}

// Message is one committed message of a run's conversation.
type Message struct {
	ID  event.MessageID
	Run event.RunID
	// Parent is the message that this one follows; in a fork it may be another run's.
	Parent event.MessageID
	// Seq orders the messages of a run, and is unique in the run.
	Seq int
	// Role is "user", "assistant" or "tool".
	Role string
	// Parts is the message as model.Message encodes it.
	Parts json.RawMessage
	// Tokens is the message's size: for an answer as counted by the provider, otherwise guessed.
	Tokens int64
	// Duration is how long the model took for an answer, with all attempts, kept in milliseconds; 0 for other messages.
	Duration time.Duration
	// Model is the model that answered, as provider/model, and Usage what that request alone used. Both are empty for
	// other messages, and for answers that former versions stored.
	Model string
	Usage event.Usage
	Time  time.Time
}

// PromptID is the hash of a prompt's text, see PromptOf.
type PromptID string

// Prompt is the text of a system prompt. It is stored once for all runs that have it, and deleted with the last of
// them.
type Prompt struct {
	ID   PromptID
	Text string
}

// PromptOf returns a text as a prompt with its id. Secrets must be removed from the text first, so that the stored text
// has this id.
func PromptOf(text string) Prompt {
	return Prompt{PromptID(fmt.Sprintf("%x", sha256.Sum256([]byte(text)))), text}
}

// ToolCall is the intent of a call, stored before the call starts, and its outcome, stored afterwards. A call without
// Finished, in a run that is not alive, has an unknown outcome: it is reported and never repeated.
type ToolCall struct {
	ID  event.CallID
	Run event.RunID
	// Message is the assistant's message that asked for the call.
	Message event.MessageID
	// ModelCall is the id that the model gave the call.
	ModelCall string
	Tool      string
	Arguments json.RawMessage
	Title     string
	// Effect is "reads", "delegates", "notes", "proposes" or "acts".
	Effect string
	// Intent is when the call was decided on, Started and Finished when it ran.
	Intent, Started, Finished time.Time
	// Status is empty until the call has ended.
	Status  event.CallStatus
	Summary string
	// Output is the text that the model got. What is longer than MaxOutput bytes is cut in the middle.
	Output string
	// ExitCode is the exit code of the command that the call ran to its end; nil for none.
	ExitCode *int
}

// MaxOutput bounds ToolCall.Output, in bytes of UTF-8.
const MaxOutput = 256 << 10

// LayerFile is one file of a layer of proposed edits.
type LayerFile struct {
	Session event.SessionID
	// Run is the layer's run, empty for the session's own layer.
	Run event.RunID
	// Path is absolute.
	Path string
	// Base is the text below that the layer's text was made from, Own the layer's text.
	Base, Own string
	// Created says that there was no file below; Deleted, that the layer has none.
	Created, Deleted bool
	// MovedFrom is the path that the file had below, empty where it was not moved.
	MovedFrom string
	// Authors is a JSON array of who wrote it, oldest first.
	Authors json.RawMessage
	// Stamp identifies Base (workspace.Stamp).
	Stamp   string
	Updated time.Time
}

// LayerKey names a file of a layer, or with an empty Path the whole layer.
type LayerKey struct {
	Session event.SessionID
	Run     event.RunID
	Path    string
}

// FindingState says whether a finding still holds.
type FindingState string

// The states of a finding.
const (
	FindingOpen    FindingState = "open"
	FindingCleared FindingState = "cleared"
)

// Finding is one remark of a run on a place in a file.
type Finding struct {
	event.Finding
	// More are further hunks of the finding's fix, beside Hunk.
	More    []event.HunkID
	Session event.SessionID
	Run     event.RunID
	// Quote is the text of the lines that the span touches, as the run saw them, so that the place can
	// be found again.
	Quote string
	State FindingState
	// Reason says why the finding was cleared.
	Reason           string
	Created, Updated time.Time
}

// Fix returns all hunks of the finding's fix.
func (f *Finding) Fix() []event.HunkID {
	if f.Hunk == "" {
		return nil
	}
	return append([]event.HunkID{f.Hunk}, f.More...)
}

// ClearedFinding says that a stored finding holds no longer.
type ClearedFinding struct {
	ID     event.FindingID
	Reason string
	Time   time.Time
}

// Proposal holds the open edits of a session.
type Proposal struct {
	ID      event.ProposalID
	Session event.SessionID
	// Run is the root run that the edits came from.
	Run              event.RunID
	Agent            string
	Title            string
	State            event.ProposalState
	Created, Updated time.Time
}

// Hunk is one piece of a proposal.
type Hunk struct {
	ID       event.HunkID
	Proposal event.ProposalID
	// Path is absolute.
	Path  string
	State event.ProposalState
	// StartLine and EndLine are lines of the shown text, 0-based, the end exclusive.
	StartLine, EndLine int
	// Before and After are whole lines with their line endings.
	Before, After string
	// Create and Delete say that the hunk makes or removes the file.
	Create, Delete bool
	// MoveTo is the path that the hunk moves the file to, empty for none.
	MoveTo string
	// Detail says why the hunk is in its state.
	Detail string
	// PlaceStart and PlaceEnd are the lines, 0-based, the end exclusive, where Before stands, or After once the hunk is
	// accepted; Above and Below are the lines around it, and Stamp identifies the text (workspace.Stamp).
	PlaceStart, PlaceEnd int
	Above, Below         string
	Stamp                string
	// Run, Agent and Reason are the author's.
	Run              event.RunID
	Agent, Reason    string
	Created, Updated time.Time
}

// HunkBound is how many of a proposal's settled hunks are kept.
type HunkBound struct {
	Proposal event.ProposalID
	// Keep is how many settled hunks of the proposal stay: those that were settled last.
	Keep int
}

// TodoList is a run's whole list of todos.
type TodoList struct {
	Run   event.RunID
	Items []event.Todo
}

// Agent is an agent that was registered at run time.
type Agent struct {
	Slug string
	ID   string
	// Definition is JSON with the keys of the native format.
	Definition json.RawMessage
	// Created is when the slug was first registered.
	Created, Updated time.Time
}

func (a *Agent) fields() []field {
	return []field{
		{"slug", &a.Slug},
		{"id", &a.ID},
		{"definition", jsonText{&a.Definition}},
		{"created", creation{micros{&a.Created}}},
		{"updated", micros{&a.Updated}},
	}
}

func (s *Session) fields() []field {
	return []field{
		{"id", &s.ID},
		{"title", &s.Title},
		{"summary", &s.Summary},
		{"roots", textArray{&s.Roots}},
		{"state", &s.State},
		{"forked_from", optional(&s.ForkedFrom)},
		{"agent", &s.Agent},
		{"model", &s.Model},
		{"permission_mode", &s.PermissionMode},
		{"created", creation{micros{&s.Created}}},
		{"updated", micros{&s.Updated}},
	}
}

// ownedSession is a session as it is written, with the process that has it open; none once it is closed.
type ownedSession struct {
	Session
	owner string
}

func (s *ownedSession) fields() []field {
	return append(s.Session.fields(), field{"owner", optional(&s.owner)})
}

func (r *Run) fields() []field {
	return []field{
		{"id", &r.ID},
		{"session", &r.Session},
		{"parent_run", optional(&r.Parent)},
		{"parent_message", optional(&r.ParentMessage)},
		{"parent_call", optional(&r.ParentCall)},
		{"chain", optional(&r.Chain)},
		{"agent", &r.Agent},
		{"role", &r.Role},
		{"depth", &r.Depth},
		{"title", &r.Title},
		{"uri", &r.URI},
		{"model", &r.Model},
		{"prompt", &r.Prompt},
		{"request_type", &r.RequestType},
		{"request", &r.Request},
		{"context_mode", &r.ContextMode},
		{"context_tokens", &r.ContextTokens},
		{"response", &r.Response},
		{"summary", &r.Summary},
		{"result", jsonText{&r.Result}},
		{"status", &r.Status},
		{"reason", &r.Reason},
		{"failure", jsonText{&r.Failure}},
		{"max_turns", &r.MaxTurns},
		{"max_duration_ms", millis{&r.MaxDuration}},
		{"max_tokens", &r.MaxTokens},
		{"max_cost", &r.MaxCost},
		{"turns", &r.Turns},
		{"input_tokens", &r.Usage.InputTokens},
		{"output_tokens", &r.Usage.OutputTokens},
		{"cached_tokens", &r.Usage.CachedTokens},
		{"cost", &r.Usage.Cost},
		{"files_modified", jsonText{&r.FilesModified}},
		{"permissions", jsonText{&r.Permissions}},
		{"proposal", optional(&r.Proposal)},
		{"created", creation{micros{&r.Created}}},
		{"started", micros{&r.Started}},
		{"completed", micros{&r.Completed}},
		{"duration_ms", millis{&r.Duration}},
		{"own_input_tokens", &r.Own.InputTokens},
		{"own_output_tokens", &r.Own.OutputTokens},
		{"own_cached_tokens", &r.Own.CachedTokens},
		{"own_cost", &r.Own.Cost},
		{"background", &r.Background},
		{"budget_used", &r.BudgetUsed},
		{"copied", &r.Copied},
		{"rewound", mark{&r.Rewound}},
		{"program_session", &r.ProgramSession},
		{"unread", unread{jsonText{&r.Unread}}},
	}
}

// ownedRun is a run as it is written, with the process in which it is alive; none after its end.
type ownedRun struct {
	Run
	owner     string
	succeeded bool // for sums, which do not read Result
}

func (r *ownedRun) fields() []field {
	r.succeeded = r.Outcome() == event.ChildStatusCompleted
	return append(r.Run.fields(), field{"owner", optional(&r.owner)}, field{"succeeded", &r.succeeded})
}

// Handed is what the run handed over to the run that started it; nil if it handed over nothing. What the user's own run
// has as its result is the object of its answer.
func (r *Run) Handed() *event.ChildResult {
	var handed *event.ChildResult
	if r.Parent == "" || len(r.Result) == 0 || json.Unmarshal(r.Result, &handed) != nil {
		return nil
	}
	return handed
}

// Outcome is how far the task of an ended run is done, as [event.Outcome] says.
func (r *Run) Outcome() event.ChildStatus { return event.Outcome(r.Status, r.Reason, r.Handed()) }

func (m *Message) fields() []field {
	return []field{
		{"id", &m.ID},
		{"run", &m.Run},
		{"parent_message", optional(&m.Parent)},
		{"seq", &m.Seq},
		{"role", &m.Role},
		{"parts", jsonText{&m.Parts}},
		{"tokens", &m.Tokens},
		{"duration_ms", millis{&m.Duration}},
		{"model", &m.Model},
		{"input_tokens", &m.Usage.InputTokens},
		{"output_tokens", &m.Usage.OutputTokens},
		{"cached_tokens", &m.Usage.CachedTokens},
		{"cost", &m.Usage.Cost},
		{"time", micros{&m.Time}},
	}
}

func (c *ToolCall) fields() []field {
	return []field{
		{"id", &c.ID},
		{"run", &c.Run},
		{"message", optional(&c.Message)},
		{"model_call", &c.ModelCall},
		{"tool", &c.Tool},
		{"arguments", jsonText{&c.Arguments}},
		{"title", &c.Title},
		{"effect", &c.Effect},
		{"intent", micros{&c.Intent}},
		{"started", micros{&c.Started}},
		{"finished", micros{&c.Finished}},
		{"status", &c.Status},
		{"summary", &c.Summary},
		{"output", &c.Output},
		{"exit_code", &c.ExitCode},
	}
}

func (p *Prompt) fields() []field { return []field{{"id", &p.ID}, {"text", &p.Text}} }

func (f *LayerFile) fields() []field {
	return []field{
		{"session", &f.Session},
		{"run", optional(&f.Run)},
		{"path", &f.Path},
		{"base", &f.Base},
		{"own", &f.Own},
		{"created", &f.Created},
		{"deleted", &f.Deleted},
		{"moved_from", &f.MovedFrom},
		{"authors", jsonText{&f.Authors}},
		{"stamp", &f.Stamp},
		{"updated", micros{&f.Updated}},
	}
}

func (f *Finding) fields() []field {
	return []field{
		{"id", &f.ID},
		{"session", &f.Session},
		{"run", &f.Run},
		{"uri", &f.URI},
		{"start_line", &f.Span.StartLine},
		{"start_column", &f.Span.StartColumn},
		{"end_line", &f.Span.EndLine},
		{"end_column", &f.Span.EndColumn},
		{"severity", &f.Severity},
		{"rule", &f.Rule},
		{"message", &f.Message},
		{"source", &f.Source},
		{"hunk", fix{f}},
		{"quote", &f.Quote},
		{"state", &f.State},
		{"reason", &f.Reason},
		{"created", creation{micros{&f.Created}}},
		{"updated", micros{&f.Updated}},
	}
}

func (p *Proposal) fields() []field {
	return []field{
		{"id", &p.ID},
		{"session", &p.Session},
		{"run", optional(&p.Run)},
		{"agent", &p.Agent},
		{"title", &p.Title},
		{"state", &p.State},
		{"created", creation{micros{&p.Created}}},
		{"updated", micros{&p.Updated}},
	}
}

func (h *Hunk) fields() []field {
	return []field{
		{"id", &h.ID},
		{"proposal", &h.Proposal},
		{"path", &h.Path},
		{"state", &h.State},
		{"start_line", &h.StartLine},
		{"end_line", &h.EndLine},
		{"before", &h.Before},
		{"after", &h.After},
		{"creates", &h.Create},
		{"deletes", &h.Delete},
		{"move_to", &h.MoveTo},
		{"detail", &h.Detail},
		{"place_start", &h.PlaceStart},
		{"place_end", &h.PlaceEnd},
		{"above", &h.Above},
		{"below", &h.Below},
		{"stamp", &h.Stamp},
		{"run", optional(&h.Run)},
		{"agent", &h.Agent},
		{"reason", &h.Reason},
		{"created", creation{micros{&h.Created}}},
		{"updated", micros{&h.Updated}},
	}
}

// InterruptedReason is the reason of a run that MarkInterrupted found.
const InterruptedReason = "the agentls process that it ran in has ended"

// RunUsage is what a stored run has used so far. A count replaces the stored one only if it is larger, since several
// children may report what their parent has used.
type RunUsage struct {
	Run   event.RunID
	Turns int
	// Usage includes the run's children, Own does not.
	Usage, Own event.Usage
}

// AskState is the state of a question for permission.
type AskState string

// The states of an ask.
const (
	AskOpen     AskState = "open"
	AskAnswered AskState = "answered"
	// AskExpired: nobody answered in time, or the run ended first.
	AskExpired AskState = "expired"
)

// Ask is a question for permission and its answer.
type Ask struct {
	ID        event.AskID
	Session   event.SessionID
	Run       event.RunID
	Call      event.CallID
	Tool      string
	Title     string
	Arguments json.RawMessage
	State     AskState
	// Decision is "allow" or "deny", empty while the ask is open. Scope is the scope of the answer.
	Decision, Scope, Reason string
	// Resolved is zero while the ask is open.
	Opened, Deadline, Resolved time.Time
}

func (a *Ask) fields() []field {
	return []field{
		{"id", &a.ID},
		{"session", &a.Session},
		{"run", &a.Run},
		{"call", optional(&a.Call)},
		{"tool", &a.Tool},
		{"title", &a.Title},
		{"arguments", jsonText{&a.Arguments}},
		{"state", &a.State},
		{"decision", &a.Decision},
		{"scope", &a.Scope},
		{"reason", &a.Reason},
		{"opened", micros{&a.Opened}},
		{"deadline", micros{&a.Deadline}},
		{"resolved", micros{&a.Resolved}},
	}
}

// Grant is a remembered answer. Which of Session, Run and Root is set follows from its scope: "run", "session" or
// "project".
type Grant struct {
	ID       event.GrantID
	Scope    string
	Session  event.SessionID
	Run      event.RunID
	Root     string // absolute
	Tool     string
	Pattern  string
	Decision string // allow, deny
	Created  time.Time
	// Expires is zero for a grant that does not expire. Revoked is zero for one that was not taken back.
	Expires, Revoked time.Time
}

func (g *Grant) fields() []field {
	return []field{
		{"id", &g.ID},
		{"scope", &g.Scope},
		{"session", optional(&g.Session)},
		{"run", optional(&g.Run)},
		{"root", optional(&g.Root)},
		{"tool", &g.Tool},
		{"pattern", &g.Pattern},
		{"decision", &g.Decision},
		{"created", creation{micros{&g.Created}}},
		{"revoked", micros{&g.Revoked}},
		{"expires", micros{&g.Expires}},
	}
}

// Trusted is one file that the user trusts in a workspace folder, as it was then. The row with an empty Path is the
// decision on the folder.
type Trusted struct {
	Root     string // absolute
	Path     string // relative to Root, with slashes
	Hash     string
	Decision string // trusted, untrusted
	Decided  time.Time
}

func (t *Trusted) fields() []field {
	return []field{
		{"root", &t.Root},
		{"path", &t.Path},
		{"hash", &t.Hash},
		{"decision", &t.Decision},
		{"decided", micros{&t.Decided}},
	}
}
