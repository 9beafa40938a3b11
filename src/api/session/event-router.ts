import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSignal } from '../../protocol/signal.ts';

/** Called with each event and the state of its task after it. */
export type EventListener = (event: TaskEvent, state: TaskState) => void;

/** Passes each event to the listener of its tree. A listener that throws affects nobody else. */
export class EventRouter {
  private readonly onFault: (thrown: unknown) => void;
  /** The listeners by the id of the root task. */
  private readonly listeners = new Map<string, EventListener>();

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault;
  }

  /**
   * Listens to a tree until its root task has ended. The returned function ends the listening and restores an earlier
   * listener: for a tree that is left without an end, and for one that could not be started because it may already
   * run with a listener of its own.
   */
  listen(tree: string, listener: EventListener): () => void {
    const before = this.listeners.get(tree);
    this.listeners.set(tree, listener);
    return () => {
      if (before === undefined) this.listeners.delete(tree);
      else this.listeners.set(tree, before);
    };
  }

  route(event: TaskEvent, of: { readonly tree: string; readonly state: TaskState }): void {
    try {
      this.listeners.get(of.tree)?.(event, of.state);
    } catch (thrown) {
      this.onFault(thrown);
    }
    if (event.type === 'task.ended' && event.task === of.tree) this.listeners.delete(of.tree);
  }
}

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
