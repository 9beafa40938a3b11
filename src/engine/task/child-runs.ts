import { CoalescedWork } from '../../base/coalesced-work.ts';
import { orderForChild, type StopOrder } from './stop.ts';

/** A child at work. */
interface ChildRun {
  readonly end: { readonly written: Promise<void> };
  readonly isBackground: boolean;
  stop(order: StopOrder): void;
}

/** The children of one task that are at work in this process. */
export class ChildRuns {
  private readonly running = new Set<ChildRun>();
  private readonly synced: CoalescedWork;

  /** `sync` writes the parent's log to the disk. */
  constructor(sync: () => Promise<void>) {
    this.synced = new CoalescedWork(sync);
  }

  add(child: ChildRun): void {
    this.running.add(child);
  }

  remove(child: ChildRun): void {
    this.running.delete(child);
  }

  /** Tells all of them to stop because their parent stops. */
  stopAll(order: StopOrder): void {
    for (const child of this.running) child.stop(orderForChild(order));
  }

  /** Tells those to stop that a call of the parent waits for. */
  stopForeground(order: StopOrder): void {
    for (const child of this.running) if (!child.isBackground) child.stop(order);
  }

  /** Resolves when none is at work here. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.running].map((child) => child.end.written));
  }

  /** Resolves when a loss of power can no longer make the parent forget the children that it has created. */
  persisted(): Promise<void> {
    return this.synced.request();
  }
}
