import { isDeepStrictEqual } from 'node:util';
import { dropMissing } from '../base/drop-missing.ts';
import { steadyTime } from '../protocol/state/steady-time.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { TaskLog } from '../store/task-store.ts';
import { isExternalEvent } from './epochs.ts';
import { isLowerCapFailure, type RequestPart, findAddedParts } from '../engine/turn/request.ts';
import { truncate } from '../base/text.ts';
import { LogFold } from '../engine/task/fold-log.ts';
import { stripStamp } from '../protocol/events/event-body.ts';

/** Thrown at a rerun that writes an event that its log does not have, so that it stops. */
class LogDiverged extends Error {}

/** The log that a rerun of an epoch writes to. It accepts only the next event of the log and records a difference. */
export class RerunLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[] = [];
  difference: Difference | null = null;
  private readonly allEvents: readonly TaskEvent[];
  private readonly events: readonly TaskEvent[];
  private at = 0;
  private isGiving = false;

  /** `allEvents` are those of the full log, `events` those of the epoch. */
  constructor(id: string, allEvents: readonly TaskEvent[], events: readonly TaskEvent[]) {
    this.id = id;
    this.allEvents = allEvents;
    this.events = events;
    this.epoch = events[0]?.epoch ?? 1;
  }

  /** Returns the next event, or the one `ahead` after it; undefined at the end of the epoch. */
  next(ahead = 0): TaskEvent | undefined {
    return this.events[this.at + ahead];
  }

  /** Finds the next event that passes a test. */
  find(test: (event: TaskEvent) => boolean): TaskEvent | undefined {
    for (let ahead = 0; ; ahead += 1) {
      const event = this.next(ahead);
      if (event === undefined || test(event)) return event;
    }
  }

  /** Returns the wall-clock time of the next event, in milliseconds. */
  now(): number {
    return this.nearest()?.ts ?? 0;
  }

  /** Returns the steady time of the next event, in milliseconds; 0 for an empty log. */
  monotonic(): number {
    const event = this.nearest();
    return event === undefined ? 0 : steadyTime(event);
  }

  get isOver(): boolean {
    return this.difference !== null || this.next() === undefined;
  }

  /** The number of the newest event. */
  get position(): number {
    return (this.next()?.seq ?? this.allEvents.length) - 1;
  }

  /** Runs `record`, which writes external events: they are accepted without comparison. */
  giving(record: () => void): void {
    this.isGiving = true;
    try {
      record();
    } finally {
      this.isGiving = false;
    }
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.difference !== null) throw new LogDiverged();
    if (this.isGiving) return this.take(bodies.length);
    const taken: TaskEvent[] = [];
    for (const body of bodies) taken.push(...this.takeAs(body));
    return taken;
  }

  /** Records a difference from the next event of the log, unless there is one already. */
  fail(...lines: readonly string[]): void {
    const logged = this.next();
    if (this.difference !== null || logged === undefined) return;
    const { task, seq, type } = logged;
    this.difference = { task, seq, type, lines };
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}

  private takeAs(body: EventBody): readonly TaskEvent[] {
    const outside: TaskEvent[] = [];
    for (;;) {
      const logged = this.next();
      // The process died here, so the log has nothing to compare with.
      if (logged === undefined) throw new LogDiverged();
      const lines = differingFields(withLoggedValues(body, logged), logged);
      if (lines.length === 0) return [...outside, ...this.take(1)];
      if (!isExternalEvent(logged)) {
        this.fail(...(explainDifference(body, logged, this.allEvents) ?? lines));
        throw new LogDiverged();
      }
      // The external event came after this was decided and before it was written.
      outside.push(...this.take(1));
    }
  }

  private nearest(): TaskEvent | undefined {
    return this.next() ?? this.events.at(-1) ?? this.allEvents.at(-1);
  }

  private take(count: number): readonly TaskEvent[] {
    const taken = this.events.slice(this.at, this.at + count);
    this.at += taken.length;
    return taken;
  }
}

/**
 * Completes an event of a rerun with the logged values that can't be produced again: random ones (nonces, ids of
 * notices, the wait before a retry), durations (`ms`), and costs, which depend on the prices of that day.
 */
function withLoggedValues(made: EventBody, logged: TaskEvent): EventBody {
  switch (made.type) {
    case 'call.ended':
      if (logged.type !== 'call.ended') return made;
      return {
        ...made,
        ms: logged.ms,
        ...(made.nonce === undefined || logged.nonce === undefined ? {} : { nonce: logged.nonce }),
      };
    case 'turn.ended':
      if (logged.type !== 'turn.ended') return made;
      return withLoggedCost(made, logged);
    case 'context.summarised':
      if (logged.type !== 'context.summarised') return made;
      return {
        ...withLoggedCost(made, logged),
        ...(made.nonce === undefined || logged.nonce === undefined ? {} : { nonce: logged.nonce }),
        size: logged.size,
      };
    case 'summary.refused':
      if (logged.type !== 'summary.refused') return made;
      return withLoggedCost(made, logged);
    case 'turn.retried':
      if (logged.type !== 'turn.retried') return made;
      return { ...withoutPrices(made), waitMs: logged.waitMs, ...brokenPrices(logged) };
    case 'turn.failed':
      if (logged.type !== 'turn.failed') return made;
      return {
        ...withoutPrices(made),
        ...brokenPrices(logged),
        // The failure depends on what other tasks of the tree had used by then.
        ...(isLowerCapFailure(made) && isLowerCapFailure(logged) && { failure: logged.failure }),
      };
    case 'task.started': {
      if (logged.type !== 'task.started' || logged.settings !== undefined) return made;
      return { type: made.type };
    }
    case 'turn.accepted': {
      // An older log does not have this field, so there is nothing to compare the request with.
      if (logged.type !== 'turn.accepted' || logged.added !== undefined) return made;
      const { added: _, ...rest } = made;
      return rest;
    }
    case 'input.queued': {
      if (logged.type !== 'input.queued' || !isDrawn(made.input.id)) return made;
      return { ...made, input: { ...made.input, id: logged.input.id } };
    }
    default:
      return made;
  }
}

type Answered = Extract<
  EventBody,
  { type: 'turn.ended' | 'context.summarised' | 'summary.refused' }
>;
type Unanswered = Extract<EventBody, { type: 'turn.retried' | 'turn.failed' }>;
type Priced = Answered | Unanswered;

/** Takes the duration and the cost of an answer from the log. */
function withLoggedCost<E extends Answered>(made: E, logged: Answered) {
  const { ms, costUsd } = logged;
  return { ...withoutPrices(made), ms, costUsd, ...pricesOf(logged) };
}

function withoutPrices<E extends Priced>(event: E): Omit<E, 'pricedBy' | 'estimated'> {
  const { pricedBy: _, estimated: _estimated, ...rest } = event;
  return rest;
}

function pricesOf({ pricedBy, estimated }: Priced) {
  return dropMissing({ pricedBy, estimated });
}

/** Returns the logged prices of a failed answer, of which the log may have none. */
function brokenPrices(logged: Unanswered) {
  const { model, costUsd } = logged;
  // Null means that the cost is unknown, which the log records.
  const cost = costUsd === undefined ? {} : { costUsd };
  return { ...dropMissing({ model }), ...cost, ...pricesOf(logged) };
}

/** Returns true for an id that was drawn at random by `newId`. */
function isDrawn(id: string): boolean {
  return /^[a-z0-9]{12}$/.test(id);
}

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
function explainDifference(
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
