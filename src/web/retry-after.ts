import { formatDuration } from '../base/text.ts';
import { isReadingMethod } from './request-headers.ts';

/** An answer of a server that may be overloaded, and the state of its request. Times are in milliseconds. */
interface OverloadedAnswer {
  readonly status: number;
  /** The header Retry-After; null: the answer has none. */
  readonly retryAfter: string | null;
  readonly method: string;
  /** True if the request has waited before. */
  readonly hasWaited: boolean;
  /** The time now, as a wall clock shows it. */
  readonly now: number;
  /** The longest wait that is possible. */
  readonly maxWaitMs: number;
}

type RetryPlan =
  /** The answer is used as it is. */
  | { readonly kind: 'use' }
  | { readonly kind: 'wait'; readonly ms: number }
  /** `text`: says when to try again. */
  | { readonly kind: 'fail'; readonly text: string };

const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** Decides about an answer with which a server asks to try again later. */
export function planRetry(answer: OverloadedAnswer): RetryPlan {
  if (!BUSY_STATUSES.has(answer.status)) return { kind: 'use' };
  const ms = parseRetryAfter(answer.retryAfter, answer.now);
  if (ms === null) return { kind: 'use' };
  const mayRepeat = !answer.hasWaited && isReadingMethod(answer.method);
  if (mayRepeat && ms <= answer.maxWaitMs) return { kind: 'wait', ms };
  const time = new Date(answer.now + ms).toISOString().replace(/\.\d+/, '');
  const text = `the server answers HTTP ${answer.status} and asks to wait: try again in ${formatDuration(ms)}, at ${time}`;
  return { kind: 'fail', text };
}

/** A server may not ask for more than a year, so that the time stays a date. */
const MAX_WAIT_MS = 366 * 24 * 60 * 60 * 1_000;

/** Returns the wait in milliseconds for which a Retry-After header asks; null: it is absent or not valid. */
function parseRetryAfter(text: string | null, now: number): number | null {
  const trimmed = text?.trim() ?? '';
  const ms = /^\d+$/.test(trimmed) ? Number(trimmed) * 1_000 : Date.parse(trimmed) - now;
  return Number.isNaN(ms) || trimmed === '' ? null : Math.min(Math.max(ms, 0), MAX_WAIT_MS);
}
