import { rejectOnAbort } from '../base/async.ts';
import type { McpServerEntry } from './server-entry.ts';
import { McpServerError } from './server-error.ts';

/** The maximum number of failures in a row after which a server is not started again by itself. */
const MAX_FAILURES = 5;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** A server that has run for this long works: an earlier failure no longer counts. */
const STABLE_MS = 60_000;

/**
 * Returns how long to wait before a server is started again after a number of failures in a row: 1, 2, 4, 8 and 16 s.
 * Null after more failures, when only a request of a person starts the server again.
 */
export function restartDelay(failures: number): number | null {
  if (failures > MAX_FAILURES) return null;
  if (failures === 0) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
}

/** Returns the number of failures in a row, including the end of a server that has run for `ranMs`. */
export function countFailures(before: number, ranMs: number): number {
  return ranMs >= STABLE_MS ? 1 : before + 1;
}

/** Waits before a restart. Rejects with the signal's reason as soon as the signal aborts. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  try {
    await rejectOnAbort(over.promise, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits for something that other requests wait for as well, and that goes on when the signal aborts. Rejects with an
 * McpServerError then.
 */
export async function waitForShared<T>(
  shared: Promise<T>,
  signal: AbortSignal,
  server: string,
): Promise<T> {
  try {
    return await rejectOnAbort(shared, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    throw new McpServerError('the request was cancelled', {
      server,
      kind: 'cancelled',
      cause: thrown,
    });
  }
}

/** Tells whether the server has not carried out a request that failed, and another session may do so. */
export function isWorthAnotherTry(thrown: unknown, entry: McpServerEntry): boolean {
  if (!(thrown instanceof McpServerError) || thrown.isOutcomeUnknown) return false;
  return thrown.kind === 'lost' || isStale(thrown, entry);
}

/** Tells whether a server no longer accepts the headers that a helper has printed: the next ones may be valid. */
export function isStale({ kind }: McpServerError, { transport }: McpServerEntry): boolean {
  return kind === 'login' && transport.type !== 'stdio' && transport.headersHelper !== null;
}
