import * as vscode from 'vscode';
import { answerAsk } from './asks';
import { listed, plural, shortened } from './format';
import { diagnostic } from './lend';
import { pickAgent, pickChanges, pickRun } from './picker';
import { here, lastFile, ours, sourceOf, subject } from './place';
import type { Proposals } from './proposals';
import type {
  AcceptResult, AskAnswer, FixParams, Proposal, ProposalDiff, ProposalFile, RunContext, RunFinished, RunID, RunInfo,
  RunStarted, SentPrompt,
} from './protocol';
import { attempt, explained, readable, tellError, tellFailure, type Server } from './server';
import { ended, type KnownSession, type OpenAsk, type Sessions } from './sessions';
import type { Transcripts } from './transcript';

/** What the tree and the lenses hand over to a command. */
interface Target {
  session?: KnownSession;
  run?: RunInfo;
  ask?: OpenAsk;
  proposal?: Proposal;
  file?: ProposalFile;
}

/** The commands of the palette, of the tree's menus and of the lenses. The server's own have names without capitals. */
export function registerCommands(
  context: vscode.ExtensionContext,
  server: Server,
  sessions: Sessions,
  proposals: Proposals,
  transcripts: Transcripts,
): void {
  // A run can end before the answer that names it is here.
  const launches = new Map<RunID, { showAnswer: boolean }>();
  const ends = new Map<RunID, RunFinished>();
  const conclude = async (id: RunID) => {
    const launch = launches.get(id);
    const end = ends.get(id);
    const run = sessions.run(id);
    if (launch && end && run) {
      launches.delete(id);
      ends.delete(id);
      await tellOfEnd(sessions, proposals, transcripts, run, end, launch.showAnswer);
    }
  };
  context.subscriptions.push(
    sessions.onDidFinish(({ run, event }) => {
      if (run.depth === 0) {
        ends.set(run.id, event);
        void attempt(() => conclude(run.id));
      }
    }),
  );
  const launched = async (started: RunStarted, showAnswer: boolean) => {
    launches.set(started.run, { showAnswer });
    await sessions.follow(started.session);
    await conclude(started.run);
  };

  // The server asks about runs that a former one left, where there are some; what goes on is followed to its end.
  server.support.endings = true;
  server.onDidStart(async () => {
    try {
      const { started } = await server.execute('agentls.interrupted', {});
      await Promise.all(started.map((each) => launched(each, true)));
    } catch (error) {
      server.log.debug(`No interrupted run was resumed: ${readable(error)}`);
    }
  });

  const run = async (agent: string | undefined, prompt: string, about: RunContext | undefined, showAnswer: boolean) => {
    await sessions.followOwn();
    const params = {
      prompt, ...(agent === undefined ? {} : { agent }), ...(about === undefined ? {} : { context: about }),
    };
    await launched(await server.request('agent/run', params), showAnswer);
  };
  const review = async (selection: boolean, uri?: vscode.Uri) => {
    const place = uri ? undefined : subject(selection);
    const file = uri ?? (place ? undefined : lastFile());
    if (file && !ours(file)) {
      throw new Error(`${file.toString()} is no file that agentls can read.`);
    }
    if (place ?? file) {
      await server.command('agentls.review', place ?? { uri: file?.toString() });
    } else if (await vscode.window.showInformationMessage('Open the file to be reviewed.', 'Open File…')) {
      await vscode.commands.executeCommand('workbench.action.files.openFile');
    }
  };
  const asked = async (title: string, placeHolder: string) => {
    const text = await vscode.window.showInputBox({ title, placeHolder, ignoreFocusOut: true });
    return text?.trim() ? text.trim() : undefined;
  };

  const register = (name: string, what: (target?: Target & vscode.Uri, ...more: unknown[]) => Promise<unknown>) =>
    context.subscriptions.push(
      vscode.commands.registerCommand(`agentls.${name}`, (target?: Target & vscode.Uri, ...more: unknown[]) =>
        attempt(() => what(target, ...more)),
      ),
    );

  register('reviewFile', (uri) => review(false, uri instanceof vscode.Uri ? uri : undefined));
  register('reviewSelection', () => review(true));
  register('reviewFiles', async (uri, all) => {
    const uris = Array.isArray(all) ? (all as vscode.Uri[]) : uri instanceof vscode.Uri ? [uri] : [];
    await server.command('agentls.review', { uris: uris.map((each) => each.toString()) });
  });
  register('reviewChanges', async (target) => {
    const changes = await pickChanges();
    if (changes) {
      const uris = target instanceof vscode.Uri ? { uris: [target.toString()] } : {};
      await server.command('agentls.review', { changes: { ...changes, ...uris } });
    }
  });
  register('runAgent', async () => {
    const agent = await pickAgent(sessions, 'Run an Agent', false);
    const prompt = agent && (await asked(`What shall ${agent.title} do?`, hint()));
    if (agent && prompt) {
      await run(agent.slug, prompt, here(true), true);
    }
  });
  register('delegateTo', async () => {
    const agent = await pickAgent(sessions, 'Delegate to…', true);
    const prompt = agent && (await asked(`What shall ${agent.title} do?`, hint()));
    if (agent && prompt) {
      await server.command('agentls.delegate', { ...here(true), agent: agent.slug, prompt });
    }
  });
  register('planChange', async () => {
    const prompt = await asked('Plan a Change', 'What is to be changed?');
    if (prompt) {
      await server.command('agentls.plan', { ...here(true), prompt });
    }
  });
  register('rememberThis', async () => {
    const text = await asked('Remember', 'What shall agents know from now on? It becomes a proposal for AGENTS.md.');
    if (text) {
      await server.command('agentls.remember', { ...here(false), text });
    }
  });
  register('explainCode', () => server.command('agentls.explain', { ...subject(true) }));
  register('rewriteSelection', async () => {
    const place = subject(true);
    const prompt = await vscode.window.showInputBox({
      title: 'Rewrite Selection',
      placeHolder: 'How? Leave it empty to have it written more clearly.',
      ignoreFocusOut: true,
    });
    if (prompt !== undefined) {
      await server.command('agentls.rewrite', { ...place, ...(prompt.trim() ? { prompt: prompt.trim() } : {}) });
    }
  });
  register('fixProblem', async () => {
    const problem = subject(false) && (await pickProblem());
    if (problem) {
      await server.command('agentls.fix', problem);
    }
  });
  register('writeTests', () => server.command('agentls.tests', { ...subject(true) }));

  register('stopRun', async (target) => {
    const chosen = target?.run ?? (await pickRun(sessions.active(), 'Stop a Run', 'No agent is at work.'));
    if (chosen) {
      await server.request('agent/cancel', { run: chosen.id });
    }
  });
  register('stopAll', async () => {
    const roots = sessions.active().filter((run) => run.depth === 0);
    await Promise.all(roots.map((run) => server.request('agent/cancel', { run: run.id })));
  });
  register('steerRun', async (target) => {
    const chosen = target?.run ?? (await pickRun(sessions.active(), 'Tell a Run Something', 'No agent is at work.'));
    const message = chosen && (await asked(
      `Tell ${sessions.agentTitle(chosen.agent)} something`, 'It arrives at the next turn.',
    ));
    if (chosen && message) {
      await server.request('agent/steer', { run: chosen.id, message });
      vscode.window.setStatusBarMessage(`${sessions.agentTitle(chosen.agent)} hears it at its next turn`, 10_000);
    }
  });
  register('resumeRun', async (target) => {
    const chosen = target?.run ?? (await pickRun(
      resumable(await sessions.latestRuns()), 'Resume a Run', 'There is no run to resume.',
    ));
    if (!chosen) {
      return;
    }
    const prompt = await vscode.window.showInputBox({
      title: `Resume “${shortened(chosen.title, 50)}”`,
      placeHolder: 'What is to be done now? Leave it empty to go on.',
      ignoreFocusOut: true,
    });
    if (prompt !== undefined) {
      await sessions.followOwn();
      await launched(
        await server.request('agent/resume', { run: chosen.id, ...(prompt.trim() ? { prompt: prompt.trim() } : {}) }),
        true,
      );
    }
  });
  register('openConversation', async () => server.request('agent/conversation', {}));
  register('continueConversation', async (target) => {
    const chosen = target?.run ?? (await pickRun(
      resumable(await sessions.latestRuns()), 'Continue as Conversation', 'There is no run to go on with.',
    ));
    if (chosen) {
      await server.request('agent/conversation', { run: chosen.id });
    }
  });
  register('sendPrompt', async (target) => {
    const uri = target instanceof vscode.Uri ? target : vscode.window.activeTextEditor?.document.uri;
    await server.command(sendPrompt, { uri: uri?.toString() ?? '' });
  });
  register('showTranscript', async (target) => {
    const chosen = target?.run ?? (await pickRun(
      await sessions.latestRuns(), 'Show a Transcript', 'No agent has worked here yet.',
    ));
    if (chosen) {
      await transcripts.show(chosen);
    }
  });
  register('undoRun', async (target) => {
    const pick = async () => {
      const { undoable } = await server.request('agent/proposals', {});
      return pickRun(undoable, 'Undo the Accepted Edits of a Run', 'No accepted edit can be undone.');
    };
    const chosen = target?.run ?? (await pick());
    if (chosen) {
      const result = await server.request('agent/undo', { run: chosen.id });
      tellOfFailures(result, 'undone');
      if (result.applied.length > 0) {
        void vscode.window.showInformationMessage(`agentls: ${plural(result.applied.length, 'edit')} undone.`);
      }
    }
  });

  register('rewindRun', async (target) => {
    const gone = target?.run;
    const detail = 'Open edits of it, and of all that followed, are rejected, and accepted ones taken back. What you did since stays.';
    const question = gone && `Go back to before “${gone.title}”?`;
    if (!question || (await vscode.window.showWarningMessage(question, { modal: true, detail }, 'Go Back')) === undefined) {
      return;
    }
    const result = await server.request('agent/rewind', { run: gone.id });
    tellOfFailures(result, 'taken back');
    const count = result.undone.length + result.rejected.length;
    const next = await vscode.window.showInformationMessage(
      `agentls: ${plural(count, 'edit')} taken back.`, 'Prompt Again…', ...(count > 0 ? ['Bring Back'] : []),
    );
    if (next === 'Bring Back') {
      tellOfFailures(await server.request('agent/restore', { run: gone.id }), 'proposed again');
      return;
    }
    const prompt = next && (await asked('What shall be done instead?', gone.title));
    if (prompt) {
      const follows = result.after === undefined ? { agent: gone.agent } : { after: result.after };
      await sessions.followOwn();
      await launched(await server.request('agent/run', { prompt, ...follows }), true);
    }
  });

  register('showDiff', async (target) => {
    const proposal = target?.proposal ?? proposals.open[0];
    if (target?.file && proposal) {
      await proposals.showDiff(target.file, proposal.agent);
    } else if (proposal) {
      await proposals.showAllDiffs(proposal);
    } else {
      void vscode.window.showInformationMessage('No edit is proposed.');
    }
  });
  const decide = (command: 'agentls.proposal.accept' | 'agentls.proposal.reject') => async (target?: Target & vscode.Uri) => {
    const chosen: Target = target ?? {};
    if (chosen.proposal && !chosen.file) {
      await server.command(command, { proposal: chosen.proposal.id });
      return;
    }
    // The diff editor hands over the document with the proposed text; that of several files itself, where the focus
    // says which.
    const shown = [target instanceof vscode.Uri ? target : undefined, vscode.window.activeTextEditor?.document.uri];
    const found = chosen.file
      ? { proposal: chosen.proposal, file: chosen.file }
      : shown.map((uri) => uri && proposals.fileOf(sourceOf(uri))).find((at) => at);
    if (found?.proposal) {
      await server.command(command, { proposal: found.proposal.id, files: [found.file.uri] });
    } else {
      void vscode.window.showInformationMessage('No edit is proposed here.');
    }
  };
  register('acceptEdits', decide('agentls.proposal.accept'));
  register('rejectEdits', decide('agentls.proposal.reject'));
  register(
    'acceptAllEdits',
    () => Promise.all(proposals.open.map((proposal) => server.command(
      'agentls.proposal.accept', { proposal: proposal.id },
    ))),
  );
  register(
    'rejectAllEdits',
    () => Promise.all(proposals.open.map((proposal) => server.command(
      'agentls.proposal.reject', { proposal: proposal.id },
    ))),
  );

  register('answerAsk', (target) => answerAsk(server, sessions, target?.ask?.id));
  const decided = (answer: AskAnswer) => (target?: Target) => answerAsk(server, sessions, target?.ask?.id, answer);
  register('allowAsk', decided({ decision: 'allow', scope: 'once' }));
  register('denyAsk', decided({ decision: 'deny', scope: 'once' }));

  register('deleteSession', async (target) => {
    const session = target?.session;
    if (!session) {
      return;
    }
    const sure = await vscode.window.showWarningMessage(
      `Delete the session “${session.info.title}” with all its runs?`,
      { modal: true, detail: 'Its runs are stopped, and what it proposes is dropped.' }, 'Delete',
    );
    if (sure === 'Delete') {
      await sessions.forget(session.info.id);
    }
  });
  register('exportSession', async (target) => {
    if (target?.session) {
      const { text } = await server.request(
        'agent/session/export', { session: target.session.info.id, format: 'markdown' },
      );
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({
        language: 'markdown', content: text,
      }));
    }
  });
  register('refreshSessions', () => sessions.refresh());
  register('showSessions', async () => vscode.commands.executeCommand('agentls.sessions.focus'));
  register('restartServer', () => server.restart());
  register('showLog', async () => server.log.show());
  register(
    'openWalkthrough',
    async () => vscode.commands.executeCommand(
      'workbench.action.openWalkthrough', 'agentls.agentls#firstReview', false,
    ),
  );
  register('menu', async () => {
    const item = (label: string, command: string) => ({ label, command: `agentls.${command}` });
    const items = [
      ...(sessions.asks().length > 0 ? [item('$(question) Answer a question', 'answerAsk')] : []),
      ...(proposals.open.length > 0 ? [item('$(diff-multiple) Show the proposed edits', 'showDiff')] : []),
      ...(sessions.active().length > 0 ? [item('$(debug-stop) Stop a run', 'stopRun')] : []),
      ...(server.running
        ? [
          item('$(search) Review this file', 'reviewFile'), item('$(robot) Run an agent…', 'runAgent'),
          item('$(comment-discussion) Talk with an agent', 'openConversation'),
          item('$(list-tree) Show the sessions', 'showSessions'),
        ]
        : []),
      item('$(refresh) Restart the server', 'restartServer'),
      item('$(output) Show the log', 'showLog'),
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: 'agentls' });
    if (chosen) {
      await vscode.commands.executeCommand(chosen.command);
    }
  });

  // The server's commands, from code actions and lenses as well as from here.
  server.middleware.executeCommand = async (command, args, next) => {
    try {
      if (launchers.has(command)) {
        await sessions.followOwn();
      }
      const result: unknown = await next(command, args);
      if (command === 'agentls.proposal.diff') {
        await showDiffOf(
          proposals, args[0] as { files?: string[]; hunks?: string[] } | undefined, result as ProposalDiff,
        );
      } else if (command === sendPrompt) {
        await sessions.follow((result as SentPrompt).session); // the conversation itself says how the run ends
      } else if (started(result)) {
        await launched(result, launchers.get(command) ?? false);
      } else {
        const done = deciders.get(command);
        if (done !== undefined) {
          tellOfFailures(result as AcceptResult, done);
        }
      }
      return result;
    } catch (error) {
      void tellError(error);
      return undefined;
    }
  };
}

/** The runs that can be gone on with, and were not yet: children go on with those that started them. */
function resumable(runs: RunInfo[]): RunInfo[] {
  const done = new Set(runs.map((run) => run.resumes));
  return runs.filter((run) => run.depth === 0 && ended(run.status) && !done.has(run.id));
}

/** The server's commands that start a run, and whether the user waits for its words: those of others are offered at its end. */
const launchers = new Map([
  ['agentls.review', false],
  ['agentls.explain', true],
  ['agentls.rewrite', false],
  ['agentls.tests', false],
  ['agentls.plan', true],
  ['agentls.remember', false],
  ['agentls.delegate', true],
  ['agentls.request', false],
  ['agentls.fix', false],
  ['agentls.run', true],
  ['agentls.resume', true],
]);

/**
 * The server's command that sends the last prompt of a conversation. Nothing is awaited before it is sent: what the user
 * types meanwhile would become part of the prompt.
 */
const sendPrompt = 'agentls.conversation.send';

/** The server's commands that do something with many edits, and what an edit that fails is said not to be. */
const deciders = new Map([
  ['agentls.proposal.accept', 'applied'],
  ['agentls.undo', 'undone'],
  ['agentls.conversation.rewind', 'taken back'],
]);

function started(result: unknown): result is RunStarted {
  return typeof result === 'object' && result !== null && 'run' in result && 'session' in result;
}

function tellOfFailures(result: Pick<AcceptResult, 'failed'> | undefined, done: string): void {
  const failed = result?.failed ?? [];
  if (failed[0]) {
    void vscode.window.showWarningMessage(`agentls: ${plural(failed.length, 'edit')} not ${done}: ${failed[0].reason}`);
  }
}

/** Says how a run that the user started has ended, and what can be done next. */
async function tellOfEnd(
  sessions: Sessions,
  proposals: Proposals,
  transcripts: Transcripts,
  run: RunInfo,
  event: RunFinished,
  showAnswer: boolean,
): Promise<void> {
  const who = sessions.agentTitle(run.agent);
  if (run.status === 'cancelled' || run.status === 'interrupted') {
    return; // the user did that
  }
  if (run.status !== 'completed') {
    const failure = event.result.error;
    const why = explained(failure) ?? event.reason ?? run.status;
    const chosen = await tellFailure(
      `${who} ended early: ${shortened(why, 300)}`, failure?.kind, 'Show Transcript', 'Resume',
    );
    if (chosen) {
      await vscode.commands.executeCommand(
        chosen === 'Resume' ? 'agentls.resumeRun' : 'agentls.showTranscript', { run },
      );
    }
    return;
  }
  await proposals.refresh();
  const found = [...(sessions.all.get(run.session)?.findings.values() ?? [])].filter(({ by }) => by === run.id || sessions.run(by)?.parent === run.id);
  // which VS Code shows in the editor alone
  const hints = found.filter(({ finding }) => finding.severity === 'hint').length;
  const problems = found.length - hints;
  const proposal = proposals.open.find((proposal) => proposal.id === event.result.proposal || proposal.run === run.id);
  const edits = proposal?.files.reduce(
    (n, file) => n + file.hunks.filter((hunk) => hunk.state === 'open').length, 0,
  ) ?? 0;
  if (showAnswer && edits === 0) {
    await transcripts.showAnswer(run);
    return;
  }
  const findings = found.length === 0
    ? 'nothing to report'
    : listed(problems && plural(problems, 'problem'), hints && plural(hints, 'hint'));
  const proposed = edits > 0 ? `, ${plural(edits, 'proposed edit')}` : '';
  const buttons = [
    ...(problems > 0 ? ['Show Problems'] : []), ...(edits > 0 ? ['Show Edits'] : []),
    ...(event.result.output ? ['Show Answer'] : []),
  ];
  const chosen = await vscode.window.showInformationMessage(
    `${who}: ${run.agent === 'reviewer' ? findings : 'done'}${proposed}.`, ...buttons,
  );
  if (chosen === 'Show Problems') {
    await vscode.commands.executeCommand('workbench.actions.view.problems');
  } else if (chosen === 'Show Edits' && proposal) {
    await proposals.showAllDiffs(proposal);
  } else if (chosen === 'Show Answer') {
    await transcripts.showAnswer(run);
  }
}

/** Shows what the server would as text in the editor's own way, where there is one. */
async function showDiffOf(
  proposals: Proposals, chosen: { files?: string[]; hunks?: string[] } | undefined, diff: ProposalDiff | undefined,
): Promise<void> {
  const wanted = new Set([...(chosen?.files ?? []), ...(chosen?.hunks ?? [])]);
  for (const proposal of proposals.open) {
    for (const file of proposal.files) {
      if (wanted.has(file.uri) || file.hunks.some((hunk) => wanted.has(hunk.id))) {
        await proposals.showDiff(file, proposal.agent);
        return;
      }
    }
  }
  if (proposals.open[0] && wanted.size === 0) {
    await proposals.showAllDiffs(proposals.open[0]);
  } else if (diff?.uri) {
    await vscode.window.showTextDocument(vscode.Uri.parse(diff.uri), { preview: true });
  }
}

/** What an agent is told beside the prompt. */
function hint(): string {
  const place = here(true);
  return place ? (place.range ? 'The agent sees the selection.' : 'The agent sees the file that is open here.') : 'Describe the task.';
}

/** The problem at the cursor, or one of the file's that the user chooses, as the server takes it. */
async function pickProblem(): Promise<FixParams | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return undefined;
  }
  const { uri } = editor.document;
  const all = vscode.languages.getDiagnostics(uri).filter((problem) => problem.severity !== vscode.DiagnosticSeverity.Hint);
  const near = all.filter((problem) => problem.range.intersection(editor.selection));
  const list = near.length > 0 ? near : all;
  let problem = list[0];
  if (list.length > 1) {
    const items = list.map((problem) => ({
      label: shortened(problem.message, 100),
      description: `line ${problem.range.start.line + 1}`,
      detail: problem.source ?? '',
      problem,
    }));
    problem = (await vscode.window.showQuickPick(items, { title: 'Fix a Problem' }))?.problem;
  } else if (!problem) {
    void vscode.window.showInformationMessage('There is no problem in this file.');
  }
  if (!problem) {
    return undefined;
  }
  // What our own server has published names its finding.
  const { data } = problem as vscode.Diagnostic & { data?: { finding?: string } };
  return data?.finding === undefined
    ? { uri: uri.toString(), diagnostic: diagnostic(problem) }
    : { finding: data.finding };
}
