import { stripStamp } from '../protocol/events/event-body.ts';
import { isDeepStrictEqual } from 'node:util';
import { truncate } from '../base/text.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';

/** Code points of a value that are shown. */
const SHOWN_VALUE = 80;
const MOST_FIELDS = 5;

/** Where a rerun leaves its log. */
export interface Difference {
  readonly task: string;
  /** The number of the event. */
  readonly seq: number;
  /** Its type in the log; null: the log has ended. */
  readonly type: string | null;
  /** In what, a line each. */
  readonly lines: readonly string[];
}

/** How an event would differ from the one in the log, a line a field; empty: it is the same. */
export function differingFields(made: EventBody, logged: TaskEvent): readonly string[] {
  const body = stripStamp(logged);
  const before = overJson(body);
  const after = overJson(made);
  if (isDeepStrictEqual(before, after)) return [];
  if (made.type !== logged.type) return [`the log has ${logged.type}, the rerun ${made.type}`];
  const lines = fieldsBetween('', before, after);
  const more = lines.length - MOST_FIELDS;
  return more <= 0 ? lines : [...lines.slice(0, MOST_FIELDS), `and ${more} more fields`];
}

function fieldsBetween(path: string, before: unknown, after: unknown): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      fieldsBetween(path === '' ? key : `${path}.${key}`, before[key], after[key]),
    );
  }
  return [
    `${path}: the log has ${shownValue(before, after)}, the rerun ${shownValue(after, before)}`,
  ];
}

/** From where two texts part: what they share says nothing. */
function shownValue(value: unknown, other: unknown): string {
  if (typeof value !== 'string' || typeof other !== 'string') return brief(value);
  let same = 0;
  while (same < value.length && value[same] === other[same]) same += 1;
  const from = Math.max(0, same - 10);
  return `${from === 0 ? '' : '…'}${brief(value.slice(from))}`;
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  const shown = truncate(text, SHOWN_VALUE);
  return shown.length < text.length ? `${shown}…` : shown;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** As it would stand in the log. */
function overJson(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}
