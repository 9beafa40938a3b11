import type { TaskRun } from '../task/task-run.ts';

/**
 * Holds the task's slot exactly as long as one of a message's own calls is at work: not while all
 * that are left wait for others, and not while a person is asked. When all calls are done it is held again or still,
 * for the request that follows.
 */
export class SlotUse {
  private readonly run: TaskRun;
  /** Own calls at work. */
  private active: number;
  /** Calls without an outcome, waiting ones included. */
  private open: number;

  constructor(run: TaskRun, { own, waits }: { readonly own: number; readonly waits: number }) {
    this.run = run;
    this.active = own;
    this.open = own + waits;
    this.settle();
  }

  ownCallEnded(): void {
    this.active -= 1;
    this.open -= 1;
    this.settle();
  }

  waitEnded(): void {
    this.open -= 1;
  }

  /** Around a wait of an own call. */
  async waiting<T>(wait: () => Promise<T>): Promise<T> {
    this.active -= 1;
    this.settle();
    try {
      return await wait();
    } finally {
      this.active += 1;
      await this.run.slot.take();
    }
  }

  private settle(): void {
    if (this.active === 0 && this.open > 0) this.run.slot.release();
  }
}
