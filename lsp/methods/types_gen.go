// Code generated from schema/agent.metamodel.json. DO NOT EDIT.

package methods

import (
	"encoding/json"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
)

// GrantID: names one remembered permission. Opaque.
type GrantID string

// ErrorKind is what kind of error a request ended with (`data.kind`).
type ErrorKind string

// The values of [ErrorKind]. Others may come from a newer peer; they are kept as they are.
const (
	// KindInvalidParams: the params do not have the documented form; the detail names the member.
	KindInvalidParams ErrorKind = "invalid_params"
	// KindNotServed: the method is in the protocol, but this version does not serve it yet.
	KindNotServed ErrorKind = "not_served"
	// KindNotFound: there is no agent, run, session, proposal, hunk, ask or grant of that name.
	KindNotFound ErrorKind = "not_found"
	// KindInvalidDefinition: the agent exists but its definition has errors.
	KindInvalidDefinition ErrorKind = "invalid_definition"
	// KindNotAllowed: a rule, a limit or missing trust forbids it.
	KindNotAllowed ErrorKind = "not_allowed"
	// KindNoModel: no model can be used for it.
	KindNoModel ErrorKind = "no_model"
	// KindEditRefused: the editor did not apply the edit; the proposal is open again.
	KindEditRefused ErrorKind = "edit_refused"
	// KindUnsupported: the client did not announce what this needs.
	KindUnsupported ErrorKind = "unsupported"
	// KindCancelled: the request was cancelled by the client.
	KindCancelled ErrorKind = "cancelled"
	// KindShuttingDown: the server is about to end and starts nothing new.
	KindShuttingDown ErrorKind = "shutting_down"
	// KindInternal: a fault in agentls itself. Nothing was changed.
	KindInternal ErrorKind = "internal"
)

// AgentCategory is where an agent can be used.
type AgentCategory string

// The values of [AgentCategory]. Others may come from a newer peer; they are kept as they are.
const (
	// CategoryPrimary: a user can start it.
	CategoryPrimary AgentCategory = "primary"
	// CategorySubagent: other agents can delegate to it.
	CategorySubagent AgentCategory = "subagent"
	// CategoryHidden: the engine uses it; it is never listed.
	CategoryHidden AgentCategory = "hidden"
)

// ExecutionMode is how an agent works.
type ExecutionMode string

// The values of [ExecutionMode]. Others may come from a newer peer; they are kept as they are.
const (
	// ModeAgentic: a loop of model turns and tool calls.
	ModeAgentic ExecutionMode = "agentic"
	// ModeSingleShot: one answer, no tools.
	ModeSingleShot ExecutionMode = "single_shot"
	// ModeStreaming: a chat, shown as it is written.
	ModeStreaming ExecutionMode = "streaming"
	// ModePlanning: read-only tools; the product is a plan file.
	ModePlanning ExecutionMode = "planning"
)

// PermissionMode is how much a run asks. No mode lifts a deny, and none is wider than the parent's.
type PermissionMode string

// The values of [PermissionMode]. Others may come from a newer peer; they are kept as they are.
const (
	// PermissionModeDefault: as the rules say.
	PermissionModeDefault PermissionMode = "default"
	// PermissionModePlan: nothing is changed.
	PermissionModePlan PermissionMode = "plan"
	// PermissionModeAcceptEdits: proposals are applied without review.
	PermissionModeAcceptEdits PermissionMode = "accept_edits"
	// PermissionModeBypass: nothing is asked.
	PermissionModeBypass PermissionMode = "bypass"
)

// ContextMode is what a child gets of its parent's conversation.
type ContextMode string

// The values of [ContextMode]. Others may come from a newer peer; they are kept as they are.
const (
	// ContextModeNone: nothing but the task.
	ContextModeNone ContextMode = "none"
	// ContextModeFull: all of it.
	ContextModeFull ContextMode = "full"
	// ContextModeSummary: a summary.
	ContextModeSummary ContextMode = "summary"
	// ContextModeSelective: named files and the last messages.
	ContextModeSelective ContextMode = "selective"
)

// Layer is where a definition, skill or rule comes from. A later one wins.
type Layer string

// The values of [Layer]. Others may come from a newer peer; they are kept as they are.
const (
	// LayerBuiltin: part of agentls.
	LayerBuiltin Layer = "builtin"
	// LayerPlugin: a plugin folder.
	LayerPlugin Layer = "plugin"
	// LayerUser: the user's configuration.
	LayerUser Layer = "user"
	// LayerProject: the workspace folder, if it is trusted.
	LayerProject Layer = "project"
	// LayerSession: this session.
	LayerSession Layer = "session"
	// LayerRuntime: registered at run time.
	LayerRuntime Layer = "runtime"
)

// RuleAction is what a rule says.
type RuleAction string

// The values of [RuleAction]. Others may come from a newer peer; they are kept as they are.
const (
	// ActionAllow: do it.
	ActionAllow RuleAction = "allow"
	// ActionAsk: ask the user.
	ActionAsk RuleAction = "ask"
	// ActionDeny: do not do it.
	ActionDeny RuleAction = "deny"
)

// DefinitionFormat is how the text of a definition is written.
type DefinitionFormat string

// The values of [DefinitionFormat]. Others may come from a newer peer; they are kept as they are.
const (
	// FormatMarkdown: agentls's own: Markdown with YAML frontmatter.
	FormatMarkdown DefinitionFormat = "markdown"
	// FormatTOML: a document with `[[agents]]`.
	FormatTOML DefinitionFormat = "toml"
	// FormatJSON: a JSON object.
	FormatJSON DefinitionFormat = "json"
)

// ExportFormat is how a transcript is written out.
type ExportFormat string

// The values of [ExportFormat]. Others may come from a newer peer; they are kept as they are.
const (
	// ExportJSONL: one JSON object a line, with parent links. It can be imported.
	ExportJSONL ExportFormat = "jsonl"
	// ExportMarkdown: for reading.
	ExportMarkdown ExportFormat = "markdown"
)

// FileChange is what happens to a file.
type FileChange string

// The values of [FileChange]. Others may come from a newer peer; they are kept as they are.
const (
	// FileModified: its text changes.
	FileModified FileChange = "modified"
	// FileCreated: it is new.
	FileCreated FileChange = "created"
	// FileDeleted: it goes.
	FileDeleted FileChange = "deleted"
)

// Decision is what the user decided.
type Decision string

// The values of [Decision]. Others may come from a newer peer; they are kept as they are.
const (
	// DecisionAllow: do it.
	DecisionAllow Decision = "allow"
	// DecisionDeny: do not do it.
	DecisionDeny Decision = "deny"
)

// Scope is how long a decision holds.
type Scope string

// The values of [Scope]. Others may come from a newer peer; they are kept as they are.
const (
	// ScopeOnce: for this call.
	ScopeOnce Scope = "once"
	// ScopeRun: for this run and its children.
	ScopeRun Scope = "run"
	// ScopeSession: for this session.
	ScopeSession Scope = "session"
	// ScopeProject: for this workspace folder, until it is revoked.
	ScopeProject Scope = "project"
)

// UsageGroup is what usage is summed up by.
type UsageGroup string

// The values of [UsageGroup]. Others may come from a newer peer; they are kept as they are.
const (
	// UsageGroupRun: each run.
	UsageGroupRun UsageGroup = "run"
	// UsageGroupAgent: each agent.
	UsageGroupAgent UsageGroup = "agent"
	// UsageGroupModel: each model.
	UsageGroupModel UsageGroup = "model"
	// UsageGroupSession: each session.
	UsageGroupSession UsageGroup = "session"
	// UsageGroupDay: each day in UTC.
	UsageGroupDay UsageGroup = "day"
)

// MCPState is the state of an MCP server.
type MCPState string

// The values of [MCPState]. Others may come from a newer peer; they are kept as they are.
const (
	// MCPStateStopped: not started yet; it starts with the first run that needs it.
	MCPStateStopped MCPState = "stopped"
	// MCPStateStarting: it is being started.
	MCPStateStarting MCPState = "starting"
	// MCPStateReady: its tools can be used.
	MCPStateReady MCPState = "ready"
	// MCPStateFailed: it could not be started, or has ended.
	MCPStateFailed MCPState = "failed"
	// MCPStateUntrusted: it comes from a folder that is not trusted.
	MCPStateUntrusted MCPState = "untrusted"
)

// SymbolQuery is what is asked of the editor's own language servers.
type SymbolQuery string

// The values of [SymbolQuery]. Others may come from a newer peer; they are kept as they are.
const (
	// SymbolQueryDefinition: where the symbol at the position is defined.
	SymbolQueryDefinition SymbolQuery = "definition"
	// SymbolQueryReferences: where the symbol at the position is used.
	SymbolQueryReferences SymbolQuery = "references"
	// SymbolQueryDocument: all symbols of the document.
	SymbolQueryDocument SymbolQuery = "document"
	// SymbolQueryWorkspace: symbols of the workspace whose name matches.
	SymbolQueryWorkspace SymbolQuery = "workspace"
)

// Health is how the server is.
type Health string

// The values of [Health]. Others may come from a newer peer; they are kept as they are.
const (
	// HealthOK: all is well.
	HealthOK Health = "ok"
	// HealthWarning: it works, but not fully; the message says why.
	HealthWarning Health = "warning"
	// HealthError: it does not work; the message says why and what to do.
	HealthError Health = "error"
)

// Support is what one side says under `capabilities.experimental.agentls` of `initialize`. The server
// sends no request whose member the client did not set.
type Support struct {
	// Version: the version of this protocol that the side speaks.
	Version string `json:"version"`
	// Asks: client: it answers `agent/ask`. Server: it can send it.
	Asks bool `json:"asks,omitzero"`
	// Questions: client: it answers `agent/question`. Server: it can send it.
	Questions bool `json:"questions,omitzero"`
	// Models: client: it answers `agent/model/generate`. Server: it can send it.
	Models bool `json:"models,omitzero"`
	// Diagnostics: client: it answers `agent/diagnostics`. Server: it can send it.
	Diagnostics bool `json:"diagnostics,omitzero"`
	// Symbols: client: it answers `agent/symbols`. Server: it can send it.
	Symbols bool `json:"symbols,omitzero"`
}

// DefinitionSource is where a definition comes from.
type DefinitionSource struct {
	// Layer: the layer.
	Layer Layer `json:"layer"`
	// URI: the file, where there is one.
	URI uri.URI `json:"uri,omitzero"`
}

// AgentInfo is an agent as a list shows it.
type AgentInfo struct {
	// Slug: the name that requests use: lower-case letters, digits and `-`.
	Slug string `json:"slug"`
	// Title: the name for people.
	Title string `json:"title"`
	// Description: when to use it.
	Description string `json:"description"`
	// Categories: where it can be used.
	Categories []AgentCategory `json:"categories"`
	// Mode: how it works.
	Mode ExecutionMode `json:"mode"`
	// Aliases: other names that are accepted for it.
	Aliases []string `json:"aliases,omitzero"`
	// Model: the model that it names, as `provider/model`, a preset or `inherit`; absent where it names
	// none.
	Model string `json:"model,omitzero"`
	// Icon: one character for lists.
	Icon string `json:"icon,omitzero"`
	// Color: a colour name or `#rrggbb`.
	Color string `json:"color,omitzero"`
	// Order: its place in lists, the smallest first.
	Order *int `json:"order,omitzero"`
	// Source: where its definition comes from.
	Source DefinitionSource `json:"source"`
	// Shadows: definitions of the same slug in earlier layers that this one hides.
	Shadows []DefinitionSource `json:"shadows,omitzero"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v AgentInfo) MarshalJSON() ([]byte, error) {
	type plain AgentInfo
	if v.Categories == nil {
		v.Categories = []AgentCategory{}
	}
	return json.Marshal(plain(v))
}

// PermissionRule is one permission rule.
type PermissionRule struct {
	// Tool: the tool's canonical name, or `*`.
	Tool string `json:"tool"`
	// Pattern: what the call is matched with: for `bash` words, for files a glob from the workspace root.
	// Absent matches every call.
	Pattern string `json:"pattern,omitzero"`
	// Action: what the rule says.
	Action RuleAction `json:"action"`
	// Layer: where the rule comes from.
	Layer Layer `json:"layer,omitzero"`
}

// Limits: limits of a run. An absent limit, and 0, mean the agent's own or the configured one.
type Limits struct {
	// MaxTurns: requests to the model.
	MaxTurns int `json:"maxTurns,omitzero" min:"0"`
	// TimeoutMs: time from creation to end.
	TimeoutMs int64 `json:"timeoutMs,omitzero" min:"0"`
	// MaxTokens: input and output tokens together, children included.
	MaxTokens int64 `json:"maxTokens,omitzero" min:"0"`
	// MaxCost: US dollars, children included.
	MaxCost *float64 `json:"maxCost,omitzero"`
}

// AgentDefinition is an agent with everything that its definition says, after all layers.
type AgentDefinition struct {
	// Slug: the name that requests use: lower-case letters, digits and `-`.
	Slug string `json:"slug"`
	// Title: the name for people.
	Title string `json:"title"`
	// Description: when to use it.
	Description string `json:"description"`
	// Categories: where it can be used.
	Categories []AgentCategory `json:"categories"`
	// Mode: how it works.
	Mode ExecutionMode `json:"mode"`
	// Aliases: other names that are accepted for it.
	Aliases []string `json:"aliases,omitzero"`
	// Model: the model that it names, as `provider/model`, a preset or `inherit`; absent where it names
	// none.
	Model string `json:"model,omitzero"`
	// Icon: one character for lists.
	Icon string `json:"icon,omitzero"`
	// Color: a colour name or `#rrggbb`.
	Color string `json:"color,omitzero"`
	// Order: its place in lists, the smallest first.
	Order *int `json:"order,omitzero"`
	// Source: where its definition comes from.
	Source DefinitionSource `json:"source"`
	// Shadows: definitions of the same slug in earlier layers that this one hides.
	Shadows []DefinitionSource `json:"shadows,omitzero"`
	// Prompt: the system prompt, with its variables not yet replaced.
	Prompt string `json:"prompt"`
	// Tools: canonical names of the tools that it may use.
	Tools []string `json:"tools"`
	// DisallowedTools: canonical names of the tools that it may not use.
	DisallowedTools []string `json:"disallowedTools,omitzero"`
	// Subagents: the agents that it may delegate to. Absent means all, an empty list none.
	Subagents []string `json:"subagents,omitzero"`
	// Limits: its limits as a root.
	Limits Limits `json:"limits"`
	// Permissions: its own rules, in order.
	Permissions []PermissionRule `json:"permissions,omitzero"`
	// PermissionMode: its permission mode.
	PermissionMode PermissionMode `json:"permissionMode,omitzero"`
	// ContextMode: what it gets as a child.
	ContextMode ContextMode `json:"contextMode,omitzero"`
	// Reminder: the critical reminder in front of its task.
	Reminder string `json:"reminder,omitzero"`
	// Skills: skills that are loaded at its start.
	Skills []string `json:"skills,omitzero"`
	// McpServers: MCP servers that it brings.
	McpServers []string `json:"mcpServers,omitzero"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v AgentDefinition) MarshalJSON() ([]byte, error) {
	type plain AgentDefinition
	if v.Categories == nil {
		v.Categories = []AgentCategory{}
	}
	if v.Tools == nil {
		v.Tools = []string{}
	}
	return json.Marshal(plain(v))
}

// DefinitionProblem is what is wrong with a definition.
type DefinitionProblem struct {
	// URI: the file; absent where the text came with the request.
	URI uri.URI `json:"uri,omitzero"`
	// Range: the place in the text.
	Range protocol.Range `json:"range"`
	// Severity: `error` where the definition cannot be used.
	Severity event.Severity `json:"severity"`
	// Message: what is wrong.
	Message string `json:"message"`
	// Hint: what was probably meant.
	Hint string `json:"hint,omitzero"`
}

// ListAgentsParams are the params of `agent/list`.
type ListAgentsParams struct {
	// Category: only agents of this category.
	Category AgentCategory `json:"category,omitzero"`
}

// AgentList is the result of `agent/list`.
type AgentList struct {
	// Agents: the agents in display order. Hidden ones are never among them.
	Agents []AgentInfo `json:"agents"`
	// Default: the slug of the agent that `agent/run` takes where none is named.
	Default string `json:"default"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v AgentList) MarshalJSON() ([]byte, error) {
	type plain AgentList
	if v.Agents == nil {
		v.Agents = []AgentInfo{}
	}
	return json.Marshal(plain(v))
}

// AgentParams: names an agent.
type AgentParams struct {
	// Agent: the slug or an alias.
	Agent string `json:"agent"`
}

// RegisterAgentParams are the params of `agent/register`.
type RegisterAgentParams struct {
	// Text: the definition.
	Text string `json:"text"`
	// Format: how it is written; absent means `markdown`.
	Format DefinitionFormat `json:"format,omitzero"`
}

// UpdateAgentParams are the params of `agent/update`.
type UpdateAgentParams struct {
	// Agent: the slug of an agent that was registered at run time.
	Agent string `json:"agent"`
	// Text: the new definition, whole.
	Text string `json:"text"`
	// Format: how it is written; absent means `markdown`.
	Format DefinitionFormat `json:"format,omitzero"`
}

// RegisterAgentResult is the result of `agent/register` and `agent/update`.
type RegisterAgentResult struct {
	// Agent: the agent; absent where an error was found and nothing was changed.
	Agent *AgentInfo `json:"agent,omitzero"`
	// Problems: every error and warning at once.
	Problems []DefinitionProblem `json:"problems"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v RegisterAgentResult) MarshalJSON() ([]byte, error) {
	type plain RegisterAgentResult
	if v.Problems == nil {
		v.Problems = []DefinitionProblem{}
	}
	return json.Marshal(plain(v))
}

// CheckAgentParams are the params of `agent/check`: a text or a document.
type CheckAgentParams struct {
	// Text: the definition.
	Text string `json:"text,omitzero"`
	// Format: how the text is written; absent means `markdown`.
	Format DefinitionFormat `json:"format,omitzero"`
	// URI: the document to check as the editor shows it, where no text is given.
	URI uri.URI `json:"uri,omitzero"`
}

// AgentProblems is the result of `agent/check`.
type AgentProblems struct {
	// Problems: every error and warning; empty where all is well.
	Problems []DefinitionProblem `json:"problems"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v AgentProblems) MarshalJSON() ([]byte, error) {
	type plain AgentProblems
	if v.Problems == nil {
		v.Problems = []DefinitionProblem{}
	}
	return json.Marshal(plain(v))
}

// RunContext is what the editor points at.
type RunContext struct {
	// URI: the document that the run is launched on. It need not be saved.
	URI uri.URI `json:"uri,omitzero"`
	// Range: the selection in it.
	Range *protocol.Range `json:"range,omitzero"`
	// URIs: more documents that the agent should know of.
	URIs []uri.URI `json:"uris,omitzero"`
}

// RunParams are the params of `agent/run`.
type RunParams struct {
	// Agent: the slug or an alias; absent means the default agent.
	Agent string `json:"agent,omitzero"`
	// Prompt: what to do.
	Prompt string `json:"prompt"`
	// Session: the session to go on with; absent means a new one.
	Session event.SessionID `json:"session,omitzero"`
	// Context: what the editor points at.
	Context *RunContext `json:"context,omitzero"`
	// Each: start one child for each of these documents, in parallel.
	Each []uri.URI `json:"each,omitzero"`
	// Model: the model for this run, as `provider/model` or the name of a preset.
	Model string `json:"model,omitzero"`
	// PermissionMode: how much it asks.
	PermissionMode PermissionMode `json:"permissionMode,omitzero"`
	// Limits: limits that are tighter or wider than the agent's own.
	Limits *Limits `json:"limits,omitzero"`
	// Iterations: repeat, each time afresh with a summary of the last, until the success check passes or
	// so many passes are made. Absent, 0 and 1 mean once.
	Iterations int `json:"iterations,omitzero" min:"0"`
	// Background: keep the run when the session is closed.
	Background bool `json:"background,omitzero"`
}

// RunStarted is a run was created. It goes on after the answer.
type RunStarted struct {
	// Session: its session.
	Session event.SessionID `json:"session"`
	// Run: its id, for `agent/wait` and `agent/cancel`.
	Run event.RunID `json:"run"`
}

// WaitParams are the params of `agent/wait`.
type WaitParams struct {
	// Run: the run.
	Run event.RunID `json:"run"`
	// TimeoutMs: answer with the state of that moment after so long; absent and 0 mean wait for the end.
	TimeoutMs int64 `json:"timeoutMs,omitzero" min:"0"`
	// WorkDoneToken: where to report the run's progress while waiting.
	WorkDoneToken protocol.ProgressToken `json:"workDoneToken,omitzero"`
}

// CancelParams are the params of `agent/cancel`.
type CancelParams struct {
	// Run: the run to stop, with everything below it.
	Run event.RunID `json:"run"`
}

// SteerParams are the params of `agent/steer`.
type SteerParams struct {
	// Run: a run that has not ended.
	Run event.RunID `json:"run"`
	// Message: what the agent is told at its next turn.
	Message string `json:"message"`
}

// ResumeParams are the params of `agent/resume`.
type ResumeParams struct {
	// Run: a run that has ended, in whatever way.
	Run event.RunID `json:"run"`
	// Prompt: what to do now; absent means go on.
	Prompt string `json:"prompt,omitzero"`
}

// SessionInfo is a session as a list shows it.
type SessionInfo struct {
	// ID: the session's id.
	ID event.SessionID `json:"id"`
	// Title: a name for people, in one line.
	Title string `json:"title"`
	// Folders: the workspace folders that it works on.
	Folders []uri.URI `json:"folders"`
	// Created: when it was created.
	Created time.Time `json:"created"`
	// Updated: when its last event happened.
	Updated time.Time `json:"updated"`
	// Status: the status of its latest root run.
	Status event.Status `json:"status"`
	// Runs: how many runs it has, children included.
	Runs int `json:"runs" min:"0"`
	// OpenHunks: how many proposed hunks wait for the user.
	OpenHunks int `json:"openHunks" min:"0"`
	// Usage: what all its runs cost.
	Usage event.Usage `json:"usage"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v SessionInfo) MarshalJSON() ([]byte, error) {
	type plain SessionInfo
	if v.Folders == nil {
		v.Folders = []uri.URI{}
	}
	return json.Marshal(plain(v))
}

// RunInfo is a run as a tree shows it.
type RunInfo struct {
	// ID: the run's id.
	ID event.RunID `json:"id"`
	// Session: its session.
	Session event.SessionID `json:"session"`
	// Parent: the run that started it; absent for a root.
	Parent event.RunID `json:"parent,omitzero"`
	// Agent: the slug of the agent.
	Agent string `json:"agent"`
	// Role: what the agent works as, as in RunCreated.
	Role string `json:"role"`
	// Depth: 0 for a root.
	Depth int `json:"depth" min:"0"`
	// Title: a name for people, in one line.
	Title string `json:"title"`
	// Model: the model, as `provider/model`.
	Model string `json:"model"`
	// Status: its status.
	Status event.Status `json:"status"`
	// Reason: why it has this status.
	Reason string `json:"reason,omitzero"`
	// Created: when it was created.
	Created time.Time `json:"created"`
	// Finished: when it ended; absent while it has not.
	Finished time.Time `json:"finished,omitzero"`
	// Turns: how many requests went to the model.
	Turns int `json:"turns" min:"0"`
	// BudgetUsed: the largest used share of any of its limits, in percent, 0 to 100.
	BudgetUsed int `json:"budgetUsed" min:"0"`
	// Message: what it is doing, in one line.
	Message string `json:"message"`
	// Usage: what it has cost so far.
	Usage event.Usage `json:"usage"`
	// URI: the document that it was launched on, where there was one.
	URI uri.URI `json:"uri,omitzero"`
}

// SessionsParams are the params of `agent/sessions`.
type SessionsParams struct {
	// Folder: only sessions on this workspace folder.
	Folder uri.URI `json:"folder,omitzero"`
	// Limit: at most so many; absent and 0 mean 100.
	Limit int `json:"limit,omitzero" min:"0"`
	// Before: only sessions behind this one in the list: the last of the page before.
	Before event.SessionID `json:"before,omitzero"`
}

// SessionList is the result of `agent/sessions`.
type SessionList struct {
	// Sessions: the sessions, the latest updated first.
	Sessions []SessionInfo `json:"sessions"`
	// More: whether there are more behind the last.
	More bool `json:"more"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v SessionList) MarshalJSON() ([]byte, error) {
	type plain SessionList
	if v.Sessions == nil {
		v.Sessions = []SessionInfo{}
	}
	return json.Marshal(plain(v))
}

// SessionParams: names a session.
type SessionParams struct {
	// Session: the session.
	Session event.SessionID `json:"session"`
}

// SessionDetail is a session with its tree of runs.
type SessionDetail struct {
	// ID: the session's id.
	ID event.SessionID `json:"id"`
	// Title: a name for people, in one line.
	Title string `json:"title"`
	// Folders: the workspace folders that it works on.
	Folders []uri.URI `json:"folders"`
	// Created: when it was created.
	Created time.Time `json:"created"`
	// Updated: when its last event happened.
	Updated time.Time `json:"updated"`
	// Status: the status of its latest root run.
	Status event.Status `json:"status"`
	// Runs: how many runs it has, children included.
	Runs int `json:"runs" min:"0"`
	// OpenHunks: how many proposed hunks wait for the user.
	OpenHunks int `json:"openHunks" min:"0"`
	// Usage: what all its runs cost.
	Usage event.Usage `json:"usage"`
	// Tree: the runs, each behind its parent, in order of creation.
	Tree []RunInfo `json:"tree"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v SessionDetail) MarshalJSON() ([]byte, error) {
	type plain SessionDetail
	if v.Folders == nil {
		v.Folders = []uri.URI{}
	}
	if v.Tree == nil {
		v.Tree = []RunInfo{}
	}
	return json.Marshal(plain(v))
}

// ExportSessionParams are the params of `agent/session/export`.
type ExportSessionParams struct {
	// Session: the session.
	Session event.SessionID `json:"session"`
	// Format: how; absent means `jsonl`.
	Format ExportFormat `json:"format,omitzero"`
}

// SessionExport is the result of `agent/session/export`.
type SessionExport struct {
	// Format: how the text is written.
	Format ExportFormat `json:"format"`
	// Text: the whole session. Secrets are taken out.
	Text string `json:"text"`
}

// ForkSessionParams are the params of `agent/session/fork`.
type ForkSessionParams struct {
	// Session: the session to copy.
	Session event.SessionID `json:"session"`
	// Message: the last message that the copy has; absent means all.
	Message event.MessageID `json:"message,omitzero"`
}

// SessionForked is the result of `agent/session/fork`.
type SessionForked struct {
	// Session: the copy.
	Session event.SessionID `json:"session"`
}

// TranscriptParams are the params of `agent/transcript`.
type TranscriptParams struct {
	// Run: the run.
	Run event.RunID `json:"run"`
	// After: only messages behind this one.
	After event.MessageID `json:"after,omitzero"`
	// Limit: at most so many; absent and 0 mean 200.
	Limit int `json:"limit,omitzero" min:"0"`
}

// TranscriptCall is a tool call in a transcript.
type TranscriptCall struct {
	// Call: the call's id.
	Call event.CallID `json:"call"`
	// Tool: the tool's canonical name.
	Tool string `json:"tool"`
	// Arguments: the arguments as the model sent them: JSON, if it kept to it.
	Arguments string `json:"arguments"`
	// Status: how it ended; absent while it has not.
	Status event.CallStatus `json:"status,omitzero"`
	// Output: what the model was told.
	Output string `json:"output,omitzero"`
	// DurationMs: how long it took.
	DurationMs int64 `json:"durationMs,omitzero" min:"0"`
	// Child: the run that the call started.
	Child event.RunID `json:"child,omitzero"`
}

// TranscriptMessage is one message of a transcript.
type TranscriptMessage struct {
	// ID: the message's id.
	ID event.MessageID `json:"id"`
	// Parent: the message that it follows; absent for the first.
	Parent event.MessageID `json:"parent,omitzero"`
	// Run: the run that it belongs to.
	Run event.RunID `json:"run"`
	// Role: who speaks.
	Role string `json:"role"`
	// Time: when it was stored.
	Time time.Time `json:"time"`
	// Text: its text, in Markdown.
	Text string `json:"text"`
	// Reasoning: the model's reasoning.
	Reasoning string `json:"reasoning,omitzero"`
	// Calls: the tool calls that it makes.
	Calls []TranscriptCall `json:"calls,omitzero"`
}

// Transcript is the result of `agent/transcript`.
type Transcript struct {
	// Messages: the messages in order.
	Messages []TranscriptMessage `json:"messages"`
	// More: whether there are more behind the last.
	More bool `json:"more"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v Transcript) MarshalJSON() ([]byte, error) {
	type plain Transcript
	if v.Messages == nil {
		v.Messages = []TranscriptMessage{}
	}
	return json.Marshal(plain(v))
}

// SubscribeParams are the params of `agent/subscribe`.
type SubscribeParams struct {
	// Session: the session; absent means all sessions of this connection's workspace, also those to come.
	Session event.SessionID `json:"session,omitzero"`
	// Since: the number of the last event that the client has of the session. Only with `session`.
	Since *uint64 `json:"since,omitzero"`
}

// SessionSnapshot is a session at one moment.
type SessionSnapshot struct {
	// Session: the session.
	Session SessionInfo `json:"session"`
	// Seq: the number of the last event that is in the snapshot.
	Seq uint64 `json:"seq"`
	// Tree: the runs, each behind its parent, in order of creation.
	Tree []RunInfo `json:"tree"`
	// Findings: the findings that hold.
	Findings []event.Finding `json:"findings"`
	// Proposals: the proposals that are not closed.
	Proposals []Proposal `json:"proposals"`
	// Asks: the questions that are open.
	Asks []Ask `json:"asks"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v SessionSnapshot) MarshalJSON() ([]byte, error) {
	type plain SessionSnapshot
	if v.Tree == nil {
		v.Tree = []RunInfo{}
	}
	if v.Findings == nil {
		v.Findings = []event.Finding{}
	}
	if v.Proposals == nil {
		v.Proposals = []Proposal{}
	}
	if v.Asks == nil {
		v.Asks = []Ask{}
	}
	return json.Marshal(plain(v))
}

// SubscribeResult is the result of `agent/subscribe`. Without `since`, events behind each snapshot's
// `seq` follow. With it, events behind `since` follow, unless `reset` is true.
type SubscribeResult struct {
	// Reset: the events since `since` are no longer all there: drop what you have and start from the
	// snapshot. Events behind its `seq` follow.
	Reset bool `json:"reset,omitzero"`
	// Sessions: the snapshots.
	Sessions []SessionSnapshot `json:"sessions"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v SubscribeResult) MarshalJSON() ([]byte, error) {
	type plain SubscribeResult
	if v.Sessions == nil {
		v.Sessions = []SessionSnapshot{}
	}
	return json.Marshal(plain(v))
}

// Hunk is one piece of a proposed edit.
type Hunk struct {
	// ID: the hunk's id.
	ID event.HunkID `json:"id"`
	// State: its state.
	State event.ProposalState `json:"state"`
	// Range: the lines of the document as the editor shows it that the hunk replaces, in the negotiated
	// position encoding.
	Range protocol.Range `json:"range"`
	// Before: the text in the range, line ends as they are in the document.
	Before string `json:"before"`
	// After: the text to put there.
	After string `json:"after"`
	// Reason: why, in a sentence; may be empty.
	Reason string `json:"reason"`
}

// ProposalFile is the hunks of one file.
type ProposalFile struct {
	// URI: the document.
	URI uri.URI `json:"uri"`
	// State: `conflict` if a hunk is in conflict, else `open` if a hunk is open, else how the last was
	// closed.
	State event.ProposalState `json:"state"`
	// Change: what happens to the file; absent means `modified`.
	Change FileChange `json:"change,omitzero"`
	// Version: the version of the open document that the ranges are for; absent where it is not open.
	Version *int `json:"version,omitzero"`
	// Hunks: the hunks in the order of the text.
	Hunks []Hunk `json:"hunks"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ProposalFile) MarshalJSON() ([]byte, error) {
	type plain ProposalFile
	if v.Hunks == nil {
		v.Hunks = []Hunk{}
	}
	return json.Marshal(plain(v))
}

// Proposal is the difference between what the editor shows and what the agents of a session propose.
type Proposal struct {
	// ID: the proposal's id.
	ID event.ProposalID `json:"id"`
	// Session: its session.
	Session event.SessionID `json:"session"`
	// Run: the run that proposed last.
	Run event.RunID `json:"run"`
	// Agent: the slug of that run's agent.
	Agent string `json:"agent"`
	// Title: what it is for, in one line.
	Title string `json:"title"`
	// State: its state as a whole.
	State event.ProposalState `json:"state"`
	// Files: the files, sorted by URI.
	Files []ProposalFile `json:"files"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v Proposal) MarshalJSON() ([]byte, error) {
	type plain Proposal
	if v.Files == nil {
		v.Files = []ProposalFile{}
	}
	return json.Marshal(plain(v))
}

// ProposalsParams are the params of `agent/proposals`.
type ProposalsParams struct {
	// Session: only of this session; absent means all of this connection's workspace.
	Session event.SessionID `json:"session,omitzero"`
}

// ProposalList is the result of `agent/proposals`.
type ProposalList struct {
	// Proposals: the proposals, the oldest first; closed ones are not among them.
	Proposals []Proposal `json:"proposals"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ProposalList) MarshalJSON() ([]byte, error) {
	type plain ProposalList
	if v.Proposals == nil {
		v.Proposals = []Proposal{}
	}
	return json.Marshal(plain(v))
}

// ProposalParams: chooses hunks of a proposal. Without `files` and `hunks` it means everything open;
// with both, the hunks of either.
type ProposalParams struct {
	// Proposal: the proposal.
	Proposal event.ProposalID `json:"proposal"`
	// Files: all open hunks of these documents.
	Files []uri.URI `json:"files,omitzero"`
	// Hunks: these hunks.
	Hunks []event.HunkID `json:"hunks,omitzero"`
}

// HunkFailure is a hunk that could not be taken.
type HunkFailure struct {
	// Hunk: the hunk.
	Hunk event.HunkID `json:"hunk"`
	// Reason: why, and what to do.
	Reason string `json:"reason"`
}

// AcceptResult is the result of `agent/proposal/accept` and `agent/undo`.
type AcceptResult struct {
	// Applied: the hunks that the editor has applied.
	Applied []event.HunkID `json:"applied"`
	// Failed: the hunks that stay open, and why.
	Failed []HunkFailure `json:"failed"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v AcceptResult) MarshalJSON() ([]byte, error) {
	type plain AcceptResult
	if v.Applied == nil {
		v.Applied = []event.HunkID{}
	}
	if v.Failed == nil {
		v.Failed = []HunkFailure{}
	}
	return json.Marshal(plain(v))
}

// RejectResult is the result of `agent/proposal/reject`.
type RejectResult struct {
	// Rejected: the hunks that are gone.
	Rejected []event.HunkID `json:"rejected"`
	// Failed: the hunks that could not be rejected, and why.
	Failed []HunkFailure `json:"failed"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v RejectResult) MarshalJSON() ([]byte, error) {
	type plain RejectResult
	if v.Rejected == nil {
		v.Rejected = []event.HunkID{}
	}
	if v.Failed == nil {
		v.Failed = []HunkFailure{}
	}
	return json.Marshal(plain(v))
}

// ProposalDiff is the result of `agent/proposal/diff`.
type ProposalDiff struct {
	// Diff: a unified diff, paths from the workspace root, from the document as the editor shows it to the
	// proposed text.
	Diff string `json:"diff"`
}

// UndoParams are the params of `agent/undo`.
type UndoParams struct {
	// Run: the run whose accepted edits are taken back. What the user did since is kept.
	Run event.RunID `json:"run"`
	// Hunks: only these.
	Hunks []event.HunkID `json:"hunks,omitzero"`
}

// Ask is a question for permission.
type Ask struct {
	// ID: the ask's id.
	ID event.AskID `json:"id"`
	// Session: the session.
	Session event.SessionID `json:"session"`
	// Run: the run that waits.
	Run event.RunID `json:"run"`
	// Agent: the slug of its agent.
	Agent string `json:"agent"`
	// Tool: the tool that needs the permission.
	Tool string `json:"tool"`
	// Title: what is asked for, in one line.
	Title string `json:"title"`
	// Detail: the whole call, such as the command line or the diff, as plain text.
	Detail string `json:"detail,omitzero"`
	// Always: the rule pattern that an `allow` with the scope `project` would allow from then on.
	Always string `json:"always,omitzero"`
	// Created: since when it is open.
	Created time.Time `json:"created"`
	// Expires: when it is denied if nobody answers.
	Expires time.Time `json:"expires,omitzero"`
}

// AskAnswer is the user's answer.
type AskAnswer struct {
	// Decision: what was decided.
	Decision Decision `json:"decision"`
	// Scope: how long it holds; absent means `once`.
	Scope Scope `json:"scope,omitzero"`
}

// AsksParams are the params of `agent/asks`.
type AsksParams struct {
	// Session: only of this session; absent means all of this connection's workspace.
	Session event.SessionID `json:"session,omitzero"`
}

// AskList is the result of `agent/asks`.
type AskList struct {
	// Asks: the open asks, the oldest first.
	Asks []Ask `json:"asks"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v AskList) MarshalJSON() ([]byte, error) {
	type plain AskList
	if v.Asks == nil {
		v.Asks = []Ask{}
	}
	return json.Marshal(plain(v))
}

// AnswerAskParams are the params of `agent/ask/answer`.
type AnswerAskParams struct {
	// Ask: the ask.
	Ask event.AskID `json:"ask"`
	// Decision: what was decided.
	Decision Decision `json:"decision"`
	// Scope: how long it holds; absent means `once`.
	Scope Scope `json:"scope,omitzero"`
}

// Grant is a remembered permission.
type Grant struct {
	// ID: the grant's id.
	ID GrantID `json:"id"`
	// Tool: the tool's canonical name.
	Tool string `json:"tool"`
	// Pattern: the calls that it is for.
	Pattern string `json:"pattern"`
	// Decision: what was decided.
	Decision Decision `json:"decision"`
	// Scope: how long it holds.
	Scope Scope `json:"scope"`
	// Session: where the scope is `session` or `run`.
	Session event.SessionID `json:"session,omitzero"`
	// Run: where the scope is `run`.
	Run event.RunID `json:"run,omitzero"`
	// Created: when it was given.
	Created time.Time `json:"created"`
}

// GrantsParams are the params of `agent/grants`.
type GrantsParams struct {
	// Session: only those that bind this session; absent means all of this connection's workspace.
	Session event.SessionID `json:"session,omitzero"`
}

// GrantList is the result of `agent/grants`.
type GrantList struct {
	// Grants: the grants, the latest first.
	Grants []Grant `json:"grants"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v GrantList) MarshalJSON() ([]byte, error) {
	type plain GrantList
	if v.Grants == nil {
		v.Grants = []Grant{}
	}
	return json.Marshal(plain(v))
}

// RevokeParams are the params of `agent/revoke`.
type RevokeParams struct {
	// Grant: the grant to take back.
	Grant GrantID `json:"grant"`
}

// ExplainParams are the params of `agent/explain`: a call to decide on, without making it.
type ExplainParams struct {
	// Tool: the tool's name.
	Tool string `json:"tool"`
	// Call: what rules are matched with: the command line for `bash`, a path from the workspace root for
	// files, a URL for the network.
	Call string `json:"call"`
	// Agent: the agent that would make the call; absent means the default agent.
	Agent string `json:"agent,omitzero"`
	// Run: the run that would make it, whose parents bind it too.
	Run event.RunID `json:"run,omitzero"`
}

// Explanation is the result of `agent/explain`.
type Explanation struct {
	// Action: what would happen.
	Action RuleAction `json:"action"`
	// Rule: the rule that decides; absent where none matches and the default does.
	Rule *PermissionRule `json:"rule,omitzero"`
	// Reason: the decision in words.
	Reason string `json:"reason"`
	// Always: the rule pattern that an "always" would allow.
	Always string `json:"always,omitzero"`
}

// NoParams: no members.
type NoParams struct {
}

// ModelInfo is a model that can be chosen.
type ModelInfo struct {
	// Name: `provider/model`, or the name of a preset.
	Name string `json:"name"`
	// Title: a name for people.
	Title string `json:"title,omitzero"`
	// ContextTokens: the size of its context; absent where it is not known.
	ContextTokens int64 `json:"contextTokens,omitzero" min:"0"`
	// Available: whether a run could use it now.
	Available bool `json:"available"`
	// Reason: why not, and what to do, such as which key is missing.
	Reason string `json:"reason,omitzero"`
}

// ModelList is the result of `agent/models`.
type ModelList struct {
	// Models: the models, available ones first.
	Models []ModelInfo `json:"models"`
	// Default: the model that a run takes where nothing names one.
	Default string `json:"default"`
	// Reason: why that one.
	Reason string `json:"reason"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ModelList) MarshalJSON() ([]byte, error) {
	type plain ModelList
	if v.Models == nil {
		v.Models = []ModelInfo{}
	}
	return json.Marshal(plain(v))
}

// UsageParams are the params of `agent/usage`.
type UsageParams struct {
	// By: what to sum up by; absent means `session`.
	By UsageGroup `json:"by,omitzero"`
	// Session: only this session.
	Session event.SessionID `json:"session,omitzero"`
	// Run: only this run and its children.
	Run event.RunID `json:"run,omitzero"`
	// Since: only runs created at or after this time.
	Since time.Time `json:"since,omitzero"`
}

// UsageRow is the usage of one group.
type UsageRow struct {
	// Key: the run, agent, model, session or day (`2026-01-02`).
	Key string `json:"key"`
	// Runs: how many runs.
	Runs int `json:"runs" min:"0"`
	// Turns: how many requests to models.
	Turns int `json:"turns" min:"0"`
	// DurationMs: the time of the runs together.
	DurationMs int64 `json:"durationMs" min:"0"`
	// Usage: what they cost.
	Usage event.Usage `json:"usage"`
}

// UsageReport is the result of `agent/usage`.
type UsageReport struct {
	// Rows: the groups, the most expensive first; days in order.
	Rows []UsageRow `json:"rows"`
	// Total: all together; its key is empty.
	Total UsageRow `json:"total"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v UsageReport) MarshalJSON() ([]byte, error) {
	type plain UsageReport
	if v.Rows == nil {
		v.Rows = []UsageRow{}
	}
	return json.Marshal(plain(v))
}

// SkillInfo is a skill.
type SkillInfo struct {
	// Name: its name.
	Name string `json:"name"`
	// Description: when to use it.
	Description string `json:"description"`
	// URI: its SKILL.md.
	URI uri.URI `json:"uri"`
	// Layer: where it comes from.
	Layer Layer `json:"layer"`
}

// SkillsParams are the params of `agent/skills`.
type SkillsParams struct {
	// Folder: the workspace folder whose skills count too; absent means all folders.
	Folder uri.URI `json:"folder,omitzero"`
}

// SkillList is the result of `agent/skills`.
type SkillList struct {
	// Skills: the skills, by name.
	Skills []SkillInfo `json:"skills"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v SkillList) MarshalJSON() ([]byte, error) {
	type plain SkillList
	if v.Skills == nil {
		v.Skills = []SkillInfo{}
	}
	return json.Marshal(plain(v))
}

// MCPServer is an MCP server.
type MCPServer struct {
	// Name: its name.
	Name string `json:"name"`
	// Layer: where it comes from.
	Layer Layer `json:"layer"`
	// State: its state.
	State MCPState `json:"state"`
	// Error: why it failed.
	Error *event.Failure `json:"error,omitzero"`
	// Tools: names of its tools, as agents call them.
	Tools []string `json:"tools"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v MCPServer) MarshalJSON() ([]byte, error) {
	type plain MCPServer
	if v.Tools == nil {
		v.Tools = []string{}
	}
	return json.Marshal(plain(v))
}

// MCPList is the result of `agent/mcp`.
type MCPList struct {
	// Servers: the servers, by name.
	Servers []MCPServer `json:"servers"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v MCPList) MarshalJSON() ([]byte, error) {
	type plain MCPList
	if v.Servers == nil {
		v.Servers = []MCPServer{}
	}
	return json.Marshal(plain(v))
}

// TrustParams are the params of `agent/trust`.
type TrustParams struct {
	// Folder: a workspace folder.
	Folder uri.URI `json:"folder"`
	// Change: trust what the folder holds now, or trust it no longer; absent only asks.
	Change string `json:"change,omitzero"`
}

// TrustedItem is something in a folder that acts once the folder is trusted.
type TrustedItem struct {
	// URI: the file.
	URI uri.URI `json:"uri"`
	// Kind: `agent`, `hook`, `mcp`, `config` or `skill`.
	Kind string `json:"kind"`
	// Description: what it does, in one line.
	Description string `json:"description"`
}

// TrustResult is the result of `agent/trust`.
type TrustResult struct {
	// Folder: the folder.
	Folder uri.URI `json:"folder"`
	// Trusted: whether it is trusted now. A change of what acts ends the trust.
	Trusted bool `json:"trusted"`
	// Items: what acts, or would.
	Items []TrustedItem `json:"items"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v TrustResult) MarshalJSON() ([]byte, error) {
	type plain TrustResult
	if v.Items == nil {
		v.Items = []TrustedItem{}
	}
	return json.Marshal(plain(v))
}

// Choice is one answer to choose.
type Choice struct {
	// Label: what is shown, and sent back.
	Label string `json:"label"`
	// Description: what it means.
	Description string `json:"description,omitzero"`
}

// Question is a question of an agent to the user.
type Question struct {
	// ID: the question's id.
	ID event.AskID `json:"id"`
	// Session: the session.
	Session event.SessionID `json:"session"`
	// Run: the run that waits.
	Run event.RunID `json:"run"`
	// Agent: the slug of its agent.
	Agent string `json:"agent"`
	// Question: what is asked.
	Question string `json:"question"`
	// Choices: the answers to choose from; absent means free text only.
	Choices []Choice `json:"choices,omitzero"`
	// Multiple: whether several may be chosen.
	Multiple bool `json:"multiple,omitzero"`
	// FreeText: whether other text may be given beside the choices.
	FreeText bool `json:"freeText,omitzero"`
}

// QuestionAnswer is the user's answer.
type QuestionAnswer struct {
	// Answers: the labels that were chosen, or the text.
	Answers []string `json:"answers"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v QuestionAnswer) MarshalJSON() ([]byte, error) {
	type plain QuestionAnswer
	if v.Answers == nil {
		v.Answers = []string{}
	}
	return json.Marshal(plain(v))
}

// ModelPart is a part of a message to or from a model. Its kind says which members it has.
type ModelPart struct {
	// Kind: `text` and `reasoning` have `text`; `call` has `id`, `name` and `arguments`; `result` has
	// `id`, `name`, `text` and `error`.
	Kind string `json:"kind"`
	// Text: the text.
	Text string `json:"text,omitzero"`
	// ID: the model's own id of the tool call.
	ID string `json:"id,omitzero"`
	// Name: the tool.
	Name string `json:"name,omitzero"`
	// Arguments: the arguments of the call.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	// Error: whether the call failed.
	Error bool `json:"error,omitzero"`
}

// ModelMessage is a message to or from a model.
type ModelMessage struct {
	// Role: who speaks.
	Role string `json:"role"`
	// Parts: what is said, in order.
	Parts []ModelPart `json:"parts"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ModelMessage) MarshalJSON() ([]byte, error) {
	type plain ModelMessage
	if v.Parts == nil {
		v.Parts = []ModelPart{}
	}
	return json.Marshal(plain(v))
}

// ModelTool is a tool that is offered to a model.
type ModelTool struct {
	// Name: its name.
	Name string `json:"name"`
	// Description: what it does.
	Description string `json:"description"`
	// Schema: the schema of its arguments.
	Schema json.RawMessage `json:"schema"`
}

// GenerateParams are the params of `agent/model/generate`: one turn of the editor's own language model.
type GenerateParams struct {
	// Run: the run that asks.
	Run event.RunID `json:"run"`
	// Model: which of the editor's models; absent means its choice.
	Model string `json:"model,omitzero"`
	// System: the system prompt.
	System string `json:"system"`
	// Messages: the conversation.
	Messages []ModelMessage `json:"messages"`
	// Tools: the tools on offer.
	Tools []ModelTool `json:"tools"`
	// MaxTokens: the limit of the answer; absent and 0 mean the model's own.
	MaxTokens int64 `json:"maxTokens,omitzero" min:"0"`
	// Temperature: absent means the model's own.
	Temperature *float64 `json:"temperature,omitzero"`
	// PartialResultToken: where to send pieces of the answer with `$/progress` while it is written, each a
	// ModelPart of the kind `text` or `reasoning`.
	PartialResultToken protocol.ProgressToken `json:"partialResultToken,omitzero"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v GenerateParams) MarshalJSON() ([]byte, error) {
	type plain GenerateParams
	if v.Messages == nil {
		v.Messages = []ModelMessage{}
	}
	if v.Tools == nil {
		v.Tools = []ModelTool{}
	}
	return json.Marshal(plain(v))
}

// GenerateResult is the result of `agent/model/generate`.
type GenerateResult struct {
	// Message: the whole answer, also where pieces were sent before.
	Message ModelMessage `json:"message"`
	// Stop: why the model stopped.
	Stop string `json:"stop"`
	// Usage: what it cost, where that is known.
	Usage *event.Usage `json:"usage,omitzero"`
}

// EditorDiagnosticsParams are the params of `agent/diagnostics`.
type EditorDiagnosticsParams struct {
	// URI: the document; absent means all that the editor knows of.
	URI uri.URI `json:"uri,omitzero"`
}

// EditorDiagnostic is a diagnostic that the editor shows, whoever made it.
type EditorDiagnostic struct {
	// Range: the place.
	Range protocol.Range `json:"range"`
	// Severity: how grave it is.
	Severity event.Severity `json:"severity"`
	// Message: the text.
	Message string `json:"message"`
	// Source: who made it.
	Source string `json:"source,omitzero"`
	// Code: its code.
	Code string `json:"code,omitzero"`
}

// DocumentDiagnostics is the diagnostics of one document.
type DocumentDiagnostics struct {
	// URI: the document.
	URI uri.URI `json:"uri"`
	// Version: the version that they are for, where it is known.
	Version *int `json:"version,omitzero"`
	// Diagnostics: the diagnostics, without those of agentls.
	Diagnostics []EditorDiagnostic `json:"diagnostics"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v DocumentDiagnostics) MarshalJSON() ([]byte, error) {
	type plain DocumentDiagnostics
	if v.Diagnostics == nil {
		v.Diagnostics = []EditorDiagnostic{}
	}
	return json.Marshal(plain(v))
}

// EditorDiagnostics is the result of `agent/diagnostics`.
type EditorDiagnostics struct {
	// Documents: the documents that have any.
	Documents []DocumentDiagnostics `json:"documents"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v EditorDiagnostics) MarshalJSON() ([]byte, error) {
	type plain EditorDiagnostics
	if v.Documents == nil {
		v.Documents = []DocumentDiagnostics{}
	}
	return json.Marshal(plain(v))
}

// SymbolsParams are the params of `agent/symbols`.
type SymbolsParams struct {
	// Query: what is asked.
	Query SymbolQuery `json:"query"`
	// URI: the document, for all but `workspace`.
	URI uri.URI `json:"uri,omitzero"`
	// Position: the place, for `definition` and `references`.
	Position *protocol.Position `json:"position,omitzero"`
	// Name: what the name has to match, for `workspace`.
	Name string `json:"name,omitzero"`
}

// EditorSymbol is a symbol or a place.
type EditorSymbol struct {
	// URI: the document.
	URI uri.URI `json:"uri"`
	// Range: the place.
	Range protocol.Range `json:"range"`
	// Name: the symbol's name, where it is known.
	Name string `json:"name,omitzero"`
	// Kind: LSP's SymbolKind in lower case, such as `function`.
	Kind string `json:"kind,omitzero"`
	// Container: the name of what it is in.
	Container string `json:"container,omitzero"`
}

// EditorSymbols is the result of `agent/symbols`.
type EditorSymbols struct {
	// Symbols: what was found.
	Symbols []EditorSymbol `json:"symbols"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v EditorSymbols) MarshalJSON() ([]byte, error) {
	type plain EditorSymbols
	if v.Symbols == nil {
		v.Symbols = []EditorSymbol{}
	}
	return json.Marshal(plain(v))
}

// StatusParams are the params of `agent/status`.
type StatusParams struct {
	// Health: how the server is.
	Health Health `json:"health"`
	// Quiescent: whether nothing runs.
	Quiescent bool `json:"quiescent"`
	// Message: what there is to say about it, in Markdown.
	Message string `json:"message,omitzero"`
	// Statusline: the line for the editor's status bar, as plain text.
	Statusline string `json:"statusline,omitzero"`
}

// ReviewParams is the argument of the command `agentls.review`.
type ReviewParams struct {
	// URI: the document.
	URI uri.URI `json:"uri,omitzero"`
	// Range: only this part of it.
	Range *protocol.Range `json:"range,omitzero"`
	// URIs: several documents, each reviewed by a child of its own.
	URIs []uri.URI `json:"uris,omitzero"`
	// Prompt: what to look at in particular.
	Prompt string `json:"prompt,omitzero"`
	// Model: the model for this run, as `provider/model` or the name of a preset.
	Model string `json:"model,omitzero"`
}

// ExplainCodeParams is the argument of the command `agentls.explain`.
type ExplainCodeParams struct {
	// URI: the document.
	URI uri.URI `json:"uri"`
	// Range: only this part of it.
	Range *protocol.Range `json:"range,omitzero"`
}

// FixParams is the argument of the command `agentls.fix`.
type FixParams struct {
	// Finding: the finding to fix.
	Finding event.FindingID `json:"finding"`
}
