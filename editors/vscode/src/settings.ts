import * as vscode from 'vscode';
import type { Server } from './server';

/** Settings of the extension itself, of which the server knows nothing. */
const own = new Set(['path', 'trace.server']);

/** The key in config.toml of a setting, which has its name in VS Code's manner: askTimeout is ask_timeout. */
function keyOf(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Gives the server the settings that the user has set. Defaults are left out: they would hide what the user's
 * config.toml says.
 */
export function lendSettings(server: Server, context: vscode.ExtensionContext): void {
  const manifest = context.extension.packageJSON as { contributes: { configuration: { properties: object } } };
  const keys = Object.keys(manifest.contributes.configuration.properties)
    .map((key) => key.slice('agentls.'.length))
    .filter((key) => !own.has(key))
    // a former name, as in config.toml, yields to the present one
    .sort((a, b) => Number(b.includes('_')) - Number(a.includes('_')));
  server.middleware.workspace = {
    ...server.middleware.workspace,
    configuration: (params) => params.items.map((item) => (item.section === 'agentls' ? chosen(keys) : null)),
  };
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration('agentls.path')) {
        void server.restart();
      } else if (e.affectsConfiguration('agentls')) {
        void server.settingsChanged();
      }
    }),
  );
}

type Section = { [key: string]: unknown };

/** The section agentls as far as somebody has set it, as nested objects. */
function chosen(keys: string[]): Section {
  const section: Section = {};
  const configuration = vscode.workspace.getConfiguration('agentls');
  for (const key of keys) {
    const found = configuration.inspect(key);
    const value = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    if (value === undefined) {
      continue;
    }
    const path = keyOf(key).split('.');
    const last = path.pop() ?? key;
    let place = section;
    for (const part of path) {
      place = (place[part] ??= {}) as Section;
    }
    place[last] = value;
  }
  return section;
}
