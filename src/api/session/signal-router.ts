import type { TaskSignal } from '../../protocol/signal.ts';

/** Called for each one, of every task of this process; must be quick. */
export type SignalListener = (signal: TaskSignal) => void;

/** Brings what is shown and forgotten to whoever looks. A listener that throws harms nobody else. */
export class SignalRouter {
  private readonly onFault: (thrown: unknown) => void;
  private readonly listeners = new Set<SignalListener>();

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault;
  }

  /** Until the returned function is called. */
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
