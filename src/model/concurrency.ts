import { deferred, onAbort, type Deferred } from '../base/async.ts';
import type { ModelPort } from '../protocol/model.ts';

/**
 * The same port with at most `maxConcurrent` requests in flight for each provider, the rest waiting
 * in order. A request that is cancelled while it waits ends with `failed` of kind `cancelled`.
 */
export function withConcurrency(port: ModelPort, maxConcurrent: number): ModelPort {
  const gates = new Map<string, Gate>();
  const gateOf = (provider: string): Gate => {
    const known = gates.get(provider);
    if (known !== undefined) return known;
    const gate = new Gate(maxConcurrent);
    gates.set(provider, gate);
    return gate;
  };
  return {
    async *stream(request, signal) {
      const gate = gateOf(request.model.provider);
      if (!(await gate.enter(signal))) {
        const message = 'cancelled before the request was sent';
        yield { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } };
        return;
      }
      try {
        yield* port.stream(request, signal);
      } finally {
        gate.leave();
      }
    },
  };
}

class Gate {
  private free: number;
  private readonly waiting: Deferred<boolean>[] = [];

  constructor(size: number) {
    this.free = size;
  }

  /** False when the signal aborts first; then nothing is held. */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.free > 0) {
      this.free -= 1;
      return true;
    }
    const turn = deferred<boolean>();
    this.waiting.push(turn);
    const forget = onAbort(signal, () => {
      const index = this.waiting.indexOf(turn);
      if (index === -1) return;
      this.waiting.splice(index, 1);
      turn.resolve(false);
    });
    return turn.promise.finally(forget);
  }

  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next.resolve(true);
  }
}
