import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import { MusterError, unreachable } from '../../base/errors.ts';
import { isId, newId } from '../../base/ids.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { unlinkIfExists } from '../files/file-port.ts';
import { MAX_LINE_BYTES, BufferedWriter } from '../log/line-reader.ts';
import { LogScanner } from '../log/log-scanner.ts';
import { addToSummary } from '../log/task-summary.ts';
import type { StoreParts } from '../store-parts.ts';
import type { TaskSummary } from '../task-store.ts';
import type { ExportRecord } from './export-format.ts';

const MAX_TASKS = 10_000;
const MAX_FILES = 100_000;
const MAX_BYTES = 16 * 1024 ** 3;

/** A task of the exported file. Its files are still drafts. */
export interface ImportedTask {
  readonly id: string;
  readonly scanner: LogScanner;
  readonly spills: string[];
  summary: TaskSummary | undefined;
}

/** Checks the records of an exported file, in order, and writes them to drafts. Trusts none of them. */
export class ImportReader {
  readonly tasks: ImportedTask[] = [];
  readonly blobs: string[] = [];
  readonly #parts: StoreParts;
  readonly #drafts: ImportDrafts;
  readonly #ids = new Set<string>();
  #root: string | undefined;
  #bytes = 0;
  /** Path of the file whose draft is open. The records of one file are consecutive. */
  #currentFile = '';
  /** Hash of the blob whose draft is open. */
  #currentBlob: string | undefined;
  #isEnded = false;

  constructor(parts: StoreParts, drafts: ImportDrafts) {
    this.#parts = parts;
    this.#drafts = drafts;
  }

  get isComplete(): boolean {
    return this.#isEnded;
  }

  /**
   * Adds a record. Throws `INVALID_PARAM` if the record is not allowed at this position; the message is the end of a
   * sentence about its line.
   */
  async addRecord(record: ExportRecord): Promise<void> {
    if (this.#isEnded) throw invalidRecordError('comes after the end');
    if ((record.kind === 'header') !== (this.#root === undefined)) {
      throw invalidRecordError(
        record.kind === 'header' ? 'is a second header' : 'comes before the header',
      );
    }
    switch (record.kind) {
      case 'header':
        this.#root = record.root;
        return;
      case 'task':
        await this.#endFile();
        this.#checkLastTask();
        return this.#beginTask(record.id);
      case 'log':
        return this.#addLogLine(record.line);
      case 'output':
        return this.#addBytes(this.#parts.tasks.outputPath(this.#getTask().id), record.bytes);
      case 'spill':
        return this.#addSpill(record.call, record.bytes);
      case 'blob':
        return this.#addBlob(record.hash, record.bytes);
      case 'end':
        await this.#endFile();
        this.#checkLastTask();
        if (record.tasks !== this.tasks.length || record.tasks === 0) {
          throw invalidRecordError(
            `says that there are ${record.tasks} tasks, but the file contains ${this.tasks.length}`,
          );
        }
        this.#isEnded = true;
        return;
      default:
        unreachable(record);
    }
  }

  #beginTask(id: string): void {
    if (this.#ids.has(id)) throw invalidRecordError(`repeats task ${id}`);
    if (this.tasks.length === 0 && id !== this.#root)
      throw invalidRecordError('is not the root task');
    if (this.tasks.length >= MAX_TASKS)
      throw invalidRecordError(`exceeds the limit of ${MAX_TASKS} tasks`);
    this.#ids.add(id);
    this.tasks.push({ id, scanner: new LogScanner({ task: id }), spills: [], summary: undefined });
    this.#beginFile(this.#parts.tasks.logPath(id));
  }

  #addLogLine(line: string): void {
    const task = this.#getTask();
    if (this.#currentFile !== this.#parts.tasks.logPath(task.id))
      throw invalidRecordError('is not next to the other lines of its log');
    const bytes = Buffer.from(line);
    const event = task.scanner.scanLine(bytes.length < MAX_LINE_BYTES ? bytes : undefined);
    if (event === 'damaged')
      throw invalidRecordError(`has no event of task ${task.id}, or one out of order`);
    if (event !== 'header') {
      if (task.summary === undefined && event.type !== 'task.created') {
        throw invalidRecordError(`is not the first event of task ${task.id}`);
      }
      task.summary = addToSummary(task.summary, event);
      if (event.type === 'task.created') this.#checkFamily(task.id, event.spec);
    }
    this.#write(bytes);
    this.#write(Buffer.from('\n'));
  }

  /** Checks the ids of the root and the parent of a task, which become parts of paths. */
  #checkFamily(id: string, { root, parent }: Pick<TaskSpec, 'root' | 'parent'>): void {
    const isRoot = this.tasks.length === 1;
    const hasParent = isRoot
      ? parent === null || (typeof parent === 'string' && isId(parent))
      : parent !== null && this.#ids.has(parent);
    const hasRoot = isId(root) && (isRoot || root === this.tasks[0]?.summary?.root);
    if (!hasParent || !hasRoot || parent === id)
      throw invalidRecordError('belongs to another tree');
  }

  #addSpill(call: string, bytes: Buffer): Promise<void> {
    const { id, spills } = this.#getTask();
    const path = join(this.#parts.paths.spill, `${id}-${call}.txt`);
    if (this.#currentFile !== path) spills.push(path);
    return this.#addBytes(path, bytes);
  }

  async #addBlob(hash: string, bytes: Buffer): Promise<void> {
    const path = this.#parts.blobs.path(hash);
    await this.#addBytes(path, bytes);
    if (this.#currentBlob !== hash) this.blobs.push(hash);
    this.#currentBlob = hash;
  }

  async #addBytes(path: string, bytes: Buffer): Promise<void> {
    this.#getTask();
    if (this.#currentFile !== path) {
      await this.#endFile();
      this.#beginFile(path);
    }
    this.#write(bytes);
  }

  #beginFile(path: string): void {
    if (this.#drafts.has(path)) throw invalidRecordError('continues a file that has ended');
    if (this.#drafts.size >= MAX_FILES)
      throw invalidRecordError(`exceeds the limit of ${MAX_FILES} files`);
    this.#drafts.begin(path);
    this.#currentFile = path;
  }

  async #endFile(): Promise<void> {
    const hash = await this.#drafts.finish();
    if (this.#currentBlob !== undefined && hash !== this.#currentBlob) {
      throw invalidRecordError(`follows a blob that is not ${this.#currentBlob}`);
    }
    this.#currentBlob = undefined;
    this.#currentFile = '';
  }

  #write(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES)
      throw invalidRecordError(`exceeds the limit of ${MAX_BYTES} bytes`);
    this.#drafts.write(bytes);
  }

  #getTask(): ImportedTask {
    const task = this.tasks.at(-1);
    if (task === undefined) throw invalidRecordError('comes before the first task');
    return task;
  }

  /** Throws if the last task has no `task.created` event. */
  #checkLastTask(): void {
    const task = this.tasks.at(-1);
    if (task !== undefined && task.summary === undefined) {
      throw invalidRecordError(`follows task ${task.id}, which has no specification`);
    }
  }
}

function invalidRecordError(fault: string): MusterError {
  return new MusterError('INVALID_PARAM', fault);
}

interface OpenDraft {
  readonly target: string;
  readonly fd: number;
  readonly writer: BufferedWriter;
  readonly hash: Hash;
}

/** Writes files under temporary names, and renames them at the end. Only one draft is open at a time. */
export class ImportDrafts {
  readonly #parts: StoreParts;
  /** Paths of drafts by the paths of their files. */
  readonly #drafts = new Map<string, string>();
  #open: OpenDraft | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** Number of drafts. */
  get size(): number {
    return this.#drafts.size;
  }

  has(target: string): boolean {
    return this.#drafts.has(target);
  }

  /** Creates the draft of a file. The draft before it must be finished. */
  begin(target: string): void {
    const { files } = this.#parts;
    const draft = `${target}.${newId()}.new`;
    const fd = files.openNew(draft);
    this.#drafts.set(target, draft);
    const writer = new BufferedWriter(files, fd);
    this.#open = { target, fd, writer, hash: createHash('sha256') };
  }

  write(bytes: Uint8Array): void {
    this.#open?.writer.write(bytes);
    this.#open?.hash.update(bytes);
  }

  /** Finishes the open draft. Returns the sha256 of its bytes. */
  async finish(): Promise<string> {
    const open = this.#open;
    if (open === undefined) return '';
    open.writer.flush();
    if (this.#parts.syncQueue !== undefined) await this.#parts.files.datasync(open.fd);
    this.#close();
    return open.hash.digest('hex');
  }

  /** Returns the path of a file's draft, or the path of the file itself if it has no draft. */
  getPath(target: string): string {
    return this.#drafts.get(target) ?? target;
  }

  /** Renames a draft to its file. */
  commit(target: string): void {
    this.#parts.files.rename(this.getPath(target), target);
    this.#drafts.delete(target);
  }

  discard(target: string): void {
    const draft = this.#drafts.get(target);
    // A deletion of the same task may have removed the draft.
    if (draft !== undefined) unlinkIfExists(this.#parts.files, draft);
    this.#drafts.delete(target);
  }

  /** Removes all drafts that were not committed. */
  discardAll(): void {
    this.#close();
    for (const target of this.#drafts.keys()) this.discard(target);
  }

  #close(): void {
    if (this.#open !== undefined) this.#parts.files.close(this.#open.fd);
    this.#open = undefined;
  }
}
