import type { Clock } from '../base/clock.ts';
import { RequestLimits, type LimitedRequest } from './call-limits.ts';
import type { ConnectionStatus, ConnectionUse, McpConnectionState } from './connection-status.ts';
import type { McpListKind, SessionTarget } from './open-session.ts';
import {
  countFailures,
  isStale,
  isWorthAnotherTry,
  pauseFor,
  restartDelay,
  waitForShared,
} from './restart-policy.ts';
import type { AskForServer, McpList, McpTool } from './server-data.ts';
import { serverId, type McpServerEntry } from './server-entry.ts';
import { McpServerError, toStartError } from './server-error.ts';
import { EventThrottle, type McpEvent } from './server-events.ts';
import type { ServerPlace } from './server-place.ts';
import type { McpSession } from './session.ts';
import { startSession } from './start-session.ts';
import { TaskFollower } from './task-follower.ts';

const LIST_KINDS: readonly McpListKind[] = ['tools', 'resources', 'prompts'];

/** The parts that a connection needs from outside. */
export interface ConnectionParts {
  readonly entry: McpServerEntry;
  readonly place: ServerPlace;
  readonly clock: Clock;
  readonly onEvent: (event: McpEvent) => void;
  /** Called after the state has changed. */
  readonly onStateChange: () => void;
  /** Asks the user. Null if nobody can be asked. */
  readonly ask: AskForServer | null;
  /** Prepares a connection. Rejects if the entry cannot be used. */
  readonly createTarget: (signal: AbortSignal) => Promise<SessionTarget>;
}

/** The connection to one server, which all users of the server share. */
export class ServerConnection {
  private readonly parts: ConnectionParts;
  private readonly name: string;
  private readonly events: EventThrottle;
  private readonly limits: RequestLimits;
  private readonly callIds: string[] = [];
  private readonly closing = new AbortController();
  private lastState: McpConnectionState = 'stopped';
  private session: McpSession | null = null;
  /** The ends of earlier sessions, which `close` waits for. */
  private readonly endings = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | null = null;
  private failures = 0;
  private readySince = 0;
  private startableAt = 0;
  private isKnownAsOld = false;
  /** True from the end of a session that Muster has not ended until the next session is open. */
  private wasLost = false;
  private error: McpServerError | null = null;
  /** The end of the stderr of the last session that has ended. */
  private lastErrorOutput = '';
  /** The tools, if they were read. It is another object as soon as the session ends or announces other tools. */
  offer: { tools: Promise<McpList<McpTool>> | null } = { tools: null };
  /** The session that is being opened. */
  opening: Promise<McpSession> | null = null;
  /** The number of handles that share the connection. */
  users = 0;
  /** The number of requests that are running. */
  activeRequests = 0;
  /** The time of the last use, in milliseconds of the clock. */
  lastUse = 0;
  /** The tasks of the server. */
  readonly tasks: TaskFollower;

  constructor(parts: ConnectionParts) {
    const { entry, clock, onEvent } = parts;
    this.parts = parts;
    this.name = serverId(entry);
    this.events = new EventThrottle(onEvent);
    this.limits = new RequestLimits(this.name, entry.limits, clock);
    this.tasks = new TaskFollower(parts, this, () => this.session);
  }

  /** The state for people. */
  get status(): ConnectionStatus {
    const { lastState: state, users, activeRequests, session, error: failure } = this;
    const errorOutput = session?.errorOutput ?? this.lastErrorOutput;
    return { state, users, activeRequests, info: session?.info ?? null, failure, errorOutput };
  }

  private get currentState(): McpConnectionState {
    return this.lastState;
  }

  private set currentState(state: McpConnectionState) {
    this.lastState = state;
    this.parts.onStateChange();
  }

  /**
   * Runs a request, after starting the server if necessary. A request that the server has not seen because its session
   * had ended is sent once more.
   */
  async use<T>(
    { signal, callId, maxMs }: ConnectionUse,
    send: (session: McpSession, request: LimitedRequest) => Promise<T>,
  ): Promise<T> {
    this.activeRequests += 1;
    if (this.currentState === 'ready') this.stopTimer();
    if (callId !== undefined) this.callIds.push(callId);
    try {
      return await this.sendOnce({ signal, maxMs }, send);
    } catch (thrown) {
      if (!isWorthAnotherTry(thrown, this.parts.entry) || this.currentState === 'closed')
        throw thrown;
      return await this.sendOnce({ signal, maxMs }, send);
    } finally {
      if (callId !== undefined) this.callIds.splice(this.callIds.indexOf(callId), 1);
      this.activeRequests -= 1;
      this.lastUse = this.parts.clock.monotonic();
      this.armIdleTimer();
    }
  }

  /** Lists the tools. The list is kept until the server says that it has changed. */
  async listTools(signal: AbortSignal): Promise<McpList<McpTool>> {
    const { offer } = this;
    offer.tools ??= this.use({ signal: this.closing.signal }, (session, request) =>
      session.listTools(request.signal),
    );
    const list = offer.tools;
    try {
      return await waitForShared(list, signal, this.name);
    } catch (thrown) {
      if (!signal.aborted && offer.tools === list) offer.tools = null;
      throw thrown;
    }
  }

  /** Lets a server that has failed start at the next use, without a pause. */
  retry(): void {
    this.failures = 0;
    this.startableAt = 0;
    if (this.currentState !== 'failed' && this.currentState !== 'waiting') return;
    this.stopTimer();
    this.currentState = 'stopped';
  }

  /** Waits until the sessions have ended that are being ended. */
  async settle(): Promise<void> {
    await Promise.all(this.endings);
  }

  /** Ends the server for good. */
  async close(reason: 'released' | 'closed'): Promise<void> {
    if (this.currentState !== 'closed') {
      this.stop(reason);
      this.currentState = 'closed';
      this.closing.abort(this.createError('all connections were closed', 'closed'));
      this.events.stop();
    }
    await this.opening?.catch(() => {});
    await this.settle();
  }

  private async sendOnce<T>(
    { signal, maxMs }: ConnectionUse,
    send: (session: McpSession, request: LimitedRequest) => Promise<T>,
  ): Promise<T> {
    const session = await this.acquire(signal);
    const request = this.limits.start(AbortSignal.any([signal, this.closing.signal]), maxMs);
    try {
      return await send(session, request);
    } catch (thrown) {
      if (
        thrown instanceof McpServerError &&
        (thrown.kind === 'lost' || isStale(thrown, this.parts.entry))
      ) {
        this.lose(session, thrown.message);
      }
      throw thrown;
    } finally {
      request.end();
    }
  }

  /** Returns the open session. Starts the server, or waits for its restart, if there is none. */
  private async acquire(signal: AbortSignal): Promise<McpSession> {
    if (this.currentState === 'closed')
      throw this.createError('all connections were closed', 'closed');
    if (this.currentState === 'failed') {
      throw this.error ?? this.createError('it has failed too often', 'start');
    }
    if (this.session !== null) return this.session;
    this.opening ??= this.open({ startsByItself: false });
    return await waitForShared(this.opening, signal, this.name);
  }

  /** Opens a session, not before the pause after a failure is over. */
  private async open({ startsByItself }: { startsByItself: boolean }): Promise<McpSession> {
    this.stopTimer();
    try {
      const waitMs = this.startableAt - this.parts.clock.monotonic();
      if (waitMs > 0) await pauseFor(waitMs, this.closing.signal);
      this.currentState = 'starting';
      const session = await this.openServerSession();
      if (this.closing.signal.aborted) {
        await session.close();
        throw this.closing.signal.reason;
      }
      this.session = session;
      this.error = null;
      this.currentState = 'ready';
      this.isKnownAsOld = !session.isModern;
      this.readySince = this.parts.clock.monotonic();
      const { wasLost: isRestart } = this;
      this.wasLost = false;
      const { protocolVersion } = session.info;
      this.parts.onEvent({ type: 'started', protocolVersion, isRestart });
      if (isRestart) this.changeLists();
      this.armIdleTimer();
      return session;
    } catch (thrown) {
      throw this.failToOpen(thrown, startsByItself);
    } finally {
      this.opening = null;
    }
  }

  private async openServerSession(): Promise<McpSession> {
    const { entry, place, createTarget, ask } = this.parts;
    let session: McpSession | null = null;
    session = await startSession(createTarget, {
      server: this.name,
      roots: place.roots,
      startMs: entry.limits.startMs,
      signal: this.closing.signal,
      isKnownAsOld: this.isKnownAsOld,
      onLost: (reason) => {
        if (session !== null) this.lose(session, reason);
      },
      onProblem: (message) => this.report({ type: 'problem', message }),
      onListChanged: (list) => this.changeList(list),
      onLog: (level, text, callIds) => this.report({ type: 'log', level, text, callIds }),
      ask:
        ask === null
          ? null
          : (question, stop) => this.limits.pauseDuring(() => ask(question, stop)),
      listCallIds: () => [...this.callIds],
    });
    return session;
  }

  private failToOpen(thrown: unknown, startsByItself: boolean): McpServerError {
    const error = toStartError(thrown, this.name, this.parts.place.workspace?.tree ?? null);
    if (this.currentState === 'closed') return error;
    this.error = error;
    // A server that waits for a login or for room works: it is asked again at the next use.
    const isReady = error.kind !== 'login' && error.kind !== 'limit';
    if (isReady) this.failures += 1;
    const restartMs = this.scheduleStart(isReady && startsByItself && this.users > 0);
    if (startsByItself)
      this.parts.onEvent({ type: 'restart-failed', reason: error.message, restartMs });
    return error;
  }

  /** Reacts to the end of a session that Muster has not ended. */
  private lose(session: McpSession, reason: string): void {
    if (this.session !== session) return;
    this.stopTimer();
    this.lastErrorOutput = session.errorOutput;
    this.session = null;
    this.offer = { tools: null };
    this.wasLost = true;
    this.track(session.close());
    const ranMs = this.parts.clock.monotonic() - this.readySince;
    this.failures = countFailures(this.failures, ranMs);
    this.error = this.createError(reason, 'lost');
    const restartMs = this.scheduleStart(this.users > 0);
    this.parts.onEvent({ type: 'lost', reason, restartMs });
  }

  /**
   * Decides when the server may start again after a failure. Returns the delay if it starts by itself then, and null
   * otherwise.
   */
  private scheduleStart(startsByItself: boolean): number | null {
    const delay = restartDelay(this.failures);
    if (delay === null) {
      this.currentState = 'failed';
      return null;
    }
    this.startableAt = this.parts.clock.monotonic() + delay;
    if (!startsByItself) {
      this.currentState = 'stopped';
      return null;
    }
    this.currentState = 'waiting';
    this.timer = setTimeout(() => {
      // A request may have started the server already.
      if (this.currentState !== 'waiting' || this.opening !== null) return;
      this.opening = this.open({ startsByItself: true });
      // The failure is reported as an event, and to each request that waits for the session.
      this.opening.catch(() => {});
    }, delay);
    this.timer.unref();
    return delay;
  }

  private changeLists(): void {
    const info = this.session?.info;
    const has = { tools: info?.hasTools, resources: info?.hasResources, prompts: info?.hasPrompts };
    for (const list of LIST_KINDS) if (has[list] === true) this.changeList(list);
  }

  private changeList(list: McpListKind): void {
    if (list === 'tools') this.offer = { tools: null };
    // Nobody has read a list of a server that is still starting.
    if (this.currentState === 'ready') this.events.listChanged(list);
  }

  private report(event: McpEvent): void {
    this.events.message(event, this.parts.clock.monotonic());
  }

  private armIdleTimer(): void {
    if (this.activeRequests > 0 || this.currentState !== 'ready') return;
    this.stopTimer();
    this.timer = setTimeout(() => this.stop('idle'), this.parts.entry.limits.idleMs);
    this.timer.unref();
  }

  /** Ends the session. Does nothing if there is none. */
  stop(reason: 'idle' | 'released' | 'closed'): void {
    this.stopTimer();
    const { session } = this;
    if (session === null) return;
    this.lastErrorOutput = session.errorOutput;
    this.session = null;
    this.offer = { tools: null };
    this.currentState = 'stopped';
    this.track(session.close());
    this.parts.onEvent({ type: 'stopped', reason });
  }

  private track(ending: Promise<void>): void {
    // An error while a connection is being closed concerns nobody: it is not used any more.
    const settled = ending.catch(() => {}).finally(() => this.endings.delete(settled));
    this.endings.add(settled);
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private createError(
    message: string,
    kind: McpServerError['kind'],
    cause?: unknown,
  ): McpServerError {
    return new McpServerError(message, { server: this.name, kind, cause });
  }
}
