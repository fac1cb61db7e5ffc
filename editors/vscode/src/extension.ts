// The extension asks, it does not compute. Hunks move at the server, so their places are asked for whenever they are
// shown; a session is followed before a run is launched, so that none of its events is missed. Only what somebody has
// set is handed over as a setting, since VS Code's defaults would hide the user's file. What a workspace must not bring
// along (providers, hooks, rules, hosts) has VS Code's scope `machine`, and so has a new key, until settings_test.go
// names it.
//
// The window is told little: VS Code drops a fourth notification within 800 ms, whatever it says. So the client's
// library writes to the log alone, and a crash is told once in the time that limits restarts.

import * as vscode from 'vscode';
import { answerAsks } from './asks';
import { registerCommands } from './commands';
import { lendLanguages } from './lend';
import { lendModels } from './models';
import { followPlace } from './place';
import { showProgress } from './progress';
import { Proposals } from './proposals';
import { Server } from './server';
import { Sessions } from './sessions';
import { lendSettings } from './settings';
import { showStatus } from './status';
import { Transcripts } from './transcript';
import { SessionTree } from './tree';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  server = new Server(context);
  const sessions = new Sessions(server);
  const proposals = new Proposals(server, sessions);
  const transcripts = new Transcripts(server, sessions);
  context.subscriptions.push(
    server, sessions, proposals, transcripts, new SessionTree(sessions, proposals), showStatus(server, sessions),
    followPlace(),
  );
  lendSettings(server, context);
  showProgress(server, sessions);
  answerAsks(server, sessions);
  lendLanguages(server);
  registerCommands(context, server, sessions, proposals, transcripts);
  lendModels(server, context.subscriptions);
  // The server learns of trust at its start alone.
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => void server?.restart()));
  await server.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
