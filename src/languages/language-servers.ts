import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { rejectOnAbort } from '../base/async.ts';
import { errorMessage } from '../base/errors.ts';
import type { ServerProcess } from '../sys/processes/server-process.ts';
import {
  findLanguage,
  findProjectRoot,
  findLanguageServer,
  languageIdOf,
  type LanguageServerProgram,
  type ProgramSearch,
} from './find-server.ts';
import type { LanguageServer } from './language-server.ts';
import type { StartProgram } from './start-program.ts';

/** The maximum number of servers that run at a time. */
const MAX_SERVERS = 8;
/** The number of times that a server may end or fail before it is not started any more. */
const MAX_FAILURES = 3;
/** The number of requests in a row without an answer after which a server is ended. */
const MAX_SILENCES = 2;
/** The time in which a server must be ready. */
const READY_MS = 60_000;

/** One server of a project: not started, starting, running, or given up. */
export class ServerSlot {
  readonly name: string;
  /** True if the server has answered before, so that it has read the project. */
  isWarm = false;
  private readonly start: () => Promise<ServerProcess>;
  private readonly found: LanguageServerProgram;
  /** The directory that the server has as its root. */
  readonly root: string;
  private server: Promise<LanguageServer> | null = null;
  private failures = 0;
  /** The number of works that use the server now. */
  private active = 0;
  /** True if commands may have changed files since the server was started. */
  private isOutdated = false;
  private silences = 0;
  private problem = '';
  private readonly closing = new AbortController();

  constructor(found: LanguageServerProgram, root: string, start: () => Promise<ServerProcess>) {
    this.name = basename(found.row.program);
    this.found = found;
    this.root = root;
    this.start = start;
  }

  /** True if the server has failed too often. */
  get isGivenUp(): boolean {
    return this.failures >= MAX_FAILURES;
  }

  /** Returns the running server, which is started if needed. Rejects if it cannot be used, or when the signal aborts. */
  async use<T>(signal: AbortSignal, work: (server: LanguageServer) => Promise<T>): Promise<T> {
    if (this.isGivenUp) throw new Error(this.problem);
    if (this.isOutdated && this.active === 0) await this.discard();
    this.active += 1;
    try {
      return await this.useServer(signal, work);
    } finally {
      this.active -= 1;
    }
  }

  /** Notes that a command may have changed files. A server that does not notice that is started anew at its next use. */
  noteCommand(): void {
    this.isOutdated = this.server !== null && this.found.row.needsRestart === true;
  }

  private async discard(): Promise<void> {
    const { server } = this;
    this.server = null;
    this.isWarm = false;
    this.isOutdated = false;
    await (await server?.catch(() => null))?.close();
  }

  private async useServer<T>(
    signal: AbortSignal,
    work: (server: LanguageServer) => Promise<T>,
  ): Promise<T> {
    const server = await rejectOnAbort((this.server ??= this.open()), signal);
    try {
      const result = await work(server);
      this.isWarm = true;
      this.silences = 0;
      return result;
    } catch (thrown) {
      if (signal.aborted && this.isWarm) this.countSilence(server);
      throw thrown;
    }
  }

  /** Ends the server. */
  async close(): Promise<void> {
    this.failures = MAX_FAILURES;
    this.problem = 'it was closed';
    this.closing.abort(new Error(this.problem));
    const server = await this.server?.catch(() => null);
    await server?.close();
  }

  private async open(): Promise<LanguageServer> {
    const { row } = this.found;
    try {
      // Only a server that is used loads the protocol.
      const { LanguageServer } = await import('./language-server.ts');
      const process = await this.start();
      const ready = AbortSignal.any([this.closing.signal, AbortSignal.timeout(READY_MS)]);
      const server = await LanguageServer.open(process, { row, root: this.root }, ready);
      void this.watchEnd(server);
      return server;
    } catch (thrown) {
      this.recordFailure(`it could not start: ${errorMessage(thrown)}`);
      throw new Error(this.problem, { cause: thrown });
    }
  }

  private async watchEnd(server: LanguageServer): Promise<void> {
    const reason = await server.ended;
    if (!server.isClosed) this.recordFailure(reason);
  }

  private recordFailure(reason: string): void {
    this.server = null;
    this.isWarm = false;
    this.failures += 1;
    this.problem = reason;
  }

  private countSilence(server: LanguageServer): void {
    this.silences += 1;
    if (this.silences < MAX_SILENCES) return;
    this.silences = 0;
    void server.end('it did not answer any more');
  }
}

/** The language servers of the process, one for each program and project. */
export class LanguageServers {
  private readonly search: ProgramSearch;
  private readonly startServer: StartProgram;
  private readonly slots = new Map<string, ServerSlot>();

  constructor(search: ProgramSearch, startServer: StartProgram) {
    this.search = search;
    this.startServer = startServer;
  }

  /**
   * Finds the server for a file. Returns null if there is none, or if too many run.
   *
   * @param roots the roots of the task, one of which contains the file
   */
  find(path: string, roots: readonly string[]): ServerSlot | null {
    const language = findLanguage(path, this.search);
    if (language === undefined) return null;
    const directory = dirname(path);
    const found = findLanguageServer(language, { directory, roots }, this.search);
    if (found === undefined) return null;
    const root = findProjectRoot(language, directory, roots);
    const key = JSON.stringify([found.file, root]);
    const known = this.slots.get(key);
    if (known !== undefined) return known;
    if (this.slots.size >= MAX_SERVERS) return null;
    const { row, file } = found;
    const slot = new ServerSlot(found, root, () =>
      this.startServer({
        name: row.program,
        argv: [file, ...row.args],
        cwd: root,
        roots,
        access: 'read-only',
      }),
    );
    this.slots.set(key, slot);
    return slot;
  }

  /** Notes that a command may have changed files. */
  noteCommand(): void {
    for (const slot of this.slots.values()) slot.noteCommand();
  }

  /** Returns the language id of a file that has a server. */
  languageId(path: string): string {
    const language = findLanguage(path, this.search);
    return language === undefined ? 'plaintext' : languageIdOf(path, language);
  }

  /**
   * Finds the server for questions about a project that name no file. Returns null if there is none.
   *
   * @param directory a directory of the project
   */
  findForDirectory(directory: string, roots: readonly string[]): ServerSlot | null {
    const running = [...this.slots.values()].find((slot) => roots.includes(slot.root));
    if (running !== undefined) return running;
    for (const { endings, rootMarkers } of this.search.languages) {
      const [ending] = Object.keys(endings);
      const isUsed = rootMarkers.some((marker) => existsSync(join(directory, marker)));
      const slot = isUsed ? this.find(join(directory, `any${ending ?? ''}`), roots) : null;
      if (slot !== null) return slot;
    }
    return null;
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.slots.values(), (slot) => slot.close()));
  }
}
