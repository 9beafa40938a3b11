import { MusterError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { DescriptorCache } from '../files/descriptor-cache.ts';
import { storageError, writeAllBytes, type FilePort } from '../files/file-port.ts';
import { encodeLogLine } from './large-strings.ts';
import { MAX_LINE_BYTES } from './line-reader.ts';
import type { EventStamper } from './event-stamper.ts';
import { addToSummary } from './task-summary.ts';
import type { SyncQueue } from '../files/sync-queue.ts';
import type { TaskLog, TaskSummary } from '../task-store.ts';

const MAX_UTF8_BYTES_PER_UNIT = 3;

/** The parts of a store that its logs use. */
export interface LogContext {
  readonly files: FilePort;
  readonly descriptors: DescriptorCache;
  /** Undefined if nothing is made durable. */
  readonly syncQueue: SyncQueue | undefined;
  readonly stamp: EventStamper;
  /** Stores a text that is already redacted. Returns its hash. */
  putBlob(text: string): string;
  /** Called when the log says that the task has ended or was rewound. */
  onSummaryChange(summary: TaskSummary): void;
  /** Called when the owner closes the log. */
  onClose(log: FileTaskLog): void;
}

/** Throws if a line is too long to be read back. The large strings of the line have already been moved to blobs. */
function checkLineLength({ type, task }: TaskEvent, line: string): void {
  if (line.length < MAX_LINE_BYTES / MAX_UTF8_BYTES_PER_UNIT) return;
  const bytes = byteLength(line) + 1;
  if (bytes <= MAX_LINE_BYTES) return;
  const message = `${type} of task ${task} takes ${bytes} bytes in its log, the limit is ${MAX_LINE_BYTES}`;
  throw new MusterError('LIMIT_EXCEEDED', message);
}

/** The position in a log at which a new owner continues. */
export interface LogPosition {
  readonly epoch: number;
  readonly nextSeq: number;
  /** Bytes of the file, up to the end of its last complete line. */
  readonly size: number;
  readonly summary: TaskSummary | undefined;
}

/** The log of a task in a file. This process holds the lock of the task. */
export class FileTaskLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly path: string;
  readonly #context: LogContext;
  #opening: readonly TaskEvent[] = [];
  #nextSeq: number;
  #size: number;
  #summary: TaskSummary | undefined;
  #hasUnsynced = false;
  #lastSync: Promise<void> = Promise.resolve();
  #failure: MusterError | undefined;
  #closed = false;

  constructor(context: LogContext, id: string, path: string, position: LogPosition) {
    this.#context = context;
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

  /** Writes the first batch of events of this owner. For a new log, the same write begins with the header. */
  open(bodies: readonly EventBody[], header = ''): void {
    this.#opening = this.#append(bodies, header);
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    return bodies.length === 0 ? [] : this.#append(bodies, '');
  }

  sync(): Promise<void> {
    const { syncQueue } = this.#context;
    if (syncQueue === undefined) return Promise.resolve();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#hasUnsynced) {
      this.#hasUnsynced = false;
      this.#lastSync = this.#syncWith(syncQueue);
    }
    return this.#lastSync;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#context.onClose(this);
  }

  async #syncWith(syncQueue: SyncQueue): Promise<void> {
    try {
      await syncQueue.sync(this.path);
    } catch (thrown) {
      this.#failure = storageError('make durable', this.path, thrown);
      throw this.#failure;
    }
  }

  #append(bodies: readonly EventBody[], header: string): readonly TaskEvent[] {
    this.#checkUsable();
    const position = { task: this.id, epoch: this.epoch, seq: this.#nextSeq };
    const stamped = this.#context.stamp(bodies, position);
    let lines = header;
    for (const { event, json } of stamped) {
      const line = encodeLogLine(event, (text) => this.#context.putBlob(text), json);
      checkLineLength(event, line);
      lines += `${line}\n`;
    }
    this.#write(Buffer.from(lines));
    const events = stamped.map(({ event }) => event);
    this.#nextSeq += events.length;
    this.#updateSummary(events);
    return events;
  }

  #write(bytes: Buffer): void {
    const { descriptors, files } = this.#context;
    try {
      descriptors.withDescriptor(this.path, (fd) => {
        try {
          writeAllBytes(files, fd, bytes);
        } catch (thrown) {
          this.#undoWrite(fd);
          throw thrown;
        }
      });
    } catch (thrown) {
      throw storageError('write', this.path, thrown);
    }
    this.#size += bytes.length;
    this.#hasUnsynced = true;
  }

  /**
   * Cuts off the bytes of a failed write. If this fails too, the log refuses further writes, which would follow an
   * incomplete line.
   */
  #undoWrite(fd: number): void {
    try {
      this.#context.files.truncate(fd, this.#size);
    } catch (thrown) {
      this.#failure = storageError('cut back', this.path, thrown);
    }
  }

  #updateSummary(events: readonly TaskEvent[]): void {
    for (const event of events) this.#summary = addToSummary(this.#summary, event);
    const isChanged = events.some(({ type }) => type === 'task.ended' || type === 'task.rewound');
    if (isChanged && this.#summary !== undefined) this.#context.onSummaryChange(this.#summary);
  }

  #checkUsable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#closed) return;
    throw new MusterError('INTERNAL_ERROR', `the log of task ${this.id} is closed: ${this.path}`);
  }
}
