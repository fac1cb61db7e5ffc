import * as vscode from 'vscode';
import { dotted } from './format';
import type { AgentInfo, ChangeScope, RunInfo } from './protocol';
import type { Sessions } from './sessions';

const names: { [color: string]: string } = {
  red: '#ef4444', orange: '#f97316', yellow: '#eab308', green: '#22c55e', cyan: '#06b6d4', blue: '#3b82f6', purple: '#a855f7', magenta: '#d946ef', pink: '#ec4899', gray: '#6b7280', grey: '#6b7280', white: '#e5e7eb', black: '#374151',
};

/** A dot in the colour of an agent. */
function dot(color: string | undefined): vscode.Uri {
  const fill = color === undefined ? '#6b7280' : (names[color.toLowerCase()] ?? (/^#[0-9a-f]{3,8}$/i.test(color) ? color : '#6b7280'));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5" fill="${fill}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}

/** Lets the user choose an agent that can be started or, as a child, be delegated to. */
export async function pickAgent(sessions: Sessions, title: string, all: boolean): Promise<AgentInfo | undefined> {
  const item = (agent: AgentInfo, preset: string) => ({
    label: [agent.icon, agent.title].filter((part) => part).join(' '),
    description: dotted(
      agent.slug === preset ? 'default' : '', agent.model === 'inherit' ? '' : agent.model,
      agent.source.layer === 'builtin' ? '' : agent.source.layer,
    ),
    detail: agent.description,
    iconPath: dot(agent.color),
    agent,
  });
  const list = async () => {
    const { agents, default: preset } = await sessions.listAgents();
    const primary = agents.filter((agent) => agent.categories.includes('primary'));
    const others = all ? agents.filter((agent) => !agent.categories.includes('primary')) : [];
    const head = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });
    return [
      ...primary.sort((a, b) => Number(b.slug === preset) - Number(a.slug === preset)).map((agent) => item(agent, preset)),
      ...(others.length > 0 ? [head('subagents')] : []),
      ...others.map((agent) => item(agent, preset)),
    ];
  };
  const chosen = await vscode.window.showQuickPick<vscode.QuickPickItem & { agent?: AgentInfo }>(list(), {
    title,
    placeHolder: 'Which agent?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.agent;
}

/** Lets the user choose one of some runs, the latest first; a single one is chosen without a question. Where there is none, it says so. */
export async function pickRun(runs: RunInfo[], title: string, none: string): Promise<RunInfo | undefined> {
  if (runs.length === 0) {
    void vscode.window.showInformationMessage(none);
  }
  if (runs.length <= 1) {
    return runs[0];
  }
  const items = [...runs].sort((a, b) => b.created.localeCompare(a.created)).map((run) => ({
    label: run.title, description: dotted(run.agent, run.status), detail: run.message || '', run,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.run;
}

/** Lets the user choose which changes of the repository are meant. */
export async function pickChanges(): Promise<ChangeScope | undefined> {
  const items: (vscode.QuickPickItem & { kindOf: ChangeScope['kind']; ask?: string })[] = [
    { label: '$(edit) My changes', description: 'what is not committed, unsaved text included', kindOf: 'uncommitted' },
    { label: '$(add) Staged changes', description: 'what the next commit would bring', kindOf: 'staged' },
    {
      label: '$(git-branch) My branch…',
      description: 'what it has and another one has not',
      kindOf: 'base',
      ask: 'Against which branch?',
    },
    { label: '$(git-commit) One commit…', description: 'what it brings', kindOf: 'commit', ask: 'Which commit?' },
  ];
  const title = 'Review Changes';
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder: 'Which changes?' });
  if (chosen?.ask === undefined) {
    return chosen && { kind: chosen.kindOf };
  }
  const value = chosen.kindOf === 'base' ? 'main' : 'HEAD';
  const revision = await vscode.window.showInputBox({ title, prompt: chosen.ask, value, ignoreFocusOut: true });
  return revision?.trim() ? { kind: chosen.kindOf, revision: revision.trim() } : undefined;
}
