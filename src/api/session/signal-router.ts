import type { TaskSignal } from '../../protocol/signal.ts';

/** Called for each signal of every task of this process. It must be quick. */
export type SignalListener = (signal: TaskSignal) => void;

/**
 * Passes signals, which are not logged, to listeners. A listener that throws affects nobody else.
 */
export class SignalRouter {
  private readonly onFault: (thrown: unknown) => void;
  private readonly listeners = new Set<SignalListener>();

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault;
  }

  /** Adds a listener until the returned function is called. */
  listen(listener: SignalListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  route(signal: TaskSignal): void {
    for (const listener of this.listeners) {
      try {
        listener(signal);
      } catch (thrown) {
        this.onFault(thrown);
      }
    }
  }
}
