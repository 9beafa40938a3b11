import type { EngineDeps } from './deps.ts';
import type { Pace } from './pace.ts';
import type { PrefixCache } from './prefix.ts';
import type { RunningTasks } from './running-tasks.ts';

/** What tasks are made with. */
export interface Workshop {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
  /** Of making many tasks at once. */
  readonly pace: Pace;
}
