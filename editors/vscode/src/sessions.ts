import * as vscode from 'vscode';
import type {
  AgentInfo,
  AskID,
  Event,
  Finding,
  RunFinished,
  RunID,
  RunInfo,
  SessionID,
  SessionInfo,
  SessionSnapshot,
  Status,
} from './protocol';
import { readable, type Server } from './server';

/** A question that waits for the user, as far as the tree shows it. */
export interface OpenAsk {
  id: AskID;
  run: RunID;
  tool: string;
  title: string;
}

/** A session as this window knows it. Its runs are in the order of their creation; none before it was asked for. */
export interface KnownSession {
  info: SessionInfo;
  runs: Map<RunID, RunInfo>;
  asks: Map<AskID, OpenAsk>;
  findings: Map<string, { by: RunID; finding: Finding }>;
  /** The number of the last event; undefined where the session is not followed. */
  seq: number | undefined;
}

/** Whether a run has come to an end. */
export function ended(status: Status): boolean {
  return !['pending', 'running', 'waiting'].includes(status);
}

/** How soon the surfaces are told of what has happened; what comes meanwhile is told with it. */
const quietTime = 100;
/** The same for how far runs are: lines that are drawn anew swallow a click. */
const progressTime = 2500;

/** How many sessions the lists of runs go back to. */
const latestSessions = 10;

/**
 * What this window knows of sessions and their runs: the list of the workspace's sessions, and the live events of those
 * that were launched here. It owns that state; everybody else reads.
 */
export class Sessions implements vscode.Disposable {
  readonly all = new Map<SessionID, KnownSession>();
  private agents = new Map<string, AgentInfo>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** Something has changed. */
  readonly onDidChange = this.changed.event;
  private readonly proposed = new vscode.EventEmitter<void>();
  /** Hunks of a proposal have changed. */
  readonly onDidChangeProposals = this.proposed.event;
  private readonly finished = new vscode.EventEmitter<{ run: RunInfo; event: RunFinished }>();
  readonly onDidFinish = this.finished.event;
  private readonly spoke = new vscode.EventEmitter<RunID>();
  /** The conversation of a run has grown. */
  readonly onDidSpeak = this.spoke.event;
  private readonly followed = new Map<SessionID, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private clock: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    server.listen('agent/event', (event) => this.take(event));
    server.onDidStart(() => void this.reload());
  }

  /** The sessions, the latest first. Those in which nothing ran are not among them. */
  list(): KnownSession[] {
    return [...this.all.values()]
      .filter((session) => session.info.runs > 0 || session.runs.size > 0)
      .sort((a, b) => b.info.updated.localeCompare(a.info.updated));
  }

  run(id: RunID): RunInfo | undefined {
    for (const session of this.all.values()) {
      const run = session.runs.get(id);
      if (run) {
        return run;
      }
    }
    return undefined;
  }

  /** The runs that have not ended, in all sessions. */
  active(): RunInfo[] {
    return [...this.all.values()].flatMap((session) => [...session.runs.values()].filter((run) => !ended(run.status)));
  }

  asks(): OpenAsk[] {
    return [...this.all.values()].flatMap((session) => [...session.asks.values()]);
  }

  agent(slug: string): AgentInfo | undefined {
    return this.agents.get(slug);
  }

  /** The name of an agent for people. */
  agentTitle(slug: string): string {
    return this.agents.get(slug)?.title ?? slug;
  }

  async listAgents(): Promise<{ agents: AgentInfo[]; default: string }> {
    const list = await this.server.request('agent/list', {});
    this.agents = new Map(list.agents.map((agent) => [agent.slug, agent]));
    return list;
  }

  /** Reads everything from a server that is a new one. What was followed is followed again. */
  async reload(): Promise<void> {
    const before = [...this.followed.keys()].filter((id) => id !== '');
    this.followed.clear();
    for (const session of this.all.values()) {
      session.asks.clear();
    }
    await this.refresh();
    await Promise.all(before.filter((id) => this.all.has(id)).map((id) => this.follow(id)));
  }

  /** Reads the list of sessions again. */
  async refresh(): Promise<void> {
    try {
      const [list] = await Promise.all([this.server.request('agent/sessions', { limit: 50 }), this.listAgents()]);
      const listed = new Set(list.sessions.map((info) => info.id));
      for (const id of [...this.all.keys()].filter((id) => !listed.has(id) && !this.followed.has(id))) {
        this.all.delete(id);
      }
      for (const info of list.sessions) {
        this.known(info);
      }
      this.tell();
      this.proposed.fire();
    } catch (error) {
      this.server.log.warn(`The sessions could not be listed: ${readable(error)}`);
    }
  }

  /** Follows the window's own session, which the server makes where there is none: before a run, so that none of its events is missed. */
  async followOwn(): Promise<void> {
    let own = this.followed.get('');
    if (!own) {
      own = this.subscribe(undefined);
      this.followed.set('', own);
    }
    await own;
  }

  follow(session: SessionID): Promise<void> {
    let following = this.followed.get(session);
    if (!following) {
      following = this.subscribe(session);
      this.followed.set(session, following);
    }
    return following;
  }

  /** The tree of a session that is not followed. */
  async load(session: KnownSession): Promise<void> {
    if (session.runs.size === 0) {
      const detail = await this.server.request('agent/session', { session: session.info.id });
      for (const run of detail.tree) {
        session.runs.set(run.id, run);
      }
    }
  }

  /** The runs of the latest sessions, as far as they can be read. */
  async latestRuns(): Promise<RunInfo[]> {
    const latest = this.list().slice(0, latestSessions);
    await Promise.all(latest.map((session) => this.load(session)));
    return latest.flatMap((session) => [...session.runs.values()]);
  }

  async forget(session: SessionID): Promise<void> {
    await this.server.request('agent/session/delete', { session });
    this.followed.delete(session);
    this.followed.delete('');
    this.all.delete(session);
    this.tell();
    this.proposed.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    clearTimeout(this.clock);
    for (const emitter of [this.changed, this.proposed, this.finished, this.spoke]) {
      emitter.dispose();
    }
  }

  private async subscribe(session: SessionID | undefined): Promise<void> {
    try {
      const result = await this.server.request('agent/subscribe', session === undefined ? {} : { session });
      for (const snapshot of result.sessions) {
        this.followed.set(snapshot.session.id, this.followed.get(snapshot.session.id) ?? Promise.resolve());
        this.adopt(snapshot);
      }
    } catch (error) {
      this.followed.delete(session ?? '');
      this.server.log.warn(`The events of a session are not shown: ${readable(error)}`);
    }
  }

  private adopt(snapshot: SessionSnapshot): void {
    const session = this.known(snapshot.session);
    session.seq = snapshot.seq;
    session.runs = new Map(snapshot.tree.map((run) => [run.id, run]));
    session.asks = new Map(snapshot.asks.map((ask) => [ask.id, ask]));
    session.findings = new Map();
    this.tell();
    this.proposed.fire();
  }

  private known(info: SessionInfo): KnownSession {
    let session = this.all.get(info.id);
    if (session) {
      session.info = info;
    } else {
      session = { info, runs: new Map(), asks: new Map(), findings: new Map(), seq: undefined };
      this.all.set(info.id, session);
    }
    return session;
  }

  private take(event: Event): void {
    const session = this.all.get(event.session);
    if (!session || session.seq === undefined) {
      return; // its snapshot is not here yet, and has it
    }
    session.seq = Math.max(session.seq, event.seq);
    session.info.updated = event.time;
    const run = event.run === undefined ? undefined : session.runs.get(event.run);
    switch (event.type) {
      case 'RunCreated':
        if (event.run !== undefined && !run) {
          session.runs.set(event.run, created(event.run, event));
          session.info.runs = Math.max(session.info.runs, session.runs.size);
        }
        break;
      case 'RunStatusChanged':
        if (run && !ended(run.status)) {
          run.status = event.status;
          optional(run, 'reason', event.reason);
        }
        break;
      case 'RunProgress':
        if (run) {
          Object.assign(
            run, { turns: event.turn, budgetUsed: event.budgetUsed, usage: event.usage, message: event.message },
          );
        }
        this.tellProgress();
        return;
      case 'MessageCommitted':
        if (event.run !== undefined) {
          this.spoke.fire(event.run);
        }
        return;
      case 'AskOpened':
        if (event.run !== undefined) {
          session.asks.set(event.ask, { id: event.ask, run: event.run, tool: event.tool, title: event.title });
        }
        break;
      case 'AskResolved':
        session.asks.delete(event.ask);
        break;
      case 'FindingReported':
        if (event.run !== undefined) {
          session.findings.set(event.finding.id, { by: event.run, finding: event.finding });
        }
        break;
      case 'FindingCleared':
        session.findings.delete(event.finding);
        break;
      case 'ProposalChanged':
        session.info.openHunks = event.open + event.conflict;
        this.proposed.fire();
        break;
      case 'SessionChanged':
        session.info.title = event.title;
        optional(session.info, 'summary', event.summary);
        break;
      case 'Notice':
        this.server.log[event.level === 'error' ? 'error' : event.level === 'warning' ? 'warn' : 'info'](
          [run?.title, event.message, event.hint].filter((part) => part).join(': '),
        );
        break;
      case 'RunFinished':
        if (run) {
          run.status = event.status;
          run.finished = event.time;
          run.usage = event.usage;
          optional(run, 'reason', event.reason);
          optional(run, 'outcome', event.result.outcome);
          optional(run, 'files', event.result.files);
          run.turns = event.result.turns;
          run.message = event.result.output.trim().split('\n', 1)[0] ?? '';
          if (run.depth === 0) {
            session.info.status = event.status;
          }
          this.finished.fire({ run, event });
        }
        break;
      default:
        // What comes word by word, and what the progress tells again.
        this.tellProgress();
        return;
    }
    this.tell();
  }

  /** Has the surfaces look again soon. */
  private tell(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      clearTimeout(this.clock);
      this.clock = undefined;
      this.changed.fire();
      if (this.active().length > 0) {
        this.tellProgress(); // the time that runs have taken grows without an event
      }
    }, quietTime);
  }

  /** Has them look again in a while. */
  private tellProgress(): void {
    this.clock ??= setTimeout(() => this.tell(), progressTime);
  }
}

function created(id: RunID, event: Event & { type: 'RunCreated' }): RunInfo {
  const run: RunInfo = {
    id,
    session: event.session,
    agent: event.agent,
    role: event.role,
    depth: event.depth,
    title: event.title,
    model: event.model,
    status: 'pending',
    created: event.time,
    turns: 0,
    budgetUsed: 0,
    message: '',
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  };
  optional(run, 'parent', event.parent);
  optional(run, 'uri', event.uri);
  return run;
}

/** Sets a member that may be absent. */
function optional<T, K extends keyof T>(object: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) {
    delete object[key];
  } else {
    object[key] = value;
  }
}
