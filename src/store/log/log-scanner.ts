import { isUtf8 } from 'node:buffer';
import { MusterError, errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { LOG_VERSION, type TaskEvent } from '../../protocol/events/event.ts';
import { isTaskEvent } from './validate-event.ts';
import { upgradeEvent } from './upgrade-event.ts';
import { decodeLogValue, hasEscapes } from './large-strings.ts';
import { MAX_LINE_BYTES } from './line-reader.ts';
import {
  describeDamagedLines,
  describeMissingEvents,
  readDamagedType,
  type DamagedLine,
  type SeqRange,
} from './damage-messages.ts';
import type { LogProblem } from '../task-store.ts';

const FORMAT = 'muster-log';
/** More are counted, not kept: a damaged log must not fill the memory. */
const MAX_PROBLEMS = 100;

/** The first line of a log, newline included. */
export function formatLogHeader(task: string): string {
  return `${JSON.stringify({ v: LOG_VERSION, task, format: FORMAT })}\n`;
}

export interface ScanOptions {
  readonly task: string;
  /** Gives a blob's text, throws when it is lost. Absent: marks stay as they are, events are not for use. */
  readonly getBlob?: (hash: string) => string;
}

/** Reads a log line by line, in order; keeps what it needs to tell a good line from a bad one. */
export class LogScanner {
  readonly #options: ScanOptions;
  readonly #problems: LogProblem[] = [];
  /** Damaged lines after the last event: the next event says which events they held. */
  #damagedLines: DamagedLine[] = [];
  #moreProblems = 0;
  #line = 0;
  #lastSeq = -1;
  #epoch = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** The problems of the lines that were read, in order; those at the end as if the log ended there. */
  get problems(): readonly LogProblem[] {
    const all = [...this.#problems, ...this.#damageAtEnd()];
    const problems = all.toSorted((a, b) => a.line - b.line);
    if (this.#moreProblems === 0) return problems;
    const message = `${this.#moreProblems} more problems up to this line are not listed`;
    return [...problems, { code: 'damaged', line: this.#line, message }];
  }

  /** The seq that the next event has to have. */
  get nextSeq(): number {
    return this.#lastSeq + 1;
  }

  /** The highest epoch seen; 0 before the first event. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * The event on the next line (undefined: it is too long), or what the line is instead.
   * @throws MusterError when the log is of a newer version.
   */
  scanLine(bytes: Buffer | undefined): TaskEvent | 'header' | 'damaged' {
    this.#line += 1;
    if (bytes === undefined) {
      return this.#damaged(`is longer than ${MAX_LINE_BYTES} bytes`, bytes);
    }
    const line = isUtf8(bytes) ? bytes.toString('utf8') : '';
    const value = parseJsonLine(line);
    if (isJsonObject(value)) {
      this.#refuseNewer(value['v']);
      if (this.#line === 1 && value['format'] === FORMAT && value['task'] === this.#options.task) {
        return 'header';
      }
    }
    const upgraded = upgradeEvent(value);
    if (!isTaskEvent(upgraded, this.#options.task)) {
      return this.#damaged(faultOf(bytes, value), bytes);
    }
    return this.#inOrder(upgraded) ? this.#complete(upgraded, line) : 'damaged';
  }

  /** What stands after the last newline: a line that was never finished. */
  addTornTail(bytes: number): void {
    this.#settleDamage(this.#damageAtEnd());
    this.#line += 1;
    const message = `the last line was cut short (${bytes} bytes): ${lostAfter(this.#lastSeq)}`;
    this.#note('torn_tail', message);
  }

  #refuseNewer(version: unknown): void {
    if (typeof version !== 'number' || version <= LOG_VERSION) return;
    throw new MusterError(
      'INVALID_PARAM',
      `task ${this.#options.task} was logged by a newer Muster (log version ${version}, this one reads up to ${LOG_VERSION}): update Muster to use it`,
    );
  }

  #inOrder(event: TaskEvent): boolean {
    if (event.epoch < this.#epoch) {
      this.#note(
        'fenced',
        'the line is from an owner that had lost the log: it is left out, and no event is lost',
      );
      return false;
    }
    if (event.seq <= this.#lastSeq) {
      this.#damaged(`repeats event ${event.seq}`, undefined);
      return false;
    }
    this.#noteLost(event.seq);
    this.#epoch = event.epoch;
    this.#lastSeq = event.seq;
    return true;
  }

  #complete(event: TaskEvent, line: string): TaskEvent | 'damaged' {
    const { task, getBlob } = this.#options;
    if (getBlob === undefined || !hasEscapes(line)) return event;
    const decoded = decodeLogValue(event, (hash) => this.#blobText(hash, getBlob));
    if (isTaskEvent(decoded, task)) return decoded;
    this.#note('damaged', `the line does not decode to an event: event ${event.seq} is lost`);
    return 'damaged';
  }

  #blobText(hash: string, getBlob: (hash: string) => string): string {
    try {
      return getBlob(hash);
    } catch (thrown) {
      this.#note('lost_blob', `a text of the line is lost: ${errorMessage(thrown)}`);
      return `[lost: ${errorMessage(thrown)}]`;
    }
  }

  #damaged(fault: string, bytes: Buffer | undefined): 'damaged' {
    if (this.#problems.length + this.#damagedLines.length < MAX_PROBLEMS) {
      this.#damagedLines.push({ line: this.#line, fault, type: readDamagedType(bytes) });
    } else {
      this.#moreProblems += 1;
    }
    return 'damaged';
  }

  /** Notes which events are missing before the one with number `seq`, which is the next in order. */
  #noteLost(seq: number): void {
    const from = this.nextSeq;
    const gap = seq > from ? { from, to: seq - 1 } : null;
    if (this.#damagedLines.length > 0) this.#settleDamage(damageOf(this.#damagedLines, gap));
    else if (gap !== null) this.#note('missing', describeMissingEvents(gap));
  }

  /** Damage that no event follows. */
  #damageAtEnd(): readonly LogProblem[] {
    return damageOf(this.#damagedLines, { from: this.nextSeq, to: null });
  }

  #settleDamage(problems: readonly LogProblem[]): void {
    this.#problems.push(...problems);
    this.#damagedLines = [];
  }

  #note(code: LogProblem['code'], message: string): void {
    if (this.#problems.length < MAX_PROBLEMS) {
      this.#problems.push({ code, line: this.#line, message });
    } else {
      this.#moreProblems += 1;
    }
  }
}

function damageOf(lines: readonly DamagedLine[], gap: SeqRange | null): readonly LogProblem[] {
  const messages = describeDamagedLines(lines, gap);
  return lines.map(({ line }, index) => ({
    code: 'damaged',
    line,
    message: messages[index] ?? '',
  }));
}

function faultOf(bytes: Buffer, value: unknown): string {
  if (bytes.length === 0) return 'is empty';
  if (value === undefined) return 'is not valid JSON';
  return 'is not an event of this task';
}

function lostAfter(seq: number): string {
  return seq < 0
    ? 'it held the first event, with the specification of the task'
    : `what it held after event ${seq} is lost`;
}
