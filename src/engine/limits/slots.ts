import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import type { SandboxPort } from '../../protocol/tool.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadline, Deadlines } from '../../base/deadlines.ts';

/** A request for a slot in the queue. */
interface Waiter {
  readonly granted: Deferred<void>;
  readonly isResuming: boolean;
}

/**
 * A fixed number of slots. If no slot is free, callers queue in order, and those that had a slot before go ahead of
 * those that never had one. The tasks of a tree share such slots (`max_parallel`): a task that waits for its children
 * releases its slot, so that a tree full of waiting parents can't deadlock.
 */
export class Slots {
  private readonly size: number;
  private free: number;
  private readonly waiting: Waiter[] = [];

  constructor(size: number) {
    this.size = size;
    this.free = size;
  }

  /** The number of slots that are in use. */
  get taken(): number {
    return this.size - this.free;
  }

  /** True when all slots are in use. */
  get isFull(): boolean {
    return this.free === 0;
  }

  /**
   * Takes a slot, and queues if none is free. Rejects with the signal's reason, without a slot, when the signal aborts
   * during the wait.
   *
   * @param isResuming true if the caller had a slot before
   */
  async acquire(
    signal: AbortSignal,
    { isResuming }: { readonly isResuming: boolean },
  ): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.takeFree();
    if (free !== null) return free;
    const waiter: Waiter = { granted: deferred(), isResuming };
    this.enqueue(waiter);
    const forget = onAbort(signal, () => {
      const index = this.waiting.indexOf(waiter);
      if (index === -1) return;
      this.waiting.splice(index, 1);
      waiter.granted.reject(signal.reason);
    });
    await waiter.granted.promise.finally(forget);
    return new Slot(() => this.release());
  }

  /** Takes a slot at once, or returns null if none is free. */
  takeFree(): Slot | null {
    if (this.free === 0) return null;
    this.free -= 1;
    return new Slot(() => this.release());
  }

  private enqueue(waiter: Waiter): void {
    const behind = waiter.isResuming ? this.waiting.findIndex((other) => !other.isResuming) : -1;
    if (behind === -1) this.waiting.push(waiter);
    else this.waiting.splice(behind, 0, waiter);
  }

  private release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next.granted.resolve();
  }
}

/** A slot that is in use until `release` is called. Further calls do nothing. */
export class Slot {
  private onRelease: (() => void) | null;

  constructor(onRelease: () => void) {
    this.onRelease = onRelease;
  }

  release(): void {
    this.onRelease?.();
    this.onRelease = null;
  }
}

/**
 * Limits the number of commands of one tree that run at the same time. A foreground command waits in a queue. A
 * background command may run forever, so a command fails instead of waiting if only background commands hold the slots.
 */
export class CommandQueue {
  private readonly size: number;
  private readonly slots: Slots;
  /** The number of foreground commands that run or queue. */
  private foreground = 0;

  constructor(size: number) {
    this.size = size;
    this.slots = new Slots(size);
  }

  /**
   * Takes a slot for one command, and waits for it if necessary. Throws MusterError (`LIMIT_EXCEEDED`) if the wait
   * might never end. Rejects when the signal aborts during the wait.
   *
   * @param serves true if the command runs in the background
   */
  async take(signal: AbortSignal, { serves }: { readonly serves: boolean }): Promise<Slot> {
    const { slots, size } = this;
    if (slots.isFull && (serves || this.foreground === 0)) {
      const message = `the limit max_processes = ${size} is reached: that many commands of this run are running${serves ? '' : ', all of them in the background'}. End one with TaskStop first.`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
    if (serves) return slots.acquire(signal, { isResuming: false });
    this.foreground += 1;
    try {
      const slot = await slots.acquire(signal, { isResuming: false });
      return new Slot(() => {
        this.foreground -= 1;
        slot.release();
      });
    } catch (thrown) {
      this.foreground -= 1;
      throw thrown;
    }
  }

  /** Wraps a sandbox so that each command takes a slot before it starts, and gives it back when it is released. */
  queueCommands(sandbox: SandboxPort, signal: AbortSignal): SandboxPort {
    return {
      ...sandbox,
      confine: async (argv, options) => {
        const slot = await this.take(signal, options);
        try {
          const command = await sandbox.confine(argv, options);
          const release = (): void => {
            command.release();
            slot.release();
          };
          return { ...command, release };
        } catch (thrown) {
          slot.release();
          throw thrown;
        }
      },
    };
  }
}

/**
 * The bytes of memory that must be available before a new task starts in addition to others. They leave room for the
 * memory that running tasks may still allocate, and keep the machine from swapping or killing processes.
 */
export const MIN_AVAILABLE_BYTES = 200 * 2 ** 20;
/** The interval at which waiting tasks check the memory. A reading is reused for half of this interval. */
const CHECK_INTERVAL_MS = 200;

/** The ports of the admission. */
interface TaskAdmissionParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** Returns the bytes that this process can still allocate; 0 if that is not known. */
  readonly availableMemory: () => number;
  /** Returns the number of tasks of the tree that are working. One task may always work. */
  readonly countWorking: () => number;
}

/**
 * Lets new tasks of a tree start while there is memory for them. Waiting tasks start in order, one at each check, so
 * that each task has allocated its memory before the next task starts.
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
   * Returns the reason why a new task has to wait, or null if it may start now. `countWorking` already includes the new
   * task.
   */
  findWaitReason(): string | null {
    if (this.parts.countWorking() <= 1) return null;
    const bytes = this.available();
    if (this.waiting.length === 0 && hasRoom(bytes)) return null;
    return `memory: ${megabytes(bytes)} are available, and another task starts only when ${megabytes(MIN_AVAILABLE_BYTES)} are`;
  }

  /** Resolves when a task that had to wait may start. Rejects with the signal's reason when the signal aborts. */
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
    // A reading is kept for half of the interval, so that each check of a waiting task gets a new reading.
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
