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

// PromptSource: whose format a prompt is in.
type PromptSource string

// The values of [PromptSource]. Others may come from a newer peer; they are kept as they are.
const (
	// agentls's own: `.agentls/prompts`, or `prompts` in the user's folder of its configuration.
	PromptSourceNative PromptSource = "agentls"
	// Claude Code's: `.claude/commands`.
	PromptSourceClaude PromptSource = "claude"
	// OpenCode's: `.opencode/command` or `.opencode/commands`.
	PromptSourceOpenCode PromptSource = "opencode"
	// VS Code's: `.github/prompts/*.prompt.md`.
	PromptSourceGitHub PromptSource = "github"
	// A skill, called by the user.
	PromptSourceSkill PromptSource = "skill"
)

// PromptPartKind is what a part of a prompt is.
type PromptPartKind string

// The values of [PromptPartKind]. Others may come from a newer peer; they are kept as they are.
const (
	// The words themselves, with the arguments in their places.
	PromptPartKindText PromptPartKind = "text"
	// A file, or lines of it.
	PromptPartKindFile PromptPartKind = "file"
	// What is in a folder.
	PromptPartKindFolder PromptPartKind = "folder"
	// The uncommitted changes.
	PromptPartKindDiff PromptPartKind = "diff"
	// What is known to be wrong.
	PromptPartKindDiagnostics PromptPartKind = "diagnostics"
	// What defines a name.
	PromptPartKindSymbol PromptPartKind = "symbol"
	// An image.
	PromptPartKindImage PromptPartKind = "image"
	// A command that the run would begin with.
	PromptPartKindCommand PromptPartKind = "command"
)

// ChangeKind: which changes of a repository are meant.
type ChangeKind string

// The values of [ChangeKind]. Others may come from a newer peer; they are kept as they are.
const (
	// What the editor shows and the last commit has not: staged or not, saved or not, and files that
	// nobody has added.
	ChangeKindUncommitted ChangeKind = "uncommitted"
	// What the next commit would bring.
	ChangeKindStaged ChangeKind = "staged"
	// What the editor shows and the last commit in common with `revision` has not.
	ChangeKindBase ChangeKind = "base"
	// What the commit `revision` brings, against its first parent.
	ChangeKindCommit ChangeKind = "commit"
)

// ErrorKind is what kind of error a request ended with (`data.kind`).
type ErrorKind string

// The values of [ErrorKind]. Others may come from a newer peer; they are kept as they are.
const (
	// The params do not have the documented form; the detail names the member.
	KindInvalidParams ErrorKind = "invalid_params"
	// There is no request of that name.
	KindMethodNotFound ErrorKind = "method_not_found"
	// The request may not be sent, or not now, such as after `shutdown`.
	KindInvalidRequest ErrorKind = "invalid_request"
	// The request came before `initialize`.
	KindNotInitialized ErrorKind = "not_initialized"
	// What was asked about has changed meanwhile.
	KindContentModified ErrorKind = "content_modified"
	// It could not be done, for another reason.
	KindFailed ErrorKind = "failed"
	// There is no agent, run, session, proposal, hunk, ask or grant of that name.
	KindNotFound ErrorKind = "not_found"
	// The agent exists but its definition has errors.
	KindInvalidDefinition ErrorKind = "invalid_definition"
	// A rule, a limit, missing trust, or the state that the run is in forbids it.
	KindNotAllowed ErrorKind = "not_allowed"
	// No model can be used for it.
	KindNoModel ErrorKind = "no_model"
	// Another living process works with it.
	KindInUse ErrorKind = "in_use"
	// The client did not announce what this needs.
	KindUnsupported ErrorKind = "unsupported"
	// The request was cancelled by the client.
	KindCancelled ErrorKind = "cancelled"
	// The user closed the question that had to be answered first.
	KindDismissed ErrorKind = "dismissed"
	// The server is about to end and starts nothing new.
	KindShuttingDown ErrorKind = "shutting_down"
	// A fault in agentls itself; its log says more.
	KindInternal ErrorKind = "internal"
)

// AgentCategory is where an agent can be used.
type AgentCategory string

// The values of [AgentCategory]. Others may come from a newer peer; they are kept as they are.
const (
	// A user can start it.
	CategoryPrimary AgentCategory = "primary"
	// Other agents can delegate to it.
	CategorySubagent AgentCategory = "subagent"
	// The engine uses it; it is never listed.
	CategoryHidden AgentCategory = "hidden"
)

// ExecutionMode is how an agent works.
type ExecutionMode string

// The values of [ExecutionMode]. Others may come from a newer peer; they are kept as they are.
const (
	// A loop of model turns and tool calls.
	ModeAgentic ExecutionMode = "agentic"
	// One answer, no tools.
	ModeSingleShot ExecutionMode = "single_shot"
	// A chat, shown as it is written.
	ModeStreaming ExecutionMode = "streaming"
	// Read-only tools; the product is a plan file.
	ModePlanning ExecutionMode = "planning"
)

// Effort is how much a model thinks before it answers.
type Effort string

// The values of [Effort]. Others may come from a newer peer; they are kept as they are.
const (
	// Little: fast and cheap.
	EffortLow Effort = "low"
	// Between the two.
	EffortMedium Effort = "medium"
	// Much.
	EffortHigh Effort = "high"
)

// PermissionMode is how much a run asks. No mode lifts a deny, and none is wider than the parent's.
type PermissionMode string

// The values of [PermissionMode]. Others may come from a newer peer; they are kept as they are.
const (
	// As the rules say.
	PermissionModeDefault PermissionMode = "default"
	// Nothing is changed.
	PermissionModePlan PermissionMode = "plan"
	// Proposals are applied without review.
	PermissionModeAcceptEdits PermissionMode = "accept_edits"
	// Nothing is asked.
	PermissionModeBypass PermissionMode = "bypass"
)

// ContextMode is what a child gets of its parent's conversation.
type ContextMode string

// The values of [ContextMode]. Others may come from a newer peer; they are kept as they are.
const (
	// Nothing but the task.
	ContextModeNone ContextMode = "none"
	// All of it.
	ContextModeFull ContextMode = "full"
	// A summary.
	ContextModeSummary ContextMode = "summary"
	// Named files and the last messages.
	ContextModeSelective ContextMode = "selective"
)

// Layer is where a definition, skill or rule comes from. A later one wins.
type Layer string

// The values of [Layer]. Others may come from a newer peer; they are kept as they are.
const (
	// Part of agentls.
	LayerBuiltin Layer = "builtin"
	// A plugin folder.
	LayerPlugin Layer = "plugin"
	// The user's configuration.
	LayerUser Layer = "user"
	// The workspace folder, if it is trusted.
	LayerProject Layer = "project"
	// This session.
	LayerSession Layer = "session"
	// Registered at run time.
	LayerRuntime Layer = "runtime"
)

// RuleAction is what a rule says.
type RuleAction string

// The values of [RuleAction]. Others may come from a newer peer; they are kept as they are.
const (
	// Do it.
	ActionAllow RuleAction = "allow"
	// Ask the user.
	ActionAsk RuleAction = "ask"
	// Do not do it.
	ActionDeny RuleAction = "deny"
)

// DefinitionFormat is how the text of a definition is written.
type DefinitionFormat string

// The values of [DefinitionFormat]. Others may come from a newer peer; they are kept as they are.
const (
	// agentls's own: Markdown with YAML frontmatter.
	FormatMarkdown DefinitionFormat = "markdown"
	// A document with `[[agents]]`.
	FormatTOML DefinitionFormat = "toml"
	// A JSON object.
	FormatJSON DefinitionFormat = "json"
)

// ExportFormat is how a transcript is written out.
type ExportFormat string

// The values of [ExportFormat]. Others may come from a newer peer; they are kept as they are.
const (
	// One JSON object a line, with parent links. It can be imported.
	ExportJSONL ExportFormat = "jsonl"
	// For reading.
	ExportMarkdown ExportFormat = "markdown"
)

// FileChange is what happens to a file.
type FileChange string

// The values of [FileChange]. Others may come from a newer peer; they are kept as they are.
const (
	// Its text changes.
	FileModified FileChange = "modified"
	// It is new.
	FileCreated FileChange = "created"
	// It goes.
	FileDeleted FileChange = "deleted"
	// It goes to `newUri`; its text may change, too.
	FileRenamed FileChange = "renamed"
)

// Decision is what the user decided.
type Decision string

// The values of [Decision]. Others may come from a newer peer; they are kept as they are.
const (
	// Do it.
	DecisionAllow Decision = "allow"
	// Do not do it.
	DecisionDeny Decision = "deny"
)

// Scope is how long a decision holds.
type Scope string

// The values of [Scope]. Others may come from a newer peer; they are kept as they are.
const (
	// For this call.
	ScopeOnce Scope = "once"
	// For this run and its children.
	ScopeRun Scope = "run"
	// For this session.
	ScopeSession Scope = "session"
	// For this workspace folder, until it is revoked.
	ScopeProject Scope = "project"
)

// UsageGroup is what usage is summed up by.
type UsageGroup string

// The values of [UsageGroup]. Others may come from a newer peer; they are kept as they are.
const (
	// Each run.
	UsageGroupRun UsageGroup = "run"
	// Each agent.
	UsageGroupAgent UsageGroup = "agent"
	// Each model.
	UsageGroupModel UsageGroup = "model"
	// Each session.
	UsageGroupSession UsageGroup = "session"
	// Each set of workspace folders.
	UsageGroupProject UsageGroup = "project"
	// Each day in UTC.
	UsageGroupDay UsageGroup = "day"
)

// MCPState is the state of an MCP server.
type MCPState string

// The values of [MCPState]. Others may come from a newer peer; they are kept as they are.
const (
	// Not started yet; it starts with the first run that needs it.
	MCPStateStopped MCPState = "stopped"
	// It is being started.
	MCPStateStarting MCPState = "starting"
	// Its tools can be used.
	MCPStateReady MCPState = "ready"
	// It could not be started, or has ended.
	MCPStateFailed MCPState = "failed"
	// It comes from a folder that is not trusted.
	MCPStateUntrusted MCPState = "untrusted"
)

// SymbolQuery is what is asked of the editor's own language servers.
type SymbolQuery string

// The values of [SymbolQuery]. Others may come from a newer peer; they are kept as they are.
const (
	// Where the symbol at the position is defined.
	SymbolQueryDefinition SymbolQuery = "definition"
	// Where the symbol at the position is used.
	SymbolQueryReferences SymbolQuery = "references"
	// All symbols of the document.
	SymbolQueryDocument SymbolQuery = "document"
	// Symbols of the workspace whose name matches.
	SymbolQueryWorkspace SymbolQuery = "workspace"
)

// Health is how the server is.
type Health string

// The values of [Health]. Others may come from a newer peer; they are kept as they are.
const (
	// All is well.
	HealthOK Health = "ok"
	// It works, but not fully; the message says why.
	HealthWarning Health = "warning"
	// It does not work; the message says why and what to do.
	HealthError Health = "error"
)

// Support is what one side says under `capabilities.experimental.agentls` of `initialize`. The server
// sends no request whose member the client did not set.
type Support struct {
	// The version of this protocol that the side speaks.
	Version string `json:"version"`
	// Client: it answers `agent/ask`. Server: it can send it.
	Asks bool `json:"asks,omitzero"`
	// Client: it answers `agent/question`. Server: it can send it.
	Questions bool `json:"questions,omitzero"`
	// Client: it answers `agent/model/generate`, and may say by `agent/model/lend` which models it has.
	// Server: it can send it.
	Models bool `json:"models,omitzero"`
	// Client: it answers `agent/diagnostics`. Server: it can send it.
	Diagnostics bool `json:"diagnostics,omitzero"`
	// Client: it answers `agent/symbols`. Server: it can send it.
	Symbols bool `json:"symbols,omitzero"`
	// Client: it tells the user itself how runs have ended, as `agent/event` says, and which were
	// interrupted, by `agentls.interrupted` at its start. The server then sends no `window/showMessage` of
	// these.
	Endings bool `json:"endings,omitzero"`
}

// DefinitionSource is where a definition comes from.
type DefinitionSource struct {
	// The layer.
	Layer Layer `json:"layer"`
	// The file, where there is one.
	URI uri.URI `json:"uri,omitzero"`
}

// AgentInfo is an agent as a list shows it.
type AgentInfo struct {
	// The name that requests use: lower-case letters, digits and `-`.
	Slug string `json:"slug"`
	// The name for people.
	Title string `json:"title"`
	// When to use it.
	Description string `json:"description"`
	// Where it can be used.
	Categories []AgentCategory `json:"categories"`
	// How it works.
	Mode ExecutionMode `json:"mode"`
	// Other names that are accepted for it.
	Aliases []string `json:"aliases,omitzero"`
	// The model that it names, as `provider/model`, a preset or `inherit`; absent where it names none.
	Model string `json:"model,omitzero"`
	// One character for lists.
	Icon string `json:"icon,omitzero"`
	// A colour name or `#rrggbb`.
	Color string `json:"color,omitzero"`
	// Its place in lists, the smallest first.
	Order *int `json:"order,omitzero"`
	// Where its definition comes from.
	Source DefinitionSource `json:"source"`
	// Definitions of the same slug in earlier layers that this one hides.
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
	// The tool's canonical name, or `*`.
	Tool string `json:"tool"`
	// What the call is matched with: for `bash` words, for files a glob from the workspace root. Absent
	// matches every call.
	Pattern string `json:"pattern,omitzero"`
	// What the rule says.
	Action RuleAction `json:"action"`
	// Where the rule comes from, in words: such as `built-in planner`, `agent coder`, `user file`, or
	// `grant` and its id.
	Layer string `json:"layer,omitzero"`
}

// Limits: limits of a run. An absent limit, and 0, mean the agent's own or the configured one.
type Limits struct {
	// Turns, each an answer of the model. In the last one it only hands over; where it does not, it is
	// asked once more.
	MaxTurns int `json:"maxTurns,omitzero" min:"0"`
	// Time from creation to end.
	TimeoutMs int64 `json:"timeoutMs,omitzero" min:"0"`
	// Input and output tokens together, children included.
	MaxTokens int64 `json:"maxTokens,omitzero" min:"0"`
	// US dollars, children included.
	MaxCost *float64 `json:"maxCost,omitzero"`
}

// AgentDefinition is an agent with everything that its definition says, after all layers.
type AgentDefinition struct {
	// The name that requests use: lower-case letters, digits and `-`.
	Slug string `json:"slug"`
	// The name for people.
	Title string `json:"title"`
	// When to use it.
	Description string `json:"description"`
	// Where it can be used.
	Categories []AgentCategory `json:"categories"`
	// How it works.
	Mode ExecutionMode `json:"mode"`
	// Other names that are accepted for it.
	Aliases []string `json:"aliases,omitzero"`
	// The model that it names, as `provider/model`, a preset or `inherit`; absent where it names none.
	Model string `json:"model,omitzero"`
	// One character for lists.
	Icon string `json:"icon,omitzero"`
	// A colour name or `#rrggbb`.
	Color string `json:"color,omitzero"`
	// Its place in lists, the smallest first.
	Order *int `json:"order,omitzero"`
	// Where its definition comes from.
	Source DefinitionSource `json:"source"`
	// Definitions of the same slug in earlier layers that this one hides.
	Shadows []DefinitionSource `json:"shadows,omitzero"`
	// The system prompt, with its variables not yet replaced.
	Prompt string `json:"prompt"`
	// Canonical names of the tools that it may use.
	Tools []string `json:"tools"`
	// Canonical names of the tools that it may not use.
	DisallowedTools []string `json:"disallowedTools,omitzero"`
	// The agents that it may delegate to. Absent means all, an empty list none.
	Subagents []string `json:"subagents,omitzero"`
	// Its limits as a root.
	Limits Limits `json:"limits"`
	// Its own rules, in order.
	Permissions []PermissionRule `json:"permissions,omitzero"`
	// How much its model thinks, where that takes it.
	Effort Effort `json:"effort,omitzero"`
	// Its permission mode.
	PermissionMode PermissionMode `json:"permissionMode,omitzero"`
	// What it gets as a child.
	ContextMode ContextMode `json:"contextMode,omitzero"`
	// The critical reminder in front of its task.
	Reminder string `json:"reminder,omitzero"`
	// Skills that are loaded at its start.
	Skills []string `json:"skills,omitzero"`
	// MCP servers that it brings.
	McpServers []string `json:"mcpServers,omitzero"`
	// All that its definition says, as an object in JSON that `agent/register` and `agent/check` take with
	// the format `json`.
	Definition string `json:"definition"`
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
	// The file; absent where the text came with the request.
	URI uri.URI `json:"uri,omitzero"`
	// The place in the text.
	Range protocol.Range `json:"range"`
	// `error` where the definition cannot be used.
	Severity event.Severity `json:"severity"`
	// What is wrong.
	Message string `json:"message"`
	// What was probably meant.
	Hint string `json:"hint,omitzero"`
}

// ListAgentsParams are the params of `agent/list`.
type ListAgentsParams struct {
	// Only agents of this category.
	Category AgentCategory `json:"category,omitzero"`
}

// AgentList is the result of `agent/list`.
type AgentList struct {
	// The agents in display order. Hidden ones are never among them.
	Agents []AgentInfo `json:"agents"`
	// The slug of the agent that `agent/run` takes where none is named.
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
	// The slug or an alias.
	Agent string `json:"agent"`
}

// RegisterAgentParams are the params of `agent/register`.
type RegisterAgentParams struct {
	// The definition.
	Text string `json:"text"`
	// How it is written; absent means `markdown`.
	Format DefinitionFormat `json:"format,omitzero"`
}

// UpdateAgentParams are the params of `agent/update`.
type UpdateAgentParams struct {
	// The slug of an agent that was registered at run time.
	Agent string `json:"agent"`
	// The new definition, whole.
	Text string `json:"text"`
	// How it is written; absent means `markdown`.
	Format DefinitionFormat `json:"format,omitzero"`
}

// RegisterAgentResult is the result of `agent/register` and `agent/update`.
type RegisterAgentResult struct {
	// The agent; absent where an error was found and nothing was changed.
	Agent *AgentInfo `json:"agent,omitzero"`
	// Every error and warning at once.
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
	// The definition.
	Text string `json:"text,omitzero"`
	// How the text is written; absent means `markdown`.
	Format DefinitionFormat `json:"format,omitzero"`
	// The document to check as the editor shows it, where no text is given.
	URI uri.URI `json:"uri,omitzero"`
}

// AgentProblems is the result of `agent/check`.
type AgentProblems struct {
	// Every error and warning; empty where all is well.
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
	// The document that the run is launched on. It need not be saved.
	URI uri.URI `json:"uri,omitzero"`
	// The selection in it.
	Range *protocol.Range `json:"range,omitzero"`
	// More documents that the agent should know of.
	URIs []uri.URI `json:"uris,omitzero"`
	// Changes of the repository, unsaved text included: they are put into the prompt, and the changed
	// files into the context. Where they are large, each file gets a child of its own. The error is
	// `failed` where nothing has changed.
	Changes *ChangeScope `json:"changes,omitzero"`
}

// ChangeScope: which changes of the repository are meant that the workspace folders lie in.
type ChangeScope struct {
	// Which changes.
	Kind ChangeKind `json:"kind"`
	// The branch, tag or commit of the kinds `base` and `commit`.
	Revision string `json:"revision,omitzero"`
	// Only what lies in these files and folders.
	URIs []uri.URI `json:"uris,omitzero"`
}

// RunParams are the params of `agent/run`.
type RunParams struct {
	// The slug or an alias; absent means the default agent.
	Agent string `json:"agent,omitzero"`
	// What to do, where `@path`, `@path:10-20`, `@"a path"`, `@folder/`, `@symbol`, `@diff` and
	// `@diagnostics` bring along what they name, as it is then, and `@picture.png` the image where the
	// model takes it; what the agent may not see is refused, and what names nothing is text. `/name` and
	// arguments call a prompt of `agent/prompts` by its first word; a name that there is not is the error
	// `not_found`.
	Prompt string `json:"prompt"`
	// The session to go on with, which is open in this process; of one that has ended, `agent/resume` goes
	// on with a run. Absent means the window's own session: the one of this connection, made on its first
	// use.
	Session event.SessionID `json:"session,omitzero"`
	// The run whose conversation this prompt follows: everything said and done there is known. It has
	// ended, and its agent and mode are those of this run, too, so that `agent` and `permissionMode` are
	// absent.
	After event.RunID `json:"after,omitzero"`
	// What the editor points at.
	Context *RunContext `json:"context,omitzero"`
	// Start one child for each of these documents, in parallel.
	Each []uri.URI `json:"each,omitzero"`
	// The model for this run, as `provider/model` or the name of a preset.
	Model string `json:"model,omitzero"`
	// How much the model thinks. Absent means as the definition, the preset, or the model has it. The
	// error is `invalid_request` where the model takes none.
	Effort Effort `json:"effort,omitzero"`
	// How much it asks.
	PermissionMode PermissionMode `json:"permissionMode,omitzero"`
	// Limits that are tighter or wider than the agent's own.
	Limits *Limits `json:"limits,omitzero"`
	// A JSON Schema, draft 2020-12, of an object, in at most 16 KiB. The final answer is held to it: the
	// model is told what does not fit, twice at most, and then the run has failed with `output_mismatch`.
	// The object is in the result's `structured`. Not with `each` and `iterations`. The error is
	// `invalid_request` where the schema cannot be used, before anything is sent.
	OutputSchema json.RawMessage `json:"outputSchema,omitzero"`
	// Repeat, each time afresh with a summary of the last, until the success check passes or so many
	// passes are made. Absent, 0 and 1 mean once. A prompt that begins with `/iter N` asks for the same.
	Iterations int `json:"iterations,omitzero" min:"0"`
	// The success check of `iterations`: a command line, run after each pass on what the agent proposes,
	// with its rights. Absent means that a pass which says that the task is done, and had nothing to
	// change, is the last.
	Until string `json:"until,omitzero"`
	// `until` by the name that people are shown: a command line that says whether the prompt's task is
	// reached. Without `iterations`, up to 10 passes are made for it.
	Goal string `json:"goal,omitzero"`
}

// RunStarted is a run was created. It goes on after the answer.
type RunStarted struct {
	// Its session.
	Session event.SessionID `json:"session"`
	// Its id, for `agent/wait` and `agent/cancel`.
	Run event.RunID `json:"run"`
}

// WaitParams are the params of `agent/wait`.
type WaitParams struct {
	// The run.
	Run event.RunID `json:"run"`
	// Answer with the state of that moment after so long; absent and 0 mean wait for the end.
	TimeoutMs int64 `json:"timeoutMs,omitzero" min:"0"`
	// Where to report the run's progress while waiting. It ends with the answer, and the editor cannot
	// cancel the run by it: `agent/cancel` does.
	WorkDoneToken protocol.ProgressToken `json:"workDoneToken,omitzero"`
}

// CancelParams are the params of `agent/cancel`.
type CancelParams struct {
	// The run to stop, with everything below it.
	Run event.RunID `json:"run"`
}

// SteerParams are the params of `agent/steer`.
type SteerParams struct {
	// A run that has not ended.
	Run event.RunID `json:"run"`
	// What the agent is told at its next turn.
	Message string `json:"message"`
}

// ResumeParams are the params of `agent/resume`.
type ResumeParams struct {
	// A run that has ended, in whatever way.
	Run event.RunID `json:"run"`
	// What to do now; absent means go on.
	Prompt string `json:"prompt,omitzero"`
}

// SessionInfo is a session as a list shows it.
type SessionInfo struct {
	// The session's id.
	ID event.SessionID `json:"id"`
	// A name for people, in one line.
	Title string `json:"title"`
	// What was done in it, in a few lines; absent before a run of it has ended.
	Summary string `json:"summary,omitzero"`
	// The workspace folders that it works on.
	Folders []uri.URI `json:"folders"`
	// When it was created.
	Created time.Time `json:"created"`
	// When its last event happened.
	Updated time.Time `json:"updated"`
	// The status of its latest root run.
	Status event.Status `json:"status"`
	// How many runs it has, children included.
	Runs int `json:"runs" min:"0"`
	// How many proposed hunks wait for the user.
	OpenHunks int `json:"openHunks" min:"0"`
	// What all its runs cost.
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
	// The run's id.
	ID event.RunID `json:"id"`
	// Its session.
	Session event.SessionID `json:"session"`
	// The run that started it; absent for a root.
	Parent event.RunID `json:"parent,omitzero"`
	// The slug of the agent.
	Agent string `json:"agent"`
	// What the agent works as, as in RunCreated.
	Role string `json:"role"`
	// 0 for a root.
	Depth int `json:"depth" min:"0"`
	// A name for people, in one line.
	Title string `json:"title"`
	// The model, as `provider/model`.
	Model string `json:"model"`
	// Its status.
	Status event.Status `json:"status"`
	// Why it has this status.
	Reason string `json:"reason,omitzero"`
	// When it was created.
	Created time.Time `json:"created"`
	// When it ended; absent while it has not.
	Finished time.Time `json:"finished,omitzero"`
	// How many requests went to the model; of a run that a fork or an import copied, how many answers its
	// conversation has.
	Turns int `json:"turns" min:"0"`
	// The largest used share of any of its limits, in percent, 0 to 100.
	BudgetUsed int `json:"budgetUsed" min:"0"`
	// What it is doing, in one line.
	Message string `json:"message"`
	// What it has cost so far.
	Usage event.Usage `json:"usage"`
	// The run that it goes on with; absent for one that begins anew, and where that run was deleted.
	Resumes event.RunID `json:"resumes,omitzero"`
	// The document that it was launched on, where there was one.
	URI uri.URI `json:"uri,omitzero"`
	// Whether the run that started it does not wait for it.
	Background bool `json:"background,omitzero"`
	// The file that tells how far a run in the background is, and then what came of it; absent for others.
	OutputURI uri.URI `json:"outputUri,omitzero"`
	// How far its task is done, by its end and by what it handed over; `partial` where a limit cut it off.
	// Absent while it has not ended.
	Outcome event.ChildStatus `json:"outcome,omitzero"`
	// Once it has ended, the files that its edits changed or made: paths from the workspace root, with
	// forward slashes.
	Files []string `json:"files,omitzero"`
}

// SessionsParams are the params of `agent/sessions`.
type SessionsParams struct {
	// Only sessions on this workspace folder.
	Folder uri.URI `json:"folder,omitzero"`
	// At most so many; absent and 0 mean 100.
	Limit int `json:"limit,omitzero" min:"0"`
	// Only sessions behind this one in the list: the last of the page before.
	Before event.SessionID `json:"before,omitzero"`
}

// SessionList is the result of `agent/sessions`.
type SessionList struct {
	// The sessions, the latest updated first.
	Sessions []SessionInfo `json:"sessions"`
	// Whether there are more behind the last.
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
	// The session.
	Session event.SessionID `json:"session"`
}

// SessionDetail is a session with its tree of runs.
type SessionDetail struct {
	// The session's id.
	ID event.SessionID `json:"id"`
	// A name for people, in one line.
	Title string `json:"title"`
	// What was done in it, in a few lines; absent before a run of it has ended.
	Summary string `json:"summary,omitzero"`
	// The workspace folders that it works on.
	Folders []uri.URI `json:"folders"`
	// When it was created.
	Created time.Time `json:"created"`
	// When its last event happened.
	Updated time.Time `json:"updated"`
	// The status of its latest root run.
	Status event.Status `json:"status"`
	// How many runs it has, children included.
	Runs int `json:"runs" min:"0"`
	// How many proposed hunks wait for the user.
	OpenHunks int `json:"openHunks" min:"0"`
	// What all its runs cost.
	Usage event.Usage `json:"usage"`
	// The runs, each behind its parent, in order of creation.
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
	// The session.
	Session event.SessionID `json:"session"`
	// How; absent means `jsonl`.
	Format ExportFormat `json:"format,omitzero"`
}

// SessionExport is the result of `agent/session/export`.
type SessionExport struct {
	// How the text is written.
	Format ExportFormat `json:"format"`
	// The whole session. Secrets are taken out.
	Text string `json:"text"`
}

// ForkSessionParams are the params of `agent/session/fork`.
type ForkSessionParams struct {
	// The session to copy.
	Session event.SessionID `json:"session"`
	// The last message that the copy has; absent means all.
	Message event.MessageID `json:"message,omitzero"`
}

// SessionForked is the result of `agent/session/fork`.
type SessionForked struct {
	// The copy.
	Session event.SessionID `json:"session"`
}

// TranscriptParams are the params of `agent/transcript`.
type TranscriptParams struct {
	// The run.
	Run event.RunID `json:"run"`
	// Only messages behind this one.
	After event.MessageID `json:"after,omitzero"`
	// At most so many; absent and 0 mean 200.
	Limit int `json:"limit,omitzero" min:"0"`
}

// TranscriptCall is a tool call in a transcript.
type TranscriptCall struct {
	// The call's id.
	Call event.CallID `json:"call"`
	// The tool's canonical name.
	Tool string `json:"tool"`
	// The arguments as the model sent them: JSON, if it kept to it.
	Arguments string `json:"arguments"`
	// How it ended; absent while it has not, and where no outcome is known.
	Status event.CallStatus `json:"status,omitzero"`
	// The exit code of the command that it ran to its end, or saw the end of. The status is `ok` whatever
	// the code: the call did what it was asked for.
	ExitCode *int `json:"exitCode,omitzero"`
	// What the model was told.
	Output string `json:"output,omitzero"`
	// How long it took.
	DurationMs int64 `json:"durationMs,omitzero" min:"0"`
	// The run that the call started.
	Child event.RunID `json:"child,omitzero"`
}

// TranscriptMessage is one message of a transcript.
type TranscriptMessage struct {
	// The message's id.
	ID event.MessageID `json:"id"`
	// The message that it follows; of a summary, the last one that it stands for. Absent for the first.
	Parent event.MessageID `json:"parent,omitzero"`
	// The run that it belongs to.
	Run event.RunID `json:"run"`
	// Who speaks.
	Role string `json:"role"`
	// When it was stored.
	Time time.Time `json:"time"`
	// Its text, in Markdown. Results of calls are with the calls, so that a message of the role `tool` has
	// none.
	Text string `json:"text"`
	// Whether the conversation was shortened here: from now on the message stands for those up to its
	// `parent`.
	Compacted bool `json:"compacted,omitzero"`
	// The model's reasoning.
	Reasoning string `json:"reasoning,omitzero"`
	// Who answered, as `provider/model`; absent for what no model said.
	Model string `json:"model,omitzero"`
	// What this one request used; absent where that is not recorded.
	Usage *event.Usage `json:"usage,omitzero"`
	// The tool calls that it makes.
	Calls []TranscriptCall `json:"calls,omitzero"`
}

// Transcript is the result of `agent/transcript`.
type Transcript struct {
	// The messages in order.
	Messages []TranscriptMessage `json:"messages"`
	// Whether there are more behind the last.
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
	// The session, of whatever process; absent means the window's own, which is made where there is none
	// yet.
	Session event.SessionID `json:"session,omitzero"`
	// The number of the last event that the client has of the session; absent means none, and that it
	// starts from the snapshot.
	Since *uint64 `json:"since,omitzero"`
}

// SessionSnapshot is a session at one moment.
type SessionSnapshot struct {
	// The session.
	Session SessionInfo `json:"session"`
	// The number of the last event that is in the snapshot.
	Seq uint64 `json:"seq"`
	// The runs, each behind its parent, in order of creation.
	Tree []RunInfo `json:"tree"`
	// The findings that hold.
	Findings []event.Finding `json:"findings"`
	// The proposals that are not closed.
	Proposals []Proposal `json:"proposals"`
	// The questions that are open.
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
	// The events since `since` are no longer all there: drop what you have and start from the snapshot.
	// Events behind its `seq` follow.
	Reset bool `json:"reset,omitzero"`
	// The snapshots.
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
	// The hunk's id.
	ID event.HunkID `json:"id"`
	// Its state.
	State event.ProposalState `json:"state"`
	// The lines of the document as the editor shows it that the hunk replaces, in the negotiated position
	// encoding.
	Range protocol.Range `json:"range"`
	// The text in the range, line ends as they are in the document.
	Before string `json:"before"`
	// The text to put there.
	After string `json:"after"`
	// Why, in a sentence; may be empty.
	Reason string `json:"reason"`
	// The run that wrote it last.
	Run event.RunID `json:"run,omitzero"`
	// The slug of that run's agent.
	Agent string `json:"agent,omitzero"`
	// Why the hunk is in its state, in a sentence.
	Detail string `json:"detail,omitzero"`
	// What stands in the range now, for a hunk in conflict.
	Current string `json:"current,omitzero"`
}

// ProposalFile is the hunks of one file.
type ProposalFile struct {
	// The document.
	URI uri.URI `json:"uri"`
	// `conflict` if a hunk is in conflict, else `open` if a hunk is open, else how the last was closed.
	State event.ProposalState `json:"state"`
	// What happens to the file; absent means `modified`.
	Change FileChange `json:"change,omitzero"`
	// Where a renamed file goes.
	NewURI uri.URI `json:"newUri,omitzero"`
	// The version of the open document that the ranges are for; absent where it is not open.
	Version *int `json:"version,omitzero"`
	// The hunks in the order of the text.
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
	// The proposal's id.
	ID event.ProposalID `json:"id"`
	// Its session.
	Session event.SessionID `json:"session"`
	// The run that proposed last.
	Run event.RunID `json:"run"`
	// The slug of that run's agent.
	Agent string `json:"agent"`
	// What it is for, in one line.
	Title string `json:"title"`
	// Its state as a whole.
	State event.ProposalState `json:"state"`
	// The files, sorted by URI.
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
	// Only of this session; absent means all of this connection's workspace.
	Session event.SessionID `json:"session,omitzero"`
}

// ProposalList is the result of `agent/proposals`.
type ProposalList struct {
	// The proposals, the oldest first; closed ones are not among them.
	Proposals []Proposal `json:"proposals"`
	// The runs with accepted edits that `agent/undo` can take back, the latest first. They are roots;
	// edits of their children count as theirs. Empty for a session that is not the window's own.
	Undoable []RunInfo `json:"undoable"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ProposalList) MarshalJSON() ([]byte, error) {
	type plain ProposalList
	if v.Proposals == nil {
		v.Proposals = []Proposal{}
	}
	if v.Undoable == nil {
		v.Undoable = []RunInfo{}
	}
	return json.Marshal(plain(v))
}

// ProposalParams: chooses hunks of a proposal. Without `files` and `hunks` it means everything open;
// with both, the hunks of either.
type ProposalParams struct {
	// The proposal.
	Proposal event.ProposalID `json:"proposal"`
	// All open hunks of these documents.
	Files []uri.URI `json:"files,omitzero"`
	// These hunks.
	Hunks []event.HunkID `json:"hunks,omitzero"`
}

// AcceptParams: chooses hunks of a proposal, as ProposalParams does.
type AcceptParams struct {
	// The proposal.
	Proposal event.ProposalID `json:"proposal"`
	// All open hunks of these documents.
	Files []uri.URI `json:"files,omitzero"`
	// These hunks.
	Hunks []event.HunkID `json:"hunks,omitzero"`
	// Also takes those of `hunks` that are in conflict: the agent's text replaces what stands at their
	// lines now. Absent means that a hunk in conflict fails.
	Overwrite bool `json:"overwrite,omitzero"`
}

// HunkFailure is a hunk that could not be taken.
type HunkFailure struct {
	// The hunk.
	Hunk event.HunkID `json:"hunk"`
	// Why, and what to do.
	Reason string `json:"reason"`
}

// AcceptResult is the result of `agent/proposal/accept` and `agent/undo`.
type AcceptResult struct {
	// The hunks that the editor has applied.
	Applied []event.HunkID `json:"applied"`
	// The hunks that stay open, and why.
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
	// The hunks that are gone.
	Rejected []event.HunkID `json:"rejected"`
	// The hunks that could not be rejected, and why.
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
	// A unified diff, paths from the workspace root, from the document as the editor shows it to the
	// proposed text.
	Diff string `json:"diff"`
	// Both sides of the chosen hunks in conflict, which fit no diff, for people.
	Conflicts string `json:"conflicts,omitzero"`
	// The document of the scheme `agentls` that has the same text, for clients with
	// `workspace/textDocumentContent`; it is kept up to date. Absent for a choice that has no name.
	URI uri.URI `json:"uri,omitzero"`
}

// UndoParams are the params of `agent/undo`.
type UndoParams struct {
	// The run whose accepted edits are taken back. What the user did since is kept.
	Run event.RunID `json:"run"`
	// Only these; absent means all that the run's edits left and that can be taken back.
	Hunks []event.HunkID `json:"hunks,omitzero"`
}

// RewindParams are the params of `agent/rewind`.
type RewindParams struct {
	// The run of the prompt that is to be as if it had never been. It has ended, as has all that went on
	// with it.
	Run event.RunID `json:"run"`
}

// RewindResult is the result of `agent/rewind`.
type RewindResult struct {
	// The run that the next prompt follows, as `after` in `agent/run`; absent where the conversation began
	// with the prompt.
	After event.RunID `json:"after,omitzero"`
	// The runs of the user that were gone back behind, oldest first.
	Runs []event.RunID `json:"runs"`
	// The open edits that are gone.
	Rejected []event.HunkID `json:"rejected"`
	// The accepted edits that the editor has taken back.
	Undone []event.HunkID `json:"undone"`
	// The edits that stay, and why.
	Failed []HunkFailure `json:"failed"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v RewindResult) MarshalJSON() ([]byte, error) {
	type plain RewindResult
	if v.Runs == nil {
		v.Runs = []event.RunID{}
	}
	if v.Rejected == nil {
		v.Rejected = []event.HunkID{}
	}
	if v.Undone == nil {
		v.Undone = []event.HunkID{}
	}
	if v.Failed == nil {
		v.Failed = []HunkFailure{}
	}
	return json.Marshal(plain(v))
}

// RestoreParams are the params of `agent/restore`.
type RestoreParams struct {
	// The run of the prompt that was gone back behind.
	Run event.RunID `json:"run"`
}

// RestoreResult is the result of `agent/restore`.
type RestoreResult struct {
	// The run and the runs of the user that went on with it, oldest first.
	Runs []event.RunID `json:"runs"`
	// The edits that are open again.
	Proposed []event.HunkID `json:"proposed"`
	// The other edits, such as those in conflict, and why they are not open.
	Failed []HunkFailure `json:"failed"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v RestoreResult) MarshalJSON() ([]byte, error) {
	type plain RestoreResult
	if v.Runs == nil {
		v.Runs = []event.RunID{}
	}
	if v.Proposed == nil {
		v.Proposed = []event.HunkID{}
	}
	if v.Failed == nil {
		v.Failed = []HunkFailure{}
	}
	return json.Marshal(plain(v))
}

// ConversationParams are the params of `agent/conversation`.
type ConversationParams struct {
	// The run that the next prompt is to follow; absent for a conversation that begins.
	Run event.RunID `json:"run,omitzero"`
}

// Conversation is the result of `agent/conversation`.
type Conversation struct {
	// The document.
	URI uri.URI `json:"uri"`
}

// SendPromptParams are the params of `agent/conversation/send`.
type SendPromptParams struct {
	// The conversation, which is open.
	URI uri.URI `json:"uri"`
}

// SentPrompt is the result of `agent/conversation/send`.
type SentPrompt struct {
	// The session of the run.
	Session event.SessionID `json:"session"`
	// The run that answers.
	Run event.RunID `json:"run"`
	// Whether the run was at work already, and the prompt steers it.
	Steered bool `json:"steered"`
}

// RewindConversationParams are the params of `agent/conversation/rewind`.
type RewindConversationParams struct {
	// The conversation, which is open.
	URI uri.URI `json:"uri"`
	// The run that answers the prompt in the document.
	Run event.RunID `json:"run"`
}

// Ask is a question to the user: for permission, or what an agent wants to know.
type Ask struct {
	// The ask's id.
	ID event.AskID `json:"id"`
	// The session.
	Session event.SessionID `json:"session"`
	// The run that waits.
	Run event.RunID `json:"run"`
	// The slug of its agent.
	Agent string `json:"agent"`
	// The tool that needs the permission.
	Tool string `json:"tool"`
	// What is asked for, in one line.
	Title string `json:"title"`
	// The whole call, such as the command line or the diff, as plain text.
	Detail string `json:"detail,omitzero"`
	// The rule pattern that an `allow` with the scope `project` would allow from then on.
	Always string `json:"always,omitzero"`
	// Since when it is open.
	Created time.Time `json:"created"`
	// When it is denied if nobody answers.
	Expires time.Time `json:"expires,omitzero"`
	// What an agent wants to know, where it is no question for permission.
	Question *Question `json:"question,omitzero"`
}

// AskAnswer is the user's answer.
type AskAnswer struct {
	// What was decided.
	Decision Decision `json:"decision"`
	// How long it holds; absent means `once`.
	Scope Scope `json:"scope,omitzero"`
	// When an answer for longer than once ends by itself; absent means never. It must lie ahead.
	Expires time.Time `json:"expires,omitzero"`
}

// AsksParams are the params of `agent/asks`.
type AsksParams struct {
	// Only of this session; absent means all of this connection's workspace.
	Session event.SessionID `json:"session,omitzero"`
}

// AskList is the result of `agent/asks`.
type AskList struct {
	// The open asks, the oldest first.
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
	// The ask.
	Ask event.AskID `json:"ask"`
	// What was decided.
	Decision Decision `json:"decision"`
	// How long it holds; absent means `once`.
	Scope Scope `json:"scope,omitzero"`
	// When an answer for longer than once ends by itself; absent means never. It must lie ahead.
	Expires time.Time `json:"expires,omitzero"`
	// With `allow`, the answer to an agent's question: labels of its choices, or the user's own words.
	// Without, `deny` leaves it to the agent.
	Answers []string `json:"answers,omitzero"`
}

// Grant is a remembered permission.
type Grant struct {
	// The grant's id.
	ID GrantID `json:"id"`
	// The tool's canonical name.
	Tool string `json:"tool"`
	// The calls that it is for.
	Pattern string `json:"pattern"`
	// What was decided.
	Decision Decision `json:"decision"`
	// How long it holds.
	Scope Scope `json:"scope"`
	// Where the scope is `session` or `run`.
	Session event.SessionID `json:"session,omitzero"`
	// Where the scope is `run`.
	Run event.RunID `json:"run,omitzero"`
	// When it was given.
	Created time.Time `json:"created"`
	// When it ends by itself; absent where it does not. Those that have ended are not listed.
	Expires time.Time `json:"expires,omitzero"`
}

// GrantsParams are the params of `agent/grants`.
type GrantsParams struct {
	// Only those that bind this session; absent means all of this connection's workspace.
	Session event.SessionID `json:"session,omitzero"`
}

// GrantList is the result of `agent/grants`.
type GrantList struct {
	// The grants, the latest first.
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
	// The grant to take back.
	Grant GrantID `json:"grant"`
}

// ExplainParams are the params of `agent/explain`: a call to decide on, without making it, or what an
// agent is instructed to do, without starting it.
type ExplainParams struct {
	// The tool's name; absent where only the instructions are wanted.
	Tool string `json:"tool,omitzero"`
	// A document that the agent would be started on, of whose folders the instructions count; absent means
	// none. With `run` it does not count.
	URI uri.URI `json:"uri,omitzero"`
	// What rules are matched with: the command line for `bash`, a path from the workspace root for files,
	// a URL for the network.
	Call string `json:"call,omitzero"`
	// The agent that would make the call; absent means the default agent.
	Agent string `json:"agent,omitzero"`
	// The run that would make it, whose parents bind it too.
	Run event.RunID `json:"run,omitzero"`
}

// InstructionFile is a file with instructions of the user or the project, such as `AGENTS.md`.
type InstructionFile struct {
	// The file.
	URI uri.URI `json:"uri"`
	// The file that imports it; absent for one that counts by its name.
	ImportedBy uri.URI `json:"importedBy,omitzero"`
	// Its length in bytes; 0 for a file that is not given.
	Size int `json:"size" min:"0"`
	// How many of its bytes are left out, since all files together are longer than
	// `instructions.max_bytes`; absent for none.
	Cut int `json:"cut,omitzero" min:"0"`
	// How many characters are left out that nobody sees; absent for none.
	Unseen int `json:"unseen,omitzero" min:"0"`
	// Why the file is not given, as the end of a sentence that begins with its name; absent for one that
	// is.
	Omitted string `json:"omitted,omitzero"`
}

// Explanation is the result of `agent/explain`.
type Explanation struct {
	// What instructs the run, or would instruct the agent, in the order in which it is told: what comes
	// later counts more. Then the files that are not given.
	Instructions []InstructionFile `json:"instructions"`
	// What would happen; absent where no tool is named.
	Action RuleAction `json:"action,omitzero"`
	// The rule that decides; absent where none matches and the default does.
	Rule *PermissionRule `json:"rule,omitzero"`
	// The decision in words; absent where no tool is named.
	Reason string `json:"reason,omitzero"`
	// The rule pattern that an "always" would allow.
	Always string `json:"always,omitzero"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v Explanation) MarshalJSON() ([]byte, error) {
	type plain Explanation
	if v.Instructions == nil {
		v.Instructions = []InstructionFile{}
	}
	return json.Marshal(plain(v))
}

// NoParams: no members.
type NoParams struct {
}

// ModelsParams are the params of `agent/models`: for which run the choice is shown.
type ModelsParams struct {
	// Its agent; absent means the default one.
	Agent string `json:"agent,omitzero"`
	// The model that `agent/run` would name.
	Model string `json:"model,omitzero"`
}

// ModelCandidate is what may decide which model a run takes.
type ModelCandidate struct {
	// Where the name comes from, in words, such as `the agent's definition`.
	Source string `json:"source"`
	// The model that it names, as `provider/model` where that is known, else a provider; absent where it
	// names none.
	Name string `json:"name,omitzero"`
	// Why it counts, or why not.
	Reason string `json:"reason,omitzero"`
	// Whether it decides.
	Chosen bool `json:"chosen"`
}

// ModelInfo is a model that can be chosen.
type ModelInfo struct {
	// `provider/model`, or the name of a preset.
	Name string `json:"name"`
	// A name for people.
	Title string `json:"title,omitzero"`
	// The size of its context; absent where it is not known.
	ContextTokens int64 `json:"contextTokens,omitzero" min:"0"`
	// Whether a run could use it now.
	Available bool `json:"available"`
	// Why not, and what to do, such as which key is missing.
	Reason string `json:"reason,omitzero"`
}

// ModelList is the result of `agent/models`.
type ModelList struct {
	// The models, available ones first.
	Models []ModelInfo `json:"models"`
	// What is looked at, in order, up to the one that decides.
	Order []ModelCandidate `json:"order"`
	// The model that the run would take.
	Default string `json:"default"`
	// Why that one.
	Reason string `json:"reason"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v ModelList) MarshalJSON() ([]byte, error) {
	type plain ModelList
	if v.Models == nil {
		v.Models = []ModelInfo{}
	}
	if v.Order == nil {
		v.Order = []ModelCandidate{}
	}
	return json.Marshal(plain(v))
}

// UsageParams are the params of `agent/usage`.
type UsageParams struct {
	// What to sum up by; absent means `session`.
	By UsageGroup `json:"by,omitzero"`
	// Only this session.
	Session event.SessionID `json:"session,omitzero"`
	// Only this run and its children.
	Run event.RunID `json:"run,omitzero"`
	// Only runs created at or after this time.
	Since time.Time `json:"since,omitzero"`
}

// UsageRow is the usage of one group.
type UsageRow struct {
	// The run, agent, model, session, day (`2026-01-02`), or project (its folders, joined by `, `).
	Key string `json:"key"`
	// How many runs.
	Runs int `json:"runs" min:"0"`
	// How many of them came to an end by themselves: neither cancelled nor interrupted.
	Ended int `json:"ended" min:"0"`
	// How many of those have done their whole task: no limit cut them off, and none handed over that it
	// failed or that something is left.
	Completed int `json:"completed" min:"0"`
	// How many requests to models.
	Turns int `json:"turns" min:"0"`
	// The time of the runs that have ended, together.
	DurationMs int64 `json:"durationMs" min:"0"`
	// What they cost; without a cost where that of any is not known.
	Usage event.Usage `json:"usage"`
	// The part of the cost that is known, in US dollars.
	KnownCost float64 `json:"knownCost"`
}

// UsageReport is the result of `agent/usage`.
type UsageReport struct {
	// The groups, the most expensive first; days in order.
	Rows []UsageRow `json:"rows"`
	// All together; its key is empty.
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
	// Its name.
	Name string `json:"name"`
	// When to use it.
	Description string `json:"description"`
	// Its SKILL.md; absent for one that is part of agentls.
	URI uri.URI `json:"uri,omitzero"`
	// Where it comes from.
	Layer Layer `json:"layer"`
}

// SkillsParams are the params of `agent/skills`.
type SkillsParams struct {
	// The workspace folder whose skills count too; absent means all folders.
	Folder uri.URI `json:"folder,omitzero"`
}

// SkillList is the result of `agent/skills`.
type SkillList struct {
	// The skills, by name.
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

// PromptInfo is a prompt that a user may call.
type PromptInfo struct {
	// Its name, without the `/`.
	Name string `json:"name"`
	// What it does; empty where nobody says.
	Description string `json:"description"`
	// What may stand behind the name, for people; absent for nothing.
	Arguments string `json:"arguments,omitzero"`
	// Whose format it is in.
	Source PromptSource `json:"source"`
	// Where it comes from.
	Layer Layer `json:"layer"`
	// Its file; absent for what is part of agentls.
	URI uri.URI `json:"uri,omitzero"`
}

// PromptsParams are the params of `agent/prompts`.
type PromptsParams struct {
	// A session that is open in this process; absent means the window's own.
	Session event.SessionID `json:"session,omitzero"`
}

// PromptList is the result of `agent/prompts`.
type PromptList struct {
	// The prompts, by name.
	Prompts []PromptInfo `json:"prompts"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v PromptList) MarshalJSON() ([]byte, error) {
	type plain PromptList
	if v.Prompts == nil {
		v.Prompts = []PromptInfo{}
	}
	return json.Marshal(plain(v))
}

// ExpandParams are the params of `agent/expand`.
type ExpandParams struct {
	// The prompt, as `agent/run` would get it.
	Prompt string `json:"prompt"`
	// The agent that would get it, which may see less than others; absent means that of the prompt's file,
	// or the default one.
	Agent string `json:"agent,omitzero"`
	// A session that is open in this process; absent means the window's own.
	Session event.SessionID `json:"session,omitzero"`
	// What the editor points at. It does not change what the words become.
	Context *RunContext `json:"context,omitzero"`
}

// Expansion is the result of `agent/expand`.
type Expansion struct {
	// The words, and behind them what they bring.
	Text string `json:"text"`
	// The prompt that it calls; absent for none.
	Prompt *PromptInfo `json:"prompt,omitzero"`
	// What it is made of: first the words.
	Parts []PromptPart `json:"parts"`
	// What keeps it from being sent; empty where nothing does.
	Refused []PromptRefusal `json:"refused"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v Expansion) MarshalJSON() ([]byte, error) {
	type plain Expansion
	if v.Parts == nil {
		v.Parts = []PromptPart{}
	}
	if v.Refused == nil {
		v.Refused = []PromptRefusal{}
	}
	return json.Marshal(plain(v))
}

// PromptPart is a part of a prompt that would be sent.
type PromptPart struct {
	// What it is.
	Kind PromptPartKind `json:"kind"`
	// Its name in the prompt; absent for the words.
	Name string `json:"name,omitzero"`
	// What of it is sent; absent for all.
	About string `json:"about,omitzero"`
	// The file; absent for what is none.
	URI uri.URI `json:"uri,omitzero"`
	// What is sent of it; absent for a command, whose output a run would send.
	Text string `json:"text,omitzero"`
}

// PromptRefusal is something of a prompt that may not be sent.
type PromptRefusal struct {
	// What it is about, as it stands in the prompt.
	Mention string `json:"mention"`
	// Why, and what to do.
	Reason string `json:"reason"`
}

// MCPServer is an MCP server.
type MCPServer struct {
	// Its name.
	Name string `json:"name"`
	// Where it comes from.
	Layer Layer `json:"layer"`
	// Its state.
	State MCPState `json:"state"`
	// Why it failed.
	Error *event.Failure `json:"error,omitzero"`
	// Its command or URL, for people; without what may be a key.
	Address string `json:"address"`
	// Names of its tools, as agents call them.
	Tools []string `json:"tools"`
	// Its prompts. `/` and the name of one, with its arguments in order behind it, is a prompt for
	// `agent/run`.
	Prompts []MCPPrompt `json:"prompts"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v MCPServer) MarshalJSON() ([]byte, error) {
	type plain MCPServer
	if v.Tools == nil {
		v.Tools = []string{}
	}
	if v.Prompts == nil {
		v.Prompts = []MCPPrompt{}
	}
	return json.Marshal(plain(v))
}

// MCPPrompt is a prompt of an MCP server.
type MCPPrompt struct {
	// Its name, as users call it.
	Name string `json:"name"`
	// What it is for.
	Description string `json:"description,omitzero"`
	// Its arguments, in order.
	Arguments []MCPArgument `json:"arguments"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v MCPPrompt) MarshalJSON() ([]byte, error) {
	type plain MCPPrompt
	if v.Arguments == nil {
		v.Arguments = []MCPArgument{}
	}
	return json.Marshal(plain(v))
}

// MCPArgument is an argument of a prompt.
type MCPArgument struct {
	// Its name.
	Name string `json:"name"`
	// What it is for.
	Description string `json:"description,omitzero"`
	// Whether the prompt needs it.
	Required bool `json:"required"`
}

// MCPList is the result of `agent/mcp`.
type MCPList struct {
	// The servers, by name.
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
	// A workspace folder; absent means the first one.
	Folder uri.URI `json:"folder,omitzero"`
	// Trust what the folder holds now, or trust it no longer; absent only asks.
	Change string `json:"change,omitzero"`
}

// TrustedItem is something in a folder that acts once the folder is trusted.
type TrustedItem struct {
	// The file.
	URI uri.URI `json:"uri"`
	// `agent`, `hook`, `mcp`, `config`, `instructions`, `skill` or `prompt`.
	Kind string `json:"kind"`
	// What it does, in one line.
	Description string `json:"description"`
}

// TrustResult is the result of `agent/trust`.
type TrustResult struct {
	// The folder.
	Folder uri.URI `json:"folder"`
	// Whether it is trusted now. A change of what acts ends the trust.
	Trusted bool `json:"trusted"`
	// What acts, or would.
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
	// What is shown, and sent back.
	Label string `json:"label"`
	// What it means.
	Description string `json:"description,omitzero"`
}

// Question is a question to the user, of an agent or of the server itself.
type Question struct {
	// The question's id.
	ID event.AskID `json:"id"`
	// The session.
	Session event.SessionID `json:"session"`
	// The run that waits; absent where the server itself asks, such as which agent to delegate to.
	Run event.RunID `json:"run,omitzero"`
	// The slug of its agent; `agentls` where the server itself asks.
	Agent string `json:"agent"`
	// What is asked.
	Question string `json:"question"`
	// The answers to choose from; absent means free text only.
	Choices []Choice `json:"choices,omitzero"`
	// Whether several may be chosen.
	Multiple bool `json:"multiple,omitzero"`
	// Whether other text may be given beside the choices.
	FreeText bool `json:"freeText,omitzero"`
}

// QuestionAnswer is the user's answer.
type QuestionAnswer struct {
	// The labels that were chosen, or the text.
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
	// `text` and `reasoning` have `text`; `call` has `id`, `name` and `arguments`; `result` has `id`,
	// `name`, `text` and `error`.
	Kind string `json:"kind"`
	// The text.
	Text string `json:"text,omitzero"`
	// The model's own id of the tool call.
	ID string `json:"id,omitzero"`
	// The tool.
	Name string `json:"name,omitzero"`
	// The arguments of the call.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	// Whether the call failed.
	Error bool `json:"error,omitzero"`
}

// ModelMessage is a message to or from a model.
type ModelMessage struct {
	// Who speaks.
	Role string `json:"role"`
	// What is said, in order.
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
	// Its name.
	Name string `json:"name"`
	// What it does.
	Description string `json:"description"`
	// The schema of its arguments.
	Schema json.RawMessage `json:"schema"`
}

// GenerateParams are the params of `agent/model/generate`: one turn of the editor's own language model.
type GenerateParams struct {
	// The run that asks.
	Run event.RunID `json:"run"`
	// Which of the editor's models, an `id` of `agent/model/lend`; absent means its choice.
	Model string `json:"model,omitzero"`
	// The system prompt.
	System string `json:"system"`
	// The conversation. Its parts are of the kinds `text`, `call` and `result`; each call has its result
	// in the message of the role `tool` behind it.
	Messages []ModelMessage `json:"messages"`
	// The tools on offer.
	Tools []ModelTool `json:"tools"`
	// The answer is to be a text: the tools are listed only since the conversation has calls of them.
	// Calls that come all the same are not made.
	NoCalls bool `json:"noCalls,omitzero"`
	// The limit of the answer; absent and 0 mean the model's own.
	MaxTokens int64 `json:"maxTokens,omitzero" min:"0"`
	// Absent means the model's own.
	Temperature *float64 `json:"temperature,omitzero"`
	// Where to send pieces of the answer with `$/progress` while it is written, each a ModelPart: of the
	// kind `text` or `reasoning` with the next words, or `call` with nothing but the `name`, as soon as a
	// call begins. Pieces are for showing; what counts is the result.
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
	// The whole answer of the role `assistant`, also where pieces were sent before, with parts of the
	// kinds `text`, `reasoning` and `call`. A call without an `id` gets one.
	Message ModelMessage `json:"message"`
	// Why the model stopped: it had no more to say, it waits for the results of its calls, the answer is
	// as long as it may be, or the model declined.
	Stop string `json:"stop"`
	// What it used, where that is known. Without it the tokens are estimated.
	Usage *event.Usage `json:"usage,omitzero"`
}

// LentModel is a model that the editor lends.
type LentModel struct {
	// The editor's own name of it. Runs use it as `editor/ID`.
	ID string `json:"id"`
	// A name for people.
	Title string `json:"title,omitzero"`
	// How many tokens a request and its answer may have together, where it is known.
	ContextTokens int64 `json:"contextTokens,omitzero" min:"0"`
	// It cannot call tools, and is offered none.
	NoCalls bool `json:"noCalls,omitzero"`
}

// LendModelsParams are the params of `agent/model/lend`.
type LendModelsParams struct {
	// The models, the one to take where none is named first.
	Models []LentModel `json:"models"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v LendModelsParams) MarshalJSON() ([]byte, error) {
	type plain LendModelsParams
	if v.Models == nil {
		v.Models = []LentModel{}
	}
	return json.Marshal(plain(v))
}

// EditorDiagnosticsParams are the params of `agent/diagnostics`.
type EditorDiagnosticsParams struct {
	// The document; absent means all that the editor knows of.
	URI uri.URI `json:"uri,omitzero"`
}

// EditorDiagnostic is a diagnostic that the editor shows, whoever made it.
type EditorDiagnostic struct {
	// The place.
	Range protocol.Range `json:"range"`
	// How grave it is.
	Severity event.Severity `json:"severity"`
	// The text.
	Message string `json:"message"`
	// Who made it.
	Source string `json:"source,omitzero"`
	// Its code.
	Code string `json:"code,omitzero"`
}

// DocumentDiagnostics is the diagnostics of one document.
type DocumentDiagnostics struct {
	// The document.
	URI uri.URI `json:"uri"`
	// The version that they are for, where it is known.
	Version *int `json:"version,omitzero"`
	// The diagnostics, without those of agentls.
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
	// The documents that have any.
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
	// What is asked.
	Query SymbolQuery `json:"query"`
	// The document, for all but `workspace`.
	URI uri.URI `json:"uri,omitzero"`
	// The place, for `definition` and `references`.
	Position *protocol.Position `json:"position,omitzero"`
	// What the name has to match, for `workspace`.
	Name string `json:"name,omitzero"`
}

// EditorSymbol is a symbol or a place.
type EditorSymbol struct {
	// The document.
	URI uri.URI `json:"uri"`
	// The place.
	Range protocol.Range `json:"range"`
	// The symbol's name, where it is known.
	Name string `json:"name,omitzero"`
	// LSP's SymbolKind in lower case, such as `function`.
	Kind string `json:"kind,omitzero"`
	// The name of what it is in.
	Container string `json:"container,omitzero"`
}

// EditorSymbols is the result of `agent/symbols`.
type EditorSymbols struct {
	// What was found.
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
	// How the server is.
	Health Health `json:"health"`
	// Whether nothing runs.
	Quiescent bool `json:"quiescent"`
	// What there is to say about it, in Markdown.
	Message string `json:"message,omitzero"`
	// The line for the editor's status bar, as plain text.
	Statusline string `json:"statusline,omitzero"`
}

// ReviewParams is the argument of the command `agentls.review`.
type ReviewParams struct {
	// The document. Without it and `uris`, the open document that was last touched in the editor: opened,
	// changed or saved.
	URI uri.URI `json:"uri,omitzero"`
	// Only this part of it.
	Range *protocol.Range `json:"range,omitzero"`
	// Several documents, each reviewed by a child of its own.
	URIs []uri.URI `json:"uris,omitzero"`
	// Review what has changed, instead of whole documents: findings are on changed lines, and elsewhere
	// only where a change is the cause.
	Changes *ChangeScope `json:"changes,omitzero"`
	// What to look at in particular.
	Prompt string `json:"prompt,omitzero"`
	// The model for this run, as `provider/model` or the name of a preset.
	Model string `json:"model,omitzero"`
}

// ExplainCodeParams is the argument of the command `agentls.explain`.
type ExplainCodeParams struct {
	// The document; absent means the open one that was last touched in the editor.
	URI uri.URI `json:"uri,omitzero"`
	// Only this part of it.
	Range *protocol.Range `json:"range,omitzero"`
}

// CodeTaskParams is the argument of the commands that have an agent work on code: `agentls.rewrite`,
// `agentls.tests` and `agentls.plan`.
type CodeTaskParams struct {
	// The document; absent means the open one that was last touched in the editor.
	URI uri.URI `json:"uri,omitzero"`
	// Only this part of it.
	Range *protocol.Range `json:"range,omitzero"`
	// What is wanted, in the user's words.
	Prompt string `json:"prompt,omitzero"`
	// The model for this run, as `provider/model` or the name of a preset.
	Model string `json:"model,omitzero"`
}

// RememberParams is the argument of the command `agentls.remember`.
type RememberParams struct {
	// What agents shall know from now on: a rule or a fact in a sentence, of at most 500 bytes.
	Text string `json:"text"`
	// The document that it is about: the nearest `AGENTS.md` above that is taken. Absent means the one of
	// the first workspace folder.
	URI uri.URI `json:"uri,omitzero"`
}

// DelegateParams is the argument of the command `agentls.delegate`.
type DelegateParams struct {
	// The document; absent means the open one that was last touched in the editor.
	URI uri.URI `json:"uri,omitzero"`
	// Only this part of it.
	Range *protocol.Range `json:"range,omitzero"`
	// A slug or alias; absent means that the user is asked: by `agent/question` where that is announced,
	// else by `window/showMessageRequest`.
	Agent string `json:"agent,omitzero"`
	// The task. Absent: a client that announces `questions` is asked for it, too; elsewhere it is the
	// agent's usual work on the document.
	Prompt string `json:"prompt,omitzero"`
	// The model for this run, as `provider/model` or the name of a preset.
	Model string `json:"model,omitzero"`
}

// RequestParams is the argument of the command `agentls.request`.
type RequestParams struct {
	// The document.
	URI uri.URI `json:"uri"`
	// A line of the comment, 0-based.
	Line int `json:"line" min:"0"`
}

// FixParams is the argument of the command `agentls.fix`: a finding, or a document and a diagnostic
// that the editor shows in it.
type FixParams struct {
	// The finding to fix.
	Finding event.FindingID `json:"finding,omitzero"`
	// The document of the diagnostic.
	URI uri.URI `json:"uri,omitzero"`
	// The diagnostic to fix, whoever made it.
	Diagnostic *EditorDiagnostic `json:"diagnostic,omitzero"`
}

// OtherFilesParams is the argument of the command `agentls.proposal.others`.
type OtherFilesParams struct {
	// The document whose own edits are left out.
	URI uri.URI `json:"uri"`
}

// OtherFilesResult is the result of the command `agentls.proposal.others`.
type OtherFilesResult struct {
	// The hunks that the user accepted, and that are in the editor's documents now.
	Applied []event.HunkID `json:"applied"`
	// The hunks that the user rejected.
	Rejected []event.HunkID `json:"rejected"`
	// The hunks that stay as they were, and why.
	Failed []HunkFailure `json:"failed"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v OtherFilesResult) MarshalJSON() ([]byte, error) {
	type plain OtherFilesResult
	if v.Applied == nil {
		v.Applied = []event.HunkID{}
	}
	if v.Rejected == nil {
		v.Rejected = []event.HunkID{}
	}
	if v.Failed == nil {
		v.Failed = []HunkFailure{}
	}
	return json.Marshal(plain(v))
}

// MoreParams is the argument of the command `agentls.more`.
type MoreParams struct {
	// The actions from which the user chooses. There is at least one.
	Actions []MoreAction `json:"actions"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v MoreParams) MarshalJSON() ([]byte, error) {
	type plain MoreParams
	if v.Actions == nil {
		v.Actions = []MoreAction{}
	}
	return json.Marshal(plain(v))
}

// MoreAction is a code action for which the menu had no room.
type MoreAction struct {
	// For people.
	Title string `json:"title"`
	// The command that it carries out.
	Command string `json:"command"`
	// The command's argument.
	Argument json.RawMessage `json:"argument"`
}

// MoreResult is the result of the command `agentls.more`.
type MoreResult struct {
	// The command of the action that the user chose; absent where the user chose none.
	Command string `json:"command,omitzero"`
	// The run that the action started; absent where it started none.
	Started *RunStarted `json:"started,omitzero"`
}

// InterruptedResult is the result of the command `agentls.interrupted`.
type InterruptedResult struct {
	// The runs that go on with those that were cut off; none where the user only looked.
	Started []RunStarted `json:"started"`
}

// MarshalJSON writes a list that is nil as an empty one.
func (v InterruptedResult) MarshalJSON() ([]byte, error) {
	type plain InterruptedResult
	if v.Started == nil {
		v.Started = []RunStarted{}
	}
	return json.Marshal(plain(v))
}
