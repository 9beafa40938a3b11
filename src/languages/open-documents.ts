import { readFileSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { deferred, type Deferred, rejectOnAbort } from '../base/async.ts';
import { isJsonObject } from '../base/json.ts';
import { readDiagnostics, type CheckedText, type Problem } from './problems.ts';

/** The maximum number of documents that stay open in a server. */
const MAX_OPEN_DOCUMENTS = 64;
/** The maximum number of other documents that are checked again after a change. */
const MAX_RECHECKED_DOCUMENTS = 8;
/** The maximum size of a file that is sent to a server. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** The time without a further report after which the reported problems of a document count as complete. */
const SETTLED_MS = 150;

/** A document as a server has it. */
interface OpenDocument {
  readonly uri: string;
  version: number;
  text: string;
  /** The state of the file on disk when the document was sent, or null. */
  stamp: string | null;
  /** The problems of this version; null if they are not known. */
  problems: readonly Problem[] | null;
  /** The last report of problems for this version. */
  reported: readonly Problem[] | null;
  /** Resolved by the next report for this version. */
  report: Deferred<void>;
}

/** A text that a server has to know. */
export interface DocumentText {
  /** Absolute, without links. */
  readonly path: string;
  readonly text: string;
  readonly languageId: string;
}

type Notify = (method: string, params: unknown) => void;

/** The documents that are open in one server. The least recently used ones are closed when there are too many. */
export class OpenDocuments {
  private readonly notify: Notify;
  /** The documents by their path, the least recently used first. */
  private readonly documents = new Map<string, OpenDocument>();

  constructor(notify: Notify) {
    this.notify = notify;
  }

  /** Returns the problems of a text, if they are known because the document was checked with it. */
  findChecked(path: string, text: string): CheckedText | null {
    const document = this.documents.get(path);
    if (document?.text !== text || document.problems === null) return null;
    return { text, problems: document.problems };
  }

  /** Sends a text to the server, unless the server has it already. Returns the URI of the document. */
  send({ path, text, languageId }: DocumentText): string {
    const known = this.documents.get(path);
    if (known !== undefined) {
      this.documents.delete(path);
      this.documents.set(path, known);
      if (known.text !== text) this.change(known, text);
      known.stamp = readStamp(path);
      return known.uri;
    }
    const uri = pathToFileURL(path).href;
    const document = {
      uri,
      version: 1,
      text,
      stamp: readStamp(path),
      problems: null,
      reported: null,
      report: deferred<void>(),
    };
    this.documents.set(path, document);
    this.notify('textDocument/didOpen', {
      textDocument: { uri, languageId, version: document.version, text },
    });
    for (const [oldest] of this.documents) {
      if (this.documents.size <= MAX_OPEN_DOCUMENTS) break;
      this.close(oldest);
    }
    return uri;
  }

  /** Sends the present content of all open documents whose files have changed on the disk. */
  refresh(): void {
    for (const [path, document] of this.documents) {
      const stamp = readStamp(path);
      if (stamp === document.stamp) continue;
      const text = stamp === null ? null : readDocument(path);
      if (text === null) this.close(path);
      else {
        document.stamp = stamp;
        if (text !== document.text) this.change(document, text);
      }
    }
  }

  /** Returns the most recently used documents whose problems are known, without one of them. */
  listChecked(except: string): readonly (CheckedText & { path: string; uri: string })[] {
    return [...this.documents]
      .flatMap(([path, { uri, text, problems }]) =>
        path === except || problems === null ? [] : [{ path, uri, text, problems }],
      )
      .slice(-MAX_RECHECKED_DOCUMENTS);
  }

  /** Returns the last report about a document; null if there is none for its present version. */
  lastReport(path: string): readonly Problem[] | null {
    return this.documents.get(path)?.reported ?? null;
  }

  /** Keeps the problems of a text that was checked. */
  keepProblems(path: string, text: string, problems: readonly Problem[]): void {
    const document = this.documents.get(path);
    if (document?.text === text) document.problems = problems;
  }

  /** Takes the report of a server about the problems of a document. Reports about earlier versions are ignored. */
  receiveReport(params: unknown): void {
    if (!isJsonObject(params)) return;
    const { uri, version, diagnostics } = params;
    const document = [...this.documents.values()].find((each) => each.uri === uri);
    if (document === undefined) return;
    if (typeof version === 'number' && version < document.version) return;
    document.reported = readDiagnostics(diagnostics);
    document.report.resolve();
    document.report = deferred();
  }

  /** Waits for the server's report about a document that was sent, until no further report follows. */
  async waitForReport(path: string, signal: AbortSignal): Promise<readonly Problem[]> {
    const document = this.documents.get(path);
    if (document === undefined) return [];
    if (document.reported === null) await rejectOnAbort(document.report.promise, signal);
    while (await isResolvedWithin(document.report.promise, SETTLED_MS)) signal.throwIfAborted();
    return document.reported ?? [];
  }

  private change(document: OpenDocument, text: string): void {
    const { uri } = document;
    document.version += 1;
    document.text = text;
    document.problems = null;
    document.reported = null;
    const { version } = document;
    this.notify('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
  }

  private close(path: string): void {
    const document = this.documents.get(path);
    if (document === undefined) return;
    this.documents.delete(path);
    this.notify('textDocument/didClose', { textDocument: { uri: document.uri } });
  }
}

async function isResolvedWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const late = deferred<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function readStamp(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
}

function readDocument(path: string): string | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_DOCUMENT_BYTES) return null;
    return readFileSync(path, 'utf8');
  } catch {
    // The file is gone or may not be read, so the server goes on without it.
    return null;
  }
}
