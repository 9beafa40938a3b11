/** A promise together with the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Creates a deferred promise. */
export function deferred<T>(): Deferred<T> {
  return Promise.withResolvers<T>();
}

/** Settles like `promise`, but rejects with the signal's reason as soon as the signal aborts. */
export async function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferred<never>();
  const removeListener = onAbort(signal, () => aborted.reject(signal.reason));
  return await Promise.race([promise, aborted.promise]).finally(removeListener);
}

/**
 * Calls `run` when the signal aborts, or at once if the signal has already aborted. Returns a function that
 * removes the listener. Call that function when the work is done, so that a long-lived signal collects no
 * listeners.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}
