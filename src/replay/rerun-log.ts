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

/** The error with which a rerun is stopped when it writes an event that differs from its log. */
class LogDiverged extends Error {}

/**
 * The log to which a rerun of an epoch writes. It compares each written event with the next event of the real log,
 * and records the first difference.
 */
export class RerunLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[] = [];
  difference: Difference | null = null;
  private readonly allEvents: readonly TaskEvent[];
  private readonly events: readonly TaskEvent[];
  private index = 0;
  private acceptsAll = false;

  /**
   * @param allEvents the events of the full log
   * @param events the events of the epoch
   */
  constructor(id: string, allEvents: readonly TaskEvent[], events: readonly TaskEvent[]) {
    this.id = id;
    this.allEvents = allEvents;
    this.events = events;
    this.epoch = events[0]?.epoch ?? 1;
  }

  /** Returns the next event, or the event `ahead` positions after it; undefined after the end of the epoch. */
  next(ahead = 0): TaskEvent | undefined {
    return this.events[this.index + ahead];
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
    return this.findNearest()?.ts ?? 0;
  }

  /** Returns the steady time of the next event, in milliseconds; 0 for an empty log. */
  monotonic(): number {
    const event = this.findNearest();
    return event === undefined ? 0 : steadyTime(event);
  }

  get isOver(): boolean {
    return this.difference !== null || this.next() === undefined;
  }

  /** The number of the newest event that was written. */
  get position(): number {
    return (this.next()?.seq ?? this.allEvents.length) - 1;
  }

  /** Runs `record`, which writes external events. They are accepted without comparison. */
  acceptAllDuring(record: () => void): void {
    this.acceptsAll = true;
    try {
      record();
    } finally {
      this.acceptsAll = false;
    }
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.difference !== null) throw new LogDiverged();
    if (this.acceptsAll) return this.takeLogged(bodies.length);
    const taken: TaskEvent[] = [];
    for (const body of bodies) taken.push(...this.takeMatching(body));
    return taken;
  }

  /** Records a difference from the next event of the log, unless a difference was recorded before. */
  recordDifference(...lines: readonly string[]): void {
    const logged = this.next();
    if (this.difference !== null || logged === undefined) return;
    const { task, seq, type } = logged;
    this.difference = { task, seq, type, lines };
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}

  private takeMatching(body: EventBody): readonly TaskEvent[] {
    const outside: TaskEvent[] = [];
    for (;;) {
      const logged = this.next();
      // The process died at this point, so the log contains nothing to compare with.
      if (logged === undefined) throw new LogDiverged();
      const lines = compareEvents(withLoggedValues(body, logged), logged);
      if (lines.length === 0) return [...outside, ...this.takeLogged(1)];
      if (!isExternalEvent(logged)) {
        this.recordDifference(...(explainDifference(body, logged, this.allEvents) ?? lines));
        throw new LogDiverged();
      }
      // The external event came after the loop had decided to write `body` and before it was written.
      outside.push(...this.takeLogged(1));
    }
  }

  private findNearest(): TaskEvent | undefined {
    return this.next() ?? this.events.at(-1) ?? this.allEvents.at(-1);
  }

  private takeLogged(count: number): readonly TaskEvent[] {
    const taken = this.events.slice(this.index, this.index + count);
    this.index += taken.length;
    return taken;
  }
}

/**
 * Replaces values in an event of a rerun that can't be produced again by the logged ones: random values (nonces, ids
 * of notices, the wait before a retry), durations (`ms`), and costs, which depend on the prices of that day.
 */
function withLoggedValues(event: EventBody, logged: TaskEvent): EventBody {
  switch (event.type) {
    case 'call.ended':
      if (logged.type !== 'call.ended') return event;
      return {
        ...event,
        ms: logged.ms,
        ...(event.nonce === undefined || logged.nonce === undefined ? {} : { nonce: logged.nonce }),
      };
    case 'turn.ended':
      if (logged.type !== 'turn.ended') return event;
      return withLoggedCost(event, logged);
    case 'context.summarised':
      if (logged.type !== 'context.summarised') return event;
      return {
        ...withLoggedCost(event, logged),
        ...(event.nonce === undefined || logged.nonce === undefined ? {} : { nonce: logged.nonce }),
        size: logged.size,
      };
    case 'summary.refused':
      if (logged.type !== 'summary.refused') return event;
      return withLoggedCost(event, logged);
    case 'turn.retried':
      if (logged.type !== 'turn.retried') return event;
      return { ...removePrices(event), waitMs: logged.waitMs, ...failurePrices(logged) };
    case 'turn.failed':
      if (logged.type !== 'turn.failed') return event;
      return {
        ...removePrices(event),
        ...failurePrices(logged),
        // The failure depends on the budget that other tasks of the tree had used.
        ...(isLowerCapFailure(event) && isLowerCapFailure(logged) && { failure: logged.failure }),
      };
    case 'task.started': {
      if (logged.type !== 'task.started' || logged.settings !== undefined) return event;
      return { type: event.type };
    }
    case 'turn.accepted': {
      // A log of an older version does not have this field, so there is nothing to compare with.
      if (logged.type !== 'turn.accepted' || logged.added !== undefined) return event;
      const { added: _, ...rest } = event;
      return rest;
    }
    case 'input.queued': {
      if (logged.type !== 'input.queued' || !isRandomId(event.input.id)) return event;
      return { ...event, input: { ...event.input, id: logged.input.id } };
    }
    default:
      return event;
  }
}

type Answered = Extract<
  EventBody,
  { type: 'turn.ended' | 'context.summarised' | 'summary.refused' }
>;
type Unanswered = Extract<EventBody, { type: 'turn.retried' | 'turn.failed' }>;
type Priced = Answered | Unanswered;

/** Takes the duration and the cost of an answer from the log. */
function withLoggedCost<E extends Answered>(event: E, logged: Answered) {
  const { ms, costUsd } = logged;
  return { ...removePrices(event), ms, costUsd, ...selectPrices(logged) };
}

function removePrices<E extends Priced>(event: E): Omit<E, 'pricedBy' | 'estimated'> {
  const { pricedBy: _, estimated: _estimated, ...rest } = event;
  return rest;
}

function selectPrices({ pricedBy, estimated }: Priced) {
  return dropMissing({ pricedBy, estimated });
}

/** Returns the logged prices of a failed answer, if the log contains them. */
function failurePrices(logged: Unanswered) {
  const { model, costUsd } = logged;
  // A logged null means that the cost is unknown, so only an undefined cost is left out.
  const cost = costUsd === undefined ? {} : { costUsd };
  return { ...dropMissing({ model }), ...cost, ...selectPrices(logged) };
}

/** Returns true for an id that was drawn at random by `newId`. */
function isRandomId(id: string): boolean {
  return /^[a-z0-9]{12}$/.test(id);
}

/** The maximum length of a value in a message, in code points. */
const MAX_SHOWN_VALUE = 80;
/** The maximum number of differing fields that are listed. */
const MAX_FIELDS = 5;

/** The first event at which a rerun differs from its log. */
export interface Difference {
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
function explainDifference(
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
