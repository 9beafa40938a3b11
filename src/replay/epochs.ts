import { isDeepStrictEqual } from 'node:util';
import { unescapeTags } from '../base/control-tags.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { limitMessage } from '../engine/limits/limits.ts';
import type { StopOrder } from '../engine/task/stop.ts';
import { isExternalEvent } from './external-events.ts';

/** What one owner of a log has written: from its claim to its end, its death or its park. */
export interface Epoch {
  /** How many events stood in the log when its owner had taken it, its claim included. */
  readonly eventsBefore: number;
  readonly events: readonly TaskEvent[];
  /** How it was told to stop; null: it was not. */
  readonly stop: EpochStop | null;
}

/** When after that event: before it sets anything going, when that is under way, or when a model is asked. */
export type StopMoment = 'at_once' | 'when_quiet' | 'when_asked';

export interface EpochStop {
  readonly order: StopOrder;
  /** Whether something had to be killed for it. */
  readonly forced: boolean;
  /**
   * The number of the last event that a task which is told to stop does not write any more: the order came
   * after that one and, as far as the log tells, right after it.
   */
  readonly afterSeq: number;
  readonly when: StopMoment;
}

/** A log by its owners, in order. */
export function splitIntoEpochs(events: readonly TaskEvent[]): readonly Epoch[] {
  const claims = events.flatMap(({ type }, index) => (type === 'task.claimed' ? [index] : []));
  // A log from before there were claims is one life after its first event.
  const begins = claims.length === 0 ? [0] : claims;
  const [created] = events;
  const isBranch = created?.type === 'task.created' && created.spec.branchedFrom !== undefined;
  const lives = begins.map((claim, index): Epoch => {
    const own = events.slice(claim + 1, begins[index + 1]);
    return { eventsBefore: claim + 1, events: own, stop: stopOf(own) };
  });
  // What was copied into a branch was lived in another log.
  return isBranch ? lives.slice(1) : lives;
}

function stopOf(events: readonly TaskEvent[]): EpochStop | null {
  const told = toldOf(events);
  if (told === null) return null;
  const last = events.findLast((event) => !mayFollowStop(event));
  return { ...told, afterSeq: last?.seq ?? -1, when: stopMoment(last, events) };
}

function toldOf(events: readonly TaskEvent[]): Pick<EpochStop, 'order' | 'forced'> | null {
  // It ends as it had ended before, whoever did that.
  if (events.some((event) => event.type === 'task.resumed' && event.compacts)) return null;
  const ended = events.findLast((event) => event.type === 'task.ended');
  if (ended?.type !== 'task.ended') return toldBeforeDeath(events);
  const { by, because, status, error } = ended.end;
  if (by === null || error === null) return null;
  const { code } = error;
  if (code !== 'CANCELLED' && code !== 'LIMIT_EXCEEDED') return null;
  // A limit that the task itself came to is no order.
  const isOwn =
    wasInterrupted(events, because) ||
    (code === 'LIMIT_EXCEEDED' && events.some((event) => saysLimit(event, because)));
  return isOwn ? null : { order: { by, because, code }, forced: status === 'killed' };
}

/** Its process died when the turn or the calls were closed, and before the end was written. */
function toldBeforeDeath(events: readonly TaskEvent[]): Pick<EpochStop, 'order' | 'forced'> | null {
  for (const event of events) {
    if (event.type !== 'call.refused' || event.error !== 'CANCELLED') continue;
    const because = /^Not run: (.*)\.$/s.exec(unescapeTags(event.text))?.[1];
    if (because === undefined || because === 'the task ended') continue;
    if (wasInterrupted(events, because)) continue;
    return { order: { by: 'user', because, code: 'CANCELLED' }, forced: false };
  }
  const [last, closing] = events.filter((event) => !isExternalEvent(event)).slice(-2);
  if (!stoppedWaiting(last, closing)) return null;
  // What was said of it is in no log, and nothing was written after it.
  return { order: { by: 'user', because: 'it was stopped', code: 'CANCELLED' }, forced: false };
}

/** Whether a turn was closed while it waited to try again: the failure is told once more, as it was. */
function stoppedWaiting(last: TaskEvent | undefined, closing: TaskEvent | undefined): boolean {
  if (last?.type !== 'turn.retried' || closing?.type !== 'turn.failed') return false;
  return isDeepStrictEqual(last.failure, closing.failure);
}

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

function stopMoment(last: TaskEvent | undefined, events: readonly TaskEvent[]): StopMoment {
  const own = events.find((event) => event.seq > (last?.seq ?? -1) && !isExternalEvent(event));
  if (own?.type === 'turn.failed') return stoppedWaiting(last, own) ? 'when_quiet' : 'when_asked';
  return last?.type === 'call.started' ? 'when_quiet' : 'at_once';
}

/** What is in the log for that needs no order besides. */
function wasInterrupted(events: readonly TaskEvent[], because: string): boolean {
  return events.some((event) => event.type === 'turn.interrupted' && event.because === because);
}

function saysLimit(event: TaskEvent, because: string): boolean {
  if (event.type === 'limit.reached') return limitMessage(event) === because;
  return event.type === 'turn.failed' && event.failure.message === because;
}
