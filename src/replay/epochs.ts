import { isDeepStrictEqual } from 'node:util';
import { unescapeTags } from '../base/control-tags.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { TREE_TIME_LIMIT } from '../protocol/limits.ts';
import { limitMessage } from '../engine/limits/limit-message.ts';
import type { StopOrder } from '../engine/task/stop-order.ts';

/** The events that one owner of a log wrote: from its claim until it ended the task, parked the task or died. */
export interface Epoch {
  /** The number of events in the log before this epoch, including the claim. */
  readonly eventsBefore: number;
  readonly events: readonly TaskEvent[];
  /** The stop order that the task got in this epoch, or null. */
  readonly stop: EpochStop | null;
}

/**
 * The moment of a stop order. `at_once`: before the loop starts its next step. `when_quiet`: while a step runs or
 * waits. `when_asked`: while a model answers a request.
 */
type StopMoment = 'at_once' | 'when_quiet' | 'when_asked';

/** A stop order that a task got in an epoch. */
export interface EpochStop {
  readonly order: StopOrder;
  /** True if a process of the task had to be killed. */
  readonly forced: boolean;
  /**
   * The number of the last event that a task would not have written after a stop order. The order came after this
   * event and, as far as the log tells, right after it.
   */
  readonly afterSeq: number;
  readonly when: StopMoment;
}

/** Splits a log into the epochs of its owners, in order. */
export function splitIntoEpochs(events: readonly TaskEvent[]): readonly Epoch[] {
  const claims = events.flatMap(({ type }, index) => (type === 'task.claimed' ? [index] : []));
  // A log of a version without claims has one epoch, which begins after the first event.
  const starts = claims.length === 0 ? [0] : claims;
  const [created] = events;
  const timeLimits = events.flatMap((event) =>
    event.type === 'limit.reached' && isExternalEvent(event) ? [limitMessage(event)] : [],
  );
  const isBranch = created?.type === 'task.created' && created.spec.branchedFrom !== undefined;
  const epochs = starts.map((claim, index): Epoch => {
    const epochEvents = events.slice(claim + 1, starts[index + 1]);
    return {
      eventsBefore: claim + 1,
      events: epochEvents,
      stop: findStop(epochEvents, timeLimits),
    };
  });
  // The first epoch of a branch was copied from another log.
  return isBranch ? epochs.slice(1) : epochs;
}

/** @param timeLimits the messages with which the log records that the time of the tree was used up */
function findStop(events: readonly TaskEvent[], timeLimits: readonly string[]): EpochStop | null {
  const stopOrder = findStopOrder(events, timeLimits);
  if (stopOrder === null) return null;
  const interruption = findInterruption(events);
  const { reason } = stopOrder.order;
  const last = events.findLast(
    (event) =>
      !mayFollowStop(event) ||
      isClosedByInterruption(event, interruption) ||
      (hasReason(event, timeLimits) && !hasReason(event, [reason])),
  );
  return { ...stopOrder, afterSeq: last?.seq ?? -1, when: findStopMoment(last, events) };
}

/** Returns true if a call was closed for one of these reasons. */
function hasReason(event: TaskEvent, reasons: readonly string[]): boolean {
  if (event.type !== 'call.ended' && event.type !== 'call.refused') return false;
  const text = unescapeTags(event.text);
  return event.error === 'CANCELLED' && reasons.some((reason) => text.includes(reason));
}

function findStopOrder(
  events: readonly TaskEvent[],
  timeLimits: readonly string[],
): Pick<EpochStop, 'order' | 'forced'> | null {
  // An activation that only compacts repeats the end of the activation before it, so that end is no stop.
  if (events.some((event) => event.type === 'task.resumed' && event.compacts)) return null;
  const ended = events.findLast((event) => event.type === 'task.ended');
  if (ended?.type !== 'task.ended') return findStopOrderBeforeDeath(events, timeLimits);
  const { by, because, status, error } = ended.end;
  if (by === null || error === null) return null;
  const { code } = error;
  if (code !== 'CANCELLED' && code !== 'LIMIT_EXCEEDED') return null;
  // A limit that the task itself reached, or an interruption, is not a stop order.
  const isOwn =
    wasInterrupted(events, because) ||
    (code === 'LIMIT_EXCEEDED' && events.some((event) => isLimitEvent(event, because)));
  return isOwn ? null : { order: { by, reason: because, code }, forced: status === 'killed' };
}

/** Finds the stop order in an epoch whose process closed the turn or the calls and died before it wrote the end. */
function findStopOrderBeforeDeath(
  events: readonly TaskEvent[],
  timeLimits: readonly string[],
): Pick<EpochStop, 'order' | 'forced'> | null {
  for (const event of events) {
    if (event.type !== 'call.refused' && event.type !== 'call.ended') continue;
    const because = event.error === 'CANCELLED' ? readClosingReason(event.text) : undefined;
    if (because === undefined || because === 'the task ended') continue;
    if (wasInterrupted(events, because) || timeLimits.includes(because)) continue;
    return { order: { by: 'user', reason: because, code: 'CANCELLED' }, forced: false };
  }
  const [last, closing] = events.filter((event) => !isExternalEvent(event)).slice(-2);
  if (!isStoppedRetry(last, closing)) return null;
  // The log does not contain the reason of the order. Any reason will do, because no event after it contains it.
  return { order: { by: 'user', reason: 'it was stopped', code: 'CANCELLED' }, forced: false };
}

/** Returns the reason in the result of a call that was closed because its task was stopped or interrupted. */
function readClosingReason(text: string): string | undefined {
  const closed = /^Not run: (.*)\.$|^Its outcome is unknown: (.*) while it ran\. /s;
  const [, notRun, unknown] = closed.exec(unescapeTags(text)) ?? [];
  return notRun ?? unknown;
}

/** The last interruption in an epoch. */
interface Interruption {
  readonly because: string;
  readonly seq: number;
  /** The number of the event at which the next turn began, or infinity. */
  readonly nextTurn: number;
}

function findInterruption(events: readonly TaskEvent[]): Interruption | null {
  const event = events.findLast((each) => each.type === 'turn.interrupted');
  if (event === undefined) return null;
  const { because, seq } = event;
  const next = events.find((each) => each.type === 'turn.started' && each.seq > seq);
  return { because, seq, nextTurn: next?.seq ?? Infinity };
}

/** Returns true if an event closes a turn or a call because of an interruption, and not because of a stop order. */
function isClosedByInterruption(event: TaskEvent, interruption: Interruption | null): boolean {
  if (interruption === null || event.seq < interruption.seq) return false;
  if (event.type === 'turn.failed') return event.seq < interruption.nextTurn;
  if (event.type !== 'call.refused' && event.type !== 'call.ended') return false;
  return readClosingReason(event.text) === interruption.because;
}

/** Returns true if a turn was closed while it waited to retry: in this case the same failure is logged twice. */
function isStoppedRetry(last: TaskEvent | undefined, closing: TaskEvent | undefined): boolean {
  if (last?.type !== 'turn.retried' || closing?.type !== 'turn.failed') return false;
  return isDeepStrictEqual(last.failure, closing.failure);
}

/** Returns true for an event that a task may write after it got a stop order. */
function mayFollowStop(event: TaskEvent): boolean {
  switch (event.type) {
    case 'turn.failed':
    case 'call.ended':
    case 'task.ended':
      return true;
    case 'call.refused':
      return event.error === 'CANCELLED' && event.decision === null;
    default:
      return isExternalEvent(event);
  }
}

function findStopMoment(last: TaskEvent | undefined, events: readonly TaskEvent[]): StopMoment {
  const nextLoopEvent = events.find(
    (event) => event.seq > (last?.seq ?? -1) && !isExternalEvent(event),
  );
  if (nextLoopEvent?.type === 'turn.failed')
    return isStoppedRetry(last, nextLoopEvent) ? 'when_quiet' : 'when_asked';
  const isAtWork = last?.type === 'call.started' || last?.type === 'acceptance.started';
  return isAtWork ? 'when_quiet' : 'at_once';
}

/** Returns true if the reason is that of an interruption, which has its own event in the log. */
function wasInterrupted(events: readonly TaskEvent[], because: string): boolean {
  return events.some((event) => event.type === 'turn.interrupted' && event.because === because);
}

function isLimitEvent(event: TaskEvent, because: string): boolean {
  if (event.type === 'limit.reached') return limitMessage(event) === because;
  return event.type === 'turn.failed' && event.failure.message === because;
}

/**
 * Returns true if an event came to the loop of a task from outside: from people, other tasks, running tools, or the
 * process that opened the log. A rerun takes such events from the log; the loop has to produce all other events
 * again.
 */
export function isExternalEvent(event: TaskEvent): boolean {
  switch (event.type) {
    case 'input.queued': {
      const { kind, from, id } = event.input;
      // The used part of a budget depends on other tasks of the tree, and the date depends on the time zone. A
      // rewind puts files back between two runs of the loop. Hooks do not run again.
      return kind !== 'notice' || from !== 'muster' || /^(?:budget|date|hook|rewind)-/.test(id);
    }
    case 'terms.changed':
      return event.fallback === undefined && event.escalation === undefined;
    case 'task.created':
    case 'task.claimed':
    case 'task.held':
    case 'task.resumed':
    case 'task.rewound':
    case 'files.restored':
    case 'task.parked':
    case 'input.withdrawn':
    case 'items.reopened':
    case 'turn.quiet':
    case 'turn.flowing':
    case 'turn.interrupted':
    case 'question.asked':
    case 'question.answered':
    case 'rights.granted':
    case 'call.granted':
    case 'rights.restricted':
    case 'rule.removed':
    case 'mode.granted':
    case 'child.created':
    case 'child.resumed':
    case 'child.detached':
    case 'child.ended':
    case 'shell.started':
    case 'shell.ended':
    case 'notified':
    case 'server.logged':
    case 'hook.ran':
    case 'todos.set':
    case 'finding.posted':
    case 'request.ended':
    case 'acceptance.prepared':
    case 'workspace.opened':
    case 'warning':
      return true;
    case 'task.started':
    case 'task.reused':
    case 'reuse.missed':
    case 'turn.started':
    case 'turn.held':
    case 'turn.accepted':
    case 'turn.retried':
    case 'turn.ended':
    case 'turn.failed':
    case 'context.cleared':
    case 'summary.started':
    case 'context.summarised':
    case 'summary.refused':
    case 'context.dropped':
    case 'context.handed':
    case 'call.started':
    case 'call.ended':
    case 'call.refused':
    case 'acceptance.started':
    case 'acceptance.checked':
    case 'workspace.closed':
    case 'task.ended':
      return false;
    case 'limit.reached':
      // The clock ends the time of a tree.
      return event.limit === TREE_TIME_LIMIT;
  }
}
