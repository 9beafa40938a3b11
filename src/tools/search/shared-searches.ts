import { onAbort } from '../../base/async.ts';

/** A search that is under way, and the calls that wait for it. */
interface RunningSearch<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Runs equal searches that are under way at the same time only once, since tasks that were started together often search
 * for the same thing. A search is shared only while nothing runs that can change files: a call whose search began after
 * a change must see the change.
 */
export class SharedSearches {
  readonly #running = new Map<string, RunningSearch<unknown>>();
  /** The number of running calls, commands and shells that can change files. */
  #changes = 0;

  /** Notes that files may have changed. Searches that have begun end for those that wait for them, but nobody joins them. */
  noteChange(): void {
    this.#running.clear();
  }

  /**
   * Notes that something begins that can change files. Returns a function to call when it has ended.
   */
  beginChange(): () => void {
    this.#changes += 1;
    this.noteChange();
    let isRunning = true;
    return () => {
      if (isRunning) this.#changes -= 1;
      isRunning = false;
    };
  }

  /**
   * Runs a search, or waits for an equal one that is under way. Rejects like `search`, and with the reason of `signal` as
   * soon as it aborts. The search is cancelled when all calls that wait for it have been aborted.
   *
   * @param key everything that the result depends on. A search with null is not shared
   */
  async run<T>(
    key: string | null,
    signal: AbortSignal,
    search: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (key === null || this.#changes > 0) return await search(signal);
    signal.throwIfAborted();
    const running = (this.#running.get(key) ?? this.#start(key, search)) as RunningSearch<T>;
    running.waiting += 1;
    const { promise, reject } = Promise.withResolvers<never>();
    const removeListener = onAbort(signal, () => {
      running.waiting -= 1;
      if (running.waiting === 0) {
        this.#remove(key, running);
        running.controller.abort(signal.reason);
      }
      reject(signal.reason);
    });
    try {
      return await Promise.race([running.result, promise]);
    } finally {
      removeListener();
    }
  }

  #start<T>(key: string, search: (signal: AbortSignal) => Promise<T>): RunningSearch<T> {
    const controller = new AbortController();
    const result = search(controller.signal);
    const running: RunningSearch<T> = { result, controller, waiting: 0 };
    this.#running.set(key, running);
    const remove = (): void => this.#remove(key, running);
    result.then(remove, remove);
    return running;
  }

  #remove(key: string, running: RunningSearch<unknown>): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
  }
}

/** The searches of this process. */
export const sharedSearches = new SharedSearches();
