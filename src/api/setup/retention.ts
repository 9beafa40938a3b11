import { errorMessage } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { TaskStore } from '../../store/task-store.ts';

const DAY_MS = 86_400_000;
/** Tasks that one start may sweep: a bounded little each time. */
const MOST_AT_ONCE = 50;
/** So that it takes nothing from the first request. */
const SWEEP_AFTER_MS = 500;

export interface RetentionOptions {
  readonly store: TaskStore;
  readonly clock: Clock;
  /** 0: tasks are kept for ever. */
  readonly days: number;
  readonly onNotice: (line: string) => void;
}

/** Sweeps tasks that are older than `store.retention_days`, once a start. */
export class Retention {
  private readonly options: RetentionOptions;
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> | null = null;

  constructor(options: RetentionOptions) {
    this.options = options;
  }

  /** A moment later, or by `finish` where that comes first. */
  begin(): void {
    this.timer ??= setTimeout(() => void this.sweep(), SWEEP_AFTER_MS).unref();
  }

  /** Resolves when this start has swept its part. */
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

/** Never rejects: what can't be swept now is swept by a later start. */
async function sweepExpired(options: RetentionOptions): Promise<void> {
  const { store, clock, days, onNotice } = options;
  if (days === 0) return;
  try {
    await store.sweep({ endedBefore: clock.now() - days * DAY_MS, maxTasks: MOST_AT_ONCE });
  } catch (thrown) {
    onNotice(`old tasks could not be removed: ${errorMessage(thrown)}`);
  }
}
