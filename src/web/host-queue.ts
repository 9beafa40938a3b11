import { deferred, onAbort, type Deferred } from '../base/async.ts';

interface HostState {
  free: number;
  readonly waiting: Deferred<void>[];
}

/** Limits the requests to each host that run at the same time. Further ones wait in the order in which they came. */
export class HostQueue {
  readonly #perHost: number;
  readonly #hosts = new Map<string, HostState>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /**
   * Resolves when a request to the host may begin, with the function that must be called when it has ended. Rejects with
   * the signal's reason as soon as the signal aborts.
   */
  async enter(host: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const state = this.#hosts.get(host) ?? { free: this.#perHost, waiting: [] };
    this.#hosts.set(host, state);
    if (state.free > 0) state.free -= 1;
    else await waitForTurn(state, signal);
    return () => this.#leave(host, state);
  }

  #leave(host: string, state: HostState): void {
    const next = state.waiting.shift();
    if (next !== undefined) {
      next.resolve();
      return;
    }
    state.free += 1;
    if (state.free === this.#perHost) this.#hosts.delete(host);
  }
}

async function waitForTurn({ waiting }: HostState, signal: AbortSignal): Promise<void> {
  const turn = deferred<void>();
  waiting.push(turn);
  const removeListener = onAbort(signal, () => {
    const index = waiting.indexOf(turn);
    // If the request is not waiting any more, it has its turn and notices the abort itself.
    if (index < 0) return;
    waiting.splice(index, 1);
    turn.reject(signal.reason);
  });
  await turn.promise.finally(removeListener);
}
