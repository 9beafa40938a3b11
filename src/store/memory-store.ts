import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { blobNotFoundError, checkBlobHash } from './blobs/blob-directory.ts';
import { nodeFiles } from './files/node-files.ts';
import { createProcessPort, type ProcessPort } from './locks/process-identity.ts';
import type { Redact } from './redact/redactor.ts';
import { MemoryTaskLog, type TaskRecord } from './memory-task-log.ts';
import { createEventStamper, type EventStamper } from './log/event-stamper.ts';
import { compareNewestFirst, getDisplayStatus } from './log/task-summary.ts';
import { isSpillFile, getSpillFileName, getSpillFileTask } from './files/task-files.ts';
import {
  checkTaskId,
  resolveIdPrefix,
  taskInUseError,
  taskNotFoundError,
  taskExistsError,
} from './files/task-ids.ts';
import type {
  BlobOptions,
  LogProblem,
  LogTail,
  TaskLog,
  TaskOwner,
  TaskStore,
  TaskSummary,
} from './task-store.ts';
import { sha256 } from '../sys/read-file.ts';

export interface MemoryStoreOptions {
  readonly clock?: Clock;
  readonly redact?: Redact;
  readonly processes?: ProcessPort;
}

/** For `--no-log`: tasks last as long as the store. On disk are only spill files, until `close`. */
export function openMemoryStore(options: MemoryStoreOptions = {}): TaskStore {
  return new MemoryStore(options);
}

class MemoryStore implements TaskStore {
  readonly token = newId();
  readonly #stamp: EventStamper;
  readonly #redact: Redact;
  readonly #processes: ProcessPort;
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #blobs = new Map<string, string>();
  readonly #attachments = new Map<string, Buffer>();
  readonly #spillFiles = new Map<string, string>();
  #spillDirectory: string | undefined;

  constructor(options: MemoryStoreOptions) {
    this.#redact = options.redact ?? ((text) => text);
    this.#stamp = createEventStamper(options.clock ?? systemClock, options.redact);
    this.#processes = options.processes ?? createProcessPort();
  }

  create(spec: TaskSpec): TaskLog {
    checkTaskId(spec.id);
    const there = this.#tasks.get(spec.id);
    if (there?.owner !== undefined) throw this.#inUse(spec.id);
    if (there !== undefined) throw taskExistsError(spec.id);
    const record: TaskRecord = { events: [], summary: undefined, epoch: 0, owner: undefined };
    const log = this.#own(spec.id, record, [{ type: 'task.created', spec }]);
    this.#tasks.set(spec.id, record);
    return log;
  }

  claim(id: string, visit: (event: TaskEvent) => void = () => {}): TaskLog {
    const record = this.#task(id);
    if (record.owner !== undefined) throw this.#inUse(id);
    record.events.forEach((event) => visit(event));
    return this.#own(id, record, []);
  }

  scan(id: string, visit: (event: TaskEvent) => void): readonly LogProblem[] {
    this.#task(id).events.forEach((event) => visit(event));
    return [];
  }

  streamEvents(id: string, fromSeq: number): AsyncIterable<TaskEvent> {
    return iterate(this.#task(id).events, fromSeq);
  }

  openTail(id: string): LogTail {
    checkTaskId(id);
    let next = 0;
    return {
      read: (visit) => {
        const { events = [] } = this.#tasks.get(id) ?? {};
        while (next < events.length) {
          const event = events[next];
          next += 1;
          if (event !== undefined) visit(event);
        }
      },
    };
  }

  listLocked(): readonly string[] {
    return [...this.#tasks].filter(([, { owner }]) => owner !== undefined).map(([id]) => id);
  }

  exists(id: string): boolean {
    checkTaskId(id);
    return this.#tasks.has(id);
  }

  importedUpTo(): null {
    return null;
  }

  isImported(): boolean {
    return false;
  }

  getOwner(id: string): TaskOwner | null {
    checkTaskId(id);
    if (this.#tasks.get(id)?.owner === undefined) return null;
    const { pid, host } = this.#processes.self();
    return { pid, host, token: this.token };
  }

  list(): readonly TaskSummary[] {
    const tasks: TaskSummary[] = [];
    for (const { summary, owner } of this.#tasks.values()) {
      if (summary === undefined) continue;
      tasks.push({ ...summary, status: getDisplayStatus(summary, { owned: owner !== undefined }) });
    }
    return tasks.toSorted(compareNewestFirst);
  }

  findReusable(reuseKey: string): readonly string[] {
    return this.list()
      .filter((task) => task.reuseKey === reuseKey && task.ended !== null)
      .map(({ id }) => id);
  }

  resolveId(prefix: string): string {
    return resolveIdPrefix(prefix, this.#tasks.keys());
  }

  putBlob(text: string, options: BlobOptions = {}): string {
    const kept = options.redact === false ? text : this.#redact(text);
    const hash = sha256(kept);
    this.#blobs.set(hash, kept);
    return hash;
  }

  getBlob(hash: string): string {
    checkBlobHash(hash);
    const text = this.#blobs.get(hash);
    if (text === undefined) throw blobNotFoundError(hash);
    return text;
  }

  putAttachment(bytes: Buffer): string {
    const hash = sha256(bytes);
    this.#attachments.set(hash, bytes);
    return hash;
  }

  getAttachment(hash: string): Buffer | null {
    return this.#attachments.get(hash) ?? null;
  }

  /** Nothing outlives this store, and nobody else can go back in it. */
  putBackup(): Promise<void> {
    return Promise.resolve();
  }

  getBackup(): null {
    return null;
  }

  hasBackup(): boolean {
    return false;
  }

  async lockTasks(ids: readonly string[]): Promise<() => void> {
    for (const id of ids) if (this.#task(id).owner !== undefined) throw this.#inUse(id);
    return () => {};
  }

  outputPath(id: string): null {
    checkTaskId(id);
    return null;
  }

  appendOutput(id: string): void {
    this.#task(id);
  }

  createSpillFile(id: string, callId: string): string {
    const name = getSpillFileName(id, callId);
    let path = this.#spillFiles.get(name);
    if (path === undefined) {
      path = join((this.#spillDirectory ??= this.#makeSpillDirectory()), name);
      nodeFiles.close(nodeFiles.openNew(path));
      this.#spillFiles.set(name, path);
    }
    return path;
  }

  isTaskFile(id: string, path: string): boolean {
    checkTaskId(id);
    return this.#spillDirectory !== undefined && isSpillFile(id, this.#spillDirectory, path);
  }

  logPath(id: string): null {
    checkTaskId(id);
    return null;
  }

  /** Blobs stay until the end: nothing outlives this store. */
  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (this.#task(id).owner !== undefined) throw this.#inUse(id);
    for (const id of ids) this.#tasks.delete(id);
    for (const [name, path] of this.#spillFiles) {
      if (!ids.includes(getSpillFileTask(name))) continue;
      nodeFiles.unlink(path);
      this.#spillFiles.delete(name);
    }
  }

  // oxlint-disable-next-line require-yield -- there is nothing to give
  async *exportTree(rootId: string): AsyncGenerator<string, void, undefined> {
    this.#task(rootId);
    throw notKept('exported');
  }

  async importTree(): Promise<readonly string[]> {
    throw notKept('imported');
  }

  async sweep(): Promise<readonly string[]> {
    return [];
  }

  close(): Promise<void> {
    for (const record of this.#tasks.values()) record.owner?.close();
    this.#spillFiles.clear();
    this.#removeSpillDirectory();
    return Promise.resolve();
  }

  #makeSpillDirectory(): string {
    // A second signal ends the process at once, without `close`.
    process.once('exit', this.#removeSpillDirectory);
    return mkdtempSync(join(tmpdir(), 'muster-'));
  }

  readonly #removeSpillDirectory = (): void => {
    if (this.#spillDirectory === undefined) return;
    process.off('exit', this.#removeSpillDirectory);
    rmSync(this.#spillDirectory, { recursive: true, force: true });
    this.#spillDirectory = undefined;
  };

  #own(id: string, record: TaskRecord, first: readonly EventBody[]): TaskLog {
    const { pid, host } = this.#processes.self();
    const context = { id, record, stamp: this.#stamp };
    return new MemoryTaskLog(context, [...first, { type: 'task.claimed', pid, host }]);
  }

  #task(id: string): TaskRecord {
    checkTaskId(id);
    const record = this.#tasks.get(id);
    if (record === undefined) throw taskNotFoundError(id);
    return record;
  }

  #inUse(id: string): MusterError {
    return taskInUseError(id, this.#processes.self().pid);
  }
}

function notKept(what: string): MusterError {
  return new MusterError(
    'INVALID_PARAM',
    `tasks can't be ${what} where nothing is kept: leave out --no-log, or open the data directory with { create: true }`,
  );
}

async function* iterate(
  events: readonly TaskEvent[],
  fromSeq: number,
): AsyncGenerator<TaskEvent, void, undefined> {
  const end = events.length;
  for (let seq = Math.max(0, fromSeq); seq < end; seq += 1) {
    const event = events[seq];
    if (event !== undefined) yield event;
  }
}
