import type { EventBody } from '../../protocol/events/event.ts';
import type { Slot } from '../limits/slots.ts';
import type { TaskTree } from './task-tree.ts';

export interface TaskSlotParts {
  readonly tree: Pick<TaskTree, 'slots' | 'admission'>;
  readonly signal: AbortSignal;
  /** True when the task was at work before, so that it does not count as new. */
  readonly hadSlot: boolean;
  readonly record: (...events: readonly EventBody[]) => void;
}

/** The slot of one task, which it holds while it works, and not while it waits for other tasks. */
export class TaskSlot {
  private readonly parts: TaskSlotParts;
  private slot: Slot | null = null;
  private taking: Promise<void> | null = null;
  private hadSlot: boolean;

  constructor(parts: TaskSlotParts) {
    this.parts = parts;
    this.hadSlot = parts.hadSlot;
  }

  /** Takes the slot if it is not held. Several callers may wait for it. Rejects when the signal aborts. */
  async take(): Promise<void> {
    if (this.slot !== null) return;
    this.taking ??= this.acquire().finally(() => {
      this.taking = null;
    });
    await this.taking;
  }

  release(): void {
    this.slot?.release();
    this.slot = null;
  }

  private async acquire(): Promise<void> {
    const { tree, signal } = this.parts;
    signal.throwIfAborted();
    // A free slot is taken in the same step, so that the next task sees that this one is at work.
    const slot = tree.slots.takeFree() ?? (await this.queue());
    const because = this.hadSlot ? null : tree.admission.findWaitReason();
    this.slot = because === null ? slot : await this.startLater(slot, because);
    this.hadSlot = true;
  }

  private queue(): Promise<Slot> {
    return this.parts.tree.slots.acquire(this.parts.signal, {
      resuming: this.hadSlot,
    });
  }

  private async startLater(slot: Slot, because: string): Promise<Slot> {
    const { tree, signal, record } = this.parts;
    slot.release();
    const message = `it waits to start for ${because}`;
    record({ type: 'task.held', because }, { type: 'warning', message });
    await tree.admission.wait(signal);
    return this.queue();
  }
}
