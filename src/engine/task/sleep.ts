import { deferred, onAbort } from '../../base/async.ts';
import type { Deadlines } from '../../base/deadlines.ts';

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export async function sleep(deadlines: Deadlines, ms: number, signal: AbortSignal): Promise<void> {
  const done = deferred<void>();
  const deadline = deadlines.after(ms, () => done.resolve());
  const forget = onAbort(signal, () => done.reject(signal.reason));
  try {
    await done.promise;
  } finally {
    deadline.cancel();
    forget();
  }
}
