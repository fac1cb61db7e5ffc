-- Generated from schema/agent.metamodel.json. Do not edit.

local M = {}

-- The version of the protocol.
M.version = '0.1.0'

-- The methods, by their names in code.
M.methods = {
  ListAgents = 'agent/list',
  GetAgent = 'agent/get',
  RegisterAgent = 'agent/register',
  UpdateAgent = 'agent/update',
  UnregisterAgent = 'agent/unregister',
  CheckAgent = 'agent/check',
  Run = 'agent/run',
  Wait = 'agent/wait',
  Cancel = 'agent/cancel',
  Steer = 'agent/steer',
  Resume = 'agent/resume',
  Sessions = 'agent/sessions',
  Session = 'agent/session',
  DeleteSession = 'agent/session/delete',
  ExportSession = 'agent/session/export',
  ForkSession = 'agent/session/fork',
  Transcript = 'agent/transcript',
  Subscribe = 'agent/subscribe',
  Proposals = 'agent/proposals',
  AcceptProposal = 'agent/proposal/accept',
  RejectProposal = 'agent/proposal/reject',
  DiffProposal = 'agent/proposal/diff',
  Undo = 'agent/undo',
  Rewind = 'agent/rewind',
  Restore = 'agent/restore',
  Conversation = 'agent/conversation',
  SendPrompt = 'agent/conversation/send',
  RewindConversation = 'agent/conversation/rewind',
  Asks = 'agent/asks',
  AnswerAsk = 'agent/ask/answer',
  Grants = 'agent/grants',
  Revoke = 'agent/revoke',
  Explain = 'agent/explain',
  Models = 'agent/models',
  LendModels = 'agent/model/lend',
  Usage = 'agent/usage',
  Skills = 'agent/skills',
  Prompts = 'agent/prompts',
  Expand = 'agent/expand',
  MCP = 'agent/mcp',
  Trust = 'agent/trust',
  Ask = 'agent/ask',
  Question = 'agent/question',
  Generate = 'agent/model/generate',
  Diagnostics = 'agent/diagnostics',
  Symbols = 'agent/symbols',
  Event = 'agent/event',
  Status = 'agent/status',
}

-- The commands for workspace/executeCommand.
M.commands = {
  ListAgents = 'agentls.list',
  GetAgent = 'agentls.get',
  RegisterAgent = 'agentls.register',
  UpdateAgent = 'agentls.update',
  UnregisterAgent = 'agentls.unregister',
  CheckAgent = 'agentls.check',
  Run = 'agentls.run',
  Wait = 'agentls.wait',
  Cancel = 'agentls.cancel',
  Steer = 'agentls.steer',
  Resume = 'agentls.resume',
  Sessions = 'agentls.sessions',
  Session = 'agentls.session',
  DeleteSession = 'agentls.session.delete',
  ExportSession = 'agentls.session.export',
  ForkSession = 'agentls.session.fork',
  Transcript = 'agentls.transcript',
  Subscribe = 'agentls.subscribe',
  Proposals = 'agentls.proposals',
  AcceptProposal = 'agentls.proposal.accept',
  RejectProposal = 'agentls.proposal.reject',
  DiffProposal = 'agentls.proposal.diff',
  Undo = 'agentls.undo',
  Rewind = 'agentls.rewind',
  Restore = 'agentls.restore',
  Conversation = 'agentls.conversation',
  SendPrompt = 'agentls.conversation.send',
  RewindConversation = 'agentls.conversation.rewind',
  Asks = 'agentls.asks',
  AnswerAsk = 'agentls.ask.answer',
  Grants = 'agentls.grants',
  Revoke = 'agentls.revoke',
  Explain = 'agentls.permission.explain',
  Models = 'agentls.models',
  LendModels = 'agentls.model.lend',
  Usage = 'agentls.usage',
  Skills = 'agentls.skills',
  Prompts = 'agentls.prompts',
  Expand = 'agentls.expand',
  MCP = 'agentls.mcp',
  Trust = 'agentls.trust',
  Review = 'agentls.review',
  ExplainCode = 'agentls.explain',
  Rewrite = 'agentls.rewrite',
  WriteTests = 'agentls.tests',
  PlanChange = 'agentls.plan',
  Remember = 'agentls.remember',
  Delegate = 'agentls.delegate',
  RunComment = 'agentls.request',
  Fix = 'agentls.fix',
  OtherFiles = 'agentls.proposal.others',
  Interrupted = 'agentls.interrupted',
  More = 'agentls.more',
}

---Whose format a prompt is in.
---@alias agentls.PromptSource string
---| '"agentls"' # agentls's own: `.agentls/prompts`, or `prompts` in the user's folder of its configuration.
---| '"claude"' # Claude Code's: `.claude/commands`.
---| '"opencode"' # OpenCode's: `.opencode/command` or `.opencode/commands`.
---| '"github"' # VS Code's: `.github/prompts/*.prompt.md`.
---| '"skill"' # A skill, called by the user.

---What a part of a prompt is.
---@alias agentls.PromptPartKind string
---| '"text"' # The words themselves, with the arguments in their places.
---| '"file"' # A file, or lines of it.
---| '"folder"' # What is in a folder.
---| '"diff"' # The uncommitted changes.
---| '"diagnostics"' # What is known to be wrong.
---| '"symbol"' # What defines a name.
---| '"image"' # An image.
---| '"command"' # A command that the run would begin with.

---Which changes of a repository are meant.
---@alias agentls.ChangeKind string
---| '"uncommitted"' # What the editor shows and the last commit has not: staged or not, saved or not, and files that nobody has added.
---| '"staged"' # What the next commit would bring.
---| '"base"' # What the editor shows and the last commit in common with `revision` has not.
---| '"commit"' # What the commit `revision` brings, against its first parent.

---How far a child says that its task is done.
---@alias agentls.ChildStatus string
---| '"completed"' # All of it is done.
---| '"partial"' # Something is left, which its report says.
---| '"failed"' # It could not be done.
---| '"cancelled"' # Somebody cancelled it, or a run above it.
---| '"timeout"' # Its time was used up.
---| '"interrupted"' # The server ended before it did.

---The state of a run: pending, then running and waiting in turn, then one of the five final ones.
---@alias agentls.Status string
---| '"pending"' # It was created and has not begun.
---| '"running"' # A request to the model or a tool call is under way.
---| '"waiting"' # It waits for a slot, an ask, its children or a provider; the reason says which.
---| '"completed"' # Final: it came to its end.
---| '"failed"' # Final: an error ended it.
---| '"cancelled"' # Final: somebody cancelled it, or a run above it.
---| '"timeout"' # Final: its time was used up.
---| '"interrupted"' # Final: the server ended before it did. It can be resumed.

---How a tool call ended.
---@alias agentls.CallStatus string
---| '"ok"' # It did what was asked.
---| '"error"' # It failed; the model was told why.
---| '"denied"' # A rule or the user did not allow it.
---| '"cancelled"' # The run was cancelled before the call ended.

---How grave a finding is, in the words of LSP's DiagnosticSeverity.
---@alias agentls.Severity string
---| '"error"' # The code is wrong.
---| '"warning"' # The code is likely wrong, or will be.
---| '"information"' # Worth knowing.
---| '"hint"' # A suggestion.

---The state of a proposal, of a file in it, or of a hunk.
---@alias agentls.ProposalState string
---| '"open"' # It waits for the user.
---| '"accepted"' # The editor applied it.
---| '"rejected"' # The user does not want it.
---| '"conflict"' # The text below has changed so that it no longer fits.
---| '"superseded"' # A later edit took its place.

---How loud a notice is.
---@alias agentls.NoticeLevel string
---| '"info"' # For the log.
---| '"warning"' # Something may not be as expected.
---| '"error"' # Something went wrong.

---What kind of error a request ended with (`data.kind`).
---@alias agentls.ErrorKind string
---| '"invalid_params"' # The params do not have the documented form; the detail names the member.
---| '"method_not_found"' # There is no request of that name.
---| '"invalid_request"' # The request may not be sent, or not now, such as after `shutdown`.
---| '"not_initialized"' # The request came before `initialize`.
---| '"content_modified"' # What was asked about has changed meanwhile.
---| '"failed"' # It could not be done, for another reason.
---| '"not_found"' # There is no agent, run, session, proposal, hunk, ask or grant of that name.
---| '"invalid_definition"' # The agent exists but its definition has errors.
---| '"not_allowed"' # A rule, a limit, missing trust, or the state that the run is in forbids it.
---| '"no_model"' # No model can be used for it.
---| '"in_use"' # Another living process works with it.
---| '"unsupported"' # The client did not announce what this needs.
---| '"cancelled"' # The request was cancelled by the client.
---| '"dismissed"' # The user closed the question that had to be answered first.
---| '"shutting_down"' # The server is about to end and starts nothing new.
---| '"internal"' # A fault in agentls itself; its log says more.

---Where an agent can be used.
---@alias agentls.AgentCategory string
---| '"primary"' # A user can start it.
---| '"subagent"' # Other agents can delegate to it.
---| '"hidden"' # The engine uses it; it is never listed.

---How an agent works.
---@alias agentls.ExecutionMode string
---| '"agentic"' # A loop of model turns and tool calls.
---| '"single_shot"' # One answer, no tools.
---| '"streaming"' # A chat, shown as it is written.
---| '"planning"' # Read-only tools; the product is a plan file.

---How much a model thinks before it answers.
---@alias agentls.Effort string
---| '"low"' # Little: fast and cheap.
---| '"medium"' # Between the two.
---| '"high"' # Much.

---How much a run asks. No mode lifts a deny, and none is wider than the parent's.
---@alias agentls.PermissionMode string
---| '"default"' # As the rules say.
---| '"plan"' # Nothing is changed.
---| '"accept_edits"' # Proposals are applied without review.
---| '"bypass"' # Nothing is asked.

---What a child gets of its parent's conversation.
---@alias agentls.ContextMode string
---| '"none"' # Nothing but the task.
---| '"full"' # All of it.
---| '"summary"' # A summary.
---| '"selective"' # Named files and the last messages.

---Where a definition, skill or rule comes from. A later one wins.
---@alias agentls.Layer string
---| '"builtin"' # Part of agentls.
---| '"plugin"' # A plugin folder.
---| '"user"' # The user's configuration.
---| '"project"' # The workspace folder, if it is trusted.
---| '"session"' # This session.
---| '"runtime"' # Registered at run time.

---What a rule says.
---@alias agentls.RuleAction string
---| '"allow"' # Do it.
---| '"ask"' # Ask the user.
---| '"deny"' # Do not do it.

---How the text of a definition is written.
---@alias agentls.DefinitionFormat string
---| '"markdown"' # agentls's own: Markdown with YAML frontmatter.
---| '"toml"' # A document with `[[agents]]`.
---| '"json"' # A JSON object.

---How a transcript is written out.
---@alias agentls.ExportFormat string
---| '"jsonl"' # One JSON object a line, with parent links. It can be imported.
---| '"markdown"' # For reading.

---What happens to a file.
---@alias agentls.FileChange string
---| '"modified"' # Its text changes.
---| '"created"' # It is new.
---| '"deleted"' # It goes.
---| '"renamed"' # It goes to `newUri`; its text may change, too.

---What the user decided.
---@alias agentls.Decision string
---| '"allow"' # Do it.
---| '"deny"' # Do not do it.

---How long a decision holds.
---@alias agentls.Scope string
---| '"once"' # For this call.
---| '"run"' # For this run and its children.
---| '"session"' # For this session.
---| '"project"' # For this workspace folder, until it is revoked.

---What usage is summed up by.
---@alias agentls.UsageGroup string
---| '"run"' # Each run.
---| '"agent"' # Each agent.
---| '"model"' # Each model.
---| '"session"' # Each session.
---| '"project"' # Each set of workspace folders.
---| '"day"' # Each day in UTC.

---The state of an MCP server.
---@alias agentls.MCPState string
---| '"stopped"' # Not started yet; it starts with the first run that needs it.
---| '"starting"' # It is being started.
---| '"ready"' # Its tools can be used.
---| '"failed"' # It could not be started, or has ended.
---| '"untrusted"' # It comes from a folder that is not trusted.

---What is asked of the editor's own language servers.
---@alias agentls.SymbolQuery string
---| '"definition"' # Where the symbol at the position is defined.
---| '"references"' # Where the symbol at the position is used.
---| '"document"' # All symbols of the document.
---| '"workspace"' # Symbols of the workspace whose name matches.

---How the server is.
---@alias agentls.Health string
---| '"ok"' # All is well.
---| '"warning"' # It works, but not fully; the message says why.
---| '"error"' # It does not work; the message says why and what to do.

---Names a session: a conversation on a workspace. Opaque.
---@alias agentls.SessionID string

---Names a run: one agent at work, the root of a prompt or a child. Opaque.
---@alias agentls.RunID string

---Names one committed message of a run's conversation. Opaque.
---@alias agentls.MessageID string

---Names one tool call. Opaque.
---@alias agentls.CallID string

---Names one finding. Opaque.
---@alias agentls.FindingID string

---Names the open edits of one session. Opaque.
---@alias agentls.ProposalID string

---Names one hunk of a proposal. Opaque.
---@alias agentls.HunkID string

---Names one open question to the user. Opaque.
---@alias agentls.AskID string

---Names one remembered permission. Opaque.
---@alias agentls.GrantID string

---The number of a stored event: a whole number that counts from 1 in each session without a gap. 0 means before the
---first.
---@alias agentls.Sequence number

---A number of tokens: a whole number, 0 or more.
---@alias agentls.TokenCount number

---A duration in milliseconds: a whole number, 0 or more.
---@alias agentls.Milliseconds number

---A point in time in UTC: RFC 3339, such as `2026-01-02T03:04:05Z`, with up to nine digits of a second.
---@alias agentls.Timestamp string

---LSP's ProgressToken.
---@alias agentls.ProgressToken
---| integer
---| string

---A JSON Schema, draft 2020-12, whose root describes an object.
---@alias agentls.JSONSchema agentls.LSPObject

---LSP's object: any JSON object.
---@alias agentls.LSPObject table<string, agentls.LSPAny>

---LSP's any: any JSON value.
---@alias agentls.LSPAny
---| string
---| integer
---| integer
---| number
---| boolean
---| vim.NIL
---| agentls.LSPObject
---| agentls.LSPArray

---LSP's array: any JSON array.
---@alias agentls.LSPArray agentls.LSPAny[]

---Every event. The set is closed: `type` tells them apart, and a receiver ignores a type that it does not know.
---@alias agentls.Event
---| agentls.RunCreated
---| agentls.RunStatusChanged
---| agentls.RunProgress
---| agentls.TurnStarted
---| agentls.TextDelta
---| agentls.ReasoningDelta
---| agentls.MessageCommitted
---| agentls.ToolCallStarted
---| agentls.ToolCallProgress
---| agentls.ToolCallFinished
---| agentls.AskOpened
---| agentls.AskResolved
---| agentls.FindingReported
---| agentls.FindingCleared
---| agentls.ProposalChanged
---| agentls.TodoChanged
---| agentls.RetryScheduled
---| agentls.Compacted
---| agentls.Notice
---| agentls.SessionChanged
---| agentls.EventsTrimmed
---| agentls.RunFinished

---A range of text in bytes of UTF-8. It does not depend on the position encoding of a connection, and so is not LSP's
---`Range`.
---@class agentls.Span
---@field startLine integer The first line, 0-based.
---@field startColumn integer The column in the first line, 0-based, in bytes of UTF-8.
---@field endLine integer The last line, 0-based.
---@field endColumn integer The column behind the last byte, 0-based, in bytes of UTF-8: the end is exclusive.

---What a run cost, its children included.
---@class agentls.Usage
---@field inputTokens agentls.TokenCount Tokens sent, without those that the provider's cache served.
---@field outputTokens agentls.TokenCount Tokens received, reasoning included.
---@field cachedTokens agentls.TokenCount Tokens sent that the provider's cache served.
---@field cost? number The price in US dollars; absent where it is not known.

---What went wrong, in words for a person. It is also the `data` of every error answer.
---@class agentls.Failure
---A word for programs: an ErrorKind, or what a model's provider failed with, such as `rate_limit`, `network` or `auth`.
---@field kind string
---@field detail string What happened, and where.
---@field hint? string What the user can do about it.

---One tool call in a RunResult.
---@class agentls.CallSummary
---@field name string The tool's canonical name.
---@field status agentls.CallStatus How the call ended.
---@field durationMs agentls.Milliseconds How long it took.

---The report of a child to its parent. Files and counts come from what the engine saw, not from what the model claims.
---@class agentls.ChildResult
---How far its task is done: what it says where it came to its end, else what its end says. Absent in what was stored by
---former versions.
---@field status? agentls.ChildStatus
---@field summary string The outcome in a sentence or two.
---@field details? string All that the parent needs to go on, in Markdown.
---@field filesModified? string[] Paths of changed files, from the workspace root, with forward slashes.
---@field filesCreated? string[] Paths of new files, from the workspace root, with forward slashes.
---@field testsRun? integer How many tests ran.
---@field testsPassed? integer How many of them passed.
---@field warnings? string[] What the parent should doubt, such as a claim that the engine did not see happen.
---@field suggestions? string[] What could be done next.
---@field iterations? integer How many requests went to the model.
---@field durationMs? agentls.Milliseconds From its creation to its end, waiting included.
---Tokens sent and received, without those that the provider's cache served; its children included.
---@field tokens? agentls.TokenCount
---@field cost? number The price in US dollars, its children included; absent where it is not known.

---The end of a run, or its state so far where the status is not final.
---@class agentls.RunResult
---@field status agentls.Status The status of the run at this moment.
---@field reason? string Why it ended so, such as the limit that it reached.
---@field output string The final text of the agent, in Markdown; what there is of it where the run was cut short.
---@field error? agentls.Failure What ended the run, where its status is `failed`.
---@field result? agentls.ChildResult The structured report, where the run is a child.
---The object of the final answer, where the run was started with an `outputSchema`. It fits that.
---@field structured? agentls.LSPObject
---@field usage agentls.Usage What it cost.
---@field turns integer How many requests went to the model.
---@field durationMs agentls.Milliseconds From its creation to its end, waiting included.
---@field toolCalls agentls.CallSummary[] Every tool call of the run itself, in order.
---@field children agentls.RunID[] The runs that it started, in order.
---@field proposal? agentls.ProposalID The proposal that holds its edits, where there are any.
---How far its task is done, by its end and by what it handed over; `partial` where a limit cut it off. Absent while it
---has not ended.
---@field outcome? agentls.ChildStatus
---Once it has ended, the files that its edits changed or made: paths from the workspace root, with forward slashes.
---@field files? string[]

---One remark of a run on a place in a file.
---@class agentls.Finding
---@field id agentls.FindingID The finding's own id.
---@field uri string The document.
---@field span agentls.Span The place in the text that the agent saw.
---@field severity agentls.Severity How grave it is.
---@field rule? string A short kebab-case name, such as `dropped-error`.
---@field message string What is wrong, and what to do about it.
---@field source? string Who found it: a model, `agentls rules`, or a checker such as `go vet`.
---@field hunk? agentls.HunkID The proposed edit that would resolve it, where there is one.

---One item of a run's list of what is to be done.
---@class agentls.Todo
---@field text string What is to be done.
---@field state '"pending"'|'"in_progress"'|'"done"'|'"cancelled"' How far it is.

---What all events have: the envelope.
---@class agentls.EventHeader
---Numbers the stored events of the session. A transient event (TextDelta, ReasoningDelta, RunProgress,
---ToolCallProgress) is not stored and has the number of the last stored one. A number that is missing means that a
---client was too slow (EventsTrimmed).
---@field seq agentls.Sequence
---@field session agentls.SessionID The session that it happened in.
---@field run? agentls.RunID The run that it happened to; absent for an event of the whole session.
---@field time agentls.Timestamp When it happened.

---A run exists.
---@class agentls.RunCreated: agentls.EventHeader
---@field type '"RunCreated"' The event's name.
---@field parent? agentls.RunID The run that started it; absent for a root.
---@field agent string The slug of the agent.
---What the agent works as: `primary` for a root, `subagent` for a child, `hidden` for the engine's own agents.
---@field role string
---@field depth integer 0 for a root, one more for each parent.
---@field title string A name of the run for people, in one line.
---@field prompt string What it was asked, as it was given.
---@field model string The model, as `provider/model`.
---@field resumes? agentls.RunID The run that it goes on with; absent for one that begins anew.
---How the agent works, an ExecutionMode: `agentic`, `single_shot`, `streaming` or `planning`. Absent for runs that
---former versions stored.
---@field mode? string
---@field background? boolean Whether the run that started it does not wait for it.
---The file that tells how far a run in the background is, and then what came of it; absent for others.
---@field outputUri? string
---@field uri? string The document that the run was launched on, where there was one.

---A run changed its status.
---@class agentls.RunStatusChanged: agentls.EventHeader
---@field type '"RunStatusChanged"' The event's name.
---@field status agentls.Status The new status.
---@field reason? string Why, such as what it waits for.

---How far a run is. Transient; the next one replaces it.
---@class agentls.RunProgress: agentls.EventHeader
---@field type '"RunProgress"' The event's name.
---@field turn integer The turn under way; 0 before the first.
---@field budgetUsed integer The largest used share of any of its limits, in percent, 0 to 100. It never goes down.
---@field usage agentls.Usage What it has cost so far.
---@field toolCalls integer How many tool calls it has made.
---@field activities string[] The last five things that it did, the latest last, each in one line.
---@field message string What it is doing, in one line; once it has ended, the first line of its result.

---A request goes to the model. What was streamed of the run's former answer and did not become a MessageCommitted is
---void: no call of it was made.
---@class agentls.TurnStarted: agentls.EventHeader
---@field type '"TurnStarted"' The event's name.
---@field turn integer The number of the turn, counted from 1.
---Where the turn begins anew, the number of this request of the turn: 2 or more. Absent for the first.
---@field attempt? integer

---A piece of the answer that is being written. Transient; MessageCommitted brings the whole. Where RetryScheduled or
---the next TurnStarted of the run comes instead, the pieces so far are void.
---@class agentls.TextDelta: agentls.EventHeader
---@field type '"TextDelta"' The event's name.
---@field text string The next piece.

---A piece of the model's reasoning. Transient, and void when the pieces of the answer are.
---@class agentls.ReasoningDelta: agentls.EventHeader
---@field type '"ReasoningDelta"' The event's name.
---@field text string The next piece.

---A message of the conversation is stored.
---@class agentls.MessageCommitted: agentls.EventHeader
---@field type '"MessageCommitted"' The event's name.
---@field message agentls.MessageID The message's id.
---@field role '"user"'|'"assistant"'|'"tool"' Who speaks.
---@field text string The text of the message, without reasoning and tool calls.

---The intent of a tool call is stored.
---@class agentls.ToolCallStarted: agentls.EventHeader
---@field type '"ToolCallStarted"' The event's name.
---@field call agentls.CallID The call's id.
---@field tool string The tool's canonical name.
---@field title string The call in one line, such as `read main.go`.

---A long call says how it goes. Transient.
---@class agentls.ToolCallProgress: agentls.EventHeader
---@field type '"ToolCallProgress"' The event's name.
---@field call agentls.CallID The call's id.
---@field message string How it goes, in one line.

---The outcome of a tool call is stored.
---@class agentls.ToolCallFinished: agentls.EventHeader
---@field type '"ToolCallFinished"' The event's name.
---@field call agentls.CallID The call's id.
---@field tool string The tool's canonical name.
---@field status agentls.CallStatus How it ended.
---The exit code of the command that it ran to its end, or saw the end of. The status is `ok` whatever the code: the
---call did what it was asked for.
---@field exitCode? integer
---Which files its command changed that a rule or the mode forbids to change, and why: these changes are not proposed.
---Absent where there are none.
---@field leftOut? string
---@field summary string The outcome in one line, such as `120 lines`.
---@field durationMs agentls.Milliseconds How long it took.

---A question waits for the user.
---@class agentls.AskOpened: agentls.EventHeader
---@field type '"AskOpened"' The event's name.
---@field ask agentls.AskID The ask's id.
---@field tool string The tool that needs the permission.
---@field title string What is asked for, in one line.

---A question was answered or ran out of time.
---@class agentls.AskResolved: agentls.EventHeader
---@field type '"AskResolved"' The event's name.
---@field ask agentls.AskID The ask's id.
---@field decision string `allow` or `deny`.
---@field reason? string Why, where it was not the user who decided.

---A run remarks on a place.
---@class agentls.FindingReported: agentls.EventHeader
---@field type '"FindingReported"' The event's name.
---@field finding agentls.Finding The finding, whole.

---A finding holds no longer.
---@class agentls.FindingCleared: agentls.EventHeader
---@field type '"FindingCleared"' The event's name.
---@field finding agentls.FindingID The finding's id.
---@field uri string The document that it was on.
---@field reason string Why, such as `fixed` or `the text has changed`.

---Hunks were proposed, moved, accepted, rejected or are in conflict.
---@class agentls.ProposalChanged: agentls.EventHeader
---@field type '"ProposalChanged"' The event's name.
---@field proposal agentls.ProposalID The proposal's id.
---@field state agentls.ProposalState Its state as a whole.
---@field uris string[] The documents whose hunks changed.
---@field open integer How many hunks of the whole proposal are open.
---@field conflict integer How many are in conflict.

---The run's list of what is to be done, whole.
---@class agentls.TodoChanged: agentls.EventHeader
---@field type '"TodoChanged"' The event's name.
---@field items agentls.Todo[] The items in order.

---The provider failed and will be asked again. What was streamed of its answer is void: nothing of it is stored, no
---call of it was made. The run waits until the next TurnStarted.
---@class agentls.RetryScheduled: agentls.EventHeader
---@field type '"RetryScheduled"' The event's name.
---@field attempt integer The number of the coming attempt; the first request was number 1.
---@field delayMs agentls.Milliseconds How long until then.
---@field reason string What the provider failed with, in one line.

---The conversation was shortened, so that it fits the model: from here on a summary stands for its earlier messages,
---which stay in the transcript.
---@class agentls.Compacted: agentls.EventHeader
---@field type '"Compacted"' The event's name.
---@field tokensBefore agentls.TokenCount The size of the conversation before.
---@field tokensAfter agentls.TokenCount Its size now.

---Something a person should know.
---@class agentls.Notice: agentls.EventHeader
---@field type '"Notice"' The event's name.
---@field level agentls.NoticeLevel How loud it is.
---@field message string What happened.
---@field hint? string What the user can do.

---The session has a better title, or another summary.
---@class agentls.SessionChanged: agentls.EventHeader
---@field type '"SessionChanged"' The event's name.
---@field title string What it is about, in one line.
---@field summary? string What was done in it, in a few lines; absent before a run of it has ended.

---This client was so slow that events which it has not been sent are kept no longer: up to this event's `seq` they are
---gone. Drop what you have of the session and subscribe again. It is sent in the place of what is missing, and never
---stored.
---@class agentls.EventsTrimmed: agentls.EventHeader
---@field type '"EventsTrimmed"' The event's name.
---@field missing integer How many events are missing.

---A run has ended; nothing of it follows.
---@class agentls.RunFinished: agentls.EventHeader
---@field type '"RunFinished"' The event's name.
---@field status agentls.Status The final status.
---@field reason? string Why it ended so.
---@field result agentls.RunResult The whole result.
---@field usage agentls.Usage What it cost, as in the result.

---LSP's Position, in the position encoding that was negotiated.
---@class agentls.Position
---@field line integer The line, 0-based.
---@field character integer The offset in the line, 0-based, in units of the negotiated encoding.

---LSP's Range, in the position encoding that was negotiated.
---@class agentls.Range
---@field start agentls.Position The start.
---@field end agentls.Position The end, exclusive.

---What one side says under `capabilities.experimental.agentls` of `initialize`. The server sends no request whose
---member the client did not set.
---@class agentls.Support
---@field version string The version of this protocol that the side speaks.
---@field asks? boolean Client: it answers `agent/ask`. Server: it can send it.
---@field questions? boolean Client: it answers `agent/question`. Server: it can send it.
---Client: it answers `agent/model/generate`, and may say by `agent/model/lend` which models it has. Server: it can send
---it.
---@field models? boolean
---@field diagnostics? boolean Client: it answers `agent/diagnostics`. Server: it can send it.
---@field symbols? boolean Client: it answers `agent/symbols`. Server: it can send it.
---Client: it tells the user itself how runs have ended, as `agent/event` says, and which were interrupted, by
---`agentls.interrupted` at its start. The server then sends no `window/showMessage` of these.
---@field endings? boolean

---Where a definition comes from.
---@class agentls.DefinitionSource
---@field layer agentls.Layer The layer.
---@field uri? string The file, where there is one.

---An agent as a list shows it.
---@class agentls.AgentInfo
---@field slug string The name that requests use: lower-case letters, digits and `-`.
---@field title string The name for people.
---@field description string When to use it.
---@field categories agentls.AgentCategory[] Where it can be used.
---@field mode agentls.ExecutionMode How it works.
---@field aliases? string[] Other names that are accepted for it.
---@field model? string The model that it names, as `provider/model`, a preset or `inherit`; absent where it names none.
---@field icon? string One character for lists.
---@field color? string A colour name or `#rrggbb`.
---@field order? integer Its place in lists, the smallest first.
---@field source agentls.DefinitionSource Where its definition comes from.
---@field shadows? agentls.DefinitionSource[] Definitions of the same slug in earlier layers that this one hides.

---One permission rule.
---@class agentls.PermissionRule
---@field tool string The tool's canonical name, or `*`.
---What the call is matched with: for `bash` words, for files a glob from the workspace root. Absent matches every call.
---@field pattern? string
---@field action agentls.RuleAction What the rule says.
---Where the rule comes from, in words: such as `built-in planner`, `agent coder`, `user file`, or `grant` and its id.
---@field layer? string

---Limits of a run. An absent limit, and 0, mean the agent's own or the configured one.
---@class agentls.Limits
---Turns, each an answer of the model. In the last one it only hands over; where it does not, it is asked once more.
---@field maxTurns? integer
---@field timeoutMs? agentls.Milliseconds Time from creation to end.
---@field maxTokens? agentls.TokenCount Input and output tokens together, children included.
---@field maxCost? number US dollars, children included.

---An agent with everything that its definition says, after all layers.
---@class agentls.AgentDefinition: agentls.AgentInfo
---@field prompt string The system prompt, with its variables not yet replaced.
---@field tools string[] Canonical names of the tools that it may use.
---@field disallowedTools? string[] Canonical names of the tools that it may not use.
---@field subagents? string[] The agents that it may delegate to. Absent means all, an empty list none.
---@field limits agentls.Limits Its limits as a root.
---@field permissions? agentls.PermissionRule[] Its own rules, in order.
---@field effort? agentls.Effort How much its model thinks, where that takes it.
---@field permissionMode? agentls.PermissionMode Its permission mode.
---@field contextMode? agentls.ContextMode What it gets as a child.
---@field reminder? string The critical reminder in front of its task.
---@field skills? string[] Skills that are loaded at its start.
---@field mcpServers? string[] MCP servers that it brings.
---All that its definition says, as an object in JSON that `agent/register` and `agent/check` take with the format
---`json`.
---@field definition string

---What is wrong with a definition.
---@class agentls.DefinitionProblem
---@field uri? string The file; absent where the text came with the request.
---@field range agentls.Range The place in the text.
---@field severity agentls.Severity `error` where the definition cannot be used.
---@field message string What is wrong.
---@field hint? string What was probably meant.

---Params of `agent/list`.
---@class agentls.ListAgentsParams
---@field category? agentls.AgentCategory Only agents of this category.

---Result of `agent/list`.
---@class agentls.AgentList
---@field agents agentls.AgentInfo[] The agents in display order. Hidden ones are never among them.
---@field default string The slug of the agent that `agent/run` takes where none is named.

---Names an agent.
---@class agentls.AgentParams
---@field agent string The slug or an alias.

---Params of `agent/register`.
---@class agentls.RegisterAgentParams
---@field text string The definition.
---@field format? agentls.DefinitionFormat How it is written; absent means `markdown`.

---Params of `agent/update`.
---@class agentls.UpdateAgentParams
---@field agent string The slug of an agent that was registered at run time.
---@field text string The new definition, whole.
---@field format? agentls.DefinitionFormat How it is written; absent means `markdown`.

---Result of `agent/register` and `agent/update`.
---@class agentls.RegisterAgentResult
---@field agent? agentls.AgentInfo The agent; absent where an error was found and nothing was changed.
---@field problems agentls.DefinitionProblem[] Every error and warning at once.

---Params of `agent/check`: a text or a document.
---@class agentls.CheckAgentParams
---@field text? string The definition.
---@field format? agentls.DefinitionFormat How the text is written; absent means `markdown`.
---@field uri? string The document to check as the editor shows it, where no text is given.

---Result of `agent/check`.
---@class agentls.AgentProblems
---@field problems agentls.DefinitionProblem[] Every error and warning; empty where all is well.

---What the editor points at.
---@class agentls.RunContext
---@field uri? string The document that the run is launched on. It need not be saved.
---@field range? agentls.Range The selection in it.
---@field uris? string[] More documents that the agent should know of.
---Changes of the repository, unsaved text included: they are put into the prompt, and the changed files into the
---context. Where they are large, each file gets a child of its own. The error is `failed` where nothing has changed.
---@field changes? agentls.ChangeScope

---Which changes of the repository are meant that the workspace folders lie in.
---@class agentls.ChangeScope
---@field kind agentls.ChangeKind Which changes.
---@field revision? string The branch, tag or commit of the kinds `base` and `commit`.
---@field uris? string[] Only what lies in these files and folders.

---Params of `agent/run`.
---@class agentls.RunParams
---@field agent? string The slug or an alias; absent means the default agent.
---What to do, where `@path`, `@path:10-20`, `@"a path"`, `@folder/`, `@symbol`, `@diff` and `@diagnostics` bring along
---what they name, as it is then, and `@picture.png` the image where the model takes it; what the agent may not see is
---refused, and what names nothing is text. `/name` and arguments call a prompt of `agent/prompts` by its first word; a
---name that there is not is the error `not_found`.
---@field prompt string
---The session to go on with, which is open in this process; of one that has ended, `agent/resume` goes on with a run.
---Absent means the window's own session: the one of this connection, made on its first use.
---@field session? agentls.SessionID
---The run whose conversation this prompt follows: everything said and done there is known. It has ended, and its agent
---and mode are those of this run, too, so that `agent` and `permissionMode` are absent.
---@field after? agentls.RunID
---@field context? agentls.RunContext What the editor points at.
---@field each? string[] Start one child for each of these documents, in parallel.
---@field model? string The model for this run, as `provider/model` or the name of a preset.
---How much the model thinks. Absent means as the definition, the preset, or the model has it. The error is
---`invalid_request` where the model takes none.
---@field effort? agentls.Effort
---@field permissionMode? agentls.PermissionMode How much it asks.
---@field limits? agentls.Limits Limits that are tighter or wider than the agent's own.
---A JSON Schema, draft 2020-12, of an object, in at most 16 KiB. The final answer is held to it: the model is told what
---does not fit, twice at most, and then the run has failed with `output_mismatch`. The object is in the result's
---`structured`. Not with `each` and `iterations`. The error is `invalid_request` where the schema cannot be used,
---before anything is sent.
---@field outputSchema? agentls.LSPObject
---Repeat, each time afresh with a summary of the last, until the success check passes or so many passes are made.
---Absent, 0 and 1 mean once. A prompt that begins with `/iter N` asks for the same.
---@field iterations? integer
---The success check of `iterations`: a command line, run after each pass on what the agent proposes, with its rights.
---Absent means that a pass which says that the task is done, and had nothing to change, is the last.
---@field until? string
---`until` by the name that people are shown: a command line that says whether the prompt's task is reached. Without
---`iterations`, up to 10 passes are made for it.
---@field goal? string

---A run was created. It goes on after the answer.
---@class agentls.RunStarted
---@field session agentls.SessionID Its session.
---@field run agentls.RunID Its id, for `agent/wait` and `agent/cancel`.

---Params of `agent/wait`.
---@class agentls.WaitParams
---@field run agentls.RunID The run.
---Answer with the state of that moment after so long; absent and 0 mean wait for the end.
---@field timeoutMs? agentls.Milliseconds
---Where to report the run's progress while waiting. It ends with the answer, and the editor cannot cancel the run by
---it: `agent/cancel` does.
---@field workDoneToken? agentls.ProgressToken

---Params of `agent/cancel`.
---@class agentls.CancelParams
---@field run agentls.RunID The run to stop, with everything below it.

---Params of `agent/steer`.
---@class agentls.SteerParams
---@field run agentls.RunID A run that has not ended.
---@field message string What the agent is told at its next turn.

---Params of `agent/resume`.
---@class agentls.ResumeParams
---@field run agentls.RunID A run that has ended, in whatever way.
---@field prompt? string What to do now; absent means go on.

---A session as a list shows it.
---@class agentls.SessionInfo
---@field id agentls.SessionID The session's id.
---@field title string A name for people, in one line.
---@field summary? string What was done in it, in a few lines; absent before a run of it has ended.
---@field folders string[] The workspace folders that it works on.
---@field created agentls.Timestamp When it was created.
---@field updated agentls.Timestamp When its last event happened.
---@field status agentls.Status The status of its latest root run.
---@field runs integer How many runs it has, children included.
---@field openHunks integer How many proposed hunks wait for the user.
---@field usage agentls.Usage What all its runs cost.

---A run as a tree shows it.
---@class agentls.RunInfo
---@field id agentls.RunID The run's id.
---@field session agentls.SessionID Its session.
---@field parent? agentls.RunID The run that started it; absent for a root.
---@field agent string The slug of the agent.
---@field role string What the agent works as, as in RunCreated.
---@field depth integer 0 for a root.
---@field title string A name for people, in one line.
---@field model string The model, as `provider/model`.
---@field status agentls.Status Its status.
---@field reason? string Why it has this status.
---@field created agentls.Timestamp When it was created.
---@field finished? agentls.Timestamp When it ended; absent while it has not.
---How many requests went to the model; of a run that a fork or an import copied, how many answers its conversation has.
---@field turns integer
---@field budgetUsed integer The largest used share of any of its limits, in percent, 0 to 100.
---@field message string What it is doing, in one line.
---@field usage agentls.Usage What it has cost so far.
---The run that it goes on with; absent for one that begins anew, and where that run was deleted.
---@field resumes? agentls.RunID
---@field uri? string The document that it was launched on, where there was one.
---@field background? boolean Whether the run that started it does not wait for it.
---The file that tells how far a run in the background is, and then what came of it; absent for others.
---@field outputUri? string
---How far its task is done, by its end and by what it handed over; `partial` where a limit cut it off. Absent while it
---has not ended.
---@field outcome? agentls.ChildStatus
---Once it has ended, the files that its edits changed or made: paths from the workspace root, with forward slashes.
---@field files? string[]

---Params of `agent/sessions`.
---@class agentls.SessionsParams
---@field folder? string Only sessions on this workspace folder.
---@field limit? integer At most so many; absent and 0 mean 100.
---@field before? agentls.SessionID Only sessions behind this one in the list: the last of the page before.

---Result of `agent/sessions`.
---@class agentls.SessionList
---@field sessions agentls.SessionInfo[] The sessions, the latest updated first.
---@field more boolean Whether there are more behind the last.

---Names a session.
---@class agentls.SessionParams
---@field session agentls.SessionID The session.

---A session with its tree of runs.
---@class agentls.SessionDetail: agentls.SessionInfo
---@field tree agentls.RunInfo[] The runs, each behind its parent, in order of creation.

---Params of `agent/session/export`.
---@class agentls.ExportSessionParams
---@field session agentls.SessionID The session.
---@field format? agentls.ExportFormat How; absent means `jsonl`.

---Result of `agent/session/export`.
---@class agentls.SessionExport
---@field format agentls.ExportFormat How the text is written.
---@field text string The whole session. Secrets are taken out.

---Params of `agent/session/fork`.
---@class agentls.ForkSessionParams
---@field session agentls.SessionID The session to copy.
---@field message? agentls.MessageID The last message that the copy has; absent means all.

---Result of `agent/session/fork`.
---@class agentls.SessionForked
---@field session agentls.SessionID The copy.

---Params of `agent/transcript`.
---@class agentls.TranscriptParams
---@field run agentls.RunID The run.
---@field after? agentls.MessageID Only messages behind this one.
---@field limit? integer At most so many; absent and 0 mean 200.

---A tool call in a transcript.
---@class agentls.TranscriptCall
---@field call agentls.CallID The call's id.
---@field tool string The tool's canonical name.
---@field arguments string The arguments as the model sent them: JSON, if it kept to it.
---@field status? agentls.CallStatus How it ended; absent while it has not, and where no outcome is known.
---The exit code of the command that it ran to its end, or saw the end of. The status is `ok` whatever the code: the
---call did what it was asked for.
---@field exitCode? integer
---@field output? string What the model was told.
---@field durationMs? agentls.Milliseconds How long it took.
---@field child? agentls.RunID The run that the call started.

---One message of a transcript.
---@class agentls.TranscriptMessage
---@field id agentls.MessageID The message's id.
---The message that it follows; of a summary, the last one that it stands for. Absent for the first.
---@field parent? agentls.MessageID
---@field run agentls.RunID The run that it belongs to.
---@field role '"user"'|'"assistant"'|'"tool"' Who speaks.
---@field time agentls.Timestamp When it was stored.
---Its text, in Markdown. Results of calls are with the calls, so that a message of the role `tool` has none.
---@field text string
---Whether the conversation was shortened here: from now on the message stands for those up to its `parent`.
---@field compacted? boolean
---@field reasoning? string The model's reasoning.
---@field model? string Who answered, as `provider/model`; absent for what no model said.
---@field usage? agentls.Usage What this one request used; absent where that is not recorded.
---@field calls? agentls.TranscriptCall[] The tool calls that it makes.

---Result of `agent/transcript`.
---@class agentls.Transcript
---@field messages agentls.TranscriptMessage[] The messages in order.
---@field more boolean Whether there are more behind the last.

---Params of `agent/subscribe`.
---@class agentls.SubscribeParams
---The session, of whatever process; absent means the window's own, which is made where there is none yet.
---@field session? agentls.SessionID
---The number of the last event that the client has of the session; absent means none, and that it starts from the
---snapshot.
---@field since? agentls.Sequence

---A session at one moment.
---@class agentls.SessionSnapshot
---@field session agentls.SessionInfo The session.
---@field seq agentls.Sequence The number of the last event that is in the snapshot.
---@field tree agentls.RunInfo[] The runs, each behind its parent, in order of creation.
---@field findings agentls.Finding[] The findings that hold.
---@field proposals agentls.Proposal[] The proposals that are not closed.
---@field asks agentls.Ask[] The questions that are open.

---Result of `agent/subscribe`. Without `since`, events behind each snapshot's `seq` follow. With it, events behind
---`since` follow, unless `reset` is true.
---@class agentls.SubscribeResult
---The events since `since` are no longer all there: drop what you have and start from the snapshot. Events behind its
---`seq` follow.
---@field reset? boolean
---@field sessions agentls.SessionSnapshot[] The snapshots.

---One piece of a proposed edit.
---@class agentls.Hunk
---@field id agentls.HunkID The hunk's id.
---@field state agentls.ProposalState Its state.
---The lines of the document as the editor shows it that the hunk replaces, in the negotiated position encoding.
---@field range agentls.Range
---@field before string The text in the range, line ends as they are in the document.
---@field after string The text to put there.
---@field reason string Why, in a sentence; may be empty.
---@field run? agentls.RunID The run that wrote it last.
---@field agent? string The slug of that run's agent.
---@field detail? string Why the hunk is in its state, in a sentence.
---@field current? string What stands in the range now, for a hunk in conflict.

---The hunks of one file.
---@class agentls.ProposalFile
---@field uri string The document.
---`conflict` if a hunk is in conflict, else `open` if a hunk is open, else how the last was closed.
---@field state agentls.ProposalState
---@field change? agentls.FileChange What happens to the file; absent means `modified`.
---@field newUri? string Where a renamed file goes.
---@field version? integer The version of the open document that the ranges are for; absent where it is not open.
---@field hunks agentls.Hunk[] The hunks in the order of the text.

---The difference between what the editor shows and what the agents of a session propose.
---@class agentls.Proposal
---@field id agentls.ProposalID The proposal's id.
---@field session agentls.SessionID Its session.
---@field run agentls.RunID The run that proposed last.
---@field agent string The slug of that run's agent.
---@field title string What it is for, in one line.
---@field state agentls.ProposalState Its state as a whole.
---@field files agentls.ProposalFile[] The files, sorted by URI.

---Params of `agent/proposals`.
---@class agentls.ProposalsParams
---@field session? agentls.SessionID Only of this session; absent means all of this connection's workspace.

---Result of `agent/proposals`.
---@class agentls.ProposalList
---@field proposals agentls.Proposal[] The proposals, the oldest first; closed ones are not among them.
---The runs with accepted edits that `agent/undo` can take back, the latest first. They are roots; edits of their
---children count as theirs. Empty for a session that is not the window's own.
---@field undoable agentls.RunInfo[]

---Chooses hunks of a proposal. Without `files` and `hunks` it means everything open; with both, the hunks of either.
---@class agentls.ProposalParams
---@field proposal agentls.ProposalID The proposal.
---@field files? string[] All open hunks of these documents.
---@field hunks? agentls.HunkID[] These hunks.

---Chooses hunks of a proposal, as ProposalParams does.
---@class agentls.AcceptParams
---@field proposal agentls.ProposalID The proposal.
---@field files? string[] All open hunks of these documents.
---@field hunks? agentls.HunkID[] These hunks.
---Also takes those of `hunks` that are in conflict: the agent's text replaces what stands at their lines now. Absent
---means that a hunk in conflict fails.
---@field overwrite? boolean

---A hunk that could not be taken.
---@class agentls.HunkFailure
---@field hunk agentls.HunkID The hunk.
---@field reason string Why, and what to do.

---Result of `agent/proposal/accept` and `agent/undo`.
---@class agentls.AcceptResult
---@field applied agentls.HunkID[] The hunks that the editor has applied.
---@field failed agentls.HunkFailure[] The hunks that stay open, and why.

---Result of `agent/proposal/reject`.
---@class agentls.RejectResult
---@field rejected agentls.HunkID[] The hunks that are gone.
---@field failed agentls.HunkFailure[] The hunks that could not be rejected, and why.

---Result of `agent/proposal/diff`.
---@class agentls.ProposalDiff
---A unified diff, paths from the workspace root, from the document as the editor shows it to the proposed text.
---@field diff string
---@field conflicts? string Both sides of the chosen hunks in conflict, which fit no diff, for people.
---The document of the scheme `agentls` that has the same text, for clients with `workspace/textDocumentContent`; it is
---kept up to date. Absent for a choice that has no name.
---@field uri? string

---Params of `agent/undo`.
---@class agentls.UndoParams
---@field run agentls.RunID The run whose accepted edits are taken back. What the user did since is kept.
---@field hunks? agentls.HunkID[] Only these; absent means all that the run's edits left and that can be taken back.

---Params of `agent/rewind`.
---@class agentls.RewindParams
---The run of the prompt that is to be as if it had never been. It has ended, as has all that went on with it.
---@field run agentls.RunID

---Result of `agent/rewind`.
---@class agentls.RewindResult
---The run that the next prompt follows, as `after` in `agent/run`; absent where the conversation began with the prompt.
---@field after? agentls.RunID
---@field runs agentls.RunID[] The runs of the user that were gone back behind, oldest first.
---@field rejected agentls.HunkID[] The open edits that are gone.
---@field undone agentls.HunkID[] The accepted edits that the editor has taken back.
---@field failed agentls.HunkFailure[] The edits that stay, and why.

---Params of `agent/restore`.
---@class agentls.RestoreParams
---@field run agentls.RunID The run of the prompt that was gone back behind.

---Result of `agent/restore`.
---@class agentls.RestoreResult
---@field runs agentls.RunID[] The run and the runs of the user that went on with it, oldest first.
---@field proposed agentls.HunkID[] The edits that are open again.
---@field failed agentls.HunkFailure[] The other edits, such as those in conflict, and why they are not open.

---Params of `agent/conversation`.
---@class agentls.ConversationParams
---@field run? agentls.RunID The run that the next prompt is to follow; absent for a conversation that begins.

---Result of `agent/conversation`.
---@class agentls.Conversation
---@field uri string The document.

---Params of `agent/conversation/send`.
---@class agentls.SendPromptParams
---@field uri string The conversation, which is open.

---Result of `agent/conversation/send`.
---@class agentls.SentPrompt
---@field session agentls.SessionID The session of the run.
---@field run agentls.RunID The run that answers.
---@field steered boolean Whether the run was at work already, and the prompt steers it.

---Params of `agent/conversation/rewind`.
---@class agentls.RewindConversationParams
---@field uri string The conversation, which is open.
---@field run agentls.RunID The run that answers the prompt in the document.

---A question to the user: for permission, or what an agent wants to know.
---@class agentls.Ask
---@field id agentls.AskID The ask's id.
---@field session agentls.SessionID The session.
---@field run agentls.RunID The run that waits.
---@field agent string The slug of its agent.
---@field tool string The tool that needs the permission.
---@field title string What is asked for, in one line.
---@field detail? string The whole call, such as the command line or the diff, as plain text.
---@field always? string The rule pattern that an `allow` with the scope `project` would allow from then on.
---@field created agentls.Timestamp Since when it is open.
---@field expires? agentls.Timestamp When it is denied if nobody answers.
---@field question? agentls.Question What an agent wants to know, where it is no question for permission.

---The user's answer.
---@class agentls.AskAnswer
---@field decision agentls.Decision What was decided.
---@field scope? agentls.Scope How long it holds; absent means `once`.
---When an answer for longer than once ends by itself; absent means never. It must lie ahead.
---@field expires? agentls.Timestamp

---Params of `agent/asks`.
---@class agentls.AsksParams
---@field session? agentls.SessionID Only of this session; absent means all of this connection's workspace.

---Result of `agent/asks`.
---@class agentls.AskList
---@field asks agentls.Ask[] The open asks, the oldest first.

---Params of `agent/ask/answer`.
---@class agentls.AnswerAskParams
---@field ask agentls.AskID The ask.
---@field decision agentls.Decision What was decided.
---@field scope? agentls.Scope How long it holds; absent means `once`.
---When an answer for longer than once ends by itself; absent means never. It must lie ahead.
---@field expires? agentls.Timestamp
---With `allow`, the answer to an agent's question: labels of its choices, or the user's own words. Without, `deny`
---leaves it to the agent.
---@field answers? string[]

---A remembered permission.
---@class agentls.Grant
---@field id agentls.GrantID The grant's id.
---@field tool string The tool's canonical name.
---@field pattern string The calls that it is for.
---@field decision agentls.Decision What was decided.
---@field scope agentls.Scope How long it holds.
---@field session? agentls.SessionID Where the scope is `session` or `run`.
---@field run? agentls.RunID Where the scope is `run`.
---@field created agentls.Timestamp When it was given.
---When it ends by itself; absent where it does not. Those that have ended are not listed.
---@field expires? agentls.Timestamp

---Params of `agent/grants`.
---@class agentls.GrantsParams
---@field session? agentls.SessionID Only those that bind this session; absent means all of this connection's workspace.

---Result of `agent/grants`.
---@class agentls.GrantList
---@field grants agentls.Grant[] The grants, the latest first.

---Params of `agent/revoke`.
---@class agentls.RevokeParams
---@field grant agentls.GrantID The grant to take back.

---Params of `agent/explain`: a call to decide on, without making it, or what an agent is instructed to do, without
---starting it.
---@class agentls.ExplainParams
---@field tool? string The tool's name; absent where only the instructions are wanted.
---A document that the agent would be started on, of whose folders the instructions count; absent means none. With `run`
---it does not count.
---@field uri? string
---What rules are matched with: the command line for `bash`, a path from the workspace root for files, a URL for the
---network.
---@field call? string
---@field agent? string The agent that would make the call; absent means the default agent.
---@field run? agentls.RunID The run that would make it, whose parents bind it too.

---A file with instructions of the user or the project, such as `AGENTS.md`.
---@class agentls.InstructionFile
---@field uri string The file.
---@field importedBy? string The file that imports it; absent for one that counts by its name.
---@field size integer Its length in bytes; 0 for a file that is not given.
---How many of its bytes are left out, since all files together are longer than `instructions.max_bytes`; absent for
---none.
---@field cut? integer
---@field unseen? integer How many characters are left out that nobody sees; absent for none.
---Why the file is not given, as the end of a sentence that begins with its name; absent for one that is.
---@field omitted? string

---Result of `agent/explain`.
---@class agentls.Explanation
---What instructs the run, or would instruct the agent, in the order in which it is told: what comes later counts more.
---Then the files that are not given.
---@field instructions agentls.InstructionFile[]
---@field action? agentls.RuleAction What would happen; absent where no tool is named.
---@field rule? agentls.PermissionRule The rule that decides; absent where none matches and the default does.
---@field reason? string The decision in words; absent where no tool is named.
---@field always? string The rule pattern that an "always" would allow.

---No members.
---@class agentls.NoParams

---Params of `agent/models`: for which run the choice is shown.
---@class agentls.ModelsParams
---@field agent? string Its agent; absent means the default one.
---@field model? string The model that `agent/run` would name.

---What may decide which model a run takes.
---@class agentls.ModelCandidate
---@field source string Where the name comes from, in words, such as `the agent's definition`.
---The model that it names, as `provider/model` where that is known, else a provider; absent where it names none.
---@field name? string
---@field reason? string Why it counts, or why not.
---@field chosen boolean Whether it decides.

---A model that can be chosen.
---@class agentls.ModelInfo
---@field name string `provider/model`, or the name of a preset.
---@field title? string A name for people.
---@field contextTokens? agentls.TokenCount The size of its context; absent where it is not known.
---@field available boolean Whether a run could use it now.
---@field reason? string Why not, and what to do, such as which key is missing.

---Result of `agent/models`.
---@class agentls.ModelList
---@field models agentls.ModelInfo[] The models, available ones first.
---@field order agentls.ModelCandidate[] What is looked at, in order, up to the one that decides.
---@field default string The model that the run would take.
---@field reason string Why that one.

---Params of `agent/usage`.
---@class agentls.UsageParams
---@field by? agentls.UsageGroup What to sum up by; absent means `session`.
---@field session? agentls.SessionID Only this session.
---@field run? agentls.RunID Only this run and its children.
---@field since? agentls.Timestamp Only runs created at or after this time.

---The usage of one group.
---@class agentls.UsageRow
---@field key string The run, agent, model, session, day (`2026-01-02`), or project (its folders, joined by `, `).
---@field runs integer How many runs.
---@field ended integer How many of them came to an end by themselves: neither cancelled nor interrupted.
---How many of those have done their whole task: no limit cut them off, and none handed over that it failed or that
---something is left.
---@field completed integer
---@field turns integer How many requests to models.
---@field durationMs agentls.Milliseconds The time of the runs that have ended, together.
---@field usage agentls.Usage What they cost; without a cost where that of any is not known.
---@field knownCost number The part of the cost that is known, in US dollars.

---Result of `agent/usage`.
---@class agentls.UsageReport
---@field rows agentls.UsageRow[] The groups, the most expensive first; days in order.
---@field total agentls.UsageRow All together; its key is empty.

---A skill.
---@class agentls.SkillInfo
---@field name string Its name.
---@field description string When to use it.
---@field uri? string Its SKILL.md; absent for one that is part of agentls.
---@field layer agentls.Layer Where it comes from.

---Params of `agent/skills`.
---@class agentls.SkillsParams
---@field folder? string The workspace folder whose skills count too; absent means all folders.

---Result of `agent/skills`.
---@class agentls.SkillList
---@field skills agentls.SkillInfo[] The skills, by name.

---A prompt that a user may call.
---@class agentls.PromptInfo
---@field name string Its name, without the `/`.
---@field description string What it does; empty where nobody says.
---@field arguments? string What may stand behind the name, for people; absent for nothing.
---@field source agentls.PromptSource Whose format it is in.
---@field layer agentls.Layer Where it comes from.
---@field uri? string Its file; absent for what is part of agentls.

---Params of `agent/prompts`.
---@class agentls.PromptsParams
---@field session? agentls.SessionID A session that is open in this process; absent means the window's own.

---Result of `agent/prompts`.
---@class agentls.PromptList
---@field prompts agentls.PromptInfo[] The prompts, by name.

---Params of `agent/expand`.
---@class agentls.ExpandParams
---@field prompt string The prompt, as `agent/run` would get it.
---The agent that would get it, which may see less than others; absent means that of the prompt's file, or the default
---one.
---@field agent? string
---@field session? agentls.SessionID A session that is open in this process; absent means the window's own.
---@field context? agentls.RunContext What the editor points at. It does not change what the words become.

---Result of `agent/expand`.
---@class agentls.Expansion
---@field text string The words, and behind them what they bring.
---@field prompt? agentls.PromptInfo The prompt that it calls; absent for none.
---@field parts agentls.PromptPart[] What it is made of: first the words.
---@field refused agentls.PromptRefusal[] What keeps it from being sent; empty where nothing does.

---A part of a prompt that would be sent.
---@class agentls.PromptPart
---@field kind agentls.PromptPartKind What it is.
---@field name? string Its name in the prompt; absent for the words.
---@field about? string What of it is sent; absent for all.
---@field uri? string The file; absent for what is none.
---@field text? string What is sent of it; absent for a command, whose output a run would send.

---Something of a prompt that may not be sent.
---@class agentls.PromptRefusal
---@field mention string What it is about, as it stands in the prompt.
---@field reason string Why, and what to do.

---An MCP server.
---@class agentls.MCPServer
---@field name string Its name.
---@field layer agentls.Layer Where it comes from.
---@field state agentls.MCPState Its state.
---@field error? agentls.Failure Why it failed.
---@field address string Its command or URL, for people; without what may be a key.
---@field tools string[] Names of its tools, as agents call them.
---Its prompts. `/` and the name of one, with its arguments in order behind it, is a prompt for `agent/run`.
---@field prompts agentls.MCPPrompt[]

---A prompt of an MCP server.
---@class agentls.MCPPrompt
---@field name string Its name, as users call it.
---@field description? string What it is for.
---@field arguments agentls.MCPArgument[] Its arguments, in order.

---An argument of a prompt.
---@class agentls.MCPArgument
---@field name string Its name.
---@field description? string What it is for.
---@field required boolean Whether the prompt needs it.

---Result of `agent/mcp`.
---@class agentls.MCPList
---@field servers agentls.MCPServer[] The servers, by name.

---Params of `agent/trust`.
---@class agentls.TrustParams
---@field folder? string A workspace folder; absent means the first one.
---@field change? '"trust"'|'"revoke"' Trust what the folder holds now, or trust it no longer; absent only asks.

---Something in a folder that acts once the folder is trusted.
---@class agentls.TrustedItem
---@field uri string The file.
---@field kind string `agent`, `hook`, `mcp`, `config`, `instructions`, `skill` or `prompt`.
---@field description string What it does, in one line.

---Result of `agent/trust`.
---@class agentls.TrustResult
---@field folder string The folder.
---@field trusted boolean Whether it is trusted now. A change of what acts ends the trust.
---@field items agentls.TrustedItem[] What acts, or would.

---One answer to choose.
---@class agentls.Choice
---@field label string What is shown, and sent back.
---@field description? string What it means.

---A question to the user, of an agent or of the server itself.
---@class agentls.Question
---@field id agentls.AskID The question's id.
---@field session agentls.SessionID The session.
---The run that waits; absent where the server itself asks, such as which agent to delegate to.
---@field run? agentls.RunID
---@field agent string The slug of its agent; `agentls` where the server itself asks.
---@field question string What is asked.
---@field choices? agentls.Choice[] The answers to choose from; absent means free text only.
---@field multiple? boolean Whether several may be chosen.
---@field freeText? boolean Whether other text may be given beside the choices.

---The user's answer.
---@class agentls.QuestionAnswer
---@field answers string[] The labels that were chosen, or the text.

---A part of a message to or from a model. Its kind says which members it has.
---@class agentls.ModelPart
---`text` and `reasoning` have `text`; `call` has `id`, `name` and `arguments`; `result` has `id`, `name`, `text` and
---`error`.
---@field kind '"text"'|'"reasoning"'|'"call"'|'"result"'
---@field text? string The text.
---@field id? string The model's own id of the tool call.
---@field name? string The tool.
---@field arguments? agentls.LSPObject The arguments of the call.
---@field error? boolean Whether the call failed.

---A message to or from a model.
---@class agentls.ModelMessage
---@field role '"user"'|'"assistant"'|'"tool"' Who speaks.
---@field parts agentls.ModelPart[] What is said, in order.

---A tool that is offered to a model.
---@class agentls.ModelTool
---@field name string Its name.
---@field description string What it does.
---@field schema agentls.JSONSchema The schema of its arguments.

---Params of `agent/model/generate`: one turn of the editor's own language model.
---@class agentls.GenerateParams
---@field run agentls.RunID The run that asks.
---@field model? string Which of the editor's models, an `id` of `agent/model/lend`; absent means its choice.
---@field system string The system prompt.
---The conversation. Its parts are of the kinds `text`, `call` and `result`; each call has its result in the message of
---the role `tool` behind it.
---@field messages agentls.ModelMessage[]
---@field tools agentls.ModelTool[] The tools on offer.
---The answer is to be a text: the tools are listed only since the conversation has calls of them. Calls that come all
---the same are not made.
---@field noCalls? boolean
---@field maxTokens? agentls.TokenCount The limit of the answer; absent and 0 mean the model's own.
---@field temperature? number Absent means the model's own.
---Where to send pieces of the answer with `$/progress` while it is written, each a ModelPart: of the kind `text` or
---`reasoning` with the next words, or `call` with nothing but the `name`, as soon as a call begins. Pieces are for
---showing; what counts is the result.
---@field partialResultToken? agentls.ProgressToken

---Result of `agent/model/generate`.
---@class agentls.GenerateResult
---The whole answer of the role `assistant`, also where pieces were sent before, with parts of the kinds `text`,
---`reasoning` and `call`. A call without an `id` gets one.
---@field message agentls.ModelMessage
---Why the model stopped: it had no more to say, it waits for the results of its calls, the answer is as long as it may
---be, or the model declined.
---@field stop '"end"'|'"calls"'|'"length"'|'"refused"'
---@field usage? agentls.Usage What it used, where that is known. Without it the tokens are estimated.

---A model that the editor lends.
---@class agentls.LentModel
---@field id string The editor's own name of it. Runs use it as `editor/ID`.
---@field title? string A name for people.
---How many tokens a request and its answer may have together, where it is known.
---@field contextTokens? agentls.TokenCount
---@field noCalls? boolean It cannot call tools, and is offered none.

---Params of `agent/model/lend`.
---@class agentls.LendModelsParams
---@field models agentls.LentModel[] The models, the one to take where none is named first.

---Params of `agent/diagnostics`.
---@class agentls.EditorDiagnosticsParams
---@field uri? string The document; absent means all that the editor knows of.

---A diagnostic that the editor shows, whoever made it.
---@class agentls.EditorDiagnostic
---@field range agentls.Range The place.
---@field severity agentls.Severity How grave it is.
---@field message string The text.
---@field source? string Who made it.
---@field code? string Its code.

---The diagnostics of one document.
---@class agentls.DocumentDiagnostics
---@field uri string The document.
---@field version? integer The version that they are for, where it is known.
---@field diagnostics agentls.EditorDiagnostic[] The diagnostics, without those of agentls.

---Result of `agent/diagnostics`.
---@class agentls.EditorDiagnostics
---@field documents agentls.DocumentDiagnostics[] The documents that have any.

---Params of `agent/symbols`.
---@class agentls.SymbolsParams
---@field query agentls.SymbolQuery What is asked.
---@field uri? string The document, for all but `workspace`.
---@field position? agentls.Position The place, for `definition` and `references`.
---@field name? string What the name has to match, for `workspace`.

---A symbol or a place.
---@class agentls.EditorSymbol
---@field uri string The document.
---@field range agentls.Range The place.
---@field name? string The symbol's name, where it is known.
---@field kind? string LSP's SymbolKind in lower case, such as `function`.
---@field container? string The name of what it is in.

---Result of `agent/symbols`.
---@class agentls.EditorSymbols
---@field symbols agentls.EditorSymbol[] What was found.

---Params of `agent/status`.
---@class agentls.StatusParams
---@field health agentls.Health How the server is.
---@field quiescent boolean Whether nothing runs.
---@field message? string What there is to say about it, in Markdown.
---@field statusline? string The line for the editor's status bar, as plain text.

---Argument of the command `agentls.review`.
---@class agentls.ReviewParams
---The document. Without it and `uris`, the open document that was last touched in the editor: opened, changed or saved.
---@field uri? string
---@field range? agentls.Range Only this part of it.
---@field uris? string[] Several documents, each reviewed by a child of its own.
---Review what has changed, instead of whole documents: findings are on changed lines, and elsewhere only where a change
---is the cause.
---@field changes? agentls.ChangeScope
---@field prompt? string What to look at in particular.
---@field model? string The model for this run, as `provider/model` or the name of a preset.

---Argument of the command `agentls.explain`.
---@class agentls.ExplainCodeParams
---@field uri? string The document; absent means the open one that was last touched in the editor.
---@field range? agentls.Range Only this part of it.

---Argument of the commands that have an agent work on code: `agentls.rewrite`, `agentls.tests` and `agentls.plan`.
---@class agentls.CodeTaskParams
---@field uri? string The document; absent means the open one that was last touched in the editor.
---@field range? agentls.Range Only this part of it.
---@field prompt? string What is wanted, in the user's words.
---@field model? string The model for this run, as `provider/model` or the name of a preset.

---Argument of the command `agentls.remember`.
---@class agentls.RememberParams
---@field text string What agents shall know from now on: a rule or a fact in a sentence, of at most 500 bytes.
---The document that it is about: the nearest `AGENTS.md` above that is taken. Absent means the one of the first
---workspace folder.
---@field uri? string

---Argument of the command `agentls.delegate`.
---@class agentls.DelegateParams
---@field uri? string The document; absent means the open one that was last touched in the editor.
---@field range? agentls.Range Only this part of it.
---A slug or alias; absent means that the user is asked: by `agent/question` where that is announced, else by
---`window/showMessageRequest`.
---@field agent? string
---The task. Absent: a client that announces `questions` is asked for it, too; elsewhere it is the agent's usual work on
---the document.
---@field prompt? string
---@field model? string The model for this run, as `provider/model` or the name of a preset.

---Argument of the command `agentls.request`.
---@class agentls.RequestParams
---@field uri string The document.
---@field line integer A line of the comment, 0-based.

---Argument of the command `agentls.fix`: a finding, or a document and a diagnostic that the editor shows in it.
---@class agentls.FixParams
---@field finding? agentls.FindingID The finding to fix.
---@field uri? string The document of the diagnostic.
---@field diagnostic? agentls.EditorDiagnostic The diagnostic to fix, whoever made it.

---Argument of the command `agentls.proposal.others`.
---@class agentls.OtherFilesParams
---@field uri string The document whose own edits are left out.

---Result of the command `agentls.proposal.others`.
---@class agentls.OtherFilesResult
---@field applied agentls.HunkID[] The hunks that the user accepted, and that are in the editor's documents now.
---@field rejected agentls.HunkID[] The hunks that the user rejected.
---@field failed agentls.HunkFailure[] The hunks that stay as they were, and why.

---Argument of the command `agentls.more`.
---@class agentls.MoreParams
---@field actions agentls.MoreAction[] The actions from which the user chooses. There is at least one.

---A code action for which the menu had no room.
---@class agentls.MoreAction
---@field title string For people.
---@field command string The command that it carries out.
---@field argument agentls.LSPObject The command's argument.

---Result of the command `agentls.more`.
---@class agentls.MoreResult
---@field command? string The command of the action that the user chose; absent where the user chose none.
---@field started? agentls.RunStarted The run that the action started; absent where it started none.

---Result of the command `agentls.interrupted`.
---@class agentls.InterruptedResult
---The runs that go on with those that were cut off; none where the user only looked.
---@field started agentls.RunStarted[]

return M
