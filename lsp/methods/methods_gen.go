// Code generated from schema/agent.metamodel.json. DO NOT EDIT.

package methods

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
)

// Version is the version of the protocol that this package speaks.
const Version = "0.1.0"

// The methods of the protocol.
const (
	MethodListAgents         = "agent/list"
	MethodGetAgent           = "agent/get"
	MethodRegisterAgent      = "agent/register"
	MethodUpdateAgent        = "agent/update"
	MethodUnregisterAgent    = "agent/unregister"
	MethodCheckAgent         = "agent/check"
	MethodRun                = "agent/run"
	MethodWait               = "agent/wait"
	MethodCancel             = "agent/cancel"
	MethodSteer              = "agent/steer"
	MethodResume             = "agent/resume"
	MethodSessions           = "agent/sessions"
	MethodSession            = "agent/session"
	MethodDeleteSession      = "agent/session/delete"
	MethodExportSession      = "agent/session/export"
	MethodForkSession        = "agent/session/fork"
	MethodTranscript         = "agent/transcript"
	MethodSubscribe          = "agent/subscribe"
	MethodProposals          = "agent/proposals"
	MethodAcceptProposal     = "agent/proposal/accept"
	MethodRejectProposal     = "agent/proposal/reject"
	MethodDiffProposal       = "agent/proposal/diff"
	MethodUndo               = "agent/undo"
	MethodRewind             = "agent/rewind"
	MethodRestore            = "agent/restore"
	MethodConversation       = "agent/conversation"
	MethodSendPrompt         = "agent/conversation/send"
	MethodRewindConversation = "agent/conversation/rewind"
	MethodAsks               = "agent/asks"
	MethodAnswerAsk          = "agent/ask/answer"
	MethodGrants             = "agent/grants"
	MethodRevoke             = "agent/revoke"
	MethodExplain            = "agent/explain"
	MethodModels             = "agent/models"
	MethodLendModels         = "agent/model/lend"
	MethodUsage              = "agent/usage"
	MethodSkills             = "agent/skills"
	MethodPrompts            = "agent/prompts"
	MethodExpand             = "agent/expand"
	MethodMCP                = "agent/mcp"
	MethodTrust              = "agent/trust"
	MethodAsk                = "agent/ask"
	MethodQuestion           = "agent/question"
	MethodGenerate           = "agent/model/generate"
	MethodDiagnostics        = "agent/diagnostics"
	MethodSymbols            = "agent/symbols"
	MethodEvent              = "agent/event"
	MethodStatus             = "agent/status"
)

// The commands for workspace/executeCommand.
const (
	CommandListAgents         = "agentls.list"
	CommandGetAgent           = "agentls.get"
	CommandRegisterAgent      = "agentls.register"
	CommandUpdateAgent        = "agentls.update"
	CommandUnregisterAgent    = "agentls.unregister"
	CommandCheckAgent         = "agentls.check"
	CommandRun                = "agentls.run"
	CommandWait               = "agentls.wait"
	CommandCancel             = "agentls.cancel"
	CommandSteer              = "agentls.steer"
	CommandResume             = "agentls.resume"
	CommandSessions           = "agentls.sessions"
	CommandSession            = "agentls.session"
	CommandDeleteSession      = "agentls.session.delete"
	CommandExportSession      = "agentls.session.export"
	CommandForkSession        = "agentls.session.fork"
	CommandTranscript         = "agentls.transcript"
	CommandSubscribe          = "agentls.subscribe"
	CommandProposals          = "agentls.proposals"
	CommandAcceptProposal     = "agentls.proposal.accept"
	CommandRejectProposal     = "agentls.proposal.reject"
	CommandDiffProposal       = "agentls.proposal.diff"
	CommandUndo               = "agentls.undo"
	CommandRewind             = "agentls.rewind"
	CommandRestore            = "agentls.restore"
	CommandConversation       = "agentls.conversation"
	CommandSendPrompt         = "agentls.conversation.send"
	CommandRewindConversation = "agentls.conversation.rewind"
	CommandAsks               = "agentls.asks"
	CommandAnswerAsk          = "agentls.ask.answer"
	CommandGrants             = "agentls.grants"
	CommandRevoke             = "agentls.revoke"
	CommandExplain            = "agentls.permission.explain"
	CommandModels             = "agentls.models"
	CommandLendModels         = "agentls.model.lend"
	CommandUsage              = "agentls.usage"
	CommandSkills             = "agentls.skills"
	CommandPrompts            = "agentls.prompts"
	CommandExpand             = "agentls.expand"
	CommandMCP                = "agentls.mcp"
	CommandTrust              = "agentls.trust"
	CommandReview             = "agentls.review"
	CommandExplainCode        = "agentls.explain"
	CommandRewrite            = "agentls.rewrite"
	CommandWriteTests         = "agentls.tests"
	CommandPlanChange         = "agentls.plan"
	CommandRemember           = "agentls.remember"
	CommandDelegate           = "agentls.delegate"
	CommandRunComment         = "agentls.request"
	CommandFix                = "agentls.fix"
	CommandOtherFiles         = "agentls.proposal.others"
	CommandInterrupted        = "agentls.interrupted"
	CommandMore               = "agentls.more"
)

// Server answers the requests of a client that are served. Its methods are called from many goroutines
// at once; params are theirs to keep.
type Server interface {
	// ListAgents answers `agent/list`. Lists the agents that the user can start or that can be delegated
	// to.
	ListAgents(ctx context.Context, params *ListAgentsParams) (*AgentList, error)
	// GetAgent answers `agent/get`. Shows one agent with everything that its definition says.
	GetAgent(ctx context.Context, params *AgentParams) (*AgentDefinition, error)
	// RegisterAgent answers `agent/register`. Adds an agent at run time. It is stored, and there after a
	// restart.
	RegisterAgent(ctx context.Context, params *RegisterAgentParams) (*RegisterAgentResult, error)
	// UpdateAgent answers `agent/update`. Replaces the definition of an agent that was registered at run
	// time. Runs keep the definition that they began with.
	UpdateAgent(ctx context.Context, params *UpdateAgentParams) (*RegisterAgentResult, error)
	// UnregisterAgent answers `agent/unregister`. Removes an agent that was registered at run time.
	UnregisterAgent(ctx context.Context, params *AgentParams) error
	// CheckAgent answers `agent/check`. Checks a definition without registering it.
	CheckAgent(ctx context.Context, params *CheckAgentParams) (*AgentProblems, error)
	// Run answers `agent/run`. Starts an agent and answers at once, as soon as the run is stored. The
	// server itself creates the progress of the run: a token of the caller would end with the answer.
	// Where the window is closed, the run is cut off and left to the next window on the folder, which
	// tells of it and can go on by `agent/resume`.
	Run(ctx context.Context, params *RunParams) (*RunStarted, error)
	// Wait answers `agent/wait`. Waits for the end of a run. Cancelling this request ends the waiting, not
	// the run.
	Wait(ctx context.Context, params *WaitParams) (*event.RunResult, error)
	// Cancel answers `agent/cancel`. Stops a run and everything below it. A run that has ended stays as it
	// is; that is no error. What was proposed stays proposed.
	Cancel(ctx context.Context, params *CancelParams) error
	// Steer answers `agent/steer`. Tells a run something; it arrives at the run's next turn.
	Steer(ctx context.Context, params *SteerParams) error
	// Resume answers `agent/resume`. Goes on with a run that has ended, as a new run with the old one's
	// history. Nothing resumes by itself.
	Resume(ctx context.Context, params *ResumeParams) (*RunStarted, error)
	// Sessions answers `agent/sessions`. Lists the sessions of this connection's workspace.
	Sessions(ctx context.Context, params *SessionsParams) (*SessionList, error)
	// Session answers `agent/session`. Shows one session with its tree of runs. It may be of a former
	// process, or of another window.
	Session(ctx context.Context, params *SessionParams) (*SessionDetail, error)
	// DeleteSession answers `agent/session/delete`. Deletes a session and all that is under it, and wipes
	// its text from the database file. Files that its runs left in the state folder go, too. Its runs are
	// cancelled first; of the window's own session, findings and open proposals go as well, and the next
	// run begins another one. A session that another living process has open is refused with the error
	// `in_use`.
	DeleteSession(ctx context.Context, params *SessionParams) error
	// ExportSession answers `agent/session/export`. Writes a session out: its runs with their
	// conversations, and the former ones that these go on with. Findings and proposals are not in it.
	ExportSession(ctx context.Context, params *ExportSessionParams) (*SessionExport, error)
	// ForkSession answers `agent/session/fork`. Copies the conversations of a session up to a message, to
	// go on in another direction: resume one of the runs of the copy. They have ended and cost nothing of
	// their own. Findings, proposals and permissions are not copied.
	ForkSession(ctx context.Context, params *ForkSessionParams) (*SessionForked, error)
	// Transcript answers `agent/transcript`. Shows the conversation of a run: what it goes on with, where
	// it resumed another one, and its own messages. What was deleted is missing; then `parent` names a
	// message that is not there.
	Transcript(ctx context.Context, params *TranscriptParams) (*Transcript, error)
	// Subscribe answers `agent/subscribe`. Asks for the state of sessions and for `agent/event` from then
	// on, until the connection ends. It is the client's consent to `agent/event`. Events come behind the
	// answer. A second one for the same session starts over. Of a session that another process has open,
	// the stored events come, a moment later than there.
	Subscribe(ctx context.Context, params *SubscribeParams) (*SubscribeResult, error)
	// Proposals answers `agent/proposals`. Lists proposed edits with their hunks.
	Proposals(ctx context.Context, params *ProposalsParams) (*ProposalList, error)
	// AcceptProposal answers `agent/proposal/accept`. Has the editor apply hunks, as one WorkspaceEdit
	// against the current versions. Nothing else changes the user's files.
	AcceptProposal(ctx context.Context, params *AcceptParams) (*AcceptResult, error)
	// RejectProposal answers `agent/proposal/reject`. Drops hunks; the agents' view loses them too.
	RejectProposal(ctx context.Context, params *ProposalParams) (*RejectResult, error)
	// DiffProposal answers `agent/proposal/diff`. Shows hunks as a unified diff, and both sides of those
	// in conflict.
	DiffProposal(ctx context.Context, params *ProposalParams) (*ProposalDiff, error)
	// Undo answers `agent/undo`. Has the editor take back edits of a run that were accepted, also after
	// they were saved and after a restart. What the user did since stays; where the user changed the same
	// lines, the edit is not taken back, and the result says so.
	Undo(ctx context.Context, params *UndoParams) (*AcceptResult, error)
	// Rewind answers `agent/rewind`. Goes back to before a prompt: of the run that it started, of what
	// went on with that and of all their subagents, open edits are rejected and accepted ones taken back,
	// also after they were saved. What the user did since stays; where the user changed the same lines,
	// the edit is not taken back, and the result says so. Nothing is deleted: the runs stay, and can be
	// followed as before; `agentls run --continue` goes on from before them.
	Rewind(ctx context.Context, params *RewindParams) (*RewindResult, error)
	// Restore answers `agent/restore`. Brings back what `agent/rewind` rejected and took back, also after
	// a restart: the edits of the run, of what went on with it and of all their subagents are proposed
	// again, under their ids. What the user did since stays; where the user changed the same lines, the
	// edit is in conflict.
	Restore(ctx context.Context, params *RestoreParams) (*RestoreResult, error)
	// Conversation answers `agent/conversation`. Opens a conversation in the editor: a Markdown document
	// `*.agentls.md` in the state folder, in which the user writes a prompt below the last heading and
	// sends it by `agent/conversation/send`. A new one is empty, or has what was said in a run and before
	// it. Where the editor opens no documents, the answer says where it lies.
	Conversation(ctx context.Context, params *ConversationParams) (*Conversation, error)
	// SendPrompt answers `agent/conversation/send`. Sends the last prompt of an open conversation, any
	// document called `*.agentls.md`. The run follows the answer above; where that is still being written,
	// the prompt steers its run. The answer is written into the document by edits that add text and touch
	// nothing of the user's.
	SendPrompt(ctx context.Context, params *SendPromptParams) (*SentPrompt, error)
	// RewindConversation answers `agent/conversation/rewind`. Goes back to before a prompt of an open
	// conversation, as `agent/rewind` does, and takes the answer and what followed out of the document.
	// The prompt stays, to be changed and sent again.
	RewindConversation(ctx context.Context, params *RewindConversationParams) (*RewindResult, error)
	// Asks answers `agent/asks`. Lists the questions for permission that are open.
	Asks(ctx context.Context, params *AsksParams) (*AskList, error)
	// AnswerAsk answers `agent/ask/answer`. Answers a question for permission.
	AnswerAsk(ctx context.Context, params *AnswerAskParams) error
	// Grants answers `agent/grants`. Lists the remembered permissions.
	Grants(ctx context.Context, params *GrantsParams) (*GrantList, error)
	// Revoke answers `agent/revoke`. Takes a remembered permission back.
	Revoke(ctx context.Context, params *RevokeParams) error
	// Explain answers `agent/explain`. Explains how a call would be decided: which rule, from which layer,
	// and what an "always" would allow. It also lists which files instruct the agent, what of them is cut,
	// and which are left out, and why. Nothing is run.
	Explain(ctx context.Context, params *ExplainParams) (*Explanation, error)
	// Models answers `agent/models`. Lists the models that can be chosen, the one that a run would take,
	// and why. Providers are asked for nothing: whether one answers is told by `agentls doctor --models`.
	Models(ctx context.Context, params *ModelsParams) (*ModelList, error)
	// LendModels answers `agent/model/lend`. Tells which models the editor lends by
	// `agent/model/generate`, each time that this changes; the last list counts, and an empty one takes
	// them all back. Without it the editor's choice of a model is lent, as `editor`, once `models` was
	// announced. A client that did not announce `models` gets the error `unsupported`.
	LendModels(ctx context.Context, params *LendModelsParams) error
	// Usage answers `agent/usage`. Sums up tokens, cost, time and outcomes of stored runs. Each request to
	// a model is counted once; only in a row for a single run, what its children used is counted as well.
	// `run` and `session` that are not stored are the error `not_found`.
	Usage(ctx context.Context, params *UsageParams) (*UsageReport, error)
	// Skills answers `agent/skills`. Lists the skills.
	Skills(ctx context.Context, params *SkillsParams) (*SkillList, error)
	// Prompts answers `agent/prompts`. Lists the prompts that a user may call by `/` and their name: those
	// in files, of projects only where the folder is trusted, and skills. Prompts of MCP servers are
	// listed by `agent/mcp`.
	Prompts(ctx context.Context, params *PromptsParams) (*PromptList, error)
	// Expand answers `agent/expand`. Says what `agent/run` would send for a prompt. Nothing is sent, and
	// no command is run: a part names those that a run would begin with.
	Expand(ctx context.Context, params *ExpandParams) (*Expansion, error)
	// MCP answers `agent/mcp`. Lists the MCP servers of the configuration, of workspace folders and of
	// definitions in use, and their state. Nothing is started.
	MCP(ctx context.Context, params *NoParams) (*MCPList, error)
	// Trust answers `agent/trust`. Shows or changes whether a workspace folder is trusted. Nothing that
	// lies in a folder acts before that.
	Trust(ctx context.Context, params *TrustParams) (*TrustResult, error)
}

// Dispatch decodes the params of a request, calls the server and returns its result. It is not handled
// if the method is not of this protocol. Params that do not have the documented form are a
// *[ParamsError]; absent params count as an empty object.
func Dispatch(ctx context.Context, s Server, method string, params []byte) (result any, handled bool, err error) {
	switch method {
	case MethodListAgents:
		result, err = call(ctx, params, s.ListAgents)
	case MethodGetAgent:
		result, err = call(ctx, params, s.GetAgent)
	case MethodRegisterAgent:
		result, err = call(ctx, params, s.RegisterAgent)
	case MethodUpdateAgent:
		result, err = call(ctx, params, s.UpdateAgent)
	case MethodUnregisterAgent:
		result, err = callNoResult(ctx, params, s.UnregisterAgent)
	case MethodCheckAgent:
		result, err = call(ctx, params, s.CheckAgent)
	case MethodRun:
		result, err = call(ctx, params, s.Run)
	case MethodWait:
		result, err = call(ctx, params, s.Wait)
	case MethodCancel:
		result, err = callNoResult(ctx, params, s.Cancel)
	case MethodSteer:
		result, err = callNoResult(ctx, params, s.Steer)
	case MethodResume:
		result, err = call(ctx, params, s.Resume)
	case MethodSessions:
		result, err = call(ctx, params, s.Sessions)
	case MethodSession:
		result, err = call(ctx, params, s.Session)
	case MethodDeleteSession:
		result, err = callNoResult(ctx, params, s.DeleteSession)
	case MethodExportSession:
		result, err = call(ctx, params, s.ExportSession)
	case MethodForkSession:
		result, err = call(ctx, params, s.ForkSession)
	case MethodTranscript:
		result, err = call(ctx, params, s.Transcript)
	case MethodSubscribe:
		result, err = call(ctx, params, s.Subscribe)
	case MethodProposals:
		result, err = call(ctx, params, s.Proposals)
	case MethodAcceptProposal:
		result, err = call(ctx, params, s.AcceptProposal)
	case MethodRejectProposal:
		result, err = call(ctx, params, s.RejectProposal)
	case MethodDiffProposal:
		result, err = call(ctx, params, s.DiffProposal)
	case MethodUndo:
		result, err = call(ctx, params, s.Undo)
	case MethodRewind:
		result, err = call(ctx, params, s.Rewind)
	case MethodRestore:
		result, err = call(ctx, params, s.Restore)
	case MethodConversation:
		result, err = call(ctx, params, s.Conversation)
	case MethodSendPrompt:
		result, err = call(ctx, params, s.SendPrompt)
	case MethodRewindConversation:
		result, err = call(ctx, params, s.RewindConversation)
	case MethodAsks:
		result, err = call(ctx, params, s.Asks)
	case MethodAnswerAsk:
		result, err = callNoResult(ctx, params, s.AnswerAsk)
	case MethodGrants:
		result, err = call(ctx, params, s.Grants)
	case MethodRevoke:
		result, err = callNoResult(ctx, params, s.Revoke)
	case MethodExplain:
		result, err = call(ctx, params, s.Explain)
	case MethodModels:
		result, err = call(ctx, params, s.Models)
	case MethodLendModels:
		result, err = callNoResult(ctx, params, s.LendModels)
	case MethodUsage:
		result, err = call(ctx, params, s.Usage)
	case MethodSkills:
		result, err = call(ctx, params, s.Skills)
	case MethodPrompts:
		result, err = call(ctx, params, s.Prompts)
	case MethodExpand:
		result, err = call(ctx, params, s.Expand)
	case MethodMCP:
		result, err = call(ctx, params, s.MCP)
	case MethodTrust:
		result, err = call(ctx, params, s.Trust)
	default:
		return nil, false, nil
	}
	return result, true, err
}

// CommandServer executes commands: each request is one, and some are commands only.
type CommandServer interface {
	Server
	// Review executes `agentls.review`. Starts the agent `reviewer` on a document, a part of it, or
	// several documents. `uri` and `uris` may both be absent: then it is the open document that was last
	// touched in the editor (opened, changed or saved), and the error `not_found` where there is none.
	Review(ctx context.Context, params *ReviewParams) (*RunStarted, error)
	// ExplainCode executes `agentls.explain`. Starts a run that explains a document or a part of it. It
	// changes nothing.
	ExplainCode(ctx context.Context, params *ExplainCodeParams) (*RunStarted, error)
	// Rewrite executes `agentls.rewrite`. Starts a run that proposes another text for a part of a
	// document, or for all of it: what the prompt asks for or, without one, the same behaviour written
	// more clearly.
	Rewrite(ctx context.Context, params *CodeTaskParams) (*RunStarted, error)
	// WriteTests executes `agentls.tests`. Starts a run that proposes tests for a document or a part of
	// it.
	WriteTests(ctx context.Context, params *CodeTaskParams) (*RunStarted, error)
	// PlanChange executes `agentls.plan`. Starts the agent `planner`, which changes nothing and hands over
	// a plan. Without a prompt it asks what is to change.
	PlanChange(ctx context.Context, params *CodeTaskParams) (*RunStarted, error)
	// Remember executes `agentls.remember`. Proposes to remember something: an item under the heading
	// “Remembered” of the nearest `AGENTS.md`, which is new where there is none. No model is asked, and
	// nothing counts before the user has accepted the proposal, whatever the mode. The run has failed
	// where it is remembered already, or holds a secret.
	Remember(ctx context.Context, params *RememberParams) (*RunStarted, error)
	// Delegate executes `agentls.delegate`. Starts any agent that is not hidden, which the user chooses
	// where none is named, on a document or a part of it. The error is `dismissed` where the user chooses
	// none.
	Delegate(ctx context.Context, params *DelegateParams) (*RunStarted, error)
	// RunComment executes `agentls.request`. Starts the run that a comment asks for: `agent: …`, or
	// `agent@reviewer: …` for an agent other than the default one. The comment's place is the run's
	// context; once the run is completed, its proposal takes the comment out. The error is `not_found`
	// where no such comment is at the line, or no agent has a name like that.
	RunComment(ctx context.Context, params *RequestParams) (*RunStarted, error)
	// Fix executes `agentls.fix`. Starts a run that proposes an edit which resolves a finding, or a
	// diagnostic that another server made.
	Fix(ctx context.Context, params *FixParams) (*RunStarted, error)
	// OtherFiles executes `agentls.proposal.others`. Asks the user about the edits that are proposed for
	// other files than a document: which of the files, and whether to show, accept or reject its edits.
	// Nothing is decided where the user chooses nothing; the error is `not_found` where no other file has
	// a proposed edit.
	OtherFiles(ctx context.Context, params *OtherFilesParams) (*OtherFilesResult, error)
	// Interrupted executes `agentls.interrupted`. Asks the user about the runs that were cut off with a
	// former server: whether to resume them, or to show what they had done. Nothing is done where the user
	// chooses nothing; the error is `not_found` where no such run is left.
	Interrupted(ctx context.Context, params *NoParams) (*InterruptedResult, error)
	// More executes `agentls.more`. Asks the user which of some actions to carry out, and carries it out;
	// nothing is done where the user chooses none. The server gives the actions of a menu that has no room
	// for them to the action “agentls: More…”, so that a client needs to send back only what it got. The
	// errors are those of the action's own command, and `not_found` where no action is named.
	More(ctx context.Context, params *MoreParams) (*MoreResult, error)
}

// Commands returns the commands that are served, for the capability executeCommandProvider.
func Commands() []string {
	return []string{
		CommandReview,
		CommandExplainCode,
		CommandRewrite,
		CommandWriteTests,
		CommandPlanChange,
		CommandRemember,
		CommandDelegate,
		CommandRunComment,
		CommandFix,
		CommandOtherFiles,
		CommandInterrupted,
		CommandMore,
		CommandListAgents,
		CommandGetAgent,
		CommandRegisterAgent,
		CommandUpdateAgent,
		CommandUnregisterAgent,
		CommandCheckAgent,
		CommandRun,
		CommandWait,
		CommandCancel,
		CommandSteer,
		CommandResume,
		CommandSessions,
		CommandSession,
		CommandDeleteSession,
		CommandExportSession,
		CommandForkSession,
		CommandTranscript,
		CommandSubscribe,
		CommandProposals,
		CommandAcceptProposal,
		CommandRejectProposal,
		CommandDiffProposal,
		CommandUndo,
		CommandRewind,
		CommandRestore,
		CommandConversation,
		CommandSendPrompt,
		CommandRewindConversation,
		CommandAsks,
		CommandAnswerAsk,
		CommandGrants,
		CommandRevoke,
		CommandExplain,
		CommandModels,
		CommandLendModels,
		CommandUsage,
		CommandSkills,
		CommandPrompts,
		CommandExpand,
		CommandMCP,
		CommandTrust,
	}
}

// CommandMethod returns the method that a command stands for, and "" for one that is a command only, or
// none of this protocol. It also knows the methods that are not served yet.
func CommandMethod(command string) string {
	switch command {
	case CommandListAgents:
		return MethodListAgents
	case CommandGetAgent:
		return MethodGetAgent
	case CommandRegisterAgent:
		return MethodRegisterAgent
	case CommandUpdateAgent:
		return MethodUpdateAgent
	case CommandUnregisterAgent:
		return MethodUnregisterAgent
	case CommandCheckAgent:
		return MethodCheckAgent
	case CommandRun:
		return MethodRun
	case CommandWait:
		return MethodWait
	case CommandCancel:
		return MethodCancel
	case CommandSteer:
		return MethodSteer
	case CommandResume:
		return MethodResume
	case CommandSessions:
		return MethodSessions
	case CommandSession:
		return MethodSession
	case CommandDeleteSession:
		return MethodDeleteSession
	case CommandExportSession:
		return MethodExportSession
	case CommandForkSession:
		return MethodForkSession
	case CommandTranscript:
		return MethodTranscript
	case CommandSubscribe:
		return MethodSubscribe
	case CommandProposals:
		return MethodProposals
	case CommandAcceptProposal:
		return MethodAcceptProposal
	case CommandRejectProposal:
		return MethodRejectProposal
	case CommandDiffProposal:
		return MethodDiffProposal
	case CommandUndo:
		return MethodUndo
	case CommandRewind:
		return MethodRewind
	case CommandRestore:
		return MethodRestore
	case CommandConversation:
		return MethodConversation
	case CommandSendPrompt:
		return MethodSendPrompt
	case CommandRewindConversation:
		return MethodRewindConversation
	case CommandAsks:
		return MethodAsks
	case CommandAnswerAsk:
		return MethodAnswerAsk
	case CommandGrants:
		return MethodGrants
	case CommandRevoke:
		return MethodRevoke
	case CommandExplain:
		return MethodExplain
	case CommandModels:
		return MethodModels
	case CommandLendModels:
		return MethodLendModels
	case CommandUsage:
		return MethodUsage
	case CommandSkills:
		return MethodSkills
	case CommandPrompts:
		return MethodPrompts
	case CommandExpand:
		return MethodExpand
	case CommandMCP:
		return MethodMCP
	case CommandTrust:
		return MethodTrust
	}
	return ""
}

// DispatchCommand executes a command as [Dispatch] handles a request. A command takes one argument, an
// object; none counts as an empty one, and more are an error.
func DispatchCommand[A ~[]byte](ctx context.Context, s CommandServer, command string, arguments []A) (result any, handled bool, err error) {
	var argument []byte
	if len(arguments) > 0 {
		argument = arguments[0]
	}
	switch {
	case CommandMethod(command) == "" && !commandOnly(command):
		return nil, false, nil
	case len(arguments) > 1:
		return nil, true, &ParamsError{Path: "arguments", Problem: fmt.Sprintf("want one object, got %d values", len(arguments))}
	}
	switch command {
	case CommandReview:
		result, err = call(ctx, argument, s.Review)
	case CommandExplainCode:
		result, err = call(ctx, argument, s.ExplainCode)
	case CommandRewrite:
		result, err = call(ctx, argument, s.Rewrite)
	case CommandWriteTests:
		result, err = call(ctx, argument, s.WriteTests)
	case CommandPlanChange:
		result, err = call(ctx, argument, s.PlanChange)
	case CommandRemember:
		result, err = call(ctx, argument, s.Remember)
	case CommandDelegate:
		result, err = call(ctx, argument, s.Delegate)
	case CommandRunComment:
		result, err = call(ctx, argument, s.RunComment)
	case CommandFix:
		result, err = call(ctx, argument, s.Fix)
	case CommandOtherFiles:
		result, err = call(ctx, argument, s.OtherFiles)
	case CommandInterrupted:
		result, err = call(ctx, argument, s.Interrupted)
	case CommandMore:
		result, err = call(ctx, argument, s.More)
	default:
		result, _, err = Dispatch(ctx, s, CommandMethod(command), argument)
	}
	return result, true, inArgument(err)
}

func commandOnly(command string) bool {
	switch command {
	case CommandReview, CommandExplainCode, CommandRewrite, CommandWriteTests, CommandPlanChange, CommandRemember, CommandDelegate, CommandRunComment, CommandFix, CommandOtherFiles, CommandInterrupted, CommandMore:
		return true
	}
	return false
}

// Client sends what the server sends to a client. It may be used from any goroutine that the connection
// may be used from.
type Client struct {
	// Conn is the connection to the client.
	Conn Conn
}

// Ask sends `agent/ask`. Asks the user for permission. Null means that the user closed the question; it
// stays open until it expires. Only for a client that announced `experimental.agentls.asks`.
func (c Client) Ask(ctx context.Context, params *Ask) (*AskAnswer, error) {
	return requestNullable[AskAnswer](ctx, c.Conn, MethodAsk, params)
}

// Question sends `agent/question`. Asks the user something on behalf of an agent. Null means that the
// user closed it; it stays open until it expires. No answers leave it to the agent. Only for a client
// that announced `experimental.agentls.questions`.
func (c Client) Question(ctx context.Context, params *Question) (*QuestionAnswer, error) {
	return requestNullable[QuestionAnswer](ctx, c.Conn, MethodQuestion, params)
}

// Generate sends `agent/model/generate`. Asks the editor's own language model for one turn. While it is
// answered the client sends pieces to `partialResultToken`; one that sends neither a piece nor the
// answer for two minutes is taken back by `$/cancelRequest`, as is one whose run was cancelled. An
// answer that the model declined is no error but `stop: "refused"`. An error's `kind` says what can be
// done about it: `rate_limit`, `overloaded`, `server`, `network` and `protocol` are tried again, a few
// times; `context_overflow` has the conversation shortened; `auth` (the user does not lend the model),
// `not_found` (there is no such model), `invalid` and any other end the run, with the error's `detail`
// and `hint`. Only for a client that announced `experimental.agentls.models`.
func (c Client) Generate(ctx context.Context, params *GenerateParams) (*GenerateResult, error) {
	return request[GenerateResult](ctx, c.Conn, MethodGenerate, params)
}

// Diagnostics sends `agent/diagnostics`. Asks for the diagnostics that the editor has from its other
// language servers, for the text that it shows. An answer that takes longer than ten seconds is not
// waited for. Only for a client that announced `experimental.agentls.diagnostics`.
func (c Client) Diagnostics(ctx context.Context, params *EditorDiagnosticsParams) (*EditorDiagnostics, error) {
	return request[EditorDiagnostics](ctx, c.Conn, MethodDiagnostics, params)
}

// Symbols sends `agent/symbols`. Asks the editor's own language servers for definitions, references or
// symbols, in the text that it shows. It is asked only while no edits are proposed in files of that
// kind, which it would not know of. An answer that takes longer than ten seconds is not waited for;
// after it, an error or nothing found, a server of agentls is asked. Only for a client that announced
// `experimental.agentls.symbols`.
func (c Client) Symbols(ctx context.Context, params *SymbolsParams) (*EditorSymbols, error) {
	return request[EditorSymbols](ctx, c.Conn, MethodSymbols, params)
}

// Event sends `agent/event`. Tells what happened in a subscribed session. Sent only after
// `agent/subscribe`, in order of `seq`.
func (c Client) Event(ctx context.Context, params *event.Event) error {
	return c.Conn.Notify(ctx, MethodEvent, params)
}

// Status sends `agent/status`. Tells how the server is, when that changes. Only for a client that
// announced `experimental.agentls`.
func (c Client) Status(ctx context.Context, params *StatusParams) error {
	return c.Conn.Notify(ctx, MethodStatus, params)
}
