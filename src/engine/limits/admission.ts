import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadline, Deadlines } from '../../base/deadlines.ts';

/**
 * The bytes of memory that must be available before a new task starts beside others. They leave room for
 * what running tasks may still allocate, and keep the machine from swapping or killing processes.
 */
export const MIN_AVAILABLE_BYTES = 200 * 2 ** 20;
/** The interval at which a waiting task checks the memory; a reading is reused for half of it. */
const CHECK_INTERVAL_MS = 200;

export interface TaskAdmissionParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** Returns the bytes that this process can still allocate; 0 when that is not known. */
  readonly availableMemory: () => number;
  /** Returns the number of tasks of the tree that are at work. One task may always work. */
  readonly countWorking: () => number;
}

/**
 * Lets new tasks of a tree start while there is memory for them. Waiting tasks start in order, one at each
 * check, so that each has allocated its memory before the next one starts.
 */
export class TaskAdmission {
  private readonly parts: TaskAdmissionParts;
  private readonly waiting: Deferred<void>[] = [];
  /** Set while a task waits. */
  private nextCheck: Deadline | null = null;
  private newestReading = { at: -Infinity, bytes: 0 };

  constructor(parts: TaskAdmissionParts) {
    this.parts = parts;
  }

  /**
   * Returns the reason why a new task has to wait, or null when it may start now. The new task is already
   * counted as one at work.
   */
  findWaitReason(): string | null {
    if (this.parts.countWorking() <= 1) return null;
    const bytes = this.available();
    if (this.waiting.length === 0 && hasRoom(bytes)) return null;
    return `memory: ${megabytes(bytes)} are available, and a task starts beside others only from ${megabytes(MIN_AVAILABLE_BYTES)} on`;
  }

  /** Resolves when a task that had to wait may start. Rejects with the signal's reason when that aborts. */
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
    // Half of the interval, so that a waiting task gets a new reading at each check.
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
