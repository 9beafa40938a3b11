import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import type { EventBody, TaskEvent } from '../protocol/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { blobNotFound, checkHash, sha256 } from './blobs.ts';
import { nodeFiles } from './node-files.ts';
import { createProcessPort, type ProcessPort } from './process-identity.ts';
import type { Redact } from './redact.ts';
import { createStamp, type Stamp } from './stamp.ts';
import { addToSummary, newestFirst, shownStatus } from './summary.ts';
import { isSpillFile, spillName } from './task-files.ts';
import { checkTaskId, resolvePrefix, taskInUse, taskNotFound, taskTaken } from './task-ids.ts';
import type {
  BlobOptions,
  LogContents,
  LogProblem,
  TaskLog,
  TaskStore,
  TaskSummary,
} from './task-store.ts';

export interface MemoryStoreOptions {
  readonly clock?: Clock;
  readonly redact?: Redact;
  readonly processes?: ProcessPort;
}

/** For `--no-log`: tasks last as long as the store. On disk are only spill files, until `close`. */
export function openMemoryStore(options: MemoryStoreOptions = {}): TaskStore {
  return new MemoryStore(options);
}

interface TaskRecord {
  readonly events: TaskEvent[];
  summary: TaskSummary | undefined;
  epoch: number;
  owner: TaskLog | undefined;
}

interface LogContext {
  readonly id: string;
  readonly record: TaskRecord;
  readonly stamp: Stamp;
}

class MemoryTaskLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[];
  readonly #context: LogContext;
  #closed = false;

  constructor(context: LogContext, opening: readonly EventBody[]) {
    this.#context = context;
    this.id = context.id;
    this.epoch = context.record.epoch + 1;
    this.opening = this.append(opening);
    context.record.epoch = this.epoch;
    context.record.owner = this;
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.#closed) {
      throw new MusterError('INTERNAL_ERROR', `the log of task ${this.id} is closed`);
    }
    const { record, stamp } = this.#context;
    const at = { task: this.id, epoch: this.epoch, seq: record.events.length };
    const events = stamp(bodies, at);
    for (const event of events) {
      record.events.push(event);
      record.summary = addToSummary(record.summary, event);
    }
    return events;
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#context.record.owner = undefined;
  }
}

class MemoryStore implements TaskStore {
  readonly #stamp: Stamp;
  readonly #redact: Redact;
  readonly #processes: ProcessPort;
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #blobs = new Map<string, string>();
  readonly #spillFiles = new Map<string, string>();
  #spillDirectory: string | undefined;

  constructor(options: MemoryStoreOptions) {
    this.#redact = options.redact ?? ((text) => text);
    this.#stamp = createStamp(options.clock ?? systemClock, options.redact);
    this.#processes = options.processes ?? createProcessPort();
  }

  create(spec: TaskSpec): TaskLog {
    checkTaskId(spec.id);
    const there = this.#tasks.get(spec.id);
    if (there?.owner !== undefined) throw this.#inUse(spec.id);
    if (there !== undefined) throw taskTaken(spec.id);
    const record: TaskRecord = { events: [], summary: undefined, epoch: 0, owner: undefined };
    const log = this.#own(spec.id, record, [{ type: 'task.created', spec }]);
    this.#tasks.set(spec.id, record);
    return log;
  }

  scan(id: string, visit: (event: TaskEvent) => void): readonly LogProblem[] {
    for (const event of this.#task(id).events) visit(event);
    return [];
  }

  exists(id: string): boolean {
    return this.#tasks.has(id);
  }

  claim(id: string, visit: (event: TaskEvent) => void = () => {}): TaskLog {
    const record = this.#task(id);
    for (const event of record.events) visit(event);
    if (record.owner !== undefined) throw this.#inUse(id);
    return this.#own(id, record, []);
  }

  read(id: string): LogContents {
    return { events: [...this.#task(id).events], problems: [] };
  }

  events(id: string, fromSeq: number): AsyncIterable<TaskEvent> {
    return iterate(this.#task(id).events, fromSeq);
  }

  list(): readonly TaskSummary[] {
    const tasks: TaskSummary[] = [];
    for (const { summary, owner } of this.#tasks.values()) {
      if (summary === undefined) continue;
      tasks.push({ ...summary, status: shownStatus(summary, { owned: owner !== undefined }) });
    }
    return tasks.toSorted(newestFirst);
  }

  resolveId(prefix: string): string {
    return resolvePrefix(prefix, this.#tasks.keys());
  }

  putBlob(text: string, options: BlobOptions = {}): string {
    const kept = options.redact === false ? text : this.#redact(text);
    const hash = sha256(kept);
    this.#blobs.set(hash, kept);
    return hash;
  }

  getBlob(hash: string): string {
    checkHash(hash);
    const text = this.#blobs.get(hash);
    if (text === undefined) throw blobNotFound(hash);
    return text;
  }

  outputFile(id: string): null {
    checkTaskId(id);
    return null;
  }

  appendOutput(id: string): void {
    this.#task(id);
  }

  spillFile(id: string, callId: string): string {
    const name = spillName(id, callId);
    let path = this.#spillFiles.get(name);
    if (path === undefined) {
      this.#spillDirectory ??= mkdtempSync(join(tmpdir(), 'muster-'));
      path = join(this.#spillDirectory, name);
      nodeFiles.close(nodeFiles.openNew(path));
      this.#spillFiles.set(name, path);
    }
    return path;
  }

  isOwnFile(id: string, path: string): boolean {
    checkTaskId(id);
    return this.#spillDirectory !== undefined && isSpillFile(id, this.#spillDirectory, path);
  }

  log(id: string): null {
    checkTaskId(id);
    return null;
  }

  close(): Promise<void> {
    for (const record of this.#tasks.values()) record.owner?.close();
    this.#spillFiles.clear();
    if (this.#spillDirectory !== undefined) {
      rmSync(this.#spillDirectory, { recursive: true, force: true });
      this.#spillDirectory = undefined;
    }
    return Promise.resolve();
  }

  #own(id: string, record: TaskRecord, first: readonly EventBody[]): TaskLog {
    const { pid, host } = this.#processes.self();
    const context = { id, record, stamp: this.#stamp };
    return new MemoryTaskLog(context, [...first, { type: 'task.claimed', pid, host }]);
  }

  #task(id: string): TaskRecord {
    checkTaskId(id);
    const record = this.#tasks.get(id);
    if (record === undefined) throw taskNotFound(id);
    return record;
  }

  #inUse(id: string): MusterError {
    return taskInUse(id, this.#processes.self().pid);
  }
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
