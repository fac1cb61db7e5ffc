import * as vscode from 'vscode';
import { baseName, cost, dotted, elapsed, plural, tokens } from './format';
import type { Proposals } from './proposals';
import type { Proposal, ProposalFile, RunInfo } from './protocol';
import { ended, type KnownSession, type OpenAsk, type Sessions } from './sessions';

/** A line of the tree. */
export type Node =
  | { kind: 'session'; session: KnownSession }
  | { kind: 'run'; session: KnownSession; run: RunInfo }
  | { kind: 'ask'; ask: OpenAsk }
  | { kind: 'proposal'; proposal: Proposal; open: number }
  | { kind: 'file'; proposal: Proposal; file: ProposalFile; open: number };

/** The view "Sessions": each session with its runs, what they ask and what they propose. */
export class SessionTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly sessions: Sessions,
    private readonly proposals: Proposals,
  ) {
    this.view = vscode.window.createTreeView('agentls.sessions', { treeDataProvider: this, showCollapseAll: true });
    const update = () => {
      this.changed.fire(undefined);
      this.badge();
    };
    this.subscriptions = [this.view, this.changed, sessions.onDidChange(update), proposals.onDidChange(update)];
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) {
      // What former sessions left open belongs to a session in which nothing has run yet: it has no line of its own.
      const sessions = this.sessions.list();
      const listed = new Set(sessions.map((session) => session.info.id));
      const left = this.proposalNodes((proposal) => !listed.has(proposal.session));
      return [...left, ...sessions.map((session): Node => ({ kind: 'session', session }))];
    }
    switch (node.kind) {
      case 'session': {
        await this.sessions.load(node.session);
        const roots = [...node.session.runs.values()].filter((run) => run.parent === undefined || !node.session.runs.has(run.parent));
        return [
          ...this.proposalNodes((proposal) => proposal.session === node.session.info.id),
          ...roots.reverse().map((run): Node => ({ kind: 'run', session: node.session, run })),
        ];
      }
      case 'run':
        return [
          ...[...node.session.asks.values()].filter((ask) => ask.run === node.run.id).map((ask): Node => ({ kind: 'ask', ask })),
          ...this.childrenOf(node.session, node.run).map((run): Node => ({ kind: 'run', session: node.session, run })),
        ];
      case 'proposal':
        return node.proposal.files
          .map((file): Node & { kind: 'file' } => ({
            kind: 'file', proposal: node.proposal, file, open: undecided(file),
          }))
          .filter((file) => file.open > 0);
    }
    return [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case 'session':
        return sessionItem(node.session);
      case 'run':
        return this.runItem(node.session, node.run);
      case 'ask':
        return askItem(node.ask);
      case 'proposal':
        return proposalItem(node.proposal, node.open);
      case 'file':
        return fileItem(node.proposal, node.file, node.open);
    }
  }

  /** The lines of the proposals that something is open in. */
  private proposalNodes(which: (proposal: Proposal) => boolean): Node[] {
    return this.proposals.open
      .filter(which)
      .map((proposal): Node & { kind: 'proposal' } => ({
        kind: 'proposal',
        proposal,
        open: proposal.files.reduce((n, file) => n + undecided(file), 0),
      }))
      .filter((node) => node.open > 0);
  }

  private childrenOf(session: KnownSession, run: RunInfo): RunInfo[] {
    return [...session.runs.values()].filter((child) => child.parent === run.id);
  }

  private runItem(session: KnownSession, run: RunInfo): vscode.TreeItem {
    const over = ended(run.status);
    const asks = [...session.asks.values()].filter((ask) => ask.run === run.id).length;
    const children = this.childrenOf(session, run);
    const icon = this.sessions.agent(run.agent)?.icon;
    const item = new vscode.TreeItem(
      [icon, run.title].filter((part) => part).join(' '),
      children.length > 0 || asks > 0
        ? over && run.depth > 0
          ? vscode.TreeItemCollapsibleState.Collapsed
          : vscode.TreeItemCollapsibleState.Expanded
        : vscode.TreeItemCollapsibleState.None,
    );
    // A line that once had nothing below it stays closed: with something below it is another one.
    item.id = item.collapsibleState === vscode.TreeItemCollapsibleState.None ? run.id : `${run.id} parent`;
    const status = run.outcome ?? run.status;
    item.iconPath = asks > 0 ? waitsForUser : icons[status] ?? new vscode.ThemeIcon('circle-outline');
    const findings = [...session.findings.values()].filter(({ by }) => by === run.id).length;
    item.description = dotted(
      run.agent,
      over ? (status === 'completed' ? '' : status) : asks > 0 ? 'waits for you' : run.status === 'waiting' ? run.reason : run.message,
      findings > 0 ? plural(findings, 'finding') : '',
      over ? plural(run.turns, 'turn') : '',
      run.files?.length ? plural(run.files.length, 'file') : '',
      elapsed(run.created, run.finished ?? (over ? run.created : undefined)),
      tokens(run.usage),
      over ? run.message : '',
    );
    const about = new vscode.MarkdownString();
    about.appendMarkdown(`**${this.sessions.agentTitle(run.agent)}** · ${run.model} · ${run.status}\n\n`);
    about.appendText(run.title);
    about.appendMarkdown(`\n\n`);
    if (run.reason) {
      about.appendText(`${run.reason}\n`);
    }
    if (run.files?.length) {
      about.appendText(`Changed ${run.files.join(', ')}\n`);
    }
    about.appendMarkdown(`\n\n${dotted(plural(run.turns, 'turn'), tokens(run.usage), cost(run.usage), over ? '' : `${run.budgetUsed}% of its budget`)}`);
    item.tooltip = about;
    item.contextValue = `run ${over ? 'ended' : 'active'} ${run.depth === 0 ? 'root' : 'child'}`;
    item.command = { command: 'agentls.showTranscript', title: 'Show Transcript', arguments: [{ run }] };
    item.accessibilityInformation = { label: `${run.title}, ${run.agent}, ${asks > 0 ? 'waits for you' : run.status}` };
    return item;
  }

  private badge(): void {
    const asks = this.sessions.asks().length;
    const busy = this.sessions.active().length;
    const badge =
      asks > 0 ? { value: asks, tooltip: plural(asks, 'question') }
      : busy > 0 ? { value: busy, tooltip: `${plural(busy, 'agent')} at work` }
      : undefined;
    Object.assign(this.view, { badge }); // which may be undefined, whatever its type says
  }
}

function undecided(file: ProposalFile): number {
  return file.hunks.filter((hunk) => hunk.state === 'open' || hunk.state === 'conflict').length;
}

const waitsForUser = new vscode.ThemeIcon('question', new vscode.ThemeColor('charts.yellow'));
const icons: { [status: string]: vscode.ThemeIcon } = {
  pending: new vscode.ThemeIcon('clock'),
  running: new vscode.ThemeIcon('loading~spin', new vscode.ThemeColor('charts.blue')),
  waiting: new vscode.ThemeIcon('watch', new vscode.ThemeColor('charts.blue')),
  completed: new vscode.ThemeIcon('pass', new vscode.ThemeColor('charts.green')),
  partial: new vscode.ThemeIcon('circle-slash', new vscode.ThemeColor('charts.orange')),
  failed: new vscode.ThemeIcon('error', new vscode.ThemeColor('charts.red')),
  cancelled: new vscode.ThemeIcon('circle-slash', new vscode.ThemeColor('disabledForeground')),
  timeout: new vscode.ThemeIcon('clock', new vscode.ThemeColor('charts.orange')),
  interrupted: new vscode.ThemeIcon('debug-pause', new vscode.ThemeColor('charts.orange')),
};

function sessionItem(session: KnownSession): vscode.TreeItem {
  const live = session.seq !== undefined;
  const first = [...session.runs.values()][0];
  const item = new vscode.TreeItem(
    session.info.title || first?.title || 'Session',
    live ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
  );
  item.id = live ? `${session.info.id} live` : session.info.id;
  item.iconPath = new vscode.ThemeIcon(live ? 'comment-discussion' : 'history');
  item.description = dotted(
    live ? 'this window' : new Date(session.info.updated).toLocaleString(),
    plural(Math.max(session.info.runs, session.runs.size), 'run'),
    session.info.openHunks > 0 ? plural(session.info.openHunks, 'open edit') : '',
  );
  item.tooltip = session.info.summary;
  item.contextValue = 'session';
  return item;
}

function askItem(ask: OpenAsk): vscode.TreeItem {
  // Whose question it is says the line above.
  const item = new vscode.TreeItem(ask.title.replace(/^\S+( ▸ \S+)* (asks: |(?=wants to ))/, ''));
  item.id = ask.id;
  item.iconPath = waitsForUser;
  item.description = ask.tool === 'question' ? '' : ask.tool;
  item.tooltip = ask.title;
  item.contextValue = ask.tool === 'question' ? 'question' : 'ask';
  item.command = { command: 'agentls.answerAsk', title: 'Answer', arguments: [{ ask }] };
  return item;
}

function proposalItem(proposal: Proposal, open: number): vscode.TreeItem {
  const item = new vscode.TreeItem('Proposed edits', vscode.TreeItemCollapsibleState.Expanded);
  item.id = proposal.id;
  item.iconPath = new vscode.ThemeIcon('diff-multiple');
  item.description = dotted(plural(open, 'open edit'), proposal.agent);
  item.contextValue = 'proposal';
  return item;
}

function fileItem(proposal: Proposal, file: ProposalFile, open: number): vscode.TreeItem {
  const uri = vscode.Uri.parse(file.uri);
  const item = new vscode.TreeItem(uri);
  item.id = `${proposal.id} ${file.uri}`;
  item.label = baseName(file.uri);
  item.description = dotted(
    file.newUri ? `becomes ${baseName(file.newUri)}` : file.change && file.change !== 'modified' ? file.change : '',
    plural(open, 'open edit'),
    file.state === 'conflict' ? 'conflict' : '',
  );
  item.contextValue = 'file';
  item.iconPath = vscode.ThemeIcon.File;
  item.command = { command: 'agentls.showDiff', title: 'Show Diff', arguments: [{ proposal, file }] };
  return item;
}
