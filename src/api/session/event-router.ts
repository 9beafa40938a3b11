import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSignal } from '../../protocol/signal.ts';

/** Called with each event and the state of its task after it. */
export type EventListener = (event: TaskEvent, state: TaskState) => void;

/**
 * Passes each event to the listener of its tree. If a listener throws, the error is reported and the work continues.
 */
export class EventRouter {
  private readonly onFault: (thrown: unknown) => void;
  /** The listeners by the id of the root task. */
  private readonly listeners = new Map<string, EventListener>();

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault;
  }

  /**
   * Adds the listener of a tree until the root task of the tree has ended. The returned function removes the listener
   * and restores the previous one. Call it if the tree is parked, which has no end, or could not be started: the tree
   * may already be running with another listener.
   */
  listen(tree: string, listener: EventListener): () => void {
    const previous = this.listeners.get(tree);
    this.listeners.set(tree, listener);
    return () => {
      if (previous === undefined) this.listeners.delete(tree);
      else this.listeners.set(tree, previous);
    };
  }

  /** Passes on an event. `tree` is the id of the root task, `state` the state of the task after the event. */
  route(
    event: TaskEvent,
    { tree, state }: { readonly tree: string; readonly state: TaskState },
  ): void {
    try {
      this.listeners.get(tree)?.(event, state);
    } catch (thrown) {
      this.onFault(thrown);
    }
    if (event.type === 'task.ended' && event.task === tree) this.listeners.delete(tree);
  }
}

/** Called with each signal of every task of this process. The function must be fast. */
export type SignalListener = (signal: TaskSignal) => void;

/**
 * Passes signals, which are not logged, to listeners. If a listener throws, the error is reported and the others are
 * still called.
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
