import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { StoredTask } from '../protocol/store-port.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { hashContent } from '../sys/files/read-file.ts';
import { blobNotFoundError, checkBlobHash } from './blobs/blob-directory.ts';
import { deleteAtExit, forgetAtExit } from './files/exit-cleanup.ts';
import { nodeFiles } from './files/node-files.ts';
import {
  checkTaskId,
  resolveIdPrefix,
  taskInUseError,
  taskNotFoundError,
  taskExistsError,
  isSpillFile,
  getSpillFileName,
  getSpillFileTask,
} from './files/task-files.ts';
import { createProcessPort, type ProcessPort } from './locks/process-identity.ts';
import { createEventStamper, type EventStamper } from './log/event-stamper.ts';
import { createMemoryTask, MemoryTaskLog, type MemoryTask } from './log/memory-task-log.ts';
import { compareNewestFirst, getDisplayStatus } from './log/task-summary.ts';
import type { Redact } from './redact/redactor.ts';
import type {
  BlobOptions,
  LogProblem,
  LogTail,
  TaskLog,
  TaskOwner,
  TaskStore,
  TaskSummary,
} from './task-store.ts';

export interface MemoryStoreOptions {
  readonly clock?: Clock;
  readonly redact?: Redact;
  readonly processes?: ProcessPort;
  /** Stores elsewhere what this store holds. Default: it is stored nowhere else. */
  readonly replica?: StoreReplica;
}

/** Stores the content of a store in memory elsewhere, in order. Only `sync` tells whether that succeeded. */
export interface StoreReplica {
  addTask(task: StoredTask): void;
  /** Follows a change of the owner. */
  addOwner(id: string): void;
  addEvents(id: string, events: readonly TaskEvent[]): void;
  addBlob(hash: string, content: Buffer): void;
  /** Resolves when all that was added for the task before is durable. */
  sync(id: string): Promise<void>;
  /** Resolves when nothing more is about to be stored. */
  close(): Promise<void>;
}

/**
 * Opens a store in memory, for `--no-log`. Its tasks last as long as the store. Only spill files are on disk, until
 * `close`.
 */
export function openMemoryStore(options: MemoryStoreOptions = {}): TaskStore {
  return new MemoryStore(options);
}

/** A store in memory. */
export class MemoryStore implements TaskStore {
  readonly token = newId();
  readonly #stamp: EventStamper;
  readonly #redact: Redact;
  readonly #processes: ProcessPort;
  readonly #tasks = new Map<string, MemoryTask>();
  readonly #replica: StoreReplica | undefined;
  readonly #blobs = new Map<string, Buffer>();
  readonly #spillFiles = new Map<string, string>();
  #spillDirectory: string | undefined;

  constructor(options: MemoryStoreOptions) {
    this.#redact = options.redact ?? ((text) => text);
    this.#stamp = createEventStamper(options.clock ?? systemClock, options.redact);
    this.#processes = options.processes ?? createProcessPort();
    this.#replica = options.replica;
  }

  /** Adds or replaces a task that nobody owns. */
  putTask(id: string, events: readonly TaskEvent[]): void {
    if (this.#tasks.get(id)?.owner !== undefined) throw this.#createInUseError(id);
    this.#tasks.set(id, createMemoryTask(events));
  }

  /** Adds a text or an attachment with its sha256 (hex). */
  addContent(hash: string, content: Buffer): void {
    this.#blobs.set(hash, content);
  }

  create(spec: TaskSpec): TaskLog {
    checkTaskId(spec.id);
    const existing = this.#tasks.get(spec.id);
    if (existing?.owner !== undefined) throw this.#createInUseError(spec.id);
    if (existing !== undefined) throw taskExistsError(spec.id);
    const task = createMemoryTask();
    this.#replica?.addTask({
      id: spec.id,
      root: spec.root,
      parent: spec.parent,
    });
    const log = this.#openLog(spec.id, task, [{ type: 'task.created', spec }]);
    this.#tasks.set(spec.id, task);
    return log;
  }

  claim(id: string, visit: (event: TaskEvent) => void = () => {}): TaskLog {
    const task = this.#getTask(id);
    if (task.owner !== undefined) throw this.#createInUseError(id);
    task.events.forEach((event) => visit(event));
    this.#replica?.addOwner(id);
    return this.#openLog(id, task, []);
  }

  scan(id: string, visit: (event: TaskEvent) => void): readonly LogProblem[] {
    this.#getTask(id).events.forEach((event) => visit(event));
    return [];
  }

  streamEvents(id: string, fromSeq: number): AsyncIterable<TaskEvent> {
    return iterateFrom(this.#getTask(id).events, fromSeq);
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
    const stored = options.redact === false ? text : this.#redact(text);
    return this.#putContent(Buffer.from(stored));
  }

  getBlob(hash: string): string {
    checkBlobHash(hash);
    const content = this.#blobs.get(hash);
    if (content === undefined) throw blobNotFoundError(hash);
    return content.toString();
  }

  putAttachment(bytes: Buffer): string {
    return this.#putContent(bytes);
  }

  getAttachment(hash: string): Buffer | null {
    return this.#blobs.get(hash) ?? null;
  }

  /** Stores nothing: tasks of this store cannot be rewound, because nothing outlives the store. */
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
    for (const id of ids)
      if (this.#getTask(id).owner !== undefined) throw this.#createInUseError(id);
    return () => {};
  }

  outputPath(id: string): null {
    checkTaskId(id);
    return null;
  }

  appendOutput(id: string): void {
    this.#getTask(id);
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

  /** Deletes tasks and their spill files. Blobs are not deleted, because nothing outlives this store. */
  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids)
      if (this.#getTask(id).owner !== undefined) throw this.#createInUseError(id);
    for (const id of ids) this.#tasks.delete(id);
    for (const [name, path] of this.#spillFiles) {
      if (!ids.includes(getSpillFileTask(name))) continue;
      nodeFiles.unlink(path);
      this.#spillFiles.delete(name);
    }
  }

  // oxlint-disable-next-line require-yield -- it only throws
  async *exportTree(rootId: string): AsyncIterable<string> {
    this.#getTask(rootId);
    throw notStoredError('exported');
  }

  async importTree(): Promise<readonly string[]> {
    throw notStoredError('imported');
  }

  async sweep(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    for (const task of this.#tasks.values()) task.owner?.close();
    this.#spillFiles.clear();
    this.#removeSpillDirectory();
    await this.#replica?.close();
  }

  #putContent(content: Buffer): string {
    const hash = hashContent(content);
    if (!this.#blobs.has(hash)) this.#replica?.addBlob(hash, content);
    this.#blobs.set(hash, content);
    return hash;
  }

  #makeSpillDirectory(): string {
    // A second interrupt signal ends the process at once, without `close`.
    const directory = mkdtempSync(join(tmpdir(), 'muster-'));
    deleteAtExit(directory);
    return directory;
  }

  #removeSpillDirectory(): void {
    if (this.#spillDirectory === undefined) return;
    forgetAtExit(this.#spillDirectory);
    rmSync(this.#spillDirectory, { recursive: true, force: true });
    this.#spillDirectory = undefined;
  }

  #openLog(id: string, task: MemoryTask, first: readonly EventBody[]): TaskLog {
    const { pid, host } = this.#processes.self();
    const opening = [...first, { type: 'task.claimed', pid, host } as const];
    return new MemoryTaskLog({
      id,
      task,
      stamp: this.#stamp,
      opening,
      onEvents: (events) => this.#replica?.addEvents(id, events),
      sync: async () => await this.#replica?.sync(id),
    });
  }

  #getTask(id: string): MemoryTask {
    checkTaskId(id);
    const task = this.#tasks.get(id);
    if (task === undefined) throw taskNotFoundError(id);
    return task;
  }

  #createInUseError(id: string): MusterError {
    return taskInUseError(id, this.#processes.self().pid);
  }
}

function notStoredError(action: string): MusterError {
  const message = `tasks cannot be ${action} without a data directory: omit --no-log, or open the data directory with { create: true }`;
  return new MusterError('INVALID_PARAM', message);
}

async function* iterateFrom(events: readonly TaskEvent[], from: number): AsyncIterable<TaskEvent> {
  const end = events.length;
  for (let seq = Math.max(0, from); seq < end; seq += 1) {
    const event = events[seq];
    if (event !== undefined) yield event;
  }
}
