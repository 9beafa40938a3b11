import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { describeLogRecord, isLogged, type LogLevel, type LogRecord } from './log-records.ts';

/**
 * The maximum size of a log file (`log_file_bytes`). A larger file gets the ending `.1`, in place of the file that had it
 * before, so that two files are kept.
 */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** The maximum size of the lines that wait to be written (`log_queue_bytes`). Further lines are counted and left out. */
const MAX_QUEUE_BYTES = 1024 * 1024;
/** The time for which lines are collected. */
const COLLECT_MS = 100;

export interface LogFileParts {
  /** Absolute. */
  readonly path: string;
  readonly level: LogLevel;
  readonly redact: (text: string) => string;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once if the file cannot be written. Nothing is written after that. */
  readonly onProblem: (line: string) => void;
}

/** A file of JSON lines about the work of Muster. Lines are written a moment after they are added, and never awaited. */
export class LogFile {
  private readonly parts: LogFileParts;
  private lines: string[] = [];
  private queuedLength = 0;
  private leftOut = 0;
  private isStarted = false;
  private isBroken = false;
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(parts: LogFileParts) {
    this.parts = parts;
  }

  /** Begins to write. Until then, lines are only collected. */
  start(): void {
    this.isStarted = true;
    this.schedule();
  }

  addEvent(event: TaskEvent): void {
    // Most events are on the level `debug`, and this is called for each of them.
    if (!this.isBroken) this.add(describeLogRecord(event));
  }

  add({ level, event, fields }: LogRecord): void {
    if (this.isBroken || !isLogged(level, this.parts.level)) return;
    const { now, redact } = this.parts;
    const time = new Date(now()).toISOString();
    const redacted = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? redact(value) : value,
    ]);
    const line = `${JSON.stringify({ time, level, event, ...Object.fromEntries(redacted) })}\n`;
    if (this.queuedLength + line.length > MAX_QUEUE_BYTES) {
      this.leftOut += 1;
      return;
    }
    this.lines.push(line);
    this.queuedLength += line.length;
    this.schedule();
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.flush();
    await this.writing;
  }

  private schedule(): void {
    if (!this.isStarted || this.timer !== null || this.lines.length === 0) return;
    this.timer = setTimeout(() => this.flush(), COLLECT_MS).unref();
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.lines.length === 0) return;
    if (this.leftOut > 0) {
      const { now } = this.parts;
      const fields = { time: new Date(now()).toISOString(), level: 'warning', event: 'left_out' };
      const limit = `log_queue_bytes (${MAX_QUEUE_BYTES})`;
      this.lines.push(`${JSON.stringify({ ...fields, lines: this.leftOut, limit })}\n`);
    }
    const text = this.lines.join('');
    this.lines = [];
    this.queuedLength = 0;
    this.leftOut = 0;
    this.writing = this.writing.then(() => this.write(text));
  }

  private async write(text: string): Promise<void> {
    const { path, onProblem } = this.parts;
    if (this.isBroken) return;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      if ((await readSize(path)) + Buffer.byteLength(text) > MAX_FILE_BYTES) {
        await renameIfPresent(path, `${path}.1`);
      }
      await appendFile(path, text, { mode: 0o600 });
    } catch (thrown) {
      this.isBroken = true;
      onProblem(`the log file ${path} can't be written: ${errorMessage(thrown)}`);
    }
  }
}

async function readSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return 0;
    throw thrown;
  }
}

/** Renames a file. Another process that writes to the same log may have renamed it a moment before. */
async function renameIfPresent(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
  }
}
