import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  LanguageClient,
  RequestType,
  ResponseError,
  State,
  type CloseHandlerResult,
  type InitializeResult,
  type Middleware,
  type StaticFeature,
} from 'vscode-languageclient/node';
import type { Commands, Failure, Requests, ServerNotifications, ServerRequests, Support, Version } from './protocol';

/** The version of the protocol that the extension speaks; the compiler compares it with the generated one. */
const version: Version = '0.1.0';

/** The program to start, and whether it is the one that came with the extension. */
interface Program {
  command: string;
  bundled: boolean;
}

/** How many crashes within crashTime are answered by another start. */
const maxRestarts = 3;
const crashTime = 3 * 60 * 1000;

const notRunning = 'The server is not running. Its log says why: run "agentls: Show Log".';

const noAnswer = 'The server ended before it answered.';

/** What requests fail with when the server goes. */
const gone: number[] = [
  ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive, ErrorCodes.MessageWriteError,
];

type Handler<M extends keyof ServerRequests> = (
  params: ServerRequests[M]['params'],
  token: vscode.CancellationToken,
) => Promise<ServerRequests[M]['result']>;

/** A client that keeps its own troubles to the log. What concerns the user, the extension says itself, once. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/**
 * The language server: where its program is, its start, its end and its restart, and typed requests to it. The parts of
 * the extension register what they answer and listen to before the first start.
 */
export class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel('agentls', { log: true });
  /** What the parts of the extension add to the client; set before start. */
  readonly middleware: Middleware = {};
  /** What is announced under capabilities.experimental.agentls. */
  readonly support: Support = { version };
  private readonly started = new vscode.EventEmitter<void>();
  /** The server is there, for the first time or again. */
  readonly onDidStart = this.started.event;
  private readonly stopped = new vscode.EventEmitter<void>();
  /** The server has gone, for good or to come back. */
  readonly onDidStop = this.stopped.event;
  private readonly changed = new vscode.EventEmitter<State>();
  readonly onDidChangeState = this.changed.event;
  private readonly registrations: ((client: LanguageClient) => void)[] = [];
  private client: LanguageClient | undefined;
  private crashes: number[] = [];
  /** Starts and stops happen one after the other. */
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly context: vscode.ExtensionContext) {}

  get running(): boolean {
    return this.client?.state === State.Running;
  }

  start(): Promise<void> {
    return this.next(() => this.launch());
  }

  /** Ends the server, which interrupts its runs, and starts it again. */
  restart(): Promise<void> {
    this.crashes = [];
    return this.next(async () => {
      await this.end();
      await this.launch();
    });
  }

  stop(): Promise<void> {
    return this.next(() => this.end());
  }

  /** Sends a request; it fails with an Error whose message a person can read. */
  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    const client = this.client;
    if (!client || client.state !== State.Running) {
      throw new Error(notRunning);
    }
    return client.sendRequest<Requests[M]['result']>(method, params);
  }

  /** Carries out one of the server's commands; it fails as request does. */
  async execute<C extends keyof Commands>(command: C, argument: Commands[C]['params']): Promise<Commands[C]['result']> {
    const client = this.client;
    if (!client || client.state !== State.Running) {
      throw new Error(notRunning);
    }
    return client.sendRequest<Commands[C]['result']>('workspace/executeCommand', { command, arguments: [argument] });
  }

  /** Has the server carry out one of its commands, as a code action would. */
  async command(name: string, argument: object): Promise<void> {
    if (!this.running) {
      throw new Error(notRunning);
    }
    await vscode.commands.executeCommand(name, argument);
  }

  /** Tells the server that a progress is to end. */
  async cancelProgress(token: string | number): Promise<void> {
    await this.client?.sendNotification('window/workDoneProgress/cancel', { token });
  }

  /** Sends a piece of an answer that is still being made. */
  async progress(token: string | number, value: unknown): Promise<void> {
    await this.client?.sendNotification('$/progress', { token, value });
  }

  /** Tells the server to ask for its settings again. */
  async settingsChanged(): Promise<void> {
    await this.client?.sendNotification('workspace/didChangeConfiguration', { settings: null });
  }

  answer<M extends keyof ServerRequests>(method: M, handler: Handler<M>): void {
    this.registrations.push((client) => void client.onRequest(
      new RequestType<ServerRequests[M]['params'], unknown, void>(method), handler,
    ));
  }

  listen<M extends keyof ServerNotifications>(
    method: M, handler: (params: ServerNotifications[M]['params']) => void,
  ): void {
    this.registrations.push((client) => void client.onNotification(method, handler));
  }

  dispose(): void {
    void this.stop();
    this.started.dispose();
    this.stopped.dispose();
    this.changed.dispose();
    this.log.dispose();
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(step, step);
    return this.queue;
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) {
      await client.dispose().catch((error: unknown) => this.log.warn(`The server did not end as it should: ${readable(error)}`));
    }
  }

  private async launch(): Promise<void> {
    const program = await this.findProgram();
    if (!program) {
      return;
    }
    const { command } = program;
    this.log.info(`Starting ${command}`);
    // That the program has ended is noticed in two places.
    let told = false;
    const failed = (why: string) => {
      this.log.error(`${command} serve did not start: ${why}`);
      if (!told) {
        told = true;
        void this.offer(`agentls could not be started. ${why}`);
      }
    };
    const client: LanguageClient = new QuietClient(
      'agentls',
      'agentls',
      { command, args: ['serve'] },
      {
        documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
        outputChannel: this.log,
        initializationOptions: () => ({ trusted: vscode.workspace.isTrusted }),
        middleware: this.middleware,
        // The server asks for file events itself.
        errorHandler: { error: () => ({ action: ErrorAction.Continue }), closed: () => this.closed(client, failed) },
        initializationFailedHandler: () => false,
      },
    );
    const support = this.support;
    const announcement: StaticFeature = {
      fillClientCapabilities(capabilities) {
        capabilities.experimental = { ...(capabilities.experimental as object | undefined), agentls: support };
      },
      initialize() {},
      getState: () => ({ kind: 'static' }),
      clear() {},
    };
    client.registerFeature(announcement);
    for (const register of this.registrations) {
      register(client);
    }
    this.client = client;
    let before: State | undefined;
    client.onDidChangeState((e) => {
      this.changed.fire(e.newState);
      // The client starts a server that crashed again by itself.
      if (e.newState === State.Running && before !== State.Running) {
        told = false;
        this.started.fire();
      } else if (e.newState !== State.Running && before === State.Running) {
        this.stopped.fire();
      }
      before = e.newState;
    });
    try {
      await client.start();
    } catch (error) {
      failed(readable(error));
      return;
    }
    if (!program.bundled) {
      void this.warnOfVersion(command, client.initializeResult);
    }
  }

  /** Says where a program that the user has named, or that was found, is not of the extension's version. */
  private async warnOfVersion(command: string, result: InitializeResult | undefined): Promise<void> {
    const spoken = (result?.capabilities.experimental as { agentls?: Support } | undefined)?.agentls?.version;
    const own = (this.context.extension.packageJSON as { version: string }).version;
    const theirs = result?.serverInfo?.version ?? 'of an unknown version';
    if (spoken === version && !older(theirs, own)) {
      return;
    }
    const message = `${command} (${theirs}) is another version than the extension (${own}): some of what it offers may not work.`;
    this.log.warn(message);
    const chosen = await vscode.window.showWarningMessage(
      `${message} Update it, or leave agentls.path empty for the one that came with the extension.`, 'Open Setting',
    );
    if (chosen) {
      await openSetting('agentls.path');
    }
  }

  private closed(client: LanguageClient, failed: (why: string) => void): CloseHandlerResult {
    if (client !== this.client) {
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    if (client.state !== State.Running) {
      failed(noAnswer); // and would the next time
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < crashTime), now];
    if (this.crashes.length <= maxRestarts) {
      // Told once: of four notifications within a moment VS Code drops the last, which is the one that matters here.
      if (this.crashes.length === 1) {
        void vscode.window.showWarningMessage('The agentls server ended unexpectedly and was started again. Runs that were under way can be resumed.');
      }
      return { action: CloseAction.Restart, handled: true };
    }
    void this.offer(`The agentls server ended ${this.crashes.length} times within three minutes and is not started again. Its log may say why.`);
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async offer(message: string): Promise<void> {
    const chosen = await vscode.window.showErrorMessage(message, 'Start Again', 'Show Log');
    if (chosen === 'Start Again') {
      await this.restart();
    } else if (chosen === 'Show Log') {
      this.log.show();
    }
  }

  /** What the setting names, else the program in the extension itself, else the one on PATH. */
  private async findProgram(): Promise<Program | undefined> {
    const name = process.platform === 'win32' ? 'agentls.exe' : 'agentls';
    const setting = vscode.workspace.getConfiguration('agentls').get<string>('path', '').trim();
    if (setting) {
      const path = setting.replace(/^~(?=[/\\])/, homedir());
      const command = /[/\\]/.test(path) ? ((await executable(path)) ? path : undefined) : await onPath(path);
      if (command === undefined) {
        void this.missing(`agentls.path names ${path}, which is no program.`);
        return undefined;
      }
      return { command, bundled: false };
    }
    const bundled = this.context.asAbsolutePath(join('bin', name));
    if (await executable(bundled)) {
      return { command: bundled, bundled: true };
    }
    const command = await onPath(name);
    if (command === undefined) {
      void this.missing('The program agentls came not with the extension, and was not found on PATH.');
      return undefined;
    }
    return { command, bundled: false };
  }

  private async missing(message: string): Promise<void> {
    this.log.error(message);
    const chosen = await vscode.window.showErrorMessage(
      `${message} Install it, or say where it is.`, 'Set agentls.path', 'Try Again',
    );
    if (chosen === 'Set agentls.path') {
      await openSetting('agentls.path');
    } else if (chosen === 'Try Again') {
      await this.start();
    }
  }
}

async function executable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first program of a name on PATH. */
async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder)) {
    const path = join(folder, name);
    if (await executable(path)) {
      return path;
    }
  }
  return undefined;
}

/** Whether a version of the form v1.2.3 is before another. One of any other form, as of a program that somebody built, is not. */
function older(version: string, than: string): boolean {
  const numbers = (text: string) => /^v?(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);
  const [a, b] = [numbers(version), numbers(than)];
  const at = a && b ? a.findIndex((n, i) => n !== b[i]) : -1;
  return at >= 0 && (a?.[at] ?? 0) < (b?.[at] ?? 0);
}

async function openSetting(name: string): Promise<void> {
  // What belongs to a machine is among the settings of the one where the server runs.
  const command = vscode.env.remoteName ? 'workbench.action.openRemoteSettings' : 'workbench.action.openSettings';
  await vscode.commands.executeCommand(command, { query: `@id:${name}` });
}

/** What a person is told about an error: the server's words, with what to do about it. */
export function readable(error: unknown): string {
  if (error instanceof ResponseError) {
    if (gone.includes(error.code)) {
      return noAnswer;
    }
    return explained(error.data as Partial<Failure> | undefined) ?? error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** A failure with what can be done about it, in one line. */
export function explained(failure: Partial<Failure> | undefined): string | undefined {
  return failure?.detail ? [failure.detail, failure.hint].filter((part) => part).join('; ') : undefined;
}

/** What is opened to mend a failure, by its kind: the title of a button, and what it does. */
const remedies: { [kind: string]: [string, () => Thenable<unknown>] } = {
  no_model: ['Choose a Model', () => openSetting('agentls.defaultModel')],
  auth: [
    'Set a Key',
    () => vscode.commands.executeCommand(
      'workbench.action.openWalkthrough', { category: 'agentls.agentls#firstReview', step: 'model' }, false,
    ),
  ],
};

/** Tells of a failure, once, with a button for what mends it beside others. It returns which of the others was pressed. */
export async function tellFailure(
  message: string, kind: string | undefined, ...buttons: string[]
): Promise<string | undefined> {
  const remedy = remedies[kind ?? ''];
  const chosen = await vscode.window.showErrorMessage(message, ...(remedy ? [remedy[0]] : []), ...buttons);
  if (remedy && chosen === remedy[0]) {
    await remedy[1]();
    return undefined;
  }
  return chosen;
}

/** Tells why something that the user asked for was not done. */
export async function tellError(error: unknown): Promise<void> {
  const kind = error instanceof ResponseError ? (error.data as Partial<Failure> | undefined)?.kind : undefined;
  await tellFailure(`agentls: ${readable(error)}`, kind);
}

/** Runs what the user asked for, and shows an error where it fails. */
export async function attempt(what: () => Promise<unknown>): Promise<void> {
  try {
    await what();
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      void tellError(error);
    }
  }
}
