import { truncate } from '../../base/text.ts';
import { isEventType } from './validate-event.ts';

/** A line of a log that is no event, until it is known which events are missing around it. */
export interface DamagedLine {
  /** Line number from 1; the header counts. */
  readonly line: number;
  /** The fault, as the end of a sentence that begins with "the line". */
  readonly fault: string;
  /** The event type that can still be read in it; null: none. */
  readonly type: string | null;
}

/** Numbers of events, both included. */
export interface SeqRange {
  readonly from: number;
  /** The last lost event; null if all to the end of the log may be lost. */
  readonly to: number | null;
}

/** Bytes of a damaged line in which its type is looked for: it stands near the beginning. */
const LOOKED_AT = 1000;
const TYPE = /"type":\s*"([a-z._]{1,40})"/;

/** The type of event that a damaged line held, as far as it can be read. */
export function readDamagedType(bytes: Buffer | undefined): string | null {
  const [, type] = TYPE.exec(bytes?.toString('latin1', 0, LOOKED_AT) ?? '') ?? [];
  return type !== undefined && isEventType(type) ? type : null;
}

/**
 * One message for each of the damaged lines that stand together, with the events that are missing there.
 * `gap` is null where the numbers of the events before and after them leave none out.
 */
export function describeDamagedLines(
  lines: readonly DamagedLine[],
  gap: SeqRange | null,
): readonly string[] {
  const isOneEach = gap !== null && gap.to !== null && gap.to - gap.from + 1 === lines.length;
  return lines.map(({ fault, type }, index) => {
    const loss = isOneEach
      ? lostEvents({ from: gap.from + index, to: gap.from + index }, type)
      : index === 0 || gap === null
        ? lostEvents(gap, type)
        : 'see the damaged line before it for the events that are lost';
    return `the line ${truncate(fault, 200)}: ${loss}`;
  });
}

/** The message where events are missing and nothing stands in their place. */
export function describeMissingEvents(gap: SeqRange): string {
  return `a line is missing before this one: ${lostEvents(gap, null)}`;
}

function lostEvents(gap: SeqRange | null, type: string | null): string {
  if (gap === null) return 'no event is lost';
  const { from, to } = gap;
  if (from === 0)
    return `${numbers(from, to)} lost, with the specification (task.created) of the task`;
  if (to === null) return `what it held after event ${from - 1} is lost${named(type)}`;
  return `${numbers(from, to)} lost${named(from === to ? type : null)}`;
}

function numbers(from: number, to: number | null): string {
  return to === null || from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}

function named(type: string | null): string {
  return type === null ? '' : ` (${type})`;
}
