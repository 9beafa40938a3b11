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
/**
 * The maximum number of problems that are listed. Further problems are only counted, so that a damaged log cannot fill
 * the memory.
 */
const MAX_PROBLEMS = 100;

/** Formats the first line of a log, with its newline. */
export function formatLogHeader(task: string): string {
  return `${JSON.stringify({ v: LOG_VERSION, task, format: FORMAT })}\n`;
}

export interface ScanOptions {
  readonly task: string;
  /**
   * Returns the text of a blob, or throws if the blob is lost. Without this function, events contain blob references
   * instead of large strings.
   */
  readonly getBlob?: (hash: string) => string;
}

/**
 * Scans the lines of a log in order, and separates valid lines from damaged lines and from lines of former owners. Each
 * process that takes over a log writes with a higher epoch, so a line with a lower epoch is from a former owner.
 */
export class LogScanner {
  readonly #options: ScanOptions;
  readonly #problems: LogProblem[] = [];
  /** Damaged lines after the last event. The number of the next event shows which events are lost. */
  #damagedLines: DamagedLine[] = [];
  #unlistedProblems = 0;
  #line = 0;
  #lastSeq = -1;
  #epoch = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /**
   * The problems of the lines so far, in order. Damaged lines after the last event are described as if the log ended
   * after them.
   */
  get problems(): readonly LogProblem[] {
    const all = [...this.#problems, ...this.#getProblemsAtEnd()];
    const problems = all.toSorted((a, b) => a.line - b.line);
    if (this.#unlistedProblems === 0) return problems;
    const message = `${this.#unlistedProblems} more problems up to this line are not listed`;
    return [...problems, { code: 'damaged', line: this.#line, message }];
  }

  /** The smallest seq that the next event may have. */
  get nextSeq(): number {
    return this.#lastSeq + 1;
  }

  /** The highest epoch so far; 0 before the first event. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Returns the event on the next line, `header` for the header, or `damaged` for a line that must be skipped, because
   * it is damaged or a former owner wrote it. `bytes` is undefined for a line that is too long. Throws MusterError if a
   * newer version of Muster wrote the log.
   */
  scanLine(bytes: Buffer | undefined): TaskEvent | 'header' | 'damaged' {
    this.#line += 1;
    if (bytes === undefined) {
      return this.#addDamagedLine(`is longer than ${MAX_LINE_BYTES} bytes`, bytes);
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
      return this.#addDamagedLine(describeFault(bytes, value), bytes);
    }
    return this.#acceptEvent(upgraded) ? this.#decode(upgraded, line) : 'damaged';
  }

  /** Reports the bytes after the last newline: a line that was never completed. */
  addTornTail(bytes: number): void {
    this.#flushDamagedLines(this.#getProblemsAtEnd());
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
   * Accepts an event as the next event, and reports the events that are missing before it. Returns false if the event
   * must be skipped, because it repeats a number or because it is fenced: a former owner of the log wrote it.
   */
  #acceptEvent(event: TaskEvent): boolean {
    if (event.epoch < this.#epoch) {
      const message =
        'the line was written by a process that no longer owned the log: it is ignored, and no event is lost';
      this.#addProblem('fenced', message);
      return false;
    }
    if (event.seq <= this.#lastSeq) {
      this.#addDamagedLine(`repeats event ${event.seq}`, undefined);
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

  /** Adds the current line to the damaged lines. `fault` is the end of a sentence that begins with "the line". */
  #addDamagedLine(fault: string, bytes: Buffer | undefined): 'damaged' {
    if (this.#problems.length + this.#damagedLines.length < MAX_PROBLEMS) {
      this.#damagedLines.push({ line: this.#line, fault, type: readDamagedType(bytes) });
    } else {
      this.#unlistedProblems += 1;
    }
    return 'damaged';
  }

  /** Reports the events that are missing before event `seq`, which is the next one in the log. */
  #reportMissingEvents(seq: number): void {
    const from = this.nextSeq;
    const lost = seq > from ? { from, to: seq - 1 } : null;
    if (this.#damagedLines.length > 0)
      this.#flushDamagedLines(toProblems(this.#damagedLines, lost));
    else if (lost !== null) this.#addProblem('missing', describeMissingEvents(lost));
  }

  /** Describes the damaged lines after the last event. All later events may be lost. */
  #getProblemsAtEnd(): readonly LogProblem[] {
    return toProblems(this.#damagedLines, { from: this.nextSeq, to: null });
  }

  /** Adds the problems of the damaged lines, and begins a new list of damaged lines. */
  #flushDamagedLines(problems: readonly LogProblem[]): void {
    this.#problems.push(...problems);
    this.#damagedLines = [];
  }

  #addProblem(code: LogProblem['code'], message: string): void {
    if (this.#problems.length < MAX_PROBLEMS) {
      this.#problems.push({ code, line: this.#line, message });
    } else {
      this.#unlistedProblems += 1;
    }
  }
}

/** Describes damaged lines. `lost` are the events that were on these lines; null if no event is missing. */
function toProblems(lines: readonly DamagedLine[], lost: SeqRange | null): readonly LogProblem[] {
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
    ? 'the first event, with the specification of the task, is lost'
    : `any events after event ${seq} are lost`;
}

/** A line of a log that cannot be read as an event. The number of the next event shows which events are lost. */
interface DamagedLine {
  /** Line number from 1, including the header. */
  readonly line: number;
  /** The fault, as the end of a sentence that begins with "the line". */
  readonly fault: string;
  /** The event type that can still be read in the line; null if no type can be read. */
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
const EVENT_TYPE = /"type":\s*"([a-z._]{1,40})"/;

/** Reads the event type in a damaged line; null if it is not readable. */
function readDamagedType(bytes: Buffer | undefined): string | null {
  const [, type] = EVENT_TYPE.exec(bytes?.toString('latin1', 0, SEARCHED_BYTES) ?? '') ?? [];
  return type !== undefined && isEventType(type) ? type : null;
}

/**
 * Describes consecutive damaged lines, one message for each line, with the lost events. `lost` is null if the
 * events before and after these lines have consecutive numbers.
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
        : 'the message about the damaged line before it names the lost events';
    return `the line ${truncate(fault, 200)}: ${loss}`;
  });
}

/** Describes missing events if the log has no damaged line in their place. */
function describeMissingEvents(lost: SeqRange): string {
  return `a line is missing before this one: ${describeLoss(lost, null)}`;
}

function describeLoss(lost: SeqRange | null, type: string | null): string {
  if (lost === null) return 'no event is lost';
  const { from, to } = lost;
  if (from === 0) {
    return `${formatRange(from, to)} lost, with the specification (task.created) of the task`;
  }
  if (to === null) return `any events after event ${from - 1} are lost${formatType(type)}`;
  return `${formatRange(from, to)} lost${formatType(from === to ? type : null)}`;
}

function formatRange(from: number, to: number | null): string {
  return to === null || from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}

function formatType(type: string | null): string {
  return type === null ? '' : ` (${type})`;
}
