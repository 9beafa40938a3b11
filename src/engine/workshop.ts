import type { Ending } from './endings.ts';
import type { EngineDeps } from './deps.ts';
import type { Pace } from './pace.ts';
import type { PrefixCache } from './prefix.ts';
import type { RunningTasks } from './running-tasks.ts';
import type { TaskRun } from './task-run.ts';

/** What tasks are made with. */
export interface Workshop {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
  /** Of making many tasks at once. */
  readonly pace: Pace;
  /** What a run of a template does instead of a conversation, to its end. */
  readonly driveItems: (run: TaskRun) => Promise<Ending>;
}
