import * as vscode from 'vscode';
import { State } from 'vscode-languageclient/node';
import { plural, shortened } from './format';
import type { StatusParams } from './protocol';
import type { Server } from './server';
import type { Sessions } from './sessions';

/** How long the item may be, so that there is room for those of the editor. */
const longest = 32;

/** The item in the status bar: how the server is, what runs, and whether somebody waits for an answer. */
export function showStatus(server: Server, sessions: Sessions): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('agentls.status', vscode.StatusBarAlignment.Left, 10);
  item.name = 'agentls';
  item.command = 'agentls.menu';
  let state = State.Starting;
  let status: StatusParams | undefined;
  const update = () => {
    const asks = sessions.asks().length;
    const busy = sessions.active().length;
    // Its sign for what is under way turns here.
    const line = status?.statusline?.replace(/^⟳ /, '');
    item.backgroundColor = undefined;
    if (state === State.Stopped) {
      item.text = '$(error) agentls';
      item.tooltip = 'The agentls server is not running. Click for what to do.';
      item.backgroundColor = new vscode.ThemeColor('statusBarItem.errorBackground');
    } else if (asks > 0) {
      item.text = `$(question) ${plural(asks, 'question')}`;
      item.tooltip = 'An agent waits for your answer.';
      item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    } else if (busy > 0) {
      item.text = `$(loading~spin) ${shortened(line || plural(busy, 'agent'), longest)}`;
      item.tooltip = [
        line, ...sessions.active().map((run) => `${run.agent}: ${run.message || run.title}`),
      ].filter((text) => text).join('\n');
    } else {
      item.text = `$(${state === State.Running ? 'robot' : 'loading~spin'}) ${shortened(line || 'agentls', longest)}`;
      item.tooltip = status?.message ? new vscode.MarkdownString(status.message) : `${line || 'agentls'}: no agent is at work`;
      if (status?.health === 'error') {
        item.backgroundColor = new vscode.ThemeColor('statusBarItem.errorBackground');
      } else if (status?.health === 'warning') {
        item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
      }
    }
    void vscode.commands.executeCommand('setContext', 'agentls.active', busy > 0);
    void vscode.commands.executeCommand('setContext', 'agentls.asks', asks > 0);
  };
  server.listen('agent/status', (news) => {
    status = news;
    update();
  });
  const subscriptions = [
    item,
    sessions.onDidChange(update),
    server.onDidChangeState((now) => {
      state = now;
      status = undefined;
      update();
    }),
  ];
  update();
  item.show();
  return vscode.Disposable.from(...subscriptions);
}
