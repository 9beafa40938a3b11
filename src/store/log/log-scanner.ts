import { isUtf8 } from 'node:buffer';
import { MusterError, errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { truncate } from '../../base/text.ts';
import { LOG_VERSION, type TaskEvent } from '../../protocol/events/event.ts';
import type { LogProblem } from '../task-store.ts';
import { decodeLogValue, hasEscapes } from './large-strings.ts';
import { MAX_LINE_BYTES } from './line-reader.ts';
import { upgradeEvent } from './upgrade-event.ts';
import { isTaskEvent } from './validate-event.ts';
import { isEventType } from './validate-terms.ts';

const FORMAT = 'muster-log';
/** More problems are counted but not kept, so that a damaged log cannot fill the memory. */
const MAX_PROBLEMS = 100;

/** Formats the first line of a log, with its newline. */
export function formatLogHeader(task: string): string {
  return `${JSON.stringify({ v: LOG_VERSION, task, format: FORMAT })}\n`;
}

export interface ScanOptions {
  readonly task: string;
  /** Returns the text of a blob, or throws if it is lost. Without this function, events keep references in place of large strings. */
  readonly getBlob?: (hash: string) => string;
}

/** Scans the lines of a log in order. It keeps the state that separates valid lines from damaged or outdated ones. */
export class LogScanner {
  readonly #options: ScanOptions;
  readonly #problems: LogProblem[] = [];
  /** Damaged lines after the last event. The number of the next event shows which events they held. */
  #damagedLines: DamagedLine[] = [];
  #moreProblems = 0;
  #line = 0;
  #lastSeq = -1;
  #epoch = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** The problems of the lines so far, in order. The ones at the end are described as if the log ended there. */
  get problems(): readonly LogProblem[] {
    const all = [...this.#problems, ...this.#describeOpenDamage()];
    const problems = all.toSorted((a, b) => a.line - b.line);
    if (this.#moreProblems === 0) return problems;
    const message = `${this.#moreProblems} more problems up to this line are not listed`;
    return [...problems, { code: 'damaged', line: this.#line, message }];
  }

  /** The smallest seq that the next event may have. */
  get nextSeq(): number {
    return this.#lastSeq + 1;
  }

  /** The highest epoch so far, or 0 before the first event. An epoch numbers the owners of a log: each owner has a higher one than the owner before. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Returns the event on the next line, or the kind of the line if it holds no event. `bytes` is undefined for a line
   * that is too long. Throws MusterError if the log is of a newer version.
   */
  scanLine(bytes: Buffer | undefined): TaskEvent | 'header' | 'damaged' {
    this.#line += 1;
    if (bytes === undefined) {
      return this.#recordDamagedLine(`is longer than ${MAX_LINE_BYTES} bytes`, bytes);
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
      return this.#recordDamagedLine(describeFault(bytes, value), bytes);
    }
    return this.#advanceTo(upgraded) ? this.#decode(upgraded, line) : 'damaged';
  }

  /** Reports the bytes after the last newline: a line that was never completed. */
  addTornTail(bytes: number): void {
    this.#closeDamage(this.#describeOpenDamage());
    this.#line += 1;
    const message = `the last line was cut short (${bytes} bytes): ${describeTailLoss(this.#lastSeq)}`;
    this.#addProblem('torn_tail', message);
  }

  #refuseNewer(version: unknown): void {
    if (typeof version !== 'number' || version <= LOG_VERSION) return;
    const message = `task ${this.#options.task} was logged by a newer Muster (log version ${version}, this one reads up to ${LOG_VERSION}): update Muster to use it`;
    throw new MusterError('INVALID_PARAM', message);
  }

  /**
   * Makes the event the last one and reports the events that are missing before it. Returns false if the event is
   * ignored: it repeats a number, or it is fenced, which means that its writer no longer owned the log.
   */
  #advanceTo(event: TaskEvent): boolean {
    if (event.epoch < this.#epoch) {
      const message =
        'the line was written by a process that no longer owned the log: it is ignored, and no event is lost';
      this.#addProblem('fenced', message);
      return false;
    }
    if (event.seq <= this.#lastSeq) {
      this.#recordDamagedLine(`repeats event ${event.seq}`, undefined);
      return false;
    }
    this.#reportMissingEvents(event.seq);
    this.#epoch = event.epoch;
    this.#lastSeq = event.seq;
    return true;
  }

  #decode(event: TaskEvent, line: string): TaskEvent | 'damaged' {
    const { task, getBlob } = this.#options;
    if (getBlob === undefined || !hasEscapes(line)) return event;
    const decoded = decodeLogValue(event, (hash) => this.#blobText(hash, getBlob));
    if (isTaskEvent(decoded, task)) return decoded;
    this.#addProblem('damaged', `the line does not decode to an event: event ${event.seq} is lost`);
    return 'damaged';
  }

  #blobText(hash: string, getBlob: (hash: string) => string): string {
    try {
      return getBlob(hash);
    } catch (thrown) {
      this.#addProblem('lost_blob', `a text of the line is lost: ${errorMessage(thrown)}`);
      return `[lost: ${errorMessage(thrown)}]`;
    }
  }

  /** Adds the present line to the damaged lines. `fault` is the end of a sentence that begins with "the line". */
  #recordDamagedLine(fault: string, bytes: Buffer | undefined): 'damaged' {
    if (this.#problems.length + this.#damagedLines.length < MAX_PROBLEMS) {
      this.#damagedLines.push({ line: this.#line, fault, type: readDamagedType(bytes) });
    } else {
      this.#moreProblems += 1;
    }
    return 'damaged';
  }

  /** Reports the events that are missing before event `seq`, which is the next one in the log. */
  #reportMissingEvents(seq: number): void {
    const from = this.nextSeq;
    const lost = seq > from ? { from, to: seq - 1 } : null;
    if (this.#damagedLines.length > 0) this.#closeDamage(listDamage(this.#damagedLines, lost));
    else if (lost !== null) this.#addProblem('missing', describeMissingEvents(lost));
  }

  /** The problems of damaged lines that no event follows. */
  #describeOpenDamage(): readonly LogProblem[] {
    return listDamage(this.#damagedLines, { from: this.nextSeq, to: null });
  }

  /** Adds the problems of the damaged lines, whose events are known now, and begins a new list of damaged lines. */
  #closeDamage(problems: readonly LogProblem[]): void {
    this.#problems.push(...problems);
    this.#damagedLines = [];
  }

  #addProblem(code: LogProblem['code'], message: string): void {
    if (this.#problems.length < MAX_PROBLEMS) {
      this.#problems.push({ code, line: this.#line, message });
    } else {
      this.#moreProblems += 1;
    }
  }
}

function listDamage(lines: readonly DamagedLine[], lost: SeqRange | null): readonly LogProblem[] {
  const messages = describeDamagedLines(lines, lost);
  return lines.map(({ line }, index) => ({
    code: 'damaged',
    line,
    message: messages[index] ?? '',
  }));
}

function describeFault(bytes: Buffer, value: unknown): string {
  if (bytes.length === 0) return 'is empty';
  if (!isUtf8(bytes)) return 'is not valid UTF-8';
  if (value === undefined) return 'is not valid JSON';
  return 'is not an event of this task';
}

function describeTailLoss(seq: number): string {
  return seq < 0
    ? 'it held the first event, with the specification of the task'
    : `any event after event ${seq} that it held is lost`;
}

/** A line of a log that is no event. The events that it held are known when the next event has been read. */
interface DamagedLine {
  /** Line number from 1, including the header. */
  readonly line: number;
  /** The fault, as the end of a sentence that begins with "the line". */
  readonly fault: string;
  /** The event type that can still be read in the line; null if none. */
  readonly type: string | null;
}

/** Sequence numbers of consecutive events, including both ends. */
interface SeqRange {
  readonly from: number;
  /** The last event; null if all events to the end of the log may be lost. */
  readonly to: number | null;
}

/** Bytes of a damaged line that are searched for its type, which is near the beginning. */
const SEARCHED_BYTES = 1000;
const TYPE = /"type":\s*"([a-z._]{1,40})"/;

/** Reads the event type in a damaged line; null if it is not readable. */
function readDamagedType(bytes: Buffer | undefined): string | null {
  const [, type] = TYPE.exec(bytes?.toString('latin1', 0, SEARCHED_BYTES) ?? '') ?? [];
  return type !== undefined && isEventType(type) ? type : null;
}

/**
 * Describes consecutive damaged lines, one message for each line, with the events that are missing there. `lost` is null
 * if the events before and after them have consecutive numbers.
 */
function describeDamagedLines(
  lines: readonly DamagedLine[],
  lost: SeqRange | null,
): readonly string[] {
  const hasOneEventPerLine =
    lost !== null && lost.to !== null && lost.to - lost.from + 1 === lines.length;
  return lines.map(({ fault, type }, index) => {
    const loss = hasOneEventPerLine
      ? describeLoss({ from: lost.from + index, to: lost.from + index }, type)
      : index === 0 || lost === null
        ? describeLoss(lost, type)
        : 'see the damaged line before it for the events that are lost';
    return `the line ${truncate(fault, 200)}: ${loss}`;
  });
}

/** Describes events that are missing without a damaged line in their place. */
function describeMissingEvents(lost: SeqRange): string {
  return `a line is missing before this one: ${describeLoss(lost, null)}`;
}

function describeLoss(lost: SeqRange | null, type: string | null): string {
  if (lost === null) return 'no event is lost';
  const { from, to } = lost;
  if (from === 0) {
    return `${formatRange(from, to)} lost, with the specification (task.created) of the task`;
  }
  if (to === null)
    return `any event after event ${from - 1} that it held is lost${formatType(type)}`;
  return `${formatRange(from, to)} lost${formatType(from === to ? type : null)}`;
}

function formatRange(from: number, to: number | null): string {
  return to === null || from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}

function formatType(type: string | null): string {
  return type === null ? '' : ` (${type})`;
}
