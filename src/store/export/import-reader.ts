import { join } from 'node:path';
import { MusterError, unreachable } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import type { ExportRecord } from './export-format.ts';
import type { ImportDrafts } from './import-drafts.ts';
import { MAX_LINE_BYTES } from '../log/line-reader.ts';
import { LogScanner } from '../log/log-scanner.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { StoreParts } from '../store-parts.ts';
import { addToSummary } from '../log/task-summary.ts';
import type { TaskSummary } from '../task-store.ts';

const MOST_TASKS = 10_000;
const MOST_FILES = 100_000;
const MOST_BYTES = 16 * 1024 ** 3;

/** A task of the file, its parts in drafts. */
export interface ImportedTask {
  readonly id: string;
  readonly scanner: LogScanner;
  readonly spills: string[];
  summary: TaskSummary | undefined;
}

/** Takes the records of an exported file in order and writes them to drafts. Trusts none of them. */
export class ImportReader {
  readonly tasks: ImportedTask[] = [];
  readonly blobs: string[] = [];
  readonly #parts: StoreParts;
  readonly #drafts: ImportDrafts;
  readonly #ids = new Set<string>();
  #root: string | undefined;
  #bytes = 0;
  /** What is being written: records of one file stand together. */
  #writing = '';
  #blob: string | undefined;
  #isEnded = false;

  constructor(parts: StoreParts, drafts: ImportDrafts) {
    this.#parts = parts;
    this.#drafts = drafts;
  }

  get isComplete(): boolean {
    return this.#isEnded;
  }

  /** Throws `INVALID_PARAM` with what is wrong with the record. */
  async addRecord(record: ExportRecord): Promise<void> {
    if (this.#isEnded) throw invalidRecordError('stands after the end');
    if ((record.kind === 'header') !== (this.#root === undefined)) {
      throw invalidRecordError(
        record.kind === 'header' ? 'is a second header' : 'stands before the header',
      );
    }
    switch (record.kind) {
      case 'header':
        this.#root = record.root;
        return;
      case 'task':
        await this.#endFile();
        this.#checkTask();
        return this.#beginTask(record.id);
      case 'log':
        return this.#takeLine(record.line);
      case 'output':
        return this.#takeBytes(this.#parts.tasks.outputPath(this.#task().id), record.bytes);
      case 'spill':
        return this.#takeSpill(record.call, record.bytes);
      case 'blob':
        return this.#takeBlob(record.hash, record.bytes);
      case 'end':
        await this.#endFile();
        this.#checkTask();
        if (record.tasks !== this.tasks.length || record.tasks === 0) {
          throw invalidRecordError(
            `tells of ${record.tasks} tasks where ${this.tasks.length} came`,
          );
        }
        this.#isEnded = true;
        return;
      default:
        unreachable(record);
    }
  }

  #beginTask(id: string): void {
    if (this.#ids.has(id)) throw invalidRecordError(`tells of task ${id} a second time`);
    if (this.tasks.length === 0 && id !== this.#root)
      throw invalidRecordError('is not the root task');
    if (this.tasks.length >= MOST_TASKS)
      throw invalidRecordError(`is more than ${MOST_TASKS} tasks`);
    this.#ids.add(id);
    this.tasks.push({ id, scanner: new LogScanner({ task: id }), spills: [], summary: undefined });
    this.#beginFile(this.#parts.tasks.logPath(id));
  }

  #takeLine(line: string): void {
    const task = this.#task();
    if (this.#writing !== this.#parts.tasks.logPath(task.id))
      throw invalidRecordError('stands apart from its log');
    const bytes = Buffer.from(line);
    const event = task.scanner.scanLine(bytes.length < MAX_LINE_BYTES ? bytes : undefined);
    if (event === 'damaged')
      throw invalidRecordError(`holds no event of task ${task.id} in its order`);
    if (event !== 'header') {
      if (task.summary === undefined && event.type !== 'task.created') {
        throw invalidRecordError(`does not begin task ${task.id}`);
      }
      task.summary = addToSummary(task.summary, event);
      if (event.type === 'task.created') this.#checkKin(task.id, event.spec);
    }
    this.#write(bytes);
    this.#write(Buffer.from('\n'));
  }

  /** These are ids from a file: they get into paths and tables. */
  #checkKin(id: string, { root, parent }: Pick<TaskSpec, 'root' | 'parent'>): void {
    const isRoot = this.tasks.length === 1;
    const hasParent = isRoot
      ? parent === null || (typeof parent === 'string' && isId(parent))
      : parent !== null && this.#ids.has(parent);
    const hasRoot = isId(root) && (isRoot || root === this.tasks[0]?.summary?.root);
    if (!hasParent || !hasRoot || parent === id)
      throw invalidRecordError('belongs to another tree');
  }

  #takeSpill(call: string, bytes: Buffer): Promise<void> {
    const { id, spills } = this.#task();
    const path = join(this.#parts.paths.spill, `${id}-${call}.txt`);
    if (this.#writing !== path) spills.push(path);
    return this.#takeBytes(path, bytes);
  }

  async #takeBlob(hash: string, bytes: Buffer): Promise<void> {
    const path = this.#parts.blobs.path(hash);
    await this.#takeBytes(path, bytes);
    if (this.#blob !== hash) this.blobs.push(hash);
    this.#blob = hash;
  }

  async #takeBytes(path: string, bytes: Buffer): Promise<void> {
    this.#task();
    if (this.#writing !== path) {
      await this.#endFile();
      this.#beginFile(path);
    }
    this.#write(bytes);
  }

  #beginFile(path: string): void {
    if (this.#drafts.has(path)) throw invalidRecordError('goes on with a file that was ended');
    if (this.#drafts.size >= MOST_FILES)
      throw invalidRecordError(`is more than ${MOST_FILES} files`);
    this.#drafts.begin(path);
    this.#writing = path;
  }

  async #endFile(): Promise<void> {
    const hash = await this.#drafts.finish();
    if (this.#blob !== undefined && hash !== this.#blob) {
      throw invalidRecordError(`follows a blob that is not ${this.#blob}`);
    }
    this.#blob = undefined;
    this.#writing = '';
  }

  #write(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MOST_BYTES) throw invalidRecordError(`goes beyond ${MOST_BYTES} bytes`);
    this.#drafts.write(bytes);
  }

  #task(): ImportedTask {
    const task = this.tasks.at(-1);
    if (task === undefined) throw invalidRecordError('stands before the first task');
    return task;
  }

  /** The task that ends here must have begun. */
  #checkTask(): void {
    const task = this.tasks.at(-1);
    if (task !== undefined && task.summary === undefined) {
      throw invalidRecordError(`follows task ${task.id}, which has no specification`);
    }
  }
}

function invalidRecordError(what: string): MusterError {
  return new MusterError('INVALID_PARAM', what);
}
