import { isDeepStrictEqual } from 'node:util';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import { type RequestPart, findAddedParts } from '../engine/turn/request.ts';
import { truncate } from '../base/text.ts';
import { LogFold } from '../engine/task/fold-log.ts';
import { stripStamp } from '../protocol/events/event-body.ts';

/** The maximum length of a value in a message, in code points. */
const MAX_SHOWN_VALUE = 80;
/** The maximum number of differing fields that are listed. */
const MAX_FIELDS = 5;

/** The first event at which a rerun differs from its log. */
export interface RerunDifference {
  /** The id of the task. */
  readonly task: string;
  /** The number of the event. */
  readonly seq: number;
  /** The type of the event in the log, or null if the log has ended. */
  readonly type: string | null;
  /** One line for each difference. */
  readonly lines: readonly string[];
}

/** Compares an event of a rerun with the event in the log. Returns a line for each field that differs. */
export function compareEvents(event: EventBody, logged: TaskEvent): readonly string[] {
  const body = stripStamp(logged);
  const before = toLoggedForm(body);
  const after = toLoggedForm(event);
  if (isDeepStrictEqual(before, after)) return [];
  if (event.type !== logged.type) return [`the log has ${logged.type}, the rerun ${event.type}`];
  const lines = compareFields('', before, after);
  const more = lines.length - MAX_FIELDS;
  return more <= 0 ? lines : [...lines.slice(0, MAX_FIELDS), `and ${more} more fields`];
}

function compareFields(path: string, before: unknown, after: unknown): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      compareFields(path === '' ? key : `${path}.${key}`, before[key], after[key]),
    );
  }
  return [
    `${path}: the log has ${formatFromDifference(before, after)}, the rerun ${formatFromDifference(after, before)}`,
  ];
}

/** Formats a value. A text is shown from shortly before the point where it differs from the other text. */
function formatFromDifference(value: unknown, other: unknown): string {
  if (typeof value !== 'string' || typeof other !== 'string') return formatValue(value);
  let same = 0;
  while (same < value.length && value[same] === other[same]) same += 1;
  const from = Math.max(0, same - 10);
  return `${from === 0 ? '' : '…'}${formatValue(value.slice(from))}`;
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  const shown = truncate(text, MAX_SHOWN_VALUE);
  return shown.length < text.length ? `${shown}…` : shown;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns an event in the form that it has after it was written and read. */
function toLoggedForm(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}

/**
 * Finds the events of the log that explain why a request differs from the one that was sent. Returns null if the
 * events differ in another way.
 */
export function explainDifference(
  event: EventBody,
  logged: TaskEvent,
  allEvents: readonly TaskEvent[],
): readonly string[] | null {
  if (event.type !== 'turn.accepted' || logged.type !== 'turn.accepted') return null;
  const sent = logged.added ?? [];
  const now = event.added ?? [];
  if (isDeepStrictEqual(sent, now) || sent.length !== now.length) return null;
  const parts = findPartsBefore(logged, allEvents);
  return now.flatMap((digest, index) => {
    const part = parts[index];
    if (digest === sent[index] || part === undefined) return [];
    return [
      `the request of turn ${event.turn} would contain something else: ${describePart(part, logged, allEvents)}`,
    ];
  });
}

function findPartsBefore(
  { seq }: TaskEvent,
  allEvents: readonly TaskEvent[],
): readonly RequestPart[] {
  const fold = new LogFold((visit) => allEvents.forEach((event) => visit(event)));
  for (const event of allEvents) if (event.seq < seq) fold.add(event);
  return findAddedParts(fold.state?.conversation.messages ?? []);
}

function describePart(
  part: RequestPart,
  { seq }: TaskEvent,
  allEvents: readonly TaskEvent[],
): string {
  const before = allEvents.filter((event) => event.seq < seq);
  if (part.type === 'tool_result') {
    const outcome = before.findLast(
      (event) =>
        (event.type === 'call.ended' || event.type === 'call.refused') &&
        event.callId === part.callId,
    );
    return `the outcome of call ${part.callId} (${part.name}) has changed since it was sent (event ${outcome?.seq ?? '?'})`;
  }
  if (part.type === 'text' && before.some((event) => containsText(event, part.text))) {
    const source = before.findLast((event) => containsText(event, part.text));
    return `a message to the task has changed since it was sent (event ${source?.seq ?? '?'})`;
  }
  const answer = before.findLast(({ type }) => type === 'turn.ended');
  return `the model's answer, or a note next to it, has changed since it was sent (event ${answer?.seq ?? '?'})`;
}

function containsText(event: TaskEvent, text: string): boolean {
  if (event.type === 'task.created') {
    return event.spec.prompt === text || event.spec.given?.text === text;
  }
  if (event.type === 'context.handed') return event.text === text;
  return event.type === 'input.queued' && event.input.text === text;
}
