import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isJsonObject } from '../base/json.ts';
import type { ServerProcess } from '../sys/processes/server-process.ts';
import { connectToServer, type ServerChannel } from './connection.ts';
import { OpenDocuments, type DocumentText } from './open-documents.ts';
import {
  findNewProblems,
  readDiagnostics,
  type CheckedText,
  type FileProblems,
  type Problem,
} from './problems.ts';
import type { ServerProgramRow } from './server-table.ts';
import { readTsserverDiagnostics } from './tsserver-diagnostics.ts';

/** The abilities that Muster announces. Servers then watch the files of a project themselves. */
const CLIENT_CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    diagnostic: { dynamicRegistration: false },
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

/** The kind of a change of a file, as the protocol numbers it. */
const FILE_CHANGE = { created: 1, changed: 2, deleted: 3 } as const;

/** A language server that runs and can answer. */
export class LanguageServer {
  private readonly connection: ServerChannel;
  private readonly row: ServerProgramRow;
  private readonly documents: OpenDocuments;
  /** True if the server answers requests for the problems of a document. */
  private readonly answersWithProblems: boolean;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** True if the server was closed on purpose. */
  isClosed = false;
  /** The ends of the last work on each file. */
  private readonly turns = new Map<string, Promise<unknown>>();

  private constructor(
    connection: ServerChannel,
    row: ServerProgramRow,
    documents: OpenDocuments,
    capabilities: Readonly<Record<string, unknown>>,
  ) {
    this.connection = connection;
    this.row = row;
    this.documents = documents;
    this.capabilities = capabilities;
    this.answersWithProblems = isJsonObject(capabilities['diagnosticProvider']);
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
    const connection: ServerChannel = connectToServer(process, {
      onNotification: (method, params) => {
        if (method === 'textDocument/publishDiagnostics') documents.receiveReport(params);
      },
      onRequest: (method, params) => answerServer(method, params, row),
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
      return new LanguageServer(
        connection,
        row,
        documents,
        isJsonObject(capabilities) ? capabilities : {},
      );
    } catch (thrown) {
      await connection.end('it could not be used');
      throw thrown;
    }
  }

  /** Resolves to the reason when the server has ended, as a clause. */
  get ended(): Promise<string> {
    return this.connection.ended;
  }

  /** Returns the problems of a text, which need not be the content of the file on the disk. */
  async check(document: DocumentText, signal: AbortSignal): Promise<CheckedText> {
    const { path, text } = document;
    const known = this.documents.findChecked(path, text);
    if (known !== null) return known;
    const uri = this.documents.send(document);
    const problems = await this.findProblems(path, uri, signal);
    this.documents.keepProblems(path, text, problems);
    return { text, problems };
  }

  /** Runs work on a file after all earlier work on this file, since a server has one text of each file. */
  async inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.turns.get(path) ?? Promise.resolve()).then(work, work);
    this.turns.set(path, turn);
    try {
      return await turn;
    } finally {
      if (this.turns.get(path) === turn) this.turns.delete(path);
    }
  }

  /** Checks the other open documents again, since a change may have caused problems in them. */
  async findNewProblemsInOthers(
    path: string,
    signal: AbortSignal,
  ): Promise<readonly Omit<FileProblems, 'source'>[]> {
    const others = this.documents.listChecked(path);
    const found = await Promise.all(
      others.map(async (other) => {
        const problems = this.reportsByItself
          ? this.documents.lastReport(other.path)
          : await this.findProblems(other.path, other.uri, signal);
        if (problems === null) return [];
        this.documents.keepProblems(other.path, other.text, problems);
        const { text } = other;
        return [{ path: other.path, problems: findNewProblems(other, { text, problems }) }];
      }),
    );
    return found.flat().filter(({ problems }) => problems.length > 0);
  }

  /** Tells the server which files have changed on the disk, and sends the open documents among them again. */
  reportChanges(changes: readonly { path: string; kind: keyof typeof FILE_CHANGE }[]): void {
    this.documents.refresh();
    this.connection.notify('workspace/didChangeWatchedFiles', {
      changes: changes.map(({ path, kind }) => ({
        uri: pathToFileURL(path).href,
        type: FILE_CHANGE[kind],
      })),
    });
  }

  /** Opens a document, if it is not open, and sends a request about it. */
  async requestAbout(
    document: DocumentText,
    request: { readonly method: string; readonly params: (uri: string) => unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    const uri = this.documents.send(document);
    return await this.connection.request(request.method, request.params(uri), signal);
  }

  async request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return await this.connection.request(method, params, signal);
  }

  /** Ends the server, which may first end by itself. */
  async close(): Promise<void> {
    this.isClosed = true;
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

  private get reportsByItself(): boolean {
    return !this.answersWithProblems && this.row.problemsBy === undefined;
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
      return await this.documents.waitForReport(path, stop);
    }
    const report = await this.connection.request(
      'textDocument/diagnostic',
      { textDocument: { uri } },
      signal,
    );
    return readDiagnostics(isJsonObject(report) ? report['items'] : undefined);
  }
}

/** Answers a request of a server. Nothing that a server asks for changes anything. */
function answerServer(method: string, params: unknown, row: ServerProgramRow): unknown {
  switch (method) {
    case 'workspace/configuration': {
      const items = isJsonObject(params) && Array.isArray(params['items']) ? params['items'] : [];
      return items.map((item) => {
        const section = isJsonObject(item) ? item['section'] : undefined;
        return typeof section === 'string' ? (row.settings?.[section] ?? null) : null;
      });
    }
    case 'workspace/applyEdit':
      return { applied: false };
    default:
      return null;
  }
}
