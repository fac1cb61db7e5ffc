import * as vscode from 'vscode';
import { dotted, plural, shortened } from './format';
import { isConversation, proposedScheme, sourceOf } from './place';
import type { Hunk, Proposal, ProposalFile } from './protocol';
import { readable, type Server } from './server';
import type { Sessions } from './sessions';

/** Whether a hunk waits for the user. */
function undecided(hunk: Hunk): boolean {
  return hunk.state === 'open' || hunk.state === 'conflict';
}

function rangeOf(hunk: Hunk): vscode.Range {
  const { start, end } = hunk.range;
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/**
 * The proposed edits: lenses and decorations at each, documents with the proposed text for the diff editor. The server
 * moves the hunks while the user types, so they are asked for whenever they are shown.
 */
export class Proposals implements vscode.CodeLensProvider, vscode.Disposable {
  /** The proposals with something open, as they were last asked for. */
  open: Proposal[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly rewritten = new vscode.EventEmitter<vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];
  private asking: Promise<void> | undefined;
  private again = false;
  private typing: NodeJS.Timeout | undefined;
  /** The titles of the editors with the diffs of several files. VS Code does not say what such an editor shows. */
  private readonly several = new Set<string>();

  private readonly replaced = decoration(
    'editorOverviewRuler.deletedForeground', { backgroundColor: color('diffEditor.removedLineBackground') },
  );
  private readonly inserted = decoration(
    'editorOverviewRuler.addedForeground',
    { borderColor: color('charts.green'), borderStyle: 'solid', borderWidth: '2px 0 0 0' },
  );
  private readonly conflicting = decoration(
    'editorOverviewRuler.warningForeground', { backgroundColor: color('inputValidation.warningBackground') },
  );

  constructor(
    private readonly server: Server,
    sessions: Sessions,
  ) {
    this.subscriptions = [
      this.changed,
      this.rewritten,
      this.replaced,
      this.inserted,
      this.conflicting,
      sessions.onDidChangeProposals(() => void this.refresh()),
      vscode.languages.registerCodeLensProvider([{ scheme: 'file' }, { scheme: 'untitled' }], this),
      vscode.workspace.registerTextDocumentContentProvider(proposedScheme, {
        onDidChange: this.rewritten.event,
        provideTextDocumentContent: (uri) => this.proposedText(uri),
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
      vscode.window.tabGroups.onDidChangeTabs(() => this.noteTab()),
      vscode.window.tabGroups.onDidChangeTabGroups(() => this.noteTab()),
      vscode.workspace.onDidChangeTextDocument((e) => {
        // Line numbers follow the typing at the server.
        if (this.fileOf(e.document.uri)) {
          clearTimeout(this.typing);
          this.typing = setTimeout(() => void this.refresh(), 150);
        }
      }),
    ];
    const before = server.middleware.provideCodeLenses;
    server.middleware.provideCodeLenses = async (document, token, next) => {
      const lenses = (await (before ? before(document, token, next) : next(document, token))) ?? [];
      // At edits our own stand already. Those of a conversation are about what an answer proposes elsewhere.
      const theirs = (lens: vscode.CodeLens) => !lens.command?.command.startsWith('agentls.proposal.');
      return isConversation(document.uri) ? lenses : lenses.filter(theirs);
    };
  }

  dispose(): void {
    clearTimeout(this.typing);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Asks for the proposals. While a request is under way, one more is made behind it. */
  refresh(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return this.asking;
    }
    this.asking = this.ask().finally(() => {
      this.asking = undefined;
      if (this.again) {
        this.again = false;
        void this.refresh();
      }
    });
    return this.asking;
  }

  /** The proposal and the file with proposed edits of a document. */
  fileOf(uri: vscode.Uri): { proposal: Proposal; file: ProposalFile } | undefined {
    for (const proposal of this.open) {
      const file = proposal.files.find((file) => vscode.Uri.parse(file.uri).toString() === uri.toString());
      if (file) {
        return { proposal, file };
      }
    }
    return undefined;
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (!this.fileOf(document.uri)) {
      return [];
    }
    if (this.again || this.asking) {
      await this.asking;
    }
    const found = this.fileOf(document.uri);
    if (!found) {
      return [];
    }
    const { proposal, file } = found;
    const hunks = file.hunks.filter(undecided);
    const lenses: vscode.CodeLens[] = [];
    const add = (line: number, title: string, command: string, argument: object) =>
      // A plain space behind the icon is swallowed.
      lenses.push(new vscode.CodeLens(
        new vscode.Range(line, 0, line, 0), { title: title.replace(') ', ')\u00a0'), command, arguments: [argument] },
      ));
    const open = hunks.filter((hunk) => hunk.state === 'open').length;
    if (open > 1) {
      const whole = { proposal: proposal.id, files: [file.uri] };
      add(0, `$(check-all) Accept all ${plural(open, 'edit')}`, 'agentls.proposal.accept', whole);
      add(0, '$(close-all) Reject all', 'agentls.proposal.reject', whole);
      add(0, '$(diff) Diff', 'agentls.showDiff', { proposal, file });
    }
    for (const hunk of hunks) {
      const line = Math.min(hunk.range.start.line, Math.max(0, document.lineCount - 1));
      const one = { proposal: proposal.id, hunks: [hunk.id] };
      if (hunk.state === 'conflict') {
        add(
          line, `$(warning) ${dotted('Conflict', hunk.agent)}: take the agent's text`, 'agentls.proposal.accept',
          { ...one, overwrite: true },
        );
        add(line, 'Keep these lines', 'agentls.proposal.reject', one);
        continue;
      }
      const what = file.change && file.change !== 'modified' ? ` (${file.change})` : '';
      add(line, `$(check) Accept${what}`, 'agentls.proposal.accept', one);
      add(line, '$(x) Reject', 'agentls.proposal.reject', one);
      add(
        line,
        `$(diff) ${shortened(dotted(hunk.agent ?? proposal.agent, hunk.reason || (news(hunk).length > 0 ? '' : 'takes lines out')), 70)}`,
        'agentls.showDiff', { proposal, file },
      );
    }
    return lenses;
  }

  private async proposedText(uri: vscode.Uri): Promise<string> {
    const source = vscode.Uri.parse(uri.query, true);
    const found = this.fileOf(source);
    if (uri.fragment === 'nothing') {
      return '';
    }
    const before = found?.file.change === 'created' ? '' : (await vscode.workspace.openTextDocument(source)).getText();
    return found ? applied(before, found.file) : before;
  }

  /** Opens the diff of a file, from what the editor shows to what is proposed. */
  async showDiff(file: ProposalFile, agent: string): Promise<void> {
    const [left, right, title] = sides(file);
    await vscode.commands.executeCommand(
      'vscode.diff', left, right, `${title} (proposed by ${agent})`, { preview: true },
    );
  }

  /** Opens the diffs of all files of a proposal in one editor. */
  async showAllDiffs(proposal: Proposal): Promise<void> {
    const files = proposal.files.filter((file) => file.hunks.some(undecided));
    const title = `Proposed by ${proposal.agent}: ${proposal.title}`;
    this.several.add(title);
    await vscode.commands.executeCommand(
      'vscode.changes',
      title,
      files.map((file) => {
        const [left, right] = sides(file);
        return [vscode.Uri.parse(file.uri), left, right];
      }),
    );
  }

  /** Whether a tab shows the diffs of several files that were proposed. */
  private showsSeveral(tab: vscode.Tab | undefined): boolean {
    return tab !== undefined && [...this.several].some((title) => tab.label.startsWith(title));
  }

  /** Has the editor with the diffs of several files bring its buttons along. */
  private noteTab(): void {
    const shown = this.showsSeveral(vscode.window.tabGroups.activeTabGroup.activeTab);
    void vscode.commands.executeCommand('setContext', 'agentls.diffs', shown);
  }

  private async ask(): Promise<void> {
    if (!this.server.running) {
      this.open = [];
    } else {
      try {
        this.open = (await this.server.request('agent/proposals', {})).proposals;
      } catch (error) {
        this.server.log.warn(`The proposed edits could not be asked for: ${readable(error)}`);
      }
    }
    void vscode.commands.executeCommand('setContext', 'agentls.proposals', this.waits());
    this.decorate();
    await this.closeDone();
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === proposedScheme) {
        this.rewritten.fire(document.uri);
      }
    }
    this.changed.fire();
  }

  /** Whether anything waits for the user. */
  private waits(): boolean {
    return this.open.some((proposal) => proposal.files.some((file) => file.hunks.some(undecided)));
  }

  /** Closes the diffs of files of which everything is decided. */
  private async closeDone(): Promise<void> {
    const done = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => {
        const { input } = tab;
        const side = input instanceof vscode.TabInputTextDiff ? [input.original, input.modified].find((uri) => uri.scheme === proposedScheme) : undefined;
        return side
          ? !this.fileOf(sourceOf(side))?.file.hunks.some(undecided)
          : this.showsSeveral(tab) && !this.waits();
      });
    if (done.length > 0) {
      await vscode.window.tabGroups.close(done, true);
    }
  }

  private decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const found = this.fileOf(editor.document.uri);
      const hunks = found?.file.hunks.filter(undecided) ?? [];
      const at = (which: (hunk: Hunk) => boolean): vscode.DecorationOptions[] =>
        hunks.filter(which).map((hunk) => ({
          range: shown(hunk), hoverMessage: hover(hunk), renderOptions: ghost(hunk),
        }));
      editor.setDecorations(this.replaced, at((hunk) => hunk.state === 'open' && !rangeOf(hunk).isEmpty));
      editor.setDecorations(this.inserted, at((hunk) => hunk.state === 'open' && rangeOf(hunk).isEmpty));
      editor.setDecorations(this.conflicting, at((hunk) => hunk.state === 'conflict'));
    }
  }
}

/** The lines that a hunk brings, without those that are there, or blank. */
function news(hunk: Hunk): string[] {
  const before = new Set((hunk.current ?? hunk.before).split(/\r?\n/));
  return hunk.after.split(/\r?\n/).filter((line) => line.trim() && !before.has(line));
}

/** What would come, behind the lines that would go: as much as one line can show. */
function ghost(hunk: Hunk): vscode.DecorationInstanceRenderOptions {
  const [line, ...more] = hunk.state === 'open' ? news(hunk) : [];
  if (line === undefined) {
    return {};
  }
  const rest = more.length > 0 ? `  … ${plural(more.length, 'more line')}` : '';
  return { after: {
    contentText: `→ ${shortened(line.trim(), 100)}${rest}`,
    color: color('gitDecoration.addedResourceForeground'),
    margin: '0 0 0 3ch',
  } };
}

function color(name: string): vscode.ThemeColor {
  return new vscode.ThemeColor(name);
}

function decoration(ruler: string, look: vscode.DecorationRenderOptions): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    ...look,
    isWholeLine: true,
    overviewRulerColor: color(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}

/** The lines of a hunk: its range ends at the start of the line behind it. */
function shown(hunk: Hunk): vscode.Range {
  const range = rangeOf(hunk);
  return range.end.character === 0 && range.end.line > range.start.line
    ? new vscode.Range(range.start.line, 0, range.end.line - 1, Number.MAX_SAFE_INTEGER)
    : range;
}

function hover(hunk: Hunk): vscode.MarkdownString {
  const lines = (text: string, sign: string) =>
    text
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .filter((_, i, all) => all.length > 1 || text !== '' || i > 0)
      .map((line) => sign + line);
  const text = new vscode.MarkdownString();
  text.appendMarkdown(`**${dotted(hunk.agent, 'proposed edit')}**\n\n`);
  text.appendText([hunk.reason, hunk.detail].filter((part) => part).join(' '));
  text.appendCodeblock([...lines(hunk.current ?? hunk.before, '-'), ...lines(hunk.after, '+')].join('\n'), 'diff');
  return text;
}

/** Both sides of the diff of a file, and its title. */
function sides(file: ProposalFile): [vscode.Uri, vscode.Uri, string] {
  const source = vscode.Uri.parse(file.uri);
  const target = file.newUri ? vscode.Uri.parse(file.newUri) : source;
  const proposed = vscode.Uri.from({ scheme: proposedScheme, path: target.path, query: source.toString() });
  const name = target.path.slice(target.path.lastIndexOf('/') + 1);
  return [
    file.change === 'created' ? proposed.with({ fragment: 'nothing' }) : source,
    file.change === 'deleted' ? proposed.with({ fragment: 'nothing' }) : proposed, name,
  ];
}

/** The text with the open hunks of a file in it. */
function applied(text: string, file: ProposalFile): string {
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) {
    starts.push(i + 1);
  }
  const offset = (line: number, character: number) => Math.min(text.length, (starts[line] ?? text.length) + character);
  let result = '';
  let done = 0;
  for (const hunk of file.hunks.filter((hunk) => hunk.state === 'open')) {
    const start = offset(hunk.range.start.line, hunk.range.start.character);
    result += text.slice(done, start) + hunk.after;
    done = Math.max(done, offset(hunk.range.end.line, hunk.range.end.character));
  }
  return result + text.slice(done);
}
