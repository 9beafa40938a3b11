import type { ErrorCode } from '../../base/errors.ts';
import type { StoppedBy } from '../../protocol/end-reason.ts';
import { newId } from '../../base/ids.ts';

/**
 * An order to stop a task, used as the reason of its abort signal. If `by` is `limit`, the task ends as `partial`,
 * otherwise as `stopped`.
 */
export interface StopOrder {
  readonly by: StoppedBy;
  /** One sentence for the log and the parent. */
  readonly reason: string;
  readonly code: Extract<ErrorCode, 'CANCELLED' | 'LIMIT_EXCEEDED'>;
}

/** Creates an order that ends a task as stopped. */
export function stopOrder(by: Exclude<StopOrder['by'], 'limit'>, reason: string): StopOrder {
  return { by, reason, code: 'CANCELLED' };
}

/** Creates an order that ends a task as partial, because a limit was reached. */
export function limitOrder(reason: string): StopOrder {
  return { by: 'limit', reason, code: 'LIMIT_EXCEEDED' };
}

/** Returns the order for the children of a task that gets `order`. */
export function childStopOrder(order: StopOrder): StopOrder {
  if (order.by !== 'limit') return order;
  return stopOrder('parent', `the task above it ended: ${order.reason}`);
}

/** Returns the stop order of an aborted signal. Any other reason counts as a stop by the client. */
export function readStopOrder(signal: AbortSignal): StopOrder {
  const reason: unknown = signal.reason;
  return isStopOrder(reason) ? reason : stopOrder('client', 'the caller cancelled it');
}

/** Returns true when an abort reason is a stop order. */
export function isStopOrder(value: unknown): value is StopOrder {
  return typeof value === 'object' && value !== null && 'by' in value && 'reason' in value;
}

/** The prefix of the ids of notices about an interruption. */
const NOTICE_ID_PREFIX = 'interrupted-';

/** Creates the id of a notice about an interruption. */
export function newInterruptionId(): string {
  return `${NOTICE_ID_PREFIX}${newId()}`;
}

/**
 * Returns true for the id of a notice about an interruption. Such a notice is still delivered when a task is resumed
 * after its end, because it explains why calls were cut off.
 */
export function isInterruptionNotice(id: string): boolean {
  return id.startsWith(NOTICE_ID_PREFIX);
}
