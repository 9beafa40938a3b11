import type { ErrorCode } from '../../base/errors.ts';
import type { StoppedBy } from '../../protocol/end-reason.ts';

/**
 * Why a task is told to stop: the reason of its abort signal. `limit` ends it as `partial`, all
 * others as `stopped`.
 */
export interface StopOrder {
  readonly by: StoppedBy;
  /** One sentence for the log and the parent. */
  readonly reason: string;
  readonly code: Extract<ErrorCode, 'CANCELLED' | 'LIMIT_EXCEEDED'>;
}

export function stopOrder(by: Exclude<StopOrder['by'], 'limit'>, reason: string): StopOrder {
  return { by, reason, code: 'CANCELLED' };
}

export function limitOrder(reason: string): StopOrder {
  return { by: 'limit', reason, code: 'LIMIT_EXCEEDED' };
}

/** What a child is told when its parent is told this. */
export function childStopOrder(order: StopOrder): StopOrder {
  if (order.by !== 'limit') return order;
  return stopOrder('parent', `the task above it ended: ${order.reason}`);
}

/** The order behind an aborted signal; a foreign abort reason reads as a stop by the client. */
export function readStopOrder(signal: AbortSignal): StopOrder {
  const reason: unknown = signal.reason;
  return isStopOrder(reason) ? reason : stopOrder('client', 'the caller cancelled it');
}

export function isStopOrder(value: unknown): value is StopOrder {
  return typeof value === 'object' && value !== null && 'by' in value && 'reason' in value;
}
