/** A promise that is settled from outside. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Creates a deferred promise. */
export function deferred<T>(): Deferred<T> {
  return Promise.withResolvers<T>();
}

/** Settles as `promise` does, but rejects with the signal's reason as soon as that aborts. */
export async function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferred<never>();
  const forget = onAbort(signal, () => aborted.reject(signal.reason));
  return await Promise.race([promise, aborted.promise]).finally(forget);
}

/**
 * Calls `run` when the signal aborts, or at once if it already has. Returns a function that removes the
 * listener; call it when done, so that a long-lived signal collects no listeners.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}
