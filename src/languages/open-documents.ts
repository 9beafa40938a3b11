import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { deferred, type Deferred, rejectOnAbort } from '../base/async.ts';
import { atScopeEnd } from '../base/at-scope-end.ts';
import { isJsonObject } from '../base/json.ts';
import { readWithLimit } from '../sys/files/read-at-most.ts';
import { toFilePath } from './file-uris.ts';
import { readDiagnostics, type CheckedText, type Problem } from './problems.ts';

/** The maximum number of documents that stay open in a server, apart from those that are being checked. */
const MAX_OPEN_DOCUMENTS = 64;
/** The maximum number of other documents that are checked again after a change. */
const MAX_RECHECKED_DOCUMENTS = 8;
/** The maximum size of a file that is sent to a server. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** The time without a further report after which the reported problems of a document count as complete. */
const SETTLED_MS = 150;
/** The time after which a server has nothing new to report about a document that was sent again without a change. */
const SENT_AGAIN_MS = 1_000;

/** A document as a server has it. */
interface OpenDocument {
  readonly uri: string;
  version: number;
  text: string;
  /** The number of changes by others of which the server had been told when the document was sent. */
  othersWhenSent: number;
  /** The state of the file on disk when the document was sent, or null. */
  stamp: string | null;
  /** The problems that were found last; null if they are not known for this version. */
  problems: readonly Problem[] | null;
  /** The state of the server's documents and files when the problems were found. */
  checkedIn: number;
  /** The last report of problems for this version. */
  reported: readonly Problem[] | null;
  /** The last report for this text, which is sent again; null if there is none. */
  earlier: readonly Problem[] | null;
  /** Resolved by the next report for this version. */
  report: Deferred<void>;
}

/** A text that a server has to know. */
export interface DocumentText {
  /** Absolute, without links. */
  readonly path: string;
  /** Without the mark of the byte order. */
  readonly text: string;
  readonly languageId: string;
}

type Notify = (method: string, params: unknown) => void;

/** The documents that are open in one server. The least recently used ones are closed when there are too many. */
export class OpenDocuments {
  private count = 0;
  private byOthers = 0;
  private readonly notify: Notify;
  /** The documents by their path, the least recently used first. */
  private readonly documents = new Map<string, OpenDocument>();
  /** The documents that some work uses, which must not change meanwhile. */
  private readonly held = new Set<string>();

  constructor(notify: Notify) {
    this.notify = notify;
  }

  /** The number of changes of documents and of files on the disk, each of which can change the problems of all documents. */
  get state(): number {
    return this.count;
  }

  /**
   * Notes that files on the disk have changed.
   *
   * @param options.byOthers true if the changes are none of the call that is being checked
   */
  noteFileChanges({ byOthers }: { readonly byOthers: boolean }): void {
    this.count += 1;
    if (byOthers) this.byOthers += 1;
  }

  /** Keeps documents from being closed or replaced by the content of the disk. */
  hold(paths: readonly string[]): void {
    for (const path of paths) this.held.add(path);
  }

  /** Ends the effect of `hold`. */
  release(paths: readonly string[]): void {
    for (const path of paths) this.held.delete(path);
  }

  /** Returns the problems of a text, if they are known because it was checked and nothing has changed since. */
  findChecked(path: string, text: string): CheckedText | null {
    const document = this.documents.get(path);
    if (document?.text !== text || document.problems === null) return null;
    return document.checkedIn === this.state ? { text, problems: document.problems } : null;
  }

  /**
   * Sends a text to the server, unless the server has it already. Returns the URI of the document.
   *
   * @param options.again true if the text is sent again after changes by others, so that the server checks it again
   */
  send({ path, text, languageId }: DocumentText, { again = false } = {}): string {
    const known = this.documents.get(path);
    if (known !== undefined) {
      this.documents.delete(path);
      this.documents.set(path, known);
      const isOutdated = again && known.othersWhenSent !== this.byOthers;
      if (known.text !== text || isOutdated) this.change(known, text);
      known.stamp = readStamp(path);
      return known.uri;
    }
    const uri = pathToFileURL(path).href;
    this.count += 1;
    const document = {
      uri,
      version: 1,
      text,
      othersWhenSent: this.byOthers,
      stamp: readStamp(path),
      problems: null,
      checkedIn: -1,
      reported: null,
      earlier: null,
      report: deferred<void>(),
    };
    this.documents.set(path, document);
    this.notify('textDocument/didOpen', {
      textDocument: { uri, languageId, version: document.version, text },
    });
    const closable = [...this.documents.keys()].filter((each) => !this.held.has(each));
    for (const each of closable.slice(0, -MAX_OPEN_DOCUMENTS)) this.close(each);
    return uri;
  }

  /** Sends a document again without a change, so that the server checks it again. */
  sendAgain(path: string): void {
    const document = this.documents.get(path);
    if (document !== undefined) this.change(document, document.text);
  }

  /** Sends the present content of all open documents whose files have changed on the disk. */
  refresh(): void {
    for (const [path, document] of this.documents) {
      if (this.held.has(path)) continue;
      const stamp = readStamp(path);
      if (stamp === document.stamp) continue;
      const content = stamp === null ? null : readText(path);
      if (content === null) this.close(path);
      else {
        const text = withoutByteOrderMark(content);
        document.stamp = stamp;
        if (text !== document.text) this.change(document, text);
      }
    }
  }

  /** Returns the most recently used documents whose problems are known, without those that some work uses. */
  listChecked(): readonly (CheckedText & { path: string; uri: string; isCurrent: boolean })[] {
    return [...this.documents]
      .flatMap(([path, { uri, text, problems, checkedIn }]) =>
        this.held.has(path) || problems === null
          ? []
          : [{ path, uri, text, problems, isCurrent: checkedIn === this.state }],
      )
      .slice(-MAX_RECHECKED_DOCUMENTS);
  }

  /** Returns the last report about a document; null if there is none for this text. */
  lastReport(path: string, text: string): readonly Problem[] | null {
    const document = this.documents.get(path);
    return document?.text === text ? document.reported : null;
  }

  /**
   * Keeps the problems of a text that was checked. Returns false if the document has another text by now.
   *
   * @param state the `state` when the check began
   */
  keepProblems({ path, text, problems }: CheckedText & { path: string }, state: number): boolean {
    const document = this.documents.get(path);
    if (document?.text !== text) return false;
    document.problems = problems;
    document.checkedIn = state;
    return true;
  }

  /** Takes the report of a server about the problems of a document. Reports about earlier versions are ignored. */
  receiveReport(params: unknown): void {
    if (!isJsonObject(params)) return;
    const { uri, version, diagnostics } = params;
    const document = this.documents.get(toFilePath(uri) ?? '');
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
    const { earlier, report } = document;
    if (document.reported === null && earlier !== null) {
      // Some servers report nothing if nothing has changed for them.
      if (!(await isResolvedWithin(report.promise, SENT_AGAIN_MS))) document.reported ??= earlier;
    }
    if (document.reported === null) await rejectOnAbort(document.report.promise, signal);
    while (await isResolvedWithin(document.report.promise, SETTLED_MS)) signal.throwIfAborted();
    return document.reported ?? [];
  }

  /** Closes a document, so that the server knows the file as it is on the disk. */
  close(path: string): void {
    const document = this.documents.get(path);
    if (document === undefined) return;
    this.documents.delete(path);
    this.notify('textDocument/didClose', { textDocument: { uri: document.uri } });
  }

  private change(document: OpenDocument, text: string): void {
    const { uri } = document;
    document.earlier = document.text === text ? (document.reported ?? document.earlier) : null;
    if (document.text !== text) {
      this.count += 1;
      document.problems = null;
    }
    document.version += 1;
    document.text = text;
    document.othersWhenSent = this.byOthers;
    document.reported = null;
    const { version } = document;
    this.notify('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
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
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stats === undefined ? null : `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
  } catch {
    // This user may not look at the file any more, so the server goes on without it.
    return null;
  }
}

/** Reads a text. Returns null if it is no file, too large, or not valid UTF-8. */
export function readText(path: string): string | null {
  try {
    // A pipe is opened without waiting for its writer.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    using _close = atScopeEnd(() => closeSync(descriptor));
    const bytes = fstatSync(descriptor).isFile()
      ? readWithLimit(descriptor, MAX_DOCUMENT_BYTES)
      : undefined;
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return bytes === undefined ? null : decoder.decode(bytes);
  } catch {
    // The file is gone, may not be read, or has another encoding. Servers go on without it.
    return null;
  }
}

/** Removes the mark of the byte order from a text. Servers count characters without it. */
export function withoutByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
