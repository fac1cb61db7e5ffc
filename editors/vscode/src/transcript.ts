import * as vscode from 'vscode';
import { dotted, shortened } from './format';
import type { RunID, RunInfo, TranscriptCall, TranscriptMessage } from './protocol';
import type { Server } from './server';
import type { Sessions } from './sessions';

const scheme = 'agentls-transcript';
/** How much of a call's output is shown. */
const shownOutput = 4000;

/** The conversations of runs as Markdown documents, which grow with the run. */
export class Transcripts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly shown = new Map<RunID, vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly sessions: Sessions,
  ) {
    const update = (run: RunID) => {
      const uri = this.shown.get(run);
      if (uri) {
        this.changed.fire(uri);
      }
    };
    this.subscriptions = [
      this.changed,
      sessions.onDidSpeak(update),
      sessions.onDidFinish(({ run }) => update(run.id)),
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.shown.delete(document.uri.query)),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const run = uri.query;
    if (uri.fragment === 'answer') {
      return (await this.server.request('agent/wait', { run })).output;
    }
    this.shown.set(run, uri);
    const messages: TranscriptMessage[] = [];
    for (;;) {
      const after = messages.at(-1)?.id;
      const page = await this.server.request('agent/transcript', after === undefined ? { run } : { run, after });
      messages.push(...page.messages);
      if (!page.more || page.messages.length === 0) {
        return `# ${uri.path.slice(1)}\n\n${messages.map((message, i) => markdown(message, i === 0)).join('\n\n')}\n`;
      }
    }
  }

  async show(run: RunInfo): Promise<void> {
    await preview(vscode.Uri.from({ scheme, path: `/${this.named(run)}`, query: run.id }));
  }

  /** Shows what a run has answered, alone. */
  async showAnswer(run: RunInfo): Promise<void> {
    await preview(vscode.Uri.from({
      scheme, path: `/Answer of ${this.named(run)}`, query: run.id, fragment: 'answer',
    }));
  }

  /** A name for the document of a run. */
  private named(run: RunInfo): string {
    return shortened(`${this.sessions.agentTitle(run.agent)}: ${run.title}`.replace(/[/\\?#]/g, ' '), 60);
  }
}

/** Opens a Markdown document as people read it, beside the code: where the one before stands, if it does. */
async function preview(uri: vscode.Uri): Promise<void> {
  const reads = (tab: vscode.Tab) => tab.input instanceof vscode.TabInputCustom && tab.input.uri.scheme === scheme;
  const group = vscode.window.tabGroups.all.find((group) => group.tabs.some(reads));
  const options = { viewColumn: group?.viewColumn ?? vscode.ViewColumn.Beside, preview: true, preserveFocus: true };
  try {
    await vscode.commands.executeCommand('vscode.openWith', uri, 'vscode.markdown.preview.editor', options);
  } catch {
    // The extension that shows Markdown can be switched off.
    await vscode.window.showTextDocument(uri, options);
  }
}

const speakers: { [role: string]: string } = { user: 'Message', assistant: 'Agent' };

function markdown(message: TranscriptMessage, first: boolean): string {
  const parts = [];
  if (message.compacted) {
    parts.push('---\n\n*The conversation was shortened here.*');
  }
  const speaker = first ? 'Task' : speakers[message.role];
  if (speaker && (message.text || message.reasoning)) {
    parts.push(`## ${speaker}`);
  }
  if (message.reasoning) {
    parts.push(message.reasoning.replace(/^/gm, '> '));
  }
  if (message.text) {
    parts.push(message.role === 'user' ? told(message.text) : message.text);
  }
  parts.push(...(message.calls ?? []).map(call));
  return parts.join('\n\n');
}

/** What a run was told. What the engine adds stands in tags, which Markdown swallows: it can be unfolded. */
function told(text: string): string {
  return text.replace(
    /^<(\w+)>\n([\s\S]*?)\n<\/\1>$/gm, (_, name: string, body: string) => folded(name, fenced(body.trim(), '')),
  );
}

/** Something that is shown when its title is clicked. */
function folded(title: string, body: string): string {
  return `\n\n<details><summary>${title}</summary>\n\n${body}\n\n</details>\n\n`;
}

/** A text as HTML. */
function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** What a call is about: the path, the command or the like that it names. */
function about(json: string): string {
  try {
    const named = JSON.parse(json) as { [name: string]: unknown };
    const found = [
      'path', 'command', 'pattern', 'description', 'name', 'url', 'query', 'message', 'prompt',
    ].map((key) => named[key]).find((value) => typeof value === 'string' && value);
    return typeof found === 'string' ? shortened(found, 60) : '';
  } catch {
    return ''; // the model sent something else
  }
}

const marks: { [status: string]: string } = { ok: '✓', error: '✗', denied: '⃠', cancelled: '⊘' };

function call(c: TranscriptCall): string {
  const took = c.durationMs === undefined ? '' : `${c.durationMs} ms`;
  // A call whose command failed has done what it was asked for, and is no success.
  const failed = c.status === 'ok' && c.exitCode ? `exit code ${c.exitCode}` : '';
  const mark = failed ? '✗' : (marks[c.status ?? ''] ?? '…');
  const title = `${mark} <b>${escaped(c.tool)}</b> ${escaped(dotted(about(c.arguments), c.status === 'ok' ? failed : c.status, took))}`;
  const output = c.output ?? '';
  const cut = output.length > shownOutput ? `${output.slice(0, shownOutput)}\n…` : output;
  return folded(title, `${fenced(c.arguments, 'json')}${cut ? `\n\n${fenced(cut, '')}` : ''}`);
}

/** A block of code whose text may hold such blocks itself. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
