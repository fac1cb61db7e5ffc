// Package run is one run of an agent: its loop, its tool calls and its children. It gets what it works with as values,
// a [Process] and a [Session], and knows nothing of those who made them.
//
// ARCHITECTURE.md tells the way of a request and of a delegation through the files of this package. What follows are
// the decisions that several files share, each with its reason.
//
// # The end of a run
//
// A run that cannot be stored ends. A commit that fails (a full disk, a file that stays locked) fails its run and is
// told once, since work without a trace cannot be trusted. The end itself then reaches the surfaces of this process
// unsaved, so that no progress hangs.
//
// A panic costs one piece of work. The engine catches panics at each run and each tool call, package lsp at each
// request, event and file of diagnostics.
//
// A limit that is reached is no failure. A run that uses up its turns gets one more answer, without tools, to hand over
// what it has; it is completed with the reason max_turns. The same holds for a model that goes round in circles,
// answers nothing, writes calls as text, or calls tools that are not there (recover.go): the run tells the model a few
// times, then lets it hand over. A run has failed only where even the hand-over says nothing, or where the provider
// failed. A last turn that says nothing, or calls something else, is one more request: the model is asked again for a
// text, so that a run makes at most one request more than it has turns, but for those that a fault of the provider or
// a conversation that is too long makes again. A child whose last turn submits that all of its task is done was not
// cut off by its turns or tokens, and has no such reason.
//
// Success is more than the status: event.Outcome says how far the task is done, by the run's end, by what cut the run
// off and by what the run handed over. Sums, trees and the list of former delegations go by that (the column succeeded
// of the table run).
//
// A run that is cancelled while the editor applies hunks drops what it has not merged; one that the end of the server
// cuts off leaves that to the next process.
//
// A hand-over ends the background, so that the last word can tell what came of it. A run that has used up its turns, or
// whose model gets nowhere, waits for its children in the background before its last turn, as at its normal end, until
// its time is kept for the hand-over. One that has used up its time or its tokens ends them at once.
//
// # Somebody else's program
//
// An agent that is a program of others (foreign.go) has a model and tools of its own. Nobody here sees its calls before
// they are made: neither a rule on commands nor a hook does. What holds it is its sandbox, what it writes is judged as
// edits are, and what a rule keeps from being read is hidden from it. So a child that is such a program is made only
// where nobody looks at the calls of its parent (program.go), and its start is decided on as a whole (foreignasks.go).
// It is told of a cancellation, and ended a moment later, since a cancelled run ends at once.
//
// # The conversation
//
// The same calls with the same results are a circle, also in rounds of two or three turns. With other results they may
// come twice as often, since times and counters differ where nothing happens. Calls that wait for something may come
// four times as often.
//
// A hidden agent (consult.go) answers one question beside a run, as a run of its own in the store, without events and
// without an entry in lists. It takes no place in the queue of children: a run that holds a place could wait for its
// own hidden agent for ever.
//
// A run that goes on with an ended one (package resume) is a new run. The former conversation stands in front of it as
// the former run's next request would have had it: shortened where it had been shortened, calls without an outcome
// answered as unknown. Each message names the one before it (Message.Parent), across runs, so that nothing is stored
// twice. A child that goes on stays bound by the rules, modes and tools of its time, whoever goes on with it; they are
// stored with it, and those of the runs above it too (powers).
//
// A transcript (history/transcript.go) is what the run goes on with, and its own messages. The parent of its first
// message is in another run, often of another session, so exports and copies (history/record.go, jsonl.go) take the
// former runs along. Where a former run was deleted, a run goes on with its own messages alone.
//
// A copy is history: a fork or an import has ended runs with new ids, and goes on when a run of it is resumed.
// Findings, proposals and permissions stay where they are. Sums leave copies out (the column copied of the table run),
// since their usage was counted where it happened.
//
// An iterated run (iterate.go) has no conversation of its own. Its passes are children of the same definition and
// power, and each gets the last one's result and edits. Without a check the last pass is one that had nothing to
// change: who has changed something is not the one to say that it is right. The check is a call of the run, with the
// run's rights and in its sandbox.
//
// # Budgets and cost
//
// A run hands over while another turn like its last one still fits into the budget, beside the hand-overs of its
// children and parents. A run that passes the limit by one answer ends without a hand-over. A child may use what its
// parent has left of tokens, cost and time, less what the parent needs for its own hand-over. An answer or a call that
// would take the time of the hand-over is ended. `budget.tokens` and `budget.cost` bound a session; definitions, and
// the caller, bound runs.
//
// Tokens that a provider's cache served do not count, since a long conversation is sent again with each turn.
//
// A limit of the cost with an unknown price is a warning, once, at the start: a local model has no price, and is still
// to be used. The known part counts.
//
// Usage is stored with each answer, so that a killed run has cost what it has cost. Sums read indexes alone, since rows
// hold whole prompts.
//
// # Delegation
//
// A child delegates only where its definition names agents, or the tool task; a run of the user without a list may
// start all agents. A built-in definition that names agents may also start the user's own, which it cannot know; one
// that plans and names none starts only agents that read.
//
// A child gets no context unless its definition asks for it. Where the definition wants a summary, a short conversation
// is handed over as it is, since summing up costs a request.
//
// The children per file and the passes of a run have the run's mode, since they are the run itself; an agent that a run
// delegates to has the mode of its own definition.
//
// A grant that the user gives for a child spares the child the question that its parents' rules would ask, since the
// grant is the user's word. It lifts no deny.
//
// # Secrets
//
// A secret in a file is a placeholder to the model (`[secret NAME]`). An edit that leaves the placeholder as it is gets
// the secret back, in files that held it before; nothing that acts does (secrets.go). Proposals with a secret are not
// stored with it, and are superseded after a restart.
//
// # Questions and plans
//
// What an agent wants to know of the user takes the way of a question for permission (questions.go): one list,
// one prompt at a time, one time limit, one table in the store. The questions of one call are open together. Silence is
// an answer too, so that no run waits for ever.
//
// The tools that a model sees stay in plan mode, so that the prefix of its requests does (plan.go). What does more than
// read is refused until the user accepts the plan, in the runs below too. Where nobody can be asked, a plan mode is not
// entered, and no plan is carried out. Files of plans are made exclusively, so that no two prompts share a name.
//
// An agent may set one key of the user's configuration, the status line (statusset.go), and only agents that name the
// tool are offered it. The user is asked each time, for the very line, whatever was granted. A command is tried before
// it is kept. config.WithText changes that one value, or says that a person has to. A file in the workspace, or one
// with unsaved changes, is not written. The command of the status line itself (package statusline) is the user's: it
// runs as the user does, without keys, and never for a project's sake.
//
// # Hooks
//
// Hooks run in the sandbox of their run (hookrun.go), the user's own too: they see what the agent sees, and a
// formatter's changes become proposals. Files of the home folder that a hook of the user names are shown there. Without
// a sandbox the user's hooks run directly, in trusted folders. A project's hook runs in a full sandbox or not at all.
//
// A hook that fails lets the call through, but for exit code 2, as scripts for other tools expect; the user is told,
// each thing once in a run. A guard whose matcher cannot be read guards all calls.
//
// # Commands and checkers
//
// A command's changes are bound by the rules on edits (run.editable; package command). The same holds for fixes of
// findings, but the named sets of definitions do not bear on these: a reviewer edits nothing else.
//
// A command that ran without a sandbox when the server was killed is ended by the next process, which knows it by the
// variable AGENTLS_RUN. A sandbox ends by itself.
//
// No command runs in a workspace that is not trusted, not even in a full sandbox: what it runs is the workspace's own.
// A checker is no command (checkers.go): it sees the run's view in its sandbox, without network, and what it writes is
// dropped. The configuration's rules on commands bind checkers, those of an agent do not, so that reviewers without
// bash have them.
//
// What a tool says is bounded by package command. A definition's tool_options set other limits, times and default
// arguments.
package run
