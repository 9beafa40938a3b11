/** A promise with its handles outside. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  return Promise.withResolvers<T>();
}

/**
 * Calls `run` when the signal aborts, at once if it has. Returns the function that takes it back:
 * call it when done, so that a long-lived signal gathers no listeners.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}
