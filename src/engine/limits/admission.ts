import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadline, Deadlines } from '../../base/deadlines.ts';

/**
 * Bytes that must be available for a new task to start beside others: what tasks at work may still
 * take, and what the rest of the machine needs not to begin to swap or to kill.
 */
export const MIN_AVAILABLE_BYTES = 200 * 2 ** 20;
/** Memory is looked at so often at most while tasks start, and once for each that waits. */
const CHECK_INTERVAL_MS = 200;

export interface TaskAdmissionParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** Bytes that this process can still get; 0: not known. */
  readonly availableMemory: () => number;
  /** Tasks of the tree that are at work: one always may be. */
  readonly countWorking: () => number;
}

/**
 * Lets new tasks of a tree start while there is memory for them. What waits starts in order, one at a
 * look, so that each has taken what it needs before the next one does.
 */
export class TaskAdmission {
  private readonly parts: TaskAdmissionParts;
  private readonly waiting: Deferred<void>[] = [];
  /** Stands while anybody waits. */
  private nextCheck: Deadline | null = null;
  private newestReading = { at: -Infinity, bytes: 0 };

  constructor(parts: TaskAdmissionParts) {
    this.parts = parts;
  }

  /** What a new task, which is one of those at work, has to wait for; null: it may start now. */
  findWaitReason(): string | null {
    if (this.parts.countWorking() <= 1) return null;
    const bytes = this.available();
    if (this.waiting.length === 0 && hasRoom(bytes)) return null;
    return `memory: ${megabytes(bytes)} are available, and a task starts from ${megabytes(MIN_AVAILABLE_BYTES)} beside others`;
  }

  /** Resolves when a task that had to wait may start; rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    const turn = deferred<void>();
    this.waiting.push(turn);
    this.scheduleCheck();
    const forget = onAbort(signal, () => {
      const index = this.waiting.indexOf(turn);
      if (index !== -1) this.waiting.splice(index, 1);
      turn.reject(signal.reason);
      this.scheduleCheck();
    });
    await turn.promise.finally(forget);
  }

  private scheduleCheck(): void {
    if (this.waiting.length === 0) {
      this.nextCheck?.cancel();
      this.nextCheck = null;
    } else this.nextCheck ??= this.parts.deadlines.after(CHECK_INTERVAL_MS, () => this.admitNext());
  }

  private admitNext(): void {
    this.nextCheck = null;
    if (this.parts.countWorking() === 0 || hasRoom(this.available()))
      this.waiting.shift()?.resolve();
    this.scheduleCheck();
  }

  private available(): number {
    const now = this.parts.clock.monotonic();
    // Half as long: who waits gets a new figure at each look.
    if (now - this.newestReading.at >= CHECK_INTERVAL_MS / 2) {
      this.newestReading = { at: now, bytes: this.parts.availableMemory() };
    }
    return this.newestReading.bytes;
  }
}

function hasRoom(bytes: number): boolean {
  return bytes === 0 || bytes >= MIN_AVAILABLE_BYTES;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MB`;
}
