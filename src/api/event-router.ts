import type { TaskEvent } from '../protocol/event.ts';

export type EventListener = (event: TaskEvent) => void;

/** Brings each event to whoever listens to its tree. A listener that throws harms nobody else. */
export class EventRouter {
  private readonly onFault: (thrown: unknown) => void;

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault;
  }

  private readonly listeners = new Map<string, EventListener>();
  /** Root by task, of trees that somebody listens to. */
  private readonly roots = new Map<string, string>();
  /** For the tree whose root is being made: its id is not known before its first event. */
  private awaited: EventListener | null = null;

  /** Runs `start`; the tree whose first event it causes is brought to `listener`. */
  listenTo<T>(listener: EventListener, start: () => T): T {
    this.awaited = listener;
    try {
      return start();
    } finally {
      this.awaited = null;
    }
  }

  route(event: TaskEvent): void {
    if (event.type === 'task.created') this.adopt(event.task, event.spec.root);
    const root = this.roots.get(event.task);
    if (root === undefined) return;
    this.tell(root, event);
    if (event.type === 'task.ended' && event.task === root) this.forget(root);
  }

  private tell(root: string, event: TaskEvent): void {
    try {
      this.listeners.get(root)?.(event);
    } catch (thrown) {
      this.onFault(thrown);
    }
  }

  private adopt(task: string, root: string): void {
    if (task === root && this.awaited !== null) {
      this.listeners.set(root, this.awaited);
      this.awaited = null;
    }
    if (this.listeners.has(root)) this.roots.set(task, root);
  }

  private forget(root: string): void {
    this.listeners.delete(root);
    for (const [task, its] of this.roots) if (its === root) this.roots.delete(task);
  }
}
