import type { EventBody } from '../protocol/event.ts';
import type { Slot } from './slots.ts';
import type { Tree } from './tree.ts';

export interface TaskSlotParts {
  readonly tree: Pick<Tree, 'slots' | 'startGate'>;
  readonly signal: AbortSignal;
  /** Whether it was at work before: then it is no new task. */
  readonly hadSlot: boolean;
  readonly record: (...events: readonly EventBody[]) => void;
}

/** One task's slot of its tree: held while it is at work, and not while it waits for others. */
export class TaskSlot {
  private readonly parts: TaskSlotParts;
  private slot: Slot | null = null;
  private taking: Promise<void> | null = null;
  private hadSlot: boolean;

  constructor(parts: TaskSlotParts) {
    this.parts = parts;
    this.hadSlot = parts.hadSlot;
  }

  /** At once when it is held. Several may wait for it at a time. Rejects when the signal aborts. */
  async take(): Promise<void> {
    if (this.slot !== null) return;
    this.taking ??= this.acquire();
    await this.taking;
  }

  give(): void {
    this.slot?.release();
    this.slot = null;
  }

  private async acquire(): Promise<void> {
    const { tree, signal } = this.parts;
    try {
      // Without a pause where there is none: the next task must see that this one is at work.
      const because = this.hadSlot ? null : tree.startGate.hold();
      if (because !== null) await this.waitToStart(because);
      this.slot = await tree.slots.acquire(signal, { resuming: this.hadSlot });
      this.hadSlot = true;
    } finally {
      this.taking = null;
    }
  }

  private async waitToStart(because: string): Promise<void> {
    const { tree, signal, record } = this.parts;
    const message = `it waits to start for ${because}`;
    record({ type: 'task.held', because }, { type: 'warning', message });
    await tree.startGate.pass(signal);
  }
}
