import { truncate } from '../base/text.ts';
import { LogFold } from '../engine/task/fold-log.ts';
import { stripStamp } from '../protocol/events/event-body.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import { isDeepStrictEqual } from 'node:util';
import { type RequestPart, findAddedParts } from '../engine/turn/request.ts';

/** Maximum length of a shown value, in code points. */
const SHOWN_VALUE = 80;
const MAX_FIELDS = 5;

/** The first event at which a rerun differs from its log. */
export interface Difference {
  readonly task: string;
  /** The number of the event. */
  readonly seq: number;
  /** Its type in the log, or null if the log has ended. */
  readonly type: string | null;
  /** The differences, a line each. */
  readonly lines: readonly string[];
}

/** Compares an event with the one in the log and returns a line for each field that differs. */
export function differingFields(made: EventBody, logged: TaskEvent): readonly string[] {
  const body = stripStamp(logged);
  const before = asLogged(body);
  const after = asLogged(made);
  if (isDeepStrictEqual(before, after)) return [];
  if (made.type !== logged.type) return [`the log has ${logged.type}, the rerun ${made.type}`];
  const lines = fieldsBetween('', before, after);
  const more = lines.length - MAX_FIELDS;
  return more <= 0 ? lines : [...lines.slice(0, MAX_FIELDS), `and ${more} more fields`];
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

/** Shows a text from shortly before the point where it differs from the other one. */
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

/** Returns an event as the log would have it. */
function asLogged(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}

/**
 * Finds the event of the log that explains why a request differs from the one that was sent. Returns null if the
 * events differ in another way.
 */
export function explainDifference(
  made: EventBody,
  logged: TaskEvent,
  whole: readonly TaskEvent[],
): readonly string[] | null {
  if (made.type !== 'turn.accepted' || logged.type !== 'turn.accepted') return null;
  const sent = logged.added ?? [];
  const now = made.added ?? [];
  if (isDeepStrictEqual(sent, now) || sent.length !== now.length) return null;
  const parts = partsBefore(logged, whole);
  return now.flatMap((digest, index) => {
    const part = parts[index];
    if (digest === sent[index] || part === undefined) return [];
    return [
      `the request of turn ${made.turn} would hold something else: ${whatOf(part, logged, whole)}`,
    ];
  });
}

function partsBefore({ seq }: TaskEvent, whole: readonly TaskEvent[]): readonly RequestPart[] {
  const fold = new LogFold((visit) => whole.forEach((event) => visit(event)));
  for (const event of whole) if (event.seq < seq) fold.add(event);
  return findAddedParts(fold.state?.conversation.messages ?? []);
}

function whatOf(part: RequestPart, { seq }: TaskEvent, whole: readonly TaskEvent[]): string {
  const before = whole.filter((event) => event.seq < seq);
  if (part.type === 'tool_result') {
    const outcome = before.findLast(
      (event) =>
        (event.type === 'call.ended' || event.type === 'call.refused') &&
        event.callId === part.callId,
    );
    return `the outcome of call ${part.callId} (${part.name}) is not the one of then (event ${outcome?.seq ?? '?'})`;
  }
  if (part.type === 'text' && before.some((event) => saysText(event, part.text))) {
    const said = before.findLast((event) => saysText(event, part.text));
    return `a message to the task is not the one of then (event ${said?.seq ?? '?'})`;
  }
  const answer = before.findLast(({ type }) => type === 'turn.ended');
  return `the model's answer, or a note next to it, is not the one of then (event ${answer?.seq ?? '?'})`;
}

function saysText(event: TaskEvent, text: string): boolean {
  if (event.type === 'task.created') {
    return event.spec.prompt === text || event.spec.given?.text === text;
  }
  if (event.type === 'context.handed') return event.text === text;
  return event.type === 'input.queued' && event.input.text === text;
}
