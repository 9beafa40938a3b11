import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** `state`: the fold of the task's log with the event. */
export type EventListener = (event: TaskEvent, state: TaskState) => void;

/** Brings each event to whoever listens to its tree. A listener that throws harms nobody else. */
export class EventRouter {
  private readonly onFault: (thrown: unknown) => void;
  /** By the id of the task at the top of the tree. */
  private readonly listeners = new Map<string, EventListener>();

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault;
  }

  /**
   * From the first event on, until the task at the top has ended. Returns what undoes it: for a tree that
   * is left without an end, and for one that could not be set to work and may be at work already, with a
   * listener of its own.
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
