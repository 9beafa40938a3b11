import { dropMissing } from '../base/drop-missing.ts';
import { steadyTime } from '../protocol/state/steady-time.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { TaskLog } from '../store/task-store.ts';
import { isExternalEvent } from './epochs.ts';
import { isLowerCapFailure } from '../engine/turn/request.ts';
import { type RerunDifference, compareEvents, explainDifference } from './difference.ts';

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
  difference: RerunDifference | null = null;
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
