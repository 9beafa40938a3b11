import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deferred, rejectOnAbort, type Deferred } from '../base/async.ts';
import { isJsonObject } from '../base/json.ts';
import type { ServerProcess } from '../sys/processes/server-process.ts';
import { connectToServer, type ServerChannel } from './connection.ts';
import { OpenDocuments, type DocumentText } from './open-documents.ts';
import type { PendingEvents } from './pending-events.ts';
import {
  findNewProblems,
  readDiagnostics,
  type CheckedText,
  type FileProblems,
  type Problem,
} from './problems.ts';
import { answerServer, registersProblems } from './server-requests.ts';
import type { ServerProgramRow } from './server-table.ts';
import { readTsserverDiagnostics } from './tsserver-diagnostics.ts';

/** The abilities that Muster announces. Servers then watch the files of a project themselves. */
const CLIENT_CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    diagnostic: { dynamicRegistration: true },
    definition: { linkSupport: false },
    references: {},
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: { prepareSupport: false },
  },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    symbol: {},
    workspaceEdit: { documentChanges: true },
  },
  window: { workDoneProgress: true },
};

/** The time in which a server may answer the request to shut down. */
const SHUTDOWN_MS = 300;

/** The kinds of changes of files, as the protocol numbers them. */
const FILE_CHANGES = { created: 1, changed: 2, deleted: 3 } as const;
/** The errors with which a server says that it should be asked again, since something has changed meanwhile. */
const ASK_AGAIN: ReadonlySet<unknown> = new Set([-32_801, -32_802]);
/** The maximum number of times that it is asked. */
const MAX_ATTEMPTS = 5;

/** The problems of one file that a server has found. */
type OwnFileProblems = Omit<FileProblems, 'source'>;

/** A language server that runs and can answer. */
export class LanguageServer {
  private readonly connection: ServerChannel;
  private readonly row: ServerProgramRow;
  private readonly documents: OpenDocuments;
  /** True if the server reports the problems of a document without a request. */
  private reportsByItself: boolean;
  /** Resolves if the server says after its start that it answers requests for the problems of a document. */
  private readonly answersWithProblems: Promise<void>;
  private closing: Promise<void> | null = null;
  /** The ends of the last work on each file. */
  private readonly turns = new Map<string, Promise<void>>();

  private constructor(
    connection: ServerChannel,
    row: ServerProgramRow,
    documents: OpenDocuments,
    {
      capabilities,
      answersWithProblems,
    }: {
      readonly capabilities: Readonly<Record<string, unknown>>;
      readonly answersWithProblems: Promise<void>;
    },
  ) {
    this.connection = connection;
    this.row = row;
    this.documents = documents;
    const answers =
      row.problemsBy !== undefined || isJsonObject(capabilities['diagnosticProvider']);
    this.reportsByItself = !answers;
    this.answersWithProblems = this.askFrom(answersWithProblems);
  }

  /** Asks for problems from the moment on at which the server says that it answers. */
  private async askFrom(answersWithProblems: Promise<void>): Promise<void> {
    await answersWithProblems;
    this.reportsByItself = false;
  }

  /** Starts to work with the process of a server. Rejects, and ends the process, if the server cannot be used. */
  static async open(
    process: ServerProcess,
    { row, root }: { readonly row: ServerProgramRow; readonly root: string },
    signal: AbortSignal,
  ): Promise<LanguageServer> {
    const documents: OpenDocuments = new OpenDocuments((method, params) =>
      connection.notify(method, params),
    );
    const answersWithProblems = deferred<void>();
    const connection: ServerChannel = connectToServer(process, {
      onNotification: (method, params) => {
        if (method === 'textDocument/publishDiagnostics') documents.receiveReport(params);
      },
      onRequest: (method, params) => {
        if (method === 'client/registerCapability' && registersProblems(params))
          answersWithProblems.resolve();
        return answerServer(method, params, row);
      },
    });
    try {
      const uri = pathToFileURL(root).href;
      const result = await connection.request(
        'initialize',
        {
          // The process does not see this one in the sandbox, and would end itself.
          processId: null,
          clientInfo: { name: 'muster' },
          rootUri: uri,
          rootPath: root,
          workspaceFolders: [{ uri, name: basename(root) }],
          capabilities: CLIENT_CAPABILITIES,
          ...(row.initializationOptions === undefined
            ? {}
            : { initializationOptions: row.initializationOptions }),
        },
        signal,
      );
      connection.notify('initialized', {});
      const capabilities = isJsonObject(result) ? result['capabilities'] : undefined;
      return new LanguageServer(connection, row, documents, {
        capabilities: isJsonObject(capabilities) ? capabilities : {},
        answersWithProblems: answersWithProblems.promise,
      });
    } catch (thrown) {
      await connection.end('it could not be used');
      throw thrown;
    }
  }

  /** True if the server was closed on purpose. */
  get isClosed(): boolean {
    return this.closing !== null;
  }

  /** Resolves to the reason when the server has ended, as a clause. */
  get ended(): Promise<string> {
    return this.connection.ended;
  }

  /** Returns the problems of a text, which need not be the content of the file on the disk. */
  async check(document: DocumentText, signal: AbortSignal): Promise<CheckedText> {
    const { path, text } = document;
    const { documents } = this;
    const known = documents.findChecked(path, text);
    if (known !== null) return known;
    const uri = documents.send(document, { again: this.reportsByItself });
    const { state } = documents;
    const problems = await this.findProblems(path, uri, signal);
    documents.keepProblems({ path, text, problems }, state);
    return { text, problems };
  }

  /** Sends a text without asking for its problems. */
  send(document: DocumentText): void {
    this.documents.send(document);
  }

  /** Closes a document, so that the file counts as it is on the disk. */
  closeDocument(path: string): void {
    this.documents.close(path);
  }

  /**
   * Runs work on files after all earlier work on them, since a server has one text of each file. Rejects when the signal
   * aborts while it waits.
   */
  async inTurn<T>(
    paths: readonly string[],
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const earlier = Promise.all(paths.map((path) => this.turns.get(path)));
    const turn = deferred<void>();
    for (const path of paths) this.turns.set(path, turn.promise);
    try {
      await rejectOnAbort(earlier, signal);
      this.documents.hold(paths);
      return await work().finally(() => this.documents.release(paths));
    } finally {
      void this.endTurn(paths, turn, earlier);
    }
  }

  private async endTurn(
    paths: readonly string[],
    turn: Deferred<void>,
    earlier: Promise<unknown>,
  ): Promise<void> {
    // Work that did not wait until the end must not let later work pass the earlier one.
    await earlier;
    turn.resolve();
    for (const path of paths) if (this.turns.get(path) === turn.promise) this.turns.delete(path);
  }

  /**
   * Checks other open documents again, whose problems are known and may have changed. Returns their new problems. Must be
   * called during a turn, whose files are left out. Never rejects.
   *
   * @param options.waits true if a server that reports by itself has to be waited for, because nothing else did
   */
  async findNewProblemsInOthers(
    signal: AbortSignal,
    { waits }: { readonly waits: boolean },
  ): Promise<readonly OwnFileProblems[]> {
    const others = this.documents.listChecked().filter(({ isCurrent }) => !isCurrent);
    const found = await Promise.all(
      others.map(async (other) => {
        const { state } = this.documents;
        const { path, text } = other;
        const problems = await this.findOtherProblems(other, { signal, waits });
        if (problems === null) return [];
        const now = { path, text, problems };
        // The document may belong to other work by now, which then finds its problems.
        const isSame = this.documents.keepProblems(now, state);
        return isSame ? [{ path, problems: findNewProblems(other, now) }] : [];
      }),
    );
    return found.flat().filter(({ problems }) => problems.length > 0);
  }

  /**
   * Tells the server which files have changed on the disk, and sends the open documents among them again.
   *
   * @param ofCall the files that the present call has changed, of which the server is told later; null: it is told of them
   */
  reportChanges(pending: PendingEvents, ofCall: ReadonlySet<string> | null): void {
    this.documents.refresh();
    const changes = pending.take(ofCall ?? new Set());
    const isUnknown = pending.takeUnknown();
    if (changes.length > 0 || isUnknown)
      this.documents.noteFileChanges({ byOthers: ofCall !== null || isUnknown });
    if (changes.length === 0) return;
    this.connection.notify('workspace/didChangeWatchedFiles', {
      changes: changes.map(({ path, kind }) => ({
        uri: pathToFileURL(path).href,
        type: FILE_CHANGES[kind],
      })),
    });
  }

  /** Sends a request about a document, which is opened if it is not open. */
  async requestAbout(
    document: DocumentText,
    request: { readonly method: string; readonly params: (uri: string) => unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    return await this.inTurn([document.path], signal, async () => {
      const uri = this.documents.send(document);
      return await this.connection.request(request.method, request.params(uri), signal);
    });
  }

  async request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return await this.connection.request(method, params, signal);
  }

  /** Ends the server, which may first end by itself. May be called more than once. */
  close(): Promise<void> {
    this.closing ??= this.endByRequest();
    return this.closing;
  }

  private async endByRequest(): Promise<void> {
    try {
      await this.connection.request('shutdown', undefined, AbortSignal.timeout(SHUTDOWN_MS));
      this.connection.notify('exit', undefined);
    } catch {
      // A server that does not answer is ended all the same.
    }
    await this.connection.end('it was closed');
  }

  /** Ends the server at once. */
  async end(reason: string): Promise<void> {
    await this.connection.end(reason);
  }

  /** Finds the problems of another document. Returns null if they are not known. */
  private async findOtherProblems(
    { path, uri, text }: CheckedText & { readonly path: string; readonly uri: string },
    { signal, waits }: { readonly signal: AbortSignal; readonly waits: boolean },
  ): Promise<readonly Problem[] | null> {
    if (this.reportsByItself && !waits) return this.documents.lastReport(path, text);
    try {
      if (this.reportsByItself) this.documents.sendAgain(path);
      return await this.findProblems(path, uri, signal);
    } catch {
      // The problems of the changed files are known and worth more than these.
      return null;
    }
  }

  private async findProblems(
    path: string,
    uri: string,
    signal: AbortSignal,
  ): Promise<readonly Problem[]> {
    if (this.row.problemsBy === 'tsserver') {
      const request = (command: string): Promise<unknown> =>
        this.connection.request(
          'workspace/executeCommand',
          { command: 'typescript.tsserverRequest', arguments: [command, { file: path }] },
          signal,
        );
      return readTsserverDiagnostics([
        await request('syntacticDiagnosticsSync'),
        await request('semanticDiagnosticsSync'),
      ]);
    }
    if (this.reportsByItself) {
      const stop = AbortSignal.any([signal, this.connection.closed]);
      const report = this.documents.waitForReport(path, stop);
      // A server may say only after its start that it has to be asked.
      const mustAsk = this.answersWithProblems.then(() => null);
      const reported = await Promise.race([report, mustAsk]);
      if (reported !== null) return reported;
    }
    const report = await this.askForProblems(uri, signal);
    return readDiagnostics(isJsonObject(report) ? report['items'] : undefined);
  }

  private async askForProblems(uri: string, signal: AbortSignal): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const params = { textDocument: { uri } };
        return await this.connection.request('textDocument/diagnostic', params, signal);
      } catch (thrown) {
        const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
        if (attempt === MAX_ATTEMPTS || !ASK_AGAIN.has(code)) throw thrown;
      }
    }
  }
}
