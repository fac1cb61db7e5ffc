// Generated from schema/agent.metamodel.json. Do not edit.

/** The version of the protocol. */
export type Version = '0.1.0';

/** Names a session: a conversation on a workspace. Opaque. */
export type SessionID = string;

/** Names a run: one agent at work, the root of a prompt or a child. Opaque. */
export type RunID = string;

/** Names one committed message of a run's conversation. Opaque. */
export type MessageID = string;

/** Names one tool call. Opaque. */
export type CallID = string;

/** Names one finding. Opaque. */
export type FindingID = string;

/** Names the open edits of one session. Opaque. */
export type ProposalID = string;

/** Names one hunk of a proposal. Opaque. */
export type HunkID = string;

/** Names one open question to the user. Opaque. */
export type AskID = string;

/** Names one remembered permission. Opaque. */
export type GrantID = string;

/**
 * The number of a stored event: a whole number that counts from 1 in each session without a gap. 0 means before the
 * first.
 */
export type Sequence = number;

/** A number of tokens: a whole number, 0 or more. */
export type TokenCount = number;

/** A duration in milliseconds: a whole number, 0 or more. */
export type Milliseconds = number;

/** A point in time in UTC: RFC 3339, such as `2026-01-02T03:04:05Z`, with up to nine digits of a second. */
export type Timestamp = string;

/** LSP's ProgressToken. */
export type ProgressToken =
  | number
  | string;

/** A JSON Schema, draft 2020-12, whose root describes an object. */
export type JSONSchema = LSPObject;

/** LSP's object: any JSON object. */
export type LSPObject = { [key: string]: LSPAny };

/** LSP's any: any JSON value. */
export type LSPAny =
  | string
  | number
  | number
  | number
  | boolean
  | null
  | LSPObject
  | LSPArray;

/** LSP's array: any JSON array. */
export type LSPArray = LSPAny[];

/** Every event. The set is closed: `type` tells them apart, and a receiver ignores a type that it does not know. */
export type Event =
  | RunCreated
  | RunStatusChanged
  | RunProgress
  | TurnStarted
  | TextDelta
  | ReasoningDelta
  | MessageCommitted
  | ToolCallStarted
  | ToolCallProgress
  | ToolCallFinished
  | AskOpened
  | AskResolved
  | FindingReported
  | FindingCleared
  | ProposalChanged
  | TodoChanged
  | RetryScheduled
  | Compacted
  | Notice
  | SessionChanged
  | EventsTrimmed
  | RunFinished;

/** Whose format a prompt is in. */
export type PromptSource =
  /** agentls's own: `.agentls/prompts`, or `prompts` in the user's folder of its configuration. */
  | 'agentls'
  /** Claude Code's: `.claude/commands`. */
  | 'claude'
  /** OpenCode's: `.opencode/command` or `.opencode/commands`. */
  | 'opencode'
  /** VS Code's: `.github/prompts/*.prompt.md`. */
  | 'github'
  /** A skill, called by the user. */
  | 'skill'
  /** Others may come from a newer peer. */
  | (string & {});

/** What a part of a prompt is. */
export type PromptPartKind =
  /** The words themselves, with the arguments in their places. */
  | 'text'
  /** A file, or lines of it. */
  | 'file'
  /** What is in a folder. */
  | 'folder'
  /** The uncommitted changes. */
  | 'diff'
  /** What is known to be wrong. */
  | 'diagnostics'
  /** What defines a name. */
  | 'symbol'
  /** An image. */
  | 'image'
  /** A command that the run would begin with. */
  | 'command'
  /** Others may come from a newer peer. */
  | (string & {});

/** Which changes of a repository are meant. */
export type ChangeKind =
  /**
   * What the editor shows and the last commit has not: staged or not, saved or not, and files that nobody has added.
   */
  | 'uncommitted'
  /** What the next commit would bring. */
  | 'staged'
  /** What the editor shows and the last commit in common with `revision` has not. */
  | 'base'
  /** What the commit `revision` brings, against its first parent. */
  | 'commit'
  /** Others may come from a newer peer. */
  | (string & {});

/** How far a child says that its task is done. */
export type ChildStatus =
  /** All of it is done. */
  | 'completed'
  /** Something is left, which its report says. */
  | 'partial'
  /** It could not be done. */
  | 'failed'
  /** Somebody cancelled it, or a run above it. */
  | 'cancelled'
  /** Its time was used up. */
  | 'timeout'
  /** The server ended before it did. */
  | 'interrupted'
  /** Others may come from a newer peer. */
  | (string & {});

/** The state of a run: pending, then running and waiting in turn, then one of the five final ones. */
export type Status =
  /** It was created and has not begun. */
  | 'pending'
  /** A request to the model or a tool call is under way. */
  | 'running'
  /** It waits for a slot, an ask, its children or a provider; the reason says which. */
  | 'waiting'
  /** Final: it came to its end. */
  | 'completed'
  /** Final: an error ended it. */
  | 'failed'
  /** Final: somebody cancelled it, or a run above it. */
  | 'cancelled'
  /** Final: its time was used up. */
  | 'timeout'
  /** Final: the server ended before it did. It can be resumed. */
  | 'interrupted'
  /** Others may come from a newer peer. */
  | (string & {});

/** How a tool call ended. */
export type CallStatus =
  /** It did what was asked. */
  | 'ok'
  /** It failed; the model was told why. */
  | 'error'
  /** A rule or the user did not allow it. */
  | 'denied'
  /** The run was cancelled before the call ended. */
  | 'cancelled'
  /** Others may come from a newer peer. */
  | (string & {});

/** How grave a finding is, in the words of LSP's DiagnosticSeverity. */
export type Severity =
  /** The code is wrong. */
  | 'error'
  /** The code is likely wrong, or will be. */
  | 'warning'
  /** Worth knowing. */
  | 'information'
  /** A suggestion. */
  | 'hint'
  /** Others may come from a newer peer. */
  | (string & {});

/** The state of a proposal, of a file in it, or of a hunk. */
export type ProposalState =
  /** It waits for the user. */
  | 'open'
  /** The editor applied it. */
  | 'accepted'
  /** The user does not want it. */
  | 'rejected'
  /** The text below has changed so that it no longer fits. */
  | 'conflict'
  /** A later edit took its place. */
  | 'superseded'
  /** Others may come from a newer peer. */
  | (string & {});

/** How loud a notice is. */
export type NoticeLevel =
  /** For the log. */
  | 'info'
  /** Something may not be as expected. */
  | 'warning'
  /** Something went wrong. */
  | 'error'
  /** Others may come from a newer peer. */
  | (string & {});

/** What kind of error a request ended with (`data.kind`). */
export type ErrorKind =
  /** The params do not have the documented form; the detail names the member. */
  | 'invalid_params'
  /** There is no request of that name. */
  | 'method_not_found'
  /** The request may not be sent, or not now, such as after `shutdown`. */
  | 'invalid_request'
  /** The request came before `initialize`. */
  | 'not_initialized'
  /** What was asked about has changed meanwhile. */
  | 'content_modified'
  /** It could not be done, for another reason. */
  | 'failed'
  /** There is no agent, run, session, proposal, hunk, ask or grant of that name. */
  | 'not_found'
  /** The agent exists but its definition has errors. */
  | 'invalid_definition'
  /** A rule, a limit, missing trust, or the state that the run is in forbids it. */
  | 'not_allowed'
  /** No model can be used for it. */
  | 'no_model'
  /** Another living process works with it. */
  | 'in_use'
  /** The client did not announce what this needs. */
  | 'unsupported'
  /** The request was cancelled by the client. */
  | 'cancelled'
  /** The user closed the question that had to be answered first. */
  | 'dismissed'
  /** The server is about to end and starts nothing new. */
  | 'shutting_down'
  /** A fault in agentls itself; its log says more. */
  | 'internal'
  /** Others may come from a newer peer. */
  | (string & {});

/** Where an agent can be used. */
export type AgentCategory =
  /** A user can start it. */
  | 'primary'
  /** Other agents can delegate to it. */
  | 'subagent'
  /** The engine uses it; it is never listed. */
  | 'hidden'
  /** Others may come from a newer peer. */
  | (string & {});

/** How an agent works. */
export type ExecutionMode =
  /** A loop of model turns and tool calls. */
  | 'agentic'
  /** One answer, no tools. */
  | 'single_shot'
  /** A chat, shown as it is written. */
  | 'streaming'
  /** Read-only tools; the product is a plan file. */
  | 'planning'
  /** Others may come from a newer peer. */
  | (string & {});

/** How much a model thinks before it answers. */
export type Effort =
  /** Little: fast and cheap. */
  | 'low'
  /** Between the two. */
  | 'medium'
  /** Much. */
  | 'high'
  /** Others may come from a newer peer. */
  | (string & {});

/** How much a run asks. No mode lifts a deny, and none is wider than the parent's. */
export type PermissionMode =
  /** As the rules say. */
  | 'default'
  /** Nothing is changed. */
  | 'plan'
  /** Proposals are applied without review. */
  | 'accept_edits'
  /** Nothing is asked. */
  | 'bypass'
  /** Others may come from a newer peer. */
  | (string & {});

/** What a child gets of its parent's conversation. */
export type ContextMode =
  /** Nothing but the task. */
  | 'none'
  /** All of it. */
  | 'full'
  /** A summary. */
  | 'summary'
  /** Named files and the last messages. */
  | 'selective'
  /** Others may come from a newer peer. */
  | (string & {});

/** Where a definition, skill or rule comes from. A later one wins. */
export type Layer =
  /** Part of agentls. */
  | 'builtin'
  /** A plugin folder. */
  | 'plugin'
  /** The user's configuration. */
  | 'user'
  /** The workspace folder, if it is trusted. */
  | 'project'
  /** This session. */
  | 'session'
  /** Registered at run time. */
  | 'runtime'
  /** Others may come from a newer peer. */
  | (string & {});

/** What a rule says. */
export type RuleAction =
  /** Do it. */
  | 'allow'
  /** Ask the user. */
  | 'ask'
  /** Do not do it. */
  | 'deny'
  /** Others may come from a newer peer. */
  | (string & {});

/** How the text of a definition is written. */
export type DefinitionFormat =
  /** agentls's own: Markdown with YAML frontmatter. */
  | 'markdown'
  /** A document with `[[agents]]`. */
  | 'toml'
  /** A JSON object. */
  | 'json'
  /** Others may come from a newer peer. */
  | (string & {});

/** How a transcript is written out. */
export type ExportFormat =
  /** One JSON object a line, with parent links. It can be imported. */
  | 'jsonl'
  /** For reading. */
  | 'markdown'
  /** Others may come from a newer peer. */
  | (string & {});

/** What happens to a file. */
export type FileChange =
  /** Its text changes. */
  | 'modified'
  /** It is new. */
  | 'created'
  /** It goes. */
  | 'deleted'
  /** It goes to `newUri`; its text may change, too. */
  | 'renamed'
  /** Others may come from a newer peer. */
  | (string & {});

/** What the user decided. */
export type Decision =
  /** Do it. */
  | 'allow'
  /** Do not do it. */
  | 'deny'
  /** Others may come from a newer peer. */
  | (string & {});

/** How long a decision holds. */
export type Scope =
  /** For this call. */
  | 'once'
  /** For this run and its children. */
  | 'run'
  /** For this session. */
  | 'session'
  /** For this workspace folder, until it is revoked. */
  | 'project'
  /** Others may come from a newer peer. */
  | (string & {});

/** What usage is summed up by. */
export type UsageGroup =
  /** Each run. */
  | 'run'
  /** Each agent. */
  | 'agent'
  /** Each model. */
  | 'model'
  /** Each session. */
  | 'session'
  /** Each set of workspace folders. */
  | 'project'
  /** Each day in UTC. */
  | 'day'
  /** Others may come from a newer peer. */
  | (string & {});

/** The state of an MCP server. */
export type MCPState =
  /** Not started yet; it starts with the first run that needs it. */
  | 'stopped'
  /** It is being started. */
  | 'starting'
  /** Its tools can be used. */
  | 'ready'
  /** It could not be started, or has ended. */
  | 'failed'
  /** It comes from a folder that is not trusted. */
  | 'untrusted'
  /** Others may come from a newer peer. */
  | (string & {});

/** What is asked of the editor's own language servers. */
export type SymbolQuery =
  /** Where the symbol at the position is defined. */
  | 'definition'
  /** Where the symbol at the position is used. */
  | 'references'
  /** All symbols of the document. */
  | 'document'
  /** Symbols of the workspace whose name matches. */
  | 'workspace'
  /** Others may come from a newer peer. */
  | (string & {});

/** How the server is. */
export type Health =
  /** All is well. */
  | 'ok'
  /** It works, but not fully; the message says why. */
  | 'warning'
  /** It does not work; the message says why and what to do. */
  | 'error'
  /** Others may come from a newer peer. */
  | (string & {});

/**
 * A range of text in bytes of UTF-8. It does not depend on the position encoding of a connection, and so is not LSP's
 * `Range`.
 */
export interface Span {
  /** The first line, 0-based. */
  startLine: number;
  /** The column in the first line, 0-based, in bytes of UTF-8. */
  startColumn: number;
  /** The last line, 0-based. */
  endLine: number;
  /** The column behind the last byte, 0-based, in bytes of UTF-8: the end is exclusive. */
  endColumn: number;
}

/** What a run cost, its children included. */
export interface Usage {
  /** Tokens sent, without those that the provider's cache served. */
  inputTokens: TokenCount;
  /** Tokens received, reasoning included. */
  outputTokens: TokenCount;
  /** Tokens sent that the provider's cache served. */
  cachedTokens: TokenCount;
  /** The price in US dollars; absent where it is not known. */
  cost?: number;
}

/** What went wrong, in words for a person. It is also the `data` of every error answer. */
export interface Failure {
  /**
   * A word for programs: an ErrorKind, or what a model's provider failed with, such as `rate_limit`, `network` or
   * `auth`.
   */
  kind: string;
  /** What happened, and where. */
  detail: string;
  /** What the user can do about it. */
  hint?: string;
}

/** One tool call in a RunResult. */
export interface CallSummary {
  /** The tool's canonical name. */
  name: string;
  /** How the call ended. */
  status: CallStatus;
  /** How long it took. */
  durationMs: Milliseconds;
}

/**
 * The report of a child to its parent. Files and counts come from what the engine saw, not from what the model claims.
 */
export interface ChildResult {
  /**
   * How far its task is done: what it says where it came to its end, else what its end says. Absent in what was stored
   * by former versions.
   */
  status?: ChildStatus;
  /** The outcome in a sentence or two. */
  summary: string;
  /** All that the parent needs to go on, in Markdown. */
  details?: string;
  /** Paths of changed files, from the workspace root, with forward slashes. */
  filesModified?: string[];
  /** Paths of new files, from the workspace root, with forward slashes. */
  filesCreated?: string[];
  /** How many tests ran. */
  testsRun?: number;
  /** How many of them passed. */
  testsPassed?: number;
  /** What the parent should doubt, such as a claim that the engine did not see happen. */
  warnings?: string[];
  /** What could be done next. */
  suggestions?: string[];
  /** How many requests went to the model. */
  iterations?: number;
  /** From its creation to its end, waiting included. */
  durationMs?: Milliseconds;
  /** Tokens sent and received, without those that the provider's cache served; its children included. */
  tokens?: TokenCount;
  /** The price in US dollars, its children included; absent where it is not known. */
  cost?: number;
}

/** The end of a run, or its state so far where the status is not final. */
export interface RunResult {
  /** The status of the run at this moment. */
  status: Status;
  /** Why it ended so, such as the limit that it reached. */
  reason?: string;
  /** The final text of the agent, in Markdown; what there is of it where the run was cut short. */
  output: string;
  /** What ended the run, where its status is `failed`. */
  error?: Failure;
  /** The structured report, where the run is a child. */
  result?: ChildResult;
  /** The object of the final answer, where the run was started with an `outputSchema`. It fits that. */
  structured?: LSPObject;
  /** What it cost. */
  usage: Usage;
  /** How many requests went to the model. */
  turns: number;
  /** From its creation to its end, waiting included. */
  durationMs: Milliseconds;
  /** Every tool call of the run itself, in order. */
  toolCalls: CallSummary[];
  /** The runs that it started, in order. */
  children: RunID[];
  /** The proposal that holds its edits, where there are any. */
  proposal?: ProposalID;
  /**
   * How far its task is done, by its end and by what it handed over; `partial` where a limit cut it off. Absent while
   * it has not ended.
   */
  outcome?: ChildStatus;
  /**
   * Once it has ended, the files that its edits changed or made: paths from the workspace root, with forward slashes.
   */
  files?: string[];
}

/** One remark of a run on a place in a file. */
export interface Finding {
  /** The finding's own id. */
  id: FindingID;
  /** The document. */
  uri: string;
  /** The place in the text that the agent saw. */
  span: Span;
  /** How grave it is. */
  severity: Severity;
  /** A short kebab-case name, such as `dropped-error`. */
  rule?: string;
  /** What is wrong, and what to do about it. */
  message: string;
  /** Who found it: a model, `agentls rules`, or a checker such as `go vet`. */
  source?: string;
  /** The proposed edit that would resolve it, where there is one. */
  hunk?: HunkID;
}

/** One item of a run's list of what is to be done. */
export interface Todo {
  /** What is to be done. */
  text: string;
  /** How far it is. */
  state: 'pending' | 'in_progress' | 'done' | 'cancelled';
}

/** What all events have: the envelope. */
export interface EventHeader {
  /**
   * Numbers the stored events of the session. A transient event (TextDelta, ReasoningDelta, RunProgress,
   * ToolCallProgress) is not stored and has the number of the last stored one. A number that is missing means that a
   * client was too slow (EventsTrimmed).
   */
  seq: Sequence;
  /** The session that it happened in. */
  session: SessionID;
  /** The run that it happened to; absent for an event of the whole session. */
  run?: RunID;
  /** When it happened. */
  time: Timestamp;
}

/** A run exists. */
export interface RunCreated extends EventHeader {
  /** The event's name. */
  type: 'RunCreated';
  /** The run that started it; absent for a root. */
  parent?: RunID;
  /** The slug of the agent. */
  agent: string;
  /** What the agent works as: `primary` for a root, `subagent` for a child, `hidden` for the engine's own agents. */
  role: string;
  /** 0 for a root, one more for each parent. */
  depth: number;
  /** A name of the run for people, in one line. */
  title: string;
  /** What it was asked, as it was given. */
  prompt: string;
  /** The model, as `provider/model`. */
  model: string;
  /** The run that it goes on with; absent for one that begins anew. */
  resumes?: RunID;
  /**
   * How the agent works, an ExecutionMode: `agentic`, `single_shot`, `streaming` or `planning`. Absent for runs that
   * former versions stored.
   */
  mode?: string;
  /** Whether the run that started it does not wait for it. */
  background?: boolean;
  /** The file that tells how far a run in the background is, and then what came of it; absent for others. */
  outputUri?: string;
  /** The document that the run was launched on, where there was one. */
  uri?: string;
}

/** A run changed its status. */
export interface RunStatusChanged extends EventHeader {
  /** The event's name. */
  type: 'RunStatusChanged';
  /** The new status. */
  status: Status;
  /** Why, such as what it waits for. */
  reason?: string;
}

/** How far a run is. Transient; the next one replaces it. */
export interface RunProgress extends EventHeader {
  /** The event's name. */
  type: 'RunProgress';
  /** The turn under way; 0 before the first. */
  turn: number;
  /** The largest used share of any of its limits, in percent, 0 to 100. It never goes down. */
  budgetUsed: number;
  /** What it has cost so far. */
  usage: Usage;
  /** How many tool calls it has made. */
  toolCalls: number;
  /** The last five things that it did, the latest last, each in one line. */
  activities: string[];
  /** What it is doing, in one line; once it has ended, the first line of its result. */
  message: string;
}

/**
 * A request goes to the model. What was streamed of the run's former answer and did not become a MessageCommitted is
 * void: no call of it was made.
 */
export interface TurnStarted extends EventHeader {
  /** The event's name. */
  type: 'TurnStarted';
  /** The number of the turn, counted from 1. */
  turn: number;
  /** Where the turn begins anew, the number of this request of the turn: 2 or more. Absent for the first. */
  attempt?: number;
}

/**
 * A piece of the answer that is being written. Transient; MessageCommitted brings the whole. Where RetryScheduled or
 * the next TurnStarted of the run comes instead, the pieces so far are void.
 */
export interface TextDelta extends EventHeader {
  /** The event's name. */
  type: 'TextDelta';
  /** The next piece. */
  text: string;
}

/** A piece of the model's reasoning. Transient, and void when the pieces of the answer are. */
export interface ReasoningDelta extends EventHeader {
  /** The event's name. */
  type: 'ReasoningDelta';
  /** The next piece. */
  text: string;
}

/** A message of the conversation is stored. */
export interface MessageCommitted extends EventHeader {
  /** The event's name. */
  type: 'MessageCommitted';
  /** The message's id. */
  message: MessageID;
  /** Who speaks. */
  role: 'user' | 'assistant' | 'tool';
  /** The text of the message, without reasoning and tool calls. */
  text: string;
}

/** The intent of a tool call is stored. */
export interface ToolCallStarted extends EventHeader {
  /** The event's name. */
  type: 'ToolCallStarted';
  /** The call's id. */
  call: CallID;
  /** The tool's canonical name. */
  tool: string;
  /** The call in one line, such as `read main.go`. */
  title: string;
}

/** A long call says how it goes. Transient. */
export interface ToolCallProgress extends EventHeader {
  /** The event's name. */
  type: 'ToolCallProgress';
  /** The call's id. */
  call: CallID;
  /** How it goes, in one line. */
  message: string;
}

/** The outcome of a tool call is stored. */
export interface ToolCallFinished extends EventHeader {
  /** The event's name. */
  type: 'ToolCallFinished';
  /** The call's id. */
  call: CallID;
  /** The tool's canonical name. */
  tool: string;
  /** How it ended. */
  status: CallStatus;
  /**
   * The exit code of the command that it ran to its end, or saw the end of. The status is `ok` whatever the code: the
   * call did what it was asked for.
   */
  exitCode?: number;
  /**
   * Which files its command changed that a rule or the mode forbids to change, and why: these changes are not proposed.
   * Absent where there are none.
   */
  leftOut?: string;
  /** The outcome in one line, such as `120 lines`. */
  summary: string;
  /** How long it took. */
  durationMs: Milliseconds;
}

/** A question waits for the user. */
export interface AskOpened extends EventHeader {
  /** The event's name. */
  type: 'AskOpened';
  /** The ask's id. */
  ask: AskID;
  /** The tool that needs the permission. */
  tool: string;
  /** What is asked for, in one line. */
  title: string;
}

/** A question was answered or ran out of time. */
export interface AskResolved extends EventHeader {
  /** The event's name. */
  type: 'AskResolved';
  /** The ask's id. */
  ask: AskID;
  /** `allow` or `deny`. */
  decision: string;
  /** Why, where it was not the user who decided. */
  reason?: string;
}

/** A run remarks on a place. */
export interface FindingReported extends EventHeader {
  /** The event's name. */
  type: 'FindingReported';
  /** The finding, whole. */
  finding: Finding;
}

/** A finding holds no longer. */
export interface FindingCleared extends EventHeader {
  /** The event's name. */
  type: 'FindingCleared';
  /** The finding's id. */
  finding: FindingID;
  /** The document that it was on. */
  uri: string;
  /** Why, such as `fixed` or `the text has changed`. */
  reason: string;
}

/** Hunks were proposed, moved, accepted, rejected or are in conflict. */
export interface ProposalChanged extends EventHeader {
  /** The event's name. */
  type: 'ProposalChanged';
  /** The proposal's id. */
  proposal: ProposalID;
  /** Its state as a whole. */
  state: ProposalState;
  /** The documents whose hunks changed. */
  uris: string[];
  /** How many hunks of the whole proposal are open. */
  open: number;
  /** How many are in conflict. */
  conflict: number;
}

/** The run's list of what is to be done, whole. */
export interface TodoChanged extends EventHeader {
  /** The event's name. */
  type: 'TodoChanged';
  /** The items in order. */
  items: Todo[];
}

/**
 * The provider failed and will be asked again. What was streamed of its answer is void: nothing of it is stored, no
 * call of it was made. The run waits until the next TurnStarted.
 */
export interface RetryScheduled extends EventHeader {
  /** The event's name. */
  type: 'RetryScheduled';
  /** The number of the coming attempt; the first request was number 1. */
  attempt: number;
  /** How long until then. */
  delayMs: Milliseconds;
  /** What the provider failed with, in one line. */
  reason: string;
}

/**
 * The conversation was shortened, so that it fits the model: from here on a summary stands for its earlier messages,
 * which stay in the transcript.
 */
export interface Compacted extends EventHeader {
  /** The event's name. */
  type: 'Compacted';
  /** The size of the conversation before. */
  tokensBefore: TokenCount;
  /** Its size now. */
  tokensAfter: TokenCount;
}

/** Something a person should know. */
export interface Notice extends EventHeader {
  /** The event's name. */
  type: 'Notice';
  /** How loud it is. */
  level: NoticeLevel;
  /** What happened. */
  message: string;
  /** What the user can do. */
  hint?: string;
}

/** The session has a better title, or another summary. */
export interface SessionChanged extends EventHeader {
  /** The event's name. */
  type: 'SessionChanged';
  /** What it is about, in one line. */
  title: string;
  /** What was done in it, in a few lines; absent before a run of it has ended. */
  summary?: string;
}

/**
 * This client was so slow that events which it has not been sent are kept no longer: up to this event's `seq` they are
 * gone. Drop what you have of the session and subscribe again. It is sent in the place of what is missing, and never
 * stored.
 */
export interface EventsTrimmed extends EventHeader {
  /** The event's name. */
  type: 'EventsTrimmed';
  /** How many events are missing. */
  missing: number;
}

/** A run has ended; nothing of it follows. */
export interface RunFinished extends EventHeader {
  /** The event's name. */
  type: 'RunFinished';
  /** The final status. */
  status: Status;
  /** Why it ended so. */
  reason?: string;
  /** The whole result. */
  result: RunResult;
  /** What it cost, as in the result. */
  usage: Usage;
}

/** LSP's Position, in the position encoding that was negotiated. */
export interface Position {
  /** The line, 0-based. */
  line: number;
  /** The offset in the line, 0-based, in units of the negotiated encoding. */
  character: number;
}

/** LSP's Range, in the position encoding that was negotiated. */
export interface Range {
  /** The start. */
  start: Position;
  /** The end, exclusive. */
  end: Position;
}

/**
 * What one side says under `capabilities.experimental.agentls` of `initialize`. The server sends no request whose
 * member the client did not set.
 */
export interface Support {
  /** The version of this protocol that the side speaks. */
  version: string;
  /** Client: it answers `agent/ask`. Server: it can send it. */
  asks?: boolean;
  /** Client: it answers `agent/question`. Server: it can send it. */
  questions?: boolean;
  /**
   * Client: it answers `agent/model/generate`, and may say by `agent/model/lend` which models it has. Server: it can
   * send it.
   */
  models?: boolean;
  /** Client: it answers `agent/diagnostics`. Server: it can send it. */
  diagnostics?: boolean;
  /** Client: it answers `agent/symbols`. Server: it can send it. */
  symbols?: boolean;
  /**
   * Client: it tells the user itself how runs have ended, as `agent/event` says, and which were interrupted, by
   * `agentls.interrupted` at its start. The server then sends no `window/showMessage` of these.
   */
  endings?: boolean;
}

/** Where a definition comes from. */
export interface DefinitionSource {
  /** The layer. */
  layer: Layer;
  /** The file, where there is one. */
  uri?: string;
}

/** An agent as a list shows it. */
export interface AgentInfo {
  /** The name that requests use: lower-case letters, digits and `-`. */
  slug: string;
  /** The name for people. */
  title: string;
  /** When to use it. */
  description: string;
  /** Where it can be used. */
  categories: AgentCategory[];
  /** How it works. */
  mode: ExecutionMode;
  /** Other names that are accepted for it. */
  aliases?: string[];
  /** The model that it names, as `provider/model`, a preset or `inherit`; absent where it names none. */
  model?: string;
  /** One character for lists. */
  icon?: string;
  /** A colour name or `#rrggbb`. */
  color?: string;
  /** Its place in lists, the smallest first. */
  order?: number;
  /** Where its definition comes from. */
  source: DefinitionSource;
  /** Definitions of the same slug in earlier layers that this one hides. */
  shadows?: DefinitionSource[];
}

/** One permission rule. */
export interface PermissionRule {
  /** The tool's canonical name, or `*`. */
  tool: string;
  /**
   * What the call is matched with: for `bash` words, for files a glob from the workspace root. Absent matches every
   * call.
   */
  pattern?: string;
  /** What the rule says. */
  action: RuleAction;
  /**
   * Where the rule comes from, in words: such as `built-in planner`, `agent coder`, `user file`, or `grant` and its id.
   */
  layer?: string;
}

/** Limits of a run. An absent limit, and 0, mean the agent's own or the configured one. */
export interface Limits {
  /**
   * Turns, each an answer of the model. In the last one it only hands over; where it does not, it is asked once more.
   */
  maxTurns?: number;
  /** Time from creation to end. */
  timeoutMs?: Milliseconds;
  /** Input and output tokens together, children included. */
  maxTokens?: TokenCount;
  /** US dollars, children included. */
  maxCost?: number;
}

/** An agent with everything that its definition says, after all layers. */
export interface AgentDefinition extends AgentInfo {
  /** The system prompt, with its variables not yet replaced. */
  prompt: string;
  /** Canonical names of the tools that it may use. */
  tools: string[];
  /** Canonical names of the tools that it may not use. */
  disallowedTools?: string[];
  /** The agents that it may delegate to. Absent means all, an empty list none. */
  subagents?: string[];
  /** Its limits as a root. */
  limits: Limits;
  /** Its own rules, in order. */
  permissions?: PermissionRule[];
  /** How much its model thinks, where that takes it. */
  effort?: Effort;
  /** Its permission mode. */
  permissionMode?: PermissionMode;
  /** What it gets as a child. */
  contextMode?: ContextMode;
  /** The critical reminder in front of its task. */
  reminder?: string;
  /** Skills that are loaded at its start. */
  skills?: string[];
  /** MCP servers that it brings. */
  mcpServers?: string[];
  /**
   * All that its definition says, as an object in JSON that `agent/register` and `agent/check` take with the format
   * `json`.
   */
  definition: string;
}

/** What is wrong with a definition. */
export interface DefinitionProblem {
  /** The file; absent where the text came with the request. */
  uri?: string;
  /** The place in the text. */
  range: Range;
  /** `error` where the definition cannot be used. */
  severity: Severity;
  /** What is wrong. */
  message: string;
  /** What was probably meant. */
  hint?: string;
}

/** Params of `agent/list`. */
export interface ListAgentsParams {
  /** Only agents of this category. */
  category?: AgentCategory;
}

/** Result of `agent/list`. */
export interface AgentList {
  /** The agents in display order. Hidden ones are never among them. */
  agents: AgentInfo[];
  /** The slug of the agent that `agent/run` takes where none is named. */
  default: string;
}

/** Names an agent. */
export interface AgentParams {
  /** The slug or an alias. */
  agent: string;
}

/** Params of `agent/register`. */
export interface RegisterAgentParams {
  /** The definition. */
  text: string;
  /** How it is written; absent means `markdown`. */
  format?: DefinitionFormat;
}

/** Params of `agent/update`. */
export interface UpdateAgentParams {
  /** The slug of an agent that was registered at run time. */
  agent: string;
  /** The new definition, whole. */
  text: string;
  /** How it is written; absent means `markdown`. */
  format?: DefinitionFormat;
}

/** Result of `agent/register` and `agent/update`. */
export interface RegisterAgentResult {
  /** The agent; absent where an error was found and nothing was changed. */
  agent?: AgentInfo;
  /** Every error and warning at once. */
  problems: DefinitionProblem[];
}

/** Params of `agent/check`: a text or a document. */
export interface CheckAgentParams {
  /** The definition. */
  text?: string;
  /** How the text is written; absent means `markdown`. */
  format?: DefinitionFormat;
  /** The document to check as the editor shows it, where no text is given. */
  uri?: string;
}

/** Result of `agent/check`. */
export interface AgentProblems {
  /** Every error and warning; empty where all is well. */
  problems: DefinitionProblem[];
}

/** What the editor points at. */
export interface RunContext {
  /** The document that the run is launched on. It need not be saved. */
  uri?: string;
  /** The selection in it. */
  range?: Range;
  /** More documents that the agent should know of. */
  uris?: string[];
  /**
   * Changes of the repository, unsaved text included: they are put into the prompt, and the changed files into the
   * context. Where they are large, each file gets a child of its own. The error is `failed` where nothing has changed.
   */
  changes?: ChangeScope;
}

/** Which changes of the repository are meant that the workspace folders lie in. */
export interface ChangeScope {
  /** Which changes. */
  kind: ChangeKind;
  /** The branch, tag or commit of the kinds `base` and `commit`. */
  revision?: string;
  /** Only what lies in these files and folders. */
  uris?: string[];
}

/** Params of `agent/run`. */
export interface RunParams {
  /** The slug or an alias; absent means the default agent. */
  agent?: string;
  /**
   * What to do, where `@path`, `@path:10-20`, `@"a path"`, `@folder/`, `@symbol`, `@diff` and `@diagnostics` bring
   * along what they name, as it is then, and `@picture.png` the image where the model takes it; what the agent may not
   * see is refused, and what names nothing is text. `/name` and arguments call a prompt of `agent/prompts` by its first
   * word; a name that there is not is the error `not_found`.
   */
  prompt: string;
  /**
   * The session to go on with, which is open in this process; of one that has ended, `agent/resume` goes on with a run.
   * Absent means the window's own session: the one of this connection, made on its first use.
   */
  session?: SessionID;
  /**
   * The run whose conversation this prompt follows: everything said and done there is known. It has ended, and its
   * agent and mode are those of this run, too, so that `agent` and `permissionMode` are absent.
   */
  after?: RunID;
  /** What the editor points at. */
  context?: RunContext;
  /** Start one child for each of these documents, in parallel. */
  each?: string[];
  /** The model for this run, as `provider/model` or the name of a preset. */
  model?: string;
  /**
   * How much the model thinks. Absent means as the definition, the preset, or the model has it. The error is
   * `invalid_request` where the model takes none.
   */
  effort?: Effort;
  /** How much it asks. */
  permissionMode?: PermissionMode;
  /** Limits that are tighter or wider than the agent's own. */
  limits?: Limits;
  /**
   * A JSON Schema, draft 2020-12, of an object, in at most 16 KiB. The final answer is held to it: the model is told
   * what does not fit, twice at most, and then the run has failed with `output_mismatch`. The object is in the result's
   * `structured`. Not with `each` and `iterations`. The error is `invalid_request` where the schema cannot be used,
   * before anything is sent.
   */
  outputSchema?: LSPObject;
  /**
   * Repeat, each time afresh with a summary of the last, until the success check passes or so many passes are made.
   * Absent, 0 and 1 mean once. A prompt that begins with `/iter N` asks for the same.
   */
  iterations?: number;
  /**
   * The success check of `iterations`: a command line, run after each pass on what the agent proposes, with its rights.
   * Absent means that a pass which says that the task is done, and had nothing to change, is the last.
   */
  until?: string;
  /**
   * `until` by the name that people are shown: a command line that says whether the prompt's task is reached. Without
   * `iterations`, up to 10 passes are made for it.
   */
  goal?: string;
}

/** A run was created. It goes on after the answer. */
export interface RunStarted {
  /** Its session. */
  session: SessionID;
  /** Its id, for `agent/wait` and `agent/cancel`. */
  run: RunID;
}

/** Params of `agent/wait`. */
export interface WaitParams {
  /** The run. */
  run: RunID;
  /** Answer with the state of that moment after so long; absent and 0 mean wait for the end. */
  timeoutMs?: Milliseconds;
  /**
   * Where to report the run's progress while waiting. It ends with the answer, and the editor cannot cancel the run by
   * it: `agent/cancel` does.
   */
  workDoneToken?: ProgressToken;
}

/** Params of `agent/cancel`. */
export interface CancelParams {
  /** The run to stop, with everything below it. */
  run: RunID;
}

/** Params of `agent/steer`. */
export interface SteerParams {
  /** A run that has not ended. */
  run: RunID;
  /** What the agent is told at its next turn. */
  message: string;
}

/** Params of `agent/resume`. */
export interface ResumeParams {
  /** A run that has ended, in whatever way. */
  run: RunID;
  /** What to do now; absent means go on. */
  prompt?: string;
}

/** A session as a list shows it. */
export interface SessionInfo {
  /** The session's id. */
  id: SessionID;
  /** A name for people, in one line. */
  title: string;
  /** What was done in it, in a few lines; absent before a run of it has ended. */
  summary?: string;
  /** The workspace folders that it works on. */
  folders: string[];
  /** When it was created. */
  created: Timestamp;
  /** When its last event happened. */
  updated: Timestamp;
  /** The status of its latest root run. */
  status: Status;
  /** How many runs it has, children included. */
  runs: number;
  /** How many proposed hunks wait for the user. */
  openHunks: number;
  /** What all its runs cost. */
  usage: Usage;
}

/** A run as a tree shows it. */
export interface RunInfo {
  /** The run's id. */
  id: RunID;
  /** Its session. */
  session: SessionID;
  /** The run that started it; absent for a root. */
  parent?: RunID;
  /** The slug of the agent. */
  agent: string;
  /** What the agent works as, as in RunCreated. */
  role: string;
  /** 0 for a root. */
  depth: number;
  /** A name for people, in one line. */
  title: string;
  /** The model, as `provider/model`. */
  model: string;
  /** Its status. */
  status: Status;
  /** Why it has this status. */
  reason?: string;
  /** When it was created. */
  created: Timestamp;
  /** When it ended; absent while it has not. */
  finished?: Timestamp;
  /**
   * How many requests went to the model; of a run that a fork or an import copied, how many answers its conversation
   * has.
   */
  turns: number;
  /** The largest used share of any of its limits, in percent, 0 to 100. */
  budgetUsed: number;
  /** What it is doing, in one line. */
  message: string;
  /** What it has cost so far. */
  usage: Usage;
  /** The run that it goes on with; absent for one that begins anew, and where that run was deleted. */
  resumes?: RunID;
  /** The document that it was launched on, where there was one. */
  uri?: string;
  /** Whether the run that started it does not wait for it. */
  background?: boolean;
  /** The file that tells how far a run in the background is, and then what came of it; absent for others. */
  outputUri?: string;
  /**
   * How far its task is done, by its end and by what it handed over; `partial` where a limit cut it off. Absent while
   * it has not ended.
   */
  outcome?: ChildStatus;
  /**
   * Once it has ended, the files that its edits changed or made: paths from the workspace root, with forward slashes.
   */
  files?: string[];
}

/** Params of `agent/sessions`. */
export interface SessionsParams {
  /** Only sessions on this workspace folder. */
  folder?: string;
  /** At most so many; absent and 0 mean 100. */
  limit?: number;
  /** Only sessions behind this one in the list: the last of the page before. */
  before?: SessionID;
}

/** Result of `agent/sessions`. */
export interface SessionList {
  /** The sessions, the latest updated first. */
  sessions: SessionInfo[];
  /** Whether there are more behind the last. */
  more: boolean;
}

/** Names a session. */
export interface SessionParams {
  /** The session. */
  session: SessionID;
}

/** A session with its tree of runs. */
export interface SessionDetail extends SessionInfo {
  /** The runs, each behind its parent, in order of creation. */
  tree: RunInfo[];
}

/** Params of `agent/session/export`. */
export interface ExportSessionParams {
  /** The session. */
  session: SessionID;
  /** How; absent means `jsonl`. */
  format?: ExportFormat;
}

/** Result of `agent/session/export`. */
export interface SessionExport {
  /** How the text is written. */
  format: ExportFormat;
  /** The whole session. Secrets are taken out. */
  text: string;
}

/** Params of `agent/session/fork`. */
export interface ForkSessionParams {
  /** The session to copy. */
  session: SessionID;
  /** The last message that the copy has; absent means all. */
  message?: MessageID;
}

/** Result of `agent/session/fork`. */
export interface SessionForked {
  /** The copy. */
  session: SessionID;
}

/** Params of `agent/transcript`. */
export interface TranscriptParams {
  /** The run. */
  run: RunID;
  /** Only messages behind this one. */
  after?: MessageID;
  /** At most so many; absent and 0 mean 200. */
  limit?: number;
}

/** A tool call in a transcript. */
export interface TranscriptCall {
  /** The call's id. */
  call: CallID;
  /** The tool's canonical name. */
  tool: string;
  /** The arguments as the model sent them: JSON, if it kept to it. */
  arguments: string;
  /** How it ended; absent while it has not, and where no outcome is known. */
  status?: CallStatus;
  /**
   * The exit code of the command that it ran to its end, or saw the end of. The status is `ok` whatever the code: the
   * call did what it was asked for.
   */
  exitCode?: number;
  /** What the model was told. */
  output?: string;
  /** How long it took. */
  durationMs?: Milliseconds;
  /** The run that the call started. */
  child?: RunID;
}

/** One message of a transcript. */
export interface TranscriptMessage {
  /** The message's id. */
  id: MessageID;
  /** The message that it follows; of a summary, the last one that it stands for. Absent for the first. */
  parent?: MessageID;
  /** The run that it belongs to. */
  run: RunID;
  /** Who speaks. */
  role: 'user' | 'assistant' | 'tool';
  /** When it was stored. */
  time: Timestamp;
  /** Its text, in Markdown. Results of calls are with the calls, so that a message of the role `tool` has none. */
  text: string;
  /** Whether the conversation was shortened here: from now on the message stands for those up to its `parent`. */
  compacted?: boolean;
  /** The model's reasoning. */
  reasoning?: string;
  /** Who answered, as `provider/model`; absent for what no model said. */
  model?: string;
  /** What this one request used; absent where that is not recorded. */
  usage?: Usage;
  /** The tool calls that it makes. */
  calls?: TranscriptCall[];
}

/** Result of `agent/transcript`. */
export interface Transcript {
  /** The messages in order. */
  messages: TranscriptMessage[];
  /** Whether there are more behind the last. */
  more: boolean;
}

/** Params of `agent/subscribe`. */
export interface SubscribeParams {
  /** The session, of whatever process; absent means the window's own, which is made where there is none yet. */
  session?: SessionID;
  /**
   * The number of the last event that the client has of the session; absent means none, and that it starts from the
   * snapshot.
   */
  since?: Sequence;
}

/** A session at one moment. */
export interface SessionSnapshot {
  /** The session. */
  session: SessionInfo;
  /** The number of the last event that is in the snapshot. */
  seq: Sequence;
  /** The runs, each behind its parent, in order of creation. */
  tree: RunInfo[];
  /** The findings that hold. */
  findings: Finding[];
  /** The proposals that are not closed. */
  proposals: Proposal[];
  /** The questions that are open. */
  asks: Ask[];
}

/**
 * Result of `agent/subscribe`. Without `since`, events behind each snapshot's `seq` follow. With it, events behind
 * `since` follow, unless `reset` is true.
 */
export interface SubscribeResult {
  /**
   * The events since `since` are no longer all there: drop what you have and start from the snapshot. Events behind its
   * `seq` follow.
   */
  reset?: boolean;
  /** The snapshots. */
  sessions: SessionSnapshot[];
}

/** One piece of a proposed edit. */
export interface Hunk {
  /** The hunk's id. */
  id: HunkID;
  /** Its state. */
  state: ProposalState;
  /** The lines of the document as the editor shows it that the hunk replaces, in the negotiated position encoding. */
  range: Range;
  /** The text in the range, line ends as they are in the document. */
  before: string;
  /** The text to put there. */
  after: string;
  /** Why, in a sentence; may be empty. */
  reason: string;
  /** The run that wrote it last. */
  run?: RunID;
  /** The slug of that run's agent. */
  agent?: string;
  /** Why the hunk is in its state, in a sentence. */
  detail?: string;
  /** What stands in the range now, for a hunk in conflict. */
  current?: string;
}

/** The hunks of one file. */
export interface ProposalFile {
  /** The document. */
  uri: string;
  /** `conflict` if a hunk is in conflict, else `open` if a hunk is open, else how the last was closed. */
  state: ProposalState;
  /** What happens to the file; absent means `modified`. */
  change?: FileChange;
  /** Where a renamed file goes. */
  newUri?: string;
  /** The version of the open document that the ranges are for; absent where it is not open. */
  version?: number;
  /** The hunks in the order of the text. */
  hunks: Hunk[];
}

/** The difference between what the editor shows and what the agents of a session propose. */
export interface Proposal {
  /** The proposal's id. */
  id: ProposalID;
  /** Its session. */
  session: SessionID;
  /** The run that proposed last. */
  run: RunID;
  /** The slug of that run's agent. */
  agent: string;
  /** What it is for, in one line. */
  title: string;
  /** Its state as a whole. */
  state: ProposalState;
  /** The files, sorted by URI. */
  files: ProposalFile[];
}

/** Params of `agent/proposals`. */
export interface ProposalsParams {
  /** Only of this session; absent means all of this connection's workspace. */
  session?: SessionID;
}

/** Result of `agent/proposals`. */
export interface ProposalList {
  /** The proposals, the oldest first; closed ones are not among them. */
  proposals: Proposal[];
  /**
   * The runs with accepted edits that `agent/undo` can take back, the latest first. They are roots; edits of their
   * children count as theirs. Empty for a session that is not the window's own.
   */
  undoable: RunInfo[];
}

/**
 * Chooses hunks of a proposal. Without `files` and `hunks` it means everything open; with both, the hunks of either.
 */
export interface ProposalParams {
  /** The proposal. */
  proposal: ProposalID;
  /** All open hunks of these documents. */
  files?: string[];
  /** These hunks. */
  hunks?: HunkID[];
}

/** Chooses hunks of a proposal, as ProposalParams does. */
export interface AcceptParams {
  /** The proposal. */
  proposal: ProposalID;
  /** All open hunks of these documents. */
  files?: string[];
  /** These hunks. */
  hunks?: HunkID[];
  /**
   * Also takes those of `hunks` that are in conflict: the agent's text replaces what stands at their lines now. Absent
   * means that a hunk in conflict fails.
   */
  overwrite?: boolean;
}

/** A hunk that could not be taken. */
export interface HunkFailure {
  /** The hunk. */
  hunk: HunkID;
  /** Why, and what to do. */
  reason: string;
}

/** Result of `agent/proposal/accept` and `agent/undo`. */
export interface AcceptResult {
  /** The hunks that the editor has applied. */
  applied: HunkID[];
  /** The hunks that stay open, and why. */
  failed: HunkFailure[];
}

/** Result of `agent/proposal/reject`. */
export interface RejectResult {
  /** The hunks that are gone. */
  rejected: HunkID[];
  /** The hunks that could not be rejected, and why. */
  failed: HunkFailure[];
}

/** Result of `agent/proposal/diff`. */
export interface ProposalDiff {
  /** A unified diff, paths from the workspace root, from the document as the editor shows it to the proposed text. */
  diff: string;
  /** Both sides of the chosen hunks in conflict, which fit no diff, for people. */
  conflicts?: string;
  /**
   * The document of the scheme `agentls` that has the same text, for clients with `workspace/textDocumentContent`; it
   * is kept up to date. Absent for a choice that has no name.
   */
  uri?: string;
}

/** Params of `agent/undo`. */
export interface UndoParams {
  /** The run whose accepted edits are taken back. What the user did since is kept. */
  run: RunID;
  /** Only these; absent means all that the run's edits left and that can be taken back. */
  hunks?: HunkID[];
}

/** Params of `agent/rewind`. */
export interface RewindParams {
  /** The run of the prompt that is to be as if it had never been. It has ended, as has all that went on with it. */
  run: RunID;
}

/** Result of `agent/rewind`. */
export interface RewindResult {
  /**
   * The run that the next prompt follows, as `after` in `agent/run`; absent where the conversation began with the
   * prompt.
   */
  after?: RunID;
  /** The runs of the user that were gone back behind, oldest first. */
  runs: RunID[];
  /** The open edits that are gone. */
  rejected: HunkID[];
  /** The accepted edits that the editor has taken back. */
  undone: HunkID[];
  /** The edits that stay, and why. */
  failed: HunkFailure[];
}

/** Params of `agent/restore`. */
export interface RestoreParams {
  /** The run of the prompt that was gone back behind. */
  run: RunID;
}

/** Result of `agent/restore`. */
export interface RestoreResult {
  /** The run and the runs of the user that went on with it, oldest first. */
  runs: RunID[];
  /** The edits that are open again. */
  proposed: HunkID[];
  /** The other edits, such as those in conflict, and why they are not open. */
  failed: HunkFailure[];
}

/** Params of `agent/conversation`. */
export interface ConversationParams {
  /** The run that the next prompt is to follow; absent for a conversation that begins. */
  run?: RunID;
}

/** Result of `agent/conversation`. */
export interface Conversation {
  /** The document. */
  uri: string;
}

/** Params of `agent/conversation/send`. */
export interface SendPromptParams {
  /** The conversation, which is open. */
  uri: string;
}

/** Result of `agent/conversation/send`. */
export interface SentPrompt {
  /** The session of the run. */
  session: SessionID;
  /** The run that answers. */
  run: RunID;
  /** Whether the run was at work already, and the prompt steers it. */
  steered: boolean;
}

/** Params of `agent/conversation/rewind`. */
export interface RewindConversationParams {
  /** The conversation, which is open. */
  uri: string;
  /** The run that answers the prompt in the document. */
  run: RunID;
}

/** A question to the user: for permission, or what an agent wants to know. */
export interface Ask {
  /** The ask's id. */
  id: AskID;
  /** The session. */
  session: SessionID;
  /** The run that waits. */
  run: RunID;
  /** The slug of its agent. */
  agent: string;
  /** The tool that needs the permission. */
  tool: string;
  /** What is asked for, in one line. */
  title: string;
  /** The whole call, such as the command line or the diff, as plain text. */
  detail?: string;
  /** The rule pattern that an `allow` with the scope `project` would allow from then on. */
  always?: string;
  /** Since when it is open. */
  created: Timestamp;
  /** When it is denied if nobody answers. */
  expires?: Timestamp;
  /** What an agent wants to know, where it is no question for permission. */
  question?: Question;
}

/** The user's answer. */
export interface AskAnswer {
  /** What was decided. */
  decision: Decision;
  /** How long it holds; absent means `once`. */
  scope?: Scope;
  /** When an answer for longer than once ends by itself; absent means never. It must lie ahead. */
  expires?: Timestamp;
}

/** Params of `agent/asks`. */
export interface AsksParams {
  /** Only of this session; absent means all of this connection's workspace. */
  session?: SessionID;
}

/** Result of `agent/asks`. */
export interface AskList {
  /** The open asks, the oldest first. */
  asks: Ask[];
}

/** Params of `agent/ask/answer`. */
export interface AnswerAskParams {
  /** The ask. */
  ask: AskID;
  /** What was decided. */
  decision: Decision;
  /** How long it holds; absent means `once`. */
  scope?: Scope;
  /** When an answer for longer than once ends by itself; absent means never. It must lie ahead. */
  expires?: Timestamp;
  /**
   * With `allow`, the answer to an agent's question: labels of its choices, or the user's own words. Without, `deny`
   * leaves it to the agent.
   */
  answers?: string[];
}

/** A remembered permission. */
export interface Grant {
  /** The grant's id. */
  id: GrantID;
  /** The tool's canonical name. */
  tool: string;
  /** The calls that it is for. */
  pattern: string;
  /** What was decided. */
  decision: Decision;
  /** How long it holds. */
  scope: Scope;
  /** Where the scope is `session` or `run`. */
  session?: SessionID;
  /** Where the scope is `run`. */
  run?: RunID;
  /** When it was given. */
  created: Timestamp;
  /** When it ends by itself; absent where it does not. Those that have ended are not listed. */
  expires?: Timestamp;
}

/** Params of `agent/grants`. */
export interface GrantsParams {
  /** Only those that bind this session; absent means all of this connection's workspace. */
  session?: SessionID;
}

/** Result of `agent/grants`. */
export interface GrantList {
  /** The grants, the latest first. */
  grants: Grant[];
}

/** Params of `agent/revoke`. */
export interface RevokeParams {
  /** The grant to take back. */
  grant: GrantID;
}

/**
 * Params of `agent/explain`: a call to decide on, without making it, or what an agent is instructed to do, without
 * starting it.
 */
export interface ExplainParams {
  /** The tool's name; absent where only the instructions are wanted. */
  tool?: string;
  /**
   * A document that the agent would be started on, of whose folders the instructions count; absent means none. With
   * `run` it does not count.
   */
  uri?: string;
  /**
   * What rules are matched with: the command line for `bash`, a path from the workspace root for files, a URL for the
   * network.
   */
  call?: string;
  /** The agent that would make the call; absent means the default agent. */
  agent?: string;
  /** The run that would make it, whose parents bind it too. */
  run?: RunID;
}

/** A file with instructions of the user or the project, such as `AGENTS.md`. */
export interface InstructionFile {
  /** The file. */
  uri: string;
  /** The file that imports it; absent for one that counts by its name. */
  importedBy?: string;
  /** Its length in bytes; 0 for a file that is not given. */
  size: number;
  /**
   * How many of its bytes are left out, since all files together are longer than `instructions.max_bytes`; absent for
   * none.
   */
  cut?: number;
  /** How many characters are left out that nobody sees; absent for none. */
  unseen?: number;
  /** Why the file is not given, as the end of a sentence that begins with its name; absent for one that is. */
  omitted?: string;
}

/** Result of `agent/explain`. */
export interface Explanation {
  /**
   * What instructs the run, or would instruct the agent, in the order in which it is told: what comes later counts
   * more. Then the files that are not given.
   */
  instructions: InstructionFile[];
  /** What would happen; absent where no tool is named. */
  action?: RuleAction;
  /** The rule that decides; absent where none matches and the default does. */
  rule?: PermissionRule;
  /** The decision in words; absent where no tool is named. */
  reason?: string;
  /** The rule pattern that an "always" would allow. */
  always?: string;
}

/** No members. */
export interface NoParams {
}

/** Params of `agent/models`: for which run the choice is shown. */
export interface ModelsParams {
  /** Its agent; absent means the default one. */
  agent?: string;
  /** The model that `agent/run` would name. */
  model?: string;
}

/** What may decide which model a run takes. */
export interface ModelCandidate {
  /** Where the name comes from, in words, such as `the agent's definition`. */
  source: string;
  /** The model that it names, as `provider/model` where that is known, else a provider; absent where it names none. */
  name?: string;
  /** Why it counts, or why not. */
  reason?: string;
  /** Whether it decides. */
  chosen: boolean;
}

/** A model that can be chosen. */
export interface ModelInfo {
  /** `provider/model`, or the name of a preset. */
  name: string;
  /** A name for people. */
  title?: string;
  /** The size of its context; absent where it is not known. */
  contextTokens?: TokenCount;
  /** Whether a run could use it now. */
  available: boolean;
  /** Why not, and what to do, such as which key is missing. */
  reason?: string;
}

/** Result of `agent/models`. */
export interface ModelList {
  /** The models, available ones first. */
  models: ModelInfo[];
  /** What is looked at, in order, up to the one that decides. */
  order: ModelCandidate[];
  /** The model that the run would take. */
  default: string;
  /** Why that one. */
  reason: string;
}

/** Params of `agent/usage`. */
export interface UsageParams {
  /** What to sum up by; absent means `session`. */
  by?: UsageGroup;
  /** Only this session. */
  session?: SessionID;
  /** Only this run and its children. */
  run?: RunID;
  /** Only runs created at or after this time. */
  since?: Timestamp;
}

/** The usage of one group. */
export interface UsageRow {
  /** The run, agent, model, session, day (`2026-01-02`), or project (its folders, joined by `, `). */
  key: string;
  /** How many runs. */
  runs: number;
  /** How many of them came to an end by themselves: neither cancelled nor interrupted. */
  ended: number;
  /**
   * How many of those have done their whole task: no limit cut them off, and none handed over that it failed or that
   * something is left.
   */
  completed: number;
  /** How many requests to models. */
  turns: number;
  /** The time of the runs that have ended, together. */
  durationMs: Milliseconds;
  /** What they cost; without a cost where that of any is not known. */
  usage: Usage;
  /** The part of the cost that is known, in US dollars. */
  knownCost: number;
}

/** Result of `agent/usage`. */
export interface UsageReport {
  /** The groups, the most expensive first; days in order. */
  rows: UsageRow[];
  /** All together; its key is empty. */
  total: UsageRow;
}

/** A skill. */
export interface SkillInfo {
  /** Its name. */
  name: string;
  /** When to use it. */
  description: string;
  /** Its SKILL.md; absent for one that is part of agentls. */
  uri?: string;
  /** Where it comes from. */
  layer: Layer;
}

/** Params of `agent/skills`. */
export interface SkillsParams {
  /** The workspace folder whose skills count too; absent means all folders. */
  folder?: string;
}

/** Result of `agent/skills`. */
export interface SkillList {
  /** The skills, by name. */
  skills: SkillInfo[];
}

/** A prompt that a user may call. */
export interface PromptInfo {
  /** Its name, without the `/`. */
  name: string;
  /** What it does; empty where nobody says. */
  description: string;
  /** What may stand behind the name, for people; absent for nothing. */
  arguments?: string;
  /** Whose format it is in. */
  source: PromptSource;
  /** Where it comes from. */
  layer: Layer;
  /** Its file; absent for what is part of agentls. */
  uri?: string;
}

/** Params of `agent/prompts`. */
export interface PromptsParams {
  /** A session that is open in this process; absent means the window's own. */
  session?: SessionID;
}

/** Result of `agent/prompts`. */
export interface PromptList {
  /** The prompts, by name. */
  prompts: PromptInfo[];
}

/** Params of `agent/expand`. */
export interface ExpandParams {
  /** The prompt, as `agent/run` would get it. */
  prompt: string;
  /**
   * The agent that would get it, which may see less than others; absent means that of the prompt's file, or the default
   * one.
   */
  agent?: string;
  /** A session that is open in this process; absent means the window's own. */
  session?: SessionID;
  /** What the editor points at. It does not change what the words become. */
  context?: RunContext;
}

/** Result of `agent/expand`. */
export interface Expansion {
  /** The words, and behind them what they bring. */
  text: string;
  /** The prompt that it calls; absent for none. */
  prompt?: PromptInfo;
  /** What it is made of: first the words. */
  parts: PromptPart[];
  /** What keeps it from being sent; empty where nothing does. */
  refused: PromptRefusal[];
}

/** A part of a prompt that would be sent. */
export interface PromptPart {
  /** What it is. */
  kind: PromptPartKind;
  /** Its name in the prompt; absent for the words. */
  name?: string;
  /** What of it is sent; absent for all. */
  about?: string;
  /** The file; absent for what is none. */
  uri?: string;
  /** What is sent of it; absent for a command, whose output a run would send. */
  text?: string;
}

/** Something of a prompt that may not be sent. */
export interface PromptRefusal {
  /** What it is about, as it stands in the prompt. */
  mention: string;
  /** Why, and what to do. */
  reason: string;
}

/** An MCP server. */
export interface MCPServer {
  /** Its name. */
  name: string;
  /** Where it comes from. */
  layer: Layer;
  /** Its state. */
  state: MCPState;
  /** Why it failed. */
  error?: Failure;
  /** Its command or URL, for people; without what may be a key. */
  address: string;
  /** Names of its tools, as agents call them. */
  tools: string[];
  /** Its prompts. `/` and the name of one, with its arguments in order behind it, is a prompt for `agent/run`. */
  prompts: MCPPrompt[];
}

/** A prompt of an MCP server. */
export interface MCPPrompt {
  /** Its name, as users call it. */
  name: string;
  /** What it is for. */
  description?: string;
  /** Its arguments, in order. */
  arguments: MCPArgument[];
}

/** An argument of a prompt. */
export interface MCPArgument {
  /** Its name. */
  name: string;
  /** What it is for. */
  description?: string;
  /** Whether the prompt needs it. */
  required: boolean;
}

/** Result of `agent/mcp`. */
export interface MCPList {
  /** The servers, by name. */
  servers: MCPServer[];
}

/** Params of `agent/trust`. */
export interface TrustParams {
  /** A workspace folder; absent means the first one. */
  folder?: string;
  /** Trust what the folder holds now, or trust it no longer; absent only asks. */
  change?: 'trust' | 'revoke';
}

/** Something in a folder that acts once the folder is trusted. */
export interface TrustedItem {
  /** The file. */
  uri: string;
  /** `agent`, `hook`, `mcp`, `config`, `instructions`, `skill` or `prompt`. */
  kind: string;
  /** What it does, in one line. */
  description: string;
}

/** Result of `agent/trust`. */
export interface TrustResult {
  /** The folder. */
  folder: string;
  /** Whether it is trusted now. A change of what acts ends the trust. */
  trusted: boolean;
  /** What acts, or would. */
  items: TrustedItem[];
}

/** One answer to choose. */
export interface Choice {
  /** What is shown, and sent back. */
  label: string;
  /** What it means. */
  description?: string;
}

/** A question to the user, of an agent or of the server itself. */
export interface Question {
  /** The question's id. */
  id: AskID;
  /** The session. */
  session: SessionID;
  /** The run that waits; absent where the server itself asks, such as which agent to delegate to. */
  run?: RunID;
  /** The slug of its agent; `agentls` where the server itself asks. */
  agent: string;
  /** What is asked. */
  question: string;
  /** The answers to choose from; absent means free text only. */
  choices?: Choice[];
  /** Whether several may be chosen. */
  multiple?: boolean;
  /** Whether other text may be given beside the choices. */
  freeText?: boolean;
}

/** The user's answer. */
export interface QuestionAnswer {
  /** The labels that were chosen, or the text. */
  answers: string[];
}

/** A part of a message to or from a model. Its kind says which members it has. */
export interface ModelPart {
  /**
   * `text` and `reasoning` have `text`; `call` has `id`, `name` and `arguments`; `result` has `id`, `name`, `text` and
   * `error`.
   */
  kind: 'text' | 'reasoning' | 'call' | 'result';
  /** The text. */
  text?: string;
  /** The model's own id of the tool call. */
  id?: string;
  /** The tool. */
  name?: string;
  /** The arguments of the call. */
  arguments?: LSPObject;
  /** Whether the call failed. */
  error?: boolean;
}

/** A message to or from a model. */
export interface ModelMessage {
  /** Who speaks. */
  role: 'user' | 'assistant' | 'tool';
  /** What is said, in order. */
  parts: ModelPart[];
}

/** A tool that is offered to a model. */
export interface ModelTool {
  /** Its name. */
  name: string;
  /** What it does. */
  description: string;
  /** The schema of its arguments. */
  schema: JSONSchema;
}

/** Params of `agent/model/generate`: one turn of the editor's own language model. */
export interface GenerateParams {
  /** The run that asks. */
  run: RunID;
  /** Which of the editor's models, an `id` of `agent/model/lend`; absent means its choice. */
  model?: string;
  /** The system prompt. */
  system: string;
  /**
   * The conversation. Its parts are of the kinds `text`, `call` and `result`; each call has its result in the message
   * of the role `tool` behind it.
   */
  messages: ModelMessage[];
  /** The tools on offer. */
  tools: ModelTool[];
  /**
   * The answer is to be a text: the tools are listed only since the conversation has calls of them. Calls that come all
   * the same are not made.
   */
  noCalls?: boolean;
  /** The limit of the answer; absent and 0 mean the model's own. */
  maxTokens?: TokenCount;
  /** Absent means the model's own. */
  temperature?: number;
  /**
   * Where to send pieces of the answer with `$/progress` while it is written, each a ModelPart: of the kind `text` or
   * `reasoning` with the next words, or `call` with nothing but the `name`, as soon as a call begins. Pieces are for
   * showing; what counts is the result.
   */
  partialResultToken?: ProgressToken;
}

/** Result of `agent/model/generate`. */
export interface GenerateResult {
  /**
   * The whole answer of the role `assistant`, also where pieces were sent before, with parts of the kinds `text`,
   * `reasoning` and `call`. A call without an `id` gets one.
   */
  message: ModelMessage;
  /**
   * Why the model stopped: it had no more to say, it waits for the results of its calls, the answer is as long as it
   * may be, or the model declined.
   */
  stop: 'end' | 'calls' | 'length' | 'refused';
  /** What it used, where that is known. Without it the tokens are estimated. */
  usage?: Usage;
}

/** A model that the editor lends. */
export interface LentModel {
  /** The editor's own name of it. Runs use it as `editor/ID`. */
  id: string;
  /** A name for people. */
  title?: string;
  /** How many tokens a request and its answer may have together, where it is known. */
  contextTokens?: TokenCount;
  /** It cannot call tools, and is offered none. */
  noCalls?: boolean;
}

/** Params of `agent/model/lend`. */
export interface LendModelsParams {
  /** The models, the one to take where none is named first. */
  models: LentModel[];
}

/** Params of `agent/diagnostics`. */
export interface EditorDiagnosticsParams {
  /** The document; absent means all that the editor knows of. */
  uri?: string;
}

/** A diagnostic that the editor shows, whoever made it. */
export interface EditorDiagnostic {
  /** The place. */
  range: Range;
  /** How grave it is. */
  severity: Severity;
  /** The text. */
  message: string;
  /** Who made it. */
  source?: string;
  /** Its code. */
  code?: string;
}

/** The diagnostics of one document. */
export interface DocumentDiagnostics {
  /** The document. */
  uri: string;
  /** The version that they are for, where it is known. */
  version?: number;
  /** The diagnostics, without those of agentls. */
  diagnostics: EditorDiagnostic[];
}

/** Result of `agent/diagnostics`. */
export interface EditorDiagnostics {
  /** The documents that have any. */
  documents: DocumentDiagnostics[];
}

/** Params of `agent/symbols`. */
export interface SymbolsParams {
  /** What is asked. */
  query: SymbolQuery;
  /** The document, for all but `workspace`. */
  uri?: string;
  /** The place, for `definition` and `references`. */
  position?: Position;
  /** What the name has to match, for `workspace`. */
  name?: string;
}

/** A symbol or a place. */
export interface EditorSymbol {
  /** The document. */
  uri: string;
  /** The place. */
  range: Range;
  /** The symbol's name, where it is known. */
  name?: string;
  /** LSP's SymbolKind in lower case, such as `function`. */
  kind?: string;
  /** The name of what it is in. */
  container?: string;
}

/** Result of `agent/symbols`. */
export interface EditorSymbols {
  /** What was found. */
  symbols: EditorSymbol[];
}

/** Params of `agent/status`. */
export interface StatusParams {
  /** How the server is. */
  health: Health;
  /** Whether nothing runs. */
  quiescent: boolean;
  /** What there is to say about it, in Markdown. */
  message?: string;
  /** The line for the editor's status bar, as plain text. */
  statusline?: string;
}

/** Argument of the command `agentls.review`. */
export interface ReviewParams {
  /**
   * The document. Without it and `uris`, the open document that was last touched in the editor: opened, changed or
   * saved.
   */
  uri?: string;
  /** Only this part of it. */
  range?: Range;
  /** Several documents, each reviewed by a child of its own. */
  uris?: string[];
  /**
   * Review what has changed, instead of whole documents: findings are on changed lines, and elsewhere only where a
   * change is the cause.
   */
  changes?: ChangeScope;
  /** What to look at in particular. */
  prompt?: string;
  /** The model for this run, as `provider/model` or the name of a preset. */
  model?: string;
}

/** Argument of the command `agentls.explain`. */
export interface ExplainCodeParams {
  /** The document; absent means the open one that was last touched in the editor. */
  uri?: string;
  /** Only this part of it. */
  range?: Range;
}

/** Argument of the commands that have an agent work on code: `agentls.rewrite`, `agentls.tests` and `agentls.plan`. */
export interface CodeTaskParams {
  /** The document; absent means the open one that was last touched in the editor. */
  uri?: string;
  /** Only this part of it. */
  range?: Range;
  /** What is wanted, in the user's words. */
  prompt?: string;
  /** The model for this run, as `provider/model` or the name of a preset. */
  model?: string;
}

/** Argument of the command `agentls.remember`. */
export interface RememberParams {
  /** What agents shall know from now on: a rule or a fact in a sentence, of at most 500 bytes. */
  text: string;
  /**
   * The document that it is about: the nearest `AGENTS.md` above that is taken. Absent means the one of the first
   * workspace folder.
   */
  uri?: string;
}

/** Argument of the command `agentls.delegate`. */
export interface DelegateParams {
  /** The document; absent means the open one that was last touched in the editor. */
  uri?: string;
  /** Only this part of it. */
  range?: Range;
  /**
   * A slug or alias; absent means that the user is asked: by `agent/question` where that is announced, else by
   * `window/showMessageRequest`.
   */
  agent?: string;
  /**
   * The task. Absent: a client that announces `questions` is asked for it, too; elsewhere it is the agent's usual work
   * on the document.
   */
  prompt?: string;
  /** The model for this run, as `provider/model` or the name of a preset. */
  model?: string;
}

/** Argument of the command `agentls.request`. */
export interface RequestParams {
  /** The document. */
  uri: string;
  /** A line of the comment, 0-based. */
  line: number;
}

/** Argument of the command `agentls.fix`: a finding, or a document and a diagnostic that the editor shows in it. */
export interface FixParams {
  /** The finding to fix. */
  finding?: FindingID;
  /** The document of the diagnostic. */
  uri?: string;
  /** The diagnostic to fix, whoever made it. */
  diagnostic?: EditorDiagnostic;
}

/** Argument of the command `agentls.proposal.others`. */
export interface OtherFilesParams {
  /** The document whose own edits are left out. */
  uri: string;
}

/** Result of the command `agentls.proposal.others`. */
export interface OtherFilesResult {
  /** The hunks that the user accepted, and that are in the editor's documents now. */
  applied: HunkID[];
  /** The hunks that the user rejected. */
  rejected: HunkID[];
  /** The hunks that stay as they were, and why. */
  failed: HunkFailure[];
}

/** Argument of the command `agentls.more`. */
export interface MoreParams {
  /** The actions from which the user chooses. There is at least one. */
  actions: MoreAction[];
}

/** A code action for which the menu had no room. */
export interface MoreAction {
  /** For people. */
  title: string;
  /** The command that it carries out. */
  command: string;
  /** The command's argument. */
  argument: LSPObject;
}

/** Result of the command `agentls.more`. */
export interface MoreResult {
  /** The command of the action that the user chose; absent where the user chose none. */
  command?: string;
  /** The run that the action started; absent where it started none. */
  started?: RunStarted;
}

/** Result of the command `agentls.interrupted`. */
export interface InterruptedResult {
  /** The runs that go on with those that were cut off; none where the user only looked. */
  started: RunStarted[];
}

/** The requests that the client sends. */
export interface Requests {
  /** Lists the agents that the user can start or that can be delegated to. */
  'agent/list': { params: ListAgentsParams; result: AgentList };
  /** Shows one agent with everything that its definition says. */
  'agent/get': { params: AgentParams; result: AgentDefinition };
  /** Adds an agent at run time. It is stored, and there after a restart. */
  'agent/register': { params: RegisterAgentParams; result: RegisterAgentResult };
  /**
   * Replaces the definition of an agent that was registered at run time. Runs keep the definition that they began with.
   */
  'agent/update': { params: UpdateAgentParams; result: RegisterAgentResult };
  /** Removes an agent that was registered at run time. */
  'agent/unregister': { params: AgentParams; result: null };
  /** Checks a definition without registering it. */
  'agent/check': { params: CheckAgentParams; result: AgentProblems };
  /**
   * Starts an agent and answers at once, as soon as the run is stored. The server itself creates the progress of the
   * run: a token of the caller would end with the answer. Where the window is closed, the run is cut off and left to
   * the next window on the folder, which tells of it and can go on by `agent/resume`.
   */
  'agent/run': { params: RunParams; result: RunStarted };
  /** Waits for the end of a run. Cancelling this request ends the waiting, not the run. */
  'agent/wait': { params: WaitParams; result: RunResult };
  /**
   * Stops a run and everything below it. A run that has ended stays as it is; that is no error. What was proposed stays
   * proposed.
   */
  'agent/cancel': { params: CancelParams; result: null };
  /** Tells a run something; it arrives at the run's next turn. */
  'agent/steer': { params: SteerParams; result: null };
  /** Goes on with a run that has ended, as a new run with the old one's history. Nothing resumes by itself. */
  'agent/resume': { params: ResumeParams; result: RunStarted };
  /** Lists the sessions of this connection's workspace. */
  'agent/sessions': { params: SessionsParams; result: SessionList };
  /** Shows one session with its tree of runs. It may be of a former process, or of another window. */
  'agent/session': { params: SessionParams; result: SessionDetail };
  /**
   * Deletes a session and all that is under it, and wipes its text from the database file. Files that its runs left in
   * the state folder go, too. Its runs are cancelled first; of the window's own session, findings and open proposals go
   * as well, and the next run begins another one. A session that another living process has open is refused with the
   * error `in_use`.
   */
  'agent/session/delete': { params: SessionParams; result: null };
  /**
   * Writes a session out: its runs with their conversations, and the former ones that these go on with. Findings and
   * proposals are not in it.
   */
  'agent/session/export': { params: ExportSessionParams; result: SessionExport };
  /**
   * Copies the conversations of a session up to a message, to go on in another direction: resume one of the runs of the
   * copy. They have ended and cost nothing of their own. Findings, proposals and permissions are not copied.
   */
  'agent/session/fork': { params: ForkSessionParams; result: SessionForked };
  /**
   * Shows the conversation of a run: what it goes on with, where it resumed another one, and its own messages. What was
   * deleted is missing; then `parent` names a message that is not there.
   */
  'agent/transcript': { params: TranscriptParams; result: Transcript };
  /**
   * Asks for the state of sessions and for `agent/event` from then on, until the connection ends. It is the client's
   * consent to `agent/event`. Events come behind the answer. A second one for the same session starts over. Of a
   * session that another process has open, the stored events come, a moment later than there.
   */
  'agent/subscribe': { params: SubscribeParams; result: SubscribeResult };
  /** Lists proposed edits with their hunks. */
  'agent/proposals': { params: ProposalsParams; result: ProposalList };
  /**
   * Has the editor apply hunks, as one WorkspaceEdit against the current versions. Nothing else changes the user's
   * files.
   */
  'agent/proposal/accept': { params: AcceptParams; result: AcceptResult };
  /** Drops hunks; the agents' view loses them too. */
  'agent/proposal/reject': { params: ProposalParams; result: RejectResult };
  /** Shows hunks as a unified diff, and both sides of those in conflict. */
  'agent/proposal/diff': { params: ProposalParams; result: ProposalDiff };
  /**
   * Has the editor take back edits of a run that were accepted, also after they were saved and after a restart. What
   * the user did since stays; where the user changed the same lines, the edit is not taken back, and the result says
   * so.
   */
  'agent/undo': { params: UndoParams; result: AcceptResult };
  /**
   * Goes back to before a prompt: of the run that it started, of what went on with that and of all their subagents,
   * open edits are rejected and accepted ones taken back, also after they were saved. What the user did since stays;
   * where the user changed the same lines, the edit is not taken back, and the result says so. Nothing is deleted: the
   * runs stay, and can be followed as before; `agentls run --continue` goes on from before them.
   */
  'agent/rewind': { params: RewindParams; result: RewindResult };
  /**
   * Brings back what `agent/rewind` rejected and took back, also after a restart: the edits of the run, of what went on
   * with it and of all their subagents are proposed again, under their ids. What the user did since stays; where the
   * user changed the same lines, the edit is in conflict.
   */
  'agent/restore': { params: RestoreParams; result: RestoreResult };
  /**
   * Opens a conversation in the editor: a Markdown document `*.agentls.md` in the state folder, in which the user
   * writes a prompt below the last heading and sends it by `agent/conversation/send`. A new one is empty, or has what
   * was said in a run and before it. Where the editor opens no documents, the answer says where it lies.
   */
  'agent/conversation': { params: ConversationParams; result: Conversation };
  /**
   * Sends the last prompt of an open conversation, any document called `*.agentls.md`. The run follows the answer
   * above; where that is still being written, the prompt steers its run. The answer is written into the document by
   * edits that add text and touch nothing of the user's.
   */
  'agent/conversation/send': { params: SendPromptParams; result: SentPrompt };
  /**
   * Goes back to before a prompt of an open conversation, as `agent/rewind` does, and takes the answer and what
   * followed out of the document. The prompt stays, to be changed and sent again.
   */
  'agent/conversation/rewind': { params: RewindConversationParams; result: RewindResult };
  /** Lists the questions for permission that are open. */
  'agent/asks': { params: AsksParams; result: AskList };
  /** Answers a question for permission. */
  'agent/ask/answer': { params: AnswerAskParams; result: null };
  /** Lists the remembered permissions. */
  'agent/grants': { params: GrantsParams; result: GrantList };
  /** Takes a remembered permission back. */
  'agent/revoke': { params: RevokeParams; result: null };
  /**
   * Explains how a call would be decided: which rule, from which layer, and what an "always" would allow. It also lists
   * which files instruct the agent, what of them is cut, and which are left out, and why. Nothing is run.
   */
  'agent/explain': { params: ExplainParams; result: Explanation };
  /**
   * Lists the models that can be chosen, the one that a run would take, and why. Providers are asked for nothing:
   * whether one answers is told by `agentls doctor --models`.
   */
  'agent/models': { params: ModelsParams; result: ModelList };
  /**
   * Tells which models the editor lends by `agent/model/generate`, each time that this changes; the last list counts,
   * and an empty one takes them all back. Without it the editor's choice of a model is lent, as `editor`, once `models`
   * was announced. A client that did not announce `models` gets the error `unsupported`.
   */
  'agent/model/lend': { params: LendModelsParams; result: null };
  /**
   * Sums up tokens, cost, time and outcomes of stored runs. Each request to a model is counted once; only in a row for
   * a single run, what its children used is counted as well. `run` and `session` that are not stored are the error
   * `not_found`.
   */
  'agent/usage': { params: UsageParams; result: UsageReport };
  /** Lists the skills. */
  'agent/skills': { params: SkillsParams; result: SkillList };
  /**
   * Lists the prompts that a user may call by `/` and their name: those in files, of projects only where the folder is
   * trusted, and skills. Prompts of MCP servers are listed by `agent/mcp`.
   */
  'agent/prompts': { params: PromptsParams; result: PromptList };
  /**
   * Says what `agent/run` would send for a prompt. Nothing is sent, and no command is run: a part names those that a
   * run would begin with.
   */
  'agent/expand': { params: ExpandParams; result: Expansion };
  /**
   * Lists the MCP servers of the configuration, of workspace folders and of definitions in use, and their state.
   * Nothing is started.
   */
  'agent/mcp': { params: NoParams; result: MCPList };
  /** Shows or changes whether a workspace folder is trusted. Nothing that lies in a folder acts before that. */
  'agent/trust': { params: TrustParams; result: TrustResult };
}

/** The requests that the server sends, to a client that announced them. */
export interface ServerRequests {
  /** Asks the user for permission. Null means that the user closed the question; it stays open until it expires. */
  'agent/ask': { params: Ask; result: AskAnswer | null };
  /**
   * Asks the user something on behalf of an agent. Null means that the user closed it; it stays open until it expires.
   * No answers leave it to the agent.
   */
  'agent/question': { params: Question; result: QuestionAnswer | null };
  /**
   * Asks the editor's own language model for one turn. While it is answered the client sends pieces to
   * `partialResultToken`; one that sends neither a piece nor the answer for two minutes is taken back by
   * `$/cancelRequest`, as is one whose run was cancelled. An answer that the model declined is no error but `stop:
   * "refused"`. An error's `kind` says what can be done about it: `rate_limit`, `overloaded`, `server`, `network` and
   * `protocol` are tried again, a few times; `context_overflow` has the conversation shortened; `auth` (the user does
   * not lend the model), `not_found` (there is no such model), `invalid` and any other end the run, with the error's
   * `detail` and `hint`.
   */
  'agent/model/generate': { params: GenerateParams; result: GenerateResult };
  /**
   * Asks for the diagnostics that the editor has from its other language servers, for the text that it shows. An answer
   * that takes longer than ten seconds is not waited for.
   */
  'agent/diagnostics': { params: EditorDiagnosticsParams; result: EditorDiagnostics };
  /**
   * Asks the editor's own language servers for definitions, references or symbols, in the text that it shows. It is
   * asked only while no edits are proposed in files of that kind, which it would not know of. An answer that takes
   * longer than ten seconds is not waited for; after it, an error or nothing found, a server of agentls is asked.
   */
  'agent/symbols': { params: SymbolsParams; result: EditorSymbols };
}

/** The notifications that the server sends. */
export interface ServerNotifications {
  /** Tells what happened in a subscribed session. Sent only after `agent/subscribe`, in order of `seq`. */
  'agent/event': { params: Event };
  /** Tells how the server is, when that changes. */
  'agent/status': { params: StatusParams };
}

/** The commands for `workspace/executeCommand` that are no requests as well. */
export interface Commands {
  /**
   * Starts the agent `reviewer` on a document, a part of it, or several documents. `uri` and `uris` may both be absent:
   * then it is the open document that was last touched in the editor (opened, changed or saved), and the error
   * `not_found` where there is none.
   */
  'agentls.review': { params: ReviewParams; result: RunStarted };
  /** Starts a run that explains a document or a part of it. It changes nothing. */
  'agentls.explain': { params: ExplainCodeParams; result: RunStarted };
  /**
   * Starts a run that proposes another text for a part of a document, or for all of it: what the prompt asks for or,
   * without one, the same behaviour written more clearly.
   */
  'agentls.rewrite': { params: CodeTaskParams; result: RunStarted };
  /** Starts a run that proposes tests for a document or a part of it. */
  'agentls.tests': { params: CodeTaskParams; result: RunStarted };
  /**
   * Starts the agent `planner`, which changes nothing and hands over a plan. Without a prompt it asks what is to
   * change.
   */
  'agentls.plan': { params: CodeTaskParams; result: RunStarted };
  /**
   * Proposes to remember something: an item under the heading “Remembered” of the nearest `AGENTS.md`, which is new
   * where there is none. No model is asked, and nothing counts before the user has accepted the proposal, whatever the
   * mode. The run has failed where it is remembered already, or holds a secret.
   */
  'agentls.remember': { params: RememberParams; result: RunStarted };
  /**
   * Starts any agent that is not hidden, which the user chooses where none is named, on a document or a part of it. The
   * error is `dismissed` where the user chooses none.
   */
  'agentls.delegate': { params: DelegateParams; result: RunStarted };
  /**
   * Starts the run that a comment asks for: `agent: …`, or `agent@reviewer: …` for an agent other than the default one.
   * The comment's place is the run's context; once the run is completed, its proposal takes the comment out. The error
   * is `not_found` where no such comment is at the line, or no agent has a name like that.
   */
  'agentls.request': { params: RequestParams; result: RunStarted };
  /** Starts a run that proposes an edit which resolves a finding, or a diagnostic that another server made. */
  'agentls.fix': { params: FixParams; result: RunStarted };
  /**
   * Asks the user about the edits that are proposed for other files than a document: which of the files, and whether to
   * show, accept or reject its edits. Nothing is decided where the user chooses nothing; the error is `not_found` where
   * no other file has a proposed edit.
   */
  'agentls.proposal.others': { params: OtherFilesParams; result: OtherFilesResult };
  /**
   * Asks the user about the runs that were cut off with a former server: whether to resume them, or to show what they
   * had done. Nothing is done where the user chooses nothing; the error is `not_found` where no such run is left.
   */
  'agentls.interrupted': { params: NoParams; result: InterruptedResult };
  /**
   * Asks the user which of some actions to carry out, and carries it out; nothing is done where the user chooses none.
   * The server gives the actions of a menu that has no room for them to the action “agentls: More…”, so that a client
   * needs to send back only what it got. The errors are those of the action's own command, and `not_found` where no
   * action is named.
   */
  'agentls.more': { params: MoreParams; result: MoreResult };
}
