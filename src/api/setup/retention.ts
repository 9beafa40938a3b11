import { errorMessage } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { TaskStore } from '../../store/task-store.ts';

const DAY_MS = 86_400_000;
/** The maximum number of tasks that are deleted at one start. */
const MAX_TASKS_PER_START = 50;
/** The delay before the sweep of the store, so that the sweep does not slow down the first request. */
const SWEEP_DELAY_MS = 500;

export interface RetentionOptions {
  readonly store: TaskStore;
  readonly clock: Clock;
  /** The number of days that tasks are kept; 0 means forever. */
  readonly days: number;
  /** The workspaces to clean up; null if nothing may be written. */
  readonly workspaces: { prune(endedBefore: number): Promise<unknown> } | null;
  readonly onNotice: (line: string) => void;
}

/** Deletes tasks that are older than `store.retention_days`, once per start. */
export class Retention {
  private readonly options: RetentionOptions;
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> | null = null;

  constructor(options: RetentionOptions) {
    this.options = options;
  }

  /** Starts the sweep after a short delay. If `finish` is called earlier, the sweep starts then. */
  begin(): void {
    this.timer ??= setTimeout(() => void this.sweep(), SWEEP_DELAY_MS).unref();
  }

  /** Resolves when the sweep has ended; at once if `begin` was not called. */
  async finish(): Promise<void> {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    await this.sweep();
  }

  private sweep(): Promise<void> {
    this.sweeping ??= sweepExpired(this.options);
    return this.sweeping;
  }
}

/**
 * Deletes expired tasks, and finishes what killed processes have begun to remove. Never rejects: after an error, the next
 * start tries again.
 */
async function sweepExpired(options: RetentionOptions): Promise<void> {
  const { store, clock, days, workspaces, onNotice } = options;
  const endedBefore = days === 0 ? -Infinity : clock.now() - days * DAY_MS;
  try {
    await workspaces?.prune(endedBefore);
    if (days > 0) await store.sweep({ endedBefore, maxTasks: MAX_TASKS_PER_START });
  } catch (thrown) {
    onNotice(`old tasks could not be removed: ${errorMessage(thrown)}`);
  }
}
