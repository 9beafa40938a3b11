import { basename } from 'node:path';
import { rejectOnAbort } from '../base/async.ts';
import { errorMessage } from '../base/errors.ts';
import type { ServerProcess } from '../sys/processes/server-process.ts';
import type { LanguageServerProgram } from './find-server.ts';
import type { LanguageServer } from './language-server.ts';
import { PendingEvents } from './pending-events.ts';

/** The number of times that a server may end or fail before it is not started any more. */
const MAX_FAILURES = 3;
/** The number of checks in a row without an answer after which a server is ended, and of those after a start. */
const MAX_SILENCES = 2;
const MAX_SILENCES_AT_START = 5;
/** The time in which a server must be ready. */
const READY_MS = 60_000;

/** The parts that a slot needs from outside. */
interface SlotParts {
  readonly found: LanguageServerProgram;
  /** The directory that the server has as its root. */
  readonly root: string;
  /** The directories that the server sees. */
  readonly roots: readonly string[];
  start(): Promise<ServerProcess>;
  /** Makes room for a further server. Returns the reason why there is none, as a clause. */
  makeRoom(): Promise<void> | string;
  /** Brings the events about changed files up to date. Resolves to false if not all changes are known. */
  findChanges(signal: AbortSignal): Promise<boolean>;
}

/** A server that starts or runs. */
interface RunningServer {
  readonly server: Promise<LanguageServer>;
  /** The changes of files of which it was not told yet. */
  readonly pending: PendingEvents;
  /** The number of works that use it now. */
  active: number;
  /** True if another server has taken its place, so that it ends after its work. */
  isReplaced: boolean;
}

/** Work with a server. */
type ServerWork<T> = (server: LanguageServer, pending: PendingEvents) => Promise<T>;

/** One server of a project: not started, starting, running, or given up. */
export class ServerSlot {
  readonly name: string;
  readonly root: string;
  readonly roots: readonly string[];
  /** True if the server has answered before, so that it has read the project. */
  isWarm = false;
  /** The time of the last use, in milliseconds of the monotonic clock. */
  lastUse = 0;
  private readonly parts: SlotParts;
  private running: RunningServer | null = null;
  private failures = 0;
  private silences = 0;
  /** The number of works that were done. */
  private answers = 0;
  /** True if commands have run since the changes of files were found last. */
  private hasRunCommands = false;
  private problem = '';
  private readonly closing = new AbortController();

  constructor(parts: SlotParts) {
    this.parts = parts;
    this.name = basename(parts.found.row.program);
    this.root = parts.root;
    this.roots = parts.roots;
  }

  /** True if the server has failed too often. */
  get isGivenUp(): boolean {
    return this.failures >= MAX_FAILURES;
  }

  get isRunning(): boolean {
    return this.running !== null;
  }

  get isIdle(): boolean {
    return this.running?.active === 0;
  }

  /** Returns the changes of files of which the running server was not told yet; undefined if none runs. */
  get pending(): PendingEvents | undefined {
    return this.running?.pending;
  }

  /** Notes that a command may have changed files. */
  noteCommand(): void {
    this.hasRunCommands = this.running !== null;
  }

  /**
   * Notes that files have changed which are not known one by one. A server that does not notice changes by itself is
   * started anew at its next use.
   */
  noteUnknownChanges(): void {
    if (this.parts.found.row.needsFileEvents === true) this.replace();
    else this.running?.pending.addUnknown();
  }

  /**
   * Runs work with the server, which is started if needed. Rejects if the server cannot be used, or when the signal
   * aborts. The work gets the changes of files of which it should tell the server.
   */
  async use<T>(signal: AbortSignal, work: ServerWork<T>): Promise<T> {
    this.lastUse = performance.now();
    if (!this.isGivenUp) await this.findChanges(signal);
    if (this.isGivenUp) throw new Error(this.problem);
    const running = (this.running ??= this.open());
    running.active += 1;
    const { answers } = this;
    let isReady = false;
    try {
      const server = await rejectOnAbort(running.server, signal);
      isReady = true;
      const result = await work(server, running.pending);
      this.isWarm = true;
      this.silences = 0;
      this.answers += 1;
      return result;
    } catch (thrown) {
      if (isReady && isTimeout(signal) && answers === this.answers) this.countSilence(running);
      throw thrown;
    } finally {
      running.active -= 1;
      this.closeReplaced(running);
    }
  }

  /** Ends the server, which is started again at its next use. */
  async stop(): Promise<void> {
    const { running } = this;
    this.replace();
    await (await running?.server.catch(() => null))?.close();
  }

  /** Ends the server for good. */
  async close(): Promise<void> {
    this.failures = MAX_FAILURES;
    this.problem = 'it was closed';
    this.closing.abort(new Error(this.problem));
    await this.stop();
  }

  /** Finds the changes of files since the last use. */
  private async findChanges(signal: AbortSignal): Promise<void> {
    const isKnown = await rejectOnAbort(this.parts.findChanges(signal), signal);
    if (this.hasRunCommands && !isKnown) this.noteUnknownChanges();
    this.hasRunCommands = false;
    if (this.running?.pending.isOverfull === true) this.noteUnknownChanges();
  }

  /** Lets a new server take the place of the present one at the next use. */
  private replace(): void {
    const { running } = this;
    if (running === null) return;
    this.running = null;
    this.isWarm = false;
    running.isReplaced = true;
    this.closeReplaced(running);
  }

  private closeReplaced({ server, active, isReplaced }: RunningServer): void {
    if (!isReplaced || active > 0) return;
    void server.then(
      (each) => each.close(),
      () => {},
    );
  }

  private open(): RunningServer {
    const room = this.parts.makeRoom();
    if (typeof room === 'string') throw new Error(room);
    const server = room.then(() => this.start());
    const pending = new PendingEvents(this.roots);
    const running = { server, pending, active: 0, isReplaced: false };
    void this.watchEnd(running);
    return running;
  }

  private async watchEnd(running: RunningServer): Promise<void> {
    try {
      const server = await running.server;
      const reason = await server.ended;
      if (!server.isClosed) this.recordFailure(running, reason);
    } catch (thrown) {
      this.recordFailure(running, errorMessage(thrown));
    }
  }

  private async start(): Promise<LanguageServer> {
    const { row } = this.parts.found;
    try {
      // Only a server that is used loads the protocol.
      const { LanguageServer } = await import('./language-server.ts');
      const process = await this.parts.start();
      const ready = AbortSignal.any([this.closing.signal, AbortSignal.timeout(READY_MS)]);
      return await LanguageServer.open(process, { row, root: this.root }, ready);
    } catch (thrown) {
      throw new Error(`it could not start: ${errorMessage(thrown)}`, { cause: thrown });
    }
  }

  private recordFailure(running: RunningServer, reason: string): void {
    if (this.running === running) {
      this.running = null;
      this.isWarm = false;
    }
    this.failures += 1;
    this.problem = reason;
  }

  private countSilence({ server }: RunningServer): void {
    this.silences += 1;
    if (this.silences < (this.isWarm ? MAX_SILENCES : MAX_SILENCES_AT_START)) return;
    this.silences = 0;
    void server.then(
      (each) => each.end('it did not answer any more'),
      () => {},
    );
  }
}

/** Tells whether a signal has aborted because of a limit of time, and not because a call was stopped. */
function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
