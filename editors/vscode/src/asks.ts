import * as vscode from 'vscode';
import { baseName, shortened } from './format';
import type { Ask, AskAnswer, AskID, Question, QuestionAnswer } from './protocol';
import type { Server } from './server';
import type { Sessions } from './sessions';

/** What can be answered to a question for permission, in the words of every client. */
const choices: { title: string; answer: AskAnswer }[] = [
  { title: 'Allow once', answer: { decision: 'allow', scope: 'once' } },
  { title: 'Allow for this run', answer: { decision: 'allow', scope: 'run' } },
  { title: 'Always allow', answer: { decision: 'allow', scope: 'project' } },
  { title: 'Deny', answer: { decision: 'deny', scope: 'once' } },
];

/** Brings what agents ask before the user: notifications that name the agent, which never take the focus. */
export function answerAsks(server: Server, sessions: Sessions): void {
  server.support.asks = true;
  server.support.questions = true;
  server.answer('agent/ask', (ask, token) => untilCancelled(token, askPermission(ask)));
  server.answer('agent/question', (question, token) => untilCancelled(token, askQuestion(sessions, question, token)));
}

/** The choices that hold for an ask: those for longer than once only where it names what they would allow. */
function offers(ask: Ask): typeof choices {
  return ask.always ? choices : choices.filter((choice) => choice.answer.scope === 'once');
}

async function askPermission(ask: Ask): Promise<AskAnswer | null> {
  const message = ask.title + whole(ask); // which begins with the agent's path
  const offered = offers(ask);
  const chosen = await vscode.window.showWarningMessage(message, ...offered.map((choice) => choice.title));
  return offered.find((choice) => choice.title === chosen)?.answer ?? null;
}

/** The whole of what is asked for, where the title does not say it: not the full path of a file that it names, say. */
function whole(ask: Ask): string {
  const detail = ask.detail ?? '';
  return detail && !detail.includes('\n') && ask.title.endsWith(baseName(detail))
    ? ''
    : detail && `\n${shortened(detail, 300)}`;
}

async function askQuestion(
  sessions: Sessions, question: Question, token: vscode.CancellationToken,
): Promise<QuestionAnswer | null> {
  const message = worded(sessions, question);
  const labels = (question.choices ?? []).map((choice) => choice.label);
  const other = question.multiple ? 'Choose…' : labels.length > 0 ? 'Other…' : 'Answer…';
  const simple = !question.multiple && labels.length > 0 && labels.length <= 4;
  const buttons = simple ? [...labels, ...(question.freeText ? [other] : [])] : [other];
  const chosen = await vscode.window.showInformationMessage(message, ...buttons);
  if (chosen === undefined) {
    return null;
  }
  return simple && chosen !== other ? { answers: [chosen] } : answerInFull(question, message, token);
}

/** A question with the name of who asks; the server itself has none. */
function worded(sessions: Sessions, question: Question): string {
  return question.agent ? `${sessions.agentTitle(question.agent)} asks: ${question.question}` : question.question;
}

/** Lets the user choose from a list, or write. */
async function answerInFull(
  question: Question, message: string, token?: vscode.CancellationToken,
): Promise<QuestionAnswer | null> {
  const own = '$(edit) Write an answer…';
  const items: vscode.QuickPickItem[] = (question.choices ?? []).map((choice) => ({
    label: choice.label,
    ...(choice.description === undefined ? {} : { detail: choice.description }),
  }));
  if (items.length > 0) {
    if (question.freeText && !question.multiple) {
      items.push({ label: own });
    }
    const options = { title: message, ignoreFocusOut: true };
    const chosen = question.multiple
      ? await vscode.window.showQuickPick(items, { ...options, canPickMany: true }, token)
      : await vscode.window.showQuickPick(items, options, token).then((item) => item && [item]);
    if (!chosen) {
      return null;
    }
    if (chosen[0]?.label !== own) {
      return { answers: chosen.map((item) => item.label) };
    }
  }
  const text = await vscode.window.showInputBox({ title: message, ignoreFocusOut: true }, token);
  return text ? { answers: [text] } : null;
}

/** Answers an open ask from the tree or the status bar. Without a decision the user is asked for it. */
export async function answerAsk(
  server: Server, sessions: Sessions, id: AskID | undefined, answer?: AskAnswer,
): Promise<void> {
  const { asks } = await server.request('agent/asks', {});
  const ask = id === undefined ? asks[0] : asks.find((ask) => ask.id === id);
  if (!ask) {
    void vscode.window.showInformationMessage('This question has been answered.');
    return;
  }
  if (ask.question) {
    const answered = await answerInFull(ask.question, worded(sessions, ask.question));
    if (answered) {
      await server.request('agent/ask/answer', { ask: ask.id, decision: 'allow', answers: answered.answers });
    }
    return;
  }
  if (!answer) {
    const items = offers(ask).map((choice) => ({
      label: choice.title,
      answer: choice.answer,
      ...(choice.answer.scope === 'project' && ask.always ? { detail: ask.always } : {}),
    }));
    answer = (await vscode.window.showQuickPick(
      items, { title: ask.title, placeHolder: shortened(ask.detail ?? ask.title, 200) },
    ))?.answer;
  }
  if (answer) {
    await server.request('agent/ask/answer', { ask: ask.id, ...answer });
  }
}

/** What somebody answers elsewhere ends the waiting; the notification itself cannot be taken back. */
function untilCancelled<T>(token: vscode.CancellationToken, answer: Promise<T | null>): Promise<T | null> {
  return Promise.race([answer, new Promise<null>((resolve) => token.onCancellationRequested(() => resolve(null)))]);
}
