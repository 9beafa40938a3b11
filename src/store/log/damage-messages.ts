import { truncate } from '../../base/text.ts';
import { isEventType } from './validate-event.ts';

/** A line of a log that is no event. The events that it held are known when the next event has been read. */
export interface DamagedLine {
  /** Line number from 1, including the header. */
  readonly line: number;
  /** The fault, as the end of a sentence that begins with "the line". */
  readonly fault: string;
  /** The event type that can still be read in the line; null if none. */
  readonly type: string | null;
}

/** Sequence numbers of consecutive events, including both ends. */
export interface SeqRange {
  readonly from: number;
  /** The last event; null if all events to the end of the log may be lost. */
  readonly to: number | null;
}

/** Bytes of a damaged line that are searched for its type, which is near the beginning. */
const SEARCHED_BYTES = 1000;
const TYPE = /"type":\s*"([a-z._]{1,40})"/;

/** Reads the event type in a damaged line; null if it is not readable. */
export function readDamagedType(bytes: Buffer | undefined): string | null {
  const [, type] = TYPE.exec(bytes?.toString('latin1', 0, SEARCHED_BYTES) ?? '') ?? [];
  return type !== undefined && isEventType(type) ? type : null;
}

/**
 * Describes consecutive damaged lines, one message for each line, with the events that are missing there. `lost` is null
 * if the events before and after them have consecutive numbers.
 */
export function describeDamagedLines(
  lines: readonly DamagedLine[],
  lost: SeqRange | null,
): readonly string[] {
  const isOneEach = lost !== null && lost.to !== null && lost.to - lost.from + 1 === lines.length;
  return lines.map(({ fault, type }, index) => {
    const loss = isOneEach
      ? describeLoss({ from: lost.from + index, to: lost.from + index }, type)
      : index === 0 || lost === null
        ? describeLoss(lost, type)
        : 'see the damaged line before it for the events that are lost';
    return `the line ${truncate(fault, 200)}: ${loss}`;
  });
}

/** Describes events that are missing without a damaged line in their place. */
export function describeMissingEvents(lost: SeqRange): string {
  return `a line is missing before this one: ${describeLoss(lost, null)}`;
}

function describeLoss(lost: SeqRange | null, type: string | null): string {
  if (lost === null) return 'no event is lost';
  const { from, to } = lost;
  if (from === 0) {
    return `${formatRange(from, to)} lost, with the specification (task.created) of the task`;
  }
  if (to === null) return `what it held after event ${from - 1} is lost${formatType(type)}`;
  return `${formatRange(from, to)} lost${formatType(from === to ? type : null)}`;
}

function formatRange(from: number, to: number | null): string {
  return to === null || from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}

function formatType(type: string | null): string {
  return type === null ? '' : ` (${type})`;
}
