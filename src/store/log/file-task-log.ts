import { MusterError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { DescriptorCache } from '../files/descriptor-cache.ts';
import { writeAllBytes, type FilePort } from '../files/file-port.ts';
import { encodeLogLine } from './large-strings.ts';
import { MAX_LINE_BYTES } from './line-reader.ts';
import type { EventStamper } from './event-stamper.ts';
import { storageError } from '../files/storage-error.ts';
import { addToSummary } from './task-summary.ts';
import type { SyncQueue } from '../files/sync-queue.ts';
import type { TaskLog, TaskSummary } from '../task-store.ts';

const UTF8_BYTES_PER_UNIT = 3;

/** What all logs of a store share. */
export interface LogContext {
  readonly files: FilePort;
  readonly descriptors: DescriptorCache;
  /** Undefined: nothing is made durable. */
  readonly syncQueue: SyncQueue | undefined;
  readonly stamp: EventStamper;
  /** Keeps a text that was redacted already; returns its hash. */
  putBlob(text: string): string;
  /** The task has ended, or has gone back to an earlier event; its log holds it. */
  onSummaryChange(summary: TaskSummary): void;
  /** The owner gives the log up. */
  onClose(log: FileTaskLog): void;
}

/** What could not be read back must not be written. Large strings are in blobs by now. */
function refuseTooLong({ type, task }: TaskEvent, line: string): void {
  if (line.length < MAX_LINE_BYTES / UTF8_BYTES_PER_UNIT) return;
  const bytes = byteLength(line) + 1;
  if (bytes <= MAX_LINE_BYTES) return;
  throw new MusterError(
    'LIMIT_EXCEEDED',
    `${type} of task ${task} takes ${bytes} bytes in its log, the limit is ${MAX_LINE_BYTES}`,
  );
}

/** Where an existing log stands when it is taken. */
export interface LogPosition {
  readonly epoch: number;
  readonly nextSeq: number;
  /** Length of the file in bytes: whole lines. */
  readonly size: number;
  readonly summary: TaskSummary | undefined;
}

/** A task's log in a file, with the lock held. */
export class FileTaskLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly path: string;
  readonly #host: LogContext;
  #opening: readonly TaskEvent[] = [];
  #nextSeq: number;
  #size: number;
  #summary: TaskSummary | undefined;
  #unsynced = false;
  #lastSync: Promise<void> = Promise.resolve();
  #broken: MusterError | undefined;
  #closed = false;

  constructor(host: LogContext, id: string, path: string, position: LogPosition) {
    this.#host = host;
    this.id = id;
    this.path = path;
    this.epoch = position.epoch;
    this.#nextSeq = position.nextSeq;
    this.#size = position.size;
    this.#summary = position.summary;
  }

  get opening(): readonly TaskEvent[] {
    return this.#opening;
  }

  get summary(): TaskSummary | undefined {
    return this.#summary;
  }

  /** The first batch of this owner; in a new log `header` goes before it, in the same write. */
  open(bodies: readonly EventBody[], header = ''): void {
    this.#opening = this.#append(bodies, header);
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    return bodies.length === 0 ? [] : this.#append(bodies, '');
  }

  sync(): Promise<void> {
    const { syncQueue: syncs } = this.#host;
    if (syncs === undefined) return Promise.resolve();
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (this.#unsynced) {
      this.#unsynced = false;
      this.#lastSync = this.#syncWith(syncs);
    }
    return this.#lastSync;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.onClose(this);
  }

  async #syncWith(syncs: SyncQueue): Promise<void> {
    try {
      await syncs.sync(this.path);
    } catch (thrown) {
      this.#broken = storageError('make durable', this.path, thrown);
      throw this.#broken;
    }
  }

  #append(bodies: readonly EventBody[], header: string): readonly TaskEvent[] {
    this.#refuseUnusable();
    const at = { task: this.id, epoch: this.epoch, seq: this.#nextSeq };
    const stamped = this.#host.stamp(bodies, at);
    let lines = header;
    for (const { event, json } of stamped) {
      const line = encodeLogLine(event, (text) => this.#host.putBlob(text), json);
      refuseTooLong(event, line);
      lines += `${line}\n`;
    }
    this.#write(Buffer.from(lines));
    const events = stamped.map(({ event }) => event);
    this.#nextSeq += events.length;
    this.#note(events);
    return events;
  }

  #write(bytes: Buffer): void {
    const { descriptors, files } = this.#host;
    try {
      descriptors.withDescriptor(this.path, (fd) => {
        try {
          writeAllBytes(files, fd, bytes);
        } catch (thrown) {
          this.#takeBack(fd);
          throw thrown;
        }
      });
    } catch (thrown) {
      throw storageError('write', this.path, thrown);
    }
    this.#size += bytes.length;
    this.#unsynced = true;
  }

  /** Cuts off what a failed write left; if even that fails, nothing may follow the half line. */
  #takeBack(fd: number): void {
    try {
      this.#host.files.truncate(fd, this.#size);
    } catch (thrown) {
      this.#broken = storageError('cut back', this.path, thrown);
    }
  }

  #note(events: readonly TaskEvent[]): void {
    for (const event of events) this.#summary = addToSummary(this.#summary, event);
    const ended = events.some(({ type }) => type === 'task.ended' || type === 'task.rewound');
    if (ended && this.#summary !== undefined) this.#host.onSummaryChange(this.#summary);
  }

  #refuseUnusable(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (!this.#closed) return;
    throw new MusterError('INTERNAL_ERROR', `the log of task ${this.id} is closed: ${this.path}`);
  }
}
